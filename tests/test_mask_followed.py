"""One walk of a leaf serves whatever follows it: it says the same as a walk for just that."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Bytes, Language, Sequence, Text
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.lexeme.table import LeafPlace
from sglc.runtime.mask.lexeme.text_dfa import TextTable
from sglc.runtime.mask.lexeme.text_lexeme import TextLeaf
from sglc.runtime.mask.search import walk_result as leaf_mask
from sglc.runtime.mask.search.follow_filter import FollowedLeaves
from sglc.runtime.mask.search.lexeme_walks import LeafWalks
from sglc.runtime.mask.search.walk_result import LeafMask
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

_ALONE = itertools.count(900_000)
"""Limits that no other constraint has: each makes a machine of its own."""
PATTERNS = ("[a-z]+", "[a-z_][a-z0-9_]*", "[0-9]+(\\.[0-9]+)?", '[^"\\\\]*', "(ab|ac)*", "[a-zé€]{1,40}")
PIECES = (
    "a",
    "b",
    "ab",
    "ac",
    "_",
    "0",
    "12",
    ".",
    ".5",
    " ",
    "(",
    ",",
    "+",
    '"',
    "é",
    "€",
    "x y",
    "a(",
    "b, ",
)


def legal(vocabulary: Vocabulary, found: LeafMask, inside: np.ndarray | None) -> set[int]:
    row = np.zeros(vocabulary.words, np.int32)
    for part in (found.row, inside):
        if part is not None:
            row |= part
    return set(vocabulary.unpack(row).tolist())


@pytest.mark.parametrize("encoding", ["raw", "json"])
@settings(max_examples=examples(80), deadline=None)
@given(data=st.data())
def test_exits_are_those_of_a_walk_for_these_bytes(encoding: str, data: st.DataObject) -> None:
    tokens = data.draw(
        st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join), max_size=30)
    )
    vocabulary = Vocabulary([token.encode() for token in dict.fromkeys([*PIECES, *tokens])])
    term = Text(compile_regex(data.draw(st.sampled_from(PATTERNS))), encoding)  # type: ignore[arg-type]
    leaf = TextLeaf(TextTable(term.dfa, term.encoding))
    place = LeafPlace(leaf, leaf.number(0))
    followed = FollowedLeaves(LeafWalks(vocabulary, 50), data.draw(st.sampled_from((1, 50))))
    for some in data.draw(st.lists(st.sets(st.sampled_from(b' (,+".xa0_)')), min_size=1, max_size=6)):
        first = np.zeros(256, bool)
        first[list(some)] = True
        found, inside = followed.leaf(place, first)
        alone, within = LeafWalks(vocabulary, 50).leaf(place, first)
        assert legal(vocabulary, found, inside) == legal(vocabulary, alone, within)
        assert found.exits.tolist() == alone.exits.tolist()
        assert found.ends.tolist() == alone.ends.tolist()
        assert found.nested == alone.nested


@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_exits_below_which_all_tokens_are_legal_are_left_out(data: st.DataObject) -> None:
    """Where a word may follow a name at once, most tokens of letters are legal as the name alone."""
    letters = st.text("endx,", min_size=1, max_size=6)
    tokens = [*"endx, ", "end", *data.draw(st.lists(letters, max_size=30, unique=True))]
    vocabulary = Vocabulary([token.encode() for token in dict.fromkeys(tokens)])
    grammar = 'start: (NAME "end" | NAME "," | ",e" NAME)+\nNAME: /[a-z]+/\n'
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaf_mask, "_MANY_EXITS", data.draw(st.sampled_from((1, 1_000))))
        options = ConstraintOptions(max_terms=next(_ALONE))
        matcher = compile_constraint(grammar=grammar, options=options).matcher(vocabulary)
        for _ in range(8):
            found = set(vocabulary.unpack(matcher.mask()).tolist())
            steps = [matcher.clone() for _ in vocabulary.token_bytes]
            assert found == {
                n for n, data in enumerate(vocabulary.token_bytes) if steps[n].accept_bytes(data)
            }
            assert matcher.accept(data.draw(st.sampled_from(sorted(found))))


def test_what_is_left_out_is_not_followed() -> None:
    vocabulary = Vocabulary([bytes([byte]) for byte in b"abc ,"] + [b"ab", b"abc", b"a,", b"ab,c", b"bc"])
    term = Text(compile_regex("[a-z]+"), "raw")
    leaf = TextLeaf(TextTable(term.dfa, term.encoding))
    place = LeafPlace(leaf, leaf.number(0))
    first = np.zeros(256, bool)
    first[list(b"bc,")] = True
    every, inside = LeafWalks(vocabulary, 50).leaf(place, first)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaf_mask, "_MANY_EXITS", 1)
        some, within = LeafWalks(vocabulary, 50).leaf(place, first)
    assert legal(vocabulary, every, inside) == legal(vocabulary, some, within)
    # Of a letter inside of `ab,c` it is not known that all below it is legal.
    assert set(some.exits.tolist()) < set(every.exits.tolist())
    paths = LeafWalks(vocabulary, 50).whole.paths(some.exits)
    assert sorted(paths) == [b"a,", b"ab", b"ab,"]


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
