"""Types that depend on values of the run: `?{name: one of names}`, `let quote: span of body = …`.

What such a part may be is known only when the place is reached, so laws of holes that need its texts are kept
in another way: a span cannot contain the text that follows the hole, `null` is left out beside a null, and a
place where only the texts themselves could tell two arms apart is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from sglc.check.core.context import ModuleContext, OpenedType, OpenGrammar
from sglc.check.core.result import DefaultArgument, DependentType, ExpressionType, Unknown
from sglc.check.expressions.folding import convert, fold
from sglc.check.expressions.inference import Inference
from sglc.check.types.kinds import STR, UNKNOWN, expand, is_enum, is_text, said
from sglc.check.types.resolve import TypeResolver
from sglc.check.types.unsatisfiable import RAW
from sglc.syntax.tree import ast
from sglc.types.dependent import GivenType, erased, given_types, in_grammar, renumbered, replaced
from sglc.types.type import (
    AliasType,
    Alternatives,
    Applied,
    InForm,
    Json,
    ListOf,
    MapOf,
    Named,
    OneOf,
    OpenType,
    Optional,
    Source,
    SpanOf,
    Str,
    TupleOf,
    Type,
    types_in,
)
from sglc.types.values import GivenError, Value


@dataclass(slots=True, eq=False)
class DependentTypes:
    """Types of holes, variables, parameters and results, and the expressions that they depend on."""

    module: ModuleContext
    types: TypeResolver
    inference: Inference
    given: list[ast.Expression | DefaultArgument] | None = None
    """Expressions that the type which is being resolved depends on; None where it may depend on none."""
    bare: bool = False
    """Whether a type with parameters may stand without values: any of its values is meant then."""

    def hole_type(
        self, node: ast.TypeExpression
    ) -> tuple[Type, tuple[ast.Expression | DefaultArgument, ...]]:
        """A hole's type, and the expressions for the values that it is given, by number."""
        type, given = self._resolved(node, bare=False)
        if given_types(type) and not self._told_apart(type, node, top=True):
            return UNKNOWN, given  # type: ignore[return-value]
        return replaced(type, self._with_declarations), given

    def written_type(self, node: ast.TypeExpression) -> Type:
        """The type that values of a variable, parameter or result are known by. Where the written one depends
        on values of the run, it is noted as such."""
        type, given = self._resolved(node, bare=True)
        if isinstance(type, Unknown):
            return type
        if not given_types(type):
            self.module.program.written.append((type, node.span))
            return type
        self.module.dependents[id(node)] = DependentType(replaced(type, self._with_declarations), given)
        self.module.resolved[id(node)] = known = erased(type)
        return known

    def _resolved(
        self, node: ast.TypeExpression, *, bare: bool
    ) -> tuple[Type, tuple[ast.Expression | DefaultArgument, ...]]:
        """A type as it is written, and the expressions that it depends on."""
        outer = self.given, self.bare
        self.given, self.bare = [], bare
        try:
            return self.types.resolve(node), tuple(self.given)
        finally:
            self.given, self.bare = outer

    def given_type(self, node: ast.TypeSpanOf | ast.TypeOneOf) -> ExpressionType:
        """A type that depends on a value of the run."""
        value = node.value if isinstance(node, ast.TypeSpanOf) else node.values
        if self.given is None:
            self.inference.expect(value, STR if isinstance(node, ast.TypeSpanOf) else ListOf(STR), "`of`")
            return STR
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
        if self.types.showing or self.given is None:
            return type
        first = len(self.given)
        self.given += node.arguments
        return replace(type, given=tuple(range(first, len(self.given))))

    def applied_type(self, node: ast.TypeName, name: str, opened: OpenedType) -> ExpressionType:
        """A declared type with values for its parameters."""
        names = list(opened.parameters)
        if not node.arguments and (self.types.showing or self.given is None or self.bare):
            return Named(name)
        if len(node.arguments) != len(names):
            self.module.report(
                "E0328",
                f"`{node.name}` takes {len(names)} value{'s' if len(names) > 1 else ''}, "
                f"not {len(node.arguments)}",
                node.span,
                label="a type with parameters",
                hint=f"write `{node.name}({', '.join(names)})`",
            )
            return UNKNOWN
        faults = len(self.module.diagnostics)
        for argument, (label, target) in zip(node.arguments, opened.parameters.items(), strict=True):
            self.inference.expect(argument, target, f"`{label}`")
        if any(found.severity == "error" for found in self.module.diagnostics[faults:]):
            return UNKNOWN
        if self.types.showing or self.given is None:
            return Named(name)
        alias = None if opened.opened is None else opened.opened.declared
        if isinstance(alias, AliasType) and alias.where is None and not alias.predicates:
            return self._alias(alias, opened.opened.sources, node.arguments)  # type: ignore[union-attr]
        first = len(self.given)
        self.given += node.arguments
        return Applied(name, tuple(range(first, len(self.given))))

    def _alias(
        self, alias: AliasType, sources: Sequence[Source], arguments: Sequence[ast.Expression]
    ) -> ExpressionType:
        """What an alias stands for, given what its own parts ask of the arguments."""
        assert self.given is not None
        numbers: dict[int, int] = {}
        for place, source in enumerate(sources):
            numbers[place] = len(self.given)
            if source.parameter < 0:
                self.given.append(DefaultArgument(source.value))
                continue
            value = arguments[source.parameter]
            for name in source.path:
                value = ast.Attribute(value, ast.Name(name, value.span), value.span)
                self.inference.infer(value)
            self.given.append(value)
        return renumbered(alias.type, numbers)

    def _with_declarations(self, part: GivenType) -> Type:
        """A type of a hole with the declarations that it leads to."""
        if not isinstance(part, Applied):
            return part
        found: dict[str, OpenType] = {}
        work = [part.name]
        while work:
            opened = self.module.program.open_types[work.pop()].opened
            if opened is None or opened.declared.name in found:
                continue  # reported where it is declared
            found[opened.declared.name] = opened
            for type in types_in(opened.declared):
                work += [each.name for each in given_types(type) if isinstance(each, Applied)]
        return replace(part, declarations=tuple(found[name] for name in sorted(found)))

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
            case InForm(item):
                return self._told_apart(item, node, top=False)
            case Optional(item):
                return self._told_apart(item, node, top=top)
            case MapOf(_, value):
                if given_types(type.key):
                    self._refused(node, "keys that depend on values of the run", "use a list of tuples")
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
        plain = expand(erased(type), self.module.table)
        return "text" if is_text(plain, self.module.table) else "other"

    def _looks(self, type: Type, top: bool) -> set[str]:
        """Sorts of text that the values of an arm can look like."""
        plain = expand(type, self.module.table)
        if isinstance(plain, Applied):
            plain = expand(erased(plain), self.module.table)
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
            "E0374",
            f"{what} cannot be told apart before the run",
            node.span,
            label="whether two texts differ is known only when the hole is reached",
            hint=instead,
        )
