"""`distinct`: the samples of a hole are drawn without replacement."""

from __future__ import annotations

from dataclasses import replace

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import HoleNode
from sglc.check.holes.decoding import Decodings
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import said
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.decoding import FEW_TEXTS, TRIES, Decoding
from sglc.types.type import Type


@node
class Distinct:
    """Reads `distinct` of holes, and says where it cannot be had."""

    module: ModuleContext
    facts: TypeFacts
    decodings: Decodings

    def read(
        self, node: HoleNode, option: ast.HoleOption, written: Decoding | None, faulty: bool
    ) -> Decoding | None:
        """The strategy of a hole with `distinct`: exact draws, as `written` says it or as usual.

        None where it cannot be had, which is reported, and where a strategy was `faulty`.
        """
        if isinstance(node, ast.Select):
            self._report(
                "`distinct` belongs to `gen` and `choose`", option.span, "`select` weighs all options at once"
            )
            return None
        if not any(other.kind == "n" for other in node.options):
            self._report(
                "`distinct` stands beside `n`",
                option.span,
                "how many different values?",
                hint=f"write `n 3 {option.span.text}`",
            )
            return None
        if faulty or not self.decodings.stands_beside(node, option, written):
            return None
        return replace(written or Decoding("exact", TRIES), distinct=True)

    def few(self, node: HoleNode, type: Type, span: Span, decoding: Decoding | None, wanted: int) -> None:
        """Report a type at `span` that has too many texts to be drawn without replacement, or too few."""
        if decoding is None or not decoding.distinct:
            return
        options = {option.kind: option for option in node.options}
        count = self.facts.count(type, FEW_TEXTS)
        if count is None:
            self._report(
                f"`distinct` needs few values, {said(type)} has too many",
                span,
                f"more than {FEW_TEXTS:,} texts",
                options["distinct"],
                "all values are scored, and each is drawn among those that are left",
                f"leave out `distinct`, or write `n {wanted} decode beam({max(8, wanted)})`",
            )
        elif count < wanted:
            number = options["n"]
            self.module.report(
                "E0345",
                f"{wanted} different values are asked for, and there are only {count}",
                number.span,
                label="more than there are",
                secondary=(Label(span, f"{said(type)} has {count}"),),
                hint=f"write `n {count}`, or leave out `distinct`",
                edits=(Edit(number.value.span, str(count)),) if count else (),
            )

    def _report(
        self,
        message: str,
        span: Span,
        label: str,
        other: ast.HoleOption | None = None,
        reason: str = "",
        hint: str = "",
    ) -> None:
        secondary = () if other is None else (Label(other.span, "none of them twice"),)
        self.module.report("E0345", message, span, label=label, secondary=secondary, reason=reason, hint=hint)
