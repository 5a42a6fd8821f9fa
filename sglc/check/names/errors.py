"""Errors by name, and their fields."""

from __future__ import annotations

from itertools import chain

from sglc.check.core.context import WORDS, ErrorFields, ModuleContext, ProgramState
from sglc.check.core.result import DefaultArgument, ExpressionType
from sglc.check.names.builtins import ERRORS, UNFINISHED
from sglc.check.types.kinds import FLOAT, INT, STR
from sglc.syntax.tree import ast
from sglc.types.type import Optional

OF_BACKENDS: dict[str, ExpressionType] = {
    "cause": STR,
    "endpoint": STR,
    "attempts": INT,
    "retry_after": Optional(FLOAT),
}
"""What a caught `Backend` tells besides its message; `sglc.runtime.errors.BACKEND` says what it means."""


def error_named(module: ModuleContext, name: ast.Name) -> str | None:
    """Qualified name of an error; reported and None if there is none."""
    if name.text in ERRORS:
        return name.text
    entity = module.names.get(name.text)
    if entity is not None and entity.kind == "error":
        entity.used = True
        return entity.name
    if entity is not None and entity.kind == "broken":
        return None
    known = chain(ERRORS, (n for n, e in module.names.items() if e.kind == "error"))
    close = module.nearest(name.text, known)
    module.report(
        "E0207",
        f"there is no error `{name.text}`",
        name.span,
        label="unknown error" if entity is None else f"is {WORDS[entity.kind]}",
        hint=f"did you mean `{close}`?"
        if close
        else "leave the name out: `except:` catches every error"
        if name.text in ("Exception", "BaseException", "Error")
        else f"declare it at the left margin: `error {name.text}`, with its fields in parentheses",
    )
    return None


def error_fields(program: ProgramState, name: str) -> ErrorFields:
    """Fields of an error by its qualified name; built-in ones have a message."""
    if name in ERRORS:
        return ErrorFields(name, (("message", STR, DefaultArgument("")),))
    known = program.errors.get(name)
    if known is None:
        known = ErrorFields(name, ())
    return known


def caught_parts(program: ProgramState, name: str) -> dict[str, ExpressionType]:
    """What can be read of an error that was caught, by its qualified name: its fields, and of built-in errors
    what the machine knows of them."""
    found = {field: type for field, type, _ in error_fields(program, name).fields}
    if name in UNFINISHED:
        found["partial"] = STR
    return found | (OF_BACKENDS if name == "Backend" else {})
