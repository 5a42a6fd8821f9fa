"""Building functions."""

from __future__ import annotations

from dataclasses import replace
from typing import cast, get_args

from sglc.immutable import value
from sglc.syntax.builders.context import Context
from sglc.syntax.builders.parts import Body, OpenType, Option, WrittenType, plain_text, present, settled
from sglc.syntax.lexer.keywords import HARD
from sglc.syntax.tree import ast
from sglc.syntax.tree.ast import Expression, Name

UNSAID_EFFECT: ast.Effect = "read"
"""What an `extern py` does that does not say: most helpers look something up, and a result of the world is
not trusted."""

Parameters = tuple[ast.Parameter, ...]
Models = ast.ModelClause
"""`using big`."""
Result = tuple[ast.TypeExpression | None, Models | None]
"""The type of a result and the models that are named behind it."""


@value
class Clause:
    """`within n tok` with its count or `raises A, B` with its errors, and the models named behind it."""

    word: str
    start: int
    end: int
    models: Models | None
    count: Expression | None = None
    errors: tuple[Name, ...] = ()


Rest = Result | Clause | Body | None
"""Behind the parameters of a function: its result or None, its clauses, its body."""
Types = tuple[Name, ...] | None
"""Type parameters, where there are any."""


def type_parameters(context: Context, start: int, end: int, *names: Name) -> tuple[Name, ...]:
    """`[NAME, …]` behind the name of a function."""
    return names


def parameters(
    context: Context, start: int, end: int, *parameters: ast.Parameter | None
) -> tuple[ast.Parameter, ...]:
    """`(PARAMETER, …)`."""
    return present(parameters)


def parameter(
    context: Context,
    start: int,
    end: int,
    name: Name,
    type: WrittenType,
    default: Expression | None,
) -> ast.Parameter:
    """`NAME: TYPE = DEFAULT`; a word of the language is reported and taken for a name."""
    if name.text in HARD:
        context.reporter.error(
            "E0136",
            f"`{name.text}` is a word of the language",
            name.span.start,
            name.span.end,
            label="a name is due here",
            hint=f"choose another name, such as `{name.text}_`",
        )
    return ast.Parameter(name, False, settled(context, type), default, context.span(start, end))


def untrusted_parameter(
    context: Context, start: int, end: int, name: Name, type: WrittenType, default: Expression | None
) -> ast.Parameter:
    """`NAME: untrusted TYPE = DEFAULT`: a value that comes from outside."""
    return replace(parameter(context, start, end, name, type, default), untrusted=True)


def result(context: Context, start: int, end: int, type: WrittenType) -> Result:
    """The result type; `using big` after it belongs to the function."""
    if not isinstance(type, OpenType):
        return type, None
    models: Models | None = None
    rest: list[Option] = []
    for option in type.options:
        if isinstance(option, ast.HoleOption) and isinstance(option.value, ast.ModelClause):
            models = option.value
        else:
            rest.append(option)
    return settled(context, OpenType(type.type, tuple(rest))), models


def using_result(context: Context, start: int, end: int, models: Models) -> Result:
    """`using MODEL` where a function has no written result."""
    return None, models


def within(context: Context, start: int, end: int, count: Expression, models: Models | None) -> Clause:
    """`within COUNT tok`: the budget of a function."""
    return Clause("within", start, end, models, count=count)


def raises(context: Context, start: int, end: int, *parts: Name | Models | None) -> Clause:
    """`raises NAME, …`, perhaps with `using` behind it."""
    models = cast("Models | None", parts[-1])
    return Clause("raises", start, end, models, errors=cast("tuple[Name, ...]", parts[:-1]))


def function(
    context: Context, start: int, end: int, name: Name, types: Types, parameters: Parameters, *rest: Rest
) -> ast.FunctionDeclaration:
    """`fn NAME(…) -> TYPE` with its block."""
    return _function(context, "fn", start, end, name, types or (), parameters, rest)


def pure_function(
    context: Context, start: int, end: int, name: Name, types: Types, parameters: Parameters, *rest: Rest
) -> ast.FunctionDeclaration:
    """`pure fn NAME(…) -> TYPE` with its block."""
    return _function(context, "pure", start, end, name, types or (), parameters, rest)


def part_function(
    context: Context, start: int, end: int, name: Name, types: Types, parameters: Parameters, *rest: Rest
) -> ast.FunctionDeclaration:
    """`part NAME(…)` with its block."""
    return _function(context, "part", start, end, name, types or (), parameters, rest)


def aside_function(
    context: Context, start: int, end: int, name: Name, types: Types, parameters: Parameters, *rest: Rest
) -> ast.FunctionDeclaration:
    """`aside NAME(…)` with its block."""
    return _function(context, "aside", start, end, name, types or (), parameters, rest)


def _function(
    context: Context,
    kind: ast.FunctionKind,
    start: int,
    end: int,
    name: Name,
    types: tuple[Name, ...],
    parameters: Parameters,
    rest: tuple[Rest, ...],
) -> ast.FunctionDeclaration:
    result, using = cast("Result | None", rest[0]) or (None, None)
    body = cast("Body", rest[-1])
    doc = context.docs.take(start, end, block=True)
    count: Expression | None = None
    errors: tuple[Name, ...] = ()
    given: set[str] = set()
    for clause in cast("tuple[Clause, ...]", rest[1:-1]):
        if clause.word in given:
            context.reporter.error(
                "E0135",
                f"`{clause.word}` is given twice",
                clause.start,
                clause.end,
                label="the second one",
            )
        given.add(clause.word)
        if clause.word == "within":
            count = clause.count
        else:
            errors = clause.errors
        using = clause.models or using
    return ast.FunctionDeclaration(
        kind,
        name,
        types,
        parameters,
        result,
        count,
        using,
        errors,
        body,
        False,
        doc,
        context.span(start, end),
    )


@value
class Promise:
    """What an `extern py` says of its function: `effects` with its name and key, `timeout`, or `raises`."""

    word: str
    start: int
    end: int
    names: tuple[Name, ...] = ()
    limit: tuple[ast.Number, Name] | None = None


def effects(context: Context, start: int, end: int, effect: Name, key: Name | None) -> Promise:
    """`effects NAME key NAME`."""
    if effect.text not in get_args(ast.Effect):
        context.reporter.error(
            "E0115",
            f"there is no effect `{effect.text}`",
            effect.span.start,
            effect.span.end,
            hint="effects are pure, model, read or write",
        )
    return Promise("effects", start, end, (effect,) if key is None else (effect, key))


def timeout(context: Context, start: int, end: int, count: ast.Number, unit: Name) -> Promise:
    """`timeout NUMBER UNIT`."""
    return Promise("timeout", start, end, limit=(count, unit))


def extern_raises(context: Context, start: int, end: int, *errors: Name) -> Promise:
    """`raises NAME, …`."""
    return Promise("raises", start, end, errors)


def extern(
    context: Context,
    start: int,
    end: int,
    target: ast.String,
    name: Name,
    parameters: tuple[ast.Parameter, ...],
    type: WrittenType | None,
    *promises: Promise,
) -> ast.ExternDeclaration:
    """`extern py "TARGET" fn NAME(…) -> TYPE` with what it promises."""
    doc = context.docs.take(start, end)
    said: dict[str, Promise] = {}
    for promise in promises:
        if promise.word in said:
            context.reporter.error(
                "E0135",
                f"`{promise.word}` is given twice",
                promise.start,
                promise.end,
                label="the second one",
            )
        said[promise.word] = promise
    effect = said["effects"].names if "effects" in said else ()
    known = bool(effect) and effect[0].text in get_args(ast.Effect)
    limit = said.get("timeout")
    errors = said.get("raises")
    return ast.ExternDeclaration(
        plain_text(context, target, "a target"),
        target.span,
        name,
        parameters,
        settled(context, type),
        cast("ast.Effect", effect[0].text) if known else UNSAID_EFFECT,
        effect[1] if len(effect) > 1 else None,
        None if limit is None else limit.limit,
        () if errors is None else errors.names,
        False,
        doc,
        context.span(start, end),
    )
