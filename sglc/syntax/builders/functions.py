"""Building functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from sglc.syntax.builders.context import Context
from sglc.syntax.builders.parts import Body, OpenType, Option, WrittenType, plain_text, present, settled
from sglc.syntax.lexer.keywords import HARD
from sglc.syntax.tree import ast
from sglc.syntax.tree.ast import Expression, Name

Parameters = tuple[ast.Parameter, ...]
Models = ast.ModelClause
"""`using big`."""
Result = tuple[ast.TypeExpression | None, Models | None]
"""The type of a result and the models that are named behind it."""


@dataclass(frozen=True, slots=True)
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
    context: Context, start: int, end: int, name: Name, type: WrittenType, default: Expression | None
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
    return ast.Parameter(name, settled(context, type), default, context.span(start, end))


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


def extern(
    context: Context,
    start: int,
    end: int,
    target: ast.String,
    name: Name,
    parameters: tuple[ast.Parameter, ...],
    type: WrittenType | None,
    effects: Name | None,
) -> ast.ExternDeclaration:
    """`extern py "TARGET" fn NAME(…) -> TYPE`."""
    doc = context.docs.take(start, end)
    word = "write" if effects is None else effects.text
    if effects is not None and word not in ("pure", "model", "read", "write"):
        context.reporter.error(
            "E0115",
            f"there is no effect `{word}`",
            effects.span.start,
            effects.span.end,
            hint="effects are pure, model, read or write",
        )
    return ast.ExternDeclaration(
        plain_text(context, target, "a target"),
        name,
        parameters,
        settled(context, type),
        word,
        False,
        doc,
        context.span(start, end),
    )
