"""`where`: conditions on a value, taken into the type where that says exactly the same.

A condition is a conjunction. Each part that speaks of the value and of values known now becomes a bound, a
pattern or a set of words, so that the model can write nothing else. Parts of a hole's condition that compare
with values of the run are kept by its mask, which is made when they are known. What is left is asked when the
value is complete: a value that fails is drawn again without it, a few times, and is then `Rejected`. Of a
declared type and of a part of a type what is left stays beside it (`sglc.check.holes.declared_conditions`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sglc.check.core.context import ModuleContext
from sglc.check.core.function_state import Local
from sglc.check.core.result import Conditions, ExpressionType, HoleNode, Unknown, Validator
from sglc.check.core.work_limit import within_limit
from sglc.check.declarations.dependent_types import DependentTypes
from sglc.check.expressions.inference import Inference
from sglc.check.holes.declared_conditions import DeclaredConditions
from sglc.check.holes.validators import checked_validator, is_validator
from sglc.check.names.scopes import Scopes
from sglc.check.proofs.emptiness import LONGEST_SHOWN
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import STR, UNKNOWN, said
from sglc.diagnostics.diagnostic import Label
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types import type as t
from sglc.types.dependent import erased

if TYPE_CHECKING:
    from sglc.types.condition import Condition

ATTEMPTS = 8
"""How often a hole is drawn again because of its `where`."""


@dataclass(slots=True)
class HoleClauses:
    """The conditions of one hole."""

    type: ast.TypeExpression
    """The whole type of the hole: only its conditions can be left for later, those of its parts cannot."""
    names: tuple[str, ...]
    """Names of the value in them."""
    base: ExpressionType = UNKNOWN
    """The type that they are asked of."""
    left: list[ast.Expression] = field(default_factory=list)
    """Parts that are asked when the value is complete."""
    kept: list[tuple[ast.Expression, Condition]] = field(default_factory=list)
    """Parts that the mask of the hole keeps."""
    asked: list[ast.Call] = field(default_factory=list)
    """Calls of validators."""
    validators: list[Validator] = field(default_factory=list)
    """Those of its type."""
    predicates: list[t.Predicate] = field(default_factory=list)
    """Those of its type, which are asked when the value is complete."""
    tested: t.Type | None = None
    """The type that they are of."""
    sampled: bool = False
    """The value is one of several, so that they say nothing of the variable, which has them all."""


@dataclass(slots=True, eq=False)
class WhereClauses:
    """Conditions of types and holes. `it` is the value; in a hole its name is too."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    dependent: DependentTypes
    declared: DeclaredConditions
    facts: TypeFacts
    hole: HoleClauses | None = None
    """Those of the hole whose type is being resolved; None outside of holes."""
    late: dict[int, HoleClauses] = field(default_factory=dict)
    """Those that wait until the value of their hole has a variable, by the identity of the hole."""

    def where(
        self, type: ExpressionType, node: ast.TypeRefined, condition: ast.Expression
    ) -> tuple[ExpressionType, Conditions]:
        """The type with a condition taken in. What is left is kept for the hole, or beside the type."""
        if isinstance(type, Unknown):
            return type, Conditions()
        from sglc.check.holes.taken_conditions import Taking

        left = list(_conjuncts(condition))
        hole = self.hole if self.hole is not None and self.hole.type is node else None
        if hole is not None:
            if not hole.left and not hole.kept:
                hole.base = type
            hole.asked += [part for part in left if is_validator(self.module, part)]  # type: ignore[misc]
            left = [part for part in left if part not in hole.asked]
        names = ("it",) if self.hole is None else self.hole.names
        base, taken, changed = type, [], True  # type: ignore[var-annotated]
        while changed:
            # What is taken in may leave few values, about which more can be said.
            waiting, left, changed = left, [], False
            for part in waiting:
                found, whole = Taking(self.module, self.inference, names).part(type, part)  # type: ignore[arg-type]
                if found is not None and found != type:
                    if self._contradicts(type, found, node, part):  # type: ignore[arg-type]
                        self._told_contradiction(base, type, node, part, taken)  # type: ignore[arg-type]
                        return UNKNOWN, Conditions()
                    taken.append(part)
                    changed = True
                type = type if found is None else found
                if not whole:
                    left.append(part)
        if hole is not None:
            self._keep(hole, type, left)  # type: ignore[arg-type]
            return type, Conditions()
        return type, self.declared.conditions(type, names, left, self.dependent.given)  # type: ignore[arg-type]

    def _contradicts(self, before: t.Type, type: t.Type, node: ast.TypeRefined, part: ast.Expression) -> bool:
        """Whether a condition takes the last values of a type that had some."""
        facts = self.facts
        if not facts.sound(type) or not facts.sound(before):
            return False
        return within_limit(
            self.module.program,
            part.span,
            lambda: not facts.inhabited(type) and facts.inhabited(before),
            False,
        )

    def _told_contradiction(
        self,
        base: t.Type,
        before: t.Type,
        node: ast.TypeRefined,
        part: ast.Expression,
        taken: list[ast.Expression],
    ) -> None:
        """Report a condition that leaves nothing, and the part of the type that it contradicts: an earlier
        condition where that alone does it, else what stands before the conditions."""
        from sglc.check.holes.taken_conditions import Taking

        taking = Taking(self.module, self.inference, ("it",) if self.hole is None else self.hole.names)
        other, words = _unconditioned(node), said(base)
        for earlier in taken:
            narrowed, _ = taking.part(base, earlier)
            both = None if narrowed is None else taking.part(narrowed, part)[0]
            if both is not None and not self.facts.inhabited(both):
                other, words = earlier.span, f"`{earlier.span.text}`"
                break
        shortest = self.facts.shortest_word(before) or b""
        self.module.report(
            "E0303",
            f"`{part.span.text}` leaves nothing of {words}",
            part.span,
            label="no value meets this condition",
            secondary=(Label(other, "and this"),),
            reason=f"{said(before)} and `{part.span.text}` have no value in common",
            witness=shortest.decode("utf-8", "replace")[:LONGEST_SHOWN],
            hint="the example meets all but the condition: correct the one or the other",
        )

    def _keep(self, hole: HoleClauses, type: t.Type, left: list[ast.Expression]) -> None:
        """Sort what the type does not say into what the hole's mask keeps and what is asked at the end."""
        if not left:
            return
        from sglc.check.holes.kept_conditions import sort_conditions

        given = self.dependent.given
        assert given is not None
        kept, late = sort_conditions(self.module, self.inference, given, hole.names, type, left)
        hole.kept += kept
        hole.left += late

    def kept_condition(self, hole: HoleClauses, type: t.Type, span: Span) -> Condition | None:
        """What the mask of the hole at `span` keeps beside its type; reports it where nothing is left."""
        if not hole.kept:
            return None
        from sglc.check.holes.kept_conditions import kept_condition

        return kept_condition(self.module, type, hole.kept, span)

    @contextmanager
    def of_hole(self, node: ast.Gen, name: str | None) -> Iterator[HoleClauses]:
        """While the conditions of this hole's type may be left for later."""
        outer, self.hole = self.hole, HoleClauses(node.type, ("it",) if name is None else ("it", name))
        try:
            yield self.hole
        finally:
            self.hole = outer

    def late_conditions(self, node: HoleNode, local: Local) -> None:
        """Check the conditions of a hole as such, and keep what is left as conditions that draw it again."""
        if id(node) not in self.late:
            return
        late = self.late.pop(id(node))
        scope = self.scopes.function.scope
        found = []
        # The conditions speak of values that they have not narrowed.
        base = late.base
        narrow, local.type = local.type, base if isinstance(base, Unknown) else erased(base)  # type: ignore[arg-type]
        for part in (*(part for part, _ in late.kept), *late.left):
            self.scopes.open()
            self.scopes.function.scope.names.setdefault("it", local)
            self.inference.condition(part)
            self.scopes.close()
            if not late.sampled:
                scope.proved.add(self.scopes.narrowings(part, True))
        local.type = STR
        self.scopes.open()
        self.scopes.function.scope.names.setdefault("it", local)
        asked = [checked_validator(self.module, self.inference, part, late.names) for part in late.asked]
        self.scopes.close()
        local.type = narrow
        if late.tested is not None:
            found.append(self._tested(node, late.predicates, late.tested, local))
        for part in late.left:
            found.append(self._drawn_again(node, part, None, part.span))
            self.module.report(
                "W0215",
                "this condition is checked when the value is complete",
                part.span,
                label="not part of what the model can write",
                reason=f"a value that fails is drawn again, {ATTEMPTS} times at most, then `Rejected`",
                severity="note",
            )
        facts = self.module.holes.get(id(node))
        if facts is None:
            return
        if found:
            facts = replace(facts, slot=local.slot, where=tuple(found))
        validators = (*late.validators, *(validator for validator in asked if validator is not None))
        self.module.holes[id(node)] = replace(facts, validators=validators)

    def _drawn_again(
        self, node: HoleNode, condition: ast.Expression, message: ast.Expression | None, span: Span
    ) -> ast.Ensure:
        """The condition that draws a hole again where it does not hold."""
        count = ast.Number(ATTEMPTS, span)
        ensure = ast.Ensure(True, None, condition, message, ast.Retry(count, "resample", span), None, span)
        self.module.constants[id(count)] = ATTEMPTS
        self.module.retries[id(ensure)] = node
        return ensure

    def _tested(
        self, node: HoleNode, predicates: list[t.Predicate], type: t.Type, local: Local
    ) -> ast.Ensure:
        """The condition that the predicates of the type of a hole hold."""
        shown = " and ".join(f"`{predicate.text}`" for predicate in predicates)
        verb = "does not hold" if len(predicates) == 1 else "do not all hold"
        message = ast.String((f"{shown} {verb}",), node.span)
        self.module.types[id(message)] = STR
        ensure = self._drawn_again(node, ast.Boolean(True, node.span), message, node.span)
        self.module.tested[id(ensure)] = (local.slot, type)
        return ensure


def _unconditioned(node: ast.TypeRefined) -> Span:
    """The part of a written type that stands before its conditions."""
    last = node.base.span
    for refinement in node.refinements:
        if isinstance(refinement, ast.Where):
            break
        last = refinement.span
    return Span(last.source, node.base.span.start, last.end)


def _conjuncts(node: ast.Expression) -> Iterator[ast.Expression]:
    if isinstance(node, ast.Binary) and node.operator == "and":
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    else:
        yield node
