"""The kernels of a step: machine code for any processor does what they do as Python, to the last bit."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("llvmlite")

import llvmlite.binding as llvm

from fakes.small_models import small_tokenizer
from oracles.llama_reference import BASE, config_of, random_weights
from sglc.kernels.dsl.language import F32, I8, Specialised, kernel, run
from sglc.kernels.dsl.vectors import load_floats, store_floats
from sglc.kernels.jit_library import typed_library
from sglc.kernels.llama.linear import (
    FACTORS,
    FINE,
    TILE,
    tile,
    tile_rows,
    tile_start,
)
from sglc.kernels.llama.model_shape import ModelShape, ShapeError
from sglc.kernels.llama.pointwise import exponential
from sglc.kernels.llama.quantize_activations import ROOM, TOGETHER, quantise, quantise_finely, quantise_groups
from sglc.kernels.llama.step import Batch, step
from sglc.kernels.llama.weight_layout import (
    Blocks,
    joined,
    kinds_mask,
    look_up,
    matrix_bytes,
    packed,
    quantised,
)
from sglc.kernels.llvm import jit
from sglc.kernels.llvm.target import Target, host, wide_host
from sglc.kernels.llvm.translate import translate
from sglc.runtime.executor.native import NativeExecutor, step_constants
from sglc.runtime.executor.plan import Piece
from sglc.runtime.model.weights.family import Family, family_of
from sglc.runtime.model.weights.packed import PackedModel, open_packed, pack

BASELINE = "+sse2,+cx8,+64bit"
SMALL = {**BASE, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "vocab_size": 24}
MODELS: dict[str, tuple[dict[str, Any], int]] = {
    "8 bits, biases, a window, few registers": (
        {
            **config_of("qwen2"),
            **SMALL,
            "num_attention_heads": 3,
            "num_key_value_heads": 1,
            "head_dim": 96,
            "sliding_window": 5,
            "max_window_layers": 0,
            "layer_types": None,
        },
        8,
    ),
    "4 bits, norms of heads, part of a head turns": (
        {
            **config_of("qwen3"),
            **SMALL,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 64,
            "partial_rotary_factor": 0.5,
        },
        4,
    ),
}


class MixedSource:
    """A `Source` in memory: the down projection has 8 bits, whatever the others have."""

    def __init__(self, weights: dict[str, np.ndarray], bits: int) -> None:
        self.weights, self.bits = weights, bits

    def matrix(self, name: str) -> Blocks:
        return quantised(self.weights[name], 8 if "down" in name else self.bits)

    def vector(self, name: str) -> np.ndarray:
        return self.weights[name]


class Interpreted(NativeExecutor):
    """Runs the step as Python."""

    def _invoke(self, batch: Batch, after: Sequence[float]) -> None:
        constants = Specialised(step, step_constants(self._family, self._model)).values
        run(step, self._arrays, batch, self._scratch, 0, 1, *after, *constants)


def compiled_for(target: Target, family: Family, model: PackedModel) -> Callable[..., Any]:
    one = Specialised(step, step_constants(family, model))
    name = f"sglc_{one.name}"
    code = jit.compile_functions(translate([one], "step", target), [name], target)[name]
    kinds = [kind for name, kind in one.annotations.items() if name != "return"]
    types = {"int": ctypes.c_int64, "float": ctypes.c_double}
    return jit.bind(code, None, *[types.get(kind, ctypes.c_void_p) for kind in kinds])


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_a_step_is_what_it_is_as_python(model: str, tmp_path: Path) -> None:
    """On this processor and without what it has; a prompt in two pieces, then tokens of two sequences."""
    config, bits = MODELS[model]
    family = family_of(config)
    pack(MixedSource(random_weights(family, 3), bits), family, tmp_path / "packed", "test")
    weights = open_packed(tmp_path / "packed", family, "test")
    assert weights is not None
    tokens = np.random.default_rng(5).integers(0, 24, 40).tolist()
    steps = [
        [Piece([3, 1], 0, tokens[:17], 2)],
        [Piece([3, 1], 17, tokens[17:18], 1), Piece([0], 0, tokens[18:20], 1)],
    ]

    def results(executor: NativeExecutor) -> list[np.ndarray]:
        executor.reserve(4)
        rows = [executor.run(pieces).copy() for pieces in steps]
        kept = np.frombuffer(executor.read_block(3), np.uint8).copy()  # all of its positions are written
        executor.close()
        return [*rows, kept]

    def executor(kind: type[NativeExecutor] = NativeExecutor) -> NativeExecutor:
        return kind("small", small_tokenizer(), family, weights, 1)

    wanted = results(executor(Interpreted))
    targets = [wide_host()]
    if host().is_x86 and bits == 8:
        targets.append(Target(host().triple, "x86-64", BASELINE))
    if {"avx2", "fma", "f16c"} <= host().has and bits == 4:
        targets.append(Target(host().triple, "x86-64", "+avx2,+fma,+f16c"))
    for target in targets:
        other = executor()
        other._step = compiled_for(target, family, weights)
        for found, right in zip(results(other), wanted, strict=True):
            if target.fused:
                assert np.array_equal(found, right), target.features
            elif (
                found.dtype == np.uint8
            ):  # sums are rounded twice, and now and then a byte goes the other way
                assert (found != right).mean() < 2e-2
            else:
                np.testing.assert_allclose(found, right, atol=2e-2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "target",
    [
        Target("x86_64-unknown-linux-gnu", "x86-64", "+avx2,+fma,+f16c,+avxvnni"),
        Target("aarch64-unknown-linux-gnu", "generic", "+neon"),
    ],
    ids=lambda target: f"{target.triple} {target.features}",
)
def test_a_step_for_other_processors(target: Target) -> None:
    """It compiles, and calls nothing that is not in every C library."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        machine = target.machine()
    except RuntimeError as error:
        pytest.skip(str(error))
    shape = family_of(MODELS["4 bits, norms of heads, part of a head turns"][0]).shape
    constants = {**shape.constants(), "kinds": kinds_mask((4, 9)), "head_kinds": kinds_mask((9,))}
    text = translate([Specialised(step, constants)], "step", target)
    code = machine.emit_assembly(jit.optimised(text, machine))
    called = set(re.findall(r"^\s*(?:callq?|bl)[ \t]+([A-Za-z_]\w*)", code, re.MULTILINE))
    inside = {name for name in called if name.startswith("inner_")}
    assert called - inside <= {"clock_gettime", "sched_yield", "memset", "memcpy"}


# -- weights ----------------------------------------------------------------------------------------------


@given(st.integers(0, 1 << 32), st.sampled_from([4, 8]), st.integers(1, 40), st.integers(1, 3))
@settings(max_examples=30)
def test_records_hold_the_weights(seed: int, bits: int, outputs: int, groups: int) -> None:
    dice = np.random.default_rng(seed)
    weights = (dice.normal(size=(outputs, 32 * groups)) * 0.1).astype(np.float32)
    blocks = quantised(weights, bits)
    step_size = blocks.scales.astype(np.float32).repeat(32, 1)
    assert (np.abs(blocks.floats() - weights) <= 0.51 * step_size + 1e-3 * np.abs(weights).max()).all()
    data = packed(blocks)
    assert blocks.kind == (4 if bits == 4 else 9)
    assert len(data) == matrix_bytes(outputs, 32 * groups, blocks.kind)
    for output in {0, outputs // 2, outputs - 1}:
        row = np.zeros(32 * groups, np.float32)
        run(look_up, data, 0, groups, blocks.kind, output, row, 0)
        np.testing.assert_allclose(row, blocks.floats()[output], rtol=1e-6, atol=1e-8)


def test_matrices_of_different_bits_are_joined_without_loss() -> None:
    dice = np.random.default_rng(1)
    parts = [quantised(dice.normal(size=(3, 64)).astype(np.float32), bits) for bits in (4, 8)]
    both = joined(parts)
    assert both.bits == 8
    assert np.array_equal(both.floats(), np.concatenate([part.floats() for part in parts]))


def test_weights_of_zero() -> None:
    for bits in (4, 8):
        assert not quantised(np.zeros((2, 32), np.float32), bits).floats().any()


@pytest.mark.parametrize(
    "change",
    [
        {"size": 48},
        {"size": 512},
        {"turned": 16},
        {"turned": 128},
        {"width": 40},
        {"shared": 4},
        {"layers": 0},
    ],
)
def test_shapes_that_are_refused(change: dict[str, int]) -> None:
    good = {
        "layers": 1,
        "heads": 6,
        "shared": 2,
        "size": 64,
        "turned": 64,
        "width": 64,
        "inner": 64,
        "vocabulary": 9,
        "biased": False,
        "normed": False,
    }
    assert ModelShape(**good).padded_vocabulary == 32  # type: ignore[arg-type]
    with pytest.raises(ShapeError):
        ModelShape(**{**good, **change})  # type: ignore[arg-type]


# -- linear layers ----------------------------------------------------------------------------------------


@given(st.integers(1, 300))
def test_tiles_are_even_and_hold_every_row_once(count: int) -> None:
    starts = [tile_start(row, count) for row in range(count)]
    assert starts == sorted(starts) and starts[0] == 0
    for row, start in enumerate(starts):
        assert start <= row < start + tile_rows(row, count) and 1 <= tile_rows(row, count) <= TILE
        assert tile_rows(row, count) == starts.count(start)
    sizes = {tile_rows(row, count) for row in range(count)}
    assert max(sizes) - min(sizes) <= 1


EXTREMES = (0.0, 1.0, -1.0, 3e-9, -7e5, 4e4, 1e-38)


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(EXTREMES), min_size=4, max_size=4),
    st.booleans(),
    st.sampled_from([4, 8]),
    st.booleans(),
)
@settings(max_examples=120, deadline=None)
def test_products_of_extremes(parts: list[float], centred: bool, bits: int, fine: bool) -> None:
    """Largest and smallest weights and numbers: no sum leaves the range where floats are whole numbers."""
    most = (1 << bits) - 1
    values = np.full((32, 1, 32), most, np.uint8)
    values[16:] = 0
    values[8:24, :, ::2] = most // 3
    scales = np.full((32, 1), 0.5, np.float16)
    offsets = np.full((32, 1), -0.5 * (1 << (bits - 1)) if centred else 0.25, np.float16)
    blocks = Blocks(values, scales, offsets, bits)
    assert blocks.kind == bits + centred
    x = np.repeat(np.array(parts, np.float32), 8)
    q, factors, y = np.zeros(32, np.int8), np.zeros(FINE, np.float32), np.zeros(32, np.float32)
    centre = 1 << (bits - 1) if centred else 0
    (quantise_finely if fine else quantise)(x[:16], x[16:], q.data, 0, factors.data, 0, centre)
    sort = bits, int(centred), int(fine)
    run(tile, packed(blocks), 0, 1, q, 0, factors, 0, y, 0, 32, False, 0, 0, 1, 2, *sort)
    ratios = factors[[5, 3, 1]] if fine else factors[[1]]
    last = factors[(FINE if fine else FACTORS) - 3]
    # The unit of each part is so many times that of the part behind it.
    ends = np.cumprod([last, *ratios], dtype=np.float64)[::-1]
    units = np.repeat(ends, 32 // len(ends))
    assert np.abs(q.astype(np.int32)).max() <= 127
    assert (np.abs(q * units - x) <= 0.5001 * np.maximum(units, 1e-30)).all()
    right = blocks.floats().astype(np.float64) @ (q * units)
    np.testing.assert_allclose(y, right, rtol=1e-5, atol=0.6 * units.max() + 1e-6 * np.abs(right).max())


@kernel
def one_by_one(y: F32, count: int, q: I8, factors: F32, apart: int, centre: int) -> None:
    for g in range(count):
        quantise(
            load_floats(y, 32 * g),
            load_floats(y, 32 * g + 16),
            q,
            32 * apart * g,
            factors,
            FACTORS * apart * g,
            centre,
        )


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3, TOGETHER, TOGETHER + 5, 2 * TOGETHER + 2])
def test_groups_together_are_what_each_is_alone(count: int) -> None:
    """To the last bit, as machine code and as Python; nothing beside their places is written to."""
    one = Specialised(quantise_groups, {"count": count})
    together, alone = typed_library(one).functions(), typed_library(one_by_one).functions()
    assert together is not None and alone is not None
    dice = np.random.default_rng(count)
    for apart, centre in ((1, 0), (3, 0), (2, 8), (1, 128)):
        x = (dice.normal(size=32 * count) * 2.0 ** dice.uniform(-9, 9, 32 * count)).astype(np.float32)
        x[: 16 * (centre & 8)] = 0.0
        x[dice.integers(0, 2 * count) * 16 :][:16] *= dice.choice([0.0, 1e-5, 1e5, -1e-42])
        found = []
        for kind in ("together", "python", "alone"):
            y = np.concatenate([x, np.zeros(ROOM, np.float32)])
            q = np.full(32 * apart * count, 77, np.int8)
            factors = np.full(FACTORS * apart * count, 0.5, np.float32)
            places = (y.ctypes.data, q.ctypes.data, factors.ctypes.data)
            if kind == "together":
                call = getattr(together, one.name)
                call(places[0], 0, len(x), places[1], 0, places[2], 0, apart, centre)
            elif kind == "python":
                run(quantise_groups, y, 0, len(x), q, 0, factors, 0, apart, centre, count)
            else:
                alone.one_by_one(places[0], count, places[1], places[2], apart, centre)
            assert (q.reshape(count, apart, 32)[:, 1:] == 77).all()
            assert (factors.reshape(count, apart, FACTORS)[:, 1:] == 0.5).all()
            found.append(q.tobytes() + factors.tobytes())
        assert found[0] == found[2]
        if host().fused:
            assert found[0] == found[1]


# -- functions --------------------------------------------------------------------------------------------


@kernel
def exponentials(x: F32, count: int) -> None:
    for i in range(count):
        store_floats(x, 16 * i, exponential(load_floats(x, 16 * i)))


def test_exponentials() -> None:
    library = typed_library(exponentials).functions()
    assert library is not None
    x = np.linspace(-87, 88, 1600, dtype=np.float32)
    x[:3] = [0.0, -1e30, -90.0]
    found, reference = x.copy(), x.copy()
    library.exponentials(found.ctypes.data, 100)
    run(exponentials, reference, 100)
    if host().is_arm or {"fma", "avx512f"} & host().has:
        assert found.tobytes() == reference.tobytes()
    right = np.exp(np.maximum(x, -87).astype(np.float64))
    assert np.abs(found / right - 1).max() < 2.5e-7
    assert found[0] == 1.0
