"""The results of a step: logits, or tokens where the executor samples them itself.

Masks are made on the event loop's thread, which owns the matchers and their tables. They are made between
the launch of a step and the picking of its tokens, while the device computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from sglc.runtime.engine.sampling.sampler import NothingAllowed, Sampled
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.scheduling.request import Request
from sglc.runtime.engine.scheduling.schedule import Planned
from sglc.runtime.executor.plan import Candidate, DrawingExecutor, Executor, Picking, Piece


class Drawn(NamedTuple):
    """The answer to a sampling request: a token, or why there is none."""

    answer: Sampled | Exception


Result = tuple[np.ndarray, list[int] | None] | Drawn | BaseException
"""The result of a piece: logits [wanted, V] and the places of the largest, or a token, or why neither."""


class Begun(NamedTuple):
    """A step that was launched, or the error, and the seconds that it took to launch it."""

    launched: object
    fault: Exception | None
    seconds: float


class SamplingRequests:
    """The sampling requests of a step that the executor answers on its own device."""

    def __init__(self, executor: DrawingExecutor, plan: Sequence[Planned]) -> None:
        self._requests: list[tuple[Request, SamplingRequest]] = []
        self.places: list[int] = []
        """By piece: the number of the request that its last token answers; -1 for none."""
        for request, piece in plan:
            if request.sampling_request is not None and piece.wanted:
                self.places.append(len(self._requests))
                self._requests.append((request, request.sampling_request))
            else:
                self.places.append(-1)
        self.masks = executor.mask_rows(len(self._requests))
        self.pickings: list[Picking] = []
        self._faults: dict[int, Exception] = {}

    def make(self) -> None:
        """Make the masks; call it once. A mask that fails fails its own request only."""
        for place, (request, sampling_request) in enumerate(self._requests):
            if not request.future.done():
                try:
                    self.pickings.append(sampling_request.write_mask(self.masks[place]))
                    continue
                except Exception as error:
                    self._faults[place] = error
            self.pickings.append(Picking())  # under whatever stands in the mask: nobody hears of it

    def answer(
        self, place: int, token: int, logprob: float, log_mass: float, top: tuple[Candidate, ...]
    ) -> Drawn:
        """The answer to the request at `place`, given the picked token; -1 where no token is allowed."""
        fault = self._faults.get(place)
        if fault is not None:
            return Drawn(fault)
        if token < 0:
            return Drawn(NothingAllowed("no token is allowed here"))
        return Drawn(Sampled(token, logprob, log_mass, top))


def launch(executor: DrawingExecutor, pieces: Sequence[Piece]) -> Begun:
    """Begin a step whose tokens are picked later."""
    begun = perf_counter()
    try:
        return Begun(executor.launch(pieces), None, perf_counter() - begun)
    except Exception as error:
        return Begun(None, error, perf_counter() - begun)


def compute(executor: Executor, pieces: list[Piece]) -> tuple[list[Result], float]:
    """The results of a step, and the seconds that it took. If the step fails, its halves are tried, and so
    on. So a piece that cannot be computed does not take the others with it."""
    begun = perf_counter()
    results: list[Result] = []
    try:
        results += split(executor.run(pieces), executor.best, pieces)
    except Exception as error:
        if len(pieces) == 1:
            results = [error]
        else:
            half = len(pieces) // 2
            results = compute(executor, pieces[:half])[0] + compute(executor, pieces[half:])[0]
    return results, perf_counter() - begun


def pick(
    executor: DrawingExecutor, pieces: list[Piece], sampling_requests: SamplingRequests, begun: Begun
) -> tuple[list[Result], float]:
    """Answer the sampling requests of a launched step, and give the other pieces their logits.

    As `compute` otherwise; the seconds are those in the executor, with the launch. What is tried again in
    halves has its masks already.
    """
    started = perf_counter()
    results = _picked(executor, pieces, sampling_requests, 0, begun)
    return results, begun.seconds + perf_counter() - started


def _picked(
    executor: DrawingExecutor,
    pieces: list[Piece],
    sampling_requests: SamplingRequests,
    first: int,
    begun: Begun | None,
) -> list[Result]:
    """The results of pieces, which are those of the step from `first` on."""
    places = sampling_requests.places[first : first + len(pieces)]
    asked = [place for place in places if place >= 0]
    if not asked:
        return compute(executor, pieces)[0]
    try:
        begun = begun or launch(executor, pieces)
        if begun.fault is not None:
            raise begun.fault
        starts = np.cumsum([0, *(piece.wanted for piece in pieces)])
        rows = [int(start) for start, place in zip(starts, places, strict=False) if place >= 0]
        part = slice(asked[0], asked[-1] + 1)
        found = executor.pick(
            begun.launched, rows, sampling_requests.masks[part], sampling_requests.pickings[part]
        )
    except Exception as error:
        if len(pieces) == 1:
            return [error]
        half = len(pieces) // 2
        left = _picked(executor, pieces[:half], sampling_requests, first, None)
        return left + _picked(executor, pieces[half:], sampling_requests, first + half, None)
    numbers = (found.tokens.tolist(), found.logprobs.tolist(), found.masses.tolist(), found.tops)
    drawn = zip(asked, *numbers, strict=True)
    answers = [sampling_requests.answer(*each) for each in drawn]
    others = [piece for piece, place in zip(pieces, places, strict=True) if place < 0]
    rest = iter(split(found.rows, None, others))
    return [next(rest) if place < 0 else answers[place - asked[0]] for place in places]


def split(rows: np.ndarray, best: np.ndarray | None, pieces: list[Piece]) -> list[Result]:
    """The rows of each piece, which are read-only from now on, as all of the step are."""
    rows.flags.writeable = False
    places = None if best is None else best.tolist()
    results: list[Result] = []
    at = 0
    for piece in pieces:
        end = at + piece.wanted
        results.append((rows[at:end], None if places is None else places[at:end]))
        at = end
    return results
