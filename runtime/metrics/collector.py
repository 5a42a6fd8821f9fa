"""The figures of all runs of a process: given to sessions as their recorder, read by whoever shows them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter

from sglc.runtime.decoding.requests import HoleResult
from sglc.runtime.metrics.figures import FunctionFigures, HoleFigures
from sglc.runtime.vm.state.run import Statistics
from sglc.runtime.vm.state.trace import Listener


class Collector:
    """A `Recorder` (see `runtime.vm.run`). Read and written from any thread, under its lock.

    `listen` makes a listener for each run that begins, for spans: it is given the function and the seed.
    `weighed` asks for the pressure of masks.
    """

    def __init__(
        self, listen: Callable[[str, int], Listener] | None = None, *, weighed: bool = False
    ) -> None:
        self.weighed = weighed
        self.holes: dict[str, HoleFigures] = {}
        """By qualified name, `function.hole`."""
        self.functions: dict[str, FunctionFigures] = {}
        self.running = 0
        self.busy = 0.0
        """Seconds in which at least one run was going on, up to the last moment at which none was."""
        self.lock = threading.Lock()
        self._since = 0.0
        self.first_hole: tuple[float, float] | None = None
        """When the hole that had logits first began, and when they came, by `time.perf_counter`."""
        self._listen = listen

    def begin(self, function: str, seed: int) -> Listener | None:
        """Count a run that begins, and give its listener where spans are made."""
        with self.lock:
            if not self.running:
                self._since = perf_counter()
            self.running += 1
            self.functions.setdefault(function, FunctionFigures())
        return None if self._listen is None else self._listen(function, seed)

    def call(self, function: str) -> None:
        """Count a call of a function, whether a run began with it or it was called inside of one."""
        with self.lock:
            self.functions.setdefault(function, FunctionFigures()).calls += 1

    def hole(self, name: str, mode: str, result: HoleResult, seconds: float, error: str) -> None:
        """Add what filling a hole took: tokens, `seconds` of wall time, and the name of its error if it
        failed."""
        work = result.work
        with self.lock:
            figures = self.holes.get(name)
            if figures is None:
                figures = self.holes[name] = HoleFigures(mode)
            if result.first and (self.first_hole is None or result.first < self.first_hole[1]):
                self.first_hole = (perf_counter() - seconds, result.first)
            figures.fillings += 1
            figures.failures += bool(error)
            figures.tokens += result.tokens
            figures.sampled += result.sampled
            figures.forced += result.forced
            figures.prompt += result.prompt
            figures.behind += result.behind
            figures.pressure += result.pressure or 0.0
            figures.weighed += 0 if result.pressure is None else result.counted
            if (shares := result.shares) is not None:
                figures.shared += shares.tokens
                figures.alpha += shares.tokens * shares.alpha
                if shares.chernoff == shares.chernoff:
                    figures.compared += shares.tokens
                    figures.chernoff += shares.tokens * shares.chernoff
            figures.forwards += work.forwards
            figures.fed += work.tokens_fed
            figures.reused += work.tokens_reused
            figures.drafted += work.drafted
            figures.accepted += work.accepted
            figures.drafts.merge(result.drafts)
            figures.mask_seconds += result.picking / 1e9
            figures.queue_seconds += work.queued
            figures.forward_seconds += work.seconds
            figures.seconds.add(seconds)
            if (remote := result.remote) is not None:
                figures.requests += remote.requests
                figures.charged_prompt += remote.prompt
                figures.charged_cached += remote.cached
                figures.charged_output += remote.output
                if not error:
                    answered = figures.answered
                    answered[remote.answered_by] = answered.get(remote.answered_by, 0) + 1

    def end(self, function: str, statistics: Statistics, error: str) -> None:
        """Count a run that ends: its outcome (the error's name, or `ok`), its seconds and its retries."""
        with self.lock:
            self.running -= 1
            if not self.running:
                self.busy += perf_counter() - self._since
            figures = self.functions[function]
            outcome = error or "ok"
            figures.outcomes[outcome] = figures.outcomes.get(outcome, 0) + 1
            figures.seconds.add(statistics.seconds)
            figures.retries += statistics.retries

    def seconds(self) -> float:
        """In which at least one run was going on, until now."""
        with self.lock:
            return self.busy + (perf_counter() - self._since if self.running else 0.0)

    @property
    def tokens(self) -> int:
        """Tokens of all values so far."""
        with self.lock:
            return sum(figures.tokens for figures in self.holes.values())

    def total(self) -> HoleFigures:
        """All holes together."""
        whole = HoleFigures("")
        with self.lock:
            for figures in self.holes.values():
                whole.add(figures)
        return whole

    def of_function(self, function: str) -> HoleFigures:
        """The holes that stand in one function."""
        whole = HoleFigures("")
        with self.lock:
            for name, figures in self.holes.items():
                if name.rpartition(".")[0] == function:
                    whole.add(figures)
        return whole
