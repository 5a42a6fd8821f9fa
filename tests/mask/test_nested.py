"""Texts that may end at many places of one token, so that walks go on below one another."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Bytes, Language, Sequence, Text
from sglc.kernels.jit_library import use_reference
from sglc.kernels.trie import api
from sglc.kernels.trie.api import SubtreeWalk
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

BLANKS = tuple(b" " * size for size in range(1, 40))


@pytest.mark.slow
@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("pairs", [1, 2, 5])
def test_runs_of_blanks_between_texts_of_blanks(pairs, reference):
    blanks, more = (Text(compile_regex(pattern), "raw") for pattern in (" *", "[ x]*"))
    language = Language(Sequence((Bytes(b"<"), *(blanks, more) * pairs, blanks, Bytes(b">"))))
    tokens = (b"<", b">", b"x", b"y", *BLANKS, b"  x  x  >", b"  x  x  y", b" <", b"R" if reference else b"C")
    vocabulary = Vocabulary(tokens)
    row = np.zeros(vocabulary.words, np.int32)
    # The reference finds an index that lies outside of its array.
    use_reference(reference)
    try:
        matcher = compile_constraint(language=language).matcher(vocabulary)
        for begin in (b"<", b" ", b"x"):
            assert matcher.accept_bytes(begin)
            matcher.fill_mask(row)
            for index, token in enumerate(tokens):
                legal = bool(row[index >> 5] >> (index & 31) & 1)
                assert legal == matcher.clone().accept_bytes(token), (begin, token)
    finally:
        use_reference(False)


@given(
    st.lists(st.binary(min_size=1, max_size=6).map(lambda word: bytes(b & 1 for b in word)), min_size=1),
    st.randoms(use_true_random=False),
)
def test_layers_are_apart(words, random):
    vocabulary = Vocabulary(words)
    walk = SubtreeWalk(vocabulary.arrays, vocabulary.subtrees)
    every = range(len(walk.trie.byte))
    nodes = np.array(sorted(random.sample(every, random.randint(1, len(every)))), np.int32)
    layers = walk.layers(nodes)
    above = {node: sum(other < node < walk.trie.end[other] for other in nodes) for node in nodes.tolist()}
    assert [layer.tolist() for layer in layers] == [
        [node for node in nodes.tolist() if above[node] == level] for level in range(len(layers))
    ]
    assert max(above.values()) < len(layers) and not any(walk.nested(layer) for layer in layers)
    for reference in (False, True):
        use_reference(reference)
        try:
            assert walk.nested(nodes) == any(above.values())
        finally:
            use_reference(False)


@given(
    st.lists(
        st.binary(min_size=1, max_size=6).map(lambda word: bytes(b"\\a"[b & 1] for b in word)), min_size=1
    ),
    st.randoms(use_true_random=False),
    st.integers(0, 12),
)
def test_portions_are_as_long_as_there_is_room_for_what_a_walk_may_meet(words, random, more):
    vocabulary = Vocabulary(words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "JOINED", more)
        walk = SubtreeWalk(vocabulary.arrays, vocabulary.subtrees)
    byte, end = walk.trie.byte.tolist(), walk.trie.end.tolist()
    nodes = sorted(random.sample(range(len(byte)), random.randint(1, len(byte))))
    portions = [part.tolist() for part in walk.portions(np.array(nodes, np.int32))]
    assert [node for part in portions for node in part] == nodes

    def fits(part):
        met = [byte[below] for node in part for below in range(node, end[node])]
        return len(met) <= len(byte) + more and met.count(0x5C) <= byte.count(0x5C) + more

    assert all(map(fits, portions))
    assert not any(fits([*part, following[0]]) for part, following in pairwise(portions))


@pytest.mark.parametrize("reference", [False, True])
@given(
    st.lists(st.binary(min_size=1, max_size=4).map(lambda word: bytes(b & 3 for b in word)), min_size=1),
    st.randoms(use_true_random=False),
)
def test_tokens_at_nodes_are_set(reference, words, random):
    vocabulary = Vocabulary(words + words[:2])
    trie, walk = vocabulary.trie, SubtreeWalk(vocabulary.arrays, vocabulary.subtrees)
    nodes = sorted(random.sample(range(len(trie.byte)), random.randint(1, len(trie.byte))))
    row = np.zeros(vocabulary.words, np.int32)
    use_reference(reference)
    try:
        walk.set_tokens(np.array(nodes, np.int32), row)
        assert set(vocabulary.unpack(row).tolist()) == {index for node in nodes for index in trie.ids(node)}
    finally:
        use_reference(False)
