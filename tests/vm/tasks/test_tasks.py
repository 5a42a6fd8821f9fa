"""Calls that run ahead of their place: when they are joined and dropped, and what they must not change."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest

from announced_calls import ARGUMENTS, LED, ONE, TWO, Calls, both, program
from fakes.fake_executor import FakeExecutor
from fakes.hashed_engine import HashedEngine
from fakes.small_models import small_tokenizer
from outcomes import compiled
from sglc.bytecode.verify import verified
from sglc.driver import lowered
from sglc.emit.program import emit
from sglc.options import CompileOptions
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session
from sglc.runtime.vm.state.tasks import same
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source
from sglc.types.values import EnumValue, RecordValue
from strategies.programs.hints import announced

# -- joining -----------------------------------------------------------------------------------------


def test_calls_that_are_announced_run_side_by_side() -> None:
    _, plain, ahead = both(program(TWO, [("one", (1,)), ("one", (2,))]))
    assert (plain.most_running, ahead.most_running) == (1, 2)
    assert ahead.requests == plain.requests  # nothing was done twice


def test_a_program_without_hints_has_no_tasks() -> None:
    _, plain, ahead = both(program(TWO, []))
    assert (plain.most_running, ahead.most_running) == (1, 1)


@pytest.mark.parametrize(
    "calls",
    [
        [("one", (2,)), ("one", (1,))],  # in another order
        [("one", (True,))],
        [("one", (3,)), ("one", (2,))],
        [("one", (2,))],  # the first that comes is another
    ],
)
def test_another_call_than_the_one_announced_runs_in_its_place(calls: Calls) -> None:
    _, plain, ahead = both(program(LED, calls))
    assert ahead.requests > plain.requests


def test_a_call_that_never_comes_counts_for_nothing() -> None:
    result, plain, ahead = both(program(TWO, [("bad", (1,)), ("one", (1,))]))
    assert ahead.requests > plain.requests
    assert result.statistics["holes"] == 2


def test_hints_of_several_functions_do_not_disturb_each_other() -> None:
    text = (
        ONE
        + """\
fn other(n: int) -> str:
    return one(n + 5)

pub fn main(n: int, word: str) -> [str]:
    let a = one(1)
    let b = other(1)
    let c = one(2)
    return [a, b, c]
"""
    )
    made = program(text, [("other", (1,)), ("one", (1,)), ("one", (2,))])
    _, plain, ahead = both(made)
    assert (ahead.requests, ahead.most_running) == (plain.requests, 3)


def test_copies_of_one_function_that_are_announced_in_order_are_joined() -> None:
    text = (
        ONE
        + ONE[ONE.index("fn one") : ONE.index("fn bad")].replace("fn one", "fn again")
        + """\
pub fn main(n: int, word: str) -> [str]:
    return [one(1), again(1), one(1), again(1)]
"""
    )
    made = program(text, [("one", (1,)), ("again", (1,))] * 2)
    codes = [replace(code, copy_of="one") if code.name == "again" else code for code in made.codes]
    result, plain, ahead = both(replace(made, codes=tuple(codes)))
    assert (ahead.requests, ahead.most_running) == (plain.requests, 4)
    assert isinstance(result.value, list) and len(set(result.value)) == 4


def test_calls_of_copies_that_the_compiler_made_run_side_by_side() -> None:
    text = """\
fn ask(kind: str, mail: str) -> str:
    user:
        if kind == "mood":
            | Feelings of ${mail}?
        else:
            | ${kind} of ${mail}?
    assistant: | ?{w: str min 4 chars max 9 chars}
    return w

pub fn main(n: int, word: str) -> [str]:
    let a = ask("mood", word)
    let b = ask("desk", word)
    let c = ask("tone", word)
    return [a, b, c]
"""
    made = compiled(text, 2)
    assert sum(code.copy_of == "ask" for code in made.codes) == 3
    _, plain, ahead = both(made)
    assert (ahead.requests, ahead.most_running) == (plain.requests, 3)


@pytest.mark.parametrize("concurrency", [1, 2, 3])
def test_at_most_so_many_tasks_run_at_once_and_others_begin_as_these_end(concurrency: int) -> None:
    text = (
        ONE
        + """\
pub fn main(n: int, word: str) -> [str]:
    assistant: | ?{first: str min 3 chars max 4 chars}
    return [one(i) for i in 0..<7]
"""
    )
    _, plain, ahead = both(program(text, [("one", (n,)) for n in range(7)]), concurrency=concurrency)
    # the call in its place may be the one that has no task yet
    assert concurrency <= ahead.most_running <= concurrency + 1
    assert ahead.requests == plain.requests


@pytest.mark.parametrize("concurrency", [1, 2, 8])
def test_tasks_that_announce_calls_of_their_own_come_to_an_end(concurrency: int) -> None:
    text = (
        ONE
        + """\
fn deeper(n: int) -> [str]:
    return [one(1), one(2), one(3)]

pub fn main(n: int, word: str) -> [[str]]:
    return [deeper(1), deeper(2), deeper(3)]
"""
    )
    module, _ = lowered(Source("ahead.sgl", text), CompileOptions(level=0))
    assert module is not None
    module = announced(module, "main", [("deeper", (n,)) for n in (1, 2, 3)])
    module = announced(module, "deeper", [("one", (n,)) for n in (1, 2, 3)])
    _, plain, ahead = both(verified(emit(module))[0], concurrency=concurrency)
    assert ahead.requests == plain.requests


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (1, Decimal(1)),
        (Decimal("1.0"), Decimal("1.00")),
        (0.0, -0.0),
        ("a", EnumValue("E", "a")),
        ([1], (1,)),
        ([1, [True]], [1, [1]]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": True}),
        (RecordValue("R", {"a": 1}), RecordValue("R", {"a": True})),
        (RecordValue("R", {"a": 1}, "V"), RecordValue("R", {"a": 1}, "W")),
        (range(3), [0, 1, 2]),
    ],
)
def test_values_that_can_be_told_apart_are_not_the_same(one: object, other: object) -> None:
    assert not same(one, other) and not same(other, one)
    assert same(one, one) and same([one, {"k": other}], [one, {"k": other}])


def test_equal_values_of_one_kind_are_the_same() -> None:
    assert same([1, "a", None, {"k": (2.5, Decimal("1.50"))}], [1, "a", None, {"k": (2.5, Decimal("1.50"))}])
    assert same(RecordValue("R", {"a": [1]}), RecordValue("R", {"a": [1]}))
    assert same(float("nan"), float("nan"))
    assert not same(object(), object())


# -- errors ------------------------------------------------------------------------------------------


def test_an_error_of_a_task_is_raised_by_its_call_with_place_and_calls() -> None:
    text = (
        ONE
        + """\
fn between(n: int) -> str raises Odd:
    return bad(n)

pub fn main(n: int, word: str) -> str raises Odd:
    let a = one(1)
    return between(4)
"""
    )
    result, plain, ahead = both(program(text, [("one", (1,)), ("between", (4,))]))
    assert result.error is not None
    name, message, given, _, calls, _ = result.error
    assert (name, message, given, calls) == ("Odd", "4", {"n": 4}, ("main", "between", "bad"))
    assert ahead.most_running == 2 and ahead.requests == plain.requests


def test_an_error_before_a_call_drops_its_task_and_a_caught_one_goes_on() -> None:
    text = (
        ONE
        + """\
pub fn main(n: int, word: str) -> [str]:
    let a = (bad(1) else one(5))
    let b = one(6)
    return [a, b]
"""
    )
    result, plain, ahead = both(program(text, [("bad", (1,)), ("one", (5,)), ("one", (6,))]))
    assert [check.passed for check in result.checks] == [False]
    assert ahead.requests > plain.requests  # the handler cannot know whether `one` will come


def test_faults_of_the_engine_in_tasks_are_errors_of_their_calls() -> None:
    text = (
        ONE
        + """\
pub fn main(n: int, word: str) -> [str]:
    return [(one(i) else "none") for i in 0..<12]
"""
    )
    result, _, _ = both(program(text, [("one", (n,)) for n in range(12)]), faults=60)
    assert isinstance(result.value, list) and 0 < result.value.count("none") < 12


def test_a_retry_that_goes_back_drops_the_tasks_of_its_function() -> None:
    text = (
        ONE
        + """\
pub fn main(n: int, word: str) -> [str]:
    assistant: | ?{w: str min 3 chars max 4 chars temp 1.0}
    ensure len(w) > 3 else "short"
        retry 2 resample
    return [one(1), w]
"""
    )
    made = program(text, [("one", (1,))])
    found = (both(made, seed=seed) for seed in range(40))
    twice = (each for each in found if each[0].error is None and each[0].statistics["retries"] == 2)
    _, plain, ahead = next(twice)
    assert ahead.requests > plain.requests


class Stuck(HashedEngine):
    """Answers no more once a conversation about number 2 has this many tokens."""

    async def _wait(self, tokens: list[int]) -> None:
        await super()._wait(tokens)
        if bytes(token for token in tokens if token < 256).endswith(b"2.\nassistant\nabc"):
            await asyncio.Event().wait()


def test_a_timeout_keeps_what_a_joined_call_had_written() -> None:
    text = ONE.replace("?{w: str min 6 chars max 9 chars temp 1.5}", "ab?{w: str matching /c[a-z]{3}/}")
    made = program(text + TWO[len(ONE) :], [("one", (1,)), ("one", (2,))])
    for concurrency in (0, 8):
        with pytest.raises(SglError, match="longer than") as caught:
            asyncio.run(Session(made, Stuck()).run("main", ARGUMENTS, timeout=0.2, concurrency=concurrency))
        assert (caught.value.name, caught.value.partial) == ("Timeout", "c")


def test_what_was_written_before_a_caught_error_is_not_of_a_later_one() -> None:
    text = (
        ONE
        + """\
pub fn main(n: int, word: str) -> int raises Odd:
    user: | ${word}
    let a = (bad(1) else one(2))
    raise Odd(n)
"""
    )
    result, _, _ = both(program(text, []))
    assert result.error is not None and result.error[-1] == "sea"


# -- events, accounts ----------------------------------------------------------------------------------


def test_events_come_in_the_order_of_the_program_with_their_true_times_and_as_they_happen() -> None:
    engine = HashedEngine(delays=3)
    heard: list[tuple[Event, int]] = []
    session = Session(program(TWO, [("one", (1,)), ("one", (2,))]), engine)
    asyncio.run(session.run("main", ARGUMENTS, trace=lambda event: heard.append((event, engine.requests))))
    calls = [index for index, (event, _) in enumerate(heard) if event.kind == "call"]
    assert len(calls) == 2
    first, second = heard[calls[0] : calls[1]], heard[calls[1] :]
    assert second[0][0].time < first[-1][0].time
    # the first call is heard of while it runs, the second when its turn comes
    assert first[0][1] < first[-1][1]
    times = [event.time for event, _ in second[:-1]]
    assert times == sorted(times)


def test_what_a_listener_raises_ends_the_run_also_while_kept_events_are_told() -> None:
    class Stop(Exception):
        pass

    def hear(event: Event) -> None:
        if event.data.get("text") == "2":
            raise Stop

    async def run() -> None:
        session = Session(program(TWO, [("one", (1,)), ("one", (2,))]), HashedEngine(delays=3))
        with pytest.raises(Stop):
            await session.run("main", ARGUMENTS, on_event=hear)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())


def test_premises_that_two_tasks_find_count_once() -> None:
    text = """\
enum Color: red, blue

fn pick(n: int) -> Color:
    user: | Number ${n}.
    assistant: | It is ?{w: select Color by contrast}
    return w.top

pub fn main(n: int, word: str) -> [Color]:
    return [pick(1), pick(2), pick(3)]
"""
    result, plain, ahead = both(program(text, [("pick", (n,)) for n in (1, 2, 3)]))
    assert result.statistics["forwards"] == plain.requests == 4  # three contexts, one premise
    assert ahead.requests == 6


def test_answers_that_are_used_up_in_order_let_nothing_run_ahead() -> None:
    engine = ReferenceEngine(ScriptedModel(["first one", "second"]))
    session = Session(program(TWO, [("one", (2,)), ("one", (1,))]), engine)
    result = asyncio.run(session.run("main", ARGUMENTS, concurrency=8))
    engine.close()
    assert result.value == ["first one", "second"]


def test_no_memory_is_held_by_tasks_that_were_dropped() -> None:
    text = (
        ONE
        + """\
pub fn main(n: int, word: str) -> [str]:
    let a = one(1)
    let b = (bad(3) else "")
    return [a, b]
"""
    )
    executor = FakeExecutor(small_tokenizer())
    engine = open_engine(executor, memory=executor.block_bytes * 400)
    made = program(text, [("one", (1,)), ("one", (7,)), ("bad", (3,)), ("bad", (4,))])
    session = Session(made, engine)

    async def run() -> None:
        for timeout in (None, 0.004, 0.008, 0.016):
            try:
                await session.run("main", ARGUMENTS, timeout=timeout)
            except SglError as error:
                assert error.name == "Timeout"
            assert asyncio.all_tasks() - {engine._driver} == {asyncio.current_task()}
            engine.cache.check()
            stats = engine.cache.stats()
            assert stats.sequences == 0 and stats.held == stats.pinned

    asyncio.run(run())
    engine.close()
