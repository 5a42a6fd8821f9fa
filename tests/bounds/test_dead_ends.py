"""Dead ends: legal texts that tokens of a vocabulary cannot go on from, against all ways to write them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.analysis.emptiness import few_words
from sglc.bytecode.code import Program
from sglc.cli import main
from sglc.commands.building.dead_ends import dead_ends
from sglc.driver import compile_source
from sglc.runtime.bounds.dead_ends import NEVER, DeadEnd, dead_end, lacking, spelled
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.source import Source
from sglc.types.language.language import language
from sglc.types.type import Alternatives, Constant, Type, matching


def vocabulary(*tokens: str) -> Vocabulary:
    return Vocabulary([token.encode() for token in tokens])


def of(type: Type, known: Vocabulary, stops: tuple[str, ...] = ()) -> DeadEnd | None:
    return dead_end(language(type, {}, surface="hole"), known, stops)


@pytest.mark.parametrize(
    ("pattern", "tokens", "found"),
    [
        ("ab", ["a", "b"], None),
        ("ab", ["ab"], None),
        ("abc", ["ab", "a", "bc"], b"ab"),
        ("[ab]+c", ["a", "b"], b""),  # no text ever ends
        ("a+(bc)?", ["a", "b", "c"], None),
        ("a+|ab+c", ["a", "ab"], b"ab"),
        ("a*b?", ["a"], None),  # what is written may end anywhere
        ("x(yy)*z", ["x", "y", "yz"], None),
        ("x(yy)*z", ["x", "yy", "yyz", "z"], None),
        ("x(yy)*z", ["x", "yy", "q"], b""),
        ("a*(xx)+b|a*c", ["a", "c", "x"], b"x"),
    ],
)
def test_a_place_that_nothing_leads_on_from(pattern: str, tokens: list[str], found: bytes | None) -> None:
    end = of(matching(pattern), vocabulary(*tokens))
    assert (None if end is None else end.text) == found


def test_a_value_that_no_tokens_write() -> None:
    known = vocabulary("tea", "c", "a", "f", "caf")
    end = of(Alternatives((Constant("tea"), Constant("café"))), known)
    assert end == DeadEnd("café".encode(), whole=True)
    assert of(Alternatives((Constant("tea"), Constant("face"))), vocabulary(*"teafc")) is None


def test_a_token_for_each_byte_is_the_proof() -> None:
    every = [bytes((byte,)) for byte in range(256) if byte not in NEVER]
    assert lacking(Vocabulary(every)) == frozenset()
    assert lacking(Vocabulary(every[1:])) == {0}
    assert of(matching("[ä-ü]+"), Vocabulary(every)) is None


TYPES = st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=4, unique=True)


@settings(max_examples=examples(60), deadline=None)
@given(words=TYPES, tokens=st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=5))
def test_nothing_is_overlooked(words: list[str], tokens: list[str]) -> None:
    """Every way to write tokens in a row, so long as a legal text begins with them, by brute force."""
    type = matching("|".join(map(re.escape, words)))
    known = vocabulary(*tokens)
    reached, waiting = {""}, [""]
    while waiting:
        text = waiting.pop()
        for token in tokens:
            more = text + token
            if more not in reached and any(word.startswith(more) for word in words):
                reached.add(more)
                waiting.append(more)
    ending, size = reached & set(words), -1
    while len(ending) > size:
        size = len(ending)
        ending |= {text for text in reached for token in tokens if text + token in ending}
    dead = reached - ending
    lost = [word for word in words if word not in reached]
    end = of(type, known)
    assert (end is not None) == bool(dead or lost)
    if end is not None:
        assert end.text.decode() in (lost if end.whole else dead)
    assert [spelled(word.encode(), known) for word in words] == [word in reached for word in words]


def test_the_finding_says_which_model_where_and_why() -> None:
    text = 'pub fn f() -> str:\n    | ?{x: "tea" | "café" max 9 tok} and ?{n: int in 0..5}\n    return x\n'
    program = compile_source(Source("p.sgl", text)).program
    assert isinstance(program, Program)
    known = vocabulary(*"teacf 0123456789\nand", " and")
    (found,) = dead_ends(program, known, "tiny")
    assert "the tokens of tiny cannot write every value of hole `f.x`" in found.message
    assert found.witness == '"café"' and "`é`" in found.reason and found.code == "W0250"
    assert found.span is not None and found.span.source.position(found.span.start)[0] == 2
    assert few_words(language(Constant("tea"), {}, surface="hole"), 2) == (b"tea",)


def test_check_with_a_model_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Tokenizer:
        def encode(self, text: str) -> list[int]:
            return list(text.encode())

        def vocabulary(self) -> Vocabulary:
            return vocabulary(*"teacf \n")

    monkeypatch.setattr("sglc.commands.building.masks.read_tokenizer", lambda invocation, model: Tokenizer())
    path = tmp_path / "p.sgl"
    path.write_text('pub fn f() -> str:\n    | ?{x: "tea" | "café"}\n    return x\n', encoding="utf-8")
    assert main(["check", str(path), "--model", "tiny", "--strict"]) == 1
    assert "W0250" in capsys.readouterr().err
    assert main(["check", str(path), "--strict"]) == 0
    path.write_text('pub fn f() -> str:\n    | ?{x: "tea" | "face"}\n    return x\n', encoding="utf-8")
    assert main(["check", str(path), "--model", "tiny", "--strict"]) == 0
