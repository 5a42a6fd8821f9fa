"""One walk of a leaf serves whatever follows it: it says the same as a walk for just that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from sglc.automata.regex import compile_regex
from sglc.automata.term import Text
from sglc.runtime.mask.followed import FollowedLeaves
from sglc.runtime.mask.leaf import LeafPlace
from sglc.runtime.mask.leaf_mask import LeafMask
from sglc.runtime.mask.leaf_walks import LeafWalks
from sglc.runtime.mask.text import TextTable
from sglc.runtime.mask.text_leaf import TextLeaf
from sglc.runtime.mask.vocabulary import Vocabulary

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
