"""Calls: of built-in functions and methods, of classes, and of other decorated functions."""

from __future__ import annotations

import ast as python
import datetime
import decimal
import inspect
import re
import uuid

from sglc.frontend.body import refusals
from sglc.frontend.body.context import Context, Untranslatable
from sglc.frontend.body.expressions import Expressions
from sglc.frontend.core.outside import MISSING
from sglc.frontend.core.written import written
from sglc.frontend.types.constraints import NoType
from sglc.source import Span
from sglc.syntax.tree import ast

BUILTINS: dict[object, str] = {
    len: "len",
    sum: "sum",
    min: "min",
    max: "max",
    sorted: "sorted",
    reversed: "reversed",
    str: "str",
    int: "int",
    float: "float",
    decimal.Decimal: "decimal",
    round: "round",
    abs: "abs",
    any: "any",
    all: "all",
    zip: "zip",
    enumerate: "enumerate",
}
"""Functions of Python that are functions of the language."""
METHODS = {"startswith": "starts_with", "endswith": "ends_with", "splitlines": "lines"}
"""Methods that are called otherwise."""
INSTEAD: dict[object, str] = {
    print: "leave it out: `sglc.execute(…, trace=True)` shows what happens in a run",
    isinstance: "write `match`, which tells types apart",
    input: "make it a parameter",
    open: 'write `s.include("file.md")` for the text of a file',
    map: "write a comprehension: `[f(x) for x in xs]`",
    filter: "write a comprehension: `[x for x in xs if …]`",
    dict: "write the entries out: `{…}`",
    list: "leave it out: ranges and comprehensions are lists",
    set: "write a list",
    bool: "write the comparison",
    type: "write `match`, which tells types apart",
    repr: "write the value in an f-string",
}
"""Functions that have no counterpart, and what to write."""


class Calls:
    """Translates the calls of one function."""

    def __init__(self, context: Context, expressions: Expressions) -> None:
        self.context = context
        self.expressions = expressions

    def of(self, node: python.Call) -> ast.Expression:
        """The expression that a call becomes. Raises Untranslatable."""
        context = self.context
        span = context.span(node)
        word = context.word(node)
        if word:
            return self._word(node, word, span)
        self._no_stars(node)
        called = context.meaning(node.func)
        if called is MISSING:
            return self._method_or_unknown(node, span)
        if called is range:
            return self._range(node, span)
        if called in (re.fullmatch, re.match, re.search):
            return self._matches(node, called, span)
        if _hashable(called) and called in BUILTINS:
            return self._builtin(node, BUILTINS[called], span)
        if written(called) is not None:
            if node.args and context.is_state(node.args[0]):
                raise context.refuse(
                    "E0508",
                    "a function that writes into this conversation is no value",
                    node,
                    label="in the middle of an expression",
                    hint=f"write it as a statement, or `x = {span.text}`",
                )
            return ast.Call(ast.Reference(self.function(node.func, called), span), self.arguments(node), span)
        if isinstance(called, type):
            return self._made(node, called, span)
        name = self.function(node.func, called)
        for each in node.args:
            if context.is_state(each):
                raise context.refuse(
                    "E0503",
                    f"`{name}` is a function of Python and takes no conversation",
                    each,
                    label="the conversation",
                    hint="pass values, such as those of holes",
                )
        return ast.Call(ast.Reference(name, context.span(node.func)), self.arguments(node), span)

    def function(self, node: python.expr, called: object) -> str:
        """The name of a function with a conversation of its own, or of Python. Raises Untranslatable."""
        context = self.context
        if written(called) is not None:
            return context.function_named(called, False)
        if not inspect.isfunction(called):
            raise self.foreign(node, called)
        try:
            return context.called.named(called, context.span(node))
        except NoType as fault:
            raise self.foreign(node, called, fault) from None

    def part(self, node: python.Call) -> ast.Call | None:
        """The call of a function that writes into this conversation, `f(s, x)`; None for any other."""
        context = self.context
        if not node.args or not context.is_state(node.args[0]):
            return None
        called = context.meaning(node.func)
        if written(called) is None:
            return None
        self._no_stars(node)
        name = context.function_named(called, True)
        span = context.span(node)
        return ast.Call(ast.Reference(name, span), self.arguments(node)[1:], span)

    def _word(self, node: python.Call, word: str, span: Span) -> ast.Expression:
        if word in ("gen", "choose", "select"):
            _, content = self.expressions.holes.content(node, word)
            return content
        if word == "schema":
            style = next((each.value for each in node.keywords if each.arg == "style"), None)
            if len(node.args) != 1:
                raise self.context.refuse("E0505", "`schema` takes one type", node, label="a type is due")
            written_style = None if style is None else self.expressions.holes.constant_text(style, "style")
            return ast.SchemaOf(self.context.type(node.args[0]), written_style, span)
        if word == "trust":
            return ast.Call(ast.Reference(word, self.context.span(node.func)), self.arguments(node), span)
        raise self.context.refuse(
            "E0508",
            f"`{word}` gives no value",
            node,
            label="in the middle of an expression",
            hint="write it as a statement of its own",
        )

    def _no_stars(self, node: python.Call) -> None:
        for argument in node.args:
            if isinstance(argument, python.Starred):
                raise refusals.expression(self.context, argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.context.refuse(
                    "E0502",
                    "`**` has no counterpart in the language",
                    keyword.value,
                    label="not translated",
                    hint="write the arguments out by name",
                )

    def arguments(self, node: python.Call) -> tuple[ast.Argument, ...]:
        """The arguments of a call, those without a name first; null stands where the conversation is passed.

        Raises Untranslatable for one that the language cannot say.
        """
        context, of = self.context, self.expressions.of
        positional = [
            ast.Argument(
                None,
                of(each) if not context.is_state(each) else ast.Null(context.span(each)),
                context.span(each),
            )
            for each in node.args
        ]
        named = [
            ast.Argument(ast.Name(each.arg or "", context.span(each)), of(each.value), context.span(each))
            for each in node.keywords
        ]
        return (*positional, *named)

    # -- functions of Python -------------------------------------------------------------------------

    def _builtin(self, node: python.Call, name: str, span: Span) -> ast.Expression:
        key = next((each for each in node.keywords if each.arg == "key"), None)
        if key is not None:
            return self._by(node, name, key.value, span)
        if any(each.arg in ("reverse", "default", "start", "strict") for each in node.keywords):
            raise self.context.refuse(
                "E0502",
                f"`{name}` takes no names for its arguments in the language",
                node,
                label="not translated",
                hint="write `reversed(…)` around it" if name == "sorted" else "",
            )
        arguments = []
        for each in node.args:
            if isinstance(each, python.GeneratorExp):
                value = self.expressions.comprehension(each, each.elt, each.generators)
                arguments.append(ast.Argument(None, value, value.span))
            else:
                arguments.append(ast.Argument(None, self.expressions.of(each), self.context.span(each)))
        reference = ast.Reference(name, self.context.span(node.func))
        return ast.Call(reference, tuple(arguments), span)

    def _by(self, node: python.Call, name: str, key: python.expr, span: Span) -> ast.Expression:
        """`max(xs, key=lambda x: x.age)` as `xs.max(by = age)`."""
        context = self.context
        method = {"min": "min", "max": "max", "sorted": "sort"}.get(name)
        if (
            method is None
            or len(node.args) != 1
            or not isinstance(key, python.Lambda)
            or len(key.args.args) != 1
        ):
            raise context.refuse(
                "E0502",
                "this key has no counterpart in the language",
                key,
                label="not translated",
                hint="write `key=lambda x: …` with fields of `x`, for `min`, `max` or `sorted` of one list",
            )
        outer = context.fields_of
        context.fields_of = key.args.args[0].arg
        try:
            by = self.expressions.of(key.body)
        finally:
            context.fields_of = outer
        argument = ast.Argument(ast.Name("by", context.span(key)), by, context.span(key))
        function = ast.Attribute(
            self.expressions.of(node.args[0]), ast.Name(method, context.span(node.func)), span
        )
        return ast.Call(function, (argument,), span)

    def _range(self, node: python.Call, span: Span) -> ast.Expression:
        if not 1 <= len(node.args) <= 2 or node.keywords:
            raise self.context.refuse(
                "E0502",
                "a range has a start and a stop here",
                node,
                label="not translated",
                hint="go over `range(a, b)` and compute with its numbers",
            )
        stop = self.expressions.of(node.args[-1])
        start = self.expressions.of(node.args[0]) if len(node.args) == 2 else ast.Number(0, span)
        return ast.Range(start, stop, False, span, span)

    def _matches(self, node: python.Call, called: object, span: Span) -> ast.Expression:
        if called is not re.fullmatch or len(node.args) != 2 or node.keywords:
            raise self.context.refuse(
                "E0502",
                "a search has no counterpart in the language",
                node,
                label="not translated",
                hint="write `re.fullmatch(pattern, text)`: a pattern says what the whole text is",
            )
        pattern = self.expressions.holes.constant_text(node.args[0], "a pattern")
        regex = ast.Regex(pattern, self.context.span(node.args[0]))
        return ast.Binary("matches", self.expressions.of(node.args[1]), regex, span)

    def _method_or_unknown(self, node: python.Call, span: Span) -> ast.Expression:
        """A method of a value; a name that is not known is left to the checker."""
        if isinstance(node.func, python.Attribute):
            function = self.expressions.method(node.func)
            name = METHODS.get(function.name.text, function.name.text)
            function = ast.Attribute(function.value, ast.Name(name, function.name.span), function.span)
            arguments = self.arguments(self._plain_join(node))
            return ast.Call(function, arguments, span)
        if isinstance(node.func, python.Name):
            if node.func.id in self.context.local:
                raise self.context.refuse(
                    "E0503",
                    f"`{node.func.id}` is a value and cannot be called",
                    node,
                    label="a call",
                    hint="functions are no values in the language: call one of the module by its name",
                )
            return ast.Call(ast.Reference(node.func.id, span), self.arguments(node), span)
        raise self.context.refuse("E0503", "this cannot be called", node.func, label="no function")

    def _plain_join(self, node: python.Call) -> python.Call:
        """A call whose generators are lists."""
        made = [
            python.copy_location(python.ListComp(each.elt, each.generators), each)
            if isinstance(each, python.GeneratorExp)
            else each
            for each in node.args
        ]
        return python.copy_location(python.Call(node.func, made, node.keywords), node)

    def _made(self, node: python.Call, cls: type, span: Span) -> ast.Expression:
        """An object of a class: a record, or a text that stands for one."""
        context = self.context
        if cls in INSTEAD or cls in (datetime.date, datetime.datetime, datetime.time, uuid.UUID):
            raise self.foreign(node.func, cls)
        try:
            name = context.declared.record(cls, context.annotations, span)
        except NoType as fault:
            raise context.refuse("E0506", fault.what, node, label="no type", hint=fault.hint) from None
        if name is None:
            raise self.foreign(node.func, cls)
        return ast.Call(ast.Reference(name, context.span(node.func)), self.arguments(node), span)

    def foreign(self, function: python.expr, called: object, fault: NoType | None = None) -> Untranslatable:
        """The error of a call that leaves the language; `fault` is of the annotations."""
        name = python.unparse(function)
        hint = INSTEAD.get(called, "") if _hashable(called) else ""
        around = (
            f"write a function with annotations around `{name}`, or call it before and pass what it gives"
        )
        return self.context.refuse(
            "E0503",
            f"`{name}` is a function of Python"
            + (" and is not translated" if fault is None else ", and not all of it has a type"),
            function,
            label="cannot be called from the language" if fault is None else fault.what,
            hint=hint or (fault.hint if fault is not None else "") or around,
        )


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
