"""The row kernels do what their reference says: set operations, sparse masks, batches, masked logits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.kernels import jit_library
from sglc.kernels.bitmask import operations, operations_reference
from sglc.kernels.bitmask.operations import RowDelta
from sglc.kernels.dsl.addresses import address
from sglc.kernels.dsl.array_layouts import LayoutError

pytest.importorskip("llvmlite")

WORDS = st.integers(0, 70) | st.sampled_from((15, 16, 17, 33))
SEEDS = st.integers(0, 10_000)


def random_row(words: int, seed: int, kind: str = "random") -> np.ndarray:
    if kind == "empty":
        return np.zeros(words, np.int32)
    if kind == "full":
        return np.full(words, -1, np.int32)
    return np.random.default_rng(seed).integers(-(2**31), 2**31, words).astype(np.int32)


KINDS = st.sampled_from(("random", "random", "empty", "full"))


def ids_of(row: np.ndarray) -> set[int]:
    return {
        32 * index + bit for index, word in enumerate(row.tolist()) for bit in range(32) if word >> bit & 1
    }


def test_the_row_kernels_compile_here() -> None:
    assert operations.compiled()
    jit_library.use_reference(True)
    try:
        assert not operations.compiled()
    finally:
        jit_library.use_reference(False)


@given(WORDS, SEEDS, KINDS, KINDS, st.booleans())
def test_set_operations(words: int, seed: int, first: str, second: str, plain: bool) -> None:
    a, b = random_row(words, seed, first), random_row(words, seed + 1, second)
    expected = {
        "unite": ids_of(a) | ids_of(b),
        "intersect": ids_of(a) & ids_of(b),
        "subtract": ids_of(a) - ids_of(b),
    }
    jit_library.use_reference(plain)
    try:
        for name, ids in expected.items():
            for out in (np.empty(words, np.int32), a.copy(), b.copy()):
                assert getattr(operations, name)(a, b, out) == len(ids)
                assert ids_of(out) == ids
            own = a.copy()
            assert getattr(operations, name)(own, b, own) == len(ids)
            assert ids_of(own) == ids
    finally:
        jit_library.use_reference(False)


def random_source(words: int, seed: int) -> tuple[RowDelta, list[int]]:
    """A source of any kind, and the words that it makes."""
    random = np.random.default_rng(seed)
    base = None if seed % 3 == 0 else random_row(words, seed)
    row = [0] * words if base is None else base.tolist()
    places = np.flatnonzero(random.random(words) < 0.2)
    changes = np.stack([places, random.integers(-(2**31), 2**31, len(places))], axis=1).astype(np.int32)
    for place, word in changes.tolist():
        row[place] = word
    return RowDelta(base, None if seed % 5 == 0 and not len(places) else changes, words), row


@given(st.integers(0, 9), WORDS, st.integers(0, 3), SEEDS, st.none() | st.integers(1, 12), st.booleans())
def test_batches_are_written(
    n: int, words: int, more: int, seed: int, threads: int | None, plain: bool
) -> None:
    """Into the rows in order or into some of a table, which may be wider; nothing else is touched."""
    made = [random_source(words, seed + index) for index in range(n)]
    sources, expected = [source for source, _ in made], [row for _, row in made]
    at = np.random.default_rng(seed).permutation(n + 2)[:n].astype(np.int64)
    jit_library.use_reference(plain)
    try:
        out = np.full((n, words + more), 5, np.int32)
        operations.fill_rows(sources, out, threads=threads)
        assert out.tolist() == [[*row, *[5] * more] for row in expected]
        table = np.full((n + 2, words + more), 6, np.int32)
        operations.fill_rows(sources, table, at, threads)
        for place in range(n + 2):
            wanted = [expected[i] for i in range(n) if at[i] == place] or [[6] * words]
            assert table[place].tolist() == [*wanted[0], *[6] * more]
    finally:
        jit_library.use_reference(False)


@given(st.integers(0, 5), st.integers(0, 100), st.integers(0, 2), SEEDS, KINDS, st.none() | st.integers(1, 4))
def test_masks_are_applied(n: int, size: int, more: int, seed: int, kind: str, threads: int | None) -> None:
    random = np.random.default_rng(seed)
    logits = random.normal(size=(n, size)).astype(np.float32)
    for value in (math.nan, math.inf, -math.inf):
        if logits.size:
            logits.reshape(-1)[random.integers(logits.size)] = value
    words = (size + 31) // 32 + more
    masks = random_row(n * words, seed, kind).reshape(n, words)
    compiled, plain = logits.copy(), logits.copy()
    operations.apply(compiled, masks, threads)
    operations_reference.apply(plain, masks)
    expected = [
        [value if masks[i, t // 32] >> (t % 32) & 1 else -math.inf for t, value in enumerate(row)]
        for i, row in enumerate(logits.tolist())
    ]
    np.testing.assert_array_equal(plain, np.array(expected, np.float32).reshape(n, size))
    np.testing.assert_array_equal(compiled, plain)


def test_layouts_that_do_not_fit_are_refused() -> None:
    row = np.zeros(4, np.int32)
    with pytest.raises(LayoutError):
        operations.unite(row, row, np.zeros(5, np.int32))
    with pytest.raises(LayoutError):
        operations.unite(row, row.astype(np.uint32), row)
    with pytest.raises(LayoutError):
        operations.intersect(row, row, np.zeros(8, np.int32)[::2])
    with pytest.raises(LayoutError):
        operations.subtract(row, row, row.astype(">i4"))
    with pytest.raises(LayoutError):
        operations.apply(np.zeros((2, 33), np.float32), np.zeros((2, 1), np.int32))
    for changes in (np.array([[4, 0]]), np.array([[-1, 0]]), np.array([[1, 2, 3]])):
        with pytest.raises(LayoutError):
            RowDelta(row, changes.astype(np.int32))
    with pytest.raises(LayoutError):
        RowDelta(row, np.array([[1, 0]], np.int64))
    read_only = np.zeros((1, 4), np.int32)
    read_only.flags.writeable = False
    short, long = RowDelta(row), RowDelta(np.zeros(5, np.int32))
    for sources, out, at in [
        ([short], np.zeros((2, 4), np.int32), None),
        ([short], np.zeros((1, 3), np.int32), None),
        ([short, long], np.zeros((2, 5), np.int32), None),
        ([short], np.zeros((1, 4), np.int64), None),
        ([short], np.zeros((1, 8), np.int32)[:, ::2], None),
        ([short], read_only, None),
        ([short], np.zeros((2, 4), np.int32), [2]),
        ([short], np.zeros((2, 4), np.int32), [-1]),
        ([short], np.zeros((2, 4), np.int32), [0, 1]),
    ]:
        for plain in (False, True):
            jit_library.use_reference(plain)
            try:
                with pytest.raises(LayoutError):
                    operations.fill_rows(sources, out, None if at is None else np.array(at, np.int64))
            finally:
                jit_library.use_reference(False)
    with pytest.raises(LayoutError):
        operations.apply(np.zeros((2, 33), np.float32), np.zeros((1, 2), np.int32))
    with pytest.raises(LayoutError):
        operations.apply(np.zeros((2, 33), np.float64), np.zeros((2, 2), np.int32))


@given(st.integers(0, 50), st.integers(0, 50))
def test_addresses_are_those_of_the_data(size: int, skip: int) -> None:
    whole = np.arange(size + skip, dtype=np.int32)
    part = whole[skip:]
    assert address(part) == part.ctypes.data
    if size:
        assert address(part) == address(whole) + 4 * skip
