"""The type of an expression, and what it must be: of a type, a condition, something with a text.

`infer` gives an expression's own type, with the expected type as a hint for enum members, empty lists and
numbers; `expect` also demands that it fits and notes where a check or widening is left for run time.
"""

from __future__ import annotations

import re

from sglc.check.core.callbacks import Callbacks
from sglc.check.core.context import ModuleContext
from sglc.check.core.result import (
    BranchOf,
    ErrorOf,
    ExpressionType,
    ListValue,
    Never,
    RangeOf,
    ScoredOf,
    Unknown,
)
from sglc.check.expressions.folding import convert, fold
from sglc.check.names.scopes import Hint, Scopes
from sglc.check.types.assignability import Fit, fit
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import (
    BOOL,
    Table,
    allows_null,
    as_written,
    expand,
    is_bool,
    is_text,
    item_of,
    numeric_rank,
    said,
    without_null,
)
from sglc.diagnostics.diagnostic import Edit
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.language.membership import MemberError, check_member
from sglc.types.language.predicates import predicates_of
from sglc.types.type import InForm, ListOf
from sglc.types.values import Value

_QUOTED_NUMBER = re.compile(r'"-?\d{1,18}"')


@node
class Inference:
    """Every expression that passes through `infer` has its type in the module's table."""

    module: ModuleContext
    facts: TypeFacts
    scopes: Scopes
    callbacks: Callbacks

    def infer(self, node: ast.Expression, expected: ExpressionType | None = None) -> ExpressionType:
        """The type of an expression; `expected` is a hint, not a demand."""
        found = self.callbacks.form(node, expected)
        self.module.types[id(node)] = found
        return found

    def expect(self, node: ast.Expression, target: ExpressionType, what: str) -> ExpressionType:
        """The type of an expression that must fit `target`; `what` names the place in messages."""
        before = len(self.module.diagnostics)
        found = self.infer(node, target)
        self.fits(node, found, target, what, quiet=len(self.module.diagnostics) > before)
        return found

    def fits(
        self,
        node: ast.Expression,
        found: ExpressionType,
        target: ExpressionType,
        what: str,
        quiet: bool = False,
    ) -> bool:
        """Demand that an expression of type `found` may stand where `target` is due."""
        answer = fit(found, target, self.module.table)
        if answer is Fit.ALWAYS:
            return True
        known, value = fold(self.module, node)
        if known and (answer is Fit.CHECK or same_shape(found, target, self.module.table)):
            reason = self.not_a_member(value, target)
            if reason is None and self.scopes.function.kind == "const":
                self._without_predicates(node, target)
            if reason is None:
                self.module.coercions[id(node)] = target  # type: ignore[assignment]
                return True
            if not quiet:
                self.module.report(
                    "E0302",
                    f"{shown(value)} is not a value of {said(target)}",
                    node.span,
                    label=f"given for {what}",
                    reason=reason,
                )
            return False
        if answer is Fit.CHECK:
            self.module.coercions[id(node)] = target  # type: ignore[assignment]
            return True
        if not quiet:
            self.mismatch(node.span, found, target, what, self.scopes.hidden_member(node, target))
        return False

    def _without_predicates(self, node: ast.Expression, target: ExpressionType) -> None:
        """Report a constant of a type with a condition that only a run can ask."""
        if isinstance(target, Unknown | Never) or not self.facts.sound(target):
            return
        for predicate in predicates_of(target, self.module.table)[:1]:  # type: ignore[arg-type]
            self.module.report(
                "E0373",
                f"a constant cannot be {said(target)}",
                node.span,
                label="whether it is one would be known only in a run",
                reason=f"the type has the condition `{predicate.text}`, which a function computes",
                hint="give it in the body of a function, with `let`",
            )

    def mismatch(
        self,
        span: Span,
        found: ExpressionType,
        target: ExpressionType,
        what: str,
        known: Hint | None = None,
    ) -> None:
        """`known`: a hint that fits the expression itself, with its edits."""
        hint, edits = known or ("", ())
        bare = without_null(found, self.module.table)
        if known is not None:
            pass
        elif allows_null(found, self.module.table) and fit(bare, target, self.module.table).value:
            hint = "it may be null: test it first, as in `x if x != null else …`"
        elif is_text(target, self.module.table) and not isinstance(found, BranchOf | ListValue | RangeOf):
            hint = 'make a text of it: `str(x)` or "${x}"'
        elif (
            numeric_rank(target, self.module.table) is not None
            and numeric_rank(found, self.module.table) is not None
        ):
            hint = "convert it: `int(x)` cuts, `round(x)` rounds, `decimal(x)` is exact"
        elif (
            numeric_rank(target, self.module.table) is not None
            and is_text(found, self.module.table)
            and not span.text.startswith('"')
        ):
            hint = f"read it: `{'int' if numeric_rank(target, self.module.table) == 0 else 'decimal'}(x)`"
        if numeric_rank(target, self.module.table) is not None and _QUOTED_NUMBER.fullmatch(span.text):
            hint = f"write `{span.text[1:-1]}`"
            edits = (Edit(span, span.text[1:-1]),)
        self.module.report(
            "E0301",
            f"{what} is {said(target)}, not {said(found)}",
            span,
            label=f"this is {said(found)}",
            hint=hint,
            edits=edits,
        )

    def not_a_member(self, value: Value, target: ExpressionType) -> str | None:
        """Why a constant is no member of a type; None if it is one, or the type is faulty already."""
        if isinstance(target, Unknown | Never) or not self.facts.sound(target):
            return None
        try:
            check_member(convert(self.module.table, value, target), target, self.module.table)  # type: ignore[arg-type]
        except MemberError as error:
            path = f"at {error.path}: " if error.path else ""
            return f"{path}{error.reason}"
        return None

    def displayable(self, node: ast.Expression, found: ExpressionType) -> None:
        """Demand that a value can be written as text."""
        if isinstance(found, RangeOf | BranchOf | ScoredOf | ListValue | ErrorOf):
            hint = ""
            if isinstance(found, ScoredOf):
                hint = "write `.top` for the best option"
            elif isinstance(found, BranchOf):
                hint = "write `.value`, or a hole of the branch by its name"
            elif isinstance(found, ErrorOf):
                hint = "write `.message`"
            self.module.report(
                "E0312", f"{said(found)} has no text", node.span, label="cannot be inserted", hint=hint
            )

    def told_condition(self, node: ast.Expression, word: str) -> None:
        """As `condition`, of one that decides what is done: said where it always has the same answer. `word`
        is the word before it."""
        before = len(self.module.diagnostics)
        self.condition(node)
        self.callbacks.decided(node, word, before)

    def inserted(self, node: ast.Expression) -> None:
        """Demand that an expression can be put into a text; note the form in which it is written there."""
        found = self.infer(node)
        self.displayable(node, found)
        written = as_written(found, self.module.table)
        if isinstance(written, InForm) and self.facts.sound(written):
            self.module.forms[id(node)] = written

    def condition(self, node: ast.Expression) -> None:
        """Demand a bool: nothing else counts as true or false."""
        found = self.infer(node, BOOL)
        if isinstance(found, Unknown | Never) or is_bool(found, self.module.table):
            return
        hint = ""
        if allows_null(found, self.module.table):
            hint = "compare it: `x != null`"
        elif is_text(found, self.module.table):
            hint = 'compare it: `x != ""`'
        elif numeric_rank(found, self.module.table) is not None:
            hint = "compare it: `x != 0`"
        elif item_of(found, self.module.table) is not None:
            hint = "compare it: `len(x) > 0`"
        self.module.report(
            "E0320",
            f"a condition is a bool, not {said(found)}",
            node.span,
            label=f"this is {said(found)}",
            hint=hint,
        )


def shown(value: object) -> str:
    """A constant as messages show it."""
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:57]}…"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value) if len(str(value)) <= 80 else str(value)[:77] + "…"


def same_shape(found: ExpressionType, target: ExpressionType, table: Table) -> bool:
    """Whether a constant of this type could be a member at all, so that the message is about values."""
    target = without_null(target, table)
    if is_text(found, table) and is_text(target, table):
        return True
    if is_bool(found, table) and is_bool(target, table):
        return True
    ranks = numeric_rank(found, table), numeric_rank(target, table)
    if ranks[0] is not None and ranks[1] is not None:
        return ranks[0] <= ranks[1]
    plain = expand(target, table)
    return (
        isinstance(plain, ListOf)
        and item_of(found, table) is not None
        and isinstance(found, ListOf)
        and (same_shape(found.item, plain.item, table))
    )
