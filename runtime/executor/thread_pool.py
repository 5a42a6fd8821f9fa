"""A pool of threads that run the same native function at the same time as the caller."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence


def processors() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, len(affinity(0)) if affinity is not None else os.cpu_count() or 1)


class ThreadPool:
    """`most` threads, of which the caller's is one. Used by one caller at a time.

    The native functions synchronise with each other, so each needs a running thread of its own during the
    call. Between calls the threads are parked on locks, which takes no processor time.
    """

    def __init__(self, most: int) -> None:
        self.most = max(1, most)
        self._work: tuple[Callable[..., object], Sequence[object], Sequence[object], int] | None = None
        self._starts = [threading.Lock() for _ in range(self.most - 1)]
        self._ends = [threading.Lock() for _ in range(self.most - 1)]
        for lock in (*self._starts, *self._ends):
            lock.acquire()
        self._round = 0
        self._done = [0] * (self.most - 1)
        """The round that each thread has ended last."""
        self._threads: list[threading.Thread] = []

    def run(
        self, function: Callable[..., object], before: Sequence[object], after: Sequence[object], threads: int
    ) -> None:
        """Call `function(*before, thread, threads, *after)` in `threads` threads, and wait for all."""
        threads = min(threads, self.most)
        if threads > 1 and not self._threads:
            self._park()
        self._round += 1
        self._work = function, before, after, threads
        starts = iter(self._starts[: threads - 1])
        entered = False
        interrupt: KeyboardInterrupt | None = None
        # The threads wait for each other inside: once one is started, all must be, and be waited for. An
        # interrupt comes when a call returns, so what is behind it was done; it is raised at the end.
        while True:
            try:
                for start in starts:
                    start.release()
                if not entered:
                    entered = True
                    function(*before, 0, threads, *after)
                break
            except KeyboardInterrupt as error:
                interrupt = error
        while True:
            try:
                for number in range(threads - 1):
                    while self._done[number] != self._round:
                        self._ends[number].acquire(timeout=1.0)
                break
            except KeyboardInterrupt as error:
                interrupt = error
        self._work = None
        if interrupt is not None:
            raise interrupt

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
            try:
                function(*before, number + 1, threads, *after)
            finally:
                self._done[number] = self._round
                if end.locked():  # else the caller has not waited the last time
                    end.release()
