"""Building statements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from sglc.syntax.builders.context import Context
from sglc.syntax.builders.parts import (
    Body,
    Modifiers,
    Option,
    WrittenType,
    choice_options,
    plain_text,
    present,
    settled,
    split_by,
)
from sglc.syntax.tree import ast
from sglc.syntax.tree.ast import Expression, Name

Branch = tuple[Expression, Body]
"""A condition and what is done where it holds."""


def broken(context: Context, start: int, end: int, *parts: object) -> None:
    """A faulty line makes no node."""


def body(
    context: Context, start: int, end: int, *statements: ast.Statement | list[ast.PipeLine] | None
) -> Body:
    """The statements of a block: `text` blocks become their pipe lines, broken lines are gone."""
    flat: list[ast.Statement] = []
    for statement in statements:
        if isinstance(statement, list):
            flat += statement
        elif statement is not None:
            flat.append(statement)
    return tuple(flat)


block = body


# -- simple statements -----------------------------------------------------------------------------


def include(context: Context, start: int, end: int, path: ast.String) -> ast.Include:
    """`include "PATH"`: the text of a file."""
    return ast.Include(plain_text(context, path, "a path"), context.span(start, end))


def let(
    context: Context, start: int, end: int, name: Name, type: WrittenType | None, value: Expression
) -> ast.Let:
    """`let NAME: TYPE = VALUE`."""
    return ast.Let(name, False, settled(context, type), value, context.span(start, end))


def var(
    context: Context, start: int, end: int, name: Name, type: WrittenType | None, value: Expression
) -> ast.Let:
    """`var NAME: TYPE = VALUE`: a variable that may be assigned again."""
    return ast.Let(name, True, settled(context, type), value, context.span(start, end))


def let_part(context: Context, start: int, end: int, name: Name, call: Expression) -> ast.Part:
    """`let NAME = part CALL`."""
    return ast.Part("part", _called(context, call, "part"), name, context.span(start, end))


def let_aside(context: Context, start: int, end: int, name: Name, call: Expression) -> ast.Part:
    """`let NAME = aside CALL`."""
    return ast.Part("aside", _called(context, call, "aside"), name, context.span(start, end))


def part(context: Context, start: int, end: int, call: Expression) -> ast.Part:
    """`part CALL`: the text of the part, in the message of its caller."""
    return ast.Part("part", _called(context, call, "part"), None, context.span(start, end))


def aside(context: Context, start: int, end: int, call: Expression) -> ast.Part:
    """`aside CALL`."""
    return ast.Part("aside", _called(context, call, "aside"), None, context.span(start, end))


def _called(context: Context, node: Expression, word: str) -> ast.Call:
    """A call after `part`, `fuzz` and their kin."""
    if isinstance(node, ast.Call):
        return node
    context.reporter.error(
        "E0127",
        f"`{word}` needs a call",
        node.span.start,
        node.span.end,
        label="not a call",
        hint=f"write `{word} {node.span.text}(…)`",
    )
    return ast.Call(node, (), node.span)


def assign(context: Context, start: int, end: int, target: Expression, value: Expression) -> ast.Assign:
    """`TARGET = VALUE`."""
    return ast.Assign(_target(context, target), "=", value, context.span(start, end))


def augment(
    context: Context, start: int, end: int, target: Expression, operator: str, value: Expression
) -> ast.Assign:
    """`TARGET += VALUE` and its like."""
    return ast.Assign(_target(context, target), operator, value, context.span(start, end))


def _target(context: Context, target: Expression) -> Expression:
    if not isinstance(target, ast.Reference | ast.Attribute | ast.Index):
        context.reporter.error(
            "E0128",
            "this cannot be assigned to",
            target.span.start,
            target.span.end,
            label="a variable, a field or an element is needed",
            hint="compare with `==`" if isinstance(target, ast.Call | ast.Number | ast.String) else "",
        )
    return target


def evaluate(context: Context, start: int, end: int, value: Expression) -> ast.Evaluate:
    """An expression as a statement."""
    return ast.Evaluate(value, context.span(start, end))


def return_nothing(context: Context, start: int, end: int) -> ast.Return:
    """`return` alone."""
    return ast.Return(None, context.span(start, end))


def return_value(context: Context, start: int, end: int, value: Expression) -> ast.Return:
    """`return VALUE`."""
    return ast.Return(value, context.span(start, end))


def break_(context: Context, start: int, end: int) -> ast.Break:
    """`break`."""
    return ast.Break(context.span(start, end))


def continue_(context: Context, start: int, end: int) -> ast.Continue:
    """`continue`."""
    return ast.Continue(context.span(start, end))


def raise_(
    context: Context, start: int, end: int, error: Name | None, *arguments: ast.Argument | None
) -> ast.Raise:
    """`raise ERROR(ARGUMENTS)`; without an error the one that is handled is raised again."""
    return ast.Raise(error, present(arguments), context.span(start, end))


def yield_(context: Context, start: int, end: int, value: Expression) -> ast.Yield:
    """`yield VALUE`."""
    return ast.Yield(value, context.span(start, end))


def adopt(context: Context, start: int, end: int, value: Expression) -> ast.Adopt:
    """`adopt BRANCH`."""
    return ast.Adopt(value, context.span(start, end))


def think(context: Context, start: int, end: int, *options: Option | ast.Refinement | None) -> ast.Think:
    """`think OPTIONS`: a hole of several lines; without an `until` it ends at a blank line."""
    span = context.span(start, end)
    given = _options(context, options)
    if not any(option.kind == "until" for option in given):
        given = (*given, ast.HoleOption("until", ast.String(("\n\n",), span), span))
    return ast.Think(ast.Gen(ast.TypeLines(span), given, span), span)


# -- tests -----------------------------------------------------------------------------------------


def expect(context: Context, start: int, end: int, condition: Expression) -> ast.Expect:
    """`expect CONDITION`, in a test."""
    return ast.Expect(condition, context.span(start, end))


def expect_raises(context: Context, start: int, end: int, error: Name, call: Expression) -> ast.ExpectRaises:
    """`expect raises ERROR: CALL`, in a test."""
    return ast.ExpectRaises(error, call, context.span(start, end))


def mock(context: Context, start: int, end: int, function: Name, hole: Name, value: Expression) -> ast.Mock:
    """`mock FUNCTION.HOLE = VALUE`: the hole's next value, in a test."""
    return ast.Mock(function, hole, value, False, context.span(start, end))


def mock_always(
    context: Context, start: int, end: int, function: Name, hole: Name, value: Expression
) -> ast.Mock:
    """`mock FUNCTION.HOLE = VALUE always`: each value of the hole, in a test."""
    return ast.Mock(function, hole, value, True, context.span(start, end))


def mock_extern(context: Context, start: int, end: int, function: Name, value: Expression) -> ast.Mock:
    """`mock FUNCTION = VALUE`: what the next call of an `extern py` gives, in a test."""
    return ast.Mock(function, None, value, False, context.span(start, end))


def mock_extern_always(context: Context, start: int, end: int, function: Name, value: Expression) -> ast.Mock:
    """`mock FUNCTION = VALUE always`: what each call of an `extern py` gives, in a test."""
    return ast.Mock(function, None, value, True, context.span(start, end))


def fuzz(
    context: Context, start: int, end: int, call: Expression, times: Expression, body: Body = ()
) -> ast.Fuzz:
    """`fuzz CALL times COUNT`, perhaps with a block that is checked after each round."""
    return ast.Fuzz(_called(context, call, "fuzz"), times, body, context.span(start, end))


def golden(context: Context, start: int, end: int, call: Expression) -> ast.Golden:
    """`golden CALL`, in a test."""
    return ast.Golden(_called(context, call, "golden"), context.span(start, end))


def replay(context: Context, start: int, end: int, path: ast.String) -> ast.Replay:
    """`replay "PATH"`, in a test."""
    return ast.Replay(plain_text(context, path, "a path"), context.span(start, end))


# -- blocks ----------------------------------------------------------------------------------------


def if_(
    context: Context, start: int, end: int, condition: Expression, body: Body, *rest: Branch | Body | None
) -> ast.If:
    """`if CONDITION:` with its block, the `elif` and `else` behind it."""
    branches = cast("tuple[Branch, ...]", rest[:-1])
    otherwise = cast("Body | None", rest[-1])
    return ast.If(((condition, body), *branches), otherwise or (), context.span(start, end))


def elif_(context: Context, start: int, end: int, condition: Expression, body: Body) -> Branch:
    """`elif CONDITION:` with its block."""
    return condition, body


def otherwise(context: Context, start: int, end: int, body: Body) -> Body:
    """`else:` with its block."""
    return body


def for_(context: Context, start: int, end: int, variable: Name, iterable: Expression, body: Body) -> ast.For:
    """`for NAME in ITERABLE:` with its block."""
    return ast.For(variable, iterable, body, context.span(start, end))


def stream_for(
    context: Context, start: int, end: int, variable: Name, call: Expression, whole: Name | None, body: Body
) -> ast.StreamFor:
    """`for NAME in stream CALL as NAME:` with its block."""
    return ast.StreamFor(variable, _called(context, call, "stream"), whole, body, context.span(start, end))


def while_(
    context: Context, start: int, end: int, condition: Expression, limit: Expression | None, body: Body
) -> ast.While:
    """`while CONDITION limit COUNT:` with its block."""
    return ast.While(condition, limit, body, context.span(start, end))


def match(context: Context, start: int, end: int, subject: Expression, *cases: ast.Case | None) -> ast.Match:
    """`match SUBJECT:` with its cases; those that could not be read are left out."""
    return ast.Match(subject, tuple(case for case in cases if case is not None), context.span(start, end))


def case(
    context: Context, start: int, end: int, pattern: ast.Pattern, guard: Expression | None, body: Body
) -> ast.Case:
    """`case PATTERN if GUARD:` with its block."""
    return ast.Case(pattern, guard, body, context.span(start, end))


def try_(context: Context, start: int, end: int, body: Body, *handlers: ast.Except) -> ast.Try:
    """`try:` with its block and its handlers."""
    return ast.Try(body, handlers, context.span(start, end))


def except_(
    context: Context, start: int, end: int, errors: list[Name] | None, binding: Name | None, body: Body
) -> ast.Except:
    """`except ERROR, … as NAME:` with its block; without errors it handles all."""
    return ast.Except(tuple(errors or ()), binding, body, context.span(start, end))


def role(context: Context, start: int, end: int, word: Name, body: Body) -> ast.Role:
    """`system:`, `user:` or `assistant:` with its block."""
    return ast.Role(word.text, body, (), None, context.span(start, end), word.span)


def role_with_tools(
    context: Context, start: int, end: int, word: Name, *rest: Expression | Body | None
) -> ast.Role:
    """`assistant with tools [FUNCTION, …] limit COUNT calls:` with its block; reported for another role."""
    tools = cast("tuple[Expression | None, ...]", rest[:-2])
    limit, body = cast("tuple[Expression | None, Body]", rest[-2:])
    if word.text != "assistant":
        context.reporter.error(
            "E0122",
            f"`{word.text}` has no tools",
            word.span.start,
            word.span.end,
            hint="only `assistant` can call tools",
        )
    return ast.Role(word.text, body, present(tools), limit, context.span(start, end), word.span)


def forget(context: Context, start: int, end: int, body: Body) -> ast.Forget:
    """`forget:` with its block."""
    return ast.Forget(body, context.span(start, end))


def parallel(context: Context, start: int, end: int, body: Body) -> ast.Parallel:
    """`par:` with its block."""
    return ast.Parallel(body, context.span(start, end))


def using_block(context: Context, start: int, end: int, models: ast.ModelClause, body: Body) -> ast.Using:
    """`using MODEL:` with its block."""
    return ast.Using(models, body, context.span(start, end))


def fork(
    context: Context,
    start: int,
    end: int,
    variable: Name,
    iterable: Expression,
    options: Modifiers,
    skip: bool | None,
    body: Body,
) -> ast.Fork:
    """`fork NAME in ITERABLE OPTIONS or skip:` with its block."""
    kept = _options(context, options)
    return ast.Fork(variable, iterable, kept, skip is not None, body, context.span(start, end))


def _options(context: Context, parts: Iterable[Option | ast.Refinement | None]) -> tuple[ast.HoleOption, ...]:
    return split_by(context, choice_options(context, parts))[0]
