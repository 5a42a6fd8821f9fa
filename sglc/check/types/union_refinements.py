"""What stands behind a union refines all of it: `str | int max 3 chars` are numbers and short texts.

A refinement narrows the arms of its kind (of texts, of numbers) and leaves the others alone, so
`"none" | int in 0..9` keeps `"none"`. An arm of its kind that has no value left, or that is narrowed though
it has such a refinement of its own, shows a slip: parentheses make the refinement one of the last arm,
`"unknown" | (str matching /[0-9]+/)`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from sglc.check.core.result import ExpressionType, Unknown
from sglc.check.types.conditioned import held_by, with_conditions
from sglc.check.types.kinds import DEC, STR, UNKNOWN, Table, expand, said
from sglc.check.types.refinements import misfit, refine
from sglc.diagnostics.diagnostic import Edit
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.language.membership import is_member
from sglc.types.type import Alternatives, Constant, Dec, Float, Int, OneOf, Optional, SpanOf, Str, Type

if TYPE_CHECKING:
    from sglc.check.types.resolve import TypeResolver

OF_TEXTS = (ast.MinChars, ast.MaxChars, ast.Matching, ast.Until, ast.NotContaining)
OF_NUMBERS = (ast.RangeRefinement, ast.MultipleOf)


class Emptied(Exception):
    """An arm has no value left."""

    def __init__(self, arm: Type) -> None:
        super().__init__()
        self.arm = arm


def refined_union(resolver: TypeResolver, node: ast.TypeRefined, base: ast.TypeUnion) -> ExpressionType:
    """A union with the refinements behind it, its `where` aside."""
    table = resolver.module.table
    arms = [(resolver.resolve(arm), arm) for arm in base.arms]
    for type, arm in arms:
        resolver.note_inner(type, arm)
    if any(isinstance(type, Unknown) for type, _ in arms):
        return UNKNOWN
    for refinement in _refinements(node):
        if not any(_speaks_of(refinement, type, table) for type, _ in arms):
            whole = resolver.union([(type, arm.span) for type, arm in arms])
            misfit(resolver.module, refinement, said(whole))
            return UNKNOWN
        narrower: list[tuple[Type, ast.TypeExpression]] = []
        for type, arm in arms:
            found = _behind(resolver, type, arm, refinement, node, base)
            if found is None:
                return UNKNOWN
            narrower += [(part, arm) for part in found]
        arms = narrower
    return resolver.union([(type, arm.span) for type, arm in arms])


def _refinements(node: ast.TypeRefined) -> list[ast.Refinement]:
    return [part for part in node.refinements if not isinstance(part, ast.Where | ast.Surface)]


def _behind(
    resolver: TypeResolver,
    type: Type,
    written: ast.TypeExpression,
    refinement: ast.Refinement,
    node: ast.TypeRefined,
    base: ast.TypeUnion,
) -> list[Type] | None:
    """An arm behind a refinement of its union; None after a fault."""
    try:
        found = _narrowed(resolver, type, refinement)
        for arm in found or ():
            if arm != type and isinstance(arm, Str) and not resolver.facts.inhabited(arm):
                raise Emptied(type)
    except Emptied as emptied:
        what = f"`{refinement.span.text}` leaves nothing of the arm {said(emptied.arm)}"
        _meant_of_last(resolver, what, refinement, node, base)
        return None
    own = written.refinements if isinstance(written, ast.TypeRefined) else ()
    if found is not None and found != [type] and refinement.__class__ in {part.__class__ for part in own}:
        what = f"`{refinement.span.text}` narrows the arm {said(type)} as well"
        _meant_of_last(resolver, what, refinement, node, base)
        return None
    return found


def _meant_of_last(
    resolver: TypeResolver, what: str, refinement: ast.Refinement, node: ast.TypeRefined, base: ast.TypeUnion
) -> None:
    """Report a refinement behind a union that was likely meant of its last arm."""
    last = base.arms[-1]
    own = Span(last.span.source, last.span.start, _refinements(node)[-1].span.end)
    around = (
        Edit(Span(own.source, own.start, own.start), "("),
        Edit(Span(own.source, own.end, own.end), ")"),
    )
    bare = isinstance(last, ast.TypeLiteral)
    resolver.module.report(
        "E0215",
        what,
        refinement.span,
        label="behind a union it holds for all of it",
        hint="leave the arm out" if bare else f"for the last arm alone write `({own.text})`",
        edits=() if bare else around,
    )


def _is_of_kind(refinement: ast.Refinement, plain: ExpressionType) -> bool:
    """Whether a refinement speaks of the values of a type that is no union."""
    value = plain.value if isinstance(plain, Constant) else None
    if isinstance(refinement, OF_TEXTS):
        return isinstance(value, str) or isinstance(plain, Str | SpanOf | OneOf)
    if isinstance(refinement, OF_NUMBERS):
        number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        return number or isinstance(plain, Int | Dec | Float)
    return False


def _speaks_of(refinement: ast.Refinement, type: ExpressionType, table: Table) -> bool:
    """Whether a refinement speaks of an arm of a type."""
    plain = expand(type, table)
    match plain:
        case Alternatives(arms):
            return any(_speaks_of(refinement, arm, table) for arm in arms)
        case Optional(item):
            return _speaks_of(refinement, item, table)
    return _is_of_kind(refinement, plain)


def _narrowed(resolver: TypeResolver, type: Type, refinement: ast.Refinement) -> list[Type] | None:
    """The arms of a type behind a refinement; None where a fault of it was reported.

    Raises Emptied for an arm of the refinement's kind that keeps no value.
    """
    table = resolver.module.table
    plain = expand(type, table)
    match plain:
        case Alternatives(arms):
            found: list[Type] = []
            for arm in arms:
                inner = _narrowed(resolver, arm, refinement)
                if inner is None:
                    return None
                found += inner
            return found
        case Optional(item):
            inner = _narrowed(resolver, item, refinement)
            if inner is None:
                return None
            return [Optional(inner[0] if len(inner) == 1 else Alternatives(tuple(inner)))]
    if not _is_of_kind(refinement, plain):
        return [type]
    if not isinstance(plain, Constant):
        refined = _refined(resolver, plain, refinement)
        if refined is None:
            return None
        held = held_by(resolver.module, type)
        return [with_conditions(resolver.module, refined, held)]  # type: ignore[list-item]
    text = isinstance(plain.value, str)
    legal = _refined(resolver, STR if text else DEC, refinement)
    if legal is None:
        return None
    if not is_member(plain.value if text else Decimal(plain.value), legal, table):
        raise Emptied(type)
    return [type]


def _refined(resolver: TypeResolver, plain: ExpressionType, refinement: ast.Refinement) -> Type | None:
    """A refined arm, None after a fault of the refinement; raises Emptied where it is the arm that leaves
    nothing."""
    diagnostics = resolver.module.diagnostics
    mark = len(diagnostics)
    found = refine(resolver.module, plain, refinement)
    if not isinstance(found, Unknown):
        return found  # type: ignore[return-value]
    report = diagnostics[mark:]
    if [told.code for told in report] == ["E0304"]:
        del diagnostics[mark:]
        by_itself = refine(resolver.module, DEC if isinstance(refinement, OF_NUMBERS) else STR, refinement)
        if not isinstance(by_itself, Unknown):
            raise Emptied(plain)  # type: ignore[arg-type]
        diagnostics[mark:] = report
    return None
