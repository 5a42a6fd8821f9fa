"""The target `gbnf`, judged by llama.cpp's own parser where the npm package `node-llama-cpp` is installed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from checkout import EXAMPLES
from example_budget import examples
from judges.llama_cpp import judged, needs_llama_cpp
from sglc.automata.analysis.membership import is_word
from sglc.cfg.notation.print_gbnf import to_gbnf
from sglc.check.program import check
from sglc.library import Library
from sglc.lower.program import lower
from sglc.source import Source
from sglc.targets.core.target import Subject
from sglc.targets.grammars.holes import holes_of, in_grammar
from sglc.targets.projection.grammars.term_grammar import Refused, TermGrammar
from sglc.types.language.language import language
from strategies.near_misses import mutated
from strategies.typed_values import has_words, types, words_of

LONGEST = 400
"""Characters of a text that the parser is asked about: it goes through them with every stack of a grammar."""

pytestmark = needs_llama_cpp


def test_the_judge_tells_whole_texts_from_beginnings() -> None:
    (found, fault) = judged(
        [('root ::= "ab" [0-9]{1,2}', ["ab1", "ab12", "ab", "ab123", ""]), ("root ::= (", [])]
    )
    assert found == [True, True, False, False, False]
    assert isinstance(fault, str)


@pytest.mark.slow
def test_every_hole_of_the_examples() -> None:
    """Some 500 members and as many texts that are nearly one, of all holes that a grammar says exactly."""
    cases, expected = [], []
    for path in sorted(EXAMPLES.glob("*.sgl")):
        checked, _ = check(Source(str(path), path.read_text(encoding="utf-8")), Library())
        assert checked is not None
        for hole in holes_of(Subject(checked, lower(checked))):
            writer, losses = in_grammar(hole)
            if writer is None or losses:
                continue
            texts = texts_of(hole.language)
            cases.append((to_gbnf(writer.grammar()), texts))
            expected.append((f"{path.stem}: {hole.name}", [is_word(hole.language, text) for text in texts]))
    assert sum(said.count(True) for _, said in expected) > 400
    assert sum(said.count(False) for _, said in expected) > 400
    for (name, said), found in zip(expected, judged(cases), strict=True):
        assert found == said, name


def texts_of(found, count: int = 25) -> list[str]:
    """Words of a language, and changed ones."""
    texts: list[str] = []

    @settings(
        max_examples=count, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None
    )
    @given(words_of(found))
    def collect(word: bytes) -> None:
        text = word.decode()
        if len(text) < LONGEST:
            texts.extend((text, mutated(text, len(texts))))

    collect()
    return texts


@pytest.mark.slow
@settings(max_examples=examples(6), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_grammars_of_random_types(data: st.DataObject) -> None:
    """A call of node for a dozen types at once: it takes longer to start than to judge."""
    cases, expected = [], []
    for type_, table in data.draw(st.lists(types(), min_size=12, max_size=12)):
        assume(has_words(type_, table))
        found = language(type_, table, surface=data.draw(st.sampled_from(["hole", "json"])))
        writer = TermGrammar(found)
        try:
            writer.write()
        except Refused:
            continue
        if writer.lost:
            continue
        word = data.draw(words_of(found)).decode()
        texts = [text for text in (word, *(mutated(word, seed) for seed in range(4))) if len(text) < LONGEST]
        cases.append((to_gbnf(writer.grammar()), texts))
        expected.append([is_word(found, text) for text in texts])
    assert judged(cases) == expected
