"""Bytes of the tables of lexemes, on the account of the machine for which they were made."""

from __future__ import annotations

import threading
from collections import deque


class Tally:
    """Bytes that the tables of one machine take.

    Tables add what they take, under the machine's lock, and give it back when they die, in whatever thread
    the last reference to them goes.
    """

    __slots__ = ("_given_back", "_taken")

    def __init__(self) -> None:
        self._taken = 0
        self._given_back: deque[int] = deque()

    def take(self, bytes: int) -> None:
        """Called under the machine's lock."""
        # Appending is one step of the interpreter, and may come in between.
        while self._given_back:
            self._taken -= self._given_back.popleft()
        self._taken += bytes

    def give_back(self, bytes: int) -> None:
        """Called by any thread."""
        self._given_back.append(bytes)

    @property
    def bytes(self) -> int:
        """Bytes taken, less those given back."""
        return self._taken - sum(list(self._given_back))


class _Open(threading.local):
    tally: Tally | None = None


_open = _Open()


def open_tally() -> Tally | None:
    """That of the machine whose lock this thread has entered last; None outside of all."""
    return _open.tally


class MachineLock:
    """A machine's lock, which a thread may enter again; tables made meanwhile are on the machine's tally."""

    __slots__ = ("_before", "_lock", "tally")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._before: list[Tally | None] = []
        self.tally = Tally()

    def __enter__(self) -> None:
        self._lock.acquire()
        self._before.append(_open.tally)
        _open.tally = self.tally

    def __exit__(self, *fault: object) -> None:
        _open.tally = self._before.pop()
        self._lock.release()
