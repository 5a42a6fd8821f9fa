"""Holes: `s.gen`, `s.choose` and `s.select` with their options, and the values that they leave."""

from __future__ import annotations

import ast as python
import json
import re

from sglc.frontend.body.bindings import plain_name, stem_of
from sglc.frontend.body.context import Context
from sglc.frontend.body.expressions import Expressions
from sglc.frontend.core.outside import MISSING
from sglc.source import Span
from sglc.syntax.parse import parse_expression
from sglc.syntax.tree import ast
from sglc.syntax.tree.spans import moved

HoleContent = ast.Gen | ast.Choose | ast.Select
OPTIONS = {
    "max_tokens": "max_tokens",
    "temperature": "temp",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "seed": "seed",
    "n": "n",
    "weight": "weight",
    "at_least": "at_least",
}
"""Options by their Python names, whose values are expressions."""
TYPES = ("type", "regex", "json_schema", "grammar", "choices")
"""What says which texts are legal; a hole has one of them at most."""
TEXTS = ("stop", "min_chars", "max_chars", "not_containing")
"""Refinements of texts."""
OTHERS = ("name", "distinct", "decode", "where", "using", "by")
NORMALISERS = ("sum", "mean", "greedy", "contrast")


class Holes:
    """Translates the holes of one function."""

    def __init__(self, context: Context, expressions: Expressions) -> None:
        self.context = context
        self.expressions = expressions

    # -- from a call to a hole -----------------------------------------------------------------------

    def hole(self, node: python.Call, word: str) -> ast.Hole:
        """A hole in text, which has a name."""
        name, content = self.content(node, word)
        if name is None:
            raise self.context.refuse(
                "E0509",
                "a hole in text needs a name",
                node,
                label="no name",
                hint=f'write `{word}("name", …)`; the value is then `s["name"]`',
            )
        return ast.Hole(name, content, self.context.span(node))

    def content(self, node: python.Call, word: str) -> tuple[ast.Name | None, HoleContent]:
        """Name, if there is one, and content of a hole. Raises Untranslatable."""
        context = self.context
        given: dict[str, python.expr] = {}
        positions = ("name",) if word == "gen" else ("name", "choices")
        for position, value in zip(positions, node.args, strict=False):
            given[position] = value
        if len(node.args) > len(positions):
            raise context.refuse(
                "E0505",
                f"`{word}` takes its options by name",
                node.args[len(positions)],
                label="one too many",
            )
        for keyword in node.keywords:
            known = (*OPTIONS, *TYPES, *TEXTS, *OTHERS)
            if keyword.arg is None or keyword.arg not in known:
                near = context.near(keyword.arg or "", list(known))
                raise context.refuse(
                    "E0505",
                    f"`{word}` has no option `{keyword.arg or '**'}`",
                    keyword,
                    label="unknown option",
                    hint=near or f"options are {', '.join(sorted(known))}",
                )
            if keyword.arg in given:
                raise context.refuse(
                    "E0505", f"`{keyword.arg}` is given twice", keyword, label="the second one"
                )
            given[keyword.arg] = keyword.value
        name = None if "name" not in given else self._named(given["name"])
        return name, self._content(node, word, given)

    def _content(self, node: python.Call, word: str, given: dict[str, python.expr]) -> HoleContent:
        context, span = self.context, self.context.span(node)
        said = [each for each in TYPES if each in given]
        if len(said) > 1:
            raise context.refuse(
                "E0505",
                f"a hole has one of {', '.join(said)}",
                given[said[1]],
                label="a second description of the same text",
            )
        options = self._options(given)
        if word == "gen" and "choices" not in given:
            self._not_with(word, given, "by")
            return ast.Gen(self._type(given, span), options, span)
        if "choices" not in given:
            raise context.refuse(
                "E0505", f"`{word}` needs the options to choose from", node, label="no choices"
            )
        for name in (*TEXTS, "type", "regex", "json_schema", "grammar", "where"):
            self._not_with("choices", given, name)
        choices = self._choices(given["choices"])
        if word != "select":
            self._not_with(word, given, "by")
            return ast.Choose(choices, options, span)
        by = self.constant_text(given["by"], "`by`") if "by" in given else None
        if by is not None and by not in NORMALISERS:
            raise context.refuse(
                "E0505",
                f"there is no `by` {by!r}",
                given["by"],
                label="unknown",
                hint=f"write one of {', '.join(NORMALISERS)}",
            )
        return ast.Select(choices, by, options, span)

    def _not_with(self, word: str, given: dict[str, python.expr], name: str) -> None:
        if name in given:
            hint = "`by` is an option of `select`" if name == "by" else ""
            raise self.context.refuse(
                "E0505", f"`{name}` does not go with `{word}`", given[name], label="not here", hint=hint
            )

    def _named(self, node: python.expr) -> ast.Name:
        context, span = self.context, self.context.span(node)
        plain = plain_name(node)
        if plain is not None:
            if not plain.isidentifier():
                raise context.refuse(
                    "E0509",
                    f"`{plain}` cannot be the name of a hole",
                    node,
                    label="no name",
                    hint="names have letters, digits and underscores",
                )
            return ast.Name(context.renamed.get(plain, plain), span)
        if isinstance(node, python.JoinedStr):
            stem = stem_of(node)
            use = context.holes.get(stem)
            if not stem.isidentifier() or use is None or use.loop is None:
                raise context.refuse(
                    "E0509",
                    "the name of a hole is known before the program runs",
                    node,
                    label="is computed",
                    hint='in a loop write `f"step_{i}"` with its variable: the values become a list',
                )
            return ast.Name(stem, span)
        raise context.refuse(
            "E0509",
            "the name of a hole is a text in quotes",
            node,
            label="is computed",
            hint='write `gen("name")`',
        )

    # -- types ---------------------------------------------------------------------------------------

    def _type(self, given: dict[str, python.expr], span: Span) -> ast.TypeExpression:
        context = self.context
        type: ast.TypeExpression = ast.TypeName("str", (), span)
        found: list[ast.Refinement] = []
        if "type" in given:
            type = context.type(given["type"])
        elif "regex" in given:
            place = context.span(given["regex"])
            found.append(ast.Matching(self.constant_text(given["regex"], "a pattern"), place))
        elif "json_schema" in given:
            place = context.span(given["json_schema"])
            type = ast.TypeJsonSchema(self._schema(given["json_schema"]), True, place)
        elif "grammar" in given:
            type = self._grammar(given["grammar"])
        if "min_chars" in given:
            found.append(ast.MinChars(self._count(given["min_chars"]), context.span(given["min_chars"])))
        if "max_chars" in given:
            found.append(ast.MaxChars(self._count(given["max_chars"]), context.span(given["max_chars"])))
        for name, made in (("stop", ast.Until), ("not_containing", ast.NotContaining)):
            for text in self._texts(given[name], name) if name in given else ():
                found.append(made(text, context.span(given[name])))
        if "where" in given:
            found.append(ast.Where(self._condition(given["where"]), context.span(given["where"])))
        if not found:
            return type
        if isinstance(type, ast.TypeRefined):
            return ast.TypeRefined(type.base, (*type.refinements, *found), span)
        return ast.TypeRefined(type, tuple(found), span)

    def _schema(self, node: python.expr) -> str:
        value = self.constant(node, "a JSON Schema")
        if isinstance(value, str):
            return value
        if hasattr(value, "model_json_schema"):
            raise self.context.refuse(
                "E0505", "a class is a type, and no schema", node, label="a class", hint="write `type=…`"
            )
        try:
            return json.dumps(value)
        except (TypeError, ValueError, RecursionError):
            raise self.context.refuse(
                "E0505", "this is no JSON Schema", node, label="cannot be written as JSON"
            ) from None

    def _grammar(self, node: python.expr) -> ast.TypeExpression:
        """A grammar: the path of its file, or its name in the library."""
        context, span = self.context, self.context.span(node)
        path = self.constant_text(node, "a grammar")
        library = re.fullmatch(r"std\.\w+", path) is not None
        if not library and not re.fullmatch(r"[^\n]+\.(?:lark|ebnf|bnf|gbnf)", path):
            raise context.refuse(
                "E0505",
                "a grammar is a file, or one of the library",
                node,
                label="neither a path nor a name of the library",
                hint='write `grammar="notes.lark"`, a file beside this one, or `grammar="std.sql"`',
            )
        stem = re.sub(r"\W", "_", path.rpartition("/")[2].rpartition(".")[2 if library else 0]) or "Grammar"
        name = context.declared.grammar(path, library, stem[0].upper() + stem[1:], span)
        return ast.TypeName(name, (), span)

    def _choices(self, node: python.expr) -> ast.Expression | ast.TypeExpression:
        if self.context.means_type(node):
            return self.context.type(node)
        return self.expressions.of(node)

    # -- options -------------------------------------------------------------------------------------

    def _options(self, given: dict[str, python.expr]) -> tuple[ast.HoleOption, ...]:
        context = self.context
        found: list[ast.HoleOption] = []
        for name, node in given.items():
            span = context.span(node)
            if name in OPTIONS:
                found.append(ast.HoleOption(OPTIONS[name], self.expressions.of(node), span))
            elif name == "distinct":
                if self.constant(node, "`distinct`"):
                    found.append(ast.HoleOption("distinct", ast.Boolean(True, span), span))
            elif name == "using":
                found.append(ast.HoleOption("using", self.models(node), span))
            elif name == "decode":
                found.append(ast.HoleOption("decode", self._decoding(node), span))
        return tuple(found)

    def models(self, node: python.expr) -> ast.ModelClause:
        """`using="big"`."""
        name = self.constant_text(node, "a model")
        span = self.context.span(node)
        return ast.ModelClause((ast.ModelName(ast.Name(name, span), None, span),), False, span)

    def _decoding(self, node: python.expr) -> ast.Expression:
        text, span = self.constant_text(node, "`decode`"), self.context.span(node)
        found, _ = parse_expression(text)
        if found is None:
            raise self.context.refuse(
                "E0505",
                f"there is no strategy `{text}`",
                node,
                hint='write `decode="exact"` or `decode="smc(8)"`',
            )
        made: ast.Expression = moved(found, lambda inner: span)
        return made

    def _condition(self, node: python.expr) -> ast.Expression:
        """`where=lambda it: it % 2 == 0`: the parameter is the value of the hole."""
        context = self.context
        if not isinstance(node, python.Lambda) or len(node.args.args) != 1:
            raise context.refuse(
                "E0505",
                "a condition is a function of the value",
                node,
                label="no such function",
                hint="write `where=lambda it: it > 3`",
            )
        name = node.args.args[0].arg
        known = name in context.local
        context.local.add(name)
        context.renamed[name] = "it"
        try:
            return self.expressions.of(node.body)
        finally:
            del context.renamed[name]
            if not known:
                context.local.discard(name)

    # -- constants -----------------------------------------------------------------------------------

    def constant(self, node: python.expr, what: str) -> object:
        """A value that is known before the program runs: written out, or a constant of the module."""
        if isinstance(node, python.Name | python.Attribute):
            found = self.context.meaning(node)
            if found is not MISSING:
                return found
        if isinstance(node, python.BinOp) and isinstance(node.op, python.Add):
            left, right = self.constant(node.left, what), self.constant(node.right, what)
            if isinstance(left, str) and isinstance(right, str):
                return left + right
        try:
            return python.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, RecursionError):
            raise self.context.refuse(
                "E0505",
                f"{what} is known before the program runs",
                node,
                label="is computed",
                hint="write it out, or name a constant of the module",
            ) from None

    def constant_text(self, node: python.expr, what: str) -> str:
        """A text that is known before the program runs."""
        value = self.constant(node, what)
        if isinstance(value, re.Pattern):
            value = value.pattern
        if not isinstance(value, str):
            raise self.context.refuse("E0505", f"{what} is a text", node, label="no text")
        return value

    def _texts(self, node: python.expr, what: str) -> list[str]:
        value = self.constant(node, f"`{what}`")
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list | tuple) or not all(isinstance(each, str) for each in texts):
            raise self.context.refuse(
                "E0505", f"`{what}` is a text or a list of texts", node, label="neither"
            )
        return list(texts)

    def _count(self, node: python.expr) -> int:
        value = self.constant(node, "a number of characters")
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.context.refuse("E0505", "a whole number is due here", node, label="no whole number")
        return value

    # -- values --------------------------------------------------------------------------------------

    def value(self, node: python.Subscript, scored: bool = False) -> ast.Expression:
        """`s["name"]`: what a hole left. Of a `select` it is the best option, unless `scored`."""
        context, span = self.context, self.context.span(node)
        key = node.slice
        plain = plain_name(key)
        if isinstance(key, python.JoinedStr) and plain is None:
            return self._of_loop(node, key)
        if plain is None:
            raise context.refuse(
                "E0509", "a hole is named by a text in quotes", key, label="no name", hint='write `s["name"]`'
            )
        use = context.holes.get(plain)
        if use is None:
            numbered = re.fullmatch(r"(.+?)_?(\d+)", plain)
            if numbered is not None and numbered[1] in context.lists:
                place = int(numbered[2]) - self._first(numbered[1])
                kept = ast.Reference(context.lists[numbered[1]], span)
                return ast.Index(kept, ast.Number(max(place, 0), span), span)
            raise context.refuse(
                "E0509",
                f"there is no hole `{plain}`",
                node,
                label="not found",
                hint=context.near(plain, list(context.holes)),
            )
        if use.loop is not None and use.loop not in context.loops:
            return ast.Reference(context.lists[use.name], span)
        reference = ast.Reference(context.renamed.get(use.name, use.name), span)
        if use.word == "select" and not scored:
            return ast.Attribute(reference, ast.Name("top", span), span)
        return reference

    def _of_loop(self, node: python.Subscript, key: python.JoinedStr) -> ast.Expression:
        """`s[f"step_{i}"]`: the value of this round, or one of those that were kept."""
        context, span = self.context, self.context.span(node)
        stem = stem_of(key)
        use = context.holes.get(stem)
        if use is None or use.loop is None:
            raise context.refuse(
                "E0509",
                f"there is no hole in a loop that is called like this: `{stem}`",
                node,
                label="not found",
                hint=context.near(stem, list(context.holes)),
            )
        if use.loop in context.loops and use.key == python.dump(key):
            return ast.Reference(stem, span)
        numbers = [part.value for part in key.values if isinstance(part, python.FormattedValue)]
        if len(numbers) != 1:
            raise context.refuse("E0509", "one number tells which value is meant", node, label="several")
        index = self.expressions.of(numbers[0])
        first = self._first(stem)
        if first:
            index = ast.Binary("-", index, ast.Number(first, span), span)
        return ast.Index(ast.Reference(context.lists[stem], span), index, span)

    def _first(self, stem: str) -> int:
        """The number of the first value that a hole in a loop leaves."""
        use = self.context.holes[stem]
        assert use.loop is not None
        match use.loop.iter:
            case python.Call(func=python.Name(id="range"), args=[_]):
                return 0
            case python.Call(func=python.Name(id="range"), args=[python.Constant(value=int(start)), _]):
                return start
        raise self.context.refuse(
            "E0509",
            "values are found again by number in loops over `range` only",
            use.loop.iter,
            label="no range with a written start",
            hint=f'write `s["{stem}"]` for the list of all values',
        )
