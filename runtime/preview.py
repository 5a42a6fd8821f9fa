"""The conversations of a call, without a model: what each hole would be asked.

The machine runs as ever, with a table of steps in which values may be unknown (`runtime.vm.preview`). Holes
have the values that are given for them, random ones, or none: then their places are marked, and what depends
on them is followed as far as it is certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sglc.bytecode.code import Program
from sglc.runtime.decoding.conversations.conversation import Chat, PlainChat
from sglc.runtime.decoding.conversations.encoder import Encoder
from sglc.runtime.decoding.conversations.said import Said, resume
from sglc.runtime.decoding.requests import Constraints
from sglc.runtime.errors import SglError
from sglc.runtime.mask.vocabulary.vocabulary import BYTES
from sglc.runtime.session import Session
from sglc.runtime.tokenizer import Tokenizer
from sglc.runtime.vm.machine import Machine
from sglc.runtime.vm.preview.record import Record, RecordedConversation
from sglc.runtime.vm.preview.steps import preview_steps
from sglc.runtime.vm.state.models import RunModel
from sglc.runtime.vm.state.run import CallOutcome, Limits, Prepared, Run, Written
from sglc.types.values import Value


@dataclass(frozen=True, slots=True)
class Preview:
    """The conversations of a call in which anything is written, in the order in which they began."""

    conversations: tuple[RecordedConversation, ...]
    error: SglError | None
    """What ended the call, if it failed."""
    unused: tuple[str, ...]
    """Holes and functions of Python with a value that none of them asked for."""


async def preview(
    program: Program,
    function: str,
    arguments: Mapping[str, object],
    *,
    tokenizer: Tokenizer | None = None,
    fills: Mapping[str, Sequence[Value | Written | CallOutcome]] | None = None,
    fuzz: bool = False,
    seed: int = 0,
    steps: int | None = None,
    said: Said | None = None,
) -> Preview:
    """Call a function without a model.

    With a tokenizer conversations have its chat template and its tokens, else roles by name. `fills` are
    values of holes by their names (`function.hole`), and of functions of Python by theirs, in the order in
    which they are asked, each once; a name with `@branch` behind it is meant in one branch of forks. `fuzz`
    fills all others with random legal values, by `seed`. Behind so many `steps` it ends with an error. The
    function's conversation begins with what was `said`. Raises ArgumentError where the call cannot begin.
    """
    session = Session(program, limits=None if steps is None else Limits(steps))
    code = session.function(function)
    bound = session.bind(code, arguments)
    encoder = Encoder(tokenizer) if tokenizer is not None else None
    chat: Chat | None = PlainChat() if tokenizer is None else tokenizer.chat
    record = Record()
    constraints = Constraints()
    run = Run(
        Prepared(program, constraints, {}),
        model=RunModel(BYTES, constraints, encoder, chat),
        limits=session.limits,
        seed=seed,
        handlers=preview_steps(record),
    )
    run.fuzzing = fuzz
    for hole, values in (fills or {}).items():
        for value in values:
            run.mock(hole, value, always=False)
    machine = Machine(run)
    frame = machine.push(code, bound, None, ())
    error: SglError | None = None
    try:
        if said is not None and frame.conversation is not None:
            resume(frame.conversation, said)
        record.enter(machine)
        await machine.execute()
    except SglError as raised:
        error = raised
    if machine.last is not None:
        machine.last.leave()
    written = [
        each for each in record.conversations if each.conversation.rendered() or each.asked or each.stopped
    ]
    return Preview(tuple(written), error, tuple(hole for hole, _ in run.mocks.unused()))
