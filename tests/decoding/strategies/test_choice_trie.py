"""Few texts are scored at once, with the law of walks: beside enumeration, an oracle of tokens, and walks."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from example_budget import examples
from fakes.small_models import MadeUpModel, small_tokenizer
from fakes.toy_holes import ToyHole
from oracles.decoding.enumeration import chi_square, far_out, normalised
from sglc.automata.term import Language, Words
from sglc.runtime.decoding.conversations.canonical import Tokens
from sglc.runtime.decoding.requests import Budget, HoleResult
from sglc.runtime.decoding.seams import Seams
from sglc.runtime.decoding.strategies import choice_trie
from sglc.runtime.decoding.strategies.choice_trie import ENDS, PLACES, LegalTexts
from sglc.runtime.decoding.strategies.prefix_tree import PrefixTree
from sglc.runtime.errors import SglError
from strategies.seam_cases import SeamBench, SeamCase, seam_cases

WORDS = ("no", "no, never", "nothing", "yes", "yes, certainly", "maybe")
NUMBERS = tuple(str(number) for number in range(1, 41))


def known(bench: Any, **more: Any) -> LegalTexts:
    found = asyncio.run(bench.known(**more))
    assert found is not None
    return found


def words_bench(prompt: str, words: Sequence[str], follow: str, seed: int = 1) -> SeamBench:
    described = Language(Words(frozenset(word.encode() for word in words)))
    case = SeamCase("choose", prompt, described, tuple(words), follow)
    return SeamBench(small_tokenizer(), MadeUpModel(small_tokenizer().size, seed), case)


@pytest.mark.parametrize("words", [WORDS, NUMBERS], ids=["words", "numbers"])
@pytest.mark.parametrize("temperature", [1.0, 0.6, 1.7])
def test_scores_are_those_of_enumeration(words: tuple[str, ...], temperature: float) -> None:
    toy = ToyHole(words, seed=5, temperature=temperature)
    found = known(toy)
    assert dict(zip(found.texts, found.scores, strict=True)) == pytest.approx(toy.scores(), abs=1e-5)
    assert dict(zip(found.texts, found.logprobs, strict=True)) == pytest.approx(toy.scores(1.0), abs=1e-5)
    assert found.log_legal == pytest.approx(toy.log_legal(), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("words", [WORDS, NUMBERS], ids=["words", "numbers"])
def test_draws_follow_enumeration_as_walks_do(words: tuple[str, ...]) -> None:
    toy = ToyHole(words, seed=5, temperature=0.8)

    async def draws(few: bool) -> list[HoleResult]:
        tree = PrefixTree()
        return [await toy.exact(seed, tree, few=few) for seed in range(examples(250))]

    drawn, walked = asyncio.run(draws(True)), asyncio.run(draws(False))
    for results in (drawn, walked):
        counts = Counter(each.text for each in results)
        assert not far_out(*chi_square(counts, toy.expected())), (counts, toy.expected())
    assert [each.sampled for each in drawn] == [known(toy).places, *[0] * (len(drawn) - 1)]
    assert all(each.walks == 0 and each.ended == "choose" for each in drawn)
    assert all(each.bound == pytest.approx(toy.log_legal(), abs=1e-5) for each in drawn)
    assert all(each.pressure == pytest.approx(-toy.log_legal(), abs=1e-5) for each in drawn)
    assert all((each.walks or 0) > 0 for each in walked)


@pytest.mark.slow
def test_tokens_at_seams_have_the_probabilities_of_the_oracle() -> None:
    """Of values that could be cut into tokens in several ways, before and behind other text."""
    tokenizer, scored = small_tokenizer(), 0
    for number, case in enumerate(seam_cases(examples(75), seed=11)):
        bench = SeamBench(tokenizer, MadeUpModel(tokenizer.size, number), case, chat=number % 3 > 0)
        found = asyncio.run(bench.known())
        if found is None or len(found.texts) < 2:
            continue
        scored += 1
        shares = normalised(dict(zip(found.texts, found.scores, strict=True)))
        assert shares == pytest.approx(bench.conditioned, abs=1e-5), case
    assert scored > examples(75) // 2


@pytest.mark.parametrize(
    ("prompt", "words", "follow"),
    [
        ("the ", ("the", "there", "theatre"), ""),
        ("ano", ("ther", "swer", "the answer"), ""),
        ("x", ("an", "answer", "anthem"), ", then"),
        ("", ("12", "12.50", "1", "-3"), ""),
    ],
)
def test_walks_agree_at_seams(prompt: str, words: tuple[str, ...], follow: str) -> None:
    bench = words_bench(prompt, words, follow)
    found = known(bench)
    shares = normalised(dict(zip(found.texts, found.scores, strict=True)))

    async def all_draws() -> Counter[str]:
        tree = PrefixTree()
        return Counter([(await bench.walked(seed, tree)).text for seed in range(examples(200))])

    counts = asyncio.run(all_draws())
    assert not far_out(*chi_square(counts, shares)), (counts, shares)


def test_tokens_that_the_tokenizer_would_not_write_end_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of those that begin with the stop are taken for such; walks refuse them when they draw them.

    As in a large vocabulary there are too many of them to be left out of the mask.
    """
    monkeypatch.setattr("sglc.runtime.decoding.hole_text.FEW", 1)
    monkeypatch.setattr("sglc.runtime.decoding.canonical_draw.FEW", 1)
    token_bytes, plain = small_tokenizer().vocabulary().token_bytes, Seams.is_open

    def is_open(self: Seams, context: Tokens, token: int, *matchers: Any) -> bool:
        refused = token % 2 and (token_bytes[token] or b"").startswith(b" ")
        return not refused and plain(self, context, token, *matchers)

    bench = words_bench("(", ("an", "answer", "anthem", "and"), " ", seed=31)
    before = normalised(dict(zip((found := known(bench)).texts, found.scores, strict=True)))
    monkeypatch.setattr(Seams, "is_open", is_open)
    shares = normalised(dict(zip((found := known(bench)).texts, found.scores, strict=True)))

    async def all_draws() -> Counter[str]:
        tree = PrefixTree()
        return Counter([(await bench.walked(seed, tree)).text for seed in range(examples(400))])

    counts = asyncio.run(all_draws())
    assert not far_out(*chi_square(counts, shares)), (counts, shares)
    assert far_out(*chi_square(counts, before)), (counts, before)


def test_a_sample_does_not_depend_on_the_others() -> None:
    toy = ToyHole(WORDS, seed=6)

    async def draws(tree: PrefixTree | None) -> list[str]:
        return [(await toy.exact(seed, tree, few=True)).text for seed in range(20)]

    alone, together = asyncio.run(draws(None)), asyncio.run(draws(PrefixTree()))
    assert alone == together and len(set(alone)) > 1


def test_one_step_follows_the_first_place() -> None:
    """All places behind the first are asked for before the answer to one of them has come."""
    toy = ToyHole(NUMBERS, seed=6)
    toy.engine._delays = 1
    found = known(toy)
    assert toy.engine.requests == found.places > 3
    assert toy.engine.most_running == found.places - 1


def comb(size: int) -> list[str]:
    """Words with so many places: each letter may go on or turn off."""
    return ["a" * at + "b" for at in range(size)] + ["a" * size]


def test_more_places_than_a_step_takes_are_left_to_walks() -> None:
    few, many = ToyHole(comb(PLACES)), ToyHole(comb(PLACES + 1))
    assert known(few).places == PLACES
    assert asyncio.run(many.known()) is None
    assert asyncio.run(few.exact(0, few=True)).walks == 0
    tree = PrefixTree()

    async def two() -> list[int | None]:
        return [(await many.exact(seed, tree, few=True)).walks for seed in range(2)]

    assert all(walks for walks in asyncio.run(two())) and tree.looked


def test_more_ends_than_can_be_asked_are_left_to_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = words_bench("Well: ", ("an", "answer", "anthem"), " ")
    tokens = sum(bool(data) and data[:1] == b" " for data in small_tokenizer().vocabulary().token_bytes)
    assert 1 < tokens < ENDS
    monkeypatch.setattr(choice_trie, "ENDS", tokens)
    assert known(bench).texts
    monkeypatch.setattr(choice_trie, "ENDS", tokens - 1)
    assert asyncio.run(bench.known()) is None


def test_tries_are_remembered_behind_the_same_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    plain = choice_trie.choice_trie
    monkeypatch.setattr(choice_trie, "choice_trie", lambda root: made.append(1) or plain(root))
    toy = ToyHole(WORDS, seed=6)
    first = known(toy)
    for number, (prompt, budget, due) in enumerate(
        [
            ("Well: ", None, 1),
            ("Well: ", Budget(len("yes, certainly") + 1, "ample"), 1),
            ("Well: ", Budget(len("yes, certainly"), "may cut"), 2),
            ("Well: ", Budget(3, "cuts"), 3),
            ("All: ", None, 3),
            ("Well; ", None, 4),
            ("Well: ", None, 4),
        ]
    ):
        toy.prompt = prompt
        found = known(toy, budget=budget)
        assert len(made) == due, number
        assert (len(found.texts) < len(WORDS)) == (budget is not None and budget.tokens == 3)
    assert found == first or found.scores == first.scores
    for case in range(choice_trie.KEPT):
        toy.prompt = f"{chr(97 + case % 26)}{case // 26} "
        known(toy)
    assert len(toy.constraints.tries) == choice_trie.KEPT


def test_the_room_of_a_remembered_trie_is_asked_for() -> None:
    toy = ToyHole(WORDS, seed=6)
    needs = []
    for _ in range(2):
        attempts = toy._attempts(0, budget=Budget(40, "`max 40 tok`"))
        with attempts.begun() as root:
            assert root is not None
            asyncio.run(choice_trie.legal_texts(attempts, root, 1.0))
        needs.append(attempts.room.needed)
    assert needs == [len("yes, certainly") + 1] * 2


def test_ends_that_do_not_count_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    plain = Seams.is_open
    monkeypatch.setattr(Seams, "is_open", lambda self, *given: asked.append(given[1]) or plain(self, *given))
    bench = words_bench("Well: ", ("an", "answer", "anthem"), " ")
    exact = known(bench)
    before, asked[:] = len(asked), []
    monkeypatch.setattr(choice_trie, "RESOLUTION", 0.2)
    rough = known(bench)
    assert len(asked) < before
    assert rough.scores == pytest.approx(exact.scores, abs=math.log(1.2) * 2)
    assert rough.scores != pytest.approx(exact.scores, abs=1e-5)


def test_texts_that_a_budget_has_no_room_for_are_left_out() -> None:
    toy = ToyHole(WORDS, seed=6, more={"budget": Budget(4, "`max 4 tok`")})
    fitting = {word: score for word, score in toy.scores().items() if len(word) < 4}
    found = known(toy)
    assert dict(zip(found.texts, found.scores, strict=True)) == pytest.approx(fitting, abs=1e-5)
    with pytest.raises(SglError) as caught:
        toy = ToyHole(["abcdef", "abcdeg"], more={"budget": Budget(3, "`max 3 tok`")})
        asyncio.run(toy.exact(0, few=True))
    assert caught.value.name == "Truncated"


def test_only_the_text_that_is_kept_counts() -> None:
    toy = ToyHole(NUMBERS, seed=3)
    found = asyncio.run(toy.exact(1, few=True))
    assert found.lost == 0 and found.sampled > found.tokens
    whole = Budget(found.tokens, "the run's token limit")
    assert asyncio.run(toy.exact(1, few=True, whole=whole)).text == found.text
    with pytest.raises(SglError) as caught:
        asyncio.run(toy.exact(1, few=True, whole=Budget(whole.tokens - 1, "the run's token limit")))
    assert caught.value.name == "Truncated"


def test_a_validator_is_asked_by_walks() -> None:
    toy = ToyHole(WORDS, seed=6)
    assert asyncio.run(toy.exact(1, judge=lambda text: "final" if text in WORDS else "alive")).walks
