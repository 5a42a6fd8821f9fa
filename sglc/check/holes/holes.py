"""Holes: what the model fills, what ends it, and what its options may be.

A hole's facts depend on the text after it: the literal that follows on its line is where it stops. `Follow`
carries that from the pipe line to the hole; an expression like `let x = gen int` is followed by a newline.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sglc.automata import dfa
from sglc.check.core.result import (
    BranchOf,
    ErrorOf,
    ExpressionType,
    HoleFacts,
    ListValue,
    Never,
    RangeOf,
    ScoredOf,
    Unknown,
)
from sglc.check.core.state import HoleNode, Local
from sglc.check.core.work_limit import within_limit
from sglc.check.holes.line_breaks import admits_break_unsaid, has_lines
from sglc.check.holes.options import HoleOptions
from sglc.check.holes.where_clauses import Late
from sglc.check.types.assignability import NULL, UNKNOWN, expand, is_enum, item_of, list_of, said
from sglc.check.types.unsatisfiable import (
    arms_are_apart,
    conflict_at_junction,
    is_bare_text,
    least_tokens,
    report_empty,
)
from sglc.diagnostics.diagnostic import Label
from sglc.source import Span
from sglc.syntax import ast
from sglc.types.given import ended_before, erased, given_types
from sglc.types.printer import print_value
from sglc.types.type import (
    Alternatives,
    Constant,
    ListOf,
    Optional,
    SpanOf,
    Str,
    Type,
)


@dataclass(frozen=True, slots=True)
class Follow:
    """What stands after a hole: literal `text` on its line, else `open` tells that a value or another hole
    follows directly; neither is the end of the line."""

    text: str = ""
    span: Span | None = None
    open: bool = False


END_OF_LINE = Follow()


class Holes(HoleOptions):
    """Every hole has its facts noted, also a faulty one."""

    def hole_expression(self, node: HoleNode) -> ExpressionType:
        """A gen, choose or select as an expression: it has no name of its own."""
        self.function.gens += 1
        found = self.fill(node, f"gen{self.function.gens}", None, node.span, END_OF_LINE)
        if id(node) in self.where_late:
            self.open()
            local = self.bind(self.where_late[id(node)], ast.Name("it", node.span), found, "it", hole=node)
            self.late_conditions(node, local)
            self.close()
        return found

    def named_hole(self, node: ast.Hole, follow: Follow) -> None:
        """`?{name: …}`: binds its name in the enclosing block."""
        content = node.content
        found = self.fill(content, node.name.text, node.name.text, node.name.span, follow)
        self.types[id(content)] = found
        local = self.bind(content, node.name, found, "hole", hole=content)
        self.complete(content, local)

    def complete(self, content: HoleNode, local: Local) -> None:
        """Join a hole and the variable that it fills."""
        facts = self.module.holes.get(id(content))
        if facts is None:
            return
        facts = replace(facts, slot=local.slot, name=local.name)
        self.module.holes[id(content)] = facts
        if facts.type is not None:
            facts = replace(facts, type=erased(facts.type))
        known = self.function.holes.get(local.name)
        if known is not None and known.type != facts.type:
            # Two branches each have a hole of this name: a mock is checked when it is used.
            facts = replace(facts, type=None)
        self.function.holes[local.name] = facts
        if self.function.forks:
            holes = self.function.forks[-1].holes
            holes[:] = [h for h in holes if h[0] != local.name] + [(local.name, local.type)]
        self.late_conditions(content, local)

    def fill(
        self, node: HoleNode, name: str, label: str | None, span: Span, follow: Follow
    ) -> ExpressionType:
        """Check one hole and note its facts; the type of its value. What its type does not say of its
        conditions waits in `where_late` until the value has a variable."""
        self._allowed(node)
        options = self._options(node)
        found = within_limit(
            self.program, node.span, lambda: self._filled(node, name, label, follow, options), UNKNOWN
        )
        if "n" not in options or isinstance(found, Unknown):
            return found
        late = self.where_late.get(id(node))
        if late is not None:
            if late.left:
                self.program.report(
                    "E0330", "this condition cannot go with `n`", late.left[0].span,
                    label="is checked on the finished value",
                    hint="write an `ensure` on the list after the hole",
                )  # fmt: skip
            self.where_late[id(node)] = replace(late, left=[], sampled=True)
        listed = list_of(found)
        return (
            replace(listed, minimum=options["n"], maximum=options["n"])
            if isinstance(listed, ListOf)
            else listed
        )

    def _filled(
        self, node: HoleNode, name: str, label: str | None, follow: Follow, options: dict[str, Any]
    ) -> ExpressionType:
        """`fill` for one value, whatever `n` says."""
        if isinstance(node, ast.Gen):

            def gen() -> ExpressionType:
                type, given = self.hole_type(node.type)
                found = self._gen(node, name, type, follow, options)
                facts = self.module.holes[id(node)]
                condition = None
                if facts.type is not None and self.facts.sound(facts.type):
                    condition = self.kept_condition(facts.type, node)
                self.module.holes[id(node)] = replace(facts, given=given, condition=condition)
                if self.where_left or self.where_kept or self.where_asked:
                    kept = [part for part, _ in self.where_kept]
                    self.where_late[id(node)] = Late(
                        self.where_left, kept, self.where_asked, self.where_base, self.where_names
                    )
                return found

            return self.hole_where(node, label, gen)
        return self._choice(node, name, follow, options)

    def _gen(
        self, node: ast.Gen, name: str, type: Type, follow: Follow, options: dict[str, Any]
    ) -> ExpressionType:
        for text, span in options.get("until", ()):
            plain = expand(type, self.table)
            if isinstance(plain, Unknown):
                break
            if isinstance(plain, SpanOf) and text:
                type = replace(plain, until=(*plain.until, text))
                continue
            if not isinstance(plain, Str) or plain.grammar:
                self.program.report(
                    "E0306", f"`until` does not fit {said(type)}", span, label="ends texts only"
                )
                break
            type = self.add_until(plain, text, span)
        facts = self.facts
        span = node.type.span
        if not facts.sound(type):
            self._note(node, name, None if isinstance(type, Unknown) else type, follow)
            return type
        if report_empty(self.program, facts, type, span):
            self._note(node, name, type, follow)
            return type
        if given_types(type):
            return self._given_hole(node, name, type, follow, options)
        if follow.text and is_bare_text(facts, type):
            plain = expand(type, self.table)
            assert isinstance(plain, Str)
            type = replace(plain, until=(follow.text,))
        plain = expand(type, self.table)
        self._ends_somewhere(node, name, type, plain, options, follow)
        self._fits_budget(name, type, options, span)
        arms = self._arms_as_text(plain)
        if len(arms) > 1:
            arms_are_apart(facts, arms, (span,) * len(arms), raw=True)
        self._junction(node, name, type, follow)
        if admits_break_unsaid(plain):
            self.program.report(
                "W0221", f"hole `{name}` may write line breaks", span,
                label="its pattern admits a newline, which then does not end the hole",
                hint="write `line` in place of `str`, or `\\n` in the pattern where line breaks are meant",
            )  # fmt: skip
        self._note(node, name, type, follow)
        self.function.generated.append((type, span))
        return type

    def _given_hole(
        self,
        node: ast.Gen,
        name: str,
        type: Type,
        follow: Follow,
        options: dict[str, Any],
    ) -> ExpressionType:
        """A hole whose type depends on values of the run: its text is known only when it is reached."""
        if follow.text:
            type = ended_before(type, follow.text)
        self._ends_somewhere(node, name, type, type, options, follow)
        self._fits_budget(name, type, options, node.type.span)
        if not follow.text or isinstance(type, Str):
            self._junction(node, name, type, follow)
        self._note(node, name, type, follow)
        self.function.generated.append((type, node.type.span))
        return erased(type)

    def _arms_as_text(self, plain: ExpressionType) -> tuple[Type, ...]:
        """The alternatives of a hole's type; `T?` has `null` as one."""
        if isinstance(plain, Optional):
            inner = expand(plain.item, self.table)
            return (*self._arms_as_text(inner), NULL)
        return plain.arms if isinstance(plain, Alternatives) else (plain,)  # type: ignore[return-value]

    def _ends_somewhere(
        self,
        node: ast.Gen,
        name: str,
        type: ExpressionType,
        plain: ExpressionType,
        options: dict[str, Any],
        follow: Follow,
    ) -> None:
        """Law: every unbounded hole needs a bound, an `until`, or a budget."""
        if "max_tokens" in options or (isinstance(plain, Str) and plain.until):
            return
        reason = self.facts.unbounded(type)
        if reason is None:
            return
        text = isinstance(plain, Str) and not plain.grammar
        self.program.report(
            "E0331", f"hole `{name}` has no bound", node.type.span, label=f"{said(type)} can go on for ever",
            reason=reason,
            hint="add `max 80 chars`, `until \"…\"` or `max 60 tok`" if text
            else "bound the parts, or give the hole a budget: `max 200 tok`",
        )  # fmt: skip

    def _fits_budget(self, name: str, type: Type, options: dict[str, Any], span: Span) -> None:
        size = self.facts.shortest_bytes(type)
        budget = options.get("max_tokens")
        if size is None:
            return
        least = least_tokens(size)
        if self.function.costs is not None:
            count = options.get("n", 1)
            self.function.costs.append((name if count == 1 else f"{count} × {name}", count * least))
        if budget is not None and least > budget:
            self.program.report(
                "E0332", f"{budget} tokens cannot hold a value of hole `{name}`", span,
                label=f"the shortest value has {size} bytes",
                reason=f"{size} bytes need at least {least} tokens",
                witness=self._shortest_text(type),
                hint=f"allow more: `max {max(least * 4, 8)} tok`",
            )  # fmt: skip

    def _shortest_text(self, type: Type) -> str:
        try:
            word = self.facts.shortest_word(type)
        except dfa.TooLong:
            return ""
        text = "" if word is None else word.decode("utf-8", "replace")
        return text if len(text) <= 60 else text[:59] + "…"

    def _junction(self, node: HoleNode, name: str, type: Type, follow: Follow) -> None:
        """The end of the value must be clear from the text after it."""
        facts = self.facts
        if follow.text:
            witness = conflict_at_junction(facts, type, follow.text)
            if witness is not None:
                assert follow.span is not None
                self.program.report(
                    "E0333", f"the text after hole `{name}` can also be part of its value", node.span,
                    label=f"{said(type)} may contain the beginning of it",
                    secondary=(Label(follow.span, "this text ends the hole"),),
                    witness=witness,
                    hint=self._clear_end(type, follow.text),
                )  # fmt: skip
        elif follow.open and not facts.ends_by_itself(type):
            self.program.report(
                "W0205", f"nothing marks the end of hole `{name}`", node.span,
                label="a value follows directly",
                reason="the model can end the hole only by a newline, which is then left out",
                hint="put a literal text between the two",
            )  # fmt: skip

    def _clear_end(self, type: Type, stop: str) -> str:
        """What makes the end of a hole clear."""
        plain = expand(type, self.table)
        if isinstance(plain, Str) and not plain.grammar:
            return f"add `until {_quoted(stop)}` to the hole, or let another text follow"
        return "let another text follow the hole"

    def _note(self, node: HoleNode, name: str, type: Type | None, follow: Follow) -> None:
        plain = expand(type, self.table) if type is not None else None
        stops: list[str] = list(plain.until) if isinstance(plain, Str | SpanOf) else []
        if follow.text:
            if follow.text not in stops:
                stops.append(follow.text)
        elif "\n" not in stops and (type is None or not has_lines(self.facts, type)):
            stops.append("\n")
        self.module.holes[id(node)] = HoleFacts(name, type, tuple(stops), not follow.text, None)

    def _choice(
        self, node: ast.Choose | ast.Select, name: str, follow: Follow, options: dict[str, Any]
    ) -> ExpressionType:
        type, item = self._options_of(node)
        word = "choose" if isinstance(node, ast.Choose) else "select"
        if type is not None and not isinstance(type, Unknown):
            words = self.facts.words(type)
            if words is None:
                if self.facts.sound(type):
                    self.program.report(
                        "E0334", f"`{word}` needs few options, {said(type)} has too many", node.choices.span,
                        label="not an enum, not a union of literals", hint=f"write `gen` instead of `{word}`",
                    )  # fmt: skip
                self._note(node, name, None, follow)
                return UNKNOWN
            if not words:
                self.program.report(
                    "E0303", f"{said(type)} has no value", node.choices.span, label="no options"
                )
            self._fits_budget(name, type, options, node.choices.span)
            self._junction(node, name, type, follow)
            self._fair(node, words)
        self._note(node, name, None if isinstance(type, Unknown) else type, follow)
        if isinstance(item, Unknown):
            return UNKNOWN
        if isinstance(node, ast.Select):
            return ScoredOf(item)  # type: ignore[arg-type]
        return item

    def _fair(self, node: ast.Choose | ast.Select, words: list[str]) -> None:
        if not isinstance(node, ast.Select) or node.by not in ("mean", "sum") or len(words) < 2:
            return
        short, long = min(words, key=len), max(words, key=len)
        if node.by == "mean" and len(long) >= 4 * max(1, len(short)):
            self.program.report(
                "W0206", "`by mean` favours long options here", node.span, label="lengths differ much",
                reason="the mean over tokens makes the sure tail of a long option count for its start",
                witness=f'"{short}" against "{long}"', hint="use `by greedy` or `by contrast`",
            )  # fmt: skip

    def _options_of(self, node: ast.Choose | ast.Select) -> tuple[Type | None, ExpressionType]:
        """The type of the options where they are known now, and the type of the value."""
        choices = node.choices
        if isinstance(choices, ast.Reference | ast.TypeName):
            local = self.function.scope.find(choices.name)
            entity = self.look_up(choices.name) if local is None else None
            if local is None and (
                entity is None or entity.kind == "type" or isinstance(choices, ast.TypeName)
            ):
                if entity is not None and entity.kind == "const":
                    return self._listed(node, ast.Reference(choices.name, choices.span), choices)
                named = ast.TypeName(choices.name, (), choices.span)
                type = self.resolve(choices if isinstance(choices, ast.TypeName) else named)
                self.module.resolved[id(choices)] = type
                return type, type
            if isinstance(choices, ast.TypeName):
                # Written like a type, meant as a variable.
                reference = ast.Reference(choices.name, choices.span)
                return self._listed(node, reference, choices)
            return self._listed(node, choices, choices)
        if isinstance(choices, _TYPES):
            type = self.resolve(choices)
            return type, type
        return self._listed(node, choices, choices)

    def _listed(
        self, node: ast.Choose | ast.Select, choices: ast.Expression, key: object
    ) -> tuple[Type | None, ExpressionType]:
        """Options given as a list of values."""
        found = self.infer(choices)
        if key is not choices:
            self.types[id(key)] = found
            symbol = self.symbols.get(id(choices))
            if symbol is not None:
                self.symbols[id(key)] = symbol
        item = item_of(found, self.table)
        if isinstance(found, Unknown):
            return UNKNOWN, UNKNOWN  # type: ignore[return-value]
        if item is None:
            self.program.report(
                "E0334",
                f"options are a list or a type, not {said(found)}",
                node.choices.span,
                label="no list",
            )
            return UNKNOWN, UNKNOWN  # type: ignore[return-value]
        if isinstance(item, RangeOf | BranchOf | ScoredOf | ListValue | ErrorOf):
            self.program.report(
                "E0334", f"{said(item)} cannot be an option", node.choices.span, label="has no text"
            )
            return UNKNOWN, UNKNOWN  # type: ignore[return-value]
        if isinstance(item, Never):
            self.program.report(
                "E0303", "an empty list has no options", node.choices.span, label="no options"
            )
            return UNKNOWN, UNKNOWN  # type: ignore[return-value]
        known, values = self.fold(choices)
        if not known:
            return None, item
        self.module.constants[id(key)] = values
        return self._constant_options(node, item, values), self._option_type(item, values)

    def _option_type(self, item: ExpressionType, values: list[Any]) -> ExpressionType:
        if is_enum(item, self.table) is not None or not _literal(values):
            return item
        arms = tuple(Constant(value) for value in values)
        return arms[0] if len(arms) == 1 else Alternatives(arms)

    def _constant_options(self, node: Any, item: ExpressionType, values: list[Any]) -> Type | None:
        texts: dict[str, int] = {}
        for place, value in enumerate(values):
            text = print_value(value, item, self.table) if self.facts.sound(item) else str(value)  # type: ignore[arg-type]
            if text in texts:
                listed = node.choices
                span = listed.items[place].span if isinstance(listed, ast.ListDisplay) else listed.span
                self.program.report(
                    "E0334", f'option "{text}" is listed twice', span, label="again",
                    reason="the two could not be told apart",
                )  # fmt: skip
                return UNKNOWN  # type: ignore[return-value]
            if text == "":
                self.program.report(
                    "E0334", "an option cannot be empty", node.choices.span, label="empty text"
                )
                return UNKNOWN  # type: ignore[return-value]
            texts[text] = place
        enum = is_enum(item, self.table)
        if enum is not None and len(values) == len(enum.members):
            return item  # type: ignore[return-value]
        if not _literal(values):
            return None
        if len(values) == 1:
            return Constant(values[0])
        return Alternatives(tuple(Constant(value) for value in values))


_TYPES = (
    ast.TypeName, ast.TypeLiteral, ast.TypeList, ast.TypeMap, ast.TypeTuple, ast.TypeOptional, ast.TypeUnion,
    ast.TypeRefined, ast.TypeSpanOf, ast.TypeOneOf, ast.TypeJsonSchema,
    ast.TypeSource,
)  # fmt: skip


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _literal(values: list[Any]) -> bool:
    """Whether all options can be literal types."""
    return all(
        isinstance(value, str | int | bool) or value.__class__.__name__ == "Decimal" for value in values
    )
