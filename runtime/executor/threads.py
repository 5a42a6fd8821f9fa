"""Threads that wait beside the one that asks, each to run the same native function at the same time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any


def processors() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, len(affinity(0)) if affinity is not None else os.cpu_count() or 1)


class Crew:
    """`most` threads, of which the caller's is one. Used by one caller at a time.

    The functions are native and meet each other on the way, so each needs a thread of its own that has begun
    before the call is over; they are parked on locks in between, which takes no processor.
    """

    def __init__(self, most: int) -> None:
        self.most = max(1, most)
        self._work: tuple[Callable[..., Any], Sequence[Any], Sequence[Any], int] | None = None
        self._starts = [threading.Lock() for _ in range(self.most - 1)]
        self._ends = [threading.Lock() for _ in range(self.most - 1)]
        for lock in (*self._starts, *self._ends):
            lock.acquire()
        self._threads: list[threading.Thread] = []

    def run(
        self, function: Callable[..., Any], before: Sequence[Any], after: Sequence[Any], threads: int
    ) -> None:
        """Call `function(*before, thread, threads, *after)` in `threads` threads, and wait for all."""
        threads = min(threads, self.most)
        if threads > 1 and not self._threads:
            self._park()
        self._work = function, before, after, threads
        for number in range(threads - 1):
            self._starts[number].release()
        try:
            function(*before, 0, threads, *after)
        finally:
            # Nothing may interrupt this: the others work on the caller's arrays.
            for number in range(threads - 1):
                while True:
                    try:
                        self._ends[number].acquire()
                        break
                    except KeyboardInterrupt:
                        continue
            self._work = None

    def close(self) -> None:
        """End the threads."""
        self._work = None
        for thread, start in zip(self._threads, self._starts, strict=False):
            start.release()
            thread.join()
        self._threads = []

    def _park(self) -> None:
        for number in range(self.most - 1):
            thread = threading.Thread(target=self._serve, args=(number,), name="sglc native", daemon=True)
            thread.start()
            self._threads.append(thread)

    def _serve(self, number: int) -> None:
        start, end = self._starts[number], self._ends[number]
        while True:
            start.acquire()
            if self._work is None:
                return
            function, before, after, threads = self._work
            function(*before, number + 1, threads, *after)
            end.release()
