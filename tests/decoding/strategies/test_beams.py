"""`decode beam(k)`: sums of unmasked log-probabilities, and what is proved."""

from __future__ import annotations

import asyncio
import random

import pytest

from example_budget import examples
from fakes.toy_holes import ToyHole
from sglc.runtime.decoding.requests import Budget
from sglc.runtime.errors import SglError

ALPHABET = "abno1"


def random_words(source: random.Random) -> list[str]:
    made = {"".join(source.choices(ALPHABET, k=source.randint(1, 5))) for _ in range(source.randint(2, 14))}
    return sorted(made | {"ab", "no"})


@pytest.mark.slow
def test_what_is_proved_is_the_likeliest_of_all() -> None:
    proved = 0
    for number in range(examples(300)):
        source = random.Random(number)
        toy = ToyHole(random_words(source), seed=number)
        found = asyncio.run(toy.beam(source.choice((1, 2, 3, 6))))
        scores = toy.scores(1.0)
        assert found.logprob == pytest.approx(scores[found.text], abs=1e-3)
        if found.proved:
            proved += 1
            assert scores[found.text] >= max(scores.values()) - 1e-4, (number, found.text, scores)
    assert proved > examples(300) // 4


def test_as_many_beams_as_words_find_and_prove_the_likeliest() -> None:
    for number in range(examples(40)):
        toy = ToyHole(random_words(random.Random(number)), seed=number)
        found, scores = asyncio.run(toy.beam(20)), toy.scores(1.0)
        assert found.proved
        assert scores[found.text] == pytest.approx(max(scores.values()), abs=1e-4)


def test_a_narrow_beam_may_miss_it_and_says_so() -> None:
    missed = 0
    for number in range(60):
        toy = ToyHole(random_words(random.Random(number)), seed=number)
        found, scores = asyncio.run(toy.beam(1)), toy.scores(1.0)
        if scores[found.text] < max(scores.values()) - 1e-4:
            missed += 1
            assert not found.proved
    assert missed


def test_several_texts_are_different_and_in_their_order() -> None:
    for number in range(30):
        toy = ToyHole(random_words(random.Random(number)), seed=number)
        found, scores = asyncio.run(toy.beam(20, wanted=3)), toy.scores(1.0)
        texts = [found.text, *found.others]
        best = sorted(scores, key=lambda word: -scores[word])[: len(texts)]
        assert len(set(texts)) == len(texts) == min(3, len(toy.words))
        assert [scores[text] for text in texts] == pytest.approx([scores[text] for text in best], abs=1e-4)


def test_by_mean_proves_nothing() -> None:
    toy = ToyHole(["a", "abab", "no"], seed=2)
    assert asyncio.run(toy.beam(4, by="mean")).proved is False


def test_tokens_of_all_beams_count() -> None:
    toy = ToyHole(["abab", "abno", "noab", "no1"], seed=2)
    found = asyncio.run(toy.beam(3))
    whole = Budget(found.tokens + found.lost, "the run's token limit")
    assert asyncio.run(toy.beam(3, whole=whole)).text == found.text
    with pytest.raises(SglError) as caught:
        asyncio.run(toy.beam(3, whole=Budget(2, "the run's token limit")))
    assert caught.value.name == "Truncated"


def test_a_budget_ends_beams() -> None:
    toy = ToyHole(["ab", "abab", "nono"], seed=2, more={"budget": Budget(3, "`max 3 tok`")})
    assert asyncio.run(toy.beam(3)).text == "ab"


def test_a_single_value_is_proved_without_a_search() -> None:
    found = asyncio.run(ToyHole(["certainly"]).beam(4))
    assert (found.text, found.proved, found.sampled) == ("certainly", True, 0)
