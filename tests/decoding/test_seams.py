"""Tokens at seams: holes are decided as exact masked decoding over canonical tokens decides them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

from fakes.small_models import MadeUpModel, small_tokenizer
from oracles.token_oracle import chi_square_tail
from sglc.automata.term import Language, Words
from sglc.driver import compile_source
from sglc.runtime.decoding.conversations.canonical import Canonical
from sglc.runtime.decoding.seams import Seams, beginnings
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.runtime.model import load
from sglc.runtime.model.scripted import ScriptedCache
from sglc.runtime.session import Session
from sglc.source import Source
from strategies.seam_cases import FIXED, SeamBench, SeamCase, seam_cases

DRAWS = int(os.environ.get("SGLC_TEST_DRAWS", "300"))
CASES = int(os.environ.get("SGLC_TEST_EXAMPLES", "18"))
LEAST = 0.01 / 500
"""A case fails whose draws are less likely than this: one run of 500 right cases in a hundred does."""

needs_model = pytest.mark.skipif(
    not (load.cached_folder(load.DEFAULT) or load.package_file()), reason="no SmolLM2: not installed"
)


@cache
def tokenizer() -> Any:
    return load.load_tokenizer()


@cache
def model() -> MadeUpModel:
    return MadeUpModel(tokenizer().size)


@pytest.fixture(params=range(CASES))
def case(request: pytest.FixtureRequest) -> Iterator[SeamCase]:
    yield _cases()[request.param]


@cache
def _cases() -> list[SeamCase]:
    return seam_cases(CASES)


# -- against brute force ------------------------------------------------------------------------------


@pytest.mark.slow
@needs_model
def test_what_is_drawn_from_is_exact_masked_decoding(case: SeamCase) -> None:
    bench = SeamBench(tokenizer(), model(), case)
    assert sum(bench.exact.values()) == pytest.approx(1)
    found = bench.distribution()
    assert set(found) <= set(case.values)
    for value in case.values:
        assert found.get(value, 0.0) == pytest.approx(bench.exact.get(value, 0.0), abs=1e-9), value
    assert bench.fill(Sampling()).text == bench.likeliest


@pytest.mark.slow
@needs_model
@pytest.mark.parametrize("number", range(9))
def test_draws_with_refusals_are_those_of_the_open_tokens_alone(number: int) -> None:
    """One set of each kind, in which many tokens are refused before one is drawn."""
    case = seam_cases(18, 11)[number]
    bench = SeamBench(tokenizer(), model(), case)
    counts = bench.counts(DRAWS)
    assert set(counts) <= set(case.values)
    assert chi_square_tail(counts, bench.exact) >= LEAST, (case, counts, bench.exact)


@pytest.mark.slow
@needs_model
@pytest.mark.parametrize(
    ("prompt", "values", "follow"),
    [
        ("", ("Monday", "Month"), ""),
        ("", ("yes", "yellow"), ""),
        ("It is ", ("north", "none"), ""),
        ("Today is Mon", ("day", "th"), ""),
        ("Word: Mon", ("day", "grel"), "s"),
        ("", ("Mon", "Sun"), "day"),
        ("", ("1", "12", "120"), " apples"),
        ("a\n\n", ("one", "once"), ""),
        ("a\n\n", ("-21", "11", "114"), ""),
        ("(", ("attribute", "attributeref"), ""),
        ("", ("in", "inside", "into"), ""),
        ("", ("🙂", "🙃", "é", "è"), ""),
        ("the un", ("document", "documented"), "s"),
    ],
)
def test_options_that_begin_alike(prompt: str, values: tuple[str, ...], follow: str) -> None:
    described = Language(Words(frozenset(value.encode() for value in values)))
    for seed in range(3):
        made_up = MadeUpModel(tokenizer().size, seed)
        bench = SeamBench(tokenizer(), made_up, SeamCase("choose", prompt, described, values, follow))
        assert bench.fill(Sampling()).text == bench.likeliest
        assert bench.distribution() == pytest.approx(bench.exact)


def test_a_small_tokenizer_and_a_text_without_roles() -> None:
    made_up = MadeUpModel(small_tokenizer().size)
    for number, words in enumerate((*FIXED, ("the", "there", "theatre"), ("an", "answer", "anthem"))):
        if any("\n" in word for word in words):
            continue
        described = Language(Words(frozenset(word.encode() for word in words)))
        prompt = ("the ", "ano", "x", "12")[number % 4]
        case = SeamCase("choose", prompt, described, words)
        bench = SeamBench(small_tokenizer(), made_up, case, chat=False)
        assert bench.fill(Sampling()).text == bench.likeliest, case
        assert bench.distribution() == pytest.approx(bench.exact), case


@pytest.mark.slow
@needs_model
def test_limits_look_at_the_tokens_that_are_left() -> None:
    """The likeliest token of all is none that the tokenizer writes here: top-k takes the next ones, top-p and
    min-p are those of the others."""
    described = Language(Words(frozenset((b"Monday", b"Month"))))
    [never], [most], [less] = (tokenizer().encode(text) for text in ("Mon", "Month", "Monday"))

    def logits(tokens: tuple[int, ...]) -> Any:
        row = model()(tokens).copy()
        row[never], row[most], row[less] = 50.1, 50.0, 49.0
        return row

    bench = SeamBench(tokenizer(), logits, SeamCase("choose", "", described, ("Monday", "Month")))
    for sampling in (Sampling(), Sampling(1.0, top_k=1), Sampling(1.0, top_p=0.5), Sampling(1.0, min_p=0.4)):
        for seed in range(20):
            result = bench.fill(sampling, seed)
            assert result.text == "Month" and result.tokens == result.sampled == 1
    two = [bench.fill(Sampling(1.0, top_k=2), seed).text for seed in range(400)]
    assert chi_square_tail({text: two.count(text) for text in two}, bench.exact) >= LEAST


class Whole:
    """The made-up model as an engine wants it."""

    name, context_length = "made up", 1 << 20

    def __init__(self) -> None:
        self.tokenizer = tokenizer()

    def new_cache(self) -> ScriptedCache:
        return ScriptedCache()

    def forward(self, cache: ScriptedCache, tokens: Any, every: bool = False) -> Any:
        rows = []
        for token in tokens:
            cache.tokens.append(token)
            rows.append(model()(tuple(cache.tokens)))
        return np.stack(rows) if every else rows[-1].copy()


PROGRAMS = {
    "": """
fn f() -> [str]:
    user: | Which?
    assistant:
        | It is ?{a: "Monday" | "Month"}, not ?{b: "Mon" | "Sun" | "Thurs"}day
        | (Mon?{c: "day" | "th" | "grel"}
    return [a, b, c]
""",
    " n 2": """
fn f() -> [str]:
    user: | Which?
    assistant:
        | It is ?{a: "Monday" | "Month" n 2}, not ?{b: "Mon" | "Sun" | "Thurs" n 2}day
        | (Mon?{c: "day" | "th" | "grel" n 2}
    return [a[0], b[1], c[1]]
""",
    " in a fork": """
fn f() -> [str]:
    user: | Which?
    assistant: | It is ?{a: "Monday" | "Month"}, not ?{b: "Mon" | "Sun" | "Thurs"}day
    let each = fork i in 0..<2 seed i:
        assistant: | It is ?{c: "Monday" | "Month"}
        yield c
    return [a, b, each[1].value]
""",
    " judged": """
pure fn fine(_prefix: str) -> alive | dead | final:
    return final

fn f() -> [str]:
    user: | Which?
    assistant:
        | It is ?{a: "Monday" | "Month" where fine(a)}, not ?{b: "Mon" | "Sun" | "Thurs" where fine(b)}day
        | (Mon?{c: "day" | "th" | "grel" where fine(c)}
    return [a, b, c]
""",
}
RETRIED = """
fn f() -> str:
    user: | Which?
    assistant:
        | It is ?{a: "Monday" | "Month" | "Monkey"}.
        ensure a != "FIRST" else "not this"
            retry 1 resample
    return a
"""


def _greedy(prompt: str, follow: str, *values: str, before: str = "") -> str:
    """What exact masked decoding chooses; `before` is a message of its own."""
    described = Language(Words(frozenset(value.encode() for value in values)))
    case = SeamCase("choose", prompt, described, values, follow)
    return SeamBench(tokenizer(), model(), case, question="Which?", before=before).likeliest


def _run(program: str) -> Any:
    compiled = compile_source(Source("f.sgl", program)).program
    assert compiled is not None
    engine = ReferenceEngine(Whole())
    try:
        return asyncio.run(Session(compiled, engine).run("f")).value
    finally:
        engine.close()


@pytest.mark.slow
@needs_model
@pytest.mark.parametrize("form", PROGRAMS)
def test_programs_decide_alike_at_their_seams(form: str) -> None:
    """Behind prompt text, before text, in the copies of `n` and of a fork, and with a validator."""
    first = _greedy("It is ", ", not ", "Monday", "Month")
    second = _greedy(f"It is {first}, not ", "day", "Mon", "Sun", "Thurs")
    third = _greedy(f"It is {first}, not {second}day\n(Mon", "", "day", "th", "grel")
    if "fork" in form:
        third = _greedy("It is ", "", "Monday", "Month", before=f"It is {first}, not {second}day")
    assert _run(PROGRAMS[form]) == [first, second, third]


@needs_model
def test_what_is_drawn_again_after_a_retry_is_decided_alike() -> None:
    options = {"Monday", "Month", "Monkey"}
    first = _greedy("It is ", ".", *options)
    assert _run(RETRIED.replace("FIRST", first)) == _greedy("It is ", ".", *options - {first})


# -- the parts ----------------------------------------------------------------------------------------


def _seams() -> Seams:
    return Seams(Canonical(tokenizer().encode, tokenizer().token_bytes), tokenizer().vocabulary())


def _matcher(*words: str) -> Any:
    language = Language(Words(frozenset(word.encode() for word in words)))
    return compile_constraint(language=language).matcher(tokenizer().vocabulary())


def _taken(text: str, *words: str) -> str:
    """The text before a hole that is taken back for a union of words."""
    tokens = tokenizer().encode(text)

    def behind(prefix: bytes) -> Any:
        return _matcher(*(prefix.decode() + word for word in words))

    count = _seams().taken_back(tokens, 0, _matcher(*words), behind)
    found: str = tokenizer().bytes_of(tokens[len(tokens) - count :]).decode()
    return found


@needs_model
@pytest.mark.parametrize(
    ("text", "words", "taken"),
    [
        ("It is ", ("red", "green"), " "),
        ("It is ", ("1", "2"), ""),
        ("It is ", ("-1", "2"), " "),
        ("on Mon", ("day", "th"), " Mon"),
        ("on Mon", ("-day", "1"), ""),
        ('say "', ("a", "b"), ""),
        ('say "', ("a", "#"), ' "'),
        ("a\n\n", ("b",), "\n\n"),
        ("a\n", ("b",), ""),
        ("", ("b",), ""),
    ],
)
def test_text_before_a_hole_is_taken_back_as_far_as_it_may_become_other_tokens(
    text: str, words: tuple[str, ...], taken: str
) -> None:
    assert _taken(text, *words) == taken


@needs_model
@pytest.mark.parametrize(
    ("run", "words", "kept"),
    [
        ("Mon", ("Monday", "Month"), ""),
        ('{"day": "', ('{"day": "Monday"}', '{"day": "Month"}'), '{"day": "'),
        ('{"day": "', ('{"day": "#1"}', '{"day": "Month"}'), '{"day":'),
        ('{"n": ', ('{"n": 1}', '{"n": -1}'), '{"n":'),
        ('{"n": ', ('{"n": 1}', '{"n": 2}'), '{"n": '),
    ],
)
def test_forced_text_becomes_tokens_as_far_as_every_legal_text_has_them(
    run: str, words: tuple[str, ...], kept: str
) -> None:
    tokens = _seams().committed((), run.encode(), _matcher(*words))
    assert tokens is not None and tokenizer().bytes_of(tokens).decode() == kept


@needs_model
def test_tokens_behind_others_are_those_of_the_whole_text() -> None:
    random = Random(0)
    canonical = Canonical(tokenizer().encode, tokenizer().token_bytes)
    text = "  def f(x):\n    return don't\n\n\n# été 12.50 " + '{"a": ["b", -1]}' * 3 + " attributeref 🙂."
    whole = tuple(tokenizer().encode(text))
    for _ in range(300):
        at = random.randrange(1, len(whole))
        size = random.randrange(1, 8)
        context = Seams.context(whole[:at], 0)
        data = tokenizer().bytes_of(whole[at:])
        if not tokenizer().bytes_of(whole[:at]).decode("utf-8", "replace").endswith("�"):
            assert (canonical.tokens(context, data) or ())[:size] == whole[at : at + size], (at, context)


@needs_model
def test_answers_about_places_are_remembered_and_are_those_of_a_first_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sglc.runtime.decoding.conversations.canonical.MOST_OPEN", 64)
    asked: list[str] = []

    def encode(text: str) -> Any:
        asked.append(text)
        return tokenizer().encode(text)

    words = ["Monday", "Month", "Monkey", "a", "an", "another", "12", "125", "1.5", "été", "  two"]
    random, seams = Random(0), Seams(Canonical(encode, tokenizer().token_bytes), tokenizer().vocabulary())
    answers: dict[object, set[bool]] = {}
    for number in range(30):
        constraint = compile_constraint(
            language=Language(Words(frozenset(map(str.encode, random.sample(words, 5)))))
        )
        begin = constraint.matcher(tokenizer().vocabulary())
        befores: list[tuple[int, ...]] = [
            (),
            *(tuple(tokenizer().encode(text))[-4:] for text in ("M", "an", " ", "1")),
        ]
        for _ in range(20):
            masks, context = begin.clone(), random.choice(befores)
            while not masks.is_complete():
                token = random.choice(masks.allowed().tolist())
                for ending in (None, masks, begin):
                    found = seams.is_open(context, token, masks, ending)
                    assert found == _seams().is_open(context, token, masks, ending)
                    asked.clear()
                    assert found == seams.is_open(context, token, masks.clone(), ending) and not asked
                    answers.setdefault((number, masks.config, token), set()).add(found)
                masks.accept(token)
                context = (*context, token)[-4:]
    # What is before a place decides at some.
    assert {frozenset(each) for each in answers.values()} == {
        frozenset(s) for s in ({False}, {True}, {False, True})
    }


@needs_model
def test_what_may_end_the_message_is_part_of_a_remembered_place() -> None:
    seams, begin = _seams(), _matcher("an", "xanother")
    masks = begin.clone()
    masks.accept_bytes(b"x")
    context, token = tuple(tokenizer().encode("x")), tokenizer().encode("an")[0]
    for ending, wanted in ((None, False), (begin, True), (None, False)):
        assert seams.is_open(context, token, masks, ending) == wanted


def test_tokens_by_what_they_begin_with() -> None:
    vocabulary = small_tokenizer().vocabulary()
    known = beginnings(vocabulary)
    texts = sorted({data for data in vocabulary.token_bytes if data})
    for prefix in (b"t", b"th", b"the", b"\xff", b"zz", b" "):
        wanted = [data for data in texts if data.startswith(prefix) and data != prefix]
        assert list(known.longer(prefix)) == wanted
    assert known.longest == max(map(len, texts))


@needs_model
def test_masks_made_ahead_begin_with_what_a_run_takes_back() -> None:
    from sglc.commands.building.masks import _prefixes

    text = (
        'fn f() -> str:\n    assistant:\n        | one\n        | It is ?{c: "red" | "green"}\n    return c\n'
    )
    program = compile_source(Source("f.sgl", text)).program
    assert program is not None
    words = Language(Words(frozenset((b"red", b"green"))))
    assert _prefixes(program, 0, words, tokenizer(), tokenizer().vocabulary()) == {b" "}


class NeverKept(Canonical):
    """A tokenizer that writes no token as it stands."""

    def __init__(self) -> None:
        super().__init__(lambda text: (), ())

    def keeps(self, context: tuple[int, ...], token: int, more: bytes) -> bool:
        return False


@pytest.mark.slow
def test_a_legal_text_is_looked_for_beyond_the_depth_of_python() -> None:
    """Blanks alone decide nothing: what follows them is looked at, up to LOOKED tokens."""
    vocabulary = Vocabulary([b" ", b"  ", b"x"])
    seams = Seams(NeverKept(), vocabulary)
    long = compile_constraint(regex=" {4000}x").matcher(vocabulary)
    assert seams.is_open((), 0, long, None)
    short = compile_constraint(regex=" {3}x").matcher(vocabulary)
    assert not seams.is_open((), 0, short, None)
