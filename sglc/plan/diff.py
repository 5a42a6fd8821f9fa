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
    """A row without what moves when others come and go."""
    return {name: value for name, value in row.items() if name not in ("number", "line")}


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
        lines += [f"  - {_shown(row)}" for row in change.removed]
        lines += [f"  + {_shown(row)}" for row in change.added]
        lines += [f"  ~ {name}: {_value(old)} -> {_value(new)}" for name, old, new in change.sums]
    return "\n".join(lines)


def _value(value: object) -> str:
    return "none" if value is None else str(value)


def _shown(row: dict[str, object]) -> str:
    role = f"{row['role']}: " if "role" in row else ""
    kind = row["kind"]
    if kind == "text":
        text = str(row["text"]).replace("\n", "\\n")
        text = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
        return f'{role}text of {row["size"]}: "{text}"'
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
