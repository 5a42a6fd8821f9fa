"""From written types to types: names, refinements, contradictions that can be seen at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from sglc.automata.regex import RegexError, compile_regex
from sglc.automata.term import MOST_COUNTED
from sglc.check.core.result import PROGRESS, ExpressionType, Unknown
from sglc.check.core.state import Entity, ModuleState, OpenGrammar, ProgramState
from sglc.check.core.work_limit import within_limit
from sglc.check.types.assignability import BOOL, DEC, FLOAT, INT, JSON, NULL, STR, UNKNOWN, expand, said
from sglc.check.types.dependent_spans import refined_span
from sglc.check.types.imported_types import source_type
from sglc.check.types.json_types import json_schema_type
from sglc.check.types.nesting import MAX_LEVELS, levels_of, names_in
from sglc.check.types.union_refinements import refined_union
from sglc.check.types.unknown_types import report_arguments, report_unknown_type
from sglc.source import Span
from sglc.syntax import ast
from sglc.types.type import (
    Alternatives,
    Constant,
    Dec,
    Float,
    Int,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    SpanOf,
    Str,
    TupleOf,
    Type,
    matching,
)

BUILTIN_TYPES: dict[str, Type] = {
    "str": STR, "int": INT, "decimal": DEC, "float": FLOAT, "bool": BOOL, "null": NULL,
    "json": JSON,
}  # fmt: skip

TEXT_TYPES: dict[str, Type] = {"line": Str(layout="line"), "lines": Str(layout="lines")}
"""Types that a module may declare or import under the same name; its own then counts."""


class TypeResolver:
    """Resolves the type expressions of one module; every answer is kept in its `resolved` table."""

    showing = False
    """Whether the type is only shown to the model, by `schema(T)`."""

    def __init__(self, program: ProgramState, module: ModuleState) -> None:
        self.program = program
        self.module = module
        self.table = program.table
        self._inside = False
        """Whether the part of a type is being resolved."""

    def where(self, type: ExpressionType, node: ast.TypeRefined, condition: ast.Expression) -> ExpressionType:
        """A type with a condition taken in. See `Predicates`."""
        raise KeyError(condition)

    def look_up(self, name: str) -> Entity | None:
        """The module's own or imported name; a declared type behind it is defined first."""
        raise KeyError(name)

    def resolve(self, node: ast.TypeExpression) -> Type:
        """The type; Unknown (already reported) where there is none."""
        found: Type = UNKNOWN  # type: ignore[assignment]
        outer, self._inside = self._inside, True
        make = _METHODS[node.__class__]
        if outer:
            found = make(self, node)
        elif not self._too_deep(node):
            found = within_limit(self.program, node.span, lambda: make(self, node), found)
        self._inside = outer
        self.module.resolved[id(node)] = found
        return found

    def _too_deep(self, node: ast.TypeExpression) -> bool:
        """Report a type that nests too deeply through the names in it."""
        levels = levels_of(self.program, self.module, node)
        if levels <= MAX_LEVELS:
            return False
        if not any(name in self.program.too_deep for name in names_in(self.module, node)):
            self.program.report(
                "E0342", "this type is nested too deeply", node.span,
                label=f"{levels} levels, counted through the names in it",
                reason=f"the limit is {MAX_LEVELS} levels",
                hint="leave out levels, or let a record contain itself",
            )  # fmt: skip
        return True

    # -- forms -------------------------------------------------------------------------------------

    def _type_name(self, node: ast.TypeName) -> ExpressionType:
        builtin = BUILTIN_TYPES.get(node.name)
        if builtin is not None and not node.arguments:
            return builtin
        entity = self.look_up(node.name)
        if entity is not None and entity.name in self.program.open_grammars:
            entity.used = True
            opened = self.program.open_grammars[entity.name]
            return UNKNOWN if opened is None else self.given_grammar(node, opened)
        if node.arguments and node.name in BUILTIN_TYPES:
            report_arguments(self.program, node)
            return UNKNOWN
        if node.arguments:
            self._unavailable("E0906", "type parameters", node.span, "declare a type without parameters")
            return UNKNOWN
        if entity is None and node.name in PROGRESS:
            return Constant(node.name)
        if entity is None and node.name in TEXT_TYPES:
            return TEXT_TYPES[node.name]
        if entity is None:
            known = [
                *BUILTIN_TYPES,
                *TEXT_TYPES,
                *(n for n, e in self.module.names.items() if e.kind == "type"),
            ]
            report_unknown_type(self.program, node, known)
            return UNKNOWN
        entity.used = True
        if entity.kind == "broken":
            return UNKNOWN
        if entity.kind != "type":
            self.program.report(
                "E0202",
                f"`{node.name}` is a {entity.kind}, not a type",
                node.span,
                label="a type is due here",
            )
            return UNKNOWN
        return Named(entity.name)

    def _type_literal(self, node: ast.TypeLiteral) -> ExpressionType:
        return Constant(node.value)

    def _type_list(self, node: ast.TypeList) -> ExpressionType:
        item = self.resolve(node.item)
        self._counts(node.minimum, node.maximum, "items", node.span)
        if isinstance(item, Unknown):
            return UNKNOWN
        return ListOf(item, node.minimum or 0, node.maximum)

    def _type_map(self, node: ast.TypeMap) -> ExpressionType:
        key, value = self.resolve(node.key), self.resolve(node.value)
        self._counts(node.minimum, node.maximum, "entries", node.span)
        if isinstance(key, Unknown) or isinstance(value, Unknown):
            return UNKNOWN
        plain = expand(key, self.program.table)
        if not isinstance(plain, Str) or plain.grammar:
            self.program.report(
                "E0306",
                f"keys of a map are texts, not {said(key)}"
                if not isinstance(plain, Str)
                else f"keys of a map are plain texts, not {said(key)}",
                node.key.span,
                label="a `str` type is due here",
            )
            return UNKNOWN
        return MapOf(key, value, node.minimum or 0, node.maximum)

    def _type_tuple(self, node: ast.TypeTuple) -> ExpressionType:
        items = tuple(self.resolve(item) for item in node.items)
        return UNKNOWN if UNKNOWN in items else TupleOf(items)

    def _type_optional(self, node: ast.TypeOptional) -> ExpressionType:
        item = self.resolve(node.item)
        if isinstance(item, Unknown):
            return UNKNOWN
        if isinstance(expand(item, self.program.table), Optional | Null) or item == JSON:
            return item
        return Optional(item)

    def _type_union(self, node: ast.TypeUnion) -> ExpressionType:
        arms = [(self.resolve(arm), arm.span) for arm in node.arms]
        return UNKNOWN if any(isinstance(type, Unknown) for type, _ in arms) else self.union(arms)

    def union(self, written: Sequence[tuple[Type, Span]]) -> ExpressionType:
        """The union of arms at their places: unions among them are opened, null becomes `?`."""
        arms: list[Type] = []
        spans: list[Span] = []
        nullable = False
        for found, span in written:
            if isinstance(found, Null):
                nullable = True
                continue
            if isinstance(found, Optional):
                nullable = True
                found = found.item
            inner = found.arms if isinstance(found, Alternatives) else (found,)
            arms.extend(inner)
            spans.extend(span for _ in inner)
        if not arms:
            return NULL
        if len(arms) > 1:
            self.program.unions.append((tuple(arms), tuple(spans)))
        whole = arms[0] if len(arms) == 1 else Alternatives(tuple(arms))
        return Optional(whole) if nullable else whole

    def _type_span_of(self, node: ast.TypeSpanOf) -> ExpressionType:
        return self.given_type(node)

    def _type_one_of(self, node: ast.TypeOneOf) -> ExpressionType:
        return self.given_type(node)

    def given_type(self, node: ast.TypeSpanOf | ast.TypeOneOf) -> ExpressionType:
        """A type that depends on a value of the run; only a hole has one to give."""
        word = "span of" if isinstance(node, ast.TypeSpanOf) else "one of"
        what = "x" if isinstance(node, ast.TypeSpanOf) else "xs"
        self._unavailable(
            "E0903",
            f"`{word}` outside of a hole",
            node.span,
            f"write it in the hole: `?{{name: {word} {what}}}`",
        )
        return UNKNOWN

    def given_grammar(self, node: ast.TypeName, opened: OpenGrammar) -> ExpressionType:
        """The type of a grammar with values for its parameters. See `GivenTypes`."""
        raise KeyError(node)

    def _type_json_schema(self, node: ast.TypeJsonSchema) -> ExpressionType:
        return json_schema_type(self.program, self.module, node)

    def _type_source(self, node: ast.TypeSource) -> ExpressionType:
        return source_type(self.program, self.module, node)

    # -- refinements -------------------------------------------------------------------------------

    def _type_refined(self, node: ast.TypeRefined) -> ExpressionType:
        if isinstance(node.base, ast.TypeUnion):
            base = type = refined_union(self, node, node.base)
        else:
            base = self.resolve(node.base)
            type = expand(base, self.program.table)
        for refinement in node.refinements:
            if isinstance(type, Str) and type.grammar and not isinstance(refinement, ast.Where | ast.Surface):
                self.program.report(
                    "E0306", f"{said(base)} cannot be refined", refinement.span,
                    label="refines plain texts only", reason="the grammar alone says which texts are legal",
                    hint="write the bound into the grammar",
                )  # fmt: skip
                return UNKNOWN
            if isinstance(refinement, ast.Where):
                type = self.where(type, node, refinement.condition)
                continue
            if isinstance(refinement, ast.Surface):
                self._unavailable(
                    "E0905",
                    f"`as {refinement.name}`",
                    refinement.span,
                    "leave it out: values are written as JSON",
                )
                continue
            if isinstance(type, Unknown) or isinstance(node.base, ast.TypeUnion):
                continue
            type = self.refine(type, refinement)
        if isinstance(type, Str) and type.max_chars is not None and type.min_chars > type.max_chars:
            self.program.report(
                "E0304",
                f"no text has at least {type.min_chars} and at most {type.max_chars} characters",
                node.span,
                label="the bounds contradict each other",
                hint="swap the bounds",
            )
            return UNKNOWN
        return type

    def refine(self, type: ExpressionType, refinement: ast.Refinement) -> ExpressionType:
        match refinement, type:
            case ast.MinChars(count), Str():
                self._countable(count, "characters", refinement.span)
                return replace(type, min_chars=max(type.min_chars, count))
            case (ast.MinChars() | ast.MaxChars() | ast.Until(), SpanOf()):
                return refined_span(self.program, type, refinement)
            case ast.MaxChars(count), Str():
                return replace(
                    type, max_chars=count if type.max_chars is None else min(type.max_chars, count)
                )
            case ast.Matching(pattern), Str():
                if not self.check_regex(pattern, refinement.span):
                    return UNKNOWN
                return matching(pattern, of=type)
            case ast.Until(text), Str():
                return self.add_until(type, text, refinement.span)
            case ast.NotContaining(text), Str():
                if not text:
                    self.program.report(
                        "E0304",
                        "every text contains the empty text",
                        refinement.span,
                        label="nothing is left",
                    )
                    return UNKNOWN
                return replace(type, excludes=(*type.excludes, text))
            case ast.RangeRefinement(), Int() | Dec() | Float():
                return self._bounds(type, refinement)
            case ast.MultipleOf(number), Int() | Dec():
                if number <= 0:
                    self.program.report(
                        "E0304", "a step must be above zero", refinement.span, label="not above zero"
                    )
                    return UNKNOWN
                if isinstance(type, Int):
                    if number != int(number):
                        self.program.report(
                            "E0306",
                            "the step of an int is an integer",
                            refinement.span,
                            label="has a fraction",
                        )
                        return UNKNOWN
                    low, high = type.minimum, type.maximum
                    if low is not None and high is not None and -(-low // int(number)) * int(number) > high:
                        self._no_multiple(number, low, high, refinement.span)
                        return UNKNOWN
                    return replace(type, multiple_of=int(number))
                step = Decimal(number)
                if type.minimum is not None and type.maximum is not None:
                    quotient = type.minimum / step
                    first = quotient.to_integral_value(rounding="ROUND_CEILING") * step
                    if first > type.maximum:
                        self._no_multiple(number, type.minimum, type.maximum, refinement.span)
                        return UNKNOWN
                return replace(type, multiple_of=step)
        self.misfit(refinement, said(type), optional=isinstance(type, Optional))
        return UNKNOWN

    def misfit(self, refinement: ast.Refinement, type: str, *, optional: bool = False) -> None:
        """Report a refinement of another kind of values."""
        words = {
            ast.MinChars: "min … chars", ast.MaxChars: "max … chars", ast.Matching: "matching",
            ast.Until: "until", ast.NotContaining: "not containing", ast.RangeRefinement: "in",
            ast.MultipleOf: "multiple of",
        }  # fmt: skip
        texts = isinstance(
            refinement, ast.MinChars | ast.MaxChars | ast.Matching | ast.Until | ast.NotContaining
        )
        self.program.report(
            "E0306",
            f"`{words[refinement.__class__]}` does not fit {type}",
            refinement.span,
            label=f"refines {'texts' if texts else 'numbers'} only",
            hint="refine what is inside: `(T …)?`" if optional else "",
        )

    def _no_multiple(self, number: object, low: object, high: object, span: Span) -> None:
        self.program.report(
            "E0304",
            f"no multiple of {number} lies in {low}..{high}",
            span,
            label="nothing is left of the range",
        )

    def _bounds(self, type: Int | Dec | Float, node: ast.RangeRefinement) -> ExpressionType:
        low, high = node.minimum, node.maximum
        if isinstance(type, Int):
            for bound in (low, high):
                if isinstance(bound, Decimal) and bound != bound.to_integral_value():
                    self.program.report(
                        "E0306", "bounds of an int are integers", node.span, label=f"{bound} has a fraction"
                    )
                    return UNKNOWN
            low = None if low is None else int(low)
            high = None if high is None else int(high) - node.below
        elif node.below:
            self.program.report(
                "E0306", f"the upper end of a range of {said(type)} cannot be left out", node.span,
                label="has no last value", reason="between two decimals there is always another",
                hint=f"name the last value, such as `in {'' if low is None else low}..{last_below(high)}`",
            )  # fmt: skip
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
            self.program.report(
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
                self._no_multiple(step, low, high, node.span)
                return UNKNOWN
        return replace(type, minimum=low, maximum=high)  # type: ignore[arg-type]

    def add_until(self, type: Str, text: str, span: Span) -> Type:
        """The text type that also ends before `text`."""
        if not text:
            self.program.report("E0304", "an empty stop text ends every value at once", span, label="empty")
            return UNKNOWN  # type: ignore[return-value]
        return type if text in type.until else replace(type, until=(*type.until, text))

    def check_regex(self, pattern: str, span: Span) -> bool:
        """Whether a pattern is one that can be used; reports where not."""
        if self.module.trusted:
            return True
        known = self.program.memo.get(("regex", pattern))
        if known is None:
            try:
                known = (None, compile_regex(pattern))
            except RegexError as error:
                known = (error, None)
            self.program.memo["regex", pattern] = known
        fault, dfa = known
        if fault is not None:
            self.program.report(
                "E0307",
                "this pattern cannot be used",
                _within(span, pattern, fault.position),
                label=str(fault.reason),
                reason=f"at character {fault.position + 1} of /{pattern}/",
            )
            return False
        assert dfa is not None
        if not dfa.edges:
            self.program.report("E0304", "no text matches this pattern", span, label="an empty language")
            return False
        return True

    def _counts(self, minimum: int | None, maximum: int | None, unit: str, span: Span) -> None:
        if maximum is not None and (minimum or 0) > maximum:
            self.program.report(
                "E0304",
                f"nothing has at least {minimum or 0} and at most {maximum} {unit}",
                span,
                label="the bounds contradict each other",
                hint="`..<` leaves its upper end out"
                if "..<" in span.text
                else f"write `{maximum}..{minimum}`",
            )
        self._countable(minimum or 0, unit, span)

    def _countable(self, least: int, unit: str, span: Span) -> None:
        """Reports a minimum that no text can reach."""
        if least > MOST_COUNTED:
            self.program.report(
                "E0343",
                f"at least {least:,} {unit} are too many",
                span,
                label="no text of a run is so long",
                reason=f"a value that a mask can complete has at most {MOST_COUNTED:,} {unit}",
                hint=f"lower the minimum to {MOST_COUNTED:,}; a maximum may be larger",
            )

    def _unavailable(self, code: str, what: str, span: Span, instead: str) -> None:
        self.program.report(
            code, f"not available yet: {what}", span, label="parsed, but it does not run yet", hint=instead
        )


def last_below(bound: int | Decimal | None) -> Decimal:
    """A decimal that is a little less than a bound, to show how one is written."""
    return Decimal(bound or 0) - Decimal("0.01")


_METHODS: dict[type, Any] = {
    ast.TypeName: TypeResolver._type_name,
    ast.TypeLiteral: TypeResolver._type_literal,
    ast.TypeList: TypeResolver._type_list,
    ast.TypeMap: TypeResolver._type_map,
    ast.TypeTuple: TypeResolver._type_tuple,
    ast.TypeOptional: TypeResolver._type_optional,
    ast.TypeUnion: TypeResolver._type_union,
    ast.TypeRefined: TypeResolver._type_refined,
    ast.TypeSpanOf: TypeResolver._type_span_of,
    ast.TypeOneOf: TypeResolver._type_one_of,
    ast.TypeJsonSchema: TypeResolver._type_json_schema,
    ast.TypeSource: TypeResolver._type_source,
}


def _within(span: Span, pattern: str, position: int) -> Span:
    """The character of a pattern; the whole span where the pattern is not written in it as it is."""
    found = span.text.rfind(f"/{pattern}/")
    if found < 0:
        return span
    start = span.start + found + 1 + position
    return Span(span.source, start, start + 1)
