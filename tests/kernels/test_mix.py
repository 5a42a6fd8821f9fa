"""Two rows of logits as one distribution: sums, shares and mixtures, beside their definitions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from oracles.decoding import blend
from sglc.kernels import jit_library
from sglc.kernels.bitmask import mix, mix_reference
from sglc.kernels.dsl.array_layouts import LayoutError

Approx = Any
RULES: tuple[mix.Rule, ...] = ("kl", "ess", "entropy", "forward")
PAIRS = 2000


@pytest.fixture
def reference() -> Iterator[None]:
    """Float64 sums in place of the kernel's."""
    jit_library.use_reference(True)
    yield
    jit_library.use_reference(False)


def pair(number: int, size: int = 23) -> tuple[np.ndarray, np.ndarray]:
    """Two rows of float32 logits; how sharp and how far apart they are varies."""
    rng = np.random.default_rng(number)
    base = rng.normal(size=size) * rng.choice([0.3, 1.0, 4.0])
    apart = rng.normal(size=size) * rng.choice([0.1, 1.0, 3.0])
    return base.astype(np.float32), (base + apart).astype(np.float32)


def mask_of(bits: np.ndarray) -> np.ndarray:
    whole = np.zeros(-(-len(bits) // 32) * 32, bool)
    whole[: len(bits)] = bits
    return np.packbits(whole, bitorder="little").view(np.int32)


def one(base: np.ndarray, teacher: np.ndarray, mask: np.ndarray | None, rule: mix.Rule) -> float:
    found = mix.solve(base[None], teacher[None], None if mask is None else mask[None], rule)
    return float(found.alpha[0])


def near(base: np.ndarray, teacher: np.ndarray, mask: np.ndarray | None, alpha: float) -> Approx:
    """A share, as exact as ψ' can tell it apart: to 3e-6 of ψ', whose slope is the variance there."""
    return pytest.approx(alpha, abs=3e-6 / mix.moments(base, teacher, mask, alpha).variance + 1e-5)


# -- what the rules mean -----------------------------------------------------------------------------


@pytest.mark.slow
def test_shares_have_what_their_rules_ask_for(reference: None) -> None:
    for number in range(PAIRS):
        base, teacher = pair(number)
        first, second = blend.distribution(base), blend.distribution(teacher)
        found = mix.solve(base[None], teacher[None], None, "kl")
        q = blend.between(base, teacher, float(found.alpha[0]))
        apart = blend.divergence(q, first)
        assert apart == pytest.approx(blend.divergence(q, second), abs=1e-6)
        assert float(found.chernoff[0]) == pytest.approx(apart, abs=1e-6)
        alpha = one(base, teacher, None, "ess")
        q = blend.between(base, teacher, alpha)
        shares = blend.effective(first, q), blend.effective(second, q)
        assert shares[0] == pytest.approx(shares[1], abs=1e-6)
        assert mix.effective_samples(base, teacher, None, alpha) == pytest.approx(shares, abs=1e-6)
        q = blend.between(base, teacher, one(base, teacher, None, "forward"))
        assert blend.divergence(first, q) == pytest.approx(blend.divergence(second, q), abs=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_shares_are_the_roots_that_halving_finds(reference: None, rule: mix.Rule) -> None:
    for number in range(0, PAIRS, 25):
        base, teacher = pair(number)
        wanted = blend.alpha_of(base, teacher, rule)
        assert one(base, teacher, None, rule) == near(base, teacher, None, wanted)


@pytest.mark.parametrize("rule", RULES)
def test_the_kernel_finds_what_the_reference_finds(rule: mix.Rule) -> None:
    rng = np.random.default_rng(5)
    rows = [pair(number, 1500) for number in range(40)]
    base, teacher = (np.stack([row[side] for row in rows]) for side in (0, 1))
    masks = np.stack([mask_of(rng.random(1500) < share) for share in rng.choice([0.02, 0.5, 1.0], 40)])
    made = mix.solve(base, teacher, masks, rule)
    jit_library.use_reference(True)
    try:
        wanted = mix.solve(base, teacher, masks, rule)
    finally:
        jit_library.use_reference(False)
    assert made.alpha == pytest.approx(wanted.alpha, abs=2e-3)
    assert np.median(np.abs(made.alpha - wanted.alpha)) < 1e-5
    assert made.chernoff == pytest.approx(wanted.chernoff, abs=2e-6)


def test_sharp_rows_that_disagree_have_a_share_all_the_same() -> None:
    base, teacher = (np.zeros(40, np.float32) for _ in range(2))
    base[3], teacher[9] = 60.0, 90.0
    for rule in ("kl", "ess"):
        assert one(base, teacher, None, rule) == pytest.approx(blend.alpha_of(base, teacher, rule), abs=1e-5)


# -- masks, constants, tokens without a probability --------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_a_mask_leaves_what_a_shorter_row_has(rule: mix.Rule) -> None:
    for number in range(50):
        base, teacher = pair(number, 700)
        bits = np.random.default_rng(number).random(700) < 0.3
        alone = one(base[bits].copy(), teacher[bits].copy(), None, rule)
        mask = mask_of(bits)
        assert one(base, teacher, mask, rule) == near(base, teacher, mask, alone)


def test_masking_commutes_with_mixing_and_not_with_solving() -> None:
    base, teacher = pair(7, 500)
    bits = np.random.default_rng(7).random(500) < 0.2
    whole = blend.distribution(mix.mixture(base, teacher, 0.3))[bits]
    part = blend.distribution(mix.mixture(base[bits].copy(), teacher[bits].copy(), 0.3))
    assert whole / whole.sum() == pytest.approx(part, abs=1e-6)
    assert abs(one(base, teacher, None, "kl") - one(base, teacher, mask_of(bits), "kl")) > 1e-3


@pytest.mark.parametrize("rule", RULES)
def test_equal_rows_share_evenly(rule: mix.Rule) -> None:
    base, _ = pair(1, 300)
    assert one(base, base.copy(), None, rule) == pytest.approx(0.5, abs=1e-9)
    if rule != "entropy":
        assert one(base, base + np.float32(2.0), None, rule) == pytest.approx(0.5, abs=1e-6)
    assert mix.mixture(base, base.copy(), 0.5).tobytes() == base.tobytes()


def test_one_legal_token_shares_evenly() -> None:
    base, teacher = pair(2, 64)
    mask = mask_of(np.arange(64) == 40)
    for rule in RULES:
        found = mix.solve(base[None], teacher[None], mask[None], rule)
        assert found.alpha[0] == pytest.approx(0.5) and found.chernoff[0] == pytest.approx(0.0, abs=1e-6)


def test_tokens_without_a_probability_are_in_neither() -> None:
    base, teacher = pair(3, 200)
    kept = np.ones(200, bool)
    base[5], teacher[100], kept[[5, 100]] = -np.inf, -np.inf, False
    for rule in RULES[:2] + RULES[3:]:
        assert one(base, teacher, None, rule) == pytest.approx(
            one(base, teacher, mask_of(kept), rule), abs=1e-6
        )
    mixed = mix.mixture(base, teacher, 0.4)
    assert np.isneginf(mixed).tolist() == (~kept).tolist()
    assert np.isneginf(mix.mixture(base, teacher, 1.5)).tolist() == (~kept).tolist()
    assert mix.mixture(base, teacher, 1.0) is teacher and mix.mixture(base, teacher, 0.0) is base


def test_rows_without_a_common_token_have_no_share() -> None:
    base, teacher = pair(4, 50)
    base[:25], teacher[25:] = -np.inf, -np.inf
    found = mix.solve(base[None], teacher[None], None, "kl")
    assert found.alpha[0] == 0.5 and math.isnan(found.chernoff[0])
    assert math.isnan(mix.chernoff(base, teacher, None, 0.5))
    nothing = np.zeros(2, np.int32)
    assert mix.moments(base, teacher, nothing, 0.5) == (-math.inf, 0.0, 0.0)


@pytest.mark.parametrize("size", [1, 31, 32, 33, 512, 513, 1500])
@pytest.mark.parametrize("weight", [-1.0, 0.0, 0.4, 1.0, 2.0])
def test_sums_are_those_of_the_reference(size: int, weight: float) -> None:
    base, teacher = pair(size, size)
    masks = (None, mask_of(np.random.default_rng(size).random(size) < 0.5))
    for mask in masks:
        made = mix.moments(base, teacher, mask, weight)
        wanted = mix_reference.moments(base, teacher, mask, weight)
        assert made == pytest.approx(wanted, rel=1e-5, abs=1e-5)
    out = np.empty_like(base)
    mix_reference.mixture(base, teacher, weight, out)
    assert mix.mixture(base, teacher, weight) == pytest.approx(out, rel=1e-6, abs=1e-6)


def test_arrays_are_looked_at() -> None:
    base, teacher = pair(1, 64)
    with pytest.raises(LayoutError, match="length"):
        mix.moments(base, teacher[:40], None, 0.5)
    with pytest.raises(LayoutError, match="shorter"):
        mix.moments(base, teacher, np.zeros(1, np.int32), 0.5)
    with pytest.raises(LayoutError):
        mix.mixture(base.astype(np.float64), teacher, 0.5)
