"""The walks of token subtrees: the compiled ones do what the reference says, and pausing changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.subtree_walks import BYTES, both_ways, subtrees, trie_of
from sglc.kernels.trie.api import UNBOUNDED, SubtreeWalk
from sglc.kernels.trie.arrays import LexemeArrays, Quiet, TrieArrays
from sglc.kernels.trie.walks import BOUNDARY, ENDS, KNOWN, NO_MOVE

pytest.importorskip("llvmlite")


firsts = st.sets(st.integers(0, BYTES - 1)).map(
    lambda chosen: np.array([byte in chosen for byte in range(256)], bool)
)


@given(subtrees(), st.data())
def test_rows(case: tuple[TrieArrays, np.ndarray], data: st.DataObject) -> None:
    trie, entries = case
    states = data.draw(st.integers(1, 5))
    rows = np.zeros((states, 256), np.int32)
    for state in range(states):
        for byte in range(BYTES):
            rows[state, byte] = data.draw(st.integers(0, states))
    start = data.draw(st.integers(1, states))
    made = data.draw(st.sets(st.integers(1, states)))
    refused = data.draw(st.sets(st.integers(1, states), max_size=1)) - made

    def run() -> object:
        row_of = np.array([-1, *(s - 1 if s in made else -1 for s in range(1, states + 1))], np.int32)
        mask, asked = np.zeros(trie.words, np.int32), []

        def fill(state: int, entry: int, node: int) -> bool:
            asked.append((state, entry, node))
            if state in refused:
                return False
            row_of[state] = state - 1
            return True

        SubtreeWalk(trie).rows(entries, start, mask, lambda: (rows, row_of), fill)
        return mask.tolist(), asked

    compiled, reference = both_ways(run)
    assert compiled == reference


@dataclass
class RandomLeaf:
    arrays: LexemeArrays
    start: int
    least: int
    most: int


@st.composite
def leaves(draw: st.DrawFn) -> RandomLeaf:
    states = draw(st.integers(1, 5))
    rows = np.full((states, 256), NO_MOVE, np.int32)
    for state in range(states):
        for byte in range(BYTES):
            rows[state, byte] = draw(st.integers(-1, states - 1))
    flags = np.array([draw(st.sampled_from([0, BOUNDARY, BOUNDARY | ENDS])) for _ in range(states)], np.uint8)
    lo = np.array([draw(st.integers(0, 3)) for _ in range(states)], np.int32)
    hi = lo + np.array([draw(st.sampled_from([0, 1, 4, UNBOUNDED])) for _ in range(states)], np.int32)
    return RandomLeaf(
        LexemeArrays(
            rows=rows,
            flags=flags,
            lo=lo,
            hi=hi.astype(np.int32),
            labels=np.zeros((1, 0), np.uint64),
        ),
        draw(st.integers(0, states - 1)),
        draw(st.integers(0, 4)),
        draw(st.sampled_from([2, 3, 6, UNBOUNDED])),
    )


@given(subtrees(), leaves(), firsts, st.none() | firsts, st.data())
def test_leaf(
    case: tuple[TrieArrays, np.ndarray],
    leaf: RandomLeaf,
    first: np.ndarray,
    calm: np.ndarray | None,
    data: st.DataObject,
) -> None:
    trie, entries = case
    quiet = None
    if calm is not None:
        words = st.sampled_from((0, 1, 2, 3, 5, 1 << 63))
        below = np.array([[data.draw(words), data.draw(words)] for _ in trie.byte], np.uint64).reshape(-1, 2)
        home = data.draw(st.integers(-1, len(leaf.arrays.lo) - 1))
        groups = np.array([data.draw(words), data.draw(words)], np.uint64)
        quiet = Quiet(below=below, bytes=calm, groups=groups, home=home)
    eager = data.draw(st.integers(0, 1))
    width = data.draw(st.integers(0, 2))
    sets = st.lists(st.integers(0, 7), min_size=width, max_size=width)
    labels = np.array([data.draw(sets) for _ in leaf.arrays.lo], np.uint64).reshape(
        len(leaf.arrays.lo), width
    )
    opened = np.array(data.draw(sets), np.uint64)

    def run() -> object:
        old = leaf.arrays
        mask, asked = np.zeros(trie.words, np.int32), []
        arrays = old.changed(flags=old.flags.copy(), labels=labels)

        def fill(state: int) -> None:
            asked.append(state)
            arrays.flags[state] |= KNOWN

        place = (leaf.start, leaf.least, leaf.most, eager)
        boundaries, ends, reach = SubtreeWalk(trie).lexeme(
            entries, place, first, mask, lambda: arrays, fill, quiet, opened
        )
        return mask.tolist(), boundaries.tolist(), ends.tolist(), reach, asked

    compiled, reference = both_ways(run)
    assert compiled == reference


@given(subtrees(), st.lists(st.integers(0, BYTES - 1), min_size=1, max_size=4).map(bytes))
def test_literal(case: tuple[TrieArrays, np.ndarray], data: bytes) -> None:
    trie, entries = case

    def run() -> object:
        mask = np.zeros(trie.words, np.int32)
        return SubtreeWalk(trie).literal(entries, data, mask).tolist(), mask.tolist()

    compiled, reference = both_ways(run)
    assert compiled == reference


@given(subtrees())
def test_paths(case: tuple[TrieArrays, np.ndarray]) -> None:
    trie, nodes = case
    walk = SubtreeWalk(trie)
    compiled, reference = both_ways(lambda: walk.paths(nodes))
    assert compiled == reference == [walk.path(node) for node in nodes.tolist()]


def test_a_literal_by_hand() -> None:
    tokens: list[bytes | None] = [b"a", b"ab", b"abc", b"abd", b"b", b"abcx", b"ac"]
    trie = trie_of(tokens)
    walk = SubtreeWalk(trie)
    mask = np.zeros(1, np.int32)
    boundaries = walk.literal(walk.roots, b"ab", mask)
    assert [i for i in range(7) if int(mask[0]) >> i & 1] == [0, 1]
    assert [int(trie.token[node]) for node in boundaries] == [2, 3]
