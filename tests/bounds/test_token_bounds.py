"""Bounds of a hole's tokens: exact against brute force, and kept by every run."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_budget import examples
from fakes.small_models import MadeUpModel, small_tokenizer
from sglc.automata.term import Bytes, Language, Nothing
from sglc.runtime.bounds import search, token_graph
from sglc.runtime.bounds.bounds import Before, TokenBounds, token_bounds
from sglc.runtime.decoding.conversations.conversation import Encoder
from sglc.runtime.decoding.requests import Budget, Constraints
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.errors import SglError
from sglc.types.language.language import language
from sglc.types.type import DeclaredType, ListOf, Str, Type
from strategies.seam_cases import SeamBench, SeamCase, seam_cases
from strategies.typed_values import types

TOKENIZER = small_tokenizer()
ENCODER = Encoder(TOKENIZER)
MODEL = MadeUpModel(TOKENIZER.size)


@pytest.fixture(autouse=True)
def little_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not found soon is not looked for: bounds must hold all the same."""
    monkeypatch.setattr(token_graph, "EFFORT", 4_000_000)


def bounds_of(bench: SeamBench, before: Before | None = None, narrower: bool = False) -> TokenBounds:
    place = before or Before(bench.case.prompt, True, bench.opening)
    return token_bounds(
        ENCODER, TOKENIZER.vocabulary(), Constraints(), bench.request, place, narrower=narrower
    )


@pytest.mark.slow
@pytest.mark.parametrize("by", ["going through all", "search"])
def test_least_is_exact_against_brute_force(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if by == "search":
        monkeypatch.setattr(search, "WHOLE", -1)
    for case in seam_cases(examples(60), seed=1):
        bench = SeamBench(TOKENIZER, MODEL, case)
        every = bench.all_results()
        found = bounds_of(bench)
        assert found.exact, case
        assert found.least == min(result.tokens for result in every), case
        assert (found.least, found.drawn, found.forced) in {
            (result.tokens, result.sampled, result.forced) for result in every
        }, case
        most = max(result.tokens for result in every)
        assert found.most is not None and most <= found.most, case
        if found.most_exact:
            assert most == found.most, case
        assert found.cut <= found.least, case


@pytest.mark.parametrize(
    ("prompt", "values", "stop"),
    [
        ("Answer:\n", ("exc", "exceptional", "exceptions", "excess", "exclamation"), "ly"),
        ("Answer:\n", ("tnn", "t", "tnnt", "nnnt", "n"), "nt"),
        ("2 + 2 = ", ("rrr", "oror", "o", "oorr", "roo"), "oo"),
        ("result: [", ("ssoo", "ss", "ooos", "ssss", "sooo"), "so"),
        ('He said "', ("ataaaaaaaaaa", "attaa", "aatan", "an", "anatan", "taaaana"), "ataaaa"),
    ],
)
def test_a_stop_may_begin_as_a_longer_value_goes_on(
    prompt: str, values: tuple[str, ...], stop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "WHOLE", -1)
    described = language(Str(patterns=("|".join(values),)), {}, surface="hole")
    bench = SeamBench(TOKENIZER, MODEL, SeamCase("type", prompt, described, values, stop))
    found = bounds_of(bench)
    assert found.exact
    assert found.least == min(result.tokens for result in bench.all_results())


def case_of(typed: tuple[Type, dict[str, DeclaredType]], random: Random) -> SeamCase:
    prompt = random.choice(("", "Answer: ", "the answer is", "x = ", '{"name": ', "aaaa ", "12", "\n- "))
    return SeamCase(
        "type", prompt, language(*typed, surface="hole"), (), random.choice(("", "", ".", " a", "]"))
    )


@pytest.mark.slow
@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(typed=types(), seed=st.integers(0, 1 << 20))
def test_every_run_keeps_the_bounds(typed: tuple[Type, dict[str, DeclaredType]], seed: int) -> None:
    random = Random(seed)
    bench = SeamBench(TOKENIZER, MadeUpModel(TOKENIZER.size, seed), case_of(typed, random))
    found = bounds_of(bench)
    for draw in range(4):
        budget = Budget(random.choice((3, 8, 20, 60, 120)), "a budget")
        try:
            result = bench.fill(Sampling(random.choice((0.0, 1.0))), draw, budget)
        except SglError as error:
            assert error.name == "Truncated"
            assert budget.tokens < (found.most or 1 << 30)
            continue
        least = found.cut if result.ended == "budget" else found.least
        assert least <= result.tokens, (result, found)
        assert found.most is None or result.tokens <= found.most, (result, found)


@pytest.mark.slow
@settings(max_examples=examples(8), deadline=None, suppress_health_check=list(HealthCheck))
@given(typed=types(), seed=st.integers(0, 1 << 20))
def test_bounds_behind_text_that_is_not_known_hold(
    typed: tuple[Type, dict[str, DeclaredType]], seed: int
) -> None:
    random = Random(seed)
    case = case_of(typed, random)
    unknown = random.choice(("the ", "another an", "a", '{"', "12.", "été", "<<"))
    whole = SeamCase(case.kind, unknown + case.prompt, case.described, (), case.follow)
    bench = SeamBench(TOKENIZER, MadeUpModel(TOKENIZER.size, seed), whole)
    found = bounds_of(bench, Before(case.prompt, False))
    for draw in range(3):
        try:
            result = bench.fill(Sampling(1.0), draw, Budget(100, "a budget"))
        except SglError as error:
            assert error.name == "Truncated"
            continue
        assert (found.cut if result.ended == "budget" else found.least) <= result.tokens
        assert found.most is None or result.tokens <= found.most


def bench_of(described: Language, prompt: str = "") -> SeamBench:
    return SeamBench(TOKENIZER, MODEL, SeamCase("type", prompt, described, ()))


def test_a_value_that_is_certain_costs_no_pass() -> None:
    found = bounds_of(bench_of(Language(Bytes(b'{"name": "the"}'))))
    assert (found.least, found.drawn) == (found.most, 0)
    assert found.exact and found.most_exact and found.forced == found.least


def test_a_language_without_values_has_no_least() -> None:
    found = bounds_of(bench_of(Language(Nothing())))
    assert (found.least, found.exact, found.drawn) == (0, False, None)


def test_what_may_go_on_for_ever_has_no_bound() -> None:
    assert bounds_of(bench_of(language(ListOf(Str()), {}, surface="hole"))).most is None


def test_narrower_languages_have_bounds_that_are_not_exact() -> None:
    described = language(Str(patterns=("[ab]{2,3}",)), {}, surface="hole")
    found = bounds_of(bench_of(described), narrower=True)
    assert (found.least, found.most, found.exact, found.drawn) == (1, 3, False, None)


def test_limits_leave_safe_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    described = language(Str(patterns=("[a-z]{4,5}-[0-9]{8}",)), {}, surface="hole")
    exact = bounds_of(bench_of(described))
    assert exact.exact
    monkeypatch.setattr(search, "WHOLE", 2)
    monkeypatch.setattr(search, "TRIED", 2)
    tried = bounds_of(bench_of(described))
    assert not tried.exact and tried.least <= exact.least
    for limit in ("EFFORT", "WIDEST"):
        with monkeypatch.context() as limited:
            limited.setattr(token_graph, limit, 1)
            explored = bounds_of(bench_of(described))
        assert not explored.exact and explored.least <= tried.least
