"""Building types, and what follows a type: refinements of the language and options of a hole."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sglc.source import Span
from sglc.syntax import ast
from sglc.syntax.expressions import Expressions, _present

By = tuple[str, Span]
RangeEnds = tuple[int | Decimal | None, int | Decimal | None, bool]
"""Lower and upper end of a range, and whether the upper one is left out."""


class TypeNodes(Expressions):
    """Types are built with the options that follow them still attached; `options_of` takes them off a hole's
    type, and `settled` reports them where a type stands alone.
    """

    pending: dict[int, tuple[ast.HoleOption | By, ...]]
    """`id` of a type node just built to the hole options written after it. The nodes are kept in `held`."""
    held: list[Any]
    trailing: dict[int, tuple[Any, tuple[ast.Refinement, ...]]]
    """`id` of a refined type just built to what it refines and its refinements, until brackets close it: a
    `|` before it makes them those of the union."""

    # -- types -----------------------------------------------------------------------------------------

    def type_name(self, start: int, end: int, name: ast.Name) -> ast.TypeName:
        return ast.TypeName(name.text, (), name.span)

    def type_call(self, start: int, end: int, name: ast.Name, *arguments: Any) -> ast.TypeName:
        values = []
        for argument in _present(arguments):
            if argument.name is not None:
                self.report(
                    "E0127", "arguments of a type have no names", argument.span.start, argument.span.end,
                    hint=f"write `{name.text}({argument.value.span.text})`",
                )  # fmt: skip
            values.append(argument.value)
        return ast.TypeName(name.text, tuple(values), self.span(start, end))

    def type_literal(self, start: int, end: int, value: ast.String | ast.Number) -> ast.TypeLiteral:
        plain = self.plain(value, "a literal type") if isinstance(value, ast.String) else value.value
        return ast.TypeLiteral(plain, self.span(start, end))

    def type_true(self, start: int, end: int) -> ast.TypeLiteral:
        return ast.TypeLiteral(True, self.span(start, end))

    def type_false(self, start: int, end: int) -> ast.TypeLiteral:
        return ast.TypeLiteral(False, self.span(start, end))

    def type_null(self, start: int, end: int) -> ast.TypeName:
        return ast.TypeName("null", (), self.span(start, end))

    def type_list(self, start: int, end: int, item: Any, bounds: Any) -> ast.TypeList:
        low, high = bounds or (None, None)
        return ast.TypeList(self.settled(item), low, high, self.span(start, end))

    def type_map(self, start: int, end: int, key: Any, value: Any, bounds: Any) -> ast.TypeMap:
        low, high = bounds or (None, None)
        return ast.TypeMap(self.settled(key), self.settled(value), low, high, self.span(start, end))

    def type_tuple(self, start: int, end: int, *items: Any) -> ast.TypeTuple:
        return ast.TypeTuple(tuple(self.settled(item) for item in items), self.span(start, end))

    def type_union(self, start: int, end: int, *arms: Any) -> ast.TypeUnion:
        for arm in arms[:-1]:
            self.settled(arm)
        last = arms[-1]
        inner, refinements = self.trailing.pop(id(last), (last, ()))
        if refinements:
            first = last.span.start
            end = first + len(self.text[first : refinements[0].span.start].rstrip())
        whole: Any = ast.TypeUnion((*arms[:-1], inner), self.span(start, end))
        if refinements:
            whole = ast.TypeRefined(whole, refinements, self.span(start, refinements[-1].span.end))
        options = self.pending.pop(id(last), None)
        if options is not None:
            self.pending[id(whole)] = options
            self.held.append(whole)
        return whole

    def group(self, start: int, end: int, inner: Any) -> Any:
        self.trailing.pop(id(inner), None)
        return inner

    def span_of(self, start: int, end: int, value: Any) -> ast.TypeSpanOf:
        return ast.TypeSpanOf(value, self.span(start, end))

    def one_of(self, start: int, end: int, values: Any) -> ast.TypeOneOf:
        return ast.TypeOneOf(values, self.span(start, end))

    def json_schema_file(self, start: int, end: int, path: ast.String) -> ast.TypeJsonSchema:
        return ast.TypeJsonSchema(self.plain(path, "a path"), False, self.span(start, end))

    def json_schema_inline(self, start: int, end: int, json: tuple[int, int]) -> ast.TypeJsonSchema:
        return ast.TypeJsonSchema(self.text[json[0] : json[1]], True, self.span(start, end))

    def sql_table(self, start: int, end: int, source: ast.String) -> ast.TypeSource:
        return self._type_source("sql", None, source, start, end)

    def sql_table_from(
        self, start: int, end: int, name: ast.Name | ast.String, source: ast.String
    ) -> ast.TypeSource:
        return self._type_source("sql", name, source, start, end)

    def typescript(self, start: int, end: int, source: ast.String) -> ast.TypeSource:
        return self._type_source("typescript", None, source, start, end)

    def typescript_from(self, start: int, end: int, name: ast.Name, source: ast.String) -> ast.TypeSource:
        return self._type_source("typescript", name, source, start, end)

    def _type_source(
        self, kind: str, name: ast.Name | ast.String | None, source: ast.String, start: int, end: int
    ) -> ast.TypeSource:
        wanted = self.plain(name, "a name") if isinstance(name, ast.String) else name.text if name else None
        text = self.plain(source, "the source of a type")
        return ast.TypeSource(kind, wanted, text, source.span, self.span(start, end))

    def bound_exactly(self, start: int, end: int, count: ast.Number) -> tuple[int, int]:
        return self.count(count), self.count(count)

    def bound_from(self, start: int, end: int, low: ast.Number) -> tuple[int, None]:
        return self.count(low), None

    def bound_between(self, start: int, end: int, low: ast.Number, high: ast.Number) -> tuple[int, int]:
        return self.count(low), self.count(high)

    def bound_to(self, start: int, end: int, high: ast.Number) -> tuple[None, int]:
        return None, self.count(high)

    def bound_below(self, start: int, end: int, low: ast.Number, high: ast.Number) -> tuple[int, int]:
        return self.count(low), self.count(high) - 1

    def bound_to_below(self, start: int, end: int, high: ast.Number) -> tuple[None, int]:
        return None, self.count(high) - 1

    def count(self, node: Any) -> int:
        """The value of a whole number that is written out; anything else is reported."""
        if isinstance(node, ast.Number) and isinstance(node.value, int):
            return node.value
        self.report(
            "E0120", "a whole number is needed here", node.span.start, node.span.end,
            label="not written as a whole number" if isinstance(node, ast.Number) else "is computed",
        )  # fmt: skip
        return 1

    # -- refinements and options -----------------------------------------------------------------------

    def refined(self, start: int, end: int, base: Any, *parts: Any) -> Any:
        """Fold what follows a type into refinements and `?`; hole options are kept for the hole."""
        refinements: list[Any] = []
        options: list[ast.HoleOption | By] = []
        type = base
        for part in parts:
            if isinstance(part, ast.HoleOption | tuple):
                options.append(part)
            elif part is None:
                continue
            elif isinstance(part, Optional):
                if refinements:
                    type = ast.TypeRefined(
                        type, tuple(refinements), self._from(base, refinements[-1].span.end)
                    )
                    refinements = []
                if isinstance(type, ast.TypeOptional):
                    self.report("E0101", "`?` is written twice", part.at, part.at + 1, hint="leave one out")
                else:
                    type = ast.TypeOptional(type, self._from(base, part.at + 1))
            else:
                refinements.append(part)
        if refinements:
            inner = type
            type = ast.TypeRefined(inner, tuple(refinements), self._from(base, refinements[-1].span.end))
            self.trailing[id(type)] = inner, tuple(refinements)
            self.held.append(type)
        if options:
            self.pending[id(type)] = tuple(options)
            self.held.append(type)
        return type

    def _from(self, base: Any, end: int) -> Span:
        return self.span(base.span.start, end)

    def settled(self, type: Any) -> Any:
        """A type that stands alone: hole options after it are reported."""
        if self.pending:
            for option in self.pending.pop(id(type), ()):
                kind, span = option if isinstance(option, tuple) else (option.kind, option.span)
                self.report(
                    "E0121", f"`{span.text}` does not belong to a type", span.start, span.end,
                    label="an option of a hole",
                    reason="a type says which texts are legal; how a model writes them is said at the hole",
                    hint="for a bound on the text itself write `max … chars`"
                    if kind == "max_tokens"
                    else f"write it in the hole: `?{{name: T {span.text}}}`",
                )  # fmt: skip
        return type

    def options_of(self, type: Any) -> tuple[ast.HoleOption, ...]:
        """The options written after a hole's type."""
        if not self.pending:
            return ()
        options = self.pending.pop(id(type), ())
        kept, by = self.split_by(options)
        if by is not None:
            self.report(
                "E0115", "`by` is an option of `select`", by[1].start, by[1].end,
                label="nothing is scored here", hint="write `select T by …`",
            )  # fmt: skip
        return kept

    def split_by(self, options: Any) -> tuple[tuple[ast.HoleOption, ...], By | None]:
        """Options of one hole without `by`, each kind once."""
        by: By | None = None
        kept: dict[str, ast.HoleOption] = {}
        for option in options:
            if isinstance(option, tuple):
                by = option
            elif isinstance(option, ast.HoleOption):
                if option.kind in kept:
                    span = option.span
                    self.report("E0115", f"`{span.text.split()[0]}` is given twice", span.start, span.end)
                kept[option.kind] = option
        return tuple(kept.values()), by

    def optional(self, start: int, end: int) -> Optional:
        return Optional(start)

    def range_refinement(self, start: int, end: int, ends: RangeEnds) -> ast.RangeRefinement:
        low, high, below = ends
        return ast.RangeRefinement(low, high, below, self.span(start, end))

    def range_from(self, start: int, end: int, low: ast.Number) -> RangeEnds:
        return low.value, None, False

    def range_between(self, start: int, end: int, low: ast.Number, high: ast.Number) -> RangeEnds:
        return low.value, high.value, False

    def range_below(self, start: int, end: int, low: ast.Number, high: ast.Number) -> RangeEnds:
        return low.value, high.value, True

    def range_to(self, start: int, end: int, high: ast.Number) -> RangeEnds:
        return None, high.value, False

    def range_to_below(self, start: int, end: int, high: ast.Number) -> RangeEnds:
        return None, high.value, True

    def negative(self, start: int, end: int, number: ast.Number) -> ast.Number:
        return ast.Number(-number.value, self.span(start, end))

    def where(self, start: int, end: int, condition: Any) -> ast.Where:
        return ast.Where(condition, self.span(start, end))

    def max_chars(self, start: int, end: int, count: Any) -> ast.MaxChars:
        return ast.MaxChars(self.count(count), self.span(start, end))

    def min_chars(self, start: int, end: int, count: Any) -> ast.MinChars:
        return ast.MinChars(self.count(count), self.span(start, end))

    def matching(self, start: int, end: int, regex: ast.Regex) -> ast.Matching:
        return ast.Matching(regex.pattern, self.span(start, end))

    def until(self, start: int, end: int, value: Any) -> ast.Until | None:
        text = self._string_here(value, "until")
        return None if text is None else ast.Until(text, self.span(start, end))

    def not_containing(self, start: int, end: int, value: Any) -> ast.NotContaining | None:
        text = self._string_here(value, "not containing")
        return None if text is None else ast.NotContaining(text, self.span(start, end))

    def _string_here(self, value: Any, word: str) -> str | None:
        if isinstance(value, ast.String):
            return self.plain(value, f"the text after `{word}`")
        self.report(
            "E0115", f"`{word}` needs a text in quotes", value.span.start, value.span.end,
            label="must be known when the program is compiled", hint=f'write `{word} "…"`',
        )  # fmt: skip
        return None

    def multiple_of(self, start: int, end: int, number: ast.Number) -> ast.MultipleOf:
        return ast.MultipleOf(number.value, self.span(start, end))

    def surface(self, start: int, end: int, name: ast.Name) -> ast.Surface:
        return ast.Surface(name.text, self.span(start, end))

    def _option(self, kind: str, start: int, end: int, value: Any) -> ast.HoleOption:
        return ast.HoleOption(kind, value, self.span(start, end))

    def max_tokens(self, start: int, end: int, value: Any) -> ast.HoleOption:
        return self._option("max_tokens", start, end, value)

    def temp(self, start: int, end: int, value: Any) -> ast.HoleOption:
        return self._option("temp", start, end, value)

    def top_p(self, start: int, end: int, value: Any) -> ast.HoleOption:
        return self._option("top_p", start, end, value)

    def top_k(self, start: int, end: int, value: Any) -> ast.HoleOption:
        return self._option("top_k", start, end, value)

    def min_p(self, start: int, end: int, value: Any) -> ast.HoleOption:
        return self._option("min_p", start, end, value)

    def seed(self, start: int, end: int, value: Any) -> ast.HoleOption:
        return self._option("seed", start, end, value)

    def samples(self, start: int, end: int, value: Any) -> ast.HoleOption:
        return self._option("n", start, end, value)

    def decode(self, start: int, end: int, value: Any) -> ast.HoleOption:
        return self._option("decode", start, end, value)

    def using(self, start: int, end: int, *models: ast.Name) -> tuple[ast.Name, ...]:
        return models

    def using_option(self, start: int, end: int, models: tuple[ast.Name, ...]) -> ast.HoleOption:
        names = tuple(ast.Reference(model.text, model.span) for model in models)
        value = names[0] if len(names) == 1 else ast.ListDisplay(names, self.span(start, end))
        return self._option("using", start, end, value)

    def by(self, start: int, end: int, name: ast.Name) -> By:
        if name.text not in ("sum", "mean", "greedy", "contrast"):
            self.report(
                "E0115", f"there is no normaliser `{name.text}`", name.span.start, name.span.end,
                hint="`by` takes sum, mean, greedy or contrast",
            )  # fmt: skip
            return "greedy", self.span(start, end)
        return name.text, self.span(start, end)

    # -- holes -----------------------------------------------------------------------------------------

    def gen(self, start: int, end: int, type: Any) -> ast.Gen:
        options = self.options_of(type)
        return ast.Gen(type, options, self.span(start, end))

    hole_type = gen

    def hole(self, start: int, end: int, name: ast.Name, content: Any) -> tuple[ast.Name, Any]:
        return name, content

    def choose(self, start: int, end: int, choices: Any, options: Any) -> ast.Choose:
        kept, by = self.split_by(self._choice_options(options))
        if by is not None:
            self.report(
                "E0115", "`by` is an option of `select`", by[1].start, by[1].end,
                label="`choose` draws one option and scores none", hint="write `select … by …`",
            )  # fmt: skip
        return ast.Choose(choices, kept, self.span(start, end))

    def select(self, start: int, end: int, choices: Any, options: Any) -> ast.Select:
        kept, by = self.split_by(self._choice_options(options))
        return ast.Select(choices, None if by is None else by[0], kept, self.span(start, end))

    def _choice_options(self, options: Any) -> list[ast.HoleOption | By]:
        kept: list[ast.HoleOption | By] = []
        for option in options:
            if isinstance(option, ast.Until):
                value = ast.String((option.text,), option.span)
                kept.append(ast.HoleOption("until", value, option.span))
            elif isinstance(option, ast.HoleOption | tuple):
                kept.append(option)
            elif option is not None:
                self.report(
                    "E0115", f"`{option.span.text}` does not go with options to choose from",
                    option.span.start, option.span.end, label="refines a type",
                )  # fmt: skip
        return kept

    def choices(self, start: int, end: int, first: Any, *more: Any) -> Any:
        """A list, a name, or literals and types with `|` between them."""
        if not more:
            return self._as_type(first) if _is_type(first) else first
        return ast.TypeUnion(tuple(self._as_type(arm) for arm in (first, *more)), self.span(start, end))

    def _as_type(self, node: Any) -> Any:
        match node:
            case ast.Reference(name):
                return ast.TypeName(name, (), node.span)
            case ast.Call(ast.Reference(name), arguments):
                return ast.TypeName(name, tuple(argument.value for argument in arguments), node.span)
            case ast.String():
                return ast.TypeLiteral(self.plain(node, "a literal type"), node.span)
            case ast.Number(value) | ast.Boolean(value):
                return ast.TypeLiteral(value, node.span)
        self.report(
            "E0101", "a type or a literal is needed here", node.span.start, node.span.end,
            hint="write the options as a list: `choose [a, b]`",
        )  # fmt: skip
        return ast.TypeName("null", (), node.span)


class Optional:
    """A `?` after a type and where it stands."""

    __slots__ = ("at",)

    def __init__(self, at: int) -> None:
        self.at = at


def _is_type(node: Any) -> bool:
    """Whether what follows `choose` is a type: a literal, or a name written as types are (`Mood`)."""
    match node:
        case ast.Reference(name) | ast.Call(ast.Reference(name)):
            return name[:1].isupper() and not name.isupper()
    return isinstance(node, ast.String | ast.Number | ast.Boolean)
