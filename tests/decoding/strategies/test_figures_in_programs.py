"""What a strategy finds as values of programs: the same as in records and traces, in every kind of run."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest

from fakes.hashed_engine import HashedEngine
from fakes.small_models import FickleModel
from sglc.driver import compile_source
from sglc.options import LEVELS, CompileOptions
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.preview import preview
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source
from sglc.types.decoding import FIGURES

ENGINES: list[Callable[[], Any]] = [
    lambda: HashedEngine(seed=2),
    lambda: HashedEngine(seed=2, delays=3),
    lambda: ReferenceEngine(FickleModel(1)),
]
STRATEGIES = {
    "temp 1.0 decode exact": FIGURES["exact"],
    "temp 1.0 decode smc(4)": FIGURES["smc"],
    "decode beam(3)": FIGURES["beam"],
    'decode beam(3, by = "mean")': FIGURES["beam"],
}
PEOPLE = "pub fn f() -> {result}:\n    user: | who?\n    assistant: | {hole}\n    return {read}\n"
CHOICE = '["Ada", "Adam", "Eve"]'


def session(text: str, engine: Any, level: int = 2) -> Session:
    compiled = compile_source(Source("p.sgl", text), CompileOptions(level=level, verify=True))
    assert compiled.program is not None, compiled.diagnostics
    return Session(compiled.program, engine)


def filling(hole: str, result: str, read: str) -> str:
    return PEOPLE.format(hole=f"?{{x: {hole}}}", result=result, read=read)


def reading(decode: str, hole: str = "int in 1..400") -> str:
    """A program that returns its value and all figures, in the order of the table."""
    figures = STRATEGIES[decode]
    read = ", ".join(f"x.{name}" for name in figures)
    return filling(f"{hole} {decode}", f"(int, {', '.join(figures.values())})", f"(x, {read})")


def run(made: Session, seed: int = 0, heard: list[Event] | None = None, **options: Any) -> RunResult:
    listener = None if heard is None else heard.append
    return asyncio.run(made.run("f", {}, seed=seed, on_event=listener, **options))


def ended(events: list[Event]) -> dict[str, Any]:
    return next(dict(event.data) for event in events if event.kind == "hole_end")


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("decode", STRATEGIES)
def test_programs_records_and_traces_tell_the_same(
    decode: str, engine: Callable[[], Any], level: int
) -> None:
    plain = filling(f"int in 1..400 {decode}", "int", "x")
    for seed in range(3):
        heard: list[Event] = []
        found = run(session(reading(decode), engine(), level), seed, heard)
        record, end = found.holes[0], ended(heard)
        value, *figures = found.value
        assert str(value) == record.text
        assert value == run(session(plain, engine(), level), seed).value, "reading figures changes no text"
        for (name, type_), figure in zip(STRATEGIES[decode].items(), figures, strict=True):
            assert figure == getattr(record, name) and type(figure).__name__ == type_
            assert end[name] == (round(figure, 4) if isinstance(figure, float) else figure)


@pytest.mark.parametrize("decode", STRATEGIES)
def test_a_text_that_could_be_no_other_is_certain(decode: str) -> None:
    found = run(session(reading(decode, "int in 7..7"), HashedEngine()))
    figures = dict(zip(STRATEGIES[decode], found.value[1:], strict=True))
    logs = {"bound": 0.0, "weight": 0.0, "score": 0.0}
    certain = {**logs, "walks": 0, "ess": 4.0, "ancestors": 4, "proved": True}
    assert figures == {name: certain[name] for name in figures}
    assert all(getattr(found.holes[0], name) == figure for name, figure in figures.items())


def test_particles_that_the_budget_cuts_short_weigh_nothing() -> None:
    heard: list[Event] = []
    hole = "str min 4 chars max 60 chars temp 1.0 max 6 tok decode smc(2)"
    text = filling(hole, "(float, float, int)", "(x.weight, x.ess, x.ancestors)")
    found = run(session(text, HashedEngine(seed=1)), heard=heard)
    assert found.holes[0].ended == "budget"
    assert found.value == (-math.inf, 0.0, 0)
    assert "weight" not in ended(heard) and ended(heard)["ancestors"] == 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("options", ["", "temp 1.0", "temp 0.3 decode exact", "temp 1.0 top_k 2"])
def test_a_choice_tells_the_probabilities_of_its_options(engine: Callable[[], Any], options: str) -> None:
    """They are those that `select` finds by the sum of log-probabilities, whatever the temperature."""
    names = ["Ada", "Adam", "Eve"]
    read = f"([x.p(each) for each in {CHOICE}], x.logprob(x), x)"
    result = "([float], float, str)"
    heard: list[Event] = []
    found = run(session(filling(f"choose {CHOICE} {options}", result, read), engine()), 4, heard)
    chosen = found.value[2]
    assert dict(zip(names, found.value[0], strict=True)) == found.holes[0].scores
    assert found.value[1] == math.log(found.holes[0].scores[chosen])
    assert math.isclose(sum(found.value[0]), 1.0)
    assert ended(heard)["scores"] == {name: round(p, 4) for name, p in found.holes[0].scores.items()}
    by_sum = f"select {CHOICE} by sum"
    selected = run(session(filling(by_sum, "[float]", f"[x.p(each) for each in {CHOICE}]"), engine()), 4)
    assert selected.value == found.value[0] and selected.holes[0].scores == found.holes[0].scores


def test_options_of_a_choice_keep_their_types() -> None:
    enum = "enum Post: pilot, medic\n\n"
    text = enum + filling("choose Post", "(float, float, float)", "(x.p(pilot), x.p(medic), x.p(x))")
    first, second, own = run(session(text, HashedEngine(seed=3))).value
    assert math.isclose(first + second, 1.0) and own == max(first, second) and first != second
    read = "([x.p(each) for each in [2, 4, 6]], x.p(5))"
    text = filling("choose [some * 2 for some in [1, 2, 3]]", "([float], float)", read)
    options, other = run(session(text, HashedEngine(seed=3))).value
    assert math.isclose(sum(options), 1.0) and other == 0.0
    alone = run(session(filling('choose ["only"]', "float", 'x.p("only")'), HashedEngine()))
    assert alone.value == 1.0 and alone.holes[0].scores == {"only": 1.0}


def test_more_options_than_are_scored_have_no_probabilities() -> None:
    for most, has in ((1024, True), (1025, False)):
        text = filling(f"choose [each for each in 1..{most}]", "float", "x.p(1)")
        made = session(text, HashedEngine(seed=3))
        if has:
            assert 0 <= run(made).value <= 1
            continue
        with pytest.raises(SglError) as caught:
            run(made)
        assert caught.value.name == "Unsupported" and "tells no `scores`" in caught.value.message


@pytest.mark.parametrize("decode", STRATEGIES)
def test_a_run_that_draws_all_holes_locally_tells_no_figures(decode: str) -> None:
    with pytest.raises(SglError) as caught:
        run(session(reading(decode), HashedEngine()), decode="local")
    assert caught.value.name == "Unsupported" and "drawn token by token" in caught.value.message


def test_a_value_goes_wherever_a_plain_one_goes() -> None:
    """Figures stand beside the value: it can be computed with, matched, inserted and passed on."""
    text = """record Sum:
    left: int in 1..9
    right: int in 1..9

pure fn total(sum: Sum) -> int:
    return sum.left + sum.right

pub fn f() -> (int, str, float, float):
    user: | two numbers
    assistant:
        | ?{x: Sum temp 1.0 decode smc(3)}
        | ${x.left} ${x} ?{y: "a" | "b" temp 1.0 decode smc(3)}
    let kept = x.weight
    if x.left > 0 and y in ["a", "b"]:
        return (total(x), "${y}", kept, [x.weight for i in [1, 2]][1] + y.weight)
    return (0, "", 0.0, 0.0)
"""
    for level in LEVELS:
        found = run(session(text, HashedEngine(seed=5), level))
        first, second = found.holes
        assert found.value[2] == first.weight and found.value[3] == first.weight + second.weight
        assert found.value[1] == second.text


def test_branches_read_holes_around_them_and_their_own() -> None:
    text = """pub fn f() -> [float]:
    user: | numbers
    assistant:
        let x = gen int in 1..400 temp 1.0 decode smc(3)
        | .
        let branches = fork i in [1, 2]:
            let y = gen int in 1..400 temp 1.0 decode smc(2)
            yield x.weight + y.weight
    return [branch.value for branch in branches]
"""
    for level in LEVELS:
        found = run(session(text, HashedEngine(seed=5), level))
        outer, *inner = found.holes
        assert found.value == [outer.weight + each.weight for each in inner]


@pytest.mark.parametrize(
    "condition",
    ['    ensure x.weight < {} else "too sure"\n        retry 7 resample\n', ""],
)
def test_conditions_on_figures_draw_a_hole_again(condition: str) -> None:
    """Each attempt has figures of its own, and those of the last one stay."""
    where = "" if condition else "where x.weight < {} "
    text = (
        "pub fn f() -> (int, float):\n    user: | how many?\n"
        f"    assistant: | Well: ?{{x: int in 1..400 {where}temp 1.0 decode smc(2)}}\n"
        f"{condition}    return (x, x.weight)\n"
    )
    plain = run(session(text.replace("{}", "1.0"), HashedEngine(seed=2)))
    assert plain.statistics.retries == 0
    most = repr(plain.value[1] - 1e-9)  # a literal is exact, and a float may lie on either side of its text
    again = run(session(text.replace("{}", most), HashedEngine(seed=2)))
    assert again.statistics.retries >= 1
    assert again.value[1] < plain.value[1] and again.value[1] == again.holes[-1].weight
    assert again.value[0] == int(again.holes[-1].text)


@pytest.mark.parametrize("decode", STRATEGIES)
def test_mocks_are_certain_and_random_figures_lie_where_a_strategy_comes_to(decode: str) -> None:
    fitting = {
        "bound": "it[1] <= 0.0 and it[2] in 1..200",
        "weight": "it[1] <= 0.0 and it[2] >= 1.0 and it[2] <= 4.0 and it[3] in 1..4",
        "score": "it[1] <= 0.0 and not it[2]" if "mean" in decode else "it[1] <= 0.0",
    }[next(iter(STRATEGIES[decode]))]
    tests = (
        'test "mock":\n    mock f.x = 5\n    let found = f()\n    expect found[0] == 5 and found[1] == 0.0\n'
        f'test "fuzz":\n    fuzz f() times 60:\n        expect {fitting}\n'
        'test "sure":\n    fuzz f() times 60:\n        expect it[1] == 0.0\n'
    )
    made = session(reading(decode) + tests, HashedEngine())
    said = {code.name: asyncio.run(made.run_test(code.name)) for code in made.tests}
    assert said["mock"].passed and said["fuzz"].passed, [each.error or each.missed for each in said.values()]
    assert not said["sure"].passed, "random figures are not always those of a certain text"


def test_mocks_and_random_values_of_choices() -> None:
    read = f"([x.p(each) for each in {CHOICE}], x)"
    tests = (
        'test "mock":\n    mock f.x = "Eve"\n    expect f()[0] == [0.0, 0.0, 1.0]\n'
        'test "fuzz":\n    fuzz f() times 40:\n'
        "        expect min(it[0]) > 0.0 and sum(it[0]) > 0.999 and sum(it[0]) < 1.001\n"
    )
    made = session(filling(f"choose {CHOICE}", "([float], str)", read) + tests, HashedEngine())
    said = [asyncio.run(made.run_test(code.name)) for code in made.tests]
    assert all(each.passed for each in said), [each.error or each.missed for each in said]


def test_a_preview_goes_on_behind_a_hole_without_a_value() -> None:
    text = """pub fn f() -> float:
    user: | a number
    assistant: | ?{x: int in 1..400 temp 1.0 decode smc(3)}
    user: | ${x} weighs ${x.weight}. A letter?
    assistant: | ?{y: choose ["a", "b"]}
    return y.p("a")
"""
    compiled = compile_source(Source("p.sgl", text))
    assert compiled.program is not None, compiled.diagnostics
    unknown = asyncio.run(preview(compiled.program, "f", {}))
    assert unknown.error is None
    [conversation] = unknown.conversations
    assert [asked.hole for asked in conversation.asked] == ["f.x", "f.y"]
    assert " weighs " in conversation.conversation.rendered()
    filled = asyncio.run(preview(compiled.program, "f", {}, fills={"f.x": [5], "f.y": ["b"]}))
    assert filled.error is None and "5 weighs 0.0." in filled.conversations[0].conversation.rendered()
    drawn = asyncio.run(preview(compiled.program, "f", {}, fuzz=True, seed=3))
    assert drawn.error is None and " weighs -" in drawn.conversations[0].conversation.rendered()
