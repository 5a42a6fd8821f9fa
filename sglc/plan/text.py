"""A plan as a picture of at most 100 columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sglc.plan.measured import Measured, Took
from sglc.plan.plan import FunctionPlan, HolePlan, ProgramPlan, Row, Times
from sglc.project.prices import shown

WIDTH = 100
"""Columns of a line; longer texts are cut."""
NUMBER = 4
ROLE = 11
FIGURE = 10
"""Columns of the row's number, of the role, and of a figure."""
_STYLES = {"dim": "2", "varies": "33", "hole": "36", "bold": "1", "warn": "31"}


@dataclass(frozen=True, slots=True)
class Picture:
    """Draws plans. `color` says whether ANSI colours are wanted."""

    plan: ProgramPlan
    measured: Measured | None = None
    color: bool = False

    def text(self) -> str:
        """All functions, one below the other."""
        parts = ["\n".join(self._function(function)) for function in self.plan.functions]
        return "\n\n".join([*parts, *self._run()])

    # -- one function --------------------------------------------------------------------------------

    def _function(self, function: FunctionPlan) -> Iterator[str]:
        yield self._head(function)
        role = ""
        for row in function.rows:
            speaker = row.role if row.role != role else ""
            role = row.role
            yield from self._row(row, speaker)
        yield from self._sums(function)

    def _head(self, function: FunctionPlan) -> str:
        counted = self.plan.model or "in bytes"
        figures = ["least", "greatest", *(["this run"] if self.measured else [])]
        right = counted.rjust(FIGURE) + "".join(each.rjust(FIGURE) for each in figures)
        left = _cut(function.signature, WIDTH - len(right) - 1)
        return self._styled("bold", left) + " " * (WIDTH - len(left) - len(right)) + right

    def _row(self, row: Row, role: str) -> Iterator[str]:
        left = f"{row.number:>{NUMBER - 1}} {role:<{ROLE}}{'  ' * row.depth}"
        if row.hole is not None:
            yield from self._hole(left, row, row.hole)
            return
        said, style = self._said(row)
        yield left + self._styled(style, _cut(said, WIDTH - len(left)))

    def _said(self, row: Row) -> tuple[str, str]:
        unit = "tok" if self.plan.unit == "tokens" else "bytes"
        over = f" over {_listed(row.origins)}" if row.origins else ""
        match row.kind:
            case "text":
                size = f"{row.size:>4} {unit}  "
                behind = "  BEHIND what varies" if row.behind else ""
                room = WIDTH - NUMBER - ROLE - 2 * row.depth - len(size) - len(behind)
                return size + _cut(_quoted(row.text), room) + behind, "warn" if row.behind else "dim"
            case "value" if row.origins:
                return f"varies with {_listed(row.origins)}", "varies"
            case "value":
                return "a value, the same in every call", "dim"
            case "call":
                how = ", may run beside what stands before" if row.started else ""
                return f"call of {row.function}{how}", ""
            case "part":
                return f"part {row.function}", ""
            case "fork":
                return f"fork{over}: {_times(row.times, 'branch', 'branches')}", ""
            case "forget":
                return "forgets what it writes", ""
            case "loop":
                return f"loop{over}: {_times(row.times, 'round', 'rounds')}", ""
            case "choice":
                return f"one way by {_listed(row.origins) or 'a condition'}:", ""
            case "arm":
                return "either", ""
            case "try" | "except":
                return row.kind, ""
        return {"return": "returns", "raise": "fails"}.get(row.text, row.text), ""

    def _hole(self, left: str, row: Row, hole: HolePlan) -> Iterator[str]:
        took = self._took(hole)
        figures = [_least(hole), _most(hole)]
        if self.measured is not None:
            figures.append("-" if took is None else f"{took.tokens}")
        right = "".join(each.rjust(FIGURE) for each in figures)
        name = hole.name.rpartition(".")[2]
        mode = "" if hole.mode == "gen" else f"{hole.mode} "
        said = _cut(f"{name}: {mode}{hole.type}", WIDTH - len(left) - len(right) - 1)
        yield left + self._styled("hole", said) + " " * (WIDTH - len(left) - len(said) - len(right)) + right
        under = " " * (NUMBER + ROLE + 2 * row.depth + 2)
        if hole.drawn is not None or (took is not None and took.drawn):
            yield from self._drawn(under, hole, took)
        for note in _notes(hole, took):
            yield _cut(under + note, WIDTH)

    def _drawn(self, under: str, hole: HolePlan, took: Took | None) -> Iterator[str]:
        """Tokens drawn: of the least value, and of the run."""
        known = hole.drawn is not None
        shares = []
        if known and hole.least:
            shares.append(f"{hole.forced} of {hole.least} forced")
        if took is not None and took.tokens:
            shares.append(f"in this run {took.forced} of {took.tokens}" + ("" if shares else " forced"))
        right = f"{hole.drawn if known else ''}".rjust(FIGURE) + " " * FIGURE
        if self.measured is not None:
            right += ("" if took is None else f"{took.drawn}").rjust(FIGURE)
        left = _cut(f"{under}drawn; {'; '.join(shares)}".rstrip("; "), WIDTH - len(right) - 1)
        yield (left.ljust(WIDTH - len(right)) + right).rstrip()

    def _took(self, hole: HolePlan) -> Took | None:
        return None if self.measured is None else self.measured.holes.get(hole.name)

    # -- sums ----------------------------------------------------------------------------------------

    def _sums(self, function: FunctionPlan) -> Iterator[str]:
        unit = "tok" if self.plan.unit == "tokens" else "bytes"
        if any(row.kind in ("text", "value", "hole") for row in function.rows):
            behind = f"; read again by every call: {function.behind} {unit}" if function.behind else ""
            yield f"     shared by every call: {function.beginning} {unit} at the beginning{behind}"
        calls = list(dict.fromkeys(row.function for row in function.rows if row.kind == "call"))
        started = list(dict.fromkeys(row.function for row in function.rows if row.started))
        total = f"all holes: {_range(function.least, function.most, unit)}"
        yield f"     calls: {_listed(calls) or 'none'}; concurrent: {_listed(started) or 'none'}; {total}"
        cost = self.plan.cost(function)
        if cost is not None and self.plan.price is not None:
            label = self.plan.price.currency
            upper = "no bound" if cost[1] is None else f"{shown(cost[1], label)} at most"
            yield f"     answers cost {shown(cost[0], label)} at least, {upper}; prompts are not in it"
        elif self.plan.price is not None:
            yield "     answers have a price: --model NAME says in whose tokens to count them"
        if function.within is not None:
            yield "     " + self._within(function, function.within)

    def _within(self, function: FunctionPlan, within: int) -> str:
        said = f"within {within} tok: "
        unit = "" if self.plan.unit == "tokens" else " bytes"
        if function.verdict == "holds":
            return f"{said}holds (greatest {function.most}{unit})"
        if function.verdict == "cannot hold":
            return self._styled("warn", f"{said}cannot hold the holes (least {function.least}{unit})")
        if function.verdict == "unknown":
            return f"{said}--model says whether it holds (greatest {_bound(function.most)}{unit})"
        return self._styled("varies", f"{said}may be cut (greatest {_bound(function.most)})")

    def _run(self) -> Iterator[str]:
        found = self.measured
        if found is None:
            return
        parts = []
        if found.prompt is not None:
            reused = "" if found.reused is None else f" (reused {found.reused})"
            parts.append(f"prompt {found.prompt}{reused}")
        parts.append(f"tokens {found.tokens}")
        if found.passes is not None:
            drafts = f" (drafts: {found.accepted} of {found.drafted} came)" if found.drafted else ""
            parts.append(f"passes {found.passes}{drafts}")
        yield f"this run  {'   '.join(parts)}"

    def _styled(self, style: str, text: str) -> str:
        if not self.color or style not in _STYLES:
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def _least(hole: HolePlan) -> str:
    return f"{hole.least}" if hole.exact else f"≥ {hole.least}"


def _most(hole: HolePlan) -> str:
    if hole.most is None:
        return "no bound"
    return f"{hole.most}" if hole.most_exact else f"≤ {hole.most}"


def _range(least: int, most: int | None, unit: str) -> str:
    if most is None:
        return f"{least} {unit} or more, no bound"
    return f"{least} {unit}" if least == most else f"{least} to {most} {unit}"


def _bound(most: int | None) -> str:
    return "no bound" if most is None else f"{most}"


def _notes(hole: HolePlan, took: Took | None) -> Iterator[str]:
    if hole.samples > 1:
        yield f"{hole.samples} samples"
    if hole.texts > 1:
        yield f"up to {hole.texts} texts, which all count against budgets"
    if hole.attempts > 1:
        yield f"filled {hole.attempts} times at most, with its retries"
    if took is not None and took.times > 1:
        yield f"filled {took.times} times in this run"
    if hole.because:
        yield hole.because
    if hole.masks is not None:
        yield f"masks ahead: {hole.masks.states:,} states, {hole.masks.bytes / 1e6:.2f} MB"


def _times(times: Times | None, one: str, many: str) -> str:
    low, high = times or (0, None)
    if high is None:
        return f"no bound of {many}" if not low else f"{low} {many} or more"
    if low == high:
        return f"{low} {one if low == 1 else many}"
    return f"{low} to {high} {many}"


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(names)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t") + '"'


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"
