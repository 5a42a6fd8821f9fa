"""Programs that highlighters are tried with."""

from __future__ import annotations

from functools import cache
from random import Random

from judges.colours import letters
from strategies.mutated_programs import originals
from strategies.programs.hostile_names import hostile_program
from strategies.programs.names_like_words import with_names_like_words
from strategies.programs.source_programs import source_program


@cache
def written_programs() -> tuple[str, ...]:
    """Those of the examples, the standard library, the docs and the catalogue without errors of syntax."""
    return tuple(each.text for each in originals() if letters(each.text) is not None)


def generated_programs(count: int) -> list[str]:
    """So many random programs, half of them with hostile names and texts."""
    makers = (hostile_program, source_program)
    return [makers[number % 2](Random(number)).text for number in range(count)]


def programs_with_names_like_words(count: int) -> list[str]:
    """Of so many programs those that still read."""
    programs = originals()
    found = [with_names_like_words(number, programs) for number in range(count)]
    return [text for text in found if text is not None]
