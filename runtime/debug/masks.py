"""What a mask allows at a stop, and what the model thought of it: tokens before and after masking."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sglc.kernels.bitmask import sampling as select
from sglc.runtime.debug.forcing import aside, given_options
from sglc.runtime.debug.stops import Stop
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.drawing import Drawing
from sglc.runtime.decoding.filling.local import LocalFiller
from sglc.runtime.decoding.hole_text import HoleText, only_value
from sglc.runtime.decoding.requests import HoleRequest, Steering
from sglc.runtime.decoding.room import Room
from sglc.runtime.decoding.writing import Ended, Writing
from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.errors import SglError
from sglc.runtime.vm.holes import holes
from sglc.runtime.vm.holes.models import asked
from sglc.runtime.vm.holes.options import Options
from sglc.runtime.vm.state.models import RunModel

SHOWN = 10
"""Tokens that are shown of each kind."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token with its probability: before masking in the whole distribution of the model, after masking
    among the tokens that are allowed. Both at temperature 1."""

    text: str
    before: float
    after: float | None
    """None where the mask forbids it."""


@dataclass(frozen=True, slots=True)
class MaskLook:
    """What may come next in a hole."""

    hole: str
    written: str
    """The value so far."""
    allowed: int
    size: int
    """Tokens of the vocabulary."""
    kept: float
    """The part of the probability that the mask leaves."""
    before: tuple[Candidate, ...]
    """The most probable tokens, legal or not."""
    after: tuple[Candidate, ...]
    """The most probable tokens that are allowed."""
    forced: str = ""
    """Text that no other could stand in place of, and that is written before the next token is drawn."""


async def mask_at(stop: Stop) -> MaskLook:
    """The mask at a token, or at the first token of a hole that is about to be filled.

    Raises SglError where there is none to be seen, with the reason.
    """
    passage, token = stop.passage, stop.token
    if passage is None or passage.index is None:
        raise SglError("Unsupported", "the run does not stand at a hole")
    if token is not None:
        logits = await token.logits()
        if logits.ndim != 1:
            raise SglError("Unsupported", "two models draw this hole together; see `alternatives`")
        written = passage.written if stop.search is None else stop.search.written
        return _look(passage.name, written, logits, token.legal, token.texts)
    if stop.search is not None:
        raise SglError(
            "Unsupported",
            "a search stands between tokens: each of its texts has a mask of its own",
            hint="go on to the next token",
        )
    if stop.reason not in ("hole", "back"):
        raise SglError("Unsupported", "the run stands neither before a hole nor at a token of one")
    return await _first(stop, passage.index)


async def _first(stop: Stop, index: int) -> MaskLook:
    """The mask at the first token that the model would draw. The run itself does not notice."""
    machine, frame = stop.strand.machine, aside(stop.frame)
    spec = machine.program.holes[index]
    if spec.mode == "select":
        raise SglError("Unsupported", "a `select` scores whole options; see `alternatives` behind it")
    if spec.models is not None and spec.models.teacher is not None:
        raise SglError("Unsupported", "two models draw this hole together; see `alternatives` behind it")
    if not machine.run.model.can_be_asked:
        raise SglError("Unsupported", "no model is asked here: a mock or `fuzz` fills the hole")
    given = given_options(frame)
    request, _, _ = holes.request_of(machine, frame, index, Options(spec, given))
    assert frame.conversation is not None
    conversation = frame.conversation.fork()
    try:
        who = asked(machine.run, conversation, spec.models)
        if not isinstance(who.filler, LocalFiller):
            name = who.model.name if who.model.name else "the model"
            raise SglError(
                "Unsupported",
                f"{name} is a model elsewhere: it tells neither tokens nor masks",
                hint="a model of this machine shows them, as smollm2",
            )
        seen = who.conversation
        assert isinstance(seen, Conversation)
        text = HoleText(seen, who.filler.vocabulary, who.filler.constraints, request)
        value = text.value()
        only = only_value(value)
        if only is not None:
            return MaskLook(
                spec.name, only.decode(), 0, who.filler.vocabulary.size, 1.0, (), (), only.decode()
            )
        text.begin(value, who.filler.context_length)
        room = Room(request.name, request.budget, text.price)
        room.open(who.filler.context_length - text.base)
        writing = Writing(text, room)
        while True:
            ended = writing.forced()
            if isinstance(ended, Ended):
                data = ended.data.decode("utf-8", "replace")
                return MaskLook(spec.name, data, 0, who.filler.vocabulary.size, 1.0, (), (), data)
            if not ended:
                break
        answer = _scripted(who.model, request)
        logits = await Drawing(writing, SamplingRequest(Sampling(), 0), answer).logits()
        sofar = text.written().decode("utf-8", "replace")
        return _look(spec.name, sofar, logits, writing.legal, who.filler.vocabulary.token_bytes)
    finally:
        conversation.close()


def _scripted(model: RunModel, request: HoleRequest) -> Steering | None:
    """What a scripted model is about to answer; it will answer it nevertheless."""
    if model.script is None:
        return None
    mark = model.script.mark()
    answer = model.script.answer(request.name, request.stops)
    model.script.restore(mark)
    return answer


def _look(
    hole: str, written: str, logits: np.ndarray, legal: NextTokens, texts: Sequence[bytes | None]
) -> MaskLook:
    whole = select.masked_log_sum_exp(logits, None)
    row = legal.row()
    kept = math.exp(min(0.0, select.masked_log_share(logits, row, 1.0)))
    legal_sum = select.masked_log_sum_exp(logits, row)

    def candidate(token: int, logit: float) -> Candidate:
        after = math.exp(logit - legal_sum) if legal.allows(token) else None
        return Candidate(token_text(texts, token), math.exp(logit - whole), after)

    def best(mask: np.ndarray | None) -> tuple[Candidate, ...]:
        ids, values = select.masked_top(logits, mask, SHOWN)
        pairs = zip(ids.tolist(), values.tolist(), strict=True)
        return tuple(candidate(token, value) for token, value in pairs if value > -math.inf)

    return MaskLook(hole, written, legal.count(), logits.size, kept, best(None), best(row))


def token_text(texts: Sequence[bytes | None], token: int) -> str:
    """The text of a token; of a special one its number."""
    data = texts[token] if token < len(texts) else None
    return f"<token {token}>" if data is None else data.decode("utf-8", "backslashreplace")
