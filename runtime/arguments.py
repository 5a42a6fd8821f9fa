"""Arguments of a call from outside: each becomes a checked value of its parameter's type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sglc.bytecode.code import Code, Program
from sglc.bytecode.signatures import signature
from sglc.diagnostics.suggest import nearest
from sglc.runtime.errors import ArgumentError
from sglc.types.language.membership import MemberError, is_member
from sglc.types.notation.sgl import show_type
from sglc.types.text.plain_json import from_json
from sglc.types.values import TOO_DEEP, Value, is_too_deep
from sglc.values.coerce import coerce
from sglc.values.kinds import is_value


def bound_arguments(program: Program, code: Code, arguments: Mapping[str, object]) -> list[object]:
    """The arguments in order, defaults filled in, each a checked value of its parameter's type.

    Arguments are values of the language or what JSON gives. Raises ArgumentError.
    """
    names = [parameter.name for parameter in code.parameters]
    for name in arguments:
        if name not in names:
            near = nearest(name, names)
            raise ArgumentError(
                "E0714",
                f"`{code.name}` has no parameter `{name}`",
                reason=f"it is `{signature(program, code)}`",
                hint=f"did you mean `{near}`?" if near else f"leave `{name}` out",
            )
    found: list[object] = []
    for parameter in code.parameters:
        if parameter.name in arguments:
            given = arguments[parameter.name]
            found.append(_value(program, code, parameter.name, parameter.type, given))
        elif parameter.has_default:
            found.append(parameter.default)
        else:
            raise ArgumentError(
                "E0713",
                f"`{code.name}` needs the argument `{parameter.name}`",
                reason=f"it is `{signature(program, code)}`",
                hint=f"pass {parameter.name}=…",
            )
    return found


def _value(program: Program, code: Code, name: str, index: int, given: Any) -> Value:
    type, table = program.types[index], program.table
    try:
        if is_too_deep(given):
            raise MemberError("", TOO_DEEP)
        value = coerce(given, type, table)
        if is_value(value) and is_member(value, type, table):
            return value
        return from_json(given, type, table)
    except MemberError as fault:
        raise ArgumentError(
            "E0715",
            f"argument `{name}` of `{code.name}` is outside of its type",
            reason=str(fault),
            hint=f"`{name}` is `{show_type(type)}`",
        ) from None
