"""A debugged run has the results of an ordinary one: also where it was forced, taken back and let go on.

`SGLC_TEST_EXAMPLES=2000 pytest tests/debugging/test_same_results.py` is the long run.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from debugging.faces import Wanderer, debugger_of
from example_budget import examples
from fakes.hashed_engine import HashedEngine
from outcomes import compiled
from seen import Seen, seen
from strategies.programs.source_programs import SourceProgram, source_program, source_programs

OPTIONS: dict[str, Any] = {"trace_top": 10, "pressure": True, "concurrency": 0}


def both(
    program: SourceProgram, wanderer: Wanderer, *, level: int = 0, seed: int = 0, faults: int = 0
) -> tuple[Seen, Seen]:
    """What is seen of a run, without a debugger and with one."""
    made = compiled(program.text, level)
    plain = seen(made, program.arguments, HashedEngine(seed=seed, faults=faults), seed=seed, **OPTIONS)
    debugger = debugger_of(made, wanderer)
    debugger.limits.raised = True
    again = seen(
        made,
        program.arguments,
        HashedEngine(seed=seed, faults=faults),
        seed=seed,
        debugger=debugger,
        **OPTIONS,
    )
    return plain, again


@pytest.mark.slow
@given(
    program=source_programs(),
    wishes=st.integers(0, 1 << 30),
    seed=st.integers(0, 99),
    faults=st.sampled_from([0, 0, 20]),
    level=st.sampled_from([0, 0, 1, 2]),
)
@settings(max_examples=examples(20))
def test_steps_change_nothing_that_can_be_seen(
    program: SourceProgram, wishes: int, seed: int, faults: int, level: int
) -> None:
    wanderer = Wanderer(Random(wishes), strays=False)
    plain, again = both(program, wanderer, level=level, seed=seed, faults=faults)
    assert again == plain


@pytest.mark.slow
@given(
    program=source_programs(),
    wishes=st.integers(0, 1 << 30),
    seed=st.integers(0, 99),
    faults=st.sampled_from([0, 0, 20]),
)
@settings(max_examples=examples(30))
def test_what_was_forced_and_taken_back_leaves_no_trace(
    program: SourceProgram, wishes: int, seed: int, faults: int
) -> None:
    wanderer = Wanderer(Random(wishes), strays=True)
    plain, again = both(program, wanderer, seed=seed, faults=faults)
    if not wanderer.lost:
        assert settled(again) == settled(plain)


def settled(found: Seen) -> Seen:
    """Without events: those of ways that were taken back have been told."""
    return replace(found, events={})


@pytest.mark.slow
def test_the_wanderers_do_what_the_properties_are_about() -> None:
    strayed = lost = 0
    kinds: set[str] = set()
    for index in range(40):
        wanderer = Wanderer(Random(index), strays=True)
        both(source_program(Random(index)), wanderer, seed=index)
        strayed += wanderer.strayed
        lost += wanderer.lost
        kinds |= wanderer.kinds
    assert strayed > 60 and lost < 10
    assert kinds >= {"entry", "statement", "hole", "token", "round", "raised", "back"}
