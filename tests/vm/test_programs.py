"""The virtual machine on programs as they are written: mocks, retries, and what holes draw from."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from fakes.small_models import FickleModel
from sglc.bytecode.code import Program
from sglc.driver import compile_source
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.session import Session
from sglc.runtime.vm.state.frame import may_change
from sglc.source import Source
from sglc.testing import run_tests

ROUNDS = """\
fn rounds() -> int:
    var rounds = 0
    user: | Say a number.
    assistant:
        | ?{a: int in 0..9}
        rounds = rounds + 1
        ensure a > 5 else "too small"
            retry 3 resample
    return rounds * 10 + a

test "rounds":
    mock rounds.a = 1
    mock rounds.a = 2
    mock rounds.a = 7
    mock rounds.a = 8
    expect rounds() == 17
    expect rounds() == 18
"""

PAIR = """\
fn pair() -> (int, int):
    user: | Say a number.
    assistant: | ?{a: int in 1000..9999 temp 1}
    user: | Say another one.
    assistant: | ?{b: int in 1000..9999 temp 1}
    return (a, b)
"""


class LevelModel(FickleModel):
    """Gives every token the same logit wherever it stands, so that only the random numbers decide."""

    def forward(self, cache: object, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        rows = super().forward(cache, tokens, every)  # type: ignore[arg-type]
        return np.zeros_like(rows)


def compiled(text: str) -> Program:
    program = compile_source(Source("program.sgl", text)).program
    assert program is not None
    return program


def test_a_retry_goes_back_to_the_variables_as_they_were() -> None:
    """A round that was taken back does not count, and the mocks answer in the order in which they stand."""
    [report] = run_tests(compiled(ROUNDS))
    assert report.passed, report.failures


def test_holes_of_one_run_draw_from_seeds_of_their_own() -> None:
    session = Session(compiled(PAIR), ReferenceEngine(LevelModel()))
    pairs = [tuple(asyncio.run(session.run("pair", seed=seed)).value) for seed in range(12)]
    assert sum(a == b for a, b in pairs) <= 1
    assert len(set(pairs)) == len(pairs)
    assert pairs[0] == tuple(asyncio.run(session.run("pair", seed=0)).value)


GROWING = """\
pub pure fn listed(n: int) -> [int]:
    return [x * x for x in 1..n if x > 1]

pub pure fn joined(n: int) -> [int]:
    var xs: [int] = []
    for x in 1..n: xs += [x]
    return xs

pub pure fn mapped(n: int) -> {str: int}:
    var xs: {str: int} = {}
    for x in 1..n: xs["${x}"] = x
    return xs

const FIRST = [0, 1]

pub pure fn kept(n: int) -> [[int]]:
    var xs = FIRST
    let before = xs
    xs += [2]
    let between = xs
    for x in xs: xs += [x + n]
    xs[0] = n
    return [FIRST, before, between, xs]
"""


def run_growing(name: str, n: int) -> tuple[Any, list[bool]]:
    """What a function gives, and of each change of a list or map whether it was made in place."""
    program = compile_source(Source("growing.sgl", GROWING)).program
    assert program is not None
    in_place: list[bool] = []

    def seen(frame: Any, event: str, argument: Any) -> None:
        if event == "return" and frame.f_code is may_change.__code__:
            in_place.append(argument)

    session = Session(program)
    sys.setprofile(seen)
    try:
        return asyncio.run(session.run(name, {"n": n})).value, in_place
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("name", ["listed", "joined", "mapped"])
def test_what_only_a_loop_holds_grows_in_place(name: str) -> None:
    """So that a loop of n rounds copies no n lists; the first may be a constant."""
    found, in_place = run_growing(name, 300)
    assert len(found) in (299, 300) and len(in_place) >= 299
    assert in_place.count(False) <= 1


def test_what_somebody_else_holds_is_copied() -> None:
    found, _ = run_growing("kept", 5)
    assert found == [[0, 1], [0, 1], [0, 1, 2], [5, 1, 2, 5, 6, 7]]
    assert run_growing("kept", 5)[0] == found
