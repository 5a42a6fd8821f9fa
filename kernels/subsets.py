"""The subset construction (Rabin and Scott, 1959), as far as walks come: subsets are sets of bits.

The characters of the automaton are cut into *pieces* that none of its edges tells apart. States of the
deterministic automaton are numbered as they are met, found again by hashing, and loaded into the arrays of
`character_walk`, in which state s is number s + 1.
"""

from __future__ import annotations

import numpy as np

from sglc.kernels.character_walk import LOADED
from sglc.kernels.contract import LayoutError, expect
from sglc.kernels.library import address, typed_library
from sglc.kernels.subtrees import CharacterArrays
from sglc.kernels.typed import I32, I64, U8, U64, kernel, run, trailing_zeros
from sglc.kernels.walks import ENDS

_PART = 0x7FFFFFFF
_FACTOR = 0x5BD1E995
"""The multiplier of MurmurHash 2; products of 31 bits each have room in 64."""


@kernel
def meet_subset(sets: U64, width: int, count: int, table: I32, size: int) -> int:
    """The number of the subset that lies behind `count` others, which is `count` if it is new.

    table int32[size], a power of two: numbers + 1 by hash, 0 for none.
    """
    base, code = count * width, 0
    for word in range(width):
        here = sets[base + word]
        for part in range(3):
            code = ((code ^ ((here >> (31 * part)) & _PART)) & _PART) * _FACTOR
            code = (code ^ (code >> 15)) & _PART
    at = code & (size - 1)
    while table[at] != 0:
        other, word = (table[at] - 1) * width, 0
        while word < width and sets[other + word] == sets[base + word]:
            word += 1
        if word == width:
            return table[at] - 1
        at = (at + 1) & (size - 1)
    table[at] = count + 1
    return count


@kernel
def load_subsets(
    first: int, want: int, few: int, width: int, pieces: int, cuts: I32, steps: U64, last: U64,
    everything: U64, sets: U64, table: I32, size: int, loaded: I32, edges: I32, starts: I32, sizes: I32,
    flags: U8, cursor: I64,
) -> int:  # fmt: skip
    """Load a state and, of those that have no more than `few` edges, their targets, up to `want` in all; how
    many have been loaded.

    cuts int32[pieces + 1]: where pieces begin; steps uint64[n, pieces, width]: what each state of the
    automaton leads to; last, everything uint64[width]: the states in which words may end, and those after
    which all texts are words; sets uint64[S, width] by state; loaded int32[want] are those that have been.
    cursor int64[2]: how many states and edges there are.
    """
    count, edge = cursor[0], cursor[1]
    loaded[0] = first
    flags[first + 1] = LOADED
    known, done = 1, 0
    while done < known:
        state, begin, before = loaded[done], edge, -1
        done += 1
        ends = 0
        for word in range(width):
            if sets[state * width + word] & last[word] != 0:
                ends = ENDS
        for piece in range(pieces):
            new = count * width
            for word in range(width):
                sets[new + word] = 0
            for word in range(width):
                members = sets[state * width + word]
                while members != 0:
                    member = 64 * word + trailing_zeros(members)
                    members &= members - 1
                    for part in range(width):
                        sets[new + part] |= steps[(member * pieces + piece) * width + part]
            some = universal = 0
            for word in range(width):
                if universal:
                    sets[new + word] = 0
                    continue
                here = sets[new + word]
                if here != 0:
                    some = 1
                if here & everything[word] != 0:
                    # All texts are good from here on; the others add nothing.
                    universal = 1
                    for earlier in range(word):
                        sets[new + earlier] = 0
                    sets[new + word] = 1 << trailing_zeros(here & everything[word])
            if not some:
                before = -1
                continue
            target = meet_subset(sets, width, count, table, size)
            if target == count:
                count += 1
            if target == before:
                edges[3 * edge - 2] = cuts[piece + 1] - 1
                continue
            before = target
            edges[3 * edge], edges[3 * edge + 1] = cuts[piece], cuts[piece + 1] - 1
            edges[3 * edge + 2] = target + 1
            edge += 1
        starts[state + 1], sizes[state + 1] = begin, edge - begin
        flags[state + 1] = LOADED | ends
        if edge - begin <= few:
            for at in range(begin, edge):
                target = edges[3 * at + 2] - 1
                if known < want and flags[target + 1] == 0:
                    flags[target + 1] = LOADED
                    loaded[known] = target
                    known += 1
    cursor[0], cursor[1] = count, edge
    return done


@kernel
def list_subsets(sets: U64, width: int, count: int, table: I32, size: int) -> None:
    """Take the numbers of all subsets into an empty table."""
    for number in range(count):
        meet_subset(sets, width, number, table, size)


_SUBSETS = typed_library(
    load_subsets, list_subsets, brief=("sglc_load_subsets", "sglc_list_subsets")
)  # fmt: skip


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
        kernels = _SUBSETS.functions()
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
        """A table with room for twice as many subsets as there is room for."""
        size = 1 << (4 * len(self.sets)).bit_length()
        self._table = np.zeros(size, np.int32)
        kernels = _SUBSETS.functions()
        if kernels is None:
            run(list_subsets, self.sets, self._shape[0], self.count, self._table, size)
        else:
            kernels.list_subsets(
                address(self.sets), self._shape[0], self.count, address(self._table), size
            )  # fmt: skip
