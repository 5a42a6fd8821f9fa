"""Tables from descriptions to numbers, which only grow."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Interned(dict[K, V]):
    """A dict that stays where the garbage collector has put it.

    The collector takes a plain dict off its lists while all that it holds are numbers and tuples of numbers,
    and with the next tuple that is put in, the dict is new again: the next collection of young objects, a few
    hundred tuples else, looks at all of its ten thousand entries. That took milliseconds, in the middle of a
    mask. An instance of a subclass is old once, and then looked at in full collections only.
    """

    __slots__ = ()
