"""Loops over constants and calls on constants: the bounds, and what a run of whole programs shows of them."""

from __future__ import annotations

import pytest

from fakes.hashed_engine import HashedEngine
from outcomes import compiled, outcome
from sglc.ir import ops, terminators
from sglc.ir.module import Function, Module
from sglc.ir.read import read
from sglc.options import LEVELS
from sglc.passes import unroll
from sglc.passes.calls import DEPTH, STEPS


def loops(function: Function) -> int:
    return sum(type(block.end) is terminators.Next for block in function.blocks)


def calls(function: Function) -> int:
    return sum(type(op) is ops.Call for block in function.blocks for op in block.ops)


def loop_of(items: int, texts: int) -> Module:
    """A loop whose body has `texts` inserts of the item: two operations each, and the end of its block."""
    body = "".join(f"  %{at} = load $x\n  insert %{at}\n" for at in range(10, 10 + texts))
    return read(
        f"""
        fn @f() {{
        ^entry:
          line
          %0 = const {[0] * items}
          %1 = iterate %0
          store $%iterator %1
          jump ^each
        ^each:
          next $%iterator $x ^body ^done
        ^body:
        {body}  jump ^each
        ^done:
          %2 = const null
          return %2
        }}
        """
    )


@pytest.mark.parametrize(("items", "left"), [(unroll.MOST // 5, 0), (unroll.MOST // 5 + 1, 1)])
def test_the_copies_of_a_loop_are_at_most_so_large(items: int, left: int) -> None:
    assert loops(unroll.run(loop_of(items, 2)).functions[0]) == left


def test_a_function_grows_to_at_most_so_much() -> None:
    items = unroll.MOST // 5
    count = unroll.LARGE // unroll.MOST + 2
    blocks = "\n".join(
        f"""
        ^entry{at}:
          %{at}0 = const {[0] * items}
          %{at}1 = iterate %{at}0
          store $%iterator{at} %{at}1
          jump ^each{at}
        ^each{at}:
          next $%iterator{at} $x{at} ^body{at} ^entry{at + 1}
        ^body{at}:
          %{at}2 = load $x{at}
          insert %{at}2
          %{at}3 = load $x{at}
          insert %{at}3
          jump ^each{at}"""
        for at in range(1, count + 1)
    )
    module = read(
        f"fn @f() {{\n^entry:\n  line\n  jump ^entry1\n{blocks}\n"
        f"^entry{count + 1}:\n  %0 = const null\n  return %0\n}}"
    )
    assert loops(unroll.run(module).functions[0]) == count - unroll.LARGE // unroll.MOST


def counting(rounds: int) -> Module:
    """A call that counts to a number: 3 operations before the loop, 9 a round, and 6 at the end."""
    return read(
        f"""
        fn @f() {{
        ^entry:
          %0 = const {rounds}
          %1 = call @count (%0)
          return %1
        }}
        pure @count(n $n: Int()) {{
          module "m"
        ^entry:
          %0 = const 0
          store $i %0
          jump ^again
        ^again:
          %1 = load $i
          %2 = load $n
          %3 = binary "<" %1 %2
          branch %3 ^more ^done
        ^more:
          %4 = load $i
          %5 = const 1
          %6 = binary "+" %4 %5
          store $i %6
          jump ^again
        ^done:
          %7 = load $i
          return %7
        }}
        """
    )


def test_a_call_takes_at_most_so_many_steps() -> None:
    most = (STEPS - 3 - 4 - 2) // 9
    assert calls(unroll.run(counting(most)).functions[0]) == 0
    assert calls(unroll.run(counting(most + 1)).functions[0]) == 1


def descending(depth: int) -> Module:
    return read(
        f"""
        fn @f() {{
        ^entry:
          %0 = const {depth}
          %1 = call @down (%0)
          return %1
        }}
        pure @down(n $n: Int()) {{
          module "m"
        ^entry:
          %0 = load $n
          %1 = const 1
          %2 = binary "<=" %0 %1
          branch %2 ^end ^more
        ^end:
          %3 = const 0
          return %3
        ^more:
          %4 = load $n
          %5 = const 1
          %6 = binary "-" %4 %5
          %7 = call @down (%6)
          return %7
        }}
        """
    )


def test_calls_go_at_most_so_deep() -> None:
    assert calls(unroll.run(descending(DEPTH)).functions[0]) == 0
    assert calls(unroll.run(descending(DEPTH + 1)).functions[0]) == 1


PROGRAM = """\
record Shown: theme: str, mark: int in 0..9

const SHOWN = [Shown("ice", 3), Shown("moon", 7)]

pure fn best(marks: [int]) -> int:
    var found = 0
    for mark in marks:
        if mark > found:
            found = mark
    return found

pub fn main(n: int, word: str) -> str:
    let marks = [shown.mark for shown in SHOWN if shown.mark > 3]
    user:
        for shown in SHOWN:
            | ${shown.theme}: ${shown.mark}
            if n > 2: | more of ${shown.theme}
        | best ${best([3, 9, 4])} of ${marks}
    for shown in SHOWN:
        user: | Rate ${shown.theme}.
        assistant: | ?{rate: int in 0..9}
        ensure rate != 4 else "not four"
            retry 2 resample
    return word
"""


@pytest.mark.slow
@pytest.mark.parametrize("n", [0, 4])
def test_a_program_with_constant_loops_runs_alike_at_every_level(n: int) -> None:
    for seed in range(8):
        seen = [
            outcome(compiled(PROGRAM, level), {"n": n, "word": "x"}, HashedEngine(seed=seed), seed=seed)
            for level in LEVELS
        ]
        assert seen[1:] == seen[:-1]


def test_the_text_of_constant_loops_is_constant() -> None:
    text = 'const S = ["ice", "moon"]\n\npub fn main() -> str:\n    user:\n        for s in S:\n'
    text += "            | about ${s.upper()}\n    assistant: | ?{x: str max 5 chars}\n    return x\n"
    program = compiled(text, LEVELS[-1])
    assert "about ICE\nabout MOON" in program.constants
