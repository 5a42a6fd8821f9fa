"""API of the subset construction: dispatches to machine code, or to the reference, with the same results."""

from __future__ import annotations

import numpy as np

from sglc.kernels.array_layouts import LayoutError, expect
from sglc.kernels.dsl.language import run
from sglc.kernels.jit_library import address
from sglc.kernels.trie.api import WALKS, CharacterArrays
from sglc.kernels.trie.subset_construction import list_subsets, load_subsets


class SubsetTable:
    """The subsets of an automaton, see `load_subsets`; room is made when there are more."""

    def __init__(
        self, cuts: np.ndarray, steps: np.ndarray, last: np.ndarray, everything: np.ndarray,
        start: np.ndarray, room: int = 1024,
    ) -> None:  # fmt: skip
        """The arrays of `load_subsets`, the subset that is state 0, for how many there is room at first."""
        expect(cuts, "cuts", np.int32)
        expect(steps, "steps", np.uint64, 3)
        self._fixed = cuts, steps, last, everything
        self._fixed_at = tuple(map(address, self._fixed))
        self._shape = steps.shape[2], steps.shape[1]
        for name, array in (("last", last), ("everything", everything), ("start", start)):
            expect(array, name, np.uint64)
            if len(array) != steps.shape[2]:
                raise LayoutError(f"{name} must have as many words as steps")
        if len(cuts) != steps.shape[1] + 1:
            raise LayoutError("cuts must be one more than the pieces of steps")
        self.sets = np.zeros((room, steps.shape[2]), np.uint64)
        self.sets[0] = start
        self.count = 1
        self._cursor = np.zeros(2, np.int64)
        self._listed()

    def room(self, want: int) -> int:
        """So many states, and edges, may be added by loading `want` states."""
        return want * self._shape[1]

    def load(
        self, state: int, want: int, few: int, edge: int, leaf: CharacterArrays
    ) -> tuple[np.ndarray, int]:
        """Load a state, see `load_subsets`, into arrays that have room: (int32[k] the states, edges then)."""
        most = self.count + self.room(want) + 1
        if most > len(self.sets):
            grown = np.zeros((2 * most, self._shape[0]), np.uint64)
            grown[: self.count] = self.sets[: self.count]
            self.sets = grown
            self._listed()
        if most > len(leaf.flags) or edge + self.room(want) > len(leaf.edges):
            raise LayoutError("there is no room for states or edges")
        cursor, loaded = self._cursor, np.zeros(want, np.int32)
        cursor[:] = self.count, edge
        where = (state, want, few, *self._shape)
        size = len(self._table)
        kernels = WALKS.functions()
        if kernels is None:
            done = run(
                load_subsets, *where, *self._fixed, self.sets, self._table, size, loaded, leaf.edges,
                leaf.starts, leaf.sizes, leaf.flags, cursor,
            )  # fmt: skip
        else:
            edges, starts, sizes, _, flags, *_ = leaf.addresses
            done = kernels.load_subsets(
                *where, *self._fixed_at, address(self.sets), address(self._table), size, address(loaded),
                edges, starts, sizes, flags, address(cursor),
            )  # fmt: skip
        self.count, edge = cursor.tolist()
        return loaded[:done], edge

    def _listed(self) -> None:
        """A table that is never more than half full."""
        size = 1 << (2 * len(self.sets)).bit_length()
        self._table = np.zeros(size, np.int32)
        kernels = WALKS.functions()
        if kernels is None:
            run(list_subsets, self.sets, self._shape[0], self.count, self._table, size)
        else:
            kernels.list_subsets(
                address(self.sets), self._shape[0], self.count, address(self._table), size
            )  # fmt: skip
