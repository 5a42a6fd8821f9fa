"""Where a hole ends: its bound, its budget, and the text after it.

The literal text that follows a hole on its line is where it stops. `Follow` carries that from the pipe line
to the hole; an expression like `let x = gen int` is followed by a newline.
"""

from __future__ import annotations

from sglc.automata.dfa import operations as dfa
from sglc.check.core.context import ModuleContext
from sglc.check.core.function_state import HoleCost
from sglc.check.core.result import ExpressionType, HoleFacts, HoleNode
from sglc.check.holes.line_breaks import admits_break_unsaid, has_lines
from sglc.check.holes.options import KnownOptions
from sglc.check.names.scopes import Scopes
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import as_written, expand, said
from sglc.check.types.unsatisfiable import conflict_at_junction, least_tokens
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node, value
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import InForm, SpanOf, Str, Type


@value
class Follow:
    """What stands after a hole: literal `text` on its line, else `open` tells that a value or another hole
    follows directly; neither is the end of the line."""

    text: str = ""
    span: Span | None = None
    open: bool = False


END_OF_LINE = Follow()
BLANK_LINE = "\n\n"
"""What ends a hole whose form has lines of its own, where no text follows on its last line."""


@node
class HoleEnds:
    """Where holes end: their bounds, their budgets, and the text after them."""

    module: ModuleContext
    facts: TypeFacts
    scopes: Scopes

    def check_bound(
        self,
        node: ast.Gen,
        name: str,
        type: ExpressionType,
        plain: ExpressionType,
        options: KnownOptions,
        follow: Follow,
    ) -> None:
        """Law: every unbounded hole needs a bound, an `until`, or a budget."""
        if "max_tokens" in options or (isinstance(plain, Str) and plain.until):
            return
        reason = self.facts.unbounded(type)
        if reason is None:
            return
        text = isinstance(plain, Str) and not plain.grammar
        self.module.report(
            "E0331",
            f"hole `{name}` has no bound",
            node.type.span,
            label=f"{said(type)} can go on for ever",
            reason=reason,
            hint='add `max 80 chars`, `until "…"` or `max 60 tok`'
            if text
            else "bound the parts, or give the hole a budget: `max 200 tok`",
        )

    def check_budget(self, name: str, type: Type, options: KnownOptions, span: Span) -> None:
        """The shortest value must fit the budget of the hole; it counts for that of the function."""
        size = self.facts.shortest_bytes(type)
        budget = options.get("max_tokens")
        if size is None:
            return
        least = least_tokens(size)
        if self.scopes.function.costs is not None:
            cost, count = HoleCost(name, least, self._most(type, least, budget)), options.get("n", 1)
            self.scopes.function.costs.append(cost if count == 1 else cost.times(count, count))
        if budget is not None and least > budget:
            self.module.report(
                "E0332",
                f"{budget} tokens cannot hold a value of hole `{name}`",
                span,
                label=f"the shortest value has {size} bytes",
                reason=f"{size} bytes need at least {least} tokens",
                witness=self._shortest_text(type),
                hint=f"allow more: `max {max(least * 4, 8)} tok`",
            )

    def _most(self, type: Type, least: int, budget: int | None) -> int:
        """The most tokens that a value surely can take: its budget, where its longest text has so many bytes;
        the fewest where no budget says."""
        signature = self.scopes.function.signature
        declaration = None if signature is None else signature.declaration
        asked = isinstance(declaration, ast.FunctionDeclaration) and declaration.within is not None
        if budget is None or budget <= least or not asked:
            return least
        if self.facts.unbounded(type) is not None:
            return budget
        from sglc.automata.analysis.most_bytes import most_bytes

        longest = most_bytes(self.facts.language(type))
        return budget if longest is None else max(least, min(budget, longest))

    def note_text_below(self, node: HoleNode, text: Span) -> None:
        """Warn of a hole at the end of its line that a newline cannot end, where more text of the message
        follows: the model would have to end its turn."""
        known = self.module.holes.get(id(node))
        if known is None or known.type is None or known.stops or not known.end_of_message:
            return
        plain = expand(known.type, self.module.table)
        if not isinstance(plain, Str) or admits_break_unsaid(plain) or self.facts.ends_by_itself(plain):
            return
        self.module.report(
            "W0242",
            f"only the end of the turn ends hole `{known.name}`",
            node.span,
            label=f"{said(known.type)} has line breaks, so a newline does not end it",
            reason="the model is to go on in this message, but must end it first",
            secondary=(Label(text, "this text follows"),),
            hint="let a text follow the hole on its line, or let every value end with a text of its own",
        )

    def _shortest_text(self, type: Type) -> str:
        try:
            word = self.facts.shortest_word(type)
        except dfa.TooLong:
            return ""
        text = "" if word is None else word.decode("utf-8", "replace")
        return text if len(text) <= 60 else text[:59] + "…"

    def check_junction(self, node: HoleNode, name: str, type: Type, follow: Follow) -> None:
        """The end of the value must be clear from the text after it."""
        facts = self.facts
        if follow.text:
            witness = conflict_at_junction(facts, type, follow.text)
            if witness is not None:
                assert follow.span is not None
                self.module.report(
                    "E0333",
                    f"the text after hole `{name}` can also be part of its value",
                    node.span,
                    label=f"{said(type)} may contain the beginning of it",
                    secondary=(Label(follow.span, "this text ends the hole"),),
                    witness=witness,
                    hint=self._clear_end(type, follow.text),
                )
        elif follow.open and not facts.ends_by_itself(type):
            self.module.report(
                "W0205",
                f"nothing marks the end of hole `{name}`",
                node.span,
                label="a value follows directly",
                reason="the model can end the hole only by a newline, which is then left out",
                hint="put a literal text between the two",
            )

    def _clear_end(self, type: Type, stop: str) -> str:
        """What makes the end of a hole clear."""
        plain = as_written(type, self.module.table)
        if isinstance(plain, Str) and not plain.grammar:
            return f"add `until {_quoted(stop)}` to the hole, or let another text follow"
        return "let another text follow the hole"

    def note(self, node: HoleNode, name: str, type: Type | None, follow: Follow) -> None:
        """Keep what is known of the hole, with the texts that end it."""
        plain = as_written(type, self.module.table) if type is not None else None
        stops: list[str] = list(plain.until) if isinstance(plain, Str | SpanOf) else []
        if follow.text:
            if follow.text not in stops:
                stops.append(follow.text)
        elif "\n" not in stops and (type is None or not has_lines(self.facts, type)):
            stops.append("\n")
        elif isinstance(plain, InForm):
            stops.append(BLANK_LINE)  # which no form has in it
        self.module.holes[id(node)] = HoleFacts(name, type, tuple(stops), not follow.text, None)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
