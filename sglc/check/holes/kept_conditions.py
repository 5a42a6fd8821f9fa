"""Conditions that the mask of a hole keeps, because they compare with values of the run."""

from __future__ import annotations

from collections.abc import Sequence

from sglc.automata.analysis.emptiness import is_empty
from sglc.automata.dfa.operations import TooLarge
from sglc.check.core.context import ModuleContext
from sglc.check.core.result import DefaultArgument
from sglc.check.core.walk import mentions
from sglc.check.expressions.inference import Inference
from sglc.check.holes.mask_predicates import ConditionWriter
from sglc.check.types.kinds import said
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.condition import All, Condition, given_numbers
from sglc.types.dependent import given_types
from sglc.types.language.narrowing import is_expressible, narrowed_language
from sglc.types.type import Type
from sglc.types.values import GivenError

Kept = list[tuple[ast.Expression, Condition]]
"""Parts of a condition as they are written, and as the mask keeps them."""


def sort_conditions(
    module: ModuleContext,
    inference: Inference,
    given: list[ast.Expression | DefaultArgument],
    names: tuple[str, ...],
    type: Type,
    conditions: Sequence[ast.Expression],
) -> tuple[Kept, list[ast.Expression]]:
    """What the mask of a hole of this type can keep, and what is asked when the value is complete.

    `names` are those of the value. Expressions that a kept condition compares with are added to `given`.
    """
    writer = ConditionWriter(module, inference, given, names)
    kept: Kept = []
    late: list[ast.Expression] = []
    sure = True
    for part in conditions:
        mark = len(given)
        found = writer.write(part, sure=sure)
        if found is not None and is_expressible(type, found, module.table):
            kept.append((part, found))
        else:
            del given[mark:]
            late.append(part)
        # What stands after a condition on something else is asked only where that holds.
        sure = sure and mentions(part, names)
    return kept, late


def kept_condition(module: ModuleContext, type: Type, kept: Kept, span: Span) -> Condition | None:
    """All that is kept by the hole at `span` as one condition; None, reported, where nothing is left."""
    condition = All(tuple(part for _, part in kept))
    if given_numbers(condition) or given_types(type):
        return condition
    try:
        empty = is_empty(narrowed_language(type, module.table, condition))
    except (GivenError, TooLarge) as fault:
        module.report("E0305", f"no mask can keep this condition: {fault}", span)
        return None
    if empty:
        module.report(
            "E0303",
            "no value of the type meets the condition",
            kept[0][0].span,
            label="nothing can be written here",
            reason=f"it is asked of {said(type)}",
        )
        return None
    return condition
