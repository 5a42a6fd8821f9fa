"""Walks of tries: the compiled one beside the reference."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from sglc.kernels import jit_library
from sglc.kernels.trie.arrays import TrieArrays
from sglc.runtime.mask.vocabulary.trie import build_trie

BYTES = 4


def trie_of(tokens: list[bytes | None]) -> TrieArrays:
    trie = build_trie(tokens)
    words = (len(tokens) + 31) // 32
    names = ("byte", "depth", "end", "token", "duplicates", "deepest")
    return TrieArrays(**{name: getattr(trie, name) for name in names}, words=words)


@st.composite
def subtrees(draw: st.DrawFn) -> tuple[TrieArrays, np.ndarray]:
    """A trie over few byte values, and some of its nodes with disjoint subtrees."""
    word = st.lists(st.integers(0, BYTES - 1), min_size=1, max_size=6).map(bytes)
    trie = trie_of(draw(st.lists(st.none() | word, min_size=1, max_size=80)))
    entries: list[int] = []
    node = 0
    while node < len(trie.byte):
        if draw(st.booleans()):
            entries.append(node)
            node = int(trie.end[node])
        else:
            node += 1
    return trie, np.array(entries, np.int32)


def both_ways(run: object) -> list[object]:
    """What `run()` gives with the compiled kernels and with the reference."""
    results = []
    for reference in (False, True):
        jit_library.use_reference(reference)
        try:
            results.append(run())  # type: ignore[operator]
        finally:
            jit_library.use_reference(False)
    return results
