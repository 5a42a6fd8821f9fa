"""How a compiled function is called, as people read it."""

from __future__ import annotations

from sglc.bytecode.code import Code, Program
from sglc.types.notation.sgl import show_type


def signature(program: Program, code: Code) -> str:
    """`crew(theme: str) -> Crew`, for messages."""
    parameters = ", ".join(
        f"{parameter.name}: {show_type(program.types[parameter.type])}"
        + (" = …" if parameter.has_default else "")
        for parameter in code.parameters
    )
    result = "" if code.result is None else f" -> {show_type(program.types[code.result])}"
    return f"{code.name}({parameters}){result}"
