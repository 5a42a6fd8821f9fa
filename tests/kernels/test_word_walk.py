"""The walk of a sorted list of words: compiled and reference do the same, and that is what words mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.subtree_walks import both_ways, subtrees, trie_of
from sglc.kernels.trie.api import SubtreeWalk
from sglc.kernels.trie.arrays import TrieArrays
from sglc.kernels.trie.word_list import WordList

pytest.importorskip("llvmlite")

LETTERS = st.sampled_from(list(b"\\ab\x00\xff"))
TEXTS = st.lists(LETTERS, max_size=5).map(bytes)


@pytest.mark.slow
@given(
    st.lists(TEXTS, min_size=1, max_size=60),
    st.sets(TEXTS, min_size=1, max_size=40),
    st.data(),
    st.booleans(),
)
def test_words_are_walked(tokens, chosen, data, escapes) -> None:
    trie = trie_of([token or None for token in tokens])
    words = sorted(chosen)
    prefix = data.draw(st.sampled_from(words))
    prefix = prefix[: data.draw(st.integers(0, len(prefix)))]
    inside = [index for index, word in enumerate(words) if word.startswith(prefix)]
    place = (inside[0], inside[-1] + 1, len(prefix))
    follow = {byte for byte in range(256) if data.draw(st.booleans()) and byte in b"\\ab\x00\xff"}
    first = np.array([byte in follow for byte in range(256)], bool)
    roots = np.flatnonzero(trie.depth == 1).astype(np.int32)

    def run() -> object:
        mask = np.zeros(trie.words, np.int32)
        found = SubtreeWalk(trie).words(roots, WordList(words), place, first, mask, escapes)
        return mask.tobytes(), *(part.tolist() for part in found)

    compiled, reference = both_ways(run)
    assert compiled == reference
    mask, boundaries, ends, asides, origins = compiled
    bits = np.unpackbits(np.frombuffer(mask, np.uint8), bitorder="little")
    paths = paths_of(trie)
    rests = [word[len(prefix) :] for word in words[place[0] : place[1]]]
    for index, token in enumerate(tokens):
        legal = bool(token) and any(rest.startswith(token) for rest in rests)
        assert bool(bits[index]) == legal
    assert boundaries == [
        node for node, path in enumerate(paths) if path[:-1] and path[:-1] in rests and path[-1] in follow
    ]
    assert [words[end][len(prefix) :] for end in ends] == [paths[node][:-1] for node in boundaries]
    reached = [
        node
        for node, path in enumerate(paths)
        if path[-1:] == b"\\" and any(rest.startswith(path[:-1]) for rest in rests)
    ]
    assert asides == (reached if escapes else [])
    for node, (low, high, read) in zip(asides, origins, strict=True):
        begin = prefix + paths[node][:-1]
        same = [index for index, word in enumerate(words) if word.startswith(begin)]
        assert (low, high, read) == (same[0], same[-1] + 1, len(begin))


@given(
    st.lists(TEXTS, min_size=1, max_size=60),
    st.sets(TEXTS, min_size=1, max_size=100),
    st.data(),
    st.booleans(),
)
def test_words_that_are_left_out(tokens, chosen, data, escapes) -> None:
    """A walk of the words whose labels are open is that of a list of these words alone."""
    trie = trie_of([token or None for token in tokens])
    words = sorted(chosen)
    labels = data.draw(st.permutations(range(len(words))))
    open = set(data.draw(st.lists(st.sampled_from(labels), max_size=len(words))))
    left = [word for word, label in zip(words, labels, strict=True) if label in open]
    prefix = data.draw(st.sampled_from(words))
    prefix = prefix[: data.draw(st.integers(0, len(prefix)))]
    first = np.array([byte in b"\\ab" for byte in range(256)], bool)
    roots = np.flatnonzero(trie.depth == 1).astype(np.int32)
    bits = np.frombuffer(sum(1 << label for label in open).to_bytes(16, "little"), np.uint64)
    limited = WordList(words).only(np.array(labels, np.int32), bits)

    def walk(names: WordList, every: list[bytes]) -> tuple[object, ...]:
        inside = [number for number, word in enumerate(every) if word.startswith(prefix)]
        mask = np.zeros(trie.words, np.int32)
        if not inside:
            return mask.tobytes(), [], [], [], []
        place = (inside[0], inside[-1] + 1, len(prefix))
        found = SubtreeWalk(trie).words(roots, names, place, first, mask, escapes)
        on = names.goes_on(found.origins)
        ends = [every[number] for number in found.ends.tolist()]
        return mask.tobytes(), found.boundaries.tolist(), ends, found.asides.tolist(), on

    compiled, reference = both_ways(lambda: walk(limited, words))
    assert compiled == reference
    assert compiled == walk(WordList(left), left)


@given(
    subtrees(), st.sets(st.binary(min_size=1, max_size=4).map(lambda b: bytes(x & 3 for x in b)), min_size=1)
)
def test_subtrees_are_walked_alike(case: tuple[TrieArrays, np.ndarray], chosen: set[bytes]) -> None:
    trie, entries = case
    words = sorted(chosen)

    def run() -> object:
        mask = np.zeros(trie.words, np.int32)
        follow = np.ones(256, bool)
        found = SubtreeWalk(trie).words(entries, WordList(words), (0, len(words), 0), follow, mask, False)
        return mask.tobytes(), found.boundaries.tolist(), found.ends.tolist()

    compiled, reference = both_ways(run)
    assert compiled == reference


def paths_of(trie: TrieArrays) -> list[bytes]:
    """The bytes from the root to each node, its own included."""
    paths: list[bytes] = []
    stack: list[bytes] = [b""]
    for byte, depth in zip(trie.byte.tolist(), trie.depth.tolist(), strict=True):
        del stack[depth:]
        stack.append(stack[-1] + bytes([byte]))
        paths.append(stack[-1])
    return paths
