"""`decode exact`: walks accept each legal text as often as the model writes it among legal ones."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections import Counter

import pytest

from example_budget import examples
from fakes.small_models import MadeUpModel, small_tokenizer
from fakes.toy_holes import ToyHole
from oracles.decoding.enumeration import chi_square, far_out, normalised
from sglc.automata.term import Language, Words
from sglc.runtime.decoding.requests import Budget
from sglc.runtime.decoding.strategies.prefix_tree import PrefixTree
from sglc.runtime.decoding.validated import ALIVE, DEAD, FINAL
from sglc.runtime.errors import SglError
from strategies.seam_cases import SeamBench, SeamCase

WORDS = ("no", "no, never", "nothing", "yes", "yes, certainly", "maybe")
NUMBERS = tuple(str(number) for number in range(1, 41))


def draws(toy: ToyHole, number: int, shared: bool) -> Counter[str]:
    """Texts of as many fills: all of one tree, or each of a tree of its own."""

    async def all_draws() -> Counter[str]:
        tree = PrefixTree()
        found: Counter[str] = Counter()
        for seed in range(number):
            found[(await toy.exact(seed, tree if shared else None)).text] += 1
        return found

    return asyncio.run(all_draws())


@pytest.mark.slow
@pytest.mark.parametrize("words", [WORDS, NUMBERS], ids=["words", "numbers"])
@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_first_draws_follow_the_distribution(words: tuple[str, ...], temperature: float) -> None:
    toy = ToyHole(words, seed=5, temperature=temperature)
    counts = draws(toy, examples(400), shared=False)
    assert not far_out(*chi_square(counts, toy.expected())), (counts, toy.expected())


@pytest.mark.slow
@pytest.mark.parametrize("words", [WORDS, NUMBERS], ids=["words", "numbers"])
def test_later_draws_of_a_shared_tree_follow_it_too(words: tuple[str, ...]) -> None:
    toy = ToyHole(words, seed=6)
    counts = draws(toy, examples(1000), shared=True)
    assert not far_out(*chi_square(counts, toy.expected())), (counts, toy.expected())


def test_local_draws_do_not_follow_it() -> None:
    toy = ToyHole(WORDS, seed=6)
    counts = Counter(toy.local(seed).text for seed in range(400))
    assert far_out(*chi_square(counts, toy.expected()))


def test_the_bound_falls_to_the_probability_of_a_legal_text_and_never_below() -> None:
    toy = ToyHole(WORDS, seed=6)

    async def bounds() -> list[float]:
        tree = PrefixTree()
        return [(await toy.exact(seed, tree)).bound or 0.0 for seed in range(300)]

    found = asyncio.run(bounds())
    assert all(a >= b for a, b in itertools.pairwise(found))
    assert found[-1] == pytest.approx(toy.log_legal(), abs=1e-4)


def test_places_that_are_known_cost_nothing() -> None:
    toy = ToyHole(WORDS, seed=6)

    async def computed() -> list[int]:
        tree = PrefixTree()
        return [(await toy.exact(seed, tree)).sampled for seed in range(200)]

    found = asyncio.run(computed())
    places = {word[:size] for word in WORDS for size in range(len(word) + 1)}
    assert sum(found) <= len(places) and not any(found[150:])


def test_a_tree_that_is_full_forgets_logits_and_not_what_is_illegal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sglc.runtime.decoding.strategies.prefix_tree.KEPT", 3)
    toy = ToyHole(WORDS, seed=6)
    counts = draws(toy, examples(600), shared=True)
    assert not far_out(*chi_square(counts, toy.expected()))


def test_walks_are_bounded_and_the_error_says_how_unlikely_the_hole_is() -> None:
    rare = ["".join(bits) for bits in itertools.product("\x01\x02", repeat=6)]
    toy = ToyHole(rare, seed=3)
    with pytest.raises(SglError) as caught:
        asyncio.run(toy.exact(0, tries=3))
    assert caught.value.name == "Budget"
    assert "3 walks found no legal text" in caught.value.message
    assert "it objects most behind '\\x0" in caught.value.message


def test_tokens_of_all_walks_count() -> None:
    toy = ToyHole(NUMBERS, seed=3)
    found = asyncio.run(toy.exact(1))
    assert found.lost > 0
    whole = Budget(found.tokens + found.lost, "the run's token limit")
    again = asyncio.run(toy.exact(1, whole=whole))
    assert (again.text, again.lost) == (found.text, found.lost)
    with pytest.raises(SglError) as caught:
        asyncio.run(toy.exact(1, whole=Budget(whole.tokens - 1, "the run's token limit", fatal=True)))
    assert caught.value.name == "Truncated" and caught.value.fatal


def test_texts_that_a_budget_has_no_room_for_are_illegal() -> None:
    toy = ToyHole(WORDS, seed=6, more={"budget": Budget(4, "`max 4 tok`")})
    counts = draws(toy, examples(300), shared=True)
    fitting = {word: score for word, score in toy.scores().items() if len(word) < 4}
    assert set(counts) <= set(fitting)
    assert not far_out(*chi_square(counts, normalised(fitting)))
    with pytest.raises(SglError) as caught:
        asyncio.run(ToyHole(["abcdef", "abcdeg"], more={"budget": Budget(3, "`max 3 tok`")}).exact(0))
    assert caught.value.name == "Truncated"


def test_what_a_validator_refuses_is_illegal() -> None:
    good = {"no", "nothing", "maybe"}

    def judge(text: str) -> str:
        if text in good:
            return FINAL
        return ALIVE if any(word.startswith(text) for word in good) else DEAD

    toy = ToyHole(WORDS, seed=6)

    async def all_draws() -> Counter[str]:
        tree = PrefixTree()
        found = [await toy.exact(seed, tree, judge=judge) for seed in range(examples(400))]
        return Counter(each.text for each in found)

    counts = asyncio.run(all_draws())
    expected = normalised({word: score for word, score in toy.scores().items() if word in good})
    assert set(counts) == good
    assert not far_out(*chi_square(counts, expected))
    with pytest.raises(SglError) as caught:
        asyncio.run(toy.exact(0, judge=lambda text: ALIVE if len(text) < 3 else DEAD))
    assert caught.value.name == "Unsatisfiable"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prompt", "words", "follow"),
    [
        ("the ", ("the", "there", "theatre"), ""),
        ("ano", ("ther", "swer", "the answer"), ""),
        ("x", ("an", "answer", "anthem"), ", then"),
        ("", ("12", "12.50", "1", "-3"), ""),
    ],
)
def test_draws_follow_it_where_texts_could_be_cut_in_several_ways(
    prompt: str, words: tuple[str, ...], follow: str
) -> None:
    described = Language(Words(frozenset(word.encode() for word in words)))
    for seed in range(3):
        model = MadeUpModel(small_tokenizer().size, seed)
        bench = SeamBench(small_tokenizer(), model, SeamCase("choose", prompt, described, words, follow))

        async def all_draws(bench: SeamBench = bench) -> Counter[str]:
            tree = PrefixTree()
            return Counter([(await bench.walked(number, tree)).text for number in range(examples(150))])

        counts = asyncio.run(all_draws())
        assert not far_out(*chi_square(counts, bench.conditioned)), (counts, bench.conditioned)


def test_a_single_value_is_written_without_a_walk() -> None:
    found = asyncio.run(ToyHole(["certainly"]).exact(0))
    assert (found.text, found.walks, found.bound, found.sampled) == ("certainly", 0, 0.0, 0)


def test_pressure_is_that_of_the_kept_text() -> None:
    toy = ToyHole(WORDS, seed=6)
    found = asyncio.run(toy.exact(3))
    assert found.pressure is not None and 0 < found.pressure < math.inf
