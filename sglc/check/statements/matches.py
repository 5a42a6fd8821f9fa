"""`match`: its cases in turn, and whether they are all there."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import (
    BranchOf,
    ErrorOf,
    ExpressionType,
    ListValue,
    LocalSymbol,
    RangeOf,
    ScoredOf,
    Unknown,
)
from sglc.check.expressions.inference import Inference
from sglc.check.names.scopes import Scopes
from sglc.check.patterns.case_forms import WILD, Constructed, Form, NumberRange
from sglc.check.patterns.exhaustive import MAX_WORK, TooComplex, judge
from sglc.check.patterns.patterns import Patterns
from sglc.check.statements.blocks import Blocks
from sglc.check.types.kinds import UNKNOWN, expand, said
from sglc.immutable import node
from sglc.syntax.tree import ast


@node
class Matches:
    """`match`: its cases in turn, and whether they are all there."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    blocks: Blocks
    patterns: Patterns

    def match(self, node: ast.Match) -> bool:
        """Check the cases in turn; whether what follows is cut off."""
        type = self._subject(node)
        forms: list[tuple[ast.Case, Form]] = []
        reached = faulty = past_null = False
        costs, self.scopes.function.costs = self.scopes.function.costs, None
        for case in node.cases:
            self.scopes.open()
            before = len(self.module.diagnostics)
            form = self.patterns.form(case.pattern, type)
            faulty = faulty or len(self.module.diagnostics) > before
            self._note_binding(case.pattern, type)
            if case.guard is not None:
                self.inference.told_condition(case.guard, "if")
                self.scopes.assume(case.guard)
            path = None
            if isinstance(node.subject, ast.Reference) and (past_null or _never_null(form)):
                path = node.subject.name
            if path is not None:
                plain = expand(type, self.module.table)
                self.scopes.function.scope.proved.types.setdefault(path, self.patterns.not_null(plain))
            reached = self.blocks.body(case.body) or reached
            self.scopes.close()
            forms.append((case, form))
            past_null = past_null or (
                case.guard is None and isinstance(form, Constructed) and form.key is None
            )
        self.scopes.function.costs = costs
        if not faulty:
            self._cover(node, type, forms)
        # A value without a case has been reported: what is behind the match is judged as if there were none.
        return not reached and bool(node.cases)

    def _note_binding(self, node: ast.Pattern, type: ExpressionType) -> None:
        """Warn of a whole pattern that looks like a member and takes every value."""
        if not isinstance(node, ast.NamePattern) or not isinstance(
            self.module.symbols.get(id(node)), LocalSymbol
        ):
            return
        owners = self.module.members.get(node.name.text)
        if owners is None or isinstance(type, Unknown):
            return
        self.module.report(
            "W0219",
            f"`{node.name.text}` takes every value here",
            node.span,
            label="a new variable",
            reason=f"it is a member of `{owners[0].rsplit('.', 1)[-1]}`, but {said(type)} is matched",
            hint="write `_`, or choose another name",
        )

    def _subject(self, node: ast.Match) -> ExpressionType:
        found = self.inference.infer(node.subject)
        if isinstance(found, RangeOf | BranchOf | ScoredOf | ListValue | ErrorOf):
            self.module.report(
                "E0335",
                f"{said(found)} cannot be matched",
                node.subject.span,
                label="no plain value",
                hint="match on `.top`" if isinstance(found, ScoredOf) else "",
            )
            return UNKNOWN
        return found

    def _cover(self, node: ast.Match, type: ExpressionType, forms: list[tuple[ast.Case, Form]]) -> None:
        """Report cases that no value reaches, and the value that no case meets."""
        if isinstance(type, Unknown):
            return
        try:
            found = judge([(form, case.guard is None) for case, form in forms], type, self.module.table)
        except TooComplex:
            self._too_complex(node, forms)
            return
        for place in found.unreached:
            self.module.report(
                "E0337",
                "no value reaches this case",
                forms[place][0].pattern.span,
                label="never taken",
                reason="the cases before it take every value that it matches",
                hint="remove it, or move it up",
            )
        missing = found.missing
        if missing is None:
            return
        guarded = any(case.guard is not None for case, _ in forms)
        self.module.report(
            "E0338",
            "this match does not cover every value",
            node.subject.span,
            label=f"{said(type)} has more values",
            reason="a case with a guard may be passed over" if guarded else "",
            witness="any other value" if missing == "_" else missing,
            hint=f"add `case {missing}:`",
        )

    def _too_complex(self, node: ast.Match, forms: list[tuple[ast.Case, Form]]) -> None:
        """A match whose cases are too entangled to be judged needs one that takes any value."""
        if any(form == WILD and case.guard is None for case, form in forms):
            return
        self.module.report(
            "E0341",
            "these cases are too many to tell whether a value is left out",
            node.subject.span,
            label="not decided",
            reason=f"they were split into {MAX_WORK:,} groups without an end",
            hint="add `case _:` at the end",
        )


def _never_null(form: Form) -> bool:
    return isinstance(form, NumberRange) or (isinstance(form, Constructed) and form.key is not None)
