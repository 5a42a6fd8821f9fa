"""The lexer of Pygments agrees with the parser."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from random import Random

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import string_to_tokentype

from example_budget import examples
from judges.highlighters import Span, disagreement, meanings
from sglc.highlight.pygments_lexer import SglLexer
from strategies.mutated_programs import mutated, originals
from strategies.programs.coloured_programs import (
    generated_programs,
    programs_with_names_like_words,
    written_programs,
)

KNOWN = meanings(lambda each, kind: str(string_to_tokentype(each.pygments)))
LEXER = SglLexer(stripnl=False, ensurenl=False)


def coloured(text: str) -> list[Span]:
    return [(part, str(kind)) for _, kind, part in LEXER.get_tokens_unprocessed(text)]


def faults(programs: list[str]) -> list[str]:
    found = (disagreement(text, coloured(text), KNOWN) for text in programs)
    return [each for each in found if each is not None]


def test_written_programs() -> None:
    programs = list(written_programs())
    assert len(programs) > 250
    assert faults(programs) == []


@pytest.mark.slow
def test_generated_programs() -> None:
    assert faults(generated_programs(examples(2000))) == []


@pytest.mark.slow
def test_names_like_words() -> None:
    """A name such as `check` or `max` is no keyword. What stands right beside it does not always tell: of
    programs in which one to three names are words of the language, at most 3 of 100 have a fault.
    """
    programs = programs_with_names_like_words(examples(400))
    assert len(faults(programs)) <= 0.03 * len(programs)


@pytest.mark.parametrize(
    "line, keywords",
    [
        ("    let check = user + max", "let"),
        ("    check user == max", "check"),
        ("    check = check + 1", ""),
        ("    ensure n in seed", "ensure in"),
        ("    user: | Hello", "user"),
        ("    user: str", ""),
        ("    user:", "user"),
        ("    return temp.max(by = n)", "return"),
        ("    assistant: | ?{n: int in 0..9 temp 0.5 n 3}", "assistant in temp n"),
        ("    assistant: | ?{user: str max n tok}", "assistant max tok"),
        ("    for check in stream write(text) as n:", "for in stream as"),
        ("    for stream in xs:", "for in"),
        ("type error = one of grammar", "type one of"),
        ("record test: user: str, if: int", "record"),
        ('    let json = json schema {"max": 3}', "let json schema"),
        ("fn n(seed: int) -> str within 30 tok raises Odd:", "fn within tok raises"),
        ('    x not in xs or not ys not containing "a"', "not in or not not containing"),
    ],
)
def test_keywords_of_a_line(line: str, keywords: str) -> None:
    found = [part for part, kind in coloured(line) if "K" in KNOWN.get(kind or "", "") and part.strip()]
    assert " ".join(found) == keywords


def test_no_text_is_lost() -> None:
    programs = originals()
    for number in range(examples(150)):
        text = mutated(number, programs).text
        assert "".join(part for part, _ in coloured(text)) == text


def test_an_open_bracket_ends_at_the_next_declaration() -> None:
    text = 'fn f(x: int, -> int:\n    return [1,\n\nfn g() -> str:\n    user: | Hello\n    return "a\n'
    spans = coloured(text)
    assert ("Hello", "Token.Literal.String.Heredoc") in spans or (
        " Hello",
        "Token.Literal.String.Heredoc",
    ) in spans


def test_time_grows_with_the_text() -> None:
    """Long lines of one kind: counted in tokens, and done at all."""
    dice = Random(1)
    for piece in ("?{", "${", '"', "(", "not ", "\\", "max ", "/", '"""', "|", "text "):
        text = "    user: | " + piece * 300 + "\n" + piece * 300 + "\nfn f():\n" + piece * dice.randrange(9)
        assert "".join(part for part, _ in coloured(text)) == text


def test_entry_point() -> None:
    names = {each.name: each.value for each in entry_points(group="pygments.lexers")}
    if "sgl" not in names:
        pytest.skip("sglc is not installed with its entry points")
    assert names["sgl"] == "sglc.highlight.pygments_lexer:SglLexer"
    assert type(get_lexer_by_name("sgl")).__name__ == "SglLexer"


def test_it_is_light() -> None:
    code = (
        "import sys; import sglc.highlight.pygments_lexer; "
        "print([m for m in sys.modules if m.startswith('sglc.') and not m.startswith('sglc.highlight')])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    light = subprocess.run(
        [
            *(sys.executable, "-P", "-c"),
            "import sys, sglc; print([m for m in sys.modules if m.startswith('sglc.')])",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == light.stdout
