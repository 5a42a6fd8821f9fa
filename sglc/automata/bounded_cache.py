"""What has been found, kept as long as it takes no more than so many bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_OF_ENTRY = 200
"""Bytes of an entry beside its value: key, two links and a place in the table, about."""


class BoundedCache(Generic[K, V]):
    """Values by key, of `most` bytes together; those that nobody has asked for longest make room.

    For any thread. `size` says how many bytes a value takes. One that takes more than all is not kept.
    """

    __slots__ = ("_lock", "_most", "_size", "_values", "bytes")

    def __init__(self, most: int, size: Callable[[V], int]) -> None:
        self._most = most
        self._size = size
        self._lock = threading.Lock()
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self.bytes = 0
        """Of all that is kept, about."""

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """The value of a key, if it is kept."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def keep(self, key: K, value: V) -> V:
        """Keep a value; returns it."""
        size = self._size(value) + _OF_ENTRY
        with self._lock:
            before = self._values.pop(key, None)
            if before is not None:
                self.bytes -= before[1]
            if size <= self._most:
                self._values[key] = value, size
                self.bytes += size
                while self.bytes > self._most:
                    _, (_, gone) = self._values.popitem(last=False)
                    self.bytes -= gone
        return value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self.bytes = 0
