"""API of the subset construction: dispatches to machine code, or to the reference, with the same results."""

from __future__ import annotations

import numpy as np

from sglc.kernels.dsl.array_layouts import LayoutError
from sglc.kernels.trie.api import WALKS
from sglc.kernels.trie.arrays import CharacterArrays
from sglc.kernels.trie.subset_construction import Subsets, list_subsets, load_subsets


class SubsetTable:
    """The subsets of an automaton; room is made when there are more."""

    def __init__(
        self,
        cuts: np.ndarray,
        steps: np.ndarray,
        last: np.ndarray,
        everything: np.ndarray,
        start: np.ndarray,
        room: int = 1024,
    ) -> None:
        """The arrays of `Subsets`, the subset that is state 0, for how many there is room at first."""
        pieces, width = steps.shape[1:]
        if len(cuts) != pieces + 1:
            raise LayoutError("cuts must be one more than the pieces of steps")
        sets = np.zeros((room, width), np.uint64)
        sets[0] = start
        self.count = 1
        self._cursor = np.zeros(2, np.int64)
        self._subsets = Subsets(
            width=width,
            pieces=pieces,
            cuts=cuts,
            steps=steps,
            last=last,
            everything=everything,
            **_room_for(sets),
        )
        self._list()

    @property
    def sets(self) -> np.ndarray:
        """uint64[room, width]: the states of each subset."""
        return self._subsets.sets

    def room(self, want: int) -> int:
        """So many states, and edges, may be added by loading `want` states."""
        return want * self._subsets.pieces

    def load(
        self, state: int, want: int, few: int, edge: int, lexeme: CharacterArrays
    ) -> tuple[np.ndarray, int]:
        """Load a state, see `load_subsets`, into arrays that have room: (int32[k] the states, edges then)."""
        most = self.count + self.room(want) + 1
        if most > len(self.sets):
            grown = np.zeros((2 * most, self._subsets.width), np.uint64)
            grown[: self.count] = self.sets[: self.count]
            self._subsets = self._subsets.changed(**_room_for(grown))
            self._list()
        if most > len(lexeme.flags) or edge + self.room(want) > len(lexeme.edges):
            raise LayoutError("there is no room for states or edges")
        cursor, loaded = self._cursor, np.zeros(want, np.int32)
        cursor[:] = self.count, edge
        done = WALKS.run(load_subsets, lexeme, self._subsets, state, want, few, loaded, cursor)
        self.count, edge = cursor.tolist()
        return loaded[:done], edge

    def _list(self) -> None:
        """Take the subsets that there are into the table."""
        WALKS.run(list_subsets, self._subsets, self.count)


def _room_for(sets: np.ndarray) -> dict[str, object]:
    """Sets, and a table of them that is never more than half full."""
    size = 1 << (2 * len(sets)).bit_length()
    return {"sets": sets, "table": np.zeros(size, np.int32), "size": size}
