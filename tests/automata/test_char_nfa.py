"""Patterns made deterministic as texts go, held against their minimal automata."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from example_budget import examples
from oracles.term_oracle import accepts, viable
from sglc.automata.analysis.ambiguity import junction_conflict, overlap
from sglc.automata.analysis.bracket_balance import is_bracketed
from sglc.automata.analysis.emptiness import is_finite, shortest_words
from sglc.automata.dfa import operations as dfa
from sglc.automata.dfa import subset_construction
from sglc.automata.dfa.subset_construction import Subsets, has_cycle
from sglc.automata.regex.compile import RegexError, compile_regex
from sglc.automata.regex.to_term import regex_term
from sglc.automata.term import Bytes, CharDfa, CharNfa, Language, Pattern, Sequence, Term, Text
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.lexeme import self_loops
from strategies.byte_vocabulary import BYTE_VOCABULARY, EXAMPLES, some
from strategies.mask_cases import brute_force, mask_of, prefixes, vocabularies
from strategies.regex_automata import SUFFIXES, nfa_of
from strategies.regex_patterns import patterns


def whole(nfa: CharNfa) -> tuple[CharDfa, int]:
    """The canonical automaton of all subsets, and how many there are."""
    made = Subsets(nfa)
    rows = []
    state = 0
    while state < made.count:
        rows.append([(((low, high),), target) for low, high, target in made.edges(state)])
        state += 1
    return dfa.build(rows, [state for state in range(len(rows)) if made.ends(state)]), len(rows)


@pytest.mark.slow
@settings(max_examples=examples(120))
@given(patterns(), st.booleans())
def test_subsets_are_the_automaton_of_the_pattern(pattern: str, anchored: bool) -> None:
    assume(not re.search(r"\(\?<?[=!]", pattern))
    try:
        expected = compile_regex(pattern, anchored=anchored, limit=300)
    except RegexError:
        assume(False)
    nfa = nfa_of(pattern, anchored)
    if nfa is None:
        assert expected == dfa.NONE
        return
    found, count = whole(nfa)
    assert found == expected
    assert subset_construction.accepts(nfa, "ab") == dfa.accepts(expected, "ab")
    assert has_cycle(nfa) != dfa.is_finite(expected)
    # Trimming took nothing away: no state of the pattern leads to a dead end.
    made = Subsets(nfa)
    for state in range(min(count, 20)):
        for low, high, target in made.edges(state):
            assert made.after(state, low) == made.after(state, high) == target


@pytest.mark.slow
@settings(max_examples=examples(24))
@given(patterns(), st.sampled_from(("raw", "json", "json-any")))
def test_questions_about_patterns_are_those_about_texts(pattern: str, encoding: str) -> None:
    assume(not re.search(r"\(\?<?[=!]", pattern))
    try:
        text = Text(compile_regex(pattern, limit=300), encoding)
    except RegexError:
        assume(False)
    nfa = nfa_of(pattern)
    assume(nfa is not None)
    term = Pattern(nfa, encoding)
    for count in (1, 5):
        words, expected = (shortest_words(Language(each), count) for each in (term, text))
        assert list(map(len, words)) == list(map(len, expected))
        assert all(accepts(Language(text), word) for word in words)
    assert is_finite(Language(term)) == is_finite(Language(text))
    for other in (Bytes(b"ab"), Bytes(b"a1")):
        assert (overlap(Language(term), Language(other)) is None) == (
            overlap(Language(text), Language(other)) is None
        )
    conflicts = [junction_conflict(Language(each), "b") for each in (term, text)]
    assert (conflicts[0] is None) == (conflicts[1] is None)
    proofs = [is_bracketed(Language(Sequence((Bytes(b"["), each, Bytes(b"]"))))) for each in (term, text)]
    assert proofs[0] == proofs[1] or not nfa.edges


def around(item: Term) -> Language:
    return Language(Sequence((Bytes(b'["'), item, Bytes(b'"]'))))


@pytest.mark.parametrize("walked", [True, False])
@some(EXAMPLES // 2)
@given(st.data(), patterns(), st.sampled_from(("raw", "json", "json-any")), st.booleans())
def test_masks_of_patterns_are_exact(walked, data, pattern, encoding, quoted) -> None:
    assume(not re.search(r"\(\?<?[=!]", pattern))
    try:
        text = Text(compile_regex(pattern, limit=300), encoding)
    except RegexError:
        assume(False)
    nfa = nfa_of(pattern)
    assume(nfa is not None)
    expected = around(text) if quoted else Language(text)
    language = around(Pattern(nfa, encoding)) if quoted else Language(Pattern(nfa, encoding))
    vocabulary = data.draw(vocabularies(expected))
    prefix = data.draw(prefixes(expected))
    few = self_loops._FEW
    self_loops._FEW = few if walked else 1
    self_loops.self_loop_class.cache_clear()
    try:
        matcher = compile_constraint(language=language).matcher(vocabulary)
        assert matcher.accept_bytes(prefix)
        assert mask_of(matcher, vocabulary) == brute_force(expected, prefix, vocabulary)
    finally:
        self_loops._FEW = few
        self_loops.self_loop_class.cache_clear()
    assert matcher.is_accepting() == accepts(expected, prefix)
    ending = matcher.shortest_completion()
    assert accepts(expected, prefix + ending)
    assert len(ending) == min(
        (len(word) - len(prefix) for word in shortest_words(expected, 60) if word.startswith(prefix)),
        default=len(ending),
    )


def test_large_automata_are_patterns() -> None:
    words = "|".join(f"{number * 2654435761 % 26**5:x}" for number in range(600))
    for pattern in (SUFFIXES, rf"\b{SUFFIXES}\b", f"[a-z0-9 ]*({words})[a-z0-9 ]*"):
        term = regex_term(pattern)
        assert isinstance(term, Pattern)
        matcher = compile_constraint(language=Language(term)).matcher(BYTE_VOCABULARY)
        assert viable(Language(Bytes(matcher.shortest_completion())), b"")
    assert isinstance(regex_term(SUFFIXES.replace("14", "4")), Text)
    matcher = compile_constraint(regex=SUFFIXES).matcher(BYTE_VOCABULARY)
    assert matcher.accept_bytes(b"ab" * 40)
    assert sorted(matcher.allowed().tolist()) == [0x61, 0x62]
    text = "ba" * 30 + "a" + "b" * 14
    twin = matcher.clone()
    assert twin.accept_bytes(text.encode()) and twin.is_accepting()
    assert twin.accept_bytes(b"b") and not twin.is_accepting()
    assert twin.shortest_completion() == b"aaaaaaaaaaaaaaa"


def test_subsets_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subset_construction, "MOST_STATES", 50)
    matcher = compile_constraint(language=Language(Pattern(nfa_of(SUFFIXES)))).matcher(BYTE_VOCABULARY)
    with pytest.raises(ConstraintError, match="more than 50 states"):
        for number in range(200):
            matcher.accept_bytes(f"{number:08b}".replace("0", "a").replace("1", "b").encode())
    assert set(matcher.text()) <= set(b"ab")


def test_patterns_that_are_too_large_are_refused() -> None:
    with pytest.raises(RegexError, match=r"too many states|too costly"):
        regex_term("^(" + "(a?b?){30}" * 30 + ")*c")
