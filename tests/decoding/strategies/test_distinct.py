"""`n k distinct`: samples without replacement, beside the exact distribution of such draws."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from example_budget import examples
from fakes.fake_executor import FakeExecutor
from fakes.hashed_engine import HashedEngine
from fakes.small_models import FickleModel, small_tokenizer
from fakes.toy_holes import ToyHole
from oracles.decoding.enumeration import chi_square, far_out
from sglc.driver import compile_source
from sglc.runtime.decoding.strategies.drawn_texts import drawn_texts
from sglc.runtime.decoding.strategies.prefix_tree import PrefixTree
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.errors import SglError
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.source import Source
from sglc.testing import run_tests

WORDS = ("no", "no, never", "yes", "maybe")


def sequences(shares: dict[str, float], count: int) -> dict[str, float]:
    """The probability of each sequence of draws without replacement."""
    found = {}
    for words in itertools.permutations(shares, count):
        chance, left = 1.0, 1.0
        for word in words:
            chance, left = chance * shares[word] / left, left - shares[word]
        found[" > ".join(words)] = chance
    return found


def told(counts: Counter[tuple[str, ...]]) -> dict[str, int]:
    return {" > ".join(words): number for words, number in counts.items()}


def session(hole: str, engine: Any, more: str = "", result: str = "[int]", head: str = "") -> Session:
    text = (
        f"pub fn f(xs: [str] = [], least: int = 4) -> {result}{head}:\n    user: | how many?\n"
        f"    assistant: | Well: ?{{x: {hole}}}\n{more}    return x\n"
    )
    compiled = compile_source(Source("p.sgl", text))
    assert compiled.program is not None, compiled.diagnostics
    return Session(compiled.program, engine)


def run(made: Session, seed: int = 0, **options: Any) -> RunResult:
    given = {"xs": options.pop("xs")} if "xs" in options else {}
    return asyncio.run(made.run("f", given, seed=seed, **options))


@pytest.mark.slow
@pytest.mark.parametrize("few", [True, False], ids=["scored", "walks"])
@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_draws_are_those_without_replacement(few: bool, temperature: float) -> None:
    toy = ToyHole(WORDS, seed=5, temperature=temperature)

    async def draws() -> Counter[tuple[str, ...]]:
        tree = PrefixTree()
        found: Counter[tuple[str, ...]] = Counter()
        for seed in range(examples(500)):
            # Walks learn what was drawn before, which holds for one hole only.
            result = await toy.exact(seed, tree if few else None, few=few, wanted=3)
            found[(result.text, *result.others)] += 1
        return found

    counts = told(asyncio.run(draws()))
    assert not far_out(*chi_square(counts, sequences(toy.expected(), 3)))


def test_limits_shape_what_is_left() -> None:
    scores = np.log([0.5, 0.3, 0.15, 0.05]).tolist()
    seeds = range(examples(200))
    assert {tuple(drawn_texts(scores, Sampling(1.0, top_k=1), seed, 3)) for seed in seeds} == {(0, 1, 2)}
    two = {tuple(drawn_texts(scores, Sampling(1.0, top_k=2), seed, 2)) for seed in seeds}
    assert two == {(0, 1), (0, 2), (1, 0), (1, 2)}
    assert drawn_texts(scores, Sampling(), 0, 9) == [0, 1, 2, 3]
    assert drawn_texts([*scores, -np.inf], Sampling(1.0), 0, 9) == drawn_texts(scores, Sampling(1.0), 0, 4)
    assert drawn_texts([-np.inf], Sampling(1.0), 0) == []


@pytest.mark.parametrize("hole", ["int in 1..40 temp 1.0", "choose [3, 33, 35, 4, 45, 41] temp 1.0"])
def test_the_first_is_what_one_draw_gives(hole: str) -> None:
    for seed in range(6):
        several = run(session(f"{hole} n 5 distinct", HashedEngine(seed=2)), seed)
        alone = hole if hole.startswith("choose") else f"{hole} decode exact"
        assert len(set(several.value)) == 5 and len(several.holes) == 1
        assert several.value[0] == run(session(alone, HashedEngine(seed=2), result="int"), seed).value


def test_one_scoring_serves_all() -> None:
    steps = []
    for count in (2, 30):
        executor = FakeExecutor(small_tokenizer())
        engine = open_engine(executor, memory=executor.block_bytes * 2000)
        run(session(f"int in 1..40 temp 1.0 n {count} distinct", engine))
        engine.close()
        steps.append(engine.statistics.forwards)
    assert steps == [3, 3]


def test_more_places_than_are_scored_are_walked() -> None:
    found = run(session("int in 1..1000 temp 1.0 n 4 distinct", HashedEngine(seed=2)))
    assert len(set(found.value)) == 4 and (found.holes[0].walks or 0) >= 4
    assert (
        found.value[0]
        == run(session("int in 1..1000 temp 1.0 decode exact", HashedEngine(seed=2), result="int")).value
    )


def test_all_values_can_be_drawn_and_no_more() -> None:
    for few in (True, False):
        toy = ToyHole(WORDS, seed=5)
        found = asyncio.run(toy.exact(0, few=few, wanted=4))
        assert {found.text, *found.others} == set(WORDS)
        assert len(asyncio.run(toy.exact(0, few=few, wanted=5)).others) == 3
    for hole, given in (("int in 1..6 where x >= least temp 1.0", {}), ("choose xs", {"xs": ["a", "b"]})):
        made = session(f"{hole} n 4 distinct", HashedEngine(), result="[str]" if given else "[int]")
        with pytest.raises(SglError) as caught:
            run(made, **given)
        assert caught.value.name == "Unsatisfiable"
        assert caught.value.message.endswith(f"has {len(given.get('xs', '123'))} texts, not 4")


def test_a_retry_draws_among_the_rest() -> None:
    hole = "int in 1..6 temp 1.0 n 2 distinct"
    first = run(session(hole, HashedEngine(seed=2))).value
    more = f'    ensure x[0] != {first[0]} else "not this"\n        retry 2 resample\n'
    again = run(session(hole, HashedEngine(seed=2), more))
    assert again.statistics.retries == 1 and again.value[0] != first[0] and len(set(again.value)) == 2


def test_options_of_the_run_are_bounded() -> None:
    made = session("choose xs temp 1.0 n 2 distinct", ReferenceEngine(FickleModel(1)), result="[str]")
    assert len(set(run(made, xs=[str(number) for number in range(1024)]).value)) == 2
    with pytest.raises(SglError) as caught:
        run(made, xs=[str(number) for number in range(1025)])
    assert "at most 1,024 options, not 1,025" in caught.value.message


FOUR = ("int in 1..4 temp 1.0 n 4 distinct", "choose [1, 2, 3, 4] n 4 distinct")


@pytest.mark.parametrize("hole", FOUR)
def test_values_differ_however_a_run_draws_them(hole: str) -> None:
    scripted = session(hole, ReferenceEngine(ScriptedModel({"x": "3"})))
    for seed in range(5):
        assert sorted(run(session(hole, HashedEngine()), seed, decode="local").value) == [1, 2, 3, 4]
        assert sorted(run(scripted, seed).value) == [1, 2, 3, 4]
    assert run(scripted).value[0] == 3


@pytest.mark.parametrize("hole", FOUR)
def test_random_values_differ_and_mocks_answer_for_themselves(hole: str) -> None:
    text = (
        f"pub fn f() -> [int]:\n    | ?{{x: {hole}}}\n    return x\n\n"
        'test "fuzz":\n    fuzz f() times 20:\n        expect sorted(it) == [1, 2, 3, 4]\n\n'
        'test "mock":\n    mock f.x = 2 always\n    expect f() == [2, 2, 2, 2]\n'
    )
    made = compile_source(Source("p.sgl", text))
    assert made.program is not None, made.diagnostics
    assert [report.passed for report in run_tests(made.program)] == [True, True]


def test_all_texts_count_against_budgets() -> None:
    for hole in ("int in 1..9 temp 1.0 n 3 distinct", "choose [1, 2, 3, 4] n 3 distinct"):
        made = session(hole, HashedEngine(), head=" within 3 tok")
        assert len(run(made).value) == 3
        with pytest.raises(SglError) as caught:
            run(made, max_tokens=2)
        assert caught.value.name == "Truncated"


def test_the_word_is_a_name_elsewhere() -> None:
    text = (
        "record Distinct:\n    distinct: int in 1..3\n\n"
        "pub fn f(distinct: int = 2) -> [int]:\n    let n = distinct\n    user: | ${distinct} ${n}\n"
        "    assistant: | ?{x: int in 1..9 n 2 distinct temp 1.0} ?{distinct_: Distinct}\n"
        "    return [distinct, *x]\n"
    ).replace("[distinct, *x]", "[distinct] + x")
    compiled = compile_source(Source("p.sgl", text))
    assert compiled.program is not None, compiled.diagnostics
    named = "pub fn g(xs: [str]) -> str:\n    let distinct = xs\n    | ?{x: choose distinct}\n    return x\n"
    assert compile_source(Source("p.sgl", named)).program is not None
