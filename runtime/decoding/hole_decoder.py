"""Decoding one hole: tokens are sampled under the mask until the value is complete.

A value that is complete and cannot go on ends at once.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Callable
from time import thread_time_ns

from sglc.runtime.decoding.blend import Blend
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.conversation_pair import ConversationPair
from sglc.runtime.decoding.drawing import Drawing
from sglc.runtime.decoding.hole_text import HoleText, nothing_allowed, only_value
from sglc.runtime.decoding.requests import (
    Constraints,
    HoleRequest,
    HoleResult,
    Observer,
    PathScores,
    Timing,
)
from sglc.runtime.decoding.room import Room
from sglc.runtime.decoding.writing import Ended, Writing
from sglc.runtime.engine.core.errors import EngineError, language_error
from sglc.runtime.engine.drafting.drafts import Drafting, Drafts
from sglc.runtime.engine.drafting.forced_drafts import ForcedDrafts
from sglc.runtime.engine.sampling.sampler import NothingAllowed
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.sampling.shaping import Shaped
from sglc.runtime.engine.scheduling.draft import NO_DRAFT, Draft
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

JOINT = 4
"""Tokens before a text that are put before what it is expected to be, so that its beginning is found."""


class _Pieces:
    """Reports the value's text to the observer, in whole characters, as far as it is certain."""

    def __init__(self, observer: Observer, skip: int) -> None:
        self._observer = observer
        self._sent = skip
        """So many bytes were handed on; they are whole characters."""

    def send(self, data: bytes | bytearray, upto: int, forced: bool) -> None:
        if upto > self._sent:
            text, size = utf_8_decode(data[self._sent : upto], "strict", False)
            self._sent += size
            if text:
                self._observer.piece(text, forced)


class HoleDecoder:
    """Decodes one hole. One object serves one fill: `run` is called once."""

    def __init__(
        self,
        conversation: Conversation | ConversationPair,
        vocabulary: Vocabulary,
        constraints: Constraints,
        request: HoleRequest,
        observer: Observer,
        timing: Timing,
        context_length: int,
        poll: Callable[[], None],
        drafting: Drafting | None = None,
    ) -> None:
        self.conversation = conversation
        self.vocabulary = vocabulary
        self.request = request
        self.observer = observer
        self.timing = timing
        self.context_length = context_length
        self.poll = poll
        self._constraints = constraints
        self._drafting = drafting
        self._drafts: Drafts | ForcedDrafts = ForcedDrafts()
        self.result = HoleResult("")
        self.text = HoleText(conversation, vocabulary, constraints, request)
        self.room = Room(request.name, request.budget, self.text.price)
        self._began = False
        self._blend = None if request.blend is None else Blend(request.blend)
        self._sampling_request = SamplingRequest(
            request.sampling,
            request.seed,
            scored=observer.detailed,
            weighed=observer.weighed,
            top=observer.top,
            blend=self._blend,
            shaped=None if request.shaping is None else Shaped(request.shaping, self._value_tokens),
        )
        self._scores = PathScores()

    def _value_tokens(self) -> list[int]:
        """The tokens of the value so far."""
        return self.conversation.branch.tokens[self.text.base :]

    async def run(self) -> HoleResult:
        """Generate the value and append its text to the conversation."""
        text = self.text
        value = text.value()
        data = self._certain(value)
        if data is not None:
            return self._write_certain(data)
        text.begin(value, self.context_length)
        self._began = True
        self.room.open(self.context_length - text.base - text.withdrawn)
        if self._drafting is not None:
            if self.request.expected:
                opening = self.conversation.branch.tokens[-JOINT:]
                self.conversation.lookup.expect((*opening, *self.request.expected))
            constraint = self._constraints.value(self.request, text.prefix)
            self._drafts = self._drafting.hole(self.request.name, constraint, self.conversation.lookup)
        self.result.prompt = text.base
        try:
            with self.conversation.branch.apart() as self.result.work:
                return await self._loop()
        finally:
            self.result.forced = text.forced
            self._drafts.close()
            self.result.picking = self._sampling_request.picking
            self.result.first = self._sampling_request.came

    @property
    def partial(self) -> str:
        """The value's text as far as it has been written."""
        return self.text.written().decode("utf-8", "ignore") if self._began else ""

    # -- beginning -----------------------------------------------------------------------------------

    def _certain(self, value: Matcher) -> bytes | None:
        """The value's bytes where there is only one value."""
        return only_value(value)

    def _write_certain(self, data: bytes) -> HoleResult:
        budget = self.request.budget
        if budget is not None and not self.room.fits(0, data, budget):
            raise self.room.truncated(budget)
        tokens = self.text.price(data)
        self.result.forced = tokens
        self.observer.piece(data.decode(), True)
        return self._finish(data, "complete", tokens)

    # -- the loop ------------------------------------------------------------------------------------

    async def _loop(self) -> HoleResult:
        """Draw tokens until the value ends."""
        text = self.text
        tracker, token_bytes = text.tracker, self.vocabulary.token_bytes
        writing = Writing(text, self.room)
        observer, branch = self.observer, self.conversation.branch
        request = self._sampling_request
        drawing = Drawing(writing, request, self.request.answer)
        pieces = _Pieces(observer, len(text.prefix))
        position = 0
        clock = thread_time_ns()
        while True:
            ended = writing.forced()
            if isinstance(ended, Ended):
                return self._ended(ended, pieces)
            if ended:
                pieces.send(tracker.data, tracker.certain(), True)
                continue
            self.poll()
            draft = self._propose()
            pause, before_picking = thread_time_ns(), request.picking
            try:
                draft = await self._extended(draft, position)
                drawn = await drawing.token(position, draft)
                position += 1
                resume = thread_time_ns() - request.picking + before_picking
            except EngineError as fault:
                raise language_error(fault, self.partial) from fault
            except NothingAllowed:
                raise nothing_allowed(text, writing.legal) from None
            token = drawn.token
            self.result.sampled += 1
            self._scores = self._scores.after(drawn)
            if observer.detailed:
                data = b"" if token in writing.end_ids else token_bytes[token] or b""
                observer.token(drawn, data, writing.legal.count(), self._drafts.at(branch.tokens))
                if self.request.watcher is not None:
                    await self.request.watcher.token(drawn, data, writing.legal, drawing.logits)
            found = writing.take(token)
            if found is None:
                pieces.send(tracker.data, tracker.certain(), False)
            clock = self._note(clock, pause, resume)
            if found is not None:
                return self._ended(found, pieces)

    def _ended(self, ended: Ended, pieces: _Pieces) -> HoleResult:
        pieces.send(ended.data, ended.certain, False)
        pieces.send(ended.data, len(ended.data), True)
        return self._finish(ended.data[len(self.text.prefix) :], ended.how, ended.tokens)

    def _propose(self) -> Draft:
        """Tokens to compute with the request for the next logits; none once a stop has begun."""
        pending, self.text.pending = self.text.pending, ()
        if self.text.tracker.candidates:
            return NO_DRAFT
        return self._drafts.propose(self.conversation.branch.tokens, self.text.tracker.value, pending)

    async def _extended(self, draft: Draft, position: int) -> Draft:
        """The tokens of `_propose`, gone on with by a draft model where it is to be asked."""
        if not self._drafts.silent or self.text.tracker.candidates:
            return draft
        ahead = self.text.lookahead(position)
        return draft if ahead is None else await self._drafts.extend(ahead)

    def _note(self, clock: int, pause: int, resume: int) -> int:
        """Record the time of one token outside the forward pass; the clock for the next."""
        now = thread_time_ns()
        self.timing.outside.append(pause - clock + now - resume)
        return now

    def _finish(self, data: bytes | bytearray, ended: str, tokens: int) -> HoleResult:
        result, drafts = self.result, self._drafts
        result.logprob = self._scores.logprob
        result.pressure = self._scores.pressure if self.observer.weighed else None
        result.shares = None if self._blend is None else self._blend.shares()
        if self._began:
            drafts.finish(self.conversation.branch.tokens, ended)
            result.saved = min(drafts.saved, result.work.accepted)  # not every engine looks at drafts
            if result.work.drafted:
                result.drafts = drafts.counts
        result.text = bytes(data).decode()
        self.conversation.text(result.text)
        result.ended = ended
        result.tokens = max(0, tokens)
        return result
