"""The grammars of the library: what they take and refuse, and that other parsers agree with them."""

from __future__ import annotations

import random
import sqlite3
from functools import lru_cache

import pytest

from checkout import ROOT
from example_budget import examples
from oracles.grammar_parsers import OTHERS, sqlite_says
from sglc.cfg.language import GrammarOptions, grammar_language
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.notation.reader import SHIPPED, shipped_grammar
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from strategies.grammar_texts import BAD, GOOD, NARROWER

FOLDER = ROOT / "stdlib" / "grammars"
BYTES = Vocabulary([bytes([byte]) for byte in range(256)])
LEXINGS = ("dynamic", "longest")
MANY = 20
"""Texts of each kind, at least."""


@lru_cache
def constraint_of(name: str, lexing: str) -> Constraint:
    options = GrammarOptions(lexing=lexing)  # type: ignore[arg-type]
    return compile_constraint(language=grammar_language(shipped_grammar(name), options))


def takes(name: str, text: str, lexing: str) -> bool:
    matcher = constraint_of(name, lexing).matcher(BYTES)
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


def test_every_file_is_shipped() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.lark")) == sorted(SHIPPED)
    with pytest.raises(GrammarError, match="the library has no grammar cobol"):
        shipped_grammar("cobol")


def lexings(name: str) -> tuple[str, ...]:
    """Without a lexer words may run together, in SQL as in Lark's Earley parser."""
    return ("longest",) if name == "sql" else LEXINGS


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_taken(name: str) -> None:
    assert len(set(GOOD[name])) >= MANY
    for text in GOOD[name]:
        assert OTHERS[name](text), text
        for lexing in lexings(name):
            assert takes(name, text, lexing), (text, lexing)
        if name == "sql":
            assert sqlite_says(text) == "" and sqlite3.complete_statement(text + ";"), text


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_refused(name: str) -> None:
    assert len(set(BAD[name])) >= MANY
    for text in BAD[name]:
        assert not OTHERS[name](text), text
        for lexing in lexings(name):
            assert not takes(name, text, lexing), (text, lexing)


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_left_out_on_purpose(name: str) -> None:
    for text in NARROWER[name]:
        assert OTHERS[name](text), text
        for lexing in lexings(name):
            assert not takes(name, text, lexing), (text, lexing)


PIECES: dict[str, tuple[bytes, ...]] = {
    "csv": (b'"a""', b'",', b"\r\n"),
    "date": (b"2024-02-", b"-02-29", b"T12:"),
    "email": (b"@", b"@x", b".", b'"', b"[1", b"a-"),
    "json": (b'{"a": ', b"[1, ", b'"\\u00e9"'),
    "python": (
        b"def f(",
        b"):\n    ",
        b"if ",
        b"else:\n",
        b"return ",
        b"class A",
        b"try:\n    ",
        b"except ",
        b"for x in ",
        b" else ",
        b"lambda ",
        b'f"',
        b"(\n",
        b",\n",
        b"import ",
        b"with ",
        b"\n    ",
        b"{",
        b" = ",
        b": ",
        b"@",
        b"*",
        b"'a'",
        b"yield",
    ),
    "sql": (
        b"SELECT ",
        b" FROM ",
        b" WHERE ",
        b" AND ",
        b"(",
        b"INSERT INTO ",
        b" VALUES (",
        b"UPDATE ",
        b" SET ",
        b"WITH ",
        b" JOIN ",
        b" ON ",
        b"CASE WHEN ",
        b" IN (",
        b"'a'",
        b"a1",
        b", ",
        b"DELETE FROM ",
        b" NOT ",
        b" OVER (",
    ),
    "url": (b"http://", b"://a", b"%2", b":8", b"@", b"/?"),
    "xml": (b"<item>", b"</item>", b'<note id="', b"<![CDATA["),
}
"""Tokens beside the bytes."""


@lru_cache
def some_texts(name: str, lexing: str, count: int) -> list[str]:
    """Random texts of a grammar: legal tokens for a while, then the shortest ending."""
    dice = random.Random(1)
    found = []
    tokens = [*(bytes([byte]) for byte in range(256)), *PIECES.get(name, ())]
    vocabulary = Vocabulary(tokens)
    liked = {
        index for index, data in enumerate(tokens) if index >= 256 or data == b"\n" or 32 <= data[0] < 127
    }
    constraint = constraint_of(name, lexing)
    for _ in range(count):
        matcher = constraint.matcher(vocabulary)
        for _ in range(dice.randrange(1, 60)):
            legal = [token for token in matcher.allowed().tolist() if token in liked]
            if not legal or (matcher.is_accepting() and dice.random() < 0.05):
                break
            long = [token for token in legal if token >= 256]
            assert matcher.accept(dice.choice(long if long and dice.random() < 0.5 else legal))
        assert matcher.accept_bytes(matcher.shortest_completion())
        found.append(matcher.text().decode())
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lexing"), [(name, lexing) for name in SHIPPED for lexing in lexings(name)])
def test_other_parsers_take_what_is_generated(name: str, lexing: str) -> None:
    for text in some_texts(name, lexing, examples(10)):
        assert OTHERS[name](text), text


@pytest.mark.parametrize("name", sorted(set(SHIPPED) - {"sql"}))
def test_either_lexing_takes_what_the_other_writes(name: str) -> None:
    """As the library says; of SQL, whose words would run together, only one is meant."""
    for text in some_texts(name, "dynamic", examples(10)):
        assert takes(name, text, "longest"), text
    for text in some_texts(name, "longest", examples(10)):
        assert takes(name, text, "dynamic"), text


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(SHIPPED) - {"csv", "python"}))
def test_lark_parses_what_is_generated(name: str) -> None:
    from lark import Lark

    lark = Lark((FOLDER / f"{name}.lark").read_text(encoding="utf-8"), parser="lalr")
    for text in some_texts(name, "longest", examples(10)):
        lark.parse(text)
