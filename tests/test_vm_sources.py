"""The virtual machine on programs as they are written: mocks, retries, and what holes draw from."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from sglc.bytecode.code import Program
from sglc.driver import compile_source
from sglc.runtime.engine.engine import Engine
from sglc.runtime.session import Session
from sglc.source import Source
from sglc.testing import run_tests
from small_models import FickleModel

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
    session = Session(compiled(PAIR), Engine(LevelModel()))
    pairs = [tuple(asyncio.run(session.run("pair", seed=seed)).value) for seed in range(12)]
    assert sum(a == b for a, b in pairs) <= 1
    assert len(set(pairs)) == len(pairs)
    assert pairs[0] == tuple(asyncio.run(session.run("pair", seed=0)).value)
