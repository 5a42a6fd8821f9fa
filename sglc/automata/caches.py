"""Process-wide caches, bounded in bytes.

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
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

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


SMALL_BYTES = 4 << 20
"""Of one cache of small values: 20,000 of them."""


class LeastUsed(Generic[K, V]):
    """Values by key, of `most` bytes together; those that nobody has asked for longest make room.

    `size` says how many bytes a value takes, as a number where all take the same. One that takes more than
    all is not kept. Who keeps values does so one at a time; meanwhile any thread may `get` them, if keys are
    numbers, texts, or tuples of these.
    """

    __slots__ = ("_most", "_size", "_sizes", "_values", "bytes")

    def __init__(self, most: int = SMALL_BYTES, size: Callable[[V], int] | int = 0) -> None:
        self._most = most
        self._size = size
        self._values: OrderedDict[K, V] = OrderedDict()
        self._sizes: dict[K, int] = {}
        """Bytes by key; empty where all take the same."""
        self.bytes = 0
        """Of all that is kept, about."""

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def get(self, key: K) -> V | None: ...

    @overload
    def get(self, key: K, missing: object) -> Any: ...

    def get(self, key: K, missing: object = None) -> Any:
        """The value of a key; `missing` if it is not kept."""
        values = self._values
        found = values.get(key, missing)
        if found is not missing:
            try:
                values.move_to_end(key)
            except KeyError:
                # Another thread has made room with it.
                pass
        return found

    def keep(self, key: K, value: V) -> V:
        """Keep a value; returns it."""
        same = isinstance(self._size, int)
        size = (self._size if isinstance(self._size, int) else self._size(value)) + _OF_ENTRY
        if key in self._values:
            self._forget(key)
        if size <= self._most:
            self._values[key] = value
            if not same:
                self._sizes[key] = size
            self.bytes += size
            while self.bytes > self._most:
                self._forget(next(iter(self._values)))
        return value

    def _forget(self, key: K) -> None:
        del self._values[key]
        size = self._size
        self.bytes -= size + _OF_ENTRY if isinstance(size, int) else self._sizes.pop(key)

    def limit(self, most: int) -> None:
        """Keep no more than so many bytes from now on."""
        self._most = most
        while self.bytes > most:
            self._forget(next(iter(self._values)))

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()
        self._sizes.clear()
        self.bytes = 0


class BoundedCache(LeastUsed[K, V]):
    """The same for any thread and any keys."""

    __slots__ = ("_lock",)

    def __init__(self, most: int = SMALL_BYTES, size: Callable[[V], int] | int = 0) -> None:
        super().__init__(most, size)
        self._lock = threading.RLock()

    @overload
    def get(self, key: K) -> V | None: ...

    @overload
    def get(self, key: K, missing: object) -> Any: ...

    def get(self, key: K, missing: object = None) -> Any:
        """The value of a key; `missing` if it is not kept."""
        with self._lock:
            return super().get(key, missing)

    def keep(self, key: K, value: V) -> V:
        """Keep a value; returns it."""
        with self._lock:
            return super().keep(key, value)

    def limit(self, most: int) -> None:
        """Keep no more than so many bytes from now on."""
        with self._lock:
            super().limit(most)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            super().clear()


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


_found: BoundedCache[tuple[object, ...], tuple[object, object, int]] = BoundedCache(DEFAULT_BYTES, size_of)
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
            return cast(R, known[1])
        with work.measured() as account:
            value = function(*args, **kwargs)
        _found.keep(key, (key[1:], value, account.spent))
        return value

    return found


def small_cache(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`functools.lru_cache` for so many small values, emptied by `clear_caches`."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kept: Any = lru_cache(maxsize=most)(function)
        _small.append(kept.cache_clear)
        found: Callable[P, R] = kept
        return found

    return decorate


def limit_caches(bytes: int) -> None:
    """Let the values of `remembered` functions take so many bytes together."""
    _found.limit(bytes)


def clear_caches() -> None:
    """Forget what all these functions have found; it is found again when it is asked for."""
    _found.clear()
    for clear in _small:
        clear()
