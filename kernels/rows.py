"""The door to the kernels on mask rows: set operations, sparse masks, batches, masks applied to logits.

unite(a, b, out), intersect(a, b, out), subtract(a, b, out) -> bits set in out      all int32[words]
fill_row(Source, out: int32[words])
fill_rows(sources: int64[n, 3], out: int32[n, words])
apply(logits: float32[n, V], rows: int32[n, words])
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from operator import attrgetter

import numpy as np

from sglc.kernels import reference_rows
from sglc.kernels.contract import LayoutError, expect
from sglc.kernels.library import COUNT, POINTER, Library, address

THREADED_BYTES = 16 << 20
"""Bytes that each further thread of a batch must have to write. Two threads copy 1,000 rows of 16 kB in two
thirds of the time of one, but 128 rows take half as long again: waking a thread costs more than it saves."""
MOST_THREADS = 8


def _ir() -> str:
    from sglc.kernels.llvm import rows

    return rows.build()


_SIZE = attrgetter("nbytes")
_SETS = (COUNT, POINTER, POINTER, POINTER, COUNT)
_ROWS = Library(
    _ir,
    {
        "sglc_unite": _SETS,
        "sglc_intersect": _SETS,
        "sglc_subtract": _SETS,
        "sglc_fill_rows": (None, POINTER, COUNT, POINTER, COUNT),
        "sglc_copy_rows": (None, POINTER, COUNT, POINTER, COUNT),
        "sglc_apply": (None, POINTER, POINTER, COUNT, COUNT, COUNT),
    },
)


class Source:
    """Where a mask is written from: a row; a list of ids; a base row without the ids of a list.

    It keeps its arrays alive; `place` is what a row of `sources` holds for it.
    """

    __slots__ = ("base", "ids", "place")

    def __init__(self, base: np.ndarray | None, ids: np.ndarray | None = None) -> None:
        if base is None and ids is None:
            raise LayoutError("a mask is made from a row, or from ids, or from both")
        if base is not None:
            expect(base, "base", np.int32)
        if ids is not None:
            expect(ids, "ids", np.int32)
            if len(ids) and ids.min() < 0:
                raise LayoutError("ids must not be negative")
        self.base = base
        self.ids = ids if ids is not None and len(ids) else None
        self.place = (
            0 if base is None else address(base),
            0 if self.ids is None else address(self.ids),
            0 if self.ids is None else len(self.ids),
        )

    def fits(self, words: int) -> bool:
        """Whether it makes rows of that many words."""
        inside = self.ids is None or int(self.ids.max()) < 32 * words
        return inside and (self.base is None or len(self.base) == words)


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
        return getattr(reference_rows, name)(a, b, out)
    return getattr(kernels, name)(address(a), address(b), address(out), len(a))


def fill_row(source: Source, out: np.ndarray) -> None:
    """Write the mask of a source into a row."""
    expect(out, "out", np.int32)
    if not source.fits(len(out)):
        raise LayoutError("the source makes rows of another length")
    kernels = _ROWS.functions()
    if kernels is None:
        empty = np.zeros(0, np.int32)
        reference_rows.fill_row(source.base, empty if source.ids is None else source.ids, out)
    else:
        place = np.array(source.place, np.int64)
        kernels.fill_rows(address(place), 1, address(out), len(out))


def fill_rows(sources: Sequence[Source], out: np.ndarray, threads: int | None = None) -> None:
    """Write the masks of n sources into the rows of `out` (int32[n, words]), by threads where it pays."""
    expect(out, "out", np.int32, 2)
    n, words = out.shape
    if len(sources) != n:
        raise LayoutError("there must be one source a row")
    if not all(source.fits(words) for source in sources):
        raise LayoutError("a source makes rows of another length")
    kernels = _ROWS.functions()
    if kernels is None:
        for source, row in zip(sources, out, strict=True):
            fill_row(source, row)
        return
    places = np.array([source.place for source in sources], np.int64)
    first, target = address(places), address(out)

    def part(start: int, stop: int) -> None:
        kernels.fill_rows(first + 24 * start, stop - start, target + 4 * words * start, words)

    _split(part, n, out.nbytes, threads)


def copy_rows(sources: Sequence[np.ndarray], out: np.ndarray, threads: int | None = None) -> None:
    """Copy n masks, contiguous int32[words] each, into the rows of `out` (int32[n, words])."""
    expect(out, "out", np.int32, 2)
    n, words = out.shape
    if len(sources) != n:
        raise LayoutError("there must be one source a row")
    if n and set(map(_SIZE, sources)) != {4 * words}:
        raise LayoutError("a source has another length")
    kernels = _ROWS.functions()
    if kernels is None:
        for source, row in zip(sources, out, strict=True):
            row[:] = source
        return
    places = np.fromiter(map(address, sources), np.int64, n)
    first, target = address(places), address(out)

    def part(start: int, stop: int) -> None:
        kernels.copy_rows(first + 8 * start, stop - start, target + 4 * words * start, words)

    _split(part, n, out.nbytes, threads)


def apply(logits: np.ndarray, rows: np.ndarray, threads: int | None = None) -> None:
    """Set logits (float32[n, V]) to -inf in place where the bit of their row (int32[n, words]) is not set."""
    expect(logits, "logits", np.float32, 2)
    expect(rows, "rows", np.int32, 2)
    (n, size), words = logits.shape, rows.shape[1]
    if len(rows) != n or 32 * words < size:
        raise LayoutError("there must be a bit of a row for each logit")
    kernels = _ROWS.functions()
    if kernels is None:
        reference_rows.apply(logits, rows)
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
