"""API of the kernels on mask rows: set operations, batches, masks applied to logits.

unite(a, b, out), intersect(a, b, out), subtract(a, b, out) -> bits set in out      all int32[words]
fill_rows(sources: n of RowDelta, out: int32[m, words], at: n places of rows)
apply(logits: float32[n, V], rows: int32[n, words])
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from operator import attrgetter

import numpy as np

from sglc.kernels.bitmask import operations_reference
from sglc.kernels.dsl.addresses import address
from sglc.kernels.dsl.array_layouts import LayoutError, expect
from sglc.kernels.jit_library import COUNT, POINTER, Library

THREADED_BYTES = 16 << 20
"""Bytes that each further thread of a batch must have to write. Two threads copy 1,000 rows of 16 kB in two
thirds of the time of one, but 128 rows take half as long again: waking a thread costs more than it saves."""
MOST_THREADS = 8


def _ir() -> str:
    from sglc.kernels.llvm import bitmask

    return bitmask.build()


_PLACE = struct.Struct("4q").pack
_PLACE_OF = attrgetter("place")
_LENGTHS = "a source makes rows of another length"
_SETS = (COUNT, POINTER, POINTER, POINTER, COUNT)
_ROWS = Library(
    _ir,
    {
        "sglc_unite": _SETS,
        "sglc_intersect": _SETS,
        "sglc_subtract": _SETS,
        "sglc_fill_rows": (COUNT, POINTER, POINTER, COUNT, POINTER, COUNT, COUNT),
        "sglc_apply": (None, POINTER, POINTER, COUNT, COUNT, COUNT),
    },
)


class RowDelta:
    """A mask as a base row and the words in which the mask differs from it.

    `base` is int32[words], None for the empty row; `changes` int32[k, 2], a place and the word there. A base
    that many masks share stays in the cache of the processor, so that a row costs what writing it costs.

    A source keeps its arrays alive. `place` is what the kernel reads: addresses, number of changes, words.
    """

    __slots__ = ("base", "changes", "place", "words")

    def __init__(self, base: np.ndarray | None, changes: np.ndarray | None = None, words: int = 0) -> None:
        if base is not None:
            expect(base, "base", np.int32)
            words = len(base)
        if changes is not None:
            expect(changes, "changes", np.int32, 2)
            if changes.shape[1] != 2:
                raise LayoutError("a change is a place and a word")
            if len(changes) and not 0 <= int(changes[:, 0].min()) <= int(changes[:, 0].max()) < words:
                raise LayoutError("a change is outside of the row")
        self.base = base
        self.changes = changes
        self.words = words
        self.place = _PLACE(
            0 if base is None else address(base),
            0 if changes is None else address(changes),
            0 if changes is None else len(changes),
            words,
        )


def unite(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> int:
    """out = a ∪ b; returns the number of bits set in it. `out` may be one of the two."""
    return _combine("unite", a, b, out)


def intersect(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> int:
    """out = a ∩ b; returns the number of bits set in it. `out` may be one of the two."""
    return _combine("intersect", a, b, out)


def subtract(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> int:
    """out = a without b; returns the number of bits set in it. `out` may be one of the two."""
    return _combine("subtract", a, b, out)


def _combine(name: str, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> int:
    for row in (a, b, out):
        expect(row, "a row", np.int32)
    if not len(a) == len(b) == len(out):
        raise LayoutError("rows must have one length")
    kernels = _ROWS.functions()
    if kernels is None:
        return int(getattr(operations_reference, name)(a, b, out))
    return int(getattr(kernels, name)(address(a), address(b), address(out), len(a)))


def fill_rows(
    sources: Sequence[RowDelta],
    out: np.ndarray,
    at: np.ndarray | None = None,
    threads: int | None = None,
) -> None:
    """Write the masks of n sources into rows of `out` (int32[m, words or more], words of a row contiguous).

    Source i goes into row i, or into row at[i] (int64[n]). Words beyond those of the sources are left alone.
    One call without the interpreter lock, by threads where it pays.
    """
    if not isinstance(out, np.ndarray) or out.dtype.type is not np.int32 or out.ndim != 2:
        raise LayoutError("out must be an int32 array with 2 dimensions")
    n, (m, width), (stride, step) = len(sources), out.shape, out.strides
    if (out.size and width > 1 and step != 4) or stride % 4 or not out.flags.writeable:
        raise LayoutError("the words of a row must be contiguous, and writeable")
    if at is None:
        if n != m:
            raise LayoutError(f"{n} sources do not fill {m} rows")
    else:
        expect(at, "at", np.int64)
        if len(at) != n or (n and not 0 <= int(at.min()) <= int(at.max()) < m):
            raise LayoutError("there must be a row for each source")
    if not n:
        return
    words = sources[0].words
    if width < words:
        raise LayoutError("the rows are too short")
    kernels = _ROWS.functions()
    if kernels is None:
        if any(source.words != words for source in sources):
            raise LayoutError(_LENGTHS)
        for index, source in enumerate(sources):
            row = out[index if at is None else at[index]]
            operations_reference.fill_row(source.base, source.changes, row[:words])
        return
    places = b"".join(map(_PLACE_OF, sources))
    target, rows, size = address(out), 0 if at is None else address(at), 4 * words * n
    if threads is None and size < 2 * THREADED_BYTES:
        if not kernels.fill_rows(places, rows, n, target, stride // 4, words):
            raise LayoutError(_LENGTHS)
        return
    first = address(np.frombuffer(places, np.uint8))

    def part(start: int, stop: int) -> None:
        where, begin = (rows + 8 * start, target) if rows else (0, target + stride * start)
        if not kernels.fill_rows(first + 32 * start, where, stop - start, begin, stride // 4, words):
            raise LayoutError(_LENGTHS)

    _split(part, n, size, threads)


def apply(logits: np.ndarray, rows: np.ndarray, threads: int | None = None) -> None:
    """Set logits (float32[n, V]) to -inf in place where the bit of their row (int32[n, words]) is not set."""
    expect(logits, "logits", np.float32, 2)
    expect(rows, "rows", np.int32, 2)
    (n, size), words = logits.shape, rows.shape[1]
    if len(rows) != n or 32 * words < size:
        raise LayoutError("there must be a bit of a row for each logit")
    kernels = _ROWS.functions()
    if kernels is None:
        operations_reference.apply(logits, rows)
        return
    values, bits = address(logits), address(rows)

    def part(start: int, stop: int) -> None:
        kernels.apply(values + 4 * size * start, bits + 4 * words * start, stop - start, size, words)

    _split(part, n, logits.nbytes, threads)


def compiled() -> bool:
    """Whether the compiled kernels run."""
    return _ROWS.functions() is not None


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MOST_THREADS - 1, thread_name_prefix="sglc-rows")


def _split(part: Callable[[int, int], None], n: int, size: int, threads: int | None) -> None:
    """Do rows 0 … n - 1, in even parts by several threads; None: as many as the work is worth."""
    if threads is None:
        threads = min(os.cpu_count() or 1, MOST_THREADS, 1 + size // THREADED_BYTES)
    threads = max(1, min(threads, n, MOST_THREADS))
    if threads == 1:
        part(0, n)
        return
    edges = [n * index // threads for index in range(threads + 1)]
    others = [_pool().submit(part, edges[i], edges[i + 1]) for i in range(1, threads)]
    part(0, edges[1])
    for other in others:
        other.result()
