"""Building declarations, with the `##` comments that belong to them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import Any

from sglc.syntax import ast
from sglc.syntax.automaton import HARD
from sglc.syntax.expressions import _present
from sglc.syntax.statements import Body, Statements

Clauses = dict[str, Any]


class Declarations(Statements):
    docs: dict[int, tuple[int, int, str, bool]]
    """Line number of a `##` comment to its extent, text, and whether it has the line to itself."""
    used_docs: set[int]

    # -- doc comments ----------------------------------------------------------------------------------

    def doc(self, start: int, end: int, block: bool = False) -> str:
        """Text of the `##` comments right above the line of `start` and at the end of the line of `end`.

        A declaration with a `block` below it takes the comment at the end of its first line instead.
        """
        if not self.docs:
            return ""
        starts = self.source.line_starts
        first = bisect_right(starts, start)
        lines: list[str] = []
        line = first - 1
        while (above := self.docs.get(line)) is not None and above[3] and line not in self.used_docs:
            lines.append(above[2])
            self.used_docs.add(line)
            line -= 1
        lines.reverse()
        last = first if block else bisect_right(starts, end)
        beside = self.docs.get(last)
        if beside is not None and not beside[3] and last not in self.used_docs:
            lines.append(beside[2])
            self.used_docs.add(last)
        return "\n".join(lines)

    # -- modules ---------------------------------------------------------------------------------------

    def module(self, start: int, end: int, *declarations: Any) -> tuple[ast.Declaration, ...]:
        return tuple(declaration for declaration in declarations if declaration is not None)

    def public(self, start: int, end: int, declaration: Any) -> Any:
        return replace(declaration, public=True, span=self.span(start, end))

    def use(self, start: int, end: int, path: str, *names: Any) -> ast.Use:
        return ast.Use(path, _present(names), self.span(start, end))

    def imported(self, start: int, end: int, name: ast.Name, local: ast.Name | None) -> tuple[Any, Any]:
        return name, local or name

    def grammar_import(self, start: int, end: int, path: ast.String, name: Any) -> ast.GrammarImport:
        return ast.GrammarImport(self.plain(path, "a path"), False, name, self.span(start, end))

    def library_grammar(self, start: int, end: int, path: Any, name: Any) -> ast.GrammarImport:
        return ast.GrammarImport("".join(path.span.text.split()), True, name, self.span(start, end))

    def test(self, start: int, end: int, title: ast.String, tags: Any, body: Body) -> ast.TestDeclaration:
        names = tuple(tag.text for tag in tags or ())
        self.doc(start, end, block=True)
        return ast.TestDeclaration(self.plain(title, "a title"), names, body, self.span(start, end))

    def constant(self, start: int, end: int, name: ast.Name, type: Any, value: Any) -> ast.ConstDeclaration:
        doc = self.doc(start, end)
        return ast.ConstDeclaration(name, self.settled(type), value, False, doc, self.span(start, end))

    # -- types -----------------------------------------------------------------------------------------

    def type_alias(
        self, start: int, end: int, name: ast.Name, parameters: Any, type: Any
    ) -> ast.TypeDeclaration:
        doc = self.doc(start, end)
        return ast.TypeDeclaration(
            name, parameters or (), self.settled(type), False, doc, self.span(start, end)
        )

    def error(self, start: int, end: int, name: ast.Name, fields: Any) -> ast.ErrorDeclaration:
        doc = self.doc(start, end)
        fields = tuple(fields or ())
        starts = self.source.line_starts
        if fields and bisect_right(starts, fields[0].span.start) == bisect_right(starts, start):
            # The first field is built before, and has taken what stands above the line of both.
            doc, fields = fields[0].doc or doc, (replace(fields[0], doc=""), *fields[1:])
        return ast.ErrorDeclaration(name, fields, False, doc, self.span(start, end))

    def record(
        self, start: int, end: int, name: ast.Name, parameters: Any, fields: Any
    ) -> ast.RecordDeclaration:
        doc = self.doc(start, end, block=True)
        return ast.RecordDeclaration(name, parameters or (), fields, False, doc, self.span(start, end))

    def enum(self, start: int, end: int, name: ast.Name, members: Any) -> ast.EnumDeclaration:
        doc = self.doc(start, end)
        found = tuple(ast.Member(member, "") for member in members)
        return ast.EnumDeclaration(name, found, False, doc, self.span(start, end))

    def enum_block(self, start: int, end: int, name: ast.Name, *lines: Any) -> ast.EnumDeclaration:
        doc = self.doc(start, end, block=True)
        found = tuple(
            ast.Member(member, self.doc(member.span.start, member.span.end) if member is line[-1] else "")
            for line in lines
            if line is not None
            for member in line
        )
        return ast.EnumDeclaration(name, found, False, doc, self.span(start, end))

    def union(
        self, start: int, end: int, name: ast.Name, parameters: Any, *variants: Any
    ) -> ast.UnionDeclaration:
        doc = self.doc(start, end, block=True)
        found = tuple(variant for variant in variants if variant is not None)
        return ast.UnionDeclaration(name, parameters or (), found, False, doc, self.span(start, end))

    def variant(self, start: int, end: int, name: ast.Name, fields: Any) -> ast.Variant:
        doc = self.doc(start, end, block=True)
        return ast.Variant(name, tuple(fields), doc, self.span(start, end))

    def bare_variant(self, start: int, end: int, name: ast.Name) -> ast.Variant:
        return ast.Variant(name, (), self.doc(start, end), self.span(start, end))

    def fields(self, start: int, end: int, fields: Any) -> tuple[ast.Field, ...]:
        return tuple(fields)

    def field_block(self, start: int, end: int, *lines: Any) -> tuple[ast.Field, ...]:
        return tuple(field for line in lines if line is not None for field in line)

    def field(self, start: int, end: int, name: ast.Name, type: Any, default: Any) -> ast.Field:
        doc = self.doc(start, end)
        return ast.Field(name, self.settled(type), False, default, doc, self.span(start, end))

    def optional_field(self, start: int, end: int, name: ast.Name, type: Any, default: Any) -> ast.Field:
        doc = self.doc(start, end)
        return ast.Field(name, self.settled(type), True, default, doc, self.span(start, end))

    # -- functions -------------------------------------------------------------------------------------

    def parameters(self, start: int, end: int, *parameters: Any) -> tuple[ast.Parameter, ...]:
        return _present(parameters)

    def parameter(self, start: int, end: int, name: ast.Name, type: Any, default: Any) -> ast.Parameter:
        if name.text in HARD:
            self.report(
                "E0136", f"`{name.text}` is a word of the language", name.span.start, name.span.end,
                label="a name is due here", hint=f"choose another name, such as `{name.text}_`",
            )  # fmt: skip
        return ast.Parameter(name, self.settled(type), default, self.span(start, end))

    def result(self, start: int, end: int, type: Any) -> tuple[Any, tuple[ast.Name, ...]]:
        """The result type; `using big` after it belongs to the function."""
        options = self.pending.pop(id(type), ()) if self.pending else ()
        models: tuple[ast.Name, ...] = ()
        rest = []
        for option in options:
            if isinstance(option, ast.HoleOption) and option.kind == "using":
                models = _models(option.value)
            else:
                rest.append(option)
        if rest:
            self.pending[id(type)] = tuple(rest)
            self.settled(type)
        return type, models

    def using_result(
        self, start: int, end: int, models: tuple[ast.Name, ...]
    ) -> tuple[None, tuple[ast.Name, ...]]:
        return None, models

    def within(self, start: int, end: int, count: Any, models: Any) -> tuple[str, Any, Any, int, int]:
        return "within", count, models, start, end

    def raises(self, start: int, end: int, *parts: Any) -> tuple[str, Any, Any, int, int]:
        *errors, models = parts
        return "raises", tuple(errors), models, start, end

    def _function(self, kind: Any, start: int, end: int, name: ast.Name, parameters: Any, parts: Any) -> Any:
        result, *clauses, body = parts
        doc = self.doc(start, end, block=True)
        type, using = result or (None, ())
        found: Clauses = {}
        for word, value, models, begin, stop in clauses:
            if word in found:
                self.report("E0135", f"`{word}` is given twice", begin, stop, label="the second one")
            found[word] = value
            using = models or using
        return ast.FunctionDeclaration(
            kind, name, parameters, type, found.get("within"), using, found.get("raises", ()), body,
            False, doc, self.span(start, end),
        )  # fmt: skip

    def function(self, start: int, end: int, name: ast.Name, parameters: Any, *parts: Any) -> Any:
        return self._function("fn", start, end, name, parameters, parts)

    def pure_function(self, start: int, end: int, name: ast.Name, parameters: Any, *parts: Any) -> Any:
        return self._function("pure", start, end, name, parameters, parts)

    def part_function(self, start: int, end: int, name: ast.Name, parameters: Any, *parts: Any) -> Any:
        return self._function("part", start, end, name, parameters, parts)

    def aside_function(self, start: int, end: int, name: ast.Name, parameters: Any, *parts: Any) -> Any:
        return self._function("aside", start, end, name, parameters, parts)

    def extern(
        self,
        start: int,
        end: int,
        target: ast.String,
        name: ast.Name,
        parameters: Any,
        type: Any,
        effects: Any,
    ) -> ast.ExternDeclaration:
        doc = self.doc(start, end)
        word = "write" if effects is None else effects.text
        if word not in ("pure", "model", "read", "write"):
            self.report(
                "E0115", f"there is no effect `{word}`", effects.span.start, effects.span.end,
                hint="effects are pure, model, read or write",
            )  # fmt: skip
        return ast.ExternDeclaration(
            self.plain(target, "a target"), name, parameters, self.settled(type), word, False, doc,
            self.span(start, end),
        )  # fmt: skip

    # -- grammars --------------------------------------------------------------------------------------

    def grammar(
        self, start: int, end: int, name: ast.Name, parameters: Any, *lines: Any
    ) -> ast.GrammarDeclaration:
        doc = self.doc(start, end, block=True)
        rules = tuple(line for line in lines if isinstance(line, ast.GrammarRule))
        skips = [line for line in lines if isinstance(line, ast.Regex)]
        for again in skips[1:]:
            self.report(
                "E0135", "`skip` is given twice", again.span.start, again.span.end,
                label="the second one", hint="join the two with `|` in one pattern",
            )  # fmt: skip
        skip = skips[-1].pattern if skips else None
        return ast.GrammarDeclaration(name, parameters or (), rules, skip, False, doc, self.span(start, end))

    def grammar_rule(self, start: int, end: int, name: ast.Name, body: Any) -> ast.GrammarRule:
        return ast.GrammarRule(name, body, self.span(start, end))

    def grammar_skip(self, start: int, end: int, regex: ast.Regex) -> ast.Regex:
        return regex

    def grammar_choice(self, start: int, end: int, *arms: Any) -> ast.GrammarChoice:
        return ast.GrammarChoice(arms, self.span(start, end))

    def grammar_sequence(self, start: int, end: int, *items: Any) -> ast.GrammarSequence:
        return ast.GrammarSequence(items, self.span(start, end))

    def grammar_symbol(self, start: int, end: int, name: ast.Name) -> ast.GrammarSymbol:
        return ast.GrammarSymbol(name, name.span)

    def grammar_text(self, start: int, end: int, text: ast.String) -> ast.GrammarText:
        return ast.GrammarText(self.plain(text, "the text of a rule"), text.span)

    def grammar_regex(self, start: int, end: int, regex: ast.Regex) -> ast.GrammarRegex:
        return ast.GrammarRegex(regex.pattern, regex.span)

    def grammar_group(self, start: int, end: int, inner: Any) -> Any:
        return inner

    def grammar_one_of(self, start: int, end: int, values: Any) -> ast.GrammarOneOf:
        return ast.GrammarOneOf(values, self.span(start, end))

    def _repeat(self, start: int, end: int, item: Any, low: int, high: int | None) -> ast.GrammarRepeat:
        return ast.GrammarRepeat(item, low, high, self.span(start, end))

    def zero_or_one(self, start: int, end: int, item: Any) -> ast.GrammarRepeat:
        return self._repeat(start, end, item, 0, 1)

    def zero_or_more(self, start: int, end: int, item: Any, *operator: Any) -> ast.GrammarRepeat:
        return self._repeat(start, end, item, 0, None)

    def one_or_more(self, start: int, end: int, item: Any, *operator: Any) -> ast.GrammarRepeat:
        return self._repeat(start, end, item, 1, None)

    def exactly(self, start: int, end: int, item: Any, count: ast.Number) -> ast.GrammarRepeat:
        return self._repeat(start, end, item, self.count(count), self.count(count))

    def between(
        self, start: int, end: int, item: Any, low: ast.Number, high: ast.Number | None
    ) -> ast.GrammarRepeat:
        return self._repeat(start, end, item, self.count(low), None if high is None else self.count(high))


def _models(value: Any) -> tuple[ast.Name, ...]:
    names = value.items if isinstance(value, ast.ListDisplay) else (value,)
    return tuple(ast.Name(name.name, name.span) for name in names if isinstance(name, ast.Reference))
