"""Validators while decoding: nothing but good values, drawn as a mask of the good values would draw them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from fakes.small_models import FickleModel, small_tokenizer
from sglc.driver import compile_source
from sglc.runtime.decoding import validated
from sglc.runtime.decoding.conversations.conversation import Conversation, Encoder
from sglc.runtime.decoding.pruned_tokens import PrunedTokens
from sglc.runtime.decoding.requests import Budget, Constraints, HoleRequest, HoleResult, Timing
from sglc.runtime.decoding.seams import beginnings
from sglc.runtime.decoding.validated import ALIVE, DEAD, FINAL, ValidatedHoleDecoder, Verdicts
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.errors import SglError
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.runtime.session import Session
from sglc.runtime.vm.holes.fuzz import random_good_word
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source
from sglc.types.language.language import language
from sglc.types.type import Int, Str, Type

Judge = Callable[[str], str]


class Recorder:
    detailed = True
    weighed = False
    top = 0

    def __init__(self) -> None:
        self.text = ""
        self.dead_parts: list[bytes] = []
        self.back: list[bytes] = []

    def piece(self, text: str, forced: bool) -> None:
        self.text += text

    def token(self, drawn: Sampled, data: bytes, allowed: int, draft: object = None) -> None:
        pass

    def pruned(self, token: int, data: bytes, part: bytes) -> None:
        assert data.startswith(part)
        self.dead_parts.append(part)

    def stepped_back(self, data: bytes) -> None:
        self.back.append(data)


class Bench:
    def __init__(self, judge: Judge, seed: int = 0, prompt: str = "") -> None:
        self.model = FickleModel(seed)
        self.engine = ReferenceEngine(self.model)
        tokenizer = self.model.tokenizer
        self.talk = Conversation(
            encoder=Encoder(tokenizer), chat=tokenizer.chat, open_branch=lambda tokens: self.engine.branch()
        )
        self.talk.role("assistant")
        self.talk.text(prompt)
        self.recorder = Recorder()
        self.asked: list[str] = []

        async def ask(text: str) -> str:
            self.asked.append(text)
            return judge(text)

        self.verdicts = Verdicts(ask)

    def fill(self, type: Type, **more: Any) -> HoleResult:
        more.setdefault("stops", ())
        request = HoleRequest("f.x", "key", language(type, {}), **more)
        vocabulary = small_tokenizer().vocabulary()
        decoder = ValidatedHoleDecoder(
            self.verdicts,
            self.talk,
            vocabulary,
            Constraints(),
            request,
            self.recorder,
            Timing(),
            4096,
            lambda: None,
        )
        try:
            return asyncio.run(decoder.run())
        finally:
            self.engine.close()
            assert len(set(self.asked)) == len(self.asked), "a text is judged once"


def perfect(words: set[str]) -> Judge:
    """A judge that knows all the good words."""
    beginnings = {word[:size] for word in words for size in range(len(word) + 1)}
    return lambda text: FINAL if text in words else ALIVE if text in beginnings else DEAD


def late(words: set[str]) -> Judge:
    """One that only knows a word when it is whole."""
    longest = max(map(len, words), default=0)
    return lambda text: FINAL if text in words else ALIVE if len(text) < longest else DEAD


def choices(model: FickleModel, tokens: list[int], text: str, words: set[str], most: int) -> dict[int, float]:
    """The tokens that lead to a good word from here, with their logits: by looking at every token."""
    vocabulary = small_tokenizer().vocabulary()
    row = model.forward(model.new_cache(), tokens)
    found = {}
    for token, data in enumerate(vocabulary.token_bytes):
        if data:
            try:
                after = text + data.decode()
            except UnicodeDecodeError:
                continue
            if any(word.startswith(after) for word in words):
                found[token] = float(row[token])
    if text in words:
        for token in vocabulary.end_ids:
            found[token] = float(row[token])
    return found


WORDS = st.sets(
    st.text(alphabet="ahetns ", min_size=1, max_size=6).map(lambda text: text.replace("  ", "th")[:6]),
    min_size=1,
    max_size=8,
)


@settings(max_examples=25, deadline=None)
@given(words=WORDS, seed=st.integers(0, 10**6))
def test_greedy_takes_the_best_token_that_leads_to_a_good_word(words: set[str], seed: int) -> None:
    bench = Bench(perfect(words), seed)
    bench.talk.start()
    tokens = list(bench.talk.sync().tokens)
    text, ends = "", small_tokenizer().vocabulary().end_ids
    while len(text) < 6:
        found = choices(bench.model, tokens, text, words, 6)
        best = max(found, key=lambda token: (found[token], -token))
        if best in ends:
            break
        tokens.append(best)
        text += small_tokenizer().vocabulary().token_bytes[best].decode()
    result = bench.fill(Str(max_chars=6, patterns=("[a-z ]*",)))
    assert result.text == text == bench.recorder.text
    assert result.ended == ("complete" if len(text) == 6 else "end")
    assert tuple(bench.talk.sync().tokens) == bench.talk.tokens()


@pytest.mark.slow
def test_drawing_renormalises_over_what_is_left() -> None:
    words = {"a", "the", "then", "an", "ant", "heat"}
    counts: dict[str, int] = {}
    rounds = 150
    type = Str(max_chars=6, patterns=("[ahetn]*",))
    for seed in range(rounds):
        result = Bench(perfect(words), 5).fill(type, sampling=Sampling(1.0), seed=seed)
        counts[result.text] = counts.get(result.text, 0) + 1
    expected: dict[str, float] = {}
    start = Bench(perfect(words), 5)
    start.talk.start()
    ways = [("", list(start.talk.sync().tokens), 1.0)]
    start.engine.close()
    while ways:
        text, tokens, weight = ways.pop()
        found = choices(start.model, tokens, text, words, 6)
        total = sum(np.exp(list(found.values())))
        for token, logit in found.items():
            share = weight * float(np.exp(logit)) / total
            data = start.model.tokenizer.vocabulary().token_bytes[token]
            if token in start.model.tokenizer.vocabulary().end_ids:
                expected[text] = expected.get(text, 0.0) + share
            elif share > 1e-5:
                ways.append((text + data.decode(), [*tokens, token], share))
    distance = sum(abs(counts.get(word, 0) / rounds - share) for word, share in expected.items()) / 2
    assert distance < 0.12, (counts, expected)


@settings(max_examples=25, deadline=None)
@given(words=WORDS, seed=st.integers(0, 10**6), temperature=st.sampled_from([0.0, 1.0]))
def test_tokens_are_taken_back_until_a_good_word_is_found(
    words: set[str], seed: int, temperature: float
) -> None:
    words = {"".join(c if c in "ah" else "h" for c in word)[:3] for word in words}
    bench = Bench(late(words), seed)
    result = bench.fill(Str(max_chars=3, patterns=("[ah]*",)), sampling=Sampling(temperature), seed=seed)
    assert result.text in words
    assert bench.recorder.text == result.text
    assert tuple(bench.talk.sync().tokens) == bench.talk.tokens()
    for part in bench.recorder.dead_parts:
        assert part


@pytest.mark.slow
def test_where_nothing_is_good_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validated, "MOST_PRUNED", 300)
    with pytest.raises(SglError, match="accepts no value"):
        Bench(lambda text: ALIVE).fill(Str(max_chars=2, patterns=("[ah]*",)))
    with pytest.raises(SglError, match="Unsatisfiable"):
        Bench(lambda text: DEAD).fill(Str(max_chars=2))
    with pytest.raises(SglError, match="found no value"):
        Bench(lambda text: ALIVE).fill(Str(max_chars=12, patterns=("[ahetn]*",)))


def test_forced_text_is_judged() -> None:
    type = Str(patterns=("ab(cdef|efgh)i(jj|kk)",))
    seen = {
        Bench(lambda t: DEAD if "abc" in t or t.endswith("ij") else FINAL if len(t) == 9 else ALIVE, seed)
        .fill(type)
        .text
        for seed in range(8)
    }
    assert seen == {"abefghikk"}


def test_a_value_of_only_one_text_is_judged() -> None:
    assert Bench(lambda t: FINAL if t == "hat" else ALIVE).fill(Str(patterns=("hat",))).text == "hat"
    with pytest.raises(SglError, match="Unsatisfiable"):
        Bench(lambda t: ALIVE).fill(Str(patterns=("hat",)))


@pytest.mark.slow
@settings(max_examples=examples(8), deadline=None)
@given(seed=st.integers(0, 10**6), prompt=st.sampled_from(["", "the ", "x = ", "an"]))
def test_a_stop_ends_only_good_text(seed: int, prompt: str) -> None:
    def judge(text: str) -> str:
        if len(text) > 6 or not set(text) <= set("ahetn "):
            return DEAD
        good = len(text) % 2 == 0 and text.endswith("a")
        return FINAL if good else DEAD if len(text) == 6 else ALIVE

    bench = Bench(judge, seed, prompt)
    result = bench.fill(
        Str(max_chars=9, until=("<<",)), stops=("<<", "\n"), sampling=Sampling(1.0), seed=seed
    )
    assert judge(result.text) == FINAL
    assert bench.talk.state.message == prompt + result.text


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_characters_of_several_bytes(seed: int) -> None:
    bench = Bench(lambda t: DEAD if t.strip("é→") else FINAL if len(t) == 2 else ALIVE, seed)
    result = bench.fill(Str(max_chars=2), sampling=Sampling(1.0), seed=seed)
    assert len(result.text) == 2 and not result.text.strip("é→")


def test_a_budget_ends_where_the_text_was_good_last() -> None:
    def judge(text: str) -> str:
        return FINAL if 0 < text.count("a") == text.count("b") else ALIVE

    for seed in range(12):
        bench = Bench(judge, seed)
        try:
            result = bench.fill(Str(max_chars=90, patterns=("[abh]*",)), budget=Budget(5, "test"))
        except SglError as error:
            assert error.name == "Truncated" and "accepted no text within 5 tokens" in error.message
            continue
        assert judge(result.text) == FINAL and result.tokens <= 5
    with pytest.raises(SglError, match="Truncated"):
        Bench(lambda text: ALIVE).fill(Str(max_chars=90, patterns=("[abh]*",)), budget=Budget(5, "test"))


def test_numbers_are_judged_by_their_text() -> None:
    def judge(text: str) -> str:
        return DEAD if "7" in text or "0" in text else FINAL if len(text) == 3 else ALIVE

    for seed in range(10):
        found = Bench(judge, seed).fill(Int(1, 9999)).text
        assert len(found) == 3 and not set(found) & set("70")


def test_runs_of_a_session_and_streams() -> None:
    program = compile_source(
        Source(
            "p.sgl",
            "pure fn rising(prefix: str) -> alive | dead | final:\n"
            "    for i in 1..<len(prefix):\n"
            "        if prefix[i] <= prefix[i - 1]: return dead\n"
            "    return final if len(prefix) > 2 else alive\n"
            "fn f(begin: str, most: int) -> str:\n    user: | q\n"
            "    assistant: | ?{w: str max 9 chars matching /[a-e]*/ "
            "where rising(w) and w.starts_with(begin) and len(w) <= most}\n    return w\n",
        )
    ).program
    assert program is not None
    engine = ReferenceEngine(FickleModel(3))
    session = Session(program, engine)
    for begin, most in (("a", 4), ("b", 3), ("a", 3), ("ab", 9)):
        events: list[Event] = []
        result = asyncio.run(session.run("f", {"begin": begin, "most": most}, on_event=events.append))
        word = result.value
        assert word.startswith(begin) and 3 <= len(word) <= most and list(word) == sorted(set(word))
        # What was streamed is never taken back.
        assert "".join(e.text for e in events if e.kind in ("forced", "generated")) == word
        assert {e.kind for e in events} >= {"pruned", "token", "hole_end"}
    engine.close()


# -- what is left of a mask ----------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    parts=st.lists(st.sampled_from([b"t", b"th", b"\xc3", b"a", b" ", b"the", b"\xff"]), max_size=4),
    tokens=st.lists(st.integers(0, 419), max_size=5),
    put_off=st.lists(st.integers(0, 419), max_size=3),
)
def test_what_is_left(parts: list[bytes], tokens: list[int], put_off: list[int]) -> None:
    vocabulary = small_tokenizer().vocabulary()
    matcher = compile_constraint(language=language(Str(max_chars=5), {})).matcher(vocabulary)
    left = PrunedTokens(matcher, frozenset(vocabulary.end_ids), vocabulary)
    wanted = set(matcher.allowed().tolist())
    for part in parts:
        left.prune(part)
        wanted -= {t for t, data in enumerate(vocabulary.token_bytes) if data and data.startswith(part)}
        assert set(beginnings(vocabulary).tokens(part).tolist()) == {
            t for t, data in enumerate(vocabulary.token_bytes) if data and data.startswith(part)
        }
    for token in tokens:
        token %= vocabulary.size
        left.prune_token(token)
        wanted.discard(token)
    before = set(wanted)
    pruned = {token % vocabulary.size for token in put_off} & wanted
    for token in pruned:
        left.defer(token)
    assert set(vocabulary.unpack(left.row()).tolist()) == wanted - pruned
    assert left.count() == len(wanted - pruned)
    assert left.recall() == bool(pruned)
    left.may_end = True
    row = set(vocabulary.unpack(left.row()).tolist())
    assert row == before | set(vocabulary.end_ids)
    assert all(left.allows(token) == (token in row) for token in range(vocabulary.size))


# -- at random -----------------------------------------------------------------------------------------


BYTES = Vocabulary([bytes((byte,)) for byte in range(256)])


@settings(max_examples=8, deadline=None)
@given(words=WORDS, seed=st.integers(0, 10**6))
def test_random_good_words(words: set[str], seed: int) -> None:
    async def ask(text: str) -> str:
        return perfect(words)(text)

    matcher = compile_constraint(language=language(Str(max_chars=8), {})).matcher(BYTES)
    word = asyncio.run(random_good_word(matcher, Random(seed), Verdicts(ask), "f.x"))
    assert word.decode() in words


def test_random_words_heed_the_type_too() -> None:
    async def ask(text: str) -> str:
        return FINAL if text.count("a") == 2 else ALIVE if text.count("a") < 2 else DEAD

    matcher = compile_constraint(language=language(Str(max_chars=4, patterns=("[ab]*",)), {})).matcher(BYTES)
    found = {
        asyncio.run(random_good_word(matcher.clone(), Random(seed), Verdicts(ask), "f.x")).decode()
        for seed in range(80)
    }
    every = {"".join(word) for size in range(5) for word in product("ab", repeat=size)}
    assert found == {word for word in every if word.count("a") == 2}
