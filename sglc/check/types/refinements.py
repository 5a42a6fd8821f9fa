"""Refinements of types: narrower types, and contradictions that can be seen at once."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sglc.automata.number.decimal import MAX_DIVISOR, common_step, step_is_possible
from sglc.automata.term import MOST_COUNTED
from sglc.check.core.context import ModuleContext
from sglc.check.core.result import ExpressionType
from sglc.check.types.dependent_spans import refined_span
from sglc.check.types.kinds import UNKNOWN, said
from sglc.check.types.regexes import check_regex
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import Dec, Float, Int, Optional, SpanOf, Str, Type, matching


def refine(module: ModuleContext, type: ExpressionType, refinement: ast.Refinement) -> ExpressionType:
    """The narrower type; UNKNOWN, reported, where the refinement does not fit or leaves nothing."""
    match refinement, type:
        case ast.MinChars(count), Str():
            check_countable(module, count, "characters", refinement.span)
            return replace(type, min_chars=max(type.min_chars, count))
        case (ast.MinChars() | ast.MaxChars() | ast.Until(), SpanOf()):
            return refined_span(module, type, refinement)
        case ast.MaxChars(count), Str():
            return replace(type, max_chars=count if type.max_chars is None else min(type.max_chars, count))
        case ast.Matching(pattern), Str():
            if not check_regex(module, pattern, refinement.span):
                return UNKNOWN
            return matching(pattern, of=type)
        case ast.Until(text), Str():
            return add_until(module, type, text, refinement.span)
        case ast.NotContaining(text), Str():
            if not text:
                module.report(
                    "E0304",
                    "every text contains the empty text",
                    refinement.span,
                    label="nothing is left",
                )
                return UNKNOWN
            return replace(type, excludes=(*type.excludes, text))
        case ast.RangeRefinement(), Int() | Dec() | Float():
            return _bounds(module, type, refinement)
        case ast.MultipleOf(number), Int() | Dec():
            if number <= 0:
                module.report("E0304", "a step must be above zero", refinement.span, label="not above zero")
                return UNKNOWN
            if type.multiple_of is not None:
                number = common_step(Decimal(type.multiple_of), Decimal(number))
            if not step_is_possible(Decimal(number)):
                module.report(
                    "E0344",
                    "this type asks for too much work",
                    refinement.span,
                    label="this step is too large",
                    reason=f"masks keep the remainder by a step, and tell at most {MAX_DIVISOR:,} apart",
                )
                return UNKNOWN
            if isinstance(type, Int):
                if number != int(number):
                    module.report(
                        "E0306",
                        "the step of an int is an integer",
                        refinement.span,
                        label="has a fraction",
                    )
                    return UNKNOWN
                low, high = type.minimum, type.maximum
                if low is not None and high is not None and -(-low // int(number)) * int(number) > high:
                    _no_multiple(module, number, low, high, refinement.span)
                    return UNKNOWN
                return replace(type, multiple_of=int(number))
            step = Decimal(number)
            if type.minimum is not None and type.maximum is not None:
                quotient = type.minimum / step
                first = quotient.to_integral_value(rounding="ROUND_CEILING") * step
                if first > type.maximum:
                    _no_multiple(module, number, type.minimum, type.maximum, refinement.span)
                    return UNKNOWN
            return replace(type, multiple_of=step)
    misfit(module, refinement, said(type), optional=isinstance(type, Optional))
    return UNKNOWN


def misfit(module: ModuleContext, refinement: ast.Refinement, type: str, *, optional: bool = False) -> None:
    """Report a refinement of another kind of values."""
    words = {
        ast.MinChars: "min … chars",
        ast.MaxChars: "max … chars",
        ast.Matching: "matching",
        ast.Until: "until",
        ast.NotContaining: "not containing",
        ast.RangeRefinement: "in",
        ast.MultipleOf: "multiple of",
    }
    texts = isinstance(refinement, ast.MinChars | ast.MaxChars | ast.Matching | ast.Until | ast.NotContaining)
    module.report(
        "E0306",
        f"`{words[refinement.__class__]}` does not fit {type}",
        refinement.span,
        label=f"refines {'texts' if texts else 'numbers'} only",
        hint="refine what is inside: `(T …)?`" if optional else "",
    )


def _no_multiple(module: ModuleContext, number: object, low: object, high: object, span: Span) -> None:
    module.report(
        "E0304",
        f"no multiple of {number} lies in {low}..{high}",
        span,
        label="nothing is left of the range",
    )


def _bounds(module: ModuleContext, type: Int | Dec | Float, node: ast.RangeRefinement) -> ExpressionType:
    low, high = node.minimum, node.maximum
    if isinstance(type, Int):
        for bound in (low, high):
            if isinstance(bound, Decimal) and bound != bound.to_integral_value():
                module.report(
                    "E0306", "bounds of an int are integers", node.span, label=f"{bound} has a fraction"
                )
                return UNKNOWN
        low = None if low is None else int(low)
        high = None if high is None else int(high) - node.below
    elif node.below:
        module.report(
            "E0306",
            f"the upper end of a range of {said(type)} cannot be left out",
            node.span,
            label="has no last value",
            reason="between two decimals there is always another",
            hint=f"name the last value, such as `in {'' if low is None else low}..{last_below(high)}`",
        )
        return UNKNOWN
    else:
        low = None if low is None else Decimal(low)
        high = None if high is None else Decimal(high)
    if low is not None and type.minimum is not None:
        low = max(low, type.minimum)
    if high is not None and type.maximum is not None:
        high = min(high, type.maximum)
    low = type.minimum if low is None else low
    high = type.maximum if high is None else high
    if low is not None and high is not None and low > high:
        swapped = node.minimum is not None and node.maximum is not None and node.minimum > node.maximum
        module.report(
            "E0304",
            f"no number is at least {low} and at most {high}",
            node.span,
            label="an empty range",
            hint=f"write `in {node.maximum}..{node.minimum}`"
            if swapped
            else f"`{node.minimum}..{node.maximum}` includes {node.maximum}"
            if node.below
            else "",
        )
        return UNKNOWN
    step = getattr(type, "multiple_of", None)
    if step is not None and isinstance(type, Int) and low is not None and high is not None:
        if -(-int(low) // step) * step > int(high):
            _no_multiple(module, step, low, high, node.span)
            return UNKNOWN
    return replace(type, minimum=low, maximum=high)  # type: ignore[arg-type]


def add_until(module: ModuleContext, type: Str, text: str, span: Span) -> Type:
    """The text type that also ends before `text`."""
    if not text:
        module.report("E0304", "an empty stop text ends every value at once", span, label="empty")
        return UNKNOWN  # type: ignore[return-value]
    return type if text in type.until else replace(type, until=(*type.until, text))


def check_counts(
    module: ModuleContext, minimum: int | None, maximum: int | None, unit: str, span: Span
) -> None:
    """Report bounds of a length that contradict each other; `unit` names what is counted, in the plural."""
    if maximum is not None and (minimum or 0) > maximum:
        module.report(
            "E0304",
            f"nothing has at least {minimum or 0} and at most {maximum} {unit}",
            span,
            label="the bounds contradict each other",
            hint="`..<` leaves its upper end out" if "..<" in span.text else f"write `{maximum}..{minimum}`",
        )
    check_countable(module, minimum or 0, unit, span)


def check_countable(module: ModuleContext, least: int, unit: str, span: Span) -> None:
    """Reports a minimum that no text can reach."""
    if least > MOST_COUNTED:
        module.report(
            "E0343",
            f"at least {least:,} {unit} are too many",
            span,
            label="no text of a run is so long",
            reason=f"a value that a mask can complete has at most {MOST_COUNTED:,} {unit}",
            hint=f"lower the minimum to {MOST_COUNTED:,}; a maximum may be larger",
        )


def last_below(bound: int | Decimal | None) -> Decimal:
    """A decimal that is a little less than a bound, to show how one is written."""
    return Decimal(bound or 0) - Decimal("0.01")
