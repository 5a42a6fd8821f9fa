"""`decode beam(k)`: the most probable legal text that k beams find.

Scores are sums of the model's own log-probabilities: the mask says what is legal, and no more. Where masked
distributions are made to sum to 1 again, a text gains by leading into a corner. The best score that was ever
left behind is kept. A score only falls as a text grows, so a finished text that is at least as likely is
proved to be the most probable of all. Certain text has no score. Tokens that end the same text at the same
place are one candidate, with their probabilities added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from sglc.kernels.bitmask import sampling as select
from sglc.runtime.decoding.canonical_draw import FEW
from sglc.runtime.decoding.hole_text import nothing_allowed
from sglc.runtime.decoding.requests import HoleResult
from sglc.runtime.decoding.seams import beginnings
from sglc.runtime.decoding.strategies.attempt import Attempt, Attempts, Step
from sglc.runtime.decoding.strategies.side_by_side import all_of
from sglc.runtime.decoding.watching import MOST_TEXTS, Moment, SearchLook
from sglc.runtime.decoding.writing import Ended
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.types.decoding import Decoding

SPARE = 8
"""Tokens that are looked at beyond those that are due: some are not the tokenizer's own."""


@dataclass(slots=True, eq=False)
class _Beam:
    """A text, the log of its probability, and what ranks it."""

    attempt: Attempt
    score: float = 0.0
    rank: float = 0.0


@dataclass(slots=True, eq=False)
class _Candidate:
    """A beam with one token more. Of tokens that end a text, the best with the probability of all."""

    beam: _Beam
    drawn: Sampled
    score: float
    rank: float


class BeamDecoder:
    """Decodes one hole with `width` beams. One object serves one fill.

    The result has the most probable text; with `wanted` above 1, also the next ones (`HoleResult.others`).
    """

    def __init__(
        self, attempts: Attempts, width: int, by: Literal["sum", "mean"] = "sum", wanted: int = 1
    ) -> None:
        self.attempts = attempts
        self._width = width
        self._by = by
        self._wanted = wanted
        self._finished: dict[bytes, _Beam] = {}
        self._cut: list[_Beam] = []
        """Texts that the budget has ended."""
        self._pruned = -math.inf
        """The best score that was left behind."""
        self._steps = 0

    async def run(self) -> HoleResult:
        """Find the value and append its text to the conversation."""
        with self.attempts.begun() as root:
            if root is None:
                return self.attempts.certain(Decoding("beam", self._width))
            beams = [_Beam(root.fork())]
            try:
                await self._watched("begin", beams, f"beams begin, at most {self._width}")
                while beams:
                    beams = await self._round(beams)
                    if beams:
                        await self._watched("round", beams, self._told(beams))
                await self._watched("end", [], "the most probable text is kept")
                return self._result(root)
            finally:
                for beam in (*beams, *self._finished.values(), *self._cut):
                    beam.attempt.close()

    # -- the search ----------------------------------------------------------------------------------

    async def _round(self, beams: list[_Beam]) -> list[_Beam]:
        """The beams with one choice more; none where the search is over."""
        attempts = self.attempts
        due = [beam for beam in beams if self._is_due(beam)]
        if not due or self._settled(due):
            self._leave(due)
            return []
        attempts.poll()
        attempts.charge(attempts.result.sampled + len(due))
        attempts.result.sampled += len(due)
        try:
            rows = await all_of(attempts.logits(beam.attempt) for beam in due)
        except BaseException:
            self._leave(due)
            raise
        found = [each for beam, row in zip(due, rows, strict=True) for each in self._candidates(beam, row)]
        found.sort(key=lambda each: -each.rank)
        chosen: list[_Beam] = []
        try:
            for candidate in found:
                if len(chosen) == self._width:
                    self._pruned = max(self._pruned, candidate.score)
                    continue
                if attempts.request.watcher is not None:
                    await self._watched_token(due, candidate)
                made = self._taken(candidate)
                if made is not None:
                    chosen.append(made)
        except BaseException:
            self._leave((*due, *chosen))
            raise
        for beam in due:
            beam.attempt.close()
        self._steps += 1
        if attempts.observer.detailed:
            texts = [beam.attempt.written() for beam in chosen]
            attempts.observer.beams(self._steps, texts, [beam.score for beam in chosen])
        return chosen

    def _leave(self, beams: Sequence[_Beam]) -> None:
        for beam in beams:
            self._pruned = max(self._pruned, beam.score)
            beam.attempt.close()

    def _is_due(self, beam: _Beam) -> bool:
        """Write what is certain; whether a token is to be chosen then."""
        while True:
            found = beam.attempt.writing.forced()
            if found is False:
                return True
            if isinstance(found, Ended):
                self._end(beam, found)
                return False

    def _settled(self, beams: Sequence[_Beam]) -> bool:
        """Whether no beam can become one of the texts that are wanted.

        By mean a text may gain as it grows. There the search ends with as many texts as there are beams.
        """
        if self._by == "mean":
            return len(self._finished) >= self._width
        if len(self._finished) < self._wanted:
            return False
        ranked = sorted((beam.score for beam in self._finished.values()), reverse=True)
        return ranked[self._wanted - 1] >= max(beam.score for beam in beams)

    def _candidates(self, beam: _Beam, row: np.ndarray) -> list[_Candidate]:
        """The best ways to go on with a beam: as many as there are beams, and its end. The others are left
        behind."""
        writing = beam.attempt.writing
        writing.legal.forgive()
        only = writing.text.only_open(writing.legal)
        if only is not None:
            return [self._candidate(beam, only, 0.0, 0.0)]
        legal, whole = writing.legal, select.masked_log_sum_exp(row, None)
        mask = legal.row()
        mass = min(0.0, select.masked_log_sum_exp(row, mask) - whole)
        ends = self._ends(beam, mask)
        made: list[_Candidate] = []
        if len(ends):
            order = ends[np.argsort(-row[ends], kind="stable")][:FEW]
            own = [int(token) for token in order if self._is_open(beam, int(token))]
            if own:
                logprob = float(np.logaddexp.reduce(row[own].astype(np.float64))) - whole
                made.append(self._candidate(beam, own[0], logprob, mass))
        ending = frozenset(ends.tolist())
        looked, most = 0, self._width + SPARE + len(ending)
        while True:
            tokens, values = select.masked_top(row, mask, most)
            count = sum(1 for each in made if each.drawn.token not in ending)
            for token, value in zip(tokens[looked:].tolist(), values[looked:].tolist(), strict=True):
                if token in ending:
                    continue
                if count == self._width:
                    self._pruned = max(self._pruned, beam.score + value - whole)
                    return made
                if self._is_open(beam, token):
                    made.append(self._candidate(beam, token, value - whole, mass))
                    count += 1
            if len(tokens) < most:
                return made
            looked, most = len(tokens), most * 4

    def _ends(self, beam: _Beam, mask: np.ndarray) -> np.ndarray:
        """The legal tokens that end the text as it is: end tokens, and those that begin with a stop."""
        text, legal = beam.attempt.writing.text, beam.attempt.writing.legal
        tracker = text.tracker
        if tracker.candidates or not tracker.value.is_accepting():
            return np.empty(0, np.int64)
        known = beginnings(text.vocabulary)
        found = [known.tokens(stop.encode()) for stop in text.request.stops if stop]
        ids = np.unique(np.concatenate([*found, np.array(sorted(legal.end_ids), np.int64)]))
        there: np.ndarray = ids[(mask[ids >> 5] >> (ids & 31)) & 1 != 0]
        return there

    @staticmethod
    def _is_open(beam: _Beam, token: int) -> bool:
        writing = beam.attempt.writing
        return token in writing.end_ids or writing.text.is_open(token, writing.text.masks)

    def _candidate(self, beam: _Beam, token: int, logprob: float, mass: float) -> _Candidate:
        score = beam.score + logprob
        rank = score / (len(beam.attempt.steps) + 1) if self._by == "mean" else score
        return _Candidate(beam, Sampled(token, logprob, mass), score, rank)

    @staticmethod
    def _data(candidate: _Candidate) -> bytes:
        """The bytes of the token."""
        writing, token = candidate.beam.attempt.writing, candidate.drawn.token
        return b"" if token in writing.end_ids else writing.text.vocabulary.token_bytes[token] or b""

    def _taken(self, candidate: _Candidate) -> _Beam | None:
        """A beam for a candidate; None where its text has ended."""
        attempt = candidate.beam.attempt.fork()
        writing, token = attempt.writing, candidate.drawn.token
        data = self._data(candidate)
        allowed = candidate.beam.attempt.writing.legal.count() if self.attempts.observer.detailed else 0
        attempt.steps = (*attempt.steps, Step(candidate.drawn, data, allowed))
        beam = _Beam(attempt, candidate.score, candidate.rank)
        ended = writing.take(token)
        if ended is None:
            return beam
        self._end(beam, ended)
        return None

    def _end(self, beam: _Beam, ended: Ended) -> None:
        """Enter a text that has ended. One that came another way too has the probability of both."""
        beam.attempt.ended = ended
        if ended.how == "budget":
            self._cut.append(beam)
            return
        known = self._finished.get(ended.data)
        if known is None:
            self._finished[ended.data] = beam
            return
        known.score = float(np.logaddexp(known.score, beam.score))
        known.rank = known.score / max(len(known.attempt.steps), 1) if self._by == "mean" else known.score
        beam.attempt.close()

    # -- who watches ---------------------------------------------------------------------------------

    def _told(self, beams: Sequence[_Beam]) -> str:
        best = max(math.exp(beam.score) for beam in beams)
        ended = len(self._finished)
        return (
            f"step {self._steps}: {len(beams)} beams, the best of probability {best:.3g}; {ended} texts ended"
        )

    def _look(
        self, moment: Moment, beams: Sequence[_Beam], told: str, which: int | None = None
    ) -> SearchLook:
        """The beams, and behind them the texts that have ended, the most probable first."""
        ended = sorted(self._finished.values(), key=lambda beam: -beam.rank)
        cut = sorted(self._cut, key=lambda beam: -beam.rank)
        best = next(iter((*ended, *cut)), None) if moment == "end" else None
        texts = [
            beam.attempt.shown(number, beam.score, kept=beam is best, legal=beam not in cut)
            for number, beam in enumerate((*beams, *ended, *cut))
        ]
        return SearchLook("beam", moment, self._steps, told, tuple(texts[:MOST_TEXTS]), which)

    async def _watched(self, moment: Moment, beams: Sequence[_Beam], told: str) -> None:
        watcher = self.attempts.request.watcher
        if watcher is not None:
            await watcher.search(moment, partial(self._look, moment, beams, told))

    async def _watched_token(self, due: Sequence[_Beam], candidate: _Candidate) -> None:
        """A beam is about to go on with a token, which is among the best of all beams."""
        watcher, attempt = self.attempts.request.watcher, candidate.beam.attempt
        assert watcher is not None
        number = due.index(candidate.beam)
        look = partial(self._look, "token", due, f"beam {number} goes on with a token", number)
        logits = partial(self.attempts.shown, attempt)
        await watcher.token(candidate.drawn, self._data(candidate), attempt.writing.legal, logits, look)

    # -- its end -------------------------------------------------------------------------------------

    def _result(self, root: Attempt) -> HoleResult:
        ranked = sorted(self._finished.values(), key=lambda beam: -beam.rank)
        cut = sorted(self._cut, key=lambda beam: -beam.rank)
        texts = [*ranked, *cut][: self._wanted]
        if not texts:
            raise nothing_allowed(root.writing.text, root.writing.legal)
        best, result = texts[0], self.attempts.result
        others = [beam.attempt.ended.data for beam in texts[1:] if beam.attempt.ended is not None]
        skip = len(self.attempts.text.prefix)
        kept = self.attempts.keep(best.attempt, result.sampled - len(best.attempt.steps))
        kept.others = tuple(data[skip:].decode() for data in others)
        kept.logprob = kept.score = best.score
        kept.proved = self._by == "sum" and bool(ranked) and best.score >= self._pruned
        return kept
