"""Damaged functions: whatever stands in one, it is compiled or refused with findings."""

from __future__ import annotations

import io
import random
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import python_programs
from example_budget import examples
from python_programs.modules import found_in, python_module
from sglc.diagnostics.catalogue.codes import CATALOGUE
from sglc.diagnostics.render import render

FOLDER = Path(next(iter(python_programs.__path__)))
FILES = sorted(FOLDER.glob("*/statements.py"))
WORDS = (
    "s 3 0.5 'x' None True s.gen s['left'] f'{x}' ( ) [ ] { } * ** + - : , . = == := lambda await yield "
    "not in is if "
    "else for while match case with try except finally return del global class def import range(3) s.user "
    "s.fork(2) "
    "s.limit(3) s.finish(1) s.think() int list[int] sglc _ -1 ..."
).split()


def damaged(text: str, random_: random.Random) -> str:
    """The text with one to three tokens of its functions dropped, doubled, swapped or replaced."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    inside = [
        place
        for place, token in enumerate(tokens)
        if token.string.strip() and token.start[1] > 3 and token.line.startswith("    ")
    ]
    lines = text.split("\n")
    for place in sorted(random_.sample(inside, min(len(inside), random_.randint(1, 3))), reverse=True):
        (row, start), (last, end) = tokens[place].start, tokens[place].end
        if row != last:
            continue
        old = lines[row - 1][start:end]
        new = random_.choice(
            ("", f"{old} {old}", random_.choice(WORDS), tokens[random_.choice(inside)].string)
        )
        lines[row - 1] = lines[row - 1][:start] + new.replace("\n", " ") + lines[row - 1][end:]
    return "\n".join(lines)


def cases() -> Iterator[tuple[int, str]]:
    for number in range(examples(60)):
        random_ = random.Random(number)
        text = random_.choice(FILES).read_text(encoding="utf-8")
        yield number, damaged(text, random_)


@pytest.mark.slow
def test_a_damaged_function_is_compiled_or_refused(tmp_path: Path) -> None:
    tried = refused = 0
    for number, text in cases():
        try:
            module = python_module(tmp_path, text)
        except Exception:  # Python itself does not take it
            continue
        tried += 1
        found = found_in(module)
        refused += bool(found)
        for each in found:
            assert each.code in CATALOGUE and render(each), number
    assert refused > tried // 4
