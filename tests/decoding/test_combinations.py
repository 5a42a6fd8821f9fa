"""Every combination of decoding options works or is a diagnostic: nothing that is written is dropped.

`combinations.axes` has what can be written. All of it is compiled; what compiles is run on models whose
logits are hashes, in a selection in which each pair of options stands together.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combinations.axes import (
    FORMS,
    MODELS,
    PLACES,
    SAMPLERS,
    SAMPLES,
    STRATEGIES,
    Combination,
    combinations,
    covering,
)
from combinations.compiling import TOGETHER, Said, build, check
from combinations.table import with_table
from fakes.copying_executor import CopyingExecutor
from fakes.hashed_engine import HashedEngine
from fakes.noisy_executor import NoisyExecutor
from sglc.bytecode.code import HoleSpec
from sglc.diagnostics.catalogue.codes import CATALOGUE
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.errors import SglError
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event

PAGE = Path(__file__).resolve().parents[2] / "docs" / "decoding.md"
MAY_END: dict[str, tuple[str, ...]] = {"exact": ("Budget",), "beam": ("Unsatisfiable",)}
"""Errors that end a strategy where the model's distribution gives it too little."""

# -- the compiler --------------------------------------------------------------------------------------


def judge(said: Said) -> None:
    """A combination is refused at its hole, or compiles; options that change nothing are told."""
    told = said.combination
    assert all(code in CATALOGUE for code in said.codes)
    if said.errors:
        assert said.refused_at_its_hole, (told, said.errors)
    else:
        assert {each.message.split("`")[1] for each in said.found if each.code == "W0233"} == told.idle, told


def in_code(made: Combination, hole: HoleSpec) -> None:
    """What is written stands in the code of the program."""
    assert (f"decode {hole.decoding}" if hole.decoding else "").replace("(tries = 200)", "") == made.strategy
    assert made.option.keys() == set(hole.options) & {*made.option, "temp", "seed", "n", "weight", "at_least"}
    assert hole.models is None if not made.using else hole.models is not None
    if hole.models is not None:
        assert f"using {hole.models.shown()}" == made.using.replace("RULES", '"Be kind."')
        rule = "ess" if "by ess" in made.model else "weight" if "weight" in made.model else "kl"
        assert hole.models.teacher is None or hole.models.rule == rule
    assert bool(hole.validators) == (made.form.name == "validator")


@cache
def threes() -> tuple[Said, ...]:
    """What is said of combinations in which each three values stand together."""
    return tuple(check(covering(combinations(), 3)))


@cache
def pairs() -> tuple[Combination, ...]:
    """Of those, some that compile, with each two values that can be had together."""
    return tuple(covering((said.combination for said in threes() if not said.errors), 2))


@pytest.mark.slow
def test_each_three_options_compile_together_or_are_refused_at_the_hole() -> None:
    for said in threes():
        judge(said)
    works = [said.combination for said in threes() if not said.errors]
    assert 0.3 < len(works) / len(threes()) < 0.8
    for made, hole in zip(pairs(), build(pairs())[1], strict=True):
        in_code(made, hole)


@pytest.mark.slow
def test_all_options_compile_together_or_are_refused_at_the_hole() -> None:
    """Every fourth of all combinations, and each where `SGLC_TEST_EXAMPLES` asks for long runs."""
    every = 1 if os.environ.get("SGLC_TEST_EXAMPLES") else 4
    found = list(check(list(combinations())[::every]))
    for said in found:
        judge(said)
    works = [said.combination for said in found if not said.errors][::5]
    for first in range(0, len(works), TOGETHER):
        part = works[first : first + TOGETHER]
        for made, hole in zip(part, build(part)[1], strict=True):
            in_code(made, hole)


@pytest.mark.slow
def test_a_block_and_a_function_name_models_as_a_hole_does() -> None:
    bases = [
        Combination(form, strategy, sampler, model=model, place=place)
        for form in FORMS[::2]
        for strategy in STRATEGIES
        for sampler in ("", "temp 1.0")
        for model in ("using big", "using blend(main, big) at least 0.5")
        for place in PLACES
    ]
    found = list(check(bases))
    for first in range(0, len(found), 3):
        at_hole, at_block, at_function = (said.codes for said in found[first : first + 3])
        assert at_hole == at_block == at_function, bases[first]
    works = [said.combination for said in found if not said.errors]
    for made, hole in zip(works, build(works)[1], strict=True):
        in_code(made, hole)


def test_the_page_has_the_table_of_what_goes_together(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    made = with_table(page)
    if request.config.getoption("--update-golden"):
        PAGE.write_text(made, encoding="utf-8")
        page = made
    assert page == made, "docs/decoding.md: pytest --update-golden rewrites its table"


# -- runs ----------------------------------------------------------------------------------------------


def strategy_of(made: Combination) -> str:
    return made.strategy.removeprefix("decode ").partition("(")[0]


def allowed(made: Combination) -> tuple[str, ...]:
    """Errors that may end a run of it."""
    return (*made.form.may, *MAY_END.get(strategy_of(made), ()))


class Runs:
    """Runs the functions of one program of combinations."""

    def __init__(self, made: Sequence[Combination], engine: Any = None, models: dict[str, Any] | None = None):
        self.made = made
        program, _ = build(made)
        self._session = Session(
            program, engine or HashedEngine(seed=1), models=models or {"big": HashedEngine(seed=2)}
        )

    def run(
        self, number: int, seed: int, **options: Any
    ) -> tuple[RunResult | None, list[Event], SglError | None]:
        """The result or the error of one, and its events."""
        heard: list[Event] = []
        try:
            result = asyncio.run(self._session.run(f"f{number}", seed=seed, on_event=heard.append, **options))
        except SglError as error:
            return None, heard, error
        return result, heard, None


def values(made: Combination, result: RunResult) -> list[Any]:
    return list(result.value) if made.samples else [result.value]  # type: ignore[call-overload]


def in_trace(made: Combination, events: list[Event]) -> None:
    """What is written is what was done."""
    starts = [event.data for event in events if event.kind == "hole_start"]
    ends = [event.data for event in events if event.kind == "hole_end"]
    using = made.using.removeprefix("using ").replace("RULES", '"Be kind."')
    assert starts and all(start.get("model", "") == using for start in starts)
    scored = made.form.name.startswith(("choose", "select")) and "blend" not in made.model
    decode = "" if strategy_of(made) == "local" or scored else made.strategy.removeprefix("decode ")
    assert ends and all(end.get("decode", "").replace("(tries = 200)", "") == decode for end in ends)
    assert not scored or all(
        (end["ended"] in ("choose", "select")) == (strategy_of(made) != "local") for end in ends
    )
    one_search = strategy_of(made) == "beam"
    assert len(ends) >= (1 if one_search else made.count)
    shares = [end["alpha"] for end in ends if end["sampled"]] if "blend" in made.model else []
    if "weight" in made.model:
        assert shares == [made.option["weight"]] * len(shares)
    if "at least" in made.model:
        assert all(share >= 0.5 for share in shares)


def judged(made: Combination, result: RunResult | None, error: SglError | None) -> None:
    """The values are what the type says, as many as were asked for; or an error that may be."""
    if result is None:
        assert error is not None and error.name in allowed(made), (made, error)
        return
    found = values(made, result)
    assert len(found) == made.count and all(map(made.form.legal, found)), (made, found)
    if strategy_of(made) == "beam":
        assert len(set(map(str, found))) == made.count


def sampling_of(made: Combination) -> Sampling:
    option = made.option
    top_k = option.get("top_k")
    return Sampling(
        option.get("temp", 0.0),
        None if top_k is None else int(top_k),
        option.get("top_p"),
        option.get("min_p"),
    )


@pytest.mark.slow
def test_each_two_options_do_together_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[SamplingRequest] = []
    sample = SamplingRequest.sample

    def spied(self: SamplingRequest, logits: Any, best: int = -1) -> Any:
        drawn.append(self)
        return sample(self, logits, best)

    monkeypatch.setattr(SamplingRequest, "sample", spied)
    runs = Runs(pairs())
    ended = 0
    for number, made in enumerate(runs.made):
        drawn.clear()
        result, events, error = runs.run(number, seed=number)
        judged(made, result, error)
        in_trace(made, events)
        assert {each.sampling for each in drawn} <= {sampling_of(made)}, made
        assert all((each.blend is not None) == ("blend" in made.model) for each in drawn)
        ended += result is None
    assert ended < len(runs.made) / 50


@pytest.mark.slow
def test_a_written_seed_decides_alone_and_draws_depend_on_the_seed_of_the_run() -> None:
    made = [each for each in pairs() if each.sampler in ("temp 1.0", "temp 1.0 seed 7")]
    runs, changed = Runs(made), 0
    for number, each in enumerate(made):
        found = [runs.run(number, seed=seed)[0] for seed in (1, 2)]
        texts = [None if result is None else str(result.value) for result in found]
        if "seed" in each.sampler:
            assert texts[0] == texts[1], each
        changed += texts[0] != texts[1]
    assert changed > len(made) / 5


OPTIONS: tuple[dict[str, Any], ...] = (
    {"concurrency": 0},
    {"detailed": False},
    {"trace_top": 3},
    {"pressure": False},
    {"timeout": 600.0, "priority": 1},
)
"""Options of runs that change no text."""


@pytest.mark.slow
def test_options_of_runs_change_no_value_and_pieces_are_the_text() -> None:
    runs = Runs(pairs()[::3])
    for number, made in enumerate(runs.made):
        whole, events, _ = runs.run(number, seed=3)
        more = OPTIONS[number % len(OPTIONS)]
        again, other, _ = runs.run(number, seed=3, **more)
        if whole is None or again is None:
            assert whole is again
            continue
        assert (whole.value, whole.text) == (again.value, again.text), (made, more)
        if made.count == 1 and "retry" not in made.form.name and not whole.statistics.retries:
            pieces = "".join(e.data["text"] for e in events if e.kind in ("generated", "forced"))
            assert pieces == "".join(e.data["text"] for e in events if e.kind == "hole_end")
        tops = [event.data.get("top") for event in other if event.kind == "token"]
        assert all((top is not None) == ("trace_top" in more) for top in tops)


@pytest.mark.slow
def test_token_by_token_takes_the_place_of_every_strategy() -> None:
    runs = Runs([each for each in pairs() if each.strategy])
    plain = Runs(
        [Combination(each.form, "decode local", each.sampler, each.samples, each.model) for each in runs.made]
    )
    for number, made in enumerate(runs.made):
        result, events, error = runs.run(number, seed=4, decode="local")
        local, _, _ = plain.run(number, seed=4, decode="local")
        assert not any("decode" in event.data for event in events if event.kind == "hole_end")
        if strategy_of(made) != "beam":  # samples of one search are different ones
            judged(made, result, error)
            assert (result and result.value) == (local and local.value), made


@pytest.mark.slow
def test_budgets_end_a_value_in_time_or_with_an_error_that_says_so() -> None:
    runs = Runs(pairs()[1::3])
    ended: set[str] = set()
    for number, made in enumerate(runs.made):
        most = 1 + number % 9
        result, _, error = runs.run(number, seed=5, max_tokens=most)
        if error is not None:
            assert error.name in ("Truncated", *allowed(made)), (made, error)
            ended.add(error.name)
        else:
            judged(made, result, None)
            assert result is not None and sum(hole.tokens for hole in result.holes) <= most, made
    assert "Truncated" in ended


@pytest.mark.slow
def test_drafts_change_no_text() -> None:
    made = [each for each in pairs() if not each.using][::4]

    def texts(noise: float | None) -> list[str]:
        target = CopyingExecutor(3, 0.0)
        engine = open_engine(target, memory=900 * target.block_bytes)
        if noise is not None:
            draft = NoisyExecutor(3, 0.0, noise)
            engine.draft = open_engine(draft, memory=900 * draft.block_bytes)
        runs = Runs(made, engine, {"big": engine})
        found = [runs.run(number, seed=number, max_tokens=2000) for number in range(len(made))]
        for each, (result, events, error) in zip(made, found, strict=True):
            judged(each, result, error)
            in_trace(each, events)
        engine.close()
        return [str(result.value) if result else str(error) for result, _, error in found]

    assert texts(None) == texts(0.3)


@given(
    st.builds(
        Combination,
        *map(st.sampled_from, (FORMS, STRATEGIES, SAMPLERS, SAMPLES, MODELS)),
        st.sampled_from(PLACES),
    )
)
def test_any_combination_works_or_is_refused(made: Combination) -> None:
    [said] = check([made])
    if said.errors:
        assert made.place != "hole" or said.refused_at_its_hole
        return
    judge(said)
    [hole] = build([made])[1]
    in_code(made, hole)
    result, events, error = Runs([made]).run(0, seed=len(made.hole()))
    judged(made, result, error)
    in_trace(made, events)
