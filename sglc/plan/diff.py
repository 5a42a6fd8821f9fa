"""What has changed between the plans of two versions of a program."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from sglc.plan.data import function_data, row_data
from sglc.plan.plan import FunctionPlan, ProgramPlan

SUMS = ("signature", "least", "greatest", "within", "verdict", "beginning", "behind")
"""What of a function is compared beside its rows."""
_SHOWN = 60
"""Characters of a text that are shown."""
_BEFORE = 20
"""Of these, those that two texts have in common before they differ."""


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """What has changed in one function. One that is only in one of the programs has all of its rows there."""

    name: str
    kind: str
    """`added`, `removed` or `changed`."""
    removed: tuple[dict[str, object], ...] = ()
    added: tuple[dict[str, object], ...] = ()
    """Rows of before and of now that are not in the other plan, as `plan.data` has them."""
    sums: tuple[tuple[str, object, object], ...] = ()
    """(what, before, now) of `SUMS`."""


def changes(before: ProgramPlan, now: ProgramPlan) -> list[FunctionChange]:
    """The functions whose plans differ, in the order of now, then those that are gone."""
    old = {function.name: function for function in before.functions}
    new = {function.name: function for function in now.functions}
    found = []
    for name, function in new.items():
        if name not in old:
            found.append(FunctionChange(name, "added", added=tuple(map(_content, function_rows(function)))))
            continue
        change = _changed(old[name], function)
        if change is not None:
            found.append(change)
    for name, function in old.items():
        if name not in new:
            found.append(FunctionChange(name, "removed", tuple(map(_content, function_rows(function)))))
    return found


def function_rows(function: FunctionPlan) -> list[dict[str, object]]:
    """The rows of a function as plain data."""
    return [row_data(row) for row in function.rows]


def _content(row: dict[str, object]) -> dict[str, object]:
    """A row without what moves when others come and go, and without masks, which lie beside a program."""
    found = {name: value for name, value in row.items() if name not in ("number", "line")}
    hole = found.get("hole")
    if isinstance(hole, dict):
        found["hole"] = {name: value for name, value in hole.items() if name != "masks"}
    return found


def _changed(before: FunctionPlan, now: FunctionPlan) -> FunctionChange | None:
    old, new = list(map(_content, function_rows(before))), list(map(_content, function_rows(now)))
    removed: list[dict[str, object]] = []
    added: list[dict[str, object]] = []
    matcher = SequenceMatcher(None, list(map(repr, old)), list(map(repr, new)), autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            removed += old[a:b]
            added += new[c:d]
    one, other = function_data(before), function_data(now)
    sums = tuple((name, one[name], other[name]) for name in SUMS if one[name] != other[name])
    if not removed and not added and not sums:
        return None
    return FunctionChange(now.name, "changed", tuple(removed), tuple(added), sums)


def as_data(found: list[FunctionChange]) -> dict[str, object]:
    """As `sglc plan --diff --json` prints it."""
    return {
        "same": not found,
        "functions": [
            {
                "name": change.name,
                "change": change.kind,
                "removed": list(change.removed),
                "added": list(change.added),
                "sums": {name: {"before": old, "now": new} for name, old, new in change.sums},
            }
            for change in found
        ],
    }


def as_text(found: list[FunctionChange]) -> str:
    """For people: `-` was, `+` is, `~` has changed."""
    lines = []
    for change in found:
        lines.append(f"{change.name}: {change.kind}")
        lines += [f"  - {_shown(row, change.added)}" for row in change.removed]
        lines += [f"  + {_shown(row, change.removed)}" for row in change.added]
        lines += [f"  ~ {name}: {_value(old)} -> {_value(new)}" for name, old, new in change.sums]
    return "\n".join(lines)


def _value(value: object) -> str:
    return "none" if value is None else str(value)


def _shown(row: dict[str, object], others: tuple[dict[str, object], ...]) -> str:
    """A row on a line. Beside one of the others that would look the same stands what differs."""
    line = _line(row)
    same = next((other for other in others if other != row and _line(other) == line), None)
    if same is None:
        return line
    if row["kind"] == "text" and row["text"] != same["text"]:
        return _line(row, _common(str(row["text"]), str(same["text"])))
    one, other = row.get("hole", row), same.get("hole", same)
    assert isinstance(one, dict) and isinstance(other, dict)
    differ = (f"{name}: {_value(value)}" for name, value in one.items() if value != other.get(name))
    return f"{line} ({', '.join(differ)})"


def _common(text: str, other: str) -> int:
    """With how many characters both begin."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(text), len(other)))


def _quoted(text: str, common: int) -> str:
    """A text as far as there is room, from a little before the end of what it has in common with another."""
    begin = 0 if common < _SHOWN - _BEFORE else common - _BEFORE
    shown = ("…" if begin else "") + text[begin:].replace("\n", "\\n")
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"


def _line(row: dict[str, object], common: int = 0) -> str:
    role = f"{row['role']}: " if "role" in row else ""
    kind = row["kind"]
    if kind == "text":
        return f'{role}text of {row["size"]}: "{_quoted(str(row["text"]), common)}"'
    hole = row.get("hole")
    if isinstance(hole, dict):
        exact = "" if hole["least_exact"] else "≥ "
        most = "no bound" if hole["greatest"] is None else hole["greatest"]
        attempts = f", {hole['attempts']} times at most" if hole["attempts"] > 1 else ""
        return f"{role}hole {hole['name']}: {hole['type']}, {exact}{hole['least']} to {most}{attempts}"
    named = row.get("function") or ", ".join(row.get("origins") or ())  # type: ignore[arg-type]
    times = row.get("times")
    often = f", {times['least']} to {_value(times['greatest'])} times" if isinstance(times, dict) else ""
    return f"{role}{kind} {named or row.get('how', '')}{often}".rstrip()
