"""Errors by name, and their fields."""

from __future__ import annotations

from itertools import chain

from sglc.check.core.context import WORDS, ErrorFields, ModuleContext, ProgramState
from sglc.check.core.result import DefaultArgument
from sglc.check.names.builtins import ERRORS
from sglc.check.types.kinds import STR
from sglc.syntax.tree import ast


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
