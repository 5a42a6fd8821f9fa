"""Tokens picked where the logits are: those that the sampler draws from the same logits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from late import Late
from oracles.decoding.noise import score
from sglc.kernels.bitmask import sampling_reference
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import NothingAllowed, Sampled, noise_key
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.executor.plan import Candidate, Picking

torch = Late("torch")
picking = Late("sglc.runtime.executor.pick")

SIZE = 75
NEAR = 1e-6
"""Parts of the whole probability. The sampler rounds weights to float32 where there is more than a
temperature, and sums them in other orders: a limit may fall so near to a sum that one token more is left."""
TIE = 1e-4
"""Sums of logit and noise that float32 may order either way."""


def mask_of(ids: set[int], size: int = SIZE) -> np.ndarray:
    bits = np.zeros(-(-size // 32) * 32, bool)
    bits[list(ids)] = True
    return np.packbits(bits, bitorder="little").view(np.int32)


def left(logits: np.ndarray, allowed: set[int], sampling: Sampling) -> tuple[list[int], bool]:
    """The tokens that the limits leave, by their definition; and whether a limit falls next to one of the
    values that it is compared with."""
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
            kept.append(id)
        before += weight
    return kept, near


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

    def check(self, token: int, logprob: float, log_mass: float, top: tuple[Candidate, ...]) -> None:
        expected = self.expected()
        if expected is None:
            assert token == -1
            return
        asked = self.sampling_request
        assert len(top) == len(expected.top)
        assert all(each.legal == (each.token in self.allowed) for each in top)
        numbers = [each.logprob for each in expected.top]  # of equals the device takes any
        assert [each.logprob for each in top] == pytest.approx(numbers, abs=1e-5)
        whole = np.logaddexp.reduce(self.logits[~np.isnan(self.logits)].astype(np.float64))
        of_tokens = [float(self.logits[each.token] - whole) for each in top]
        assert of_tokens == pytest.approx(numbers, abs=1e-5)
        if asked.weighed:
            assert log_mass == pytest.approx(expected.log_mass, abs=1e-5)
        else:
            assert math.isnan(log_mass)
        if token != expected.token:
            assert asked.sampling.temperature > 0 and token in self.allowed and self.logits[token] > -np.inf
            kept, near = left(self.logits, self.allowed, asked.sampling)
            key, top = noise_key(asked.seed, asked.position), float(self.logits[kept].max())
            temperature = max(asked.sampling.temperature, 1e-6)
            scores = [score(float(self.logits[id]), top, temperature, id, key) for id in kept]
            assert near or scores[kept.index(token)] > max(scores) - TIE
            return
        if asked.scored:
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
    sampling_request.scored, sampling_request.weighed = draw(st.booleans()), draw(st.booleans())
    sampling_request.top = draw(st.integers(0, 4))
    return Case(draw(rows), allowed, sampling_request)


def picked(given_cases: list[Case]) -> list[tuple[int, float, float, tuple[Candidate, ...]]]:
    masks = picking.host_masks(len(given_cases), len(given_cases[0].logits), torch.device("cpu"))
    pickings = [
        case.sampling_request.write_mask(words) for case, words in zip(given_cases, masks, strict=True)
    ]
    logits = torch.from_numpy(np.stack([case.logits for case in given_cases]))
    tokens, logprobs, masses, tops = picking.pick(logits, masks, pickings)
    assert tokens.dtype == np.int64 and logprobs.dtype == masses.dtype == np.float64
    return list(zip(tokens.tolist(), logprobs.tolist(), masses.tolist(), tops, strict=True))


@pytest.mark.slow
@settings(max_examples=examples(80), deadline=None)
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
    """With these seeds no two sums are so near to each other that rounding decides, so that all are the
    same."""
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
    assert [token for token, *_ in answers] == [found.token for found in expected if found is not None]
    for case, answer in zip(given_cases, answers, strict=True):
        case.check(*answer)


def test_noise_is_that_of_the_host() -> None:
    """Of all tokens of a large vocabulary, under keys of all sizes."""
    keys = [0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1, noise_key(3, 4)]
    found = picking.gumbel(130_003, keys, torch.device("cpu")).numpy()
    expected = np.stack([sampling_reference.gumbel(np.arange(130_003), key) for key in keys])
    assert np.abs(found - expected).max() < 1e-5


def test_infinite_logits_are_certain() -> None:
    logits = torch.zeros(3, SIZE)
    logits[0, 9] = logits[1, 9] = torch.inf
    settings_of = [Picking(), Picking(0.5, 7), Picking(0.5, 99)]
    tokens, *_ = picking.pick(logits, np.tile(mask_of({3, 9, 11}), (3, 1)), settings_of)
    assert tokens.tolist()[:2] == [9, 9] and tokens[2] in {3, 9, 11}
