"""Holes whose type depends on values of the run: `?{name: one of names}`, `?{quote: span of body}`.

What such a part may be is known only when the hole is reached, so laws that need its texts are kept in
another way: a span cannot contain the text that follows the hole, `null` is left out beside a null, and a
place where only the texts themselves could tell two arms apart is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

from sglc.check.core.context import ModuleContext, OpenGrammar
from sglc.check.core.result import ExpressionType
from sglc.check.expressions.folding import convert, fold
from sglc.check.expressions.inference import Inference
from sglc.check.types.kinds import STR, UNKNOWN, expand, is_enum, is_text, said
from sglc.check.types.resolve import TypeResolver
from sglc.check.types.unsatisfiable import RAW
from sglc.syntax.tree import ast
from sglc.types.dependent import GivenError, given_types, in_grammar
from sglc.types.type import Alternatives, Json, ListOf, MapOf, OneOf, Optional, SpanOf, Str, TupleOf, Type
from sglc.types.values import Value


@dataclass(slots=True, eq=False)
class DependentTypes:
    """Types of holes, and the expressions that they depend on."""

    module: ModuleContext
    types: TypeResolver
    inference: Inference
    given: list[ast.Expression] | None = None
    """Expressions of the hole whose type is being resolved; None outside of holes."""

    def hole_type(self, node: ast.TypeExpression) -> tuple[Type, tuple[ast.Expression, ...]]:
        """A hole's type, and the expressions for the values that it is given, by number."""
        outer, self.given = self.given, []
        try:
            type = self.types.resolve(node)
            given = tuple(self.given)
        finally:
            self.given = outer
        if given_types(type) and not self._told_apart(type, node, top=True):
            return UNKNOWN, given  # type: ignore[return-value]
        return type, given

    def given_type(self, node: ast.TypeSpanOf | ast.TypeOneOf) -> ExpressionType:
        """A type that depends on a value of the run; only a hole has one to give."""
        if self.given is None:
            word, what = ("span of", "x") if isinstance(node, ast.TypeSpanOf) else ("one of", "xs")
            self.module.unavailable(
                "E0903",
                f"`{word}` outside of a hole",
                node.span,
                f"write it in the hole: `?{{name: {word} {what}}}`",
            )
            return UNKNOWN
        number = len(self.given)
        if isinstance(node, ast.TypeSpanOf):
            self.given.append(node.value)
            self.inference.expect(node.value, STR, "`span of`")
            return SpanOf(number)
        self.given.append(node.values)
        self.inference.expect(node.values, ListOf(STR), "`one of`")
        return OneOf(number)

    def given_grammar(self, node: ast.TypeName, opened: OpenGrammar) -> ExpressionType:
        """A grammar with values for its parameters: known now, or given to the hole."""
        names = list(opened.parameters)
        type = Str(grammar=opened.grammar)
        if self.types.showing and not node.arguments:
            return type
        if len(node.arguments) != len(names):
            listing = ", ".join(names)
            self.module.report(
                "E0328",
                f"`{node.name}` takes {len(names)} value{'s' if len(names) > 1 else ''}, "
                f"not {len(node.arguments)}",
                node.span,
                label="a grammar with parameters",
                hint=f"write `{node.name}({listing})`",
            )
            return UNKNOWN
        faults = len(self.module.diagnostics)
        for argument, (name, target) in zip(node.arguments, opened.parameters.items(), strict=True):
            self.inference.expect(argument, target, f"`{name}`")
        if len(self.module.diagnostics) > faults:
            return UNKNOWN
        folded = [fold(self.module, argument) for argument in node.arguments]
        if all(known for known, _ in folded):
            values = [
                convert(self.module.table, value, target)
                for (_, value), target in zip(folded, opened.parameters.values(), strict=True)
            ]
            return self._known_grammar(node, type, values)
        if self.types.showing:
            return type
        if self.given is None:
            self.module.unavailable(
                "E0903",
                f"`{node.name}` with values of the run outside of a hole",
                node.span,
                f"write it in the hole: `?{{name: {node.span.text}}}`",
            )
            return UNKNOWN
        first = len(self.given)
        self.given += node.arguments
        return replace(type, given=tuple(range(first, len(self.given))))

    def _known_grammar(self, node: ast.TypeName, type: Str, values: list[Value]) -> ExpressionType:
        try:
            return in_grammar(type, values)
        except GivenError as fault:
            self.module.report("E0353", str(fault), node.span, label="no text is left")
            return UNKNOWN

    def _told_apart(self, type: ExpressionType, node: ast.TypeExpression, *, top: bool) -> bool:
        """Whether arms beside a part that depends on the run are of another kind than text."""
        match type:
            case ListOf(item):
                return self._told_apart(item, node, top=False)
            case Optional(item):
                return self._told_apart(item, node, top=top)
            case MapOf(_, value):
                if given_types(type.key):
                    self._refused(node, "keys of a map", "use a list of tuples")
                    return False
                return self._told_apart(value, node, top=False)
            case TupleOf(items):
                return all(self._told_apart(item, node, top=False) for item in items)
            case Alternatives(arms):
                for one, other in combinations(arms, 2):
                    if (given_types(one) or given_types(other)) and not self._apart(one, other, top):
                        self._refused(
                            node,
                            f"{said(one)} beside {said(other)}",
                            "use a `union` or a tuple, or two holes",
                        )
                        return False
                return all(self._told_apart(arm, node, top=top) for arm in arms)
        return True

    def _apart(self, one: Type, other: Type, top: bool) -> bool:
        """Whether the arm of a text shows, or does not matter because both are texts."""
        kinds = self._arm_kind(one, top), self._arm_kind(other, top)
        return kinds == ("text", "text") or not (self._looks(one, top) & self._looks(other, top))

    def _arm_kind(self, type: Type, top: bool) -> str:
        given = isinstance(type, OneOf | SpanOf)
        return "text" if given or is_text(expand(type, self.module.table), self.module.table) else "other"

    def _looks(self, type: Type, top: bool) -> set[str]:
        """Sorts of text that the values of an arm can look like."""
        plain = expand(type, self.module.table)
        if isinstance(plain, OneOf | SpanOf) or is_text(plain, self.module.table):
            return set(RAW) if top else {"text"}
        if is_enum(plain, self.module.table) is not None:
            return set(RAW) if top else {"text"}
        if isinstance(plain, Json):
            return set(RAW)
        if isinstance(plain, ListOf | TupleOf):
            return {"array"}
        if isinstance(plain, MapOf):
            return {"object"}
        return {"number", "word", "object"} if not top else set(RAW)

    def _refused(self, node: ast.TypeExpression, what: str, instead: str) -> None:
        self.module.report(
            "E0903",
            f"not available yet: {what}, which depends on values of the run",
            node.span,
            label="whether two texts differ is known only when the hole is reached",
            hint=instead,
        )
