"""What has been found, kept as long as it takes no more than so many bytes.

Two kinds of caches are kept by the process and not by an object: `remembered` functions, whose values may be
large, share one account in bytes; `small_cache` is for many small values. `clear_caches` empties both.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Any, Generic, ParamSpec, TypeVar

from sglc.automata import work
from sglc.automata.term import CharDfa, CharNfa

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
P = ParamSpec("P")
R = TypeVar("R")

_OF_ENTRY = 200
"""Bytes of an entry beside its value: key, two links and a place in the table, about."""
_OF_EDGE, _OF_STATE = 130, 130
"""Bytes of an edge (a tuple, and numbers that are seldom shared) and of a state, about."""
_MOST_OBJECTS = 200_000
"""Of a larger value no more are counted: it would not be kept in any case."""
DEFAULT_BYTES = 32 << 20
"""Of all that `remembered` functions have found: some ten thousand automata of patterns and numbers."""


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
                self._make_room()
        return value

    def limit(self, most: int) -> None:
        """Keep no more than so many bytes from now on."""
        with self._lock:
            self._most = most
            self._make_room()

    def _make_room(self) -> None:
        while self.bytes > self._most:
            _, (_, gone) = self._values.popitem(last=False)
            self.bytes -= gone

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()
            self.bytes = 0


def size_of(value: object) -> int:
    """Bytes of a value with all that it is made of, each object once: terms, automata, numbers and texts."""
    seen: set[int] = set()
    stack, total = [value], 0
    while stack and len(seen) < _MOST_OBJECTS:
        here = stack.pop()
        if here is None or id(here) in seen:
            continue
        seen.add(id(here))
        if isinstance(here, CharDfa | CharNfa):
            # To look at each edge would take as long as making them.
            total += _OF_EDGE * sum(map(len, here.edges)) + _OF_STATE * len(here.edges)
            continue
        total += sys.getsizeof(here)
        if isinstance(here, tuple | list | frozenset | set):
            stack += here
        elif isinstance(here, dict):
            stack += here
            stack += here.values()
        elif dataclasses.is_dataclass(here) and not isinstance(here, type):
            stack += [getattr(here, field.name, None) for field in dataclasses.fields(here)]
    return total if len(seen) < _MOST_OBJECTS else sys.maxsize


_found: BoundedCache[tuple[Any, ...], tuple[Any, ...]] = BoundedCache(DEFAULT_BYTES, size_of)
"""Of all functions: (arguments, value, work that it has cost) by function and arguments."""
_small: list[Callable[[], None]] = []


def remembered(function: Callable[P, R]) -> Callable[P, R]:
    """A function without effects whose values are kept with those of all such functions; the arguments can be
    looked up. What it raises is not kept.

    What is found again is charged with what it has cost: what was done before does not decide what an account
    can pay for (`work`).
    """

    @wraps(function)
    def found(*args: P.args, **kwargs: P.kwargs) -> R:
        key = (function, args, tuple(sorted(kwargs.items()))) if kwargs else (function, args)
        known = _found.get(key)
        if known is not None:
            work.spend(known[2])
            return known[1]
        with work.measured() as account:
            value = function(*args, **kwargs)
        _found.keep(key, (key[1:], value, account.spent))
        return value

    return found


def small_cache(most: int) -> Callable[[Callable[..., V]], Any]:
    """`functools.lru_cache` for so many small values, emptied by `clear_caches`."""

    def decorate(function: Callable[..., V]) -> Any:
        kept = lru_cache(maxsize=most)(function)
        _small.append(kept.cache_clear)
        return kept

    return decorate


def limit_caches(bytes: int) -> None:
    """Let the values of `remembered` functions take so many bytes together."""
    _found.limit(bytes)


def clear_caches() -> None:
    """Forget what all these functions have found; it is found again when it is asked for."""
    _found.clear()
    for clear in _small:
        clear()
