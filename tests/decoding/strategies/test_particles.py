"""`decode smc(n)`: weighted particles come near the exact distribution, and their weights tell p(L)."""

from __future__ import annotations

import asyncio
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_budget import examples
from fakes.small_models import MadeUpModel, small_tokenizer
from fakes.toy_holes import ToyHole
from oracles.decoding.enumeration import total_variation
from sglc.automata.term import Language, Words
from sglc.runtime.decoding.requests import Budget
from sglc.runtime.decoding.strategies.particles import effective, systematic
from sglc.runtime.decoding.strategies.prefix_tree import PrefixTree
from sglc.runtime.errors import SglError
from strategies.seam_cases import SeamBench, SeamCase

WORDS = ("no", "no, never", "nothing", "yes", "yes, certainly", "maybe", "12", "17", "123")


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_one_particle_is_local_decoding(temperature: float) -> None:
    toy = ToyHole(WORDS, seed=4, temperature=temperature)
    for seed in range(40):
        one, local = asyncio.run(toy.smc(seed, 1)), toy.local(seed)
        assert (one.text, one.tokens, one.ended) == (local.text, local.tokens, local.ended)
        assert one.pressure == local.pressure
        assert one.weight == pytest.approx(-(local.pressure or 0.0))


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, 32], ids=["estimated", "asked"])
def test_tokens_that_the_tokenizer_would_not_write_have_no_weight(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The estimate is that of walks, which rule such tokens out one by one."""
    monkeypatch.setattr("sglc.runtime.decoding.hole_text.FEW", few)
    monkeypatch.setattr("sglc.runtime.decoding.drawing.FEW", few)
    words = ("the", "there", "theatre", "an", "answer", "12", "12.50")
    described = Language(Words(frozenset(word.encode() for word in words)))
    model = MadeUpModel(small_tokenizer().size, 3)
    bench = SeamBench(small_tokenizer(), model, SeamCase("choose", "x", described, words, ""))

    async def both() -> tuple[float, list[float]]:
        tree = PrefixTree()
        for seed in range(300):
            await bench.walked(seed, tree)
        weights = [(await bench.weighed(seed, 2)).weight for seed in range(examples(400))]
        return math.exp(tree.root.bound), [math.exp(weight or 0.0) for weight in weights]

    legal, found = asyncio.run(both())
    error = np.std(found, ddof=1) / math.sqrt(len(found))
    assert abs(np.mean(found) - legal) < 3 * error + 0.01 * legal, (np.mean(found), legal, error)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 8])
def test_the_mean_estimate_is_the_probability_of_a_legal_text(count: int) -> None:
    toy = ToyHole(WORDS, seed=4)

    async def estimates() -> list[float]:
        return [math.exp((await toy.smc(seed, count)).weight or 0.0) for seed in range(examples(300))]

    found = np.array(asyncio.run(estimates()))
    error = found.std(ddof=1) / math.sqrt(len(found))
    assert abs(found.mean() - math.exp(toy.log_legal())) < 3 * error, (found.mean(), toy.log_legal())


@pytest.mark.slow
def test_more_particles_are_nearer_to_the_exact_distribution() -> None:
    toy, number = ToyHole(WORDS, seed=4), examples(250)

    async def counts(count: int) -> Counter[str]:
        return Counter([(await toy.smc(seed, count)).text for seed in range(number)])

    far = [total_variation(asyncio.run(counts(count)), toy.expected()) for count in (1, 4, 12)]
    assert far[0] > far[1] > far[2], far


def test_a_population_tells_what_it_is_worth() -> None:
    toy = ToyHole(WORDS, seed=4)
    for seed in range(20):
        found = asyncio.run(toy.smc(seed, 8))
        assert found.ess is not None and 1 <= found.ess <= 8.0001
        assert found.ancestors is not None and 1 <= found.ancestors <= 8
        assert found.lost + len(found.text) + 1 >= found.sampled > found.lost


def test_tokens_of_all_particles_count() -> None:
    toy = ToyHole(WORDS, seed=4)
    found = asyncio.run(toy.smc(2, 4))
    whole = Budget(found.tokens + found.lost, "the run's token limit")
    assert asyncio.run(toy.smc(2, 4, whole=whole)).text == found.text
    with pytest.raises(SglError) as caught:
        asyncio.run(toy.smc(2, 4, whole=Budget(3, "the run's token limit")))
    assert caught.value.name == "Truncated"


def test_texts_that_are_too_long_have_no_weight() -> None:
    toy = ToyHole(WORDS, seed=4, more={"budget": Budget(4, "`max 4 tok`")})
    for seed in range(30):
        assert len(asyncio.run(toy.smc(seed, 8)).text) < 4


@given(st.lists(st.floats(-30, 0) | st.just(-math.inf), min_size=1, max_size=12), st.floats(0, 0.999999))
def test_systematic_resampling_keeps_shares(weights: list[float], start: float) -> None:
    if max(weights) == -math.inf:
        return
    found = Counter(systematic(weights, start))
    shares = np.exp(np.array(weights) - np.logaddexp.reduce(weights)) * len(weights)
    assert sum(found.values()) == len(weights)
    for number, share in enumerate(shares):
        assert math.floor(share - 1e-9) <= found[number] <= math.ceil(share + 1e-9)
        assert share > 0 or not found[number]


def test_effective_sizes() -> None:
    assert effective([0.0] * 5) == pytest.approx(5)
    assert effective([0.0, -math.inf, -math.inf]) == pytest.approx(1)
    assert effective([math.log(3), 0.0]) == pytest.approx(16 / 10)
