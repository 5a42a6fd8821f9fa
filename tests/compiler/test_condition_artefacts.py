"""Conditions and validators in compiled programs: kept exactly, refused where no compiler wrote them."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.bytecode.code import Program
from sglc.bytecode.encoding import decode, encode
from sglc.bytecode.serial import dumps, loads
from sglc.bytecode.verify import verify
from sglc.driver import compile_source
from sglc.ir.literal import Cursor, print_literal
from sglc.source import Source
from sglc.types.condition import (
    All,
    Among,
    Compared,
    Divided,
    Either,
    Flag,
    Given,
    Known,
    Listed,
    Matches,
    Not,
    Subject,
    TextAt,
    show_condition,
)

SOURCE = """pure fn ok(prefix: str, most: int) -> alive | dead | final:
    return dead if len(prefix) > most else final
fn f(low: int, words: [str], most: int) -> str:
    user: | q
    assistant:
        | ?{n: int in 0..99 where n > low and (n % 7 == 3 or n < low + 5)}
        | ?{w: str max 9 chars where w not in words and ok(w, most) and ok(w, 8)}
    return w
"""


@functools.cache
def program() -> Program:
    made = compile_source(Source("p.sgl", SOURCE)).program
    assert made is not None
    return made


OPERANDS = (
    st.builds(Given, st.integers(0, 3))
    | st.builds(
        Known, st.integers() | st.text() | st.decimals(allow_nan=False, allow_infinity=False, places=3)
    )
    | st.builds(Known, st.none() | st.booleans())
)
SUBJECTS = st.builds(
    Subject, st.lists(st.sampled_from(["age", "name"]), max_size=2).map(tuple), st.booleans()
)
ATOMS = (
    st.builds(Compared, SUBJECTS, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), OPERANDS)
    | st.builds(Divided, SUBJECTS, OPERANDS, OPERANDS)
    | st.builds(
        Among, SUBJECTS, st.builds(Known, st.lists(st.integers()).map(Listed)) | st.builds(Given, st.just(0))
    )
    | st.builds(TextAt, SUBJECTS, st.sampled_from(["start", "end", "inside"]), OPERANDS)
    | st.builds(Matches, SUBJECTS, st.text())
    | st.builds(Flag, OPERANDS)
)
CONDITIONS = st.recursive(
    ATOMS,
    lambda part: (
        st.builds(Not, part)
        | st.builds(All, st.lists(part, max_size=3).map(tuple))
        | st.builds(Either, st.lists(part, max_size=3).map(tuple))
    ),
    max_leaves=6,
)


@settings(max_examples=100, deadline=None)
@given(CONDITIONS)
def test_conditions_are_written_and_read_exactly(condition) -> None:
    assert decode(encode(condition)) == condition
    assert Cursor(print_literal(condition)).literal() == condition
    assert show_condition(condition)


def test_a_program_with_conditions_is_written_and_read() -> None:
    read, found = loads(dumps(program()))
    assert read is not None and not found
    assert read.holes == program().holes
    first, second = program().holes
    assert first.options == ("given0", "given1") and first.condition is not None
    assert second.options[:2] == ("given0", "asked0") and len(second.validators) == 2
    assert not verify(program())


BAD = {
    "numbers": lambda hole: replace(hole, condition=Compared(Subject(), ">", Given(4))),
    "a field of a number": lambda hole: replace(
        hole, condition=All((Compared(Subject(("x",)), ">", Given(0)), Compared(Subject(), "<", Given(1))))
    ),
    "text in a number": lambda hole: replace(
        hole, condition=All((TextAt(Subject(), "start", Given(0)), Compared(Subject(), "<", Given(1))))
    ),
    "no function": lambda hole: replace(hole, validators=(99,)),
    "a function of messages": lambda hole: replace(hole, validators=(1,)),
    "too few arguments": lambda hole: replace(hole, validators=(0,)),
    "arguments of nobody": lambda hole: replace(hole, options=(*hole.options, "asked0")),
    "a choice": lambda hole: replace(hole, mode="choose"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_no_compiler_writes_is_refused(name: str) -> None:
    hole = BAD[name](program().holes[0])
    assert verify(replace(program(), holes=(hole, program().holes[1])))
