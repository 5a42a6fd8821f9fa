"""What walks, particles and beams of one hole share: its beginning, its budgets and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, NamedTuple

import numpy as np

from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.hole_text import HoleText, only_value
from sglc.runtime.decoding.requests import Constraints, HoleRequest, HoleResult, Observer, PathScores
from sglc.runtime.decoding.room import Room
from sglc.runtime.decoding.watching import SearchText
from sglc.runtime.decoding.writing import Ended, Writing
from sglc.runtime.engine.core.errors import EngineError, language_error
from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.errors import SglError
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.types.decoding import Decoding, certain_figures


class Step(NamedTuple):
    """A token that was drawn, its bytes, and how many were legal (0 where nobody asks)."""

    drawn: Sampled
    data: bytes
    allowed: int


@dataclass(slots=True, eq=False)
class Attempt:
    """One text of several that a hole may get: how far it is, and what was drawn for it."""

    writing: Writing
    steps: tuple[Step, ...] = ()
    ended: Ended | None = None

    def fork(self) -> Attempt:
        """Another one that begins alike."""
        return Attempt(self.writing.fork(), self.steps, self.ended)

    def written(self) -> bytes:
        """The value's bytes so far."""
        text = self.writing.text
        return text.written() if self.ended is None else bytes(self.ended.data[len(text.prefix) :])

    def shown(
        self, number: int, score: float | None = None, *, kept: bool = False, legal: bool = True
    ) -> SearchText:
        """The text for those who look at the search."""
        state: Literal["open", "ended", "illegal", "kept"] = "open" if self.ended is None else "ended"
        state = "kept" if kept else state if legal else "illegal"
        return SearchText(number, self.written().decode("utf-8", "backslashreplace"), score, state)

    def close(self) -> None:
        """Free what the engine holds for it."""
        self.writing.text.alone.close()


class Attempts:
    """The texts of one hole. `begin` gives the first; the others are forks of it."""

    def __init__(
        self,
        conversation: Conversation,
        vocabulary: Vocabulary,
        constraints: Constraints,
        request: HoleRequest,
        observer: Observer,
        context_length: int,
        poll: Callable[[], None],
    ) -> None:
        self.conversation = conversation
        self.vocabulary = vocabulary
        self.request = request
        self.observer = observer
        self.poll = poll
        self.result = HoleResult("")
        self.text = HoleText(conversation, vocabulary, constraints, request)
        self.room = Room(request.name, request.budget, self.text.price)
        self.partial = ""
        self.constraints = constraints
        self._context_length = context_length
        self._statistics = Statistics()
        """What counts the work of the conversation as a whole."""

    def longest_of_few(self) -> int | None:
        """Bytes of the longest text where the hole has few; see `Constraints`."""
        return self.constraints.longest_of_few(self.request)

    @contextmanager
    def begun(self) -> Iterator[Attempt | None]:
        """The empty text, from which all others fork; None where only one value is legal.

        Work that is done in the block counts for the hole.
        """
        text = self.text
        value = text.value()
        if only_value(value) is not None:
            yield None
            return
        text.begin(value, self._context_length)
        self.room.open(self._context_length - text.base - text.withdrawn)
        self.result.prompt = text.base
        self._statistics = self.conversation.branch.statistics
        with self.conversation.branch.apart() as self.result.work:
            yield Attempt(Writing(text, self.room))

    def certain(self, decoding: Decoding) -> HoleResult:
        """Write the only legal value. It has the figures of a text that could be no other."""
        data = only_value(self.text.value()) or b""
        budget, result = self.request.budget, self.result
        if budget is not None and not self.room.fits(0, data, budget):
            raise self.room.truncated(budget)
        result.forced = result.tokens = self.text.price(data)
        result.text = data.decode()
        for name, figure in certain_figures(decoding).items():
            setattr(result, name, figure)
        self.observer.piece(result.text, True)
        self.conversation.text(result.text)
        return result

    async def logits(self, attempt: Attempt) -> np.ndarray:
        """Float32 logits [V] behind a text."""
        text = attempt.writing.text
        return await self.logits_behind(text.alone.branch, bytes(text.tracker.data))

    async def logits_behind(self, branch: Branch, data: bytes) -> np.ndarray:
        """Float32 logits [V] behind the tokens of a branch, which write `data` of the hole."""
        try:
            row = await branch.logits()
        except EngineError as fault:
            raise language_error(fault) from fault
        if not self.result.first:
            self.result.first = perf_counter()
        if self.request.answer is not None:
            row = self.request.answer.adjust(row, self.text.prefix, data)
        return row

    async def shown(self, attempt: Attempt) -> np.ndarray:
        """The logits behind a text for those who look at it: nothing of it counts for the hole."""
        branch, first = attempt.writing.text.alone.branch, self.result.first
        counting, branch.statistics = branch.statistics, Statistics()
        try:
            return await self.logits(attempt)
        finally:
            branch.statistics, self.result.first = counting, first

    def charge(self, tokens: int) -> None:
        """Refuse more tokens than the bounds of the program and of the run have for all texts together.

        Raises Truncated.
        """
        whole = self.request.whole
        if whole is not None and not self.room.has(tokens, whole):
            error = self.room.truncated(whole)
            error.hint = "all texts that are tried count, not only the one that is kept"
            raise error

    def keep(self, attempt: Attempt, lost: int) -> HoleResult:
        """Go on with one text. `lost` tokens were computed for others."""
        ended, text, result = attempt.ended, attempt.writing.text, self.result
        assert ended is not None
        self.charge(ended.tokens + lost)
        self.conversation.adopt(text.alone)
        self.conversation.branch.statistics = self._statistics
        for step in attempt.steps:
            if self.observer.detailed:
                self.observer.token(*step)
        result.text = ended.data[len(text.prefix) :].decode()
        if result.text:
            self.observer.piece(result.text, False)
        self.conversation.text(result.text)
        scores = PathScores()
        for step in attempt.steps:
            scores = scores.after(step.drawn)
        result.logprob = scores.logprob
        result.pressure = scores.pressure if self.observer.weighed else None
        result.weighed = len(attempt.steps)
        result.saved = max(0, result.sampled - result.work.forwards)
        result.ended, result.tokens, result.forced = ended.how, ended.tokens, text.forced
        result.lost = lost
        return result


def unfinished(name: str, what: str, partial: str = "", hint: str = "") -> SglError:
    """The error of a hole for which no text was found within the bounds of its strategy."""
    return SglError("Budget", f"hole `{name}`: {what}", partial=partial, hint=hint)
