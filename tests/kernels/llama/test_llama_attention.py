"""Keys and values as bytes, and attention over them: against float64, and machine code against Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples

pytest.importorskip("llvmlite")

from sglc.kernels.dsl.language import Kernel, Specialised, run
from sglc.kernels.jit_library import typed_library
from sglc.kernels.llama.attention import STRETCH, attend, byte_numbers, score_numbers, split_query
from sglc.kernels.llama.kv_layout import (
    even_out,
    key_scales_at,
    part_bytes,
    store_kv,
    value_scales_at,
    values_at,
)
from sglc.kernels.llvm.target import host

SIZES = (32, 64, 96, 128)
SEEDS = st.integers(0, 1 << 32)
UNIT = 2.0**-10
"""How far a unit of 11 bits may be from the one that is wanted, relative to it."""


def compiled(one: Kernel, **constants: int) -> Any:
    found = Specialised(one, constants)
    library = typed_library(found, wide=True).functions()
    assert library is not None
    return getattr(library, found.name)


def at(array: np.ndarray) -> int:
    return int(array.ctypes.data)


def head(dice: np.random.Generator, size: int) -> np.ndarray:
    """Numbers of which a few are much larger than the others."""
    return (dice.normal(size=size) * 4.0 ** dice.normal(size=size)).astype(np.float32)


def keys_and_values(part: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """What a part stands for: float64 [16][size] each."""
    units = part[key_scales_at(size) : value_scales_at(size)].view(np.float16).reshape(-1, 16).astype(float)
    keys = part[: key_scales_at(size)].reshape(-1, 16, 4).swapaxes(0, 1).reshape(16, size) - 128.0
    value_scales = part[value_scales_at(size) :][:32].view(np.float16).astype(float)
    values = part[values_at(size) :].view(np.int8).reshape(4, size, 4).swapaxes(1, 2).reshape(16, size)
    return keys * units.T.repeat(8, 1), values * value_scales[:, None]


class Memory:
    """Parts of scattered blocks, which begin with what is no number."""

    def __init__(self, size: int, blocks: int, dice: np.random.Generator) -> None:
        self.size, self.part = size, part_bytes(size)
        self.pool = np.full(blocks * self.part, 255, np.uint8)
        self.table = dice.permutation(blocks).astype(np.int32)
        self._store_kv = compiled(store_kv, size=size)
        self._spare = np.zeros(size, np.int8)

    def put(self, position: int, key: np.ndarray, value: np.ndarray) -> None:
        qkv = np.concatenate([key, value])
        base = int(self.table[position // 16]) * self.part
        place = base, position % 16, at(self._spare), 0
        self._store_kv(at(qkv), 0, self.size, at(self.pool), *place)

    def read(self, length: int) -> tuple[np.ndarray, np.ndarray]:
        parts = self.pool.reshape(-1, self.part)[self.table]
        with np.errstate(invalid="ignore"):
            found = [keys_and_values(part, self.size) for part in parts[: -(-length // 16)]]
        return tuple(np.concatenate(each)[:length] for each in zip(*found, strict=True))  # type: ignore[return-value]


def attention(
    memory: Memory, queries: np.ndarray, start: int, length: int, python: bool = False
) -> np.ndarray:
    together, size = queries.shape
    stride = -(-length // 32) * 32
    out = np.zeros(queries.size, np.float32)
    scores = np.zeros(score_numbers(together, stride), np.float32)
    spare = np.zeros(byte_numbers(together, stride, size), np.int8)
    qkv = np.ascontiguousarray(queries.reshape(-1))
    if python:
        run(
            attend,
            qkv,
            0,
            out,
            0,
            memory.pool,
            0,
            memory.part,
            memory.table,
            0,
            start,
            length,
            size**-0.5,
            scores,
            0,
            spare,
            0,
            stride,
            together,
            size,
        )
    else:
        compiled(attend, together=together, size=size)(
            at(qkv),
            0,
            at(out),
            0,
            at(memory.pool),
            0,
            memory.part,
            at(memory.table),
            0,
            start,
            length,
            size**-0.5,
            at(scores),
            0,
            at(spare),
            0,
            stride,
        )
    return out.reshape(together, size)


def exact(memory: Memory, queries: np.ndarray, start: int, length: int) -> np.ndarray:
    """Float64 arithmetic on what the bytes stand for."""
    keys, values = (each[start:] for each in memory.read(length))
    scores = queries.astype(np.float64) @ keys.T * memory.size**-0.5
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights @ values / weights.sum(1, keepdims=True)


@given(SEEDS, st.sampled_from(SIZES), st.sampled_from([0.0, 1e-42, 1e-5, 1.0, 1e4]))
@settings(max_examples=60, deadline=None)
def test_bytes_are_within_half_a_unit(seed: int, size: int, factor: float) -> None:
    """Of 8 numbers of a key, and of all of a value; as Python the same bytes."""
    dice = np.random.default_rng(seed)
    key, value = (head(dice, size) * np.float32(factor) for _ in range(2))
    memory = Memory(size, 1, dice)
    place = int(dice.integers(0, 16))
    memory.put(place, key, value)
    keys, values = (each[place] for each in memory.read(16))
    unit = np.abs(key.reshape(-1, 8)).max(1).repeat(8).astype(float) / 127
    assert (np.abs(keys - key) <= 0.5 * (1 + 2 * UNIT) * unit + 2.0**-23 * 127).all()
    unit = np.abs(value).max().astype(float) / 127
    assert (np.abs(values - value) <= 0.5 * (1 + 2 * UNIT) * unit + 2.0**-23 * 127).all()
    pool = np.full(memory.part, 255, np.uint8)
    run(store_kv, np.concatenate([key, value]), 0, size, pool, 0, place, np.zeros(size, np.int8), 0, size)
    assert pool.tobytes() == memory.pool.tobytes()


@pytest.mark.parametrize("size", SIZES)
def test_a_place_is_written_to_alone(size: int) -> None:
    """In any order the same bytes, and those of other positions are left alone."""
    dice = np.random.default_rng(size)
    heads = [(head(dice, size), head(dice, size)) for _ in range(16)]
    one, other = Memory(size, 1, dice), Memory(size, 1, dice)
    for place in range(16):
        one.put(place, *heads[place])
    for place in dice.permutation(16).tolist():
        other.put(place, heads[0][0], heads[0][1])
        other.put(place, *heads[place])
    assert one.pool.tobytes() == other.pool.tobytes()


@pytest.mark.parametrize("size", [*SIZES, 256])
def test_a_head_made_even_keeps_its_products(size: int) -> None:
    dice = np.random.default_rng(size)
    even = compiled(even_out, size=size)
    a, b = head(dice, size), head(dice, size)
    x, y = a.copy(), b.copy()
    even(at(x), 0)
    even(at(y), 0)
    lengths = np.linalg.norm(a.astype(float)) * np.linalg.norm(b.astype(float))
    assert abs(x.astype(float) @ y - a.astype(float) @ b) <= 1e-6 * lengths
    as_python = a.copy()
    run(even_out, as_python, 0, size)
    assert as_python.tobytes() == x.tobytes()
    even(at(x), 0)
    np.testing.assert_allclose(x, a, atol=1e-6 * np.abs(a).max())


def test_a_large_number_is_spread_over_four() -> None:
    x = np.zeros(64, np.float32)
    x[21] = 8.0
    compiled(even_out, size=64)(at(x), 0)
    assert np.flatnonzero(x).tolist() == [5, 21, 37, 53] and (np.abs(x[[5, 21, 37, 53]]) == 4.0).all()


@given(SEEDS, st.sampled_from([*SIZES, 256]))
@settings(max_examples=40, deadline=None)
def test_queries_are_two_bytes_each(seed: int, size: int) -> None:
    """128 times the upper one and the lower one are the number within half a unit of 15 bits."""
    dice = np.random.default_rng(seed)
    query = head(dice, size)
    scores, spare = np.zeros(16, np.float32), np.zeros(byte_numbers(1, 0, size), np.int8)
    compiled(split_query, size=size)(at(query), 0, at(scores), 0, at(spare), 0, 1.0)
    whole = 128 * spare[:size].astype(int) + spare[size : 2 * size]
    assert np.abs(whole * float(scores[0]) - query).max() <= 0.5001 * np.abs(query).max() / 16319
    begin = spare[2 * size : 3 * size].view(np.int32)[::2]
    assert (begin == -whole.reshape(-1, 8).sum(1)).all()


@pytest.mark.slow
@given(SEEDS, st.sampled_from(SIZES), st.integers(1, 3), st.integers(1, 90), st.integers(1, 90))
@settings(max_examples=examples(24), deadline=None)
def test_attention_is_that_of_the_numbers(
    seed: int, size: int, together: int, length: int, window: int
) -> None:
    """Within 1e-3 of the largest value, though queries and weights are rounded and memory is not blank."""
    dice = np.random.default_rng(seed)
    start = max(0, length - window)
    memory = Memory(size, 6, dice)
    queries = dice.normal(size=(together, size)).astype(np.float32)
    for position in range(0 if seed % 2 else start, length):
        memory.put(position, dice.normal(size=size).astype(np.float32), head(dice, size))
    found = attention(memory, queries, start, length)
    right = exact(memory, queries, start, length)
    largest = np.abs(memory.read(length)[1][start:]).max()
    np.testing.assert_allclose(found, right, atol=1e-3 * largest)


@pytest.mark.parametrize(("size", "together"), [(32, 1), (64, 3), (96, 2)])
def test_attention_is_what_it_is_as_python(size: int, together: int) -> None:
    dice = np.random.default_rng(size)
    memory = Memory(size, 4, dice)
    for position in range(45):
        memory.put(position, head(dice, size), head(dice, size))
    queries = dice.normal(size=(together, size)).astype(np.float32)
    for start, length in ((0, 1), (0, 16), (0, 45), (21, 40)):
        found = attention(memory, queries, start, length)
        as_python = attention(memory, queries, start, length, python=True)
        if host().fused:
            assert found.tobytes() == as_python.tobytes()
        else:
            np.testing.assert_allclose(found, as_python, rtol=1e-4, atol=1e-5)


def test_weights_are_exact_where_they_should_be() -> None:
    """One position: its value to the last bit of its bytes. Equal scores: the mean."""
    dice = np.random.default_rng(2)
    memory = Memory(64, 4, dice)
    key = head(dice, 64)
    for position in range(50):
        memory.put(position, key, head(dice, 64))
    values = memory.read(50)[1]
    queries = dice.normal(size=(2, 64)).astype(np.float32)
    np.testing.assert_allclose(attention(memory, queries, 30, 31)[1], values[30], rtol=1e-6)
    mean = values[10:50].mean(0)
    np.testing.assert_allclose(attention(memory, queries, 10, 50)[0], mean, atol=2e-5 * np.abs(values).max())


def test_whole_sums_do_not_overflow_in_long_texts() -> None:
    """Longer than what is summed at a time, with the largest bytes and weights there are."""
    length = 16 * STRETCH + 40
    dice = np.random.default_rng(3)
    memory = Memory(32, -(-length // 16), dice)
    key, value = np.ones(32, np.float32), np.where(np.arange(32) % 2, 1, -1).astype(np.float32)
    for position in range(length):
        memory.put(position, key, value)
    found = attention(memory, np.ones((1, 32), np.float32), 0, length)
    np.testing.assert_allclose(found[0], memory.read(16)[1][0], rtol=1e-5)
