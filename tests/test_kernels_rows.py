"""The row kernels do what their reference says: set operations, sparse masks, batches, masked logits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.kernels import library, reference_rows, rows
from sglc.kernels.contract import LayoutError
from sglc.kernels.library import address
from sglc.kernels.rows import Source

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
    assert rows.compiled()
    library.use_reference(True)
    try:
        assert not rows.compiled()
    finally:
        library.use_reference(False)


@given(WORDS, SEEDS, KINDS, KINDS, st.booleans())
def test_set_operations(words: int, seed: int, first: str, second: str, plain: bool) -> None:
    a, b = random_row(words, seed, first), random_row(words, seed + 1, second)
    expected = {
        "unite": ids_of(a) | ids_of(b),
        "intersect": ids_of(a) & ids_of(b),
        "subtract": ids_of(a) - ids_of(b),
    }
    library.use_reference(plain)
    try:
        for name, ids in expected.items():
            for out in (np.empty(words, np.int32), a.copy(), b.copy()):
                assert getattr(rows, name)(a, b, out) == len(ids)
                assert ids_of(out) == ids
            own = a.copy()
            assert getattr(rows, name)(own, b, own) == len(ids)
            assert ids_of(own) == ids
    finally:
        library.use_reference(False)


@given(st.integers(1, 40), SEEDS, st.data())
def test_sparse_masks_are_expanded(words: int, seed: int, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, 32 * words - 1), max_size=20, unique=True).map(sorted))
    base = random_row(words, seed)
    sparse = np.array(ids, np.int32)
    for source, expected in [
        (Source(None, sparse), set(ids)),
        (Source(base, sparse), ids_of(base) - set(ids)),
        (Source(base), ids_of(base)),
    ]:
        for plain in (False, True):
            out = random_row(words, seed + 1)
            library.use_reference(plain)
            try:
                rows.fill_row(source, out)
            finally:
                library.use_reference(False)
            assert ids_of(out) == expected


@given(st.integers(0, 9), WORDS, SEEDS, st.none() | st.integers(1, 12))
def test_batches_are_rows_one_by_one(n: int, words: int, seed: int, threads: int | None) -> None:
    random = np.random.default_rng(seed)
    sources = []
    for index in range(n):
        ids = np.flatnonzero(random.random(32 * words) < 0.1).astype(np.int32)
        sources.append(
            [Source(None, ids), Source(random_row(words, index), ids), Source(random_row(words, 7))][
                index % 3
            ]
        )
    out = np.full((n, words), 5, np.int32)
    rows.fill_rows(sources, out, threads)
    plain = np.full((n, words), 6, np.int32)
    library.use_reference(True)
    try:
        rows.fill_rows(sources, plain)
    finally:
        library.use_reference(False)
    assert out.tolist() == plain.tolist()
    copies = np.full((n, words), 7, np.int32)
    rows.copy_rows(list(plain), copies, threads)
    assert copies.tolist() == plain.tolist()


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
    rows.apply(compiled, masks, threads)
    reference_rows.apply(plain, masks)
    expected = [
        [value if masks[i, t // 32] >> (t % 32) & 1 else -math.inf for t, value in enumerate(row)]
        for i, row in enumerate(logits.tolist())
    ]
    np.testing.assert_array_equal(plain, np.array(expected, np.float32).reshape(n, size))
    np.testing.assert_array_equal(compiled, plain)


def test_layouts_that_do_not_fit_are_refused() -> None:
    row = np.zeros(4, np.int32)
    with pytest.raises(LayoutError):
        rows.unite(row, row, np.zeros(5, np.int32))
    with pytest.raises(LayoutError):
        rows.unite(row, row.astype(np.uint32), row)
    with pytest.raises(LayoutError):
        rows.intersect(row, row, np.zeros(8, np.int32)[::2])
    with pytest.raises(LayoutError):
        rows.subtract(row, row, row.astype(">i4"))
    with pytest.raises(LayoutError):
        Source(None)
    with pytest.raises(LayoutError):
        Source(None, np.array([-1], np.int32))
    with pytest.raises(LayoutError):
        rows.fill_row(Source(None, np.array([128], np.int32)), row)
    with pytest.raises(LayoutError):
        rows.fill_row(Source(np.zeros(3, np.int32)), row)
    with pytest.raises(LayoutError):
        rows.fill_rows([Source(row)], np.zeros((2, 4), np.int32))
    with pytest.raises(LayoutError):
        rows.fill_rows([Source(row)], np.zeros((1, 5), np.int32))
    with pytest.raises(LayoutError):
        rows.copy_rows([row, row], np.zeros((1, 4), np.int32))
    with pytest.raises(LayoutError):
        rows.copy_rows([row, row[:3]], np.zeros((2, 4), np.int32))
    with pytest.raises(LayoutError):
        rows.apply(np.zeros((2, 33), np.float32), np.zeros((2, 1), np.int32))
    with pytest.raises(LayoutError):
        rows.apply(np.zeros((2, 33), np.float32), np.zeros((1, 2), np.int32))
    with pytest.raises(LayoutError):
        rows.apply(np.zeros((2, 33), np.float64), np.zeros((2, 2), np.int32))


@given(st.integers(0, 50), st.integers(0, 50))
def test_addresses_are_those_of_the_data(size: int, skip: int) -> None:
    whole = np.arange(size + skip, dtype=np.int32)
    part = whole[skip:]
    assert address(part) == part.ctypes.data
    if size:
        assert address(part) == address(whole) + 4 * skip
