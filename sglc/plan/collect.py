"""From a compiled program to its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sglc.analysis.layout import layout
from sglc.analysis.layout_items import (
    Attempt,
    Called,
    Choice,
    Constant,
    Filled,
    Forgotten,
    Forked,
    Inserted,
    Item,
    Layout,
    Leave,
    Loop,
    MessageEnd,
    Role,
)
from sglc.analysis.origins import Origins
from sglc.bytecode.code import Code, Program
from sglc.bytecode.signatures import signature
from sglc.ir.module import Module
from sglc.plan.hole_bounds import HoleBounds, Place
from sglc.plan.lift import lift
from sglc.plan.plan import FunctionPlan, HolePlan, ProgramPlan, Row, RowKind, Verdict
from sglc.plan.totals import NEVER, Totals
from sglc.source import Span

if TYPE_CHECKING:
    from sglc.runtime.mask.artifact.places import MaskPlaces

BYTES_PER_TOKEN = 16
"""What one token is taken to hold at most where no tokenizer is known, as by the checker (E0332)."""


def plan_program(
    program: Program,
    names: list[str],
    *,
    model: str = "",
    tokenizer: object = None,
    masks: MaskPlaces | None = None,
    callees: bool = False,
) -> ProgramPlan:
    """The plans of some functions, and of those that they call with `callees`. `tokenizer` is the model's,
    None for a plan in bytes."""
    module = lift(program)
    bounds = HoleBounds(module.holes, program.table, tokenizer, masks)
    collector = _Collector(program, module, bounds)
    plans = {name: collector.plan(program.codes[program.entry[name]]) for name in names}
    todo = list(plans.values()) if callees else []
    while todo:
        for code in collector.called(todo.pop(0)):
            if code.name not in plans:
                plans[code.name] = collector.plan(code)
                todo.append(plans[code.name])
    return ProgramPlan(program.name, model, bounds.unit, tuple(plans.values()))


@dataclass(slots=True)
class _Spot:
    """Where reading has come to: the open message, and what of its text is known."""

    role: str = ""
    text: str = ""
    known: bool = True
    varies: bool = False
    """Whether something that varies was written."""
    asked: bool = False
    """Whether a hole was filled."""

    @property
    def place(self) -> Place:
        return Place(self.role, self.text, self.known)

    def forget(self) -> None:
        """What stands before is not the same on all ways."""
        self.text, self.known = "", False


class _Collector:
    """Plans functions. Of one that is called, the holes are planned where they stand in it."""

    def __init__(self, program: Program, module: Module, bounds: HoleBounds) -> None:
        self._program, self._module, self._bounds = program, module, bounds
        self._codes = {code.name: code for code in program.codes}
        self._plans: dict[int, HolePlan] = {}
        """By identity of an item of the layouts: the plan of a filled hole."""
        self._read: dict[str, tuple[Layout, list[Row]]] = {}
        """By function: its layout, and its rows without their numbers."""
        budgets = bounds.unit == "tokens"
        self._totals = Totals(lambda name: self._layout(name)[0], self._plan_of, budgets)
        self._cut = Totals(lambda name: self._layout(name)[0], self._plan_of, budgets, cut=True)
        self._tried = Totals(lambda name: self._layout(name)[0], self._plan_of, budgets, tried=True)

    def plan(self, code: Code) -> FunctionPlan:
        """The plan of a function that has a conversation of its own."""
        rows = [replace(row, number=number) for number, row in enumerate(self._layout(code.name)[1], 1)]
        total = self._totals.of_function(code.name)
        least, cut = (0 if each >= NEVER else each for each in (total.least, self._cut_of(code.name)))
        texts = [row for row in rows if row.kind == "text" and not row.depth]
        first = next((row.number for row in rows if row.origins or row.hole), len(rows) + 1)
        beginning = sum(row.size or 0 for row in texts if row.number < first)
        behind = sum(row.size or 0 for row in rows if row.behind)
        return FunctionPlan(
            self._known_name(code.name),
            signature(self._program, code).replace(code.name, self._known_name(code.name), 1),
            tuple(rows),
            least,
            total.most,
            code.within,
            None
            if code.within is None
            else self._verdict(cut, self._tried.of_function(code.name).most, code.within),
            beginning,
            behind,
        )

    def called(self, plan: FunctionPlan) -> list[Code]:
        """The functions with conversations of their own that a function calls. A function is there as it was
        written, or, where only copies of it for certain arguments are left, as these copies."""
        names = dict.fromkeys(row.function for row in plan.rows if row.kind == "call")
        copies = (code for code in self._codes.values() if code.copy_of in names)
        written = [self._codes[name] for name in names if name in self._codes]
        return written + [code for code in copies if code.copy_of not in self._codes]

    def _known_name(self, name: str) -> str:
        """The name that people gave a function: of a copy for certain arguments, that of the original."""
        code = self._codes.get(name)
        return code.copy_of if code is not None and code.copy_of else name

    def _cut_of(self, name: str) -> int:
        """The least where a budget may cut values off."""
        return self._cut.of_function(name).least

    def _layout(self, name: str) -> tuple[Layout, list[Row]]:
        if name not in self._read:
            found = layout(self._module, self._module.function(name))
            self._read[name] = found, list(self._rows(found.items, _Spot(), 0))
        return self._read[name]

    def _verdict(self, least: int, most: int | None, within: int) -> Verdict:
        if self._bounds.unit == "bytes":
            if -(-least // BYTES_PER_TOKEN) > within:
                return "cannot hold"
            return "holds" if most is not None and most <= within else "unknown"
        if least > within:
            return "cannot hold"
        return "holds" if most is not None and most <= within else "may be cut"

    def _plan_of(self, item: Filled) -> HolePlan:
        return self._plans[id(item)]

    def _planned(self, item: Filled, place: Place) -> HolePlan:
        return self._bounds.of(item.hole, place, item.options, item.attempts)

    # -- rows ----------------------------------------------------------------------------------------

    def _rows(self, items: tuple[Item, ...], spot: _Spot, depth: int) -> Iterator[Row]:
        for item in items:
            yield from self._of(item, spot, depth)

    def _of(self, item: Item, spot: _Spot, depth: int) -> Iterator[Row]:
        def row(kind: RowKind, **more: Any) -> Row:
            span = more.pop("span", None)
            return Row(0, depth, kind, spot.role, _line(span), **more)

        match item:
            case Role(role):
                spot.role, spot.text, spot.known = role, "", True
            case MessageEnd():
                spot.role = ""
            case Constant(text, spans):
                spot.text += text
                size = len(text.encode()) if self._bounds.tokenizer is None else self._tokens(text)
                behind = spot.varies and not spot.asked
                yield row("text", text=text, size=size, behind=behind, span=spans[0] if spans else None)
            case Inserted(origins, span):
                spot.forget()
                spot.varies = spot.varies or bool(origins)
                yield row("value", origins=self._named(origins), span=span)
            case Filled():
                plan = self._plans[id(item)] = self._planned(item, spot.place)
                spot.forget()
                spot.varies = spot.asked = True
                yield row("hole", hole=plan, span=item.span)
            case Called(name, kind, origins, items):
                yield row(
                    "part" if kind == "part" else "call",
                    function=self._known_name(name),
                    origins=self._named(origins),
                    started=item.started,
                    span=item.span,
                )
                if kind == "part":
                    if not items:
                        spot.forget()
                    yield from self._rows(items, spot, depth + 1)
            case Forked(name, origins, times, items):
                yield row("fork", function=name, origins=self._named(origins), times=times, span=item.span)
                yield from self._rows(items, replace(spot), depth + 1)
                spot.forget()
                spot.varies = spot.asked = True
            case Forgotten(items, span):
                yield row("forget", span=span)
                yield from self._rows(items, replace(spot), depth + 1)
            case Loop(origins, items, times, span):
                yield row("loop", origins=self._named(origins), times=times, span=span)
                spot.forget()
                spot.varies = spot.varies or bool(origins)
                yield from self._rows(items, spot, depth + 1)
                spot.forget()
            case Choice(arms=arms) if not all(map(_only_leaves, arms)):
                yield from self._ways(item, spot, depth, row)
            case Attempt():
                yield from self._ways(item, spot, depth, row)
            case Leave(kind, span):
                if kind == "raise" or (kind == "return" and depth):
                    yield row("leave", text=kind, span=span)

    def _ways(
        self, item: Choice | Attempt, spot: _Spot, depth: int, row: Callable[..., Row]
    ) -> Iterator[Row]:
        """The rows of several ways, each from the same beginning."""
        if isinstance(item, Choice):
            yield row("choice", origins=self._named(item.origins), span=item.span)
            ways: list[tuple[RowKind, tuple[Item, ...]]] = [("arm", arm) for arm in item.arms]
            spot.varies = spot.varies or bool(item.origins)
        else:
            ways = [("try", item.items), ("except", item.handler)]
        ends = []
        for kind, items in ways:
            own = replace(spot)
            if items or kind == "try":
                yield Row(0, depth + isinstance(item, Choice), kind, spot.role)
                yield from self._rows(items, own, depth + 1 + isinstance(item, Choice))
            if not (items and isinstance(items[-1], Leave)):
                ends.append(own)
        same = len({(end.role, end.text, end.known) for end in ends}) == 1
        if ends and same:
            spot.role, spot.text, spot.known = ends[0].role, ends[0].text, ends[0].known
        else:
            spot.role = ends[0].role if ends else spot.role
            spot.forget()
        spot.varies = spot.varies or any(end.varies for end in ends)
        spot.asked = spot.asked or any(end.asked for end in ends)

    def _tokens(self, text: str) -> int:
        return len(self._bounds.tokenizer.encode(text))

    def _named(self, origins: Origins) -> tuple[str, ...]:
        """What a value is made from, as people read it."""
        found = []
        for origin in sorted(origins):
            name = origin.name.rpartition(".fork.")[0] if origin.kind == "fork" else origin.name
            shown = {"parameter": name, "hole": name.rpartition(".")[2], "error": "an error"}
            found.append(shown.get(origin.kind, f"a {origin.kind} of {name}"))
        return tuple(dict.fromkeys(found))


def _only_leaves(items: tuple[Item, ...]) -> bool:
    """Whether nothing is written or asked, on all ways through some items."""
    return all(
        isinstance(item, Leave | MessageEnd)
        or (isinstance(item, Choice) and all(map(_only_leaves, item.arms)))
        for item in items
    )


def _line(span: Span | None) -> int | None:
    if span is None or not span.source.text:
        return None
    return span.source.text.count("\n", 0, span.start) + 1
