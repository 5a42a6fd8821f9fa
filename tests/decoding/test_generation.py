"""Filling holes: exact ends, canonical tokens, forced text without forward passes, budgets kept."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from fakes.small_models import FickleModel, small_tokenizer
from sglc.automata.dfa.operations import accepts
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Language, Text, Words
from sglc.runtime.decoding.conversations.conversation import Conversation, Encoder
from sglc.runtime.decoding.hole_decoder import HoleDecoder
from sglc.runtime.decoding.requests import Budget, Constraints, HoleRequest, HoleResult, Silent, Timing
from sglc.runtime.decoding.stop_tracker import StopTracker
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.sampling import lazy
from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.errors import SglError
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.types.language.language import language
from sglc.types.type import (
    Bool,
    Dec,
    EnumType,
    FieldType,
    Int,
    ListOf,
    MapOf,
    Named,
    Optional,
    RecordType,
    Str,
    TupleOf,
    Type,
    UnionType,
)

TABLE = {
    "Mood": EnumType("Mood", ("calm", "annoyed", "answer")),
    "Pet": RecordType(
        "Pet",
        (FieldType("name", Str(max_chars=12)), FieldType("age", Int(0, 30)), FieldType("tag", Bool(), True)),
    ),
    "Shape": UnionType(
        "Shape", (RecordType("Dot", ()), RecordType("Square", (FieldType("side", Int(1, 9)),)))
    ),
    "Tree": RecordType("Tree", (FieldType("n", Int(0, 9)), FieldType("sub", ListOf(Named("Tree"), 0, 2)))),
}
TYPES: list[Type] = [
    Str(max_chars=20),
    Str(min_chars=3, max_chars=40, until=("<<",)),
    Str(patterns=("[a-z]{2,8} [0-9]+",), max_chars=20),
    Int(-50, 1000),
    Dec(),
    Bool(),
    Named("Mood"),
    Named("Pet"),
    Named("Shape"),
    Named("Tree"),
    ListOf(Str(max_chars=6), 1, 4),
    MapOf(Str(max_chars=3), Int(0, 9), 0, 3),
    TupleOf((Int(0, 9), Named("Mood"))),
    Optional(Int(5, 99)),
]


class Recorder(Silent):
    """Keeps the pieces that a hole reports."""

    detailed = True
    weighed = True

    def __init__(self) -> None:
        self.pieces: list[tuple[str, bool]] = []
        self.masks: list[int] = []

    def piece(self, text: str, forced: bool) -> None:
        self.pieces.append((text, forced))

    def token(self, drawn: Sampled, data: bytes, allowed: int, draft: object = None) -> None:
        self.masks.append(allowed)


class Bench:
    """A conversation on a model, in which holes can be filled."""

    def __init__(self, model: FickleModel | None = None, prompt: str = "", raw: bool = False) -> None:
        """`raw`: without roles, on a model that begins a text with no token of its own."""
        self.engine = ReferenceEngine(model or FickleModel())
        tokenizer = self.engine.model.tokenizer
        if raw:
            tokenizer.bos_id = None
        self.talk = Conversation(
            encoder=Encoder(tokenizer), chat=tokenizer.chat, open_branch=lambda tokens: self.engine.branch()
        )
        if not raw:
            self.talk.role("user")
            self.talk.text("the question")
            self.talk.end_role()
            self.talk.role("assistant")
        if prompt:
            self.talk.text(prompt)
        self.recorder = Recorder()

    def fill(self, type: Type | None = None, **more: Any) -> HoleResult:
        described = more.pop("language", None) or language(type, TABLE)  # type: ignore[arg-type]
        more.setdefault("stops", ("\n",))
        request = HoleRequest("f.x", "key", described, **more)
        decoder = HoleDecoder(
            self.talk,
            small_tokenizer().vocabulary(),
            Constraints(),
            request,
            self.recorder,
            Timing(),
            self.engine.model.context_length,
            lambda: None,
        )
        try:
            return asyncio.run(decoder.run())
        finally:
            self.engine.close()

    @property
    def forwards(self) -> int:
        return self.engine.statistics.forwards


def legal(described: Language, text: str) -> bool:
    matcher = compile_constraint(language=described).matcher(small_tokenizer().vocabulary())
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


@pytest.mark.parametrize("prompt", ["", " ", "t", "the", "th", "\n", "the an"])
def test_a_token_is_left_to_predict_from_where_all_are_cut_anew(prompt: str) -> None:
    for seed in range(5):
        bench = Bench(FickleModel(seed), prompt, raw=True)
        result = bench.fill(Str(max_chars=5), budget=Budget(9, "test"))
        assert len(result.text) <= 5 and result.prompt >= 1
        assert bench.talk.state.message == prompt + result.text
        assert tuple(bench.talk.sync().tokens) == bench.talk.tokens()


# -- what always holds -------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(
    type=st.sampled_from(TYPES),
    seed=st.integers(0, 10**6),
    prompt=st.sampled_from(["", "the", "Answer: ", 'x = "', "the an", "été "]),
    temperature=st.sampled_from([0.0, 1.0]),
    end_of_message=st.booleans(),
    raw=st.booleans(),
)
def test_a_hole_is_always_a_legal_value(
    type: Type, seed: int, prompt: str, temperature: float, end_of_message: bool, raw: bool
) -> None:
    bench = Bench(FickleModel(seed), prompt, raw)
    before = bench.talk.state.message
    budget = Budget(300, "test")
    result = bench.fill(
        type, sampling=Sampling(temperature), seed=seed, end_of_message=end_of_message, budget=budget
    )
    assert legal(language(type, TABLE), result.text)
    assert bench.talk.state.message == before + result.text
    assert "".join(text for text, _ in bench.recorder.pieces) == result.text
    assert result.tokens <= 300
    assert bench.forwards <= result.sampled + 1
    held = bench.talk.sync().tokens
    assert tuple(held) == bench.talk.tokens()
    assert small_tokenizer().bytes_of(
        held[-len(small_tokenizer().encode(bench.talk.state.stretch)) :]
    ).decode() == (bench.talk.state.stretch)


@pytest.mark.slow
@settings(max_examples=examples(16), deadline=None)
@given(
    type=st.sampled_from(TYPES),
    seed=st.integers(0, 10**6),
    sampling=st.sampled_from([Sampling(), Sampling(1.2, top_k=3), Sampling(0.8, top_k=12, top_p=0.9)]),
    wanted=st.sampled_from([{}, {1: 4.0}, {60: 9.0, 61: 8.0}]),
)
def test_whole_masks_and_single_questions_give_the_same(
    type: Type, seed: int, sampling: Sampling, wanted: dict[int, float]
) -> None:
    """With tokens asked for first, and with the mask made at once: the same tokens."""
    results = []
    for most in (lazy.MOST_TRIES, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lazy, "MOST_TRIES", most)
            bench = Bench(FickleModel(seed, wanted=wanted), "the")
            bench.recorder.detailed = most == 0
            result = bench.fill(type, sampling=sampling, seed=seed, budget=Budget(200, "test"))
            results.append((replace(result, logprob=0.0), bench.talk.sync().tokens))
    assert results[0] == results[1]


@settings(max_examples=60, deadline=None)
@given(type=st.sampled_from(TYPES), seed=st.integers(0, 10**6), limit=st.integers(1, 40))
def test_a_budget_is_kept_or_the_value_cannot_fit(type: Type, seed: int, limit: int) -> None:
    bench = Bench(FickleModel(seed))
    described = language(type, TABLE)
    shortest = (
        compile_constraint(language=described).matcher(small_tokenizer().vocabulary()).shortest_completion()
    )
    fits = len(small_tokenizer().encode(shortest.decode())) <= limit
    try:
        result = bench.fill(type, budget=Budget(limit, "`max tok`"), sampling=Sampling(1.0), seed=seed)
    except SglError as error:
        assert error.name == "Truncated" and not fits
        assert bench.forwards == 0
    else:
        assert fits and legal(described, result.text)
        assert result.tokens <= limit


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), excluded=st.sets(st.integers(0, 9), max_size=9))
def test_excluded_values_are_never_drawn(seed: int, excluded: set[int]) -> None:
    bench = Bench(FickleModel(seed), "n = ")
    words = frozenset(str(n).encode() for n in excluded)
    result = bench.fill(Int(0, 9), excluded=words)
    assert int(result.text) not in excluded


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    def draw(seed: int) -> str:
        return Bench().fill(Str(max_chars=40), sampling=Sampling(1.5), seed=seed).text

    assert draw(1) == draw(1)
    assert len({draw(seed) for seed in range(5)}) > 1


# -- what costs no forward pass ----------------------------------------------------------------------


def test_a_value_without_a_choice_costs_nothing() -> None:
    bench = Bench()
    result = bench.fill(language=Language(Words(frozenset({b"only this"}))))
    assert result.text == "only this" and result.sampled == 0 and bench.forwards == 0
    assert bench.recorder.pieces == [("only this", True)]


def test_a_value_that_is_complete_ends_without_asking() -> None:
    bench = Bench()
    result = bench.fill(Named("Mood"))
    assert result.ended == "complete"
    assert bench.forwards == result.sampled <= 2


def test_skeletons_are_forced() -> None:
    bench = Bench()
    result = bench.fill(Named("Shape"))
    forced = "".join(text for text, sure in bench.recorder.pieces if sure)
    assert forced.startswith('{"type": "') and result.sampled <= 4


def test_nothing_left_to_choose_is_unsatisfiable() -> None:
    with pytest.raises(SglError, match="no value of hole") as caught:
        Bench().fill(Bool(), excluded=frozenset({b"true", b"false"}))
    assert caught.value.name == "Unsatisfiable"


# -- ends --------------------------------------------------------------------------------------------


def token(text: str) -> int:
    [only] = small_tokenizer().encode(text)
    return only


def test_the_end_of_the_turn_ends_a_value_that_could_go_on() -> None:
    end = small_tokenizer().special["<|im_end|>"]
    bench = Bench(FickleModel(wanted={token(" the"): 50.0}))
    bench.engine.model._wanted[end] = 40.0  # type: ignore[attr-defined]
    described = Language(Text(compile_regex("( the){2,3}")))
    result = bench.fill(language=described, stops=("\n",))
    assert result.text == " the the the" and result.ended == "complete"
    bench = Bench(FickleModel(wanted={end: 90.0, token(" the"): 50.0}))
    result = bench.fill(language=described, stops=("\n",))
    assert result.text == " the the" and result.ended == "end"
    bench = Bench(FickleModel(wanted={end: 90.0, token(" the"): 50.0, token("\n"): 40.0}))
    result = bench.fill(language=described, stops=("\n",), end_of_message=False)
    assert result.text == " the the the"


def test_a_token_across_the_end_of_the_value_is_cut_there() -> None:
    straddling = token('",')
    bench = Bench(FickleModel(wanted={straddling: 90.0}), "name")
    result = bench.fill(Str(max_chars=10, until=('"',)), stops=('"',), end_of_message=False)
    assert result.text == "" and result.ended == "stop" and result.tokens == 0
    assert bench.talk.state.message == "name"
    bench.talk.text('" next')
    assert tuple(bench.talk.sync().tokens) == bench.talk.tokens()


def tracked(type: Type, stops: tuple[str, ...], *pieces: str) -> tuple[int | None, bytes]:
    matcher = compile_constraint(language=language(type, TABLE)).matcher(small_tokenizer().vocabulary())
    tracker = StopTracker(matcher, stops)
    end = None
    for piece in pieces:
        end = tracker.feed(piece.encode())
    return end, bytes(tracker.data)


@pytest.mark.parametrize(
    ("pieces", "stop", "value"),
    [
        (["abc <<"], "<<", "abc "),
        (["abc <", "< rest"], "<<", "abc "),
        (["abc", "<<7>>"], "<<", "abc"),
        (["a < b", " <<"], "<<", "a < b "),
        (["abc\n\n"], "\n", "abc"),
        (["é", "\nx"], "\n", "é"),
    ],
)
def test_the_end_is_found_to_the_byte(pieces: list[str], stop: str, value: str) -> None:
    until = (stop,) if stop != "\n" else ()
    end, data = tracked(Str(max_chars=40, until=until), (stop,), *pieces)
    assert end is not None and data[:end].decode() == value


def test_a_stop_that_was_only_begun_belongs_to_the_value() -> None:
    end, data = tracked(Str(max_chars=40, until=("<<",)), ("<<",), "a <", "b")
    assert end is None and data == b"a <b"


# -- healing -----------------------------------------------------------------------------------------


def test_a_trailing_space_is_left_to_the_model() -> None:
    wanted = token(" answer")
    bench = Bench(FickleModel(wanted={wanted: 90.0}), "the")
    bench.talk.text(" ")
    result = bench.fill(Str(patterns=("answer|there",), max_chars=10))
    assert result.text == "answer"
    assert bench.talk.state.message == "the answer"
    assert bench.talk.branch.tokens[-1] == wanted


def test_a_space_stays_where_no_longer_token_is_legal() -> None:
    bench = Bench(prompt="the ")
    before = len(bench.talk.tokens())
    bench.fill(Int(0, 9))
    assert tuple(bench.talk.branch.tokens[:before]) == bench.talk.tokens()[:before]


# -- masks -------------------------------------------------------------------------------------------


def test_the_mask_and_single_questions_agree_about_end_tokens() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"ab", None, None], frozenset({3, 4}))
    legal = NextTokens(compile_constraint(regex="a*").matcher(vocabulary), vocabulary.end_ids)
    for may_end, expected in ((False, [0]), (True, [0, 3, 4]), (False, [0])):
        legal.may_end = may_end
        assert vocabulary.unpack(legal.row()).tolist() == expected
        assert [token for token in range(vocabulary.size) if legal.allows(token)] == expected
        assert legal.count() == len(expected)


def test_the_reported_mask_counts_end_tokens_where_they_are_legal() -> None:
    bench = Bench(FickleModel(wanted={token("a"): 90.0}))
    bench.fill(Str(patterns=("a|ab",), max_chars=2))
    ends = len(small_tokenizer().end_ids)
    newlines = sum(1 for data in small_tokenizer().token_bytes if data and data.startswith(b"\n"))
    straddling = sum(1 for data in small_tokenizer().token_bytes if data and data.startswith(b"b\n"))
    assert bench.recorder.masks[-1] == 1 + straddling + newlines + ends


def test_numbers_are_read_by_the_same_regular_expression() -> None:
    for seed in range(20):
        text = Bench(FickleModel(seed)).fill(Dec(), sampling=Sampling(1.0), seed=seed).text
        assert accepts(compile_regex(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,10})?"), text)
