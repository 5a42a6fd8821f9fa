"""W0250: holes of which the tokens of a model cannot write what the type says."""

from __future__ import annotations

from sglc.bytecode.code import Place, Program
from sglc.bytecode.opcodes import BY_NAME
from sglc.commands.building.masks import value_language, why_left_to_the_run
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.runtime.bounds.dead_ends import DeadEnd, dead_end, lacking
from sglc.runtime.errors import SglError, span_of
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.types.json_text import json_text

CODE = "W0250"
_GEN = BY_NAME["GEN"].number
SHOWN = 6
"""Most characters or bytes that a message lists."""


def dead_ends(program: Program, vocabulary: Vocabulary, model: str) -> list[Diagnostic]:
    """The findings. Holes that read values of the run, or another model than `model`, are passed over."""
    if not lacking(vocabulary):
        return []
    found = []
    for index, hole in enumerate(program.holes):
        if hole.type is None or hole.models is not None or why_left_to_the_run(program, index):
            continue
        try:
            end = dead_end(value_language(program, index, hole.type), vocabulary, hole.stops)
        except SglError:
            continue  # it has no value, which is told where it is declared
        if end is not None:
            found.append(_told(program, index, end, vocabulary, model))
    return found


def _told(program: Program, index: int, end: DeadEnd, vocabulary: Vocabulary, model: str) -> Diagnostic:
    name = program.holes[index].name
    text = end.text.decode("utf-8", "replace")
    lost = lacking(vocabulary)
    if end.whole:
        message = f"the tokens of {model} cannot write every value of hole `{name}`"
        letters = dict.fromkeys(letter for letter in text if set(letter.encode()) & lost)
        why = ", ".join(f"`{letter}`" for letter in list(letters)[:SHOWN])
        reason = f"they write {why} in no way" if why else "no tokens together are this value"
        hint = "the model never gives this value: write it with other characters, or use another model"
    else:
        message = f"the tokens of {model} can come to a dead end in hole `{name}`"
        some = sorted(lost)
        shown = ", ".join(chr(b) if 0x20 < b < 0x7F else f"{b:#04x}" for b in some[:SHOWN])
        more = ", …" if len(some) > SHOWN else ""
        reason = f"no tokens lead on from here to an end; bytes without a token of their own: {shown}{more}"
        hint = "a run that comes there fails with `Unsupported`: narrow the type, or use another model"
    return Diagnostic(
        CODE,
        message,
        span_of(program, _place(program, index)),
        label="filled by these tokens",
        reason=reason,
        witness=json_text(text),
        hint=hint,
        severity="warning",
    )


def _place(program: Program, index: int) -> Place | None:
    """Where a hole is filled, the first place of several."""
    for code in program.codes:
        for at, (op, a, _) in enumerate(code.instructions):
            if op == _GEN and a == index:
                return code.places[at]
    return None
