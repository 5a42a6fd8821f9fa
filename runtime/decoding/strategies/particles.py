"""`decode smc(n)`: n texts side by side, weighted by how legal the model finds them (Loula et al. 2025).

Each particle draws under the mask, and its weight is multiplied by the probability that the model gave to all
legal tokens there: sequential Monte Carlo with the mask as proposal. Particles meet after each choice. Where
few of them carry the weight, those that do are copied in place of the others (systematic resampling), and the
copies go on with noise of their own. At the end one is drawn by weight. The product of mean weights is an
unbiased estimate of the probability that the model writes a legal text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sglc.runtime.decoding.drawing import Drawing
from sglc.runtime.decoding.hole_text import nothing_allowed
from sglc.runtime.decoding.requests import HoleResult
from sglc.runtime.decoding.strategies.attempt import Attempt, Attempts, Step
from sglc.runtime.decoding.strategies.side_by_side import all_of
from sglc.runtime.decoding.watching import MOST_TEXTS, Moment, SearchLook
from sglc.runtime.decoding.writing import Ended
from sglc.runtime.engine.core.errors import EngineError, language_error
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import NothingAllowed, noise_key, sample
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.sampling.seeds import mix
from sglc.types.decoding import Decoding

FEW_LEFT = 0.5
"""Particles are resampled where they are worth fewer equally weighted ones than this share of them. At half,
the usual value, a population whose weights are alike is left alone, and one that hangs on few is not."""


@dataclass(slots=True, eq=False)
class _Particle:
    """A text, the log of its weight since the last resampling, and which of the first ones it comes from."""

    attempt: Attempt
    ancestor: int
    weight: float = 0.0


class ParticleDecoder:
    """Decodes one hole with `count` particles. One object serves one fill."""

    def __init__(self, attempts: Attempts, count: int) -> None:
        self.attempts = attempts
        self._seed = attempts.request.seed
        seeds = [self._seed, *(mix("particle", self._seed, number) for number in range(1, count))]
        self._draws = [
            SamplingRequest(attempts.request.sampling, seed, scored=attempts.observer.detailed, weighed=True)
            for seed in seeds
        ]
        """One for each place in the population: a copy draws other tokens than its original."""
        self._particles: list[_Particle] = []
        self._estimate = 0.0
        self._rounds = 0

    async def run(self) -> HoleResult:
        """Draw the value and append its text to the conversation."""
        with self.attempts.begun() as root:
            if root is None:
                return self.attempts.certain(Decoding("smc", len(self._draws)))
            self._particles = [_Particle(root.fork(), number) for number in range(len(self._draws))]
            kept: _Particle | None = None
            try:
                await self._watched("begin", f"{len(self._particles)} particles begin")
                await self._loop()
                chosen = self._chosen()
                await self._watched("end", f"particle {self._particles.index(chosen)} is kept", chosen)
                kept = chosen
                return self._result(kept)
            finally:
                for particle in self._particles:
                    if particle is not kept:
                        particle.attempt.close()

    async def _loop(self) -> None:
        """Take choices side by side until all texts have ended."""
        attempts, position = self.attempts, 0
        while True:
            due = [number for number, each in enumerate(self._particles) if self._is_due(each)]
            if not due:
                return
            attempts.poll()
            attempts.charge(attempts.result.sampled + len(due))
            attempts.result.sampled += len(due)
            await all_of(self._step(number, position) for number in due)
            position += 1
            weights = [each.weight for each in self._particles]
            if max(weights) == -math.inf:
                return
            worth = effective(weights)
            resampled = worth < FEW_LEFT * len(weights)
            if resampled:
                self._resample(weights)
            await self._watched_round(position, worth, resampled)

    def _is_due(self, particle: _Particle) -> bool:
        """Write what is certain; whether a token is to be drawn then."""
        attempt = particle.attempt
        while attempt.ended is None and particle.weight > -math.inf:
            found = attempt.writing.forced()
            if found is False:
                return True
            if isinstance(found, Ended):
                self._end(particle, found)
        return False

    async def _step(self, number: int, position: int) -> None:
        """Draw one token of a particle, and weigh it."""
        particle = self._particles[number]
        attempt, writing = particle.attempt, particle.attempt.writing
        drawing = Drawing(writing, self._draws[number], self.attempts.request.answer)
        try:
            drawn = await drawing.token(position)
            mass = await drawing.open_mass(drawn, position)
        except EngineError as fault:
            raise language_error(fault) from fault
        except NothingAllowed:
            if len(self._particles) == 1:
                raise nothing_allowed(writing.text, writing.legal) from None
            particle.weight = -math.inf
            return
        ending = drawn.token in writing.end_ids
        data = b"" if ending else writing.text.vocabulary.token_bytes[drawn.token] or b""
        watcher = self.attempts.request.watcher
        if watcher is not None:
            logits = partial(self.attempts.shown, attempt)
            told = f"particle {number} drew a token"
            look = partial(self._look, "token", position, told, which=number)
            await watcher.token(drawn, data, writing.legal, logits, look)
        allowed = writing.legal.count() if self.attempts.observer.detailed else 0
        attempt.steps = (*attempt.steps, Step(drawn, data, allowed))
        particle.weight += mass
        ended = writing.take(drawn.token)
        if ended is not None:
            self._end(particle, ended)

    # -- who watches ---------------------------------------------------------------------------------

    def _look(
        self, moment: Moment, round: int, told: str, kept: _Particle | None = None, which: int | None = None
    ) -> SearchLook:
        texts = tuple(
            each.attempt.shown(number, each.weight, kept=each is kept, legal=each.weight > -math.inf)
            for number, each in enumerate(self._particles)
        )
        return SearchLook("smc", moment, round, told, texts[:MOST_TEXTS], which)

    async def _watched(
        self, moment: Moment, told: str, kept: _Particle | None = None, round: int = 0
    ) -> None:
        watcher = self.attempts.request.watcher
        if watcher is not None:
            await watcher.search(moment, partial(self._look, moment, round, told, kept))

    async def _watched_round(self, round: int, worth: float, resampled: bool) -> None:
        """All particles that go on have taken a choice; they may have been resampled."""
        told = f"round {round}: {len(self._particles)} particles, worth {worth:.3g} of equal weight"
        if resampled:
            come = ", ".join(str(each.ancestor) for each in self._particles[:MOST_TEXTS])
            told += f"; resampled, they come from {come}"
        await self._watched("round", told, round=round)

    @staticmethod
    def _end(particle: _Particle, ended: Ended) -> None:
        particle.attempt.ended = ended
        if ended.how == "budget":  # such a text is too long to be legal
            particle.weight = -math.inf

    def _resample(self, weights: Sequence[float]) -> None:
        """Copy particles in proportion to their weights, which are equal then."""
        self._estimate += _log_mean(weights)
        start = noise_key(mix("resample", self._seed), self._rounds) / 2**64
        self._rounds += 1
        old, new = self._particles, []
        copied: set[int] = set()
        for number in systematic(weights, start):
            particle = old[number]
            attempt = particle.attempt.fork() if number in copied else particle.attempt
            copied.add(number)
            new.append(_Particle(attempt, particle.ancestor))
        for number, particle in enumerate(old):
            if number not in copied:
                particle.attempt.close()
        self._particles = new

    def _chosen(self) -> _Particle:
        """One particle, drawn by weight. If none fits into the budget, the first that was cut short by it."""
        weights = np.array([each.weight for each in self._particles], np.float32)
        if weights.max() > -math.inf:
            return self._particles[sample(weights, None, Sampling(1.0), (mix("kept", self._seed), 0)).token]
        cut = next((each for each in self._particles if each.attempt.ended is not None), None)
        if cut is None:
            writing = self._particles[0].attempt.writing
            raise nothing_allowed(writing.text, writing.legal)
        return cut

    def _result(self, kept: _Particle) -> HoleResult:
        weights = [each.weight for each in self._particles]
        if self.attempts.observer.detailed:
            for number, each in enumerate(self._particles):
                outcome = "kept" if each is kept else "left" if each.weight > -math.inf else "illegal"
                self.attempts.observer.walk(number, each.attempt.written(), each.weight, outcome)
        result = self.attempts.keep(kept.attempt, self.attempts.result.sampled - len(kept.attempt.steps))
        if kept.weight > -math.inf:
            result.weight = self._estimate + _log_mean(weights)
            result.ess = effective(weights)
            result.ancestors = len({each.ancestor for each in self._particles if each.weight > -math.inf})
        else:  # the budget has cut all of them short
            result.weight, result.ess, result.ancestors = -math.inf, 0.0, 0
        return result


def _log_mean(weights: Sequence[float]) -> float:
    """Log of the mean of exp(weight)."""
    return float(np.logaddexp.reduce(weights)) - math.log(len(weights))


def effective(weights: Sequence[float]) -> float:
    """How many equally weighted particles these log weights are worth: (sum w)² / sum w² (Kong 1992)."""
    logs = np.asarray(weights, np.float64)
    logs = logs - logs.max()
    w = np.exp(logs)
    return float(w.sum() ** 2 / (w * w).sum())


def systematic(weights: Sequence[float], start: float) -> list[int]:
    """As many numbers of particles as there are, each as often as its share of the weight says, one more or
    less; `start` in [0, 1) is the only random number (Kitagawa 1996)."""
    logs = np.asarray(weights, np.float64)
    shares = np.cumsum(np.exp(logs - logs.max()))
    places = (np.arange(len(weights)) + start) / len(weights) * shares[-1]
    found = np.searchsorted(shares, places, side="right")
    last = int(np.flatnonzero(logs > -math.inf)[-1])
    return [min(int(number), last) for number in found]
