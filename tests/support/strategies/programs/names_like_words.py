"""Sound programs whose names are words of the language: `check`, `user`, `max` as variables, fields and
functions.
"""

from __future__ import annotations

from random import Random

from judges.colours import letters
from sglc.highlight.core.classes import WORDS
from sglc.source import Source
from sglc.syntax import parse
from sglc.syntax.lexer.keywords import HARD
from strategies.mutated_programs import Original

NAMES = tuple(sorted(set(WORDS) - HARD))


def with_names_like_words(number: int, programs: list[Original]) -> str | None:
    """The program of that number, one to three of its names replaced; None where that breaks its syntax."""
    dice = Random(number)
    original = dice.choice(programs)
    text = original.text
    for _ in range(dice.choice((1, 1, 2, 3))):
        found = [each for each in parse.tokens(Source("names.sgl", text)) if each[0] == "NAME"]
        if not found:
            return None
        old, new = dice.choice(found)[1], dice.choice(NAMES)
        pieces, place = [], 0
        for _, word, span in found:
            if word == old:
                pieces += [text[place : span.start], new]
                place = span.end
        text = "".join(pieces) + text[place:]
    return text if letters(text) is not None else None
