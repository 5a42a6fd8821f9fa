"""The text that every call of a function begins with, known before anything runs.

A session can tokenise it once per model and keep its cache: `Program` → `constant_prefix` → the pieces below,
to which the model's own template adds what it writes around messages.
"""

from __future__ import annotations

from dataclasses import dataclass

from sglc.bytecode.code import Code, Program
from sglc.bytecode.opcodes import BY_NAME

_ROLE, _END_ROLE, _LINE, _GLUE, _TEXT = (
    BY_NAME[name].number for name in ("ROLE", "END_ROLE", "LINE", "GLUE", "TEXT")
)


@dataclass(frozen=True, slots=True)
class PrefixMessage:
    """One message, or the text of a function without roles (`role` empty).

    `complete` is False for the last one if something not constant follows in it: its text may go on.
    """

    role: str
    text: str
    complete: bool


def constant_prefix(program: Program, code: Code) -> tuple[PrefixMessage, ...]:
    """The messages that a `fn` begins with on every call, up to the first thing that may differ.

    Empty for parts and fork bodies, which begin inside a message, and for pure functions.
    """
    if code.kind != "fn":
        return ()
    messages: list[PrefixMessage] = []
    role, text, begun, glued, is_open = "", "", False, False, False
    for op, a, _ in code.instructions:
        if op == _ROLE:
            role, text, begun, glued, is_open = program.names[a], "", False, False, True
        elif op == _END_ROLE:
            messages.append(PrefixMessage(role, text, True))
            role, text, is_open = "", "", False
        elif op == _LINE:
            text += "\n" if begun and not glued else ""
            begun, glued = True, False
        elif op == _GLUE:
            glued = True
        elif op == _TEXT:
            piece = program.constants[a]
            assert isinstance(piece, str)
            text, begun = text + piece, True
        else:
            break
    if is_open or text:
        messages.append(PrefixMessage(role, text, False))
    return tuple(messages)
