"""Sampling: masks, the order of operations, exact distributions, numbers that depend on the request only."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.decoding.noise import score
from sglc.runtime.engine.sampling.lazy import MOST_TRIES, SPARE_TRIES
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import NothingAllowed, distribution, log_mass, noise_key, sample

SIZE = 70
finite = st.floats(-20, 20, width=32)
logit_rows = st.lists(finite, min_size=SIZE, max_size=SIZE).map(lambda row: np.array(row, np.float32))
allowed_sets = st.sets(st.integers(0, SIZE - 1), min_size=1)
settings_of_sampling = st.builds(
    Sampling,
    temperature=st.floats(0.1, 3),
    top_k=st.none() | st.integers(1, SIZE + 5),
    top_p=st.none() | st.floats(0.05, 1),
    min_p=st.none() | st.floats(0, 1),
)


def mask_of(ids: set[int], size: int = SIZE) -> np.ndarray:
    words = np.zeros((size + 31) // 32, np.uint32)
    for id in ids:
        words[id // 32] |= np.uint32(1 << id % 32)
    return words.view(np.int32)


def reference_distribution(logits: list[float], sampling: Sampling) -> list[float]:
    """Probabilities by the definition, one step after the other, in plain Python."""
    scaled = [value / sampling.temperature for value in logits]
    kept = set(range(len(scaled)))
    ranked = sorted(kept, key=lambda index: (-scaled[index], index))
    if sampling.top_k is not None:
        kept &= set(ranked[: sampling.top_k])
    weights = softmax(scaled, kept)
    if sampling.top_p is not None:
        mass, chosen = 0.0, set()
        for index in sorted(kept, key=lambda index: (-weights[index], index)):
            if mass >= sampling.top_p and sampling.top_p < 1:
                break
            chosen.add(index)
            mass += weights[index]
        kept = chosen
        weights = softmax(scaled, kept)
    if sampling.min_p:
        top = max(weights)
        kept = {index for index in kept if weights[index] >= sampling.min_p * top}
        weights = softmax(scaled, kept)
    return weights


def softmax(scaled: list[float], kept: set[int]) -> list[float]:
    top = max(scaled[index] for index in kept)
    weights = [math.exp(value - top) if index in kept else 0.0 for index, value in enumerate(scaled)]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.slow
@given(logit_rows, settings_of_sampling)
def test_the_distribution_is_that_of_the_definition(logits: np.ndarray, sampling: Sampling) -> None:
    probabilities, order = distribution(logits, sampling)
    spread = np.zeros(SIZE)
    spread[np.arange(SIZE) if order is None else order] = probabilities
    expected = np.array(reference_distribution([float(value) for value in logits], sampling))
    # A token right at the border of top-p or min-p may fall on either side by rounding.
    different = np.abs(spread - expected) > 1e-5
    assert not different.any() or alike(logits[different]) or near_a_border(logits, sampling)


def test_what_is_just_as_likely_as_min_p_asks_stays() -> None:
    equal = np.array([2.0, 1.0, 2.0, 2.0], np.float32)
    probabilities, order = distribution(equal, Sampling(1.0, min_p=1.0))
    assert order is not None and order.tolist() == [0, 2, 3]
    assert probabilities.tolist() == pytest.approx([1 / 3] * 3)


def alike(logits: np.ndarray) -> bool:
    """Whether logits differ, but by so little that their weights are the same: then any may stay."""
    return bool(0 < np.ptp(logits) < 1e-6)


def near_a_border(logits: np.ndarray, sampling: Sampling) -> bool:
    """Whether a cumulative mass or a ratio lies within rounding of the limit."""
    limit = Sampling(sampling.temperature, sampling.top_k)
    weights = np.array(reference_distribution([float(value) for value in logits], limit))
    masses = np.cumsum(np.sort(weights)[::-1])
    by_mass = sampling.top_p is not None and np.abs(masses - sampling.top_p).min() < 1e-6
    return by_mass or bool(sampling.min_p and np.abs(weights / weights.max() - sampling.min_p).min() < 1e-6)


@pytest.mark.slow
@given(logit_rows, allowed_sets)
def test_greedy_takes_the_best_allowed_token(logits: np.ndarray, allowed: set[int]) -> None:
    drawn = sample(logits, mask_of(allowed), Sampling(), (0, 0))
    best = max(allowed, key=lambda id: (logits[id], -id))
    assert drawn.token == best
    everything = math.log(sum(math.exp(value) for value in logits.tolist()))
    assert drawn.logprob == pytest.approx(float(logits[best]) - everything, abs=1e-4)


@pytest.mark.slow
@given(logit_rows, allowed_sets, settings_of_sampling, st.integers(0, 99))
def test_a_forbidden_token_is_never_drawn(
    logits: np.ndarray, allowed: set[int], sampling: Sampling, seed: int
) -> None:
    drawn = sample(logits, mask_of(allowed), sampling, (seed, 3))
    assert drawn.token in allowed
    assert drawn == sample(logits, mask_of(allowed), sampling, (seed, 3))


@pytest.mark.slow
@given(logit_rows, allowed_sets, settings_of_sampling, st.integers(0, 99))
def test_the_largest_sum_of_logit_and_noise_is_drawn(
    logits: np.ndarray, allowed: set[int], sampling: Sampling, seed: int
) -> None:
    """Of those that top-k, top-p and min-p leave of the allowed tokens, as if there were no others."""
    ids = np.array(sorted(allowed))
    kept = distribution(np.ascontiguousarray(logits[ids]), sampling)[1]
    left = ids if kept is None else ids[kept]
    key, top = noise_key(seed, 1), float(logits[left].max())
    scores = {
        int(id): score(float(logits[id]), top, sampling.temperature, int(id), key) for id in left.tolist()
    }
    drawn = sample(logits, mask_of(allowed), sampling, (seed, 1), scored=False).token
    assert scores[drawn] >= max(scores.values()) - 1e-4


@given(logit_rows, allowed_sets, st.floats(0.1, 3), st.integers(0, 99))
def test_a_token_that_is_drawn_of_all_is_drawn_of_some(
    logits: np.ndarray, allowed: set[int], temperature: float, seed: int
) -> None:
    free = sample(logits, None, Sampling(temperature), (seed, 3)).token
    assert sample(logits, mask_of(allowed | {free}), Sampling(temperature), (seed, 3)).token == free


@pytest.mark.slow
@given(logit_rows, settings_of_sampling, st.integers(0, 99))
def test_a_full_mask_is_no_mask(logits: np.ndarray, sampling: Sampling, seed: int) -> None:
    full = sample(logits, mask_of(set(range(SIZE))), sampling, (seed, 0))
    free = sample(logits, None, sampling, (seed, 0))
    assert full.token == free.token
    assert full.logprob == pytest.approx(free.logprob)


class Asked:
    """Answers for single tokens of a set, and counts how it was asked."""

    def __init__(self, ids: set[int], known: bool = False) -> None:
        self.ids, self.known, self.asked, self.whole = ids, known, 0, 0

    def ready(self) -> bool:
        return self.known

    def row(self) -> np.ndarray:
        self.whole += 1
        return mask_of(self.ids)

    def allows(self, token: int) -> bool:
        self.asked += 1
        return token in self.ids


few_values = st.lists(st.integers(0, 5), min_size=SIZE, max_size=SIZE).map(
    lambda row: np.array(row, np.float32)
)
odd_values = (
    logit_rows
    | few_values
    | st.lists(st.sampled_from((0.0, 1.0, 2.0, math.nan, -math.inf)), min_size=SIZE, max_size=SIZE).map(
        lambda row: np.array(row, np.float32)
    )
)


@pytest.mark.slow
@given(
    odd_values,
    st.sets(st.integers(0, SIZE - 1)),
    st.just(Sampling()) | settings_of_sampling,
    st.integers(0, 99),
)
def test_asking_for_tokens_one_by_one_changes_nothing(
    logits: np.ndarray, allowed: set[int], sampling: Sampling, seed: int
) -> None:
    """Ties, NaN and impossible tokens included: the same token and the same logprob, bit for bit."""
    results = []
    for legal in (mask_of(allowed), Asked(allowed), Asked(allowed, known=True)):
        try:
            drawn = sample(logits, legal, sampling, (seed, 5))
            results.append((drawn.token, repr(drawn.logprob)))
        except NothingAllowed:
            results.append(None)
    assert results[0] == results[1] == results[2]
    if results[0] is not None:
        assert results[0][0] in allowed


def test_whole_masks_are_made_only_where_they_are_cheaper() -> None:
    logits = np.arange(SIZE, dtype=np.float32)[::-1].copy()
    everything = set(range(SIZE))

    def asked(legal: Asked, sampling: Sampling) -> tuple[int, int]:
        sample(logits, legal, sampling, (0, 0))
        return legal.asked, legal.whole

    greedy, few = Sampling(), Sampling(1.0, top_k=5)
    assert asked(Asked(everything), greedy) == (1, 0)
    assert asked(Asked(everything), few) == (5, 0)
    assert asked(Asked(everything - {0, 1, 2}), greedy) == (5, 0)
    assert asked(Asked({SIZE - 1}), greedy) == (2 + SPARE_TRIES, 1)
    assert asked(Asked(everything, known=True), greedy) == (0, 1)
    drawn = Sampling(1.0)
    first = sample(logits, None, drawn, (0, 0)).token
    assert asked(Asked(everything), drawn) == (1, 0)
    assert asked(Asked(everything - {first}), drawn) == (1, 1)
    assert asked(Asked(everything, known=True), drawn) == (0, 1)
    assert asked(Asked(everything), Sampling(1.0, top_k=MOST_TRIES)) == (MOST_TRIES, 0)
    assert asked(Asked(everything), Sampling(1.0, top_k=MOST_TRIES + 1)) == (0, 1)
    assert asked(Asked(everything), Sampling(1.0, top_p=0.5)) == (1, 0)
    assert asked(Asked(everything), Sampling(1.0, top_p=0.9, min_p=0.2)) == (2, 0)
    assert asked(Asked(everything), Sampling(9.0, top_p=0.99)) == (MOST_TRIES, 1)
    assert asked(Asked(everything - {0, 1}), Sampling(1.0, min_p=0.3)) == (4, 0)


def test_one_allowed_token_is_certain() -> None:
    drawn = sample(np.zeros(SIZE, np.float32), mask_of({7}), Sampling(1.0), (1, 1))
    assert drawn.token == 7
    assert drawn.logprob == pytest.approx(-math.log(SIZE), abs=1e-5)


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(1.0)], ids=["greedy", "drawn"])
def test_an_empty_mask_is_an_error(sampling: Sampling) -> None:
    with pytest.raises(NothingAllowed):
        sample(np.zeros(SIZE, np.float32), mask_of(set()), sampling, (0, 0))
    with pytest.raises(NothingAllowed):
        sample(np.full(SIZE, -np.inf, np.float32), mask_of({1}), sampling, (0, 0))


@pytest.mark.slow
def test_frequencies_are_the_probabilities() -> None:
    """20,000 draws with fixed seeds; the margin is six standard deviations."""
    logits = np.log(np.array([0.5, 0.25, 0.15, 0.1], np.float32))
    counts = np.zeros(4)
    for position in range(20_000):
        counts[sample(logits, None, Sampling(1.0), (11, position)).token] += 1
    assert np.abs(counts / 20_000 - [0.5, 0.25, 0.15, 0.1]).max() < 6 * math.sqrt(0.25 / 20_000)


def test_noise_depends_on_seed_and_position_only() -> None:
    """Nine hundred pairs give nine hundred keys, spread over the whole range."""
    assert noise_key(1, 2) == noise_key(1, 2)
    for place in (0, 1, 15, 16, 1000, 2**32 + 7, 2**64 - 1):
        alone = np.random.Philox(key=3, counter=place).random_raw()
        assert noise_key(3, place) == alone
    keys = {noise_key(seed, position) for seed in range(30) for position in range(30)}
    assert len(keys) == 900
    assert all(0 <= key < 2**64 for key in keys)
    assert 0.45 < sum(keys) / 2**64 / 900 < 0.55
    assert noise_key(-1, 0) == noise_key(2**64 - 1, 0)


@given(logit_rows, st.none() | allowed_sets, st.sampled_from((0.0, 0.3, 1.0, 2.5)))
def test_the_mass_is_the_share_of_the_allowed_tokens(
    logits: np.ndarray, allowed: set[int] | None, temperature: float
) -> None:
    weights = np.exp(logits.astype(np.float64) / (temperature or 1.0))
    share = weights.sum() if allowed is None else weights[sorted(allowed)].sum()
    legal = None if allowed is None else mask_of(allowed)
    expected = math.log(share / weights.sum())
    assert log_mass(logits, legal, temperature) == pytest.approx(expected, abs=1e-5)
    drawn = sample(logits, legal, Sampling(temperature), (0, 0), weighed=True)
    assert drawn.log_mass == log_mass(logits, legal, temperature) <= 0
    assert math.isnan(sample(logits, legal, Sampling(temperature), (0, 0)).log_mass)


@given(logit_rows, st.none() | allowed_sets, st.integers(1, SIZE + 3), st.sampled_from((0.0, 1.0)))
def test_the_most_probable_tokens_are_those_of_the_whole_distribution(
    logits: np.ndarray, allowed: set[int] | None, count: int, temperature: float
) -> None:
    whole = float(np.logaddexp.reduce(logits.astype(np.float64)))
    best = sorted(range(SIZE), key=lambda id: (-logits[id], id))[:count]
    legal = None if allowed is None else mask_of(allowed)
    found = sample(logits, legal, Sampling(temperature), (0, 0), top=count).top
    assert [each.token for each in found] == best
    assert [each.legal for each in found] == [allowed is None or id in allowed for id in best]
    assert [each.logprob for each in found] == pytest.approx([logits[id] - whole for id in best], abs=1e-5)
    assert sample(logits, legal, Sampling(temperature), (0, 0)).top == ()


def test_equals_go_to_the_lowest_id() -> None:
    logits = np.zeros(SIZE, np.float32)
    assert sample(logits, None, Sampling(), (0, 0)).token == 0
    assert sample(logits, mask_of({40, 9}), Sampling(), (0, 0)).token == 9
    kept = distribution(logits, Sampling(1.0, top_k=3))[1]
    assert kept is not None
    assert kept.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "wrong",
    [{"temperature": -1}, {"temperature": math.nan}, {"top_k": 0}, {"top_p": 0}, {"top_p": 2}, {"min_p": -1}],
    ids=str,
)
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        Sampling(**wrong)


@given(st.integers(0, 2**32), st.booleans(), st.sampled_from((0.3, 1.0, 2.5)))
def test_draws_from_a_large_vocabulary(seed: int, masked: bool, temperature: float) -> None:
    dice = np.random.default_rng(seed)
    logits = dice.normal(0, 4, 3_007).astype(np.float32)
    logits[dice.integers(0, len(logits), 50)] = -np.inf
    mask = dice.integers(-(2**31), 2**31, (len(logits) + 31) // 32).astype(np.int32) if masked else None
    legal = logits > -np.inf
    if mask is not None:
        legal &= np.unpackbits(mask.view(np.uint8), bitorder="little", count=len(logits)).astype(bool)
    token = sample(logits, mask, Sampling(temperature), (seed, 5)).token
    key, top = noise_key(seed, 5), float(logits[legal].max())
    scores = {
        id: score(float(logits[id]), top, temperature, id, key) for id in np.flatnonzero(legal).tolist()
    }
    assert scores[token] >= max(scores.values()) - 1e-4


@given(st.integers(0, 2**32 - 1), st.sets(st.integers(0, SIZE - 1), min_size=1), st.booleans())
def test_a_likeliest_token_that_is_known_changes_nothing(seed: int, allowed: set[int], known: bool) -> None:
    logits = np.random.default_rng(seed).integers(0, 9, SIZE).astype(np.float32)
    best = int(logits.argmax())
    for legal in (None, mask_of(allowed), Asked(allowed, known=known)):
        plain = sample(logits, legal, Sampling(), (0, 0))
        assert sample(logits, legal, Sampling(), (0, 0), best=best) == plain
