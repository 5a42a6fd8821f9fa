"""Array layouts of the kernels, checked once where they enter; the kernels themselves check nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DEAD = 0
"""In a row: no continuation."""
NO_ROW = -1
"""In `row_of`: the row has not been made yet."""


class LayoutError(ValueError):
    """An array that does not keep the layout."""


def expect(array: np.ndarray, name: str, kind: type, dimensions: int = 1) -> None:
    """Raise LayoutError unless `array` is a contiguous array of that kind."""
    if not isinstance(array, np.ndarray) or array.dtype.type is not kind or array.ndim != dimensions:
        raise LayoutError(f"{name} must be a {np.dtype(kind).name} array with {dimensions} dimensions")
    if not array.dtype.isnative or not array.flags.c_contiguous:
        raise LayoutError(f"{name} must be contiguous")


@dataclass(frozen=True, slots=True, eq=False)
class TrieArrays:
    """A token trie in preorder, `n` nodes. `sglc.runtime.mask.vocabulary.trie.Trie` has their meaning.

    byte uint8[n], depth int32[n] (from 1, at most one more than the node before), end int32[n],
    token int32[n] (id; -1 none; -2 - k: ids in duplicates[k:] up to -1), duplicates int32[m].
    """

    byte: np.ndarray
    depth: np.ndarray
    end: np.ndarray
    token: np.ndarray
    duplicates: np.ndarray
    deepest: int
    words: int
    """Length of the mask rows that the walk writes."""

    def __post_init__(self) -> None:
        expect(self.byte, "byte", np.uint8)
        for name in ("depth", "end", "token", "duplicates"):
            expect(getattr(self, name), name, np.int32)
        n = len(self.byte)
        if any(len(array) != n for array in (self.depth, self.end, self.token)):
            raise LayoutError("the arrays of a trie must have one length")
        if not n:
            return
        if self.depth[0] != 1 or (np.diff(self.depth) > 1).any() or self.depth.min() < 1:
            raise LayoutError("depths are not those of a preorder")
        if self.depth.max() > self.deepest:
            raise LayoutError("a node is deeper than `deepest`")
        if (self.end <= np.arange(n)).any() or self.end.max() > n:
            raise LayoutError("subtree ends must lie after their nodes")
        top = max(int(self.token.max()), int(self.duplicates.max(initial=-1)))
        if top >= 32 * self.words:
            raise LayoutError("a token id does not fit into the mask")
        shared = -2 - self.token[self.token < -1]
        if len(shared) and (shared.max() >= len(self.duplicates) or self.duplicates[-1] != -1):
            raise LayoutError("duplicates must end with -1 and hold every run")
