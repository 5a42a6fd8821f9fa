"""Levels of the holes of all examples, kept as a table that one can read: `tests/golden/levels.txt`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checkout import EXAMPLES, GOLDEN
from example_budget import examples
from sglc.driver import compile_source
from sglc.source import Source
from sglc.targets.projection.core.candidate import Candidate
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.levels import HoleLevel, levels_of
from sglc.types.model_use import MAIN

_WHOLE = Capabilities(
    frozenset({"gbnf", "regex", "json_schema", "choice"}),
    "whole",
    scores=True,
    samplers=frozenset({"top_p", "top_k", "min_p"}),
)
BACKENDS = {
    "vllm": _WHOLE,
    "llama": replace(_WHOLE, notations=frozenset({"gbnf"}), dialect=None, repetitions=2_000),
    "openai": Capabilities(
        frozenset({"lark", "regex", "json_schema"}), "openai", samplers=frozenset({"top_p"})
    ),
    "chat": Capabilities(frozenset({"json_schema"}), "openai", samplers=frozenset({"top_p"})),
    "anthropic": Capabilities(frozenset({"json_schema"}), "anthropic", temperature=False),
}


HEAD = f"{'hole':<28}{''.join(f'{name:<10}' for name in BACKENDS)}lost at any\n"
SOME = 8
"""One of so many programs is looked at where `SGLC_TEST_EXAMPLES` asks for no more: each is compiled."""


def section(path: Path) -> str:
    """A line a hole: its level at each backend, and what any of them loses."""
    program = compile_source(Source(str(path), path.read_text(encoding="utf-8"))).program
    assert program is not None
    found = [levels_of(program, {MAIN: [Candidate(name, able)]}) for name, able in BACKENDS.items()]
    return f"{path.relative_to(EXAMPLES)}\n" + "".join(map(_line, zip(*found, strict=True)))


def _line(levels: tuple[HoleLevel, ...]) -> str:
    lost = dict.fromkeys(loss.construct for level in levels for loss in level.lost)
    shown = "".join(f"{level.level:<10}" for level in levels)
    return f"{levels[0].name:<28}{shown}{'; '.join(lost)}".rstrip() + "\n"


@pytest.mark.slow
def test_the_levels_of_examples(request: pytest.FixtureRequest) -> None:
    kept = GOLDEN / "levels.txt"
    programs = sorted([*EXAMPLES.glob("*.sgl"), *EXAMPLES.glob("cookbook/*.sgl")])
    if request.config.getoption("--update-golden"):
        kept.write_text("\n".join([HEAD, *map(section, programs)]), encoding="utf-8")
    known = kept.read_text(encoding="utf-8").split("\n\n")
    assert known[0] + "\n" == HEAD and len(known) == len(programs) + 1
    step = 1 if examples(SOME) > SOME else SOME
    for path, expected in list(zip(programs, known[1:], strict=True))[::step]:
        assert section(path).strip() == expected.strip(), "pytest --update-golden rewrites"
