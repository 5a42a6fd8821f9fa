"""Copies of functions for calls with constants: nothing can be seen of them, and there are so many."""

from __future__ import annotations

import pytest

from fakes.hashed_engine import HashedEngine
from outcomes import compiled, outcome
from sglc.ir.module import Module
from sglc.ir.read import read
from sglc.options import LEVELS
from sglc.passes import specialise
from sglc.passes.specialise import COPIES, GROWTH, LARGEST

PROGRAM = """\
error Odd(n: int)

fn rate(word: str, shown: [str], strict: bool) -> int within 60 tok raises Odd:
    user:
        for one in shown:
            | ${one.upper()} is one.
        if strict: | Be strict.
        | Rate ${word}.
    assistant: | ?{mark: int in 0..9 temp 1}
    check mark > 3 else "low"
    if strict and mark == 7:
        raise Odd(mark)
    return mark

part hint(n: int, loud: bool):
    if loud: | HINT ${n}
    else: | hint ${n}

pub fn main(n: int, word: str) -> str raises Odd:
    let first = rate(word, ["ice", "moon"], true)
    let second = rate("sea", ["ice", "moon"], n > 2)
    let third = rate(word, ["ice", "moon"], true)
    user:
        | ${first} ${second} ${third}
        part hint(n, true)
        part hint(n, false)
    assistant: | ?{name: str max 4 chars temp 1}
    return name
"""


@pytest.mark.parametrize("n", [1, 4])
def test_nothing_is_seen_of_a_copy(n: int) -> None:
    programs = [compiled(PROGRAM, level) for level in LEVELS]
    copied = {code.copy_of for code in programs[-1].codes if code.copy_of}
    assert "rate" in copied
    assert all(not code.copy_of for program in programs[:-1] for code in program.codes)
    assert all(program.entry.keys() == programs[0].entry.keys() for program in programs)
    for seed in range(12):
        seen = [
            outcome(program, {"n": n, "word": "x"}, HashedEngine(seed=seed, faults=10), seed=seed)
            for program in programs
        ]
        assert seen[1:] == seen[:-1]


def calling(constants: list[int], size: int = 0) -> Module:
    """Calls with constants of a function with a branch on its parameter, and some more operations."""
    calls = "".join(
        f"  %{at} = const {n}\n  %{at + 500} = call @f (%{at})\n" for at, n in enumerate(constants)
    )
    more = '  text "x"\n' * size
    return read(
        f"""
        fn @main() {{
        ^entry:
        {calls}  %999 = const null
          return %999
        }}
        fn @f(n $n: Int()) {{
        ^entry:
        {more}  %0 = load $n
          %1 = const 2
          %2 = binary "<" %0 %1
          branch %2 ^less ^more
        ^less:
          %3 = const true
          return %3
        ^more:
          %4 = const false
          return %4
        }}
        """
    )


SIZE = 8
"""Operations of `f`, without the texts."""


def copies(module: Module) -> int:
    return sum(bool(function.copy_of) for function in specialise.run(module).functions)


def test_equal_calls_share_a_copy() -> None:
    assert copies(calling([1, 1, 1])) == 1


def test_a_function_has_at_most_so_many_copies() -> None:
    assert copies(calling(list(range(COPIES)))) == COPIES
    assert copies(calling(list(range(COPIES + 3)))) == COPIES


def test_a_function_that_is_copied_is_at_most_so_large() -> None:
    assert copies(calling([1], LARGEST - SIZE)) == 1
    assert copies(calling([1], LARGEST - SIZE + 1)) == 0


def test_all_copies_together_are_at_most_so_large(monkeypatch: pytest.MonkeyPatch) -> None:
    assert GROWTH >= LARGEST
    monkeypatch.setattr(specialise, "GROWTH", 3 * SIZE - 1)
    assert copies(calling([1, 2, 3])) == 2
