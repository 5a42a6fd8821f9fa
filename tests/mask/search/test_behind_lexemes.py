"""What follows a lexeme at once: masks are those of reading each token."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Bytes, Language, Sequence, Text
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.lexeme.table import LexemeState
from sglc.runtime.mask.lexeme.text_dfa import TextTable
from sglc.runtime.mask.lexeme.text_lexeme import TextLexeme
from sglc.runtime.mask.search.lexeme_walks import LexemeWalks
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

_ALONE = itertools.count(900_000)
"""Limits that no other constraint has: each makes a machine of its own."""


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_a_word_that_may_follow_a_name_at_once(data: st.DataObject) -> None:
    """Where a word may follow a name at once, most tokens of letters are legal as the name alone."""
    letters = st.text("endx,", min_size=1, max_size=6)
    tokens = [*"endx, ", "end", *data.draw(st.lists(letters, max_size=30, unique=True))]
    vocabulary = Vocabulary([token.encode() for token in dict.fromkeys(tokens)])
    grammar = 'start: (NAME "end" | NAME "," | ",e" NAME)+\nNAME: /[a-z]+/\n'
    options = ConstraintOptions(max_terms=next(_ALONE))
    matcher = compile_constraint(grammar=grammar, options=options).matcher(vocabulary)
    for _ in range(8):
        found = set(vocabulary.unpack(matcher.mask()).tolist())
        steps = [matcher.clone() for _ in vocabulary.token_bytes]
        assert found == {n for n, data in enumerate(vocabulary.token_bytes) if steps[n].accept_bytes(data)}
        assert matcher.accept(data.draw(st.sampled_from(sorted(found))))


@pytest.mark.parametrize("behind", [b"", b"!", b"!b"])
@pytest.mark.parametrize("pattern", ["[a-z]*a[a-z]*", "[a-z ]*(ab|cd|e{3,90}f)[a-z ]*"])
def test_a_uniform_text_with_and_without_something_behind(pattern: str, behind: bytes) -> None:
    """Where nothing follows, it does not matter where the text may be left; where something does, it does."""
    words = ["a", "b", "c", "d", "e", "f", "!", "ab", "b!", "ab!", "cd!a", "eee", "eef!", "x", "xa", "a!b"]
    vocabulary = Vocabulary([word.encode() for word in words])
    term = Sequence((Text(compile_regex(pattern), "raw"), Bytes(behind)))
    options = ConstraintOptions(max_terms=next(_ALONE))
    matcher = compile_constraint(language=Language(term), options=options).matcher(vocabulary)
    for word in ("x", "ab", "eee", "a", "b"):
        taken = [matcher.clone().accept_bytes(data) for data in vocabulary.token_bytes]
        assert set(vocabulary.unpack(matcher.mask()).tolist()) == set(np.flatnonzero(taken).tolist())
        assert matcher.accept(words.index(word))


def test_a_lexeme_is_not_left_where_all_tokens_below_are_legal() -> None:
    """A name may follow a name at once, and so end before every letter of every token; what follows it is
    looked at where a token has more than letters."""
    words = [bytes(word) for word in itertools.product(b"abcdef", repeat=3)]
    vocabulary = Vocabulary([*words, b"ab=", b"a+b", b"+", b"="])
    lexeme = TextLexeme(TextTable(compile_regex("[a-f]+"), "raw"))
    walks = LexemeWalks(vocabulary, 10)
    first = np.zeros(256, bool)
    first[list(b"abcdef=+")] = True
    found, _ = walks.lexeme(LexemeState(lexeme, lexeme.number(1)), first)
    # Not before the letters of the other 216 tokens.
    assert [walks.whole.path(node) for node in found.boundaries.tolist()] == [b"a+", b"ab", b"ab="]
    assert found.row is not None
    assert vocabulary.unpack(found.row).tolist() == list(range(len(words)))


@pytest.mark.parametrize("begin", [b'"a', b'"(?:a', b'"[a'])
def test_characters_of_a_pattern_are_not_followed_one_by_one(begin: bytes) -> None:
    """Inside of the format `regex` nearly every text may go on with every character."""
    words = [bytes(word) for word in itertools.product(b"abcd", repeat=3)]
    vocabulary = Vocabulary([*words, b"(", b")", b"]", b"a]", b"b|", b'"'])
    matcher = compile_constraint(json_schema={"type": "string", "format": "regex"}).matcher(vocabulary)
    assert matcher.accept_bytes(begin)
    trace = matcher.trace_mask()
    assert trace.tokens > len(words)
    assert trace.entries < len(words)
