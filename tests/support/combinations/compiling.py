"""Many combinations in one program each, and what the compiler says of every one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from combinations.axes import HEAD, Combination
from sglc.bytecode.code import HoleSpec, Program
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.driver import compile_source
from sglc.source import Source

TOGETHER = 200
"""Combinations of one program: each costs a millisecond, and a file's own cost is that of ten."""


@dataclass(frozen=True, slots=True)
class Said:
    """A combination, and what was said of its function. `start` and `end` are the hole's place."""

    combination: Combination
    start: int
    end: int
    found: list[Diagnostic] = field(default_factory=list)

    @property
    def errors(self) -> list[Diagnostic]:
        """Those that refuse it."""
        return [each for each in self.found if each.code.startswith("E")]

    @property
    def codes(self) -> list[str]:
        """All codes, errors first, each once."""
        return sorted({each.code for each in self.found})

    @property
    def refused_at_its_hole(self) -> bool:
        """Whether an error lies inside the hole."""
        return any(self.start <= each.span.start <= each.span.end <= self.end for each in self.errors)


def check(made: Sequence[Combination]) -> Iterator[Said]:
    """What the compiler says of each. A fault of the compiler itself is raised."""
    for first in range(0, len(made), TOGETHER):
        yield from _check(made[first : first + TOGETHER])


def _check(made: Sequence[Combination]) -> list[Said]:
    text, ends, said = HEAD, [len(HEAD)], []
    for each in made:
        function, hole = each.function(f"f{len(said)}"), each.hole()
        start = len(text) + function.index(hole)
        text += function
        ends.append(len(text))
        said.append(Said(each, start, start + len(hole)))
    for found in compile_source(Source("combinations.sgl", text)).diagnostics:
        place = bisect_right(ends, found.span.start) - 1
        if 0 <= place < len(said):
            said[place].found.append(found)
    return said


def build(made: Sequence[Combination]) -> tuple[Program, list[HoleSpec]]:
    """One program of combinations without errors: `f0`, `f1`, …, and the hole of each."""
    text = HEAD + "".join(each.function(f"f{number}") for number, each in enumerate(made))
    program = compile_source(Source("combinations.sgl", text)).program
    assert program is not None
    named = {hole.name: hole for hole in program.holes}
    return program, [named[f"f{number}.v"] for number in range(len(made))]
