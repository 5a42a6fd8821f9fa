"""Tokens picked where the logits are: those that the sampler draws from the same logits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from late import Late
from sglc.runtime.engine.sampling.sampler import NothingAllowed, Sampled, Sampling, uniform
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.executor.plan import Picking

torch = Late("torch")
picking = Late("sglc.runtime.executor.pick")

SIZE = 75
NEAR = 1e-6
"""Parts of the whole probability. The sampler rounds weights to float32 where there is more than a
temperature, and sums them in other orders: where a number falls so near to a token's end, or a limit so near
to a sum, one token may be picked instead of its neighbour."""


def mask_of(ids: set[int], size: int = SIZE) -> np.ndarray:
    bits = np.zeros(-(-size // 32) * 32, bool)
    bits[list(ids)] = True
    return np.packbits(bits, bitorder="little").view(np.int32)


def borders(logits: np.ndarray, allowed: set[int], sampling: Sampling) -> tuple[list[float], bool]:
    """Sums of the probabilities of the tokens that are left, in their order, by the definition; and whether a
    limit falls next to one of the values that it is compared with."""
    ids = sorted(id for id in allowed if logits[id] > -np.inf)
    ids.sort(key=lambda id: -logits[id])
    ids = ids[: sampling.top_k]
    top = float(logits[ids[0]])
    weights = [math.exp((float(logits[id]) - top) / sampling.temperature) for id in ids]
    near, before, kept = False, 0.0, []
    for id, weight in zip(ids, weights, strict=True):
        part = before / sum(weights)
        if sampling.top_p is not None and sampling.top_p < 1:
            near |= abs(part - sampling.top_p) < NEAR
            if part >= sampling.top_p:
                break
        near |= bool(sampling.min_p) and abs(weight - (sampling.min_p or 0)) < NEAR
        if weight >= (sampling.min_p or 0.0):
            kept.append((id, weight))
        before += weight
    kept.sort()
    return (np.cumsum([weight for _, weight in kept]) / sum(weight for _, weight in kept)).tolist(), near


class Case:
    """A row of logits and what is asked of it."""

    def __init__(
        self, logits: np.ndarray, allowed: set[int] | None, sampling_request: SamplingRequest
    ) -> None:
        self.logits, self.sampling_request = logits, sampling_request
        self.allowed = set(range(len(logits))) if allowed is None else allowed

    def expected(self) -> Sampled | None:
        try:
            return self.sampling_request.sample(self.logits)
        except NothingAllowed:
            return None

    def check(self, token: int, logprob: float) -> None:
        expected = self.expected()
        if expected is None:
            assert token == -1
            return
        sampling = self.sampling_request.sampling
        if token != expected.token:
            assert sampling.temperature > 0 and token in self.allowed and self.logits[token] > -np.inf
            sums, near = borders(self.logits, self.allowed, sampling)
            number = uniform(self.sampling_request.seed, self.sampling_request.position)
            assert near or min(abs(number - border) for border in [0.0, *sums]) < NEAR
            return
        if self.sampling_request.scored:
            assert logprob == pytest.approx(expected.logprob, abs=1e-5)
        else:
            assert math.isnan(logprob)


finite = st.floats(-20, 20, width=32)
few = st.sampled_from([0.0, 1.0, 2.0, 2.5])
odd = st.sampled_from([0.0, 1.0, -math.inf, math.nan])
rows = st.one_of(*(st.lists(of, min_size=SIZE, max_size=SIZE) for of in (finite, few, odd))).map(
    lambda row: np.array(row, np.float32)
)
samplings = st.just(Sampling()) | st.builds(
    Sampling,
    temperature=st.floats(0.1, 3) | st.sampled_from([1e-9, 1.0]),
    top_k=st.none() | st.integers(1, SIZE + 5),
    top_p=st.none() | st.floats(0.05, 1),
    min_p=st.none() | st.floats(0, 1),
)
allowed_sets = st.none() | st.sets(st.integers(0, SIZE - 1))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    allowed = draw(allowed_sets)
    legal = None if allowed is None else mask_of(allowed)
    sampling_request = SamplingRequest(
        draw(samplings), draw(st.integers(0, 2**40)), legal, draw(st.integers(0, 99))
    )
    sampling_request.scored = draw(st.booleans())
    return Case(draw(rows), allowed, sampling_request)


def picked(given_cases: list[Case]) -> list[tuple[int, float]]:
    masks = picking.host_masks(len(given_cases), len(given_cases[0].logits), torch.device("cpu"))
    pickings = [
        case.sampling_request.write_mask(words) for case, words in zip(given_cases, masks, strict=True)
    ]
    logits = torch.from_numpy(np.stack([case.logits for case in given_cases]))
    tokens, logprobs = picking.pick(logits, masks, pickings)
    assert tokens.dtype == np.int64 and logprobs.dtype == np.float64
    return list(zip(tokens.tolist(), logprobs.tolist(), strict=True))


@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None)
@given(st.lists(cases(), min_size=1, max_size=5))
def test_tokens_are_those_of_the_sampler(given_cases: list[Case]) -> None:
    """Rows of all kinds in one batch: ties, NaN, forbidden and impossible tokens included."""
    for case, found in zip(given_cases, picked(given_cases), strict=True):
        case.check(*found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(),
        Sampling(0.7),
        Sampling(1.3, top_k=40),
        Sampling(0.8, top_p=0.9),
        Sampling(1.0, min_p=0.02),
        Sampling(1.1, top_k=200, top_p=0.95, min_p=0.01),
    ],
    ids=str,
)
def test_draws_from_a_large_vocabulary_are_those_of_the_sampler(sampling: Sampling) -> None:
    """These seeds fall near no border, so that all are the same."""
    dice = np.random.default_rng(5)
    size = 20_003
    given_cases = []
    for seed in range(60):
        logits = dice.normal(0, 3, size).astype(np.float32)
        logits[dice.integers(0, size, 9)] = -np.inf
        allowed = set(np.flatnonzero(dice.random(size) < 0.4).tolist())
        sampling_request = SamplingRequest(sampling, seed, mask_of(allowed, size), seed % 7, scored=True)
        given_cases.append(Case(logits, allowed, sampling_request))
    answers = picked(given_cases)
    expected = [case.expected() for case in given_cases]
    assert [token for token, _ in answers] == [found.token for found in expected if found is not None]
    for case, answer in zip(given_cases, answers, strict=True):
        case.check(*answer)


def test_frequencies_are_the_probabilities() -> None:
    """A number in the middle of each thousandth: so many of them as the probabilities say."""
    parts = np.array([0.5, 0.25, 0.15, 0.1])
    numbers = [Picking(1.0, (step + 0.5) / 1000) for step in range(1000)]
    logits = torch.from_numpy(np.log(parts).astype(np.float32)).repeat(1000, 1)
    tokens, _ = picking.pick(logits, None, numbers)
    assert np.bincount(tokens).tolist() == [500, 250, 150, 100]
    assert (np.diff(tokens) >= 0).all()


def test_the_largest_numbers_lead_to_tokens_that_may_come() -> None:
    """Sums are rounded, and the last tokens are forbidden."""
    dice = np.random.default_rng(0)
    logits = torch.from_numpy(dice.normal(0, 9, (400, SIZE)).astype(np.float32))
    masks = np.tile(mask_of(set(range(0, 40, 3))), (400, 1))
    last = 1 - 2.0**-53
    tokens, _ = picking.pick(logits, masks, [Picking(0.3 + 0.01 * row, last) for row in range(400)])
    assert set(tokens.tolist()) <= set(range(0, 40, 3))


def test_infinite_logits_are_certain() -> None:
    logits = torch.zeros(3, SIZE)
    logits[0, 9] = logits[1, 9] = torch.inf
    settings_of = [Picking(), Picking(0.5, 0.7), Picking(0.5, 0.99)]
    tokens, _ = picking.pick(logits, np.tile(mask_of({3, 9, 11}), (3, 1)), settings_of)
    assert tokens.tolist() == [9, 9, 11]
