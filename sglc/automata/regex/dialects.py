"""What the dialects of regular expressions disagree on.

`ecma` is ECMA-262 in Unicode mode, as JSON Schema asks for, with the leniency of its Annex B where that has
one meaning only (`\\-`, `\\_`, `{name}`, `[\\w-.]`), and flags in front (`(?i)`). `python` is the language of
Python's `re` for str. `sgl` is what both read alike: ASCII classes, `^` and `$` at the ends of the text, and
no character that is literal by accident.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Literal

from sglc.automata import charset
from sglc.automata.charset import Ranges, closure, ranges
from sglc.immutable import value

DialectName = Literal["sgl", "ecma", "python"]

_ECMA_SPACE = ranges(
    [(0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0xFEFF, 0xFEFF), (0x2028, 0x2029)]
    + [(0x1680, 0x1680), (0x2000, 0x200A), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)]
)
_ECMA_NEWLINES = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
_PYTHON_SPACE = ranges(
    [(0x09, 0x0D), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)]
    + [(0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)]
)
_NEWLINE = ((0x0A, 0x0A),)


@value
class Dialect:
    name: DialectName
    newlines: Ranges
    """What `.` leaves out and where lines end."""
    fold: Callable[[Ranges], Ranges]
    folds_classes: bool
    """Whether `\\w` and the like are taken with all case forms, where case is ignored."""


@value
class Classes:
    digit: Ranges
    word: Ranges
    space: Ranges


ASCII = Classes(charset.DIGITS, charset.WORD, charset.SPACE)


@cache
def unicode_classes() -> Classes:
    """Those of Python's str: letters and numbers of any script."""
    from sglc.automata.unicode.properties import property_set

    word = ranges([*(property_set("L") or ()), *(property_set("N") or ()), (0x5F, 0x5F)])
    return Classes(property_set("Nd") or (), word, _PYTHON_SPACE)


@cache
def _python_orbits() -> dict[int, tuple[int, ...]]:
    """As Unicode's, and the Turkish letters İ and ı, which Python takes for i."""
    from sglc.automata.unicode.properties import case_orbits

    orbits = dict(case_orbits())
    for letters in ((0x49, 0x69, 0x130, 0x131),):
        orbits.update(dict.fromkeys(letters, letters))
    return orbits


def _python_closure(these: Ranges) -> Ranges:
    return closure(these, _python_orbits())


def _ecma_closure(these: Ranges) -> Ranges:
    from sglc.automata.unicode.properties import simple_case_closure

    return simple_case_closure(these)


SGL = Dialect("sgl", _NEWLINE, charset.ignoring_case, True)
ECMA = Dialect("ecma", _ECMA_NEWLINES, _ecma_closure, True)
PYTHON = Dialect("python", _NEWLINE, _python_closure, False)

DIALECTS: dict[str, Dialect] = {each.name: each for each in (SGL, ECMA, PYTHON)}


def classes(dialect: Dialect, *, ascii_only: bool, ignore_case: bool) -> Classes:
    r"""What `\d`, `\w` and `\s` stand for under some flags."""
    if dialect is PYTHON:
        return ASCII if ascii_only else unicode_classes()
    # What is no \w is the rest of what \w is with all case forms, so that no letter is both.
    word = dialect.fold(charset.WORD) if ignore_case else charset.WORD
    return Classes(charset.DIGITS, word, _ECMA_SPACE if dialect is ECMA else charset.SPACE)
