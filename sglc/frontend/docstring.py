"""Functions whose docstring has the statements: `@sglc.fn`."""

from __future__ import annotations

import ast as python
import builtins
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace

from sglc.diagnostics.diagnostic import Label
from sglc.frontend.body.context import Context
from sglc.frontend.core.outside import MISSING
from sglc.frontend.core.written import written
from sglc.frontend.types.constraints import NoType
from sglc.source import Source, Span
from sglc.syntax.parse import parse
from sglc.syntax.tree import ast
from sglc.syntax.tree.spans import moved, walk

_HEADER = "fn f():\n"
_INDENT = "    "


def read_docstring(context: Context) -> tuple[ast.Statement, ...]:
    """The statements in the docstring of a function, at their places in the file. Raises Untranslatable."""
    node = context.node
    first = node.body[0]
    if not (
        isinstance(first, python.Expr)
        and isinstance(first.value, python.Constant)
        and isinstance(first.value.value, str)
        and first.value.value.strip()
    ):
        raise context.refuse(
            "E0511",
            f"`{node.name}` has no docstring, which holds its statements",
            first,
            label="no docstring",
            hint='write `"""user: | …` behind its first line, or use `@sglc.sgl_function` for Python '
            "statements",
        )
    for other in node.body[1:]:
        ellipsis = isinstance(other, python.Expr) and isinstance(other.value, python.Constant)
        if not isinstance(other, python.Pass) and not ellipsis:
            raise context.refuse(
                "E0511",
                "statements behind the docstring do not run",
                other,
                label="not part of the program",
                hint="write them into the docstring, or use `@sglc.sgl_function`",
            )
    text, places = _program(context, first.value)
    source = Source(context.file.source.name, text)
    tree, found = parse(source)

    def place(span: Span) -> Span:
        start, end = places[min(span.start, len(places) - 1)], places[min(span.end, len(places) - 1)]
        return Span(context.file.source, start, max(start, end))

    for diagnostic in found:
        span = None if diagnostic.span is None else place(diagnostic.span)
        secondary = tuple(Label(place(label.span), label.text) for label in diagnostic.secondary)
        context.findings.diagnostics.append(
            replace(diagnostic, span=span, secondary=secondary, edits=(), offered=())
        )
    body: tuple[ast.Statement, ...] = ()
    for declaration in tree.declarations:
        if isinstance(declaration, ast.FunctionDeclaration) and not body:
            body = moved(declaration.body, place)
    _resolve(context, body)
    return body


def _program(context: Context, node: python.Constant) -> tuple[str, list[int]]:
    """The docstring as the body of a function, and for each character of it the offset in the file."""
    whole = context.span(node)
    known = context.file.characters(node)
    value = str(node.value)
    places = known if known is not None else [whole.start] * (len(value) + 1)
    lines = value.split("\n")
    margin = _margin(lines[1:])
    text, at = _HEADER, [places[0]] * len(_HEADER)
    offset = 0
    for number, line in enumerate(lines):
        cut = len(line) - len(line.lstrip(" ")) if number == 0 else min(margin, len(line))
        kept = line[cut:] if line.strip() else ""
        start = offset + cut
        text += _INDENT + kept + "\n"
        at += [places[min(start, len(value))]] * len(_INDENT)
        at += [places[min(start + index, len(value))] for index in range(len(kept) + 1)]
        offset += len(line) + 1
    return text, [*at, places[-1]]


def _margin(lines: list[str]) -> int:
    """How far the lines behind the first are indented in common."""
    filled = [line for line in lines if line.strip()]
    block = "\n".join(filled)
    return 0 if not filled else len(filled[0]) - len(textwrap.dedent(block).split("\n")[0])


# -- names ---------------------------------------------------------------------------------------------


def _resolve(context: Context, body: tuple[ast.Statement, ...]) -> None:
    """Declare what the statements name of the module: types, constants, errors, functions."""
    bound = {parameter.arg for parameter in context.node.args.args}
    bound |= set(_bound(body))
    parts = {
        node.call.function.name
        for node in walk(body)
        if isinstance(node, ast.Part) and isinstance(node.call.function, ast.Reference)
    }
    for name, span in _named(body):
        if name not in bound:
            bound.add(name)
            _declare(context, name, span, name in parts)


def _declare(context: Context, name: str, span: Span, part: bool) -> None:
    value = context.outside.look_up(name)
    if value is MISSING:
        context.declared.use(name, span)
        return
    if getattr(builtins, name, MISSING) is value:
        return
    if inspect.isfunction(value):
        _declare_called(context, name, value, span)
        return
    try:
        made = _declared(context, name, value, span, part)
    except NoType as fault:
        context.findings.error(
            "E0504",
            f"`{name}` of the module is nothing of the language",
            span,
            label=fault.what,
            hint=fault.hint or "pass it as an argument",
        )
        return
    _has_name(context, made, name, span)


def _declare_called(context: Context, name: str, function: Callable[..., object], span: Span) -> None:
    """Declare a function of Python."""
    try:
        made = context.called.named(function, span)
    except NoType as fault:
        context.findings.error(
            "E0503",
            f"`{name}` is a function of Python, and not all of it has a type",
            span,
            label=fault.what,
            hint=fault.hint or f"write a function with annotations around `{name}`",
        )
        return
    _has_name(context, made, name, span)


def _has_name(context: Context, made: str | None, name: str, span: Span) -> None:
    """Find fault with what was declared under another name than the docstring calls it by."""
    if made is not None and made != name:
        context.findings.error(
            "E0504",
            f"something else of the program is called `{name}`",
            span,
            label="not this one",
            hint="give one of the two another name",
        )


def _declared(context: Context, name: str, value: object, span: Span, part: bool) -> str | None:
    """The name that something of the module is declared by; None for what the checker tells more about."""
    if written(value) is not None:
        return context.function_named(value, part)
    if isinstance(value, type) and issubclass(value, BaseException):
        return context.declared.error(value, context.annotations, span)
    if isinstance(value, type) or hasattr(value, "__origin__") or hasattr(value, "__value__"):
        found = context.annotations.of(value, span)
        known = context.declared.name_of(value)
        return known or context.declared.alias(value, name, found, span)
    if callable(value) or type(value).__name__ == "module":
        return None
    context.declared.declare_classes(value, context.annotations, span)
    return context.declared.constant(value, name, span)


def _bound(body: tuple[ast.Statement, ...]) -> Iterator[str]:
    """Names that the statements bind."""
    for node in walk(body):
        match node:
            case ast.Let(name=name) | ast.Hole(name=name):
                yield name.text
            case ast.For(variable=name) | ast.Fork(variable=name) | ast.Comprehension(variable=name):
                yield name.text
            case ast.Except(binding=ast.Name(text=text)) | ast.Part(binding=ast.Name(text=text)):
                yield text


def _named(body: tuple[ast.Statement, ...]) -> Iterator[tuple[str, Span]]:
    """Names that the statements use, each with its place."""
    for node in walk(body):
        match node:
            case ast.Reference(name=name, span=span) | ast.TypeName(name=name, span=span):
                yield name, span
            case ast.ConstructorPattern(name=name) | ast.Raise(error=ast.Name() as name):
                yield name.text, name.span
            case ast.Except(errors=errors):
                yield from ((error.text, error.span) for error in errors)
