"""The place of the largest logit of each row: machine code, the kernel as Python and numpy agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("llvmlite")

from sglc.kernels.dsl.addresses import address
from sglc.kernels.jit_library import typed_library
from sglc.kernels.llama.argmax import CHUNK, argmax

MACHINE = typed_library(argmax, wide=True)


def found(rows: np.ndarray, width: int, threads: int) -> list[int]:
    """The places by machine code, each thread's part after the other."""
    functions = MACHINE.functions()
    assert functions is not None
    best = np.full(len(rows), -7, np.int32)
    for thread in range(threads):
        functions.argmax(address(rows), len(rows), width, rows.shape[1], address(best), thread, threads)
    return best.tolist()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 5),
    st.sampled_from([1, 15, 16, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 37]),
    st.integers(0, 20),
    st.sampled_from([2, 50, 10**6]),
    st.integers(1, 3),
)
def test_the_first_of_the_largest(
    seed: int, count: int, width: int, gap: int, values: int, threads: int
) -> None:
    random = np.random.default_rng(seed)
    rows = (random.integers(0, values, (count, width + gap)) - values / 2).astype(np.float32)
    rows[:, width:] = 1e30
    expected = rows[:, :width].argmax(1).tolist()
    assert found(rows, width, threads) == expected
    if width < 2 * CHUNK:
        best = np.full(count, -7, np.int32)
        for thread in range(threads):
            argmax(rows.reshape(-1).data, count, width, width + gap, best.data, thread, threads)
        assert best.tolist() == expected


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 17, CHUNK - 1, CHUNK + 2])
def test_rows_with_what_is_no_number_have_none(odd: float, place: int) -> None:
    rows = np.zeros((2, CHUNK + 3), np.float32)
    rows[:, CHUNK + 1] = 5.0
    rows[1, place] = odd
    assert found(rows, CHUNK + 3, 1) == [CHUNK + 1, -1]
