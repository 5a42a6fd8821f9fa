"""Budgets, step limits and depth of calls that run ahead: charged where the call stands, in order."""

from __future__ import annotations

import pytest

from announced_calls import ONE, TWO, both, program
from sglc.runtime.vm.state.run import Limits


@pytest.mark.parametrize("max_tokens", range(4, 40, 3))
def test_a_tight_budget_gives_what_it_gives_in_order(max_tokens: int) -> None:
    both(program(TWO, [("one", (1,)), ("one", (2,))]), max_tokens=max_tokens)


def test_under_a_generous_budget_nothing_runs_twice() -> None:
    _, plain, ahead = both(program(TWO, [("one", (1,)), ("one", (2,))]), max_tokens=60)
    assert (ahead.most_running, ahead.requests) == (2, plain.requests)


def test_a_budget_that_a_task_could_not_know_of_makes_the_call_run_again() -> None:
    # each call alone has room for nine characters, the second behind the first has not
    _, plain, ahead = both(program(TWO, [("one", (1,)), ("one", (2,))]), max_tokens=13)
    assert ahead.requests > plain.requests


def test_a_call_that_a_budget_ends_says_what_was_left_in_its_turn() -> None:
    text = (
        ONE
        + """\
fn short(n: int) -> str:
    user: | Number ${n}.
    assistant: | ?{w: str min 2 chars max 3 chars}
    return w

pub fn main(n: int, word: str) -> [str]:
    let a = short(1)
    let b = one(2)
    return [a, b]
"""
    )
    result, _, _ = both(program(text, [("short", (1,)), ("one", (2,))]), max_tokens=5)
    assert result.error is not None and "within 5 tokens" not in result.error[1]


@pytest.mark.parametrize("within", [4, 9, 14, 20, 60])
def test_a_budget_of_the_function_around_is_charged_in_order(within: int) -> None:
    text = TWO.replace("-> [str]:\n    let a", f"-> [str] within {within} tok:\n    let a")
    both(program(text.replace("min 6 chars ", ""), [("one", (1,)), ("one", (2,))]))


@pytest.mark.parametrize("steps", range(5, 60, 2))
def test_a_step_limit_is_met_at_the_same_instruction(steps: int) -> None:
    both(program(TWO, [("one", (1,)), ("one", (2,))]), limits=Limits(steps=steps))


def test_the_depth_of_calls_counts_those_around_a_task() -> None:
    text = (
        ONE
        + """\
fn down(n: int) -> int:
    user: | Go down from ${n}.
    if n == 0:
        return 0
    return down(n - 1)

pub fn main(n: int, word: str) -> int:
    let a = one(1)
    return down(5)
"""
    )
    made = program(text, [("down", (5,)), ("one", (1,))])
    for depth in (5, 6, 7, 8):
        result, _, _ = both(made, limits=Limits(depth=depth))
        assert (result.error is None) == (depth > 6)
