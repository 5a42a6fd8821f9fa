"""The laws of the formatter, on programs that are written down, generated, and laid out at random.

`SGLC_TEST_EXAMPLES=20000` makes the random ones so many.
"""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from checkout import GOLDEN, ROOT
from example_budget import examples
from golden_case import golden_cases
from layouts.laws import keeps_the_laws
from layouts.restyled import restyled
from sglc.format.formatter import formatted
from sglc.format.same import Unfaithful, require_same
from sglc.source import Source
from strategies.mutated_programs import Original, mutated, originals
from strategies.programs.source_programs import source_program

FILES = sorted(
    path
    for folder in (
        ROOT / "examples",
        ROOT / "stdlib",
        GOLDEN,
        ROOT / "tests" / "support",
        ROOT / "tests" / "benchmarks",
    )
    for path in folder.rglob("*.sgl")
)
BATCH = 25
"""Random programs of one test."""


@cache
def sound() -> list[Original]:
    return originals()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_programs_in_files_are_kept(path):
    keeps_the_laws(path.read_text(encoding="utf-8"), str(path), compiled="golden" not in path.parts)


@pytest.mark.slow
def test_programs_of_the_pages_and_the_catalogue_are_kept():
    kept = [keeps_the_laws(program.text, program.path, compiled=True) for program in sound()]
    assert sum(kept) > 250


@pytest.mark.parametrize("name", ["parse/module", "parse/statements"])
def test_programs_of_golden_files_are_kept(name):
    assert all([keeps_the_laws(case.input + "\n") for case in golden_cases(name)])


def program(number: int) -> tuple[str, str]:
    """Name and text of the random program of that number: damaged, or in another layout."""
    dice = Random(number)
    kind = dice.random()
    if kind < 0.2:
        damaged = mutated(number, sound())
        return damaged.path, damaged.text
    if kind < 0.6:
        original = dice.choice(sound())
        return original.path, restyled(original.text, dice)
    return "program.sgl", restyled(source_program(dice).text, dice)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(-(-examples(200) // BATCH)))
def test_random_programs_in_random_layouts_are_kept(batch):
    kept = 0
    for number in range(batch * BATCH, (batch + 1) * BATCH):
        name, text = program(number)
        try:
            kept += keeps_the_laws(text, name, compiled=True)
        except AssertionError as broken:
            raise AssertionError(f"program {number}: {broken}") from broken
    assert kept > BATCH // 2, "most are programs"


def test_a_result_that_is_another_program_is_a_fault():
    from sglc.format.reading import reading

    made, _ = reading(Source("program.sgl", "const A = 1  # one\n"))
    assert made is not None
    require_same(made, "const A = 1  # one\n")
    for other in ("const A = 2  # one\n", "const A = 1  # two\n", "const A = 1\n", "const A = \n"):
        with pytest.raises(Unfaithful):
            require_same(made, other)


def test_line_ends_become_newlines_and_a_byte_order_mark_goes():
    text = '\ufeff## Doc.\r\nfn f():\r\n  user: text """\r\n  a\r\n\r\n  """\r\n  assistant: | ?{x: bool}\r\n'
    result, found = formatted(Source("program.sgl", text))
    assert not found
    assert result == (
        '## Doc.\nfn f():\n    user: text """\n        a\n\n        """\n    assistant: | ?{x: bool}\n'
    )
    keeps_the_laws(text, compiled=True)


def test_a_carriage_return_that_is_text_stays_text():
    keeps_the_laws("fn f():\n    user: | a\r\r\n    assistant: | ?{x: bool}\n", compiled=True)
    keeps_the_laws("# fmt: off\r\nfn f():\r\n  user: | a\r\r\n# fmt: on\r\n", compiled=True)
    keeps_the_laws("# fmt: off\nfn f():\n  user: | a\r\r\n", compiled=True)


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", "## doc\n\n\n# two\n"])
def test_programs_of_nothing(text):
    keeps_the_laws(text)
    assert formatted(Source("p", text))[0].strip() == text.strip().replace("\n\n\n", "\n\n")
