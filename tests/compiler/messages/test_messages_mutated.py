"""What is said about programs damaged at random: in words of the language, little, and never a crash.

Programs of `examples/` and of the catalogue lose, double and swap lines, words and characters. Whatever comes
of it, the checker answers with diagnostics: none speaks of the parser's inner names, one slip gives few of
them, and every edit that they carry can be made.
"""

from __future__ import annotations

import random
import re

import pytest

from checkout import EXAMPLES
from hostile.inner_words import INNER, inner_names
from oracles.edits import assert_edits_hold
from sglc.check.program import check
from sglc.diagnostics.catalogue.codes import CATALOGUE
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.edits import edited
from sglc.diagnostics.render import render
from sglc.library import Library
from sglc.source import Source

TEXTS = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.sgl"))]
SMALL = [entry.good for entry in CATALOGUE.values() if entry.good]
ROUNDS = 60
"""Mutated programs of one seed; a seed takes about a second."""

_PIECE = re.compile(r"\s+|\w+|[^\w\s]")
_MOST = 8
"""Findings that one slip may give: it may take a declaration away that is used in as many places."""


def slipped(text: str, chance: random.Random) -> str:
    """The text with one slip in it."""
    kind = chance.randrange(7)
    if kind < 3:
        lines = text.split("\n")
        at = chance.randrange(len(lines))
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[at])
        else:
            other = min(at + 1, len(lines) - 1)
            lines[at], lines[other] = lines[other], lines[at]
        return "\n".join(lines)
    pieces = _PIECE.findall(text)
    words = [place for place, piece in enumerate(pieces) if not piece.isspace()]
    at = chance.choice(words)
    if kind == 3:
        pieces[at] = ""
    elif kind == 4:
        pieces[at] += " " + pieces[at]
    elif kind == 5:
        other = words[min(words.index(at) + 1, len(words) - 1)]
        pieces[at], pieces[other] = pieces[other], pieces[at]
    else:
        pieces[at] = chance.choice(
            ["string", "None", "def", "{", "}", "|", ":", "=", "?", '"', "'", "\t", "&&"]
        )
    return "".join(pieces)


def assert_well_said(text: str, found: list[Diagnostic]) -> None:
    own = set(INNER.findall(text.upper())) | set(INNER.findall(text))
    for diagnostic in found:
        words = "\n".join(
            (diagnostic.message, diagnostic.label, diagnostic.reason, diagnostic.hint, diagnostic.witness)
        )
        leaked = set(INNER.findall(words)) - own
        assert not leaked, f"{leaked} in\n{render(diagnostic)}\n\n{text}"
        assert render(diagnostic)
        if diagnostic.edits:
            assert diagnostic.hint
            assert all(edit.span.source.text == text for edit in diagnostic.edits)
            edited(text, diagnostic.edits)


def test_inner_names_are_known():
    assert {"_NEWLINE", "_INDENT", "BROKEN", "PIPE", "NAME", "$END", "OR_SKIP"} <= inner_names()
    assert INNER.search("`BROKEN` or `case` is due") and not INNER.search("a new line")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_slips_are_told_in_words_of_the_language(seed):
    chance = random.Random(seed)
    counts: list[int] = []
    for _ in range(ROUNDS):
        text = slipped(chance.choice(TEXTS if chance.random() < 0.5 else SMALL), chance)
        source = Source("program.sgl", text)
        found = check(source, Library())[1]
        assert_well_said(text, found)
        counts.append(sum(d.severity == "error" for d in found))
    assert sum(count > _MOST for count in counts) <= 1, counts
    assert sum(counts) / len(counts) < 1.6, counts


@pytest.mark.slow
def test_edits_hold_wherever_the_slip_is():
    """An edit is told only where it repairs: also in programs that nobody thought of."""
    chance = random.Random(100)
    edits = 0
    for _ in range(6 * ROUNDS):
        edits += assert_edits_hold(slipped(chance.choice(TEXTS if chance.random() < 0.3 else SMALL), chance))
    assert edits >= 10, "slips with edits are met"


def test_many_slips_at_once_are_survived():
    chance = random.Random(99)
    for _ in range(40):
        text = chance.choice(TEXTS)
        for _ in range(chance.randrange(2, 12)):
            text = slipped(text, chance)
        assert_well_said(text, check(Source("program.sgl", text), Library())[1])
