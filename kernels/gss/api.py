"""API of the GSS walk `walk.walk_grammar`: dispatches to machine code, or to the reference without LLVM."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sglc.kernels.array_layouts import TrieArrays
from sglc.kernels.dsl.language import run
from sglc.kernels.gss.closure import EVERY, ITEMS, MOST_LOOKAHEADS, SLOTS
from sglc.kernels.gss.frames import (
    CONFIGS,
    EPOCH,
    FRAMES,
    LEVEL,
    LEVELS,
    LINKS,
    MOST_FRAMES,
    MOST_LINKS,
    MOST_PLACES,
    MOST_REQUESTED,
    NAMES,
    PAUSED,
    PLACES,
    POOL,
    REQUESTED,
    ROOM,
    SPENT,
    UNSURE,
)
from sglc.kernels.gss.states import BITS, CONFIG_SLOTS, MOST_CONFIGS, MOST_POOL, NOWHERE
from sglc.kernels.gss.walk import MOST_UNSURE, walk_grammar
from sglc.kernels.jit_library import address, typed_library
from sglc.kernels.trie.api import Children

_WALKS = typed_library(walk_grammar)


@dataclass(slots=True, eq=False)
class StackArrays:
    """What a walk reads of a grammar, see `walk.walk_grammar`; arrays are replaced when they grow.

    program int32[N, 4], lists int32[L], firsts uint64[F, 4], frames int32[C, 3], rows int32[S, 256], begins
    uint64[S, 4], flags uint8[S], loops uint64[S, 2], words uint8[...], word_starts int64[W + 1], behind
    int32[W, 2], bar_rows int32[B, 256], bar_flags uint8[B], bar_starts int32[MOST_BARS], open_bytes
    uint64[MOST_BARS, 4], unions int32[MOST_BARS, MOST_BARS].
    """

    program: np.ndarray = field(default_factory=lambda: np.zeros((64, 4), np.int32))
    lists: np.ndarray = field(default_factory=lambda: np.zeros(64, np.int32))
    firsts: np.ndarray = field(default_factory=lambda: np.zeros((8, 4), np.uint64))
    frames: np.ndarray = field(default_factory=lambda: np.zeros((64, 3), np.int32))
    rows: np.ndarray = field(default_factory=lambda: np.full((16, 256), -1, np.int32))
    begins: np.ndarray = field(default_factory=lambda: np.full((16, 4), -1, np.int64).view(np.uint64))
    flags: np.ndarray = field(default_factory=lambda: np.zeros(16, np.uint8))
    loops: np.ndarray = field(default_factory=lambda: np.zeros((16, 2), np.uint64))
    words: np.ndarray = field(default_factory=lambda: np.zeros(64, np.uint8))
    word_starts: np.ndarray = field(default_factory=lambda: np.zeros(16, np.int64))
    behind: np.ndarray = field(default_factory=lambda: np.full((16, 2), -1, np.int32))
    lookahead_rows: np.ndarray = field(default_factory=lambda: np.zeros((8, 256), np.int32))
    lookahead_flags: np.ndarray = field(default_factory=lambda: np.zeros(8, np.uint8))
    lookahead_starts: np.ndarray = field(default_factory=lambda: np.zeros(MOST_LOOKAHEADS, np.int32))
    open_bytes: np.ndarray = field(default_factory=lambda: np.zeros((MOST_LOOKAHEADS, 4), np.uint64))
    unions: np.ndarray = field(
        default_factory=lambda: np.full((MOST_LOOKAHEADS, MOST_LOOKAHEADS), -1, np.int32)
    )
    addresses: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.addresses = tuple(map(address, self.every))

    @property
    def every(self) -> tuple[np.ndarray, ...]:
        """The arrays, in the order in which walks take them."""
        return (
            self.program, self.lists, self.firsts, self.frames, self.rows, self.begins, self.flags,
            self.loops, self.words, self.word_starts, self.behind, self.lookahead_rows, self.lookahead_flags,
            self.lookahead_starts, self.open_bytes, self.unions,
        )  # fmt: skip

    def grow(self, **sizes: int) -> None:
        """Make some arrays longer; new rows are not known."""
        for name, size in sizes.items():
            array = getattr(self, name)
            found = np.zeros((size, *array.shape[1:]), array.dtype)
            if name in ("rows", "behind", "begins"):
                found = ~found
            found[: len(array)] = array
            setattr(self, name, found)
        self.addresses = tuple(map(address, self.every))


class StackWalk:
    """Walks subtrees of one trie by the arrays of one grammar, and keeps what it learns for later walks.

    Used by one thread at a time.
    """

    def __init__(self, trie: TrieArrays, children: Children) -> None:
        groups = children.groups
        self._byte = trie.byte
        self._trie = (
            groups.nodes, trie.duplicates, children.starts, children.places, children.bytes, groups.order,
            groups.begins,
        )  # fmt: skip
        self._trie_at = tuple(map(address, self._trie))
        self._taken = np.zeros(0, np.int32)
        self._lookaheads = False
        self._cursor = np.zeros(18, np.int64)
        self._stamps = np.zeros(SLOTS, np.int32)
        self._doubts = np.zeros(MOST_UNSURE, np.int32)
        self._cursor[LEVELS] = trie.deepest + 2
        self._levels = np.zeros((2 * (trie.deepest + 2), 3), np.int32)
        self._requests = np.zeros((MOST_REQUESTED, 2), np.int32)
        # Tables are written now: memory that is met for the first time is slow.
        self._tables = (
            np.full(NAMES, 0, np.int32),
            np.full(NAMES, 0, np.int32),
            np.full(CONFIG_SLOTS, 0, np.int32),
        )
        listed, names, found = self._tables
        self._learned: tuple[np.ndarray, ...] = (
            np.zeros((MOST_PLACES, 4), np.int32), listed, np.zeros((MOST_FRAMES, 3), np.int32),
            np.zeros(MOST_LINKS, np.int32), names, found, np.zeros((MOST_CONFIGS, 6), np.int32),
            np.zeros((MOST_CONFIGS, BITS), np.uint64), np.zeros((MOST_CONFIGS, 256), np.int32),
            np.zeros(MOST_POOL, np.int64),
        )  # fmt: skip
        sets = np.zeros(12, np.uint64)
        sets[EVERY : EVERY + 4] = ~np.uint64(0)
        self._scratch: tuple[np.ndarray, ...] = (
            np.zeros((ROOM, 3), np.int32), np.zeros(ROOM, np.int32), np.zeros((ROOM, 2), np.int32),
            np.zeros((ROOM, 3), np.int32), np.zeros((ROOM, 3), np.int32), np.zeros((ITEMS, 2), np.int32),
            np.zeros(SLOTS, np.int64), self._stamps, np.zeros(SLOTS, np.int32),
            *(np.zeros(ROOM, np.int64) for _ in range(3)),
            self._levels, self._doubts, sets, self._requests,
            self._cursor,
        )  # fmt: skip
        self._own_at = tuple(map(address, (*self._learned, *self._scratch)))
        self.forget()

    def forget(self) -> None:
        """Begin anew to learn; a walk goes on where it is."""
        for table in (*self._tables, self._taken):
            table[:] = 0
        self._taken[:1] = 1
        cursor = self._cursor
        cursor[FRAMES], cursor[CONFIGS], cursor[LINKS], cursor[PLACES], cursor[POOL] = 1, NOWHERE + 1, 1, 0, 0
        self._levels[0, 0] = 0

    @property
    def place(self) -> tuple[int, ...]:
        """How far a walk has come."""
        return tuple(self._levels[: self._cursor[LEVEL] + 1, 1].tolist())

    @property
    def nbytes(self) -> int:
        """Bytes that what is learned takes."""
        cursor = self._cursor
        each = 12 * cursor[FRAMES] + 4 * cursor[LINKS] + 16 * cursor[PLACES] + 8 * cursor[POOL]
        return int(each + 1128 * cursor[CONFIGS]) + sum([table.nbytes for table in self._tables])

    def begin(self, entries: np.ndarray, inside: np.ndarray, begin: np.ndarray) -> None:
        """Begin a walk below entries int32[n], from threads int32[m, 6] and from what is opened or resumed,
        int32[k, 2]; see `walk.walk_grammar`."""
        self._given = entries, self._byte[entries], inside, begin
        if self._cursor[EPOCH] > 1 << 30:
            self._cursor[EPOCH] = 0
            self._stamps[:] = 0
        self._cursor[LEVEL], self._cursor[SPENT] = -1, 0

    @property
    def requests(self) -> list[tuple[int, int]]:
        """(what, number) of the tables that must be made before a walk goes on."""
        return [(what, number) for what, number in self._requests[: self._cursor[REQUESTED]].tolist()]

    @property
    def unsure(self) -> list[int]:
        """Nodes of which a walk cannot tell whether their own tokens are legal."""
        return self._doubts[: self._cursor[UNSURE]].tolist()

    def go(self, arrays: StackArrays, lookaheads: bool, mask: np.ndarray) -> int:
        """Walk on until the end, or until something has to be done first; see `frames.DONE`."""
        entries, bytes, inside, begin = self._given
        if lookaheads and not self._lookaheads:
            # Without lookaheads, any text was taken to be followed by some other.
            self._lookaheads = True
            self.forget()
        if len(self._taken) < len(arrays.frames):
            taken = np.zeros(len(arrays.frames), np.int32)
            taken[: len(self._taken)], taken[0] = self._taken, 1
            self._taken = taken
        kernels = _WALKS.functions()
        if kernels is None:
            code = run(
                walk_grammar, *self._trie, entries, bytes, len(entries), inside, len(inside), begin,
                len(begin), *arrays.every, lookaheads, self._taken, *self._learned, *self._scratch, mask,
            )  # fmt: skip
        else:
            code = kernels.walk_grammar(
                *self._trie_at, address(entries), address(bytes), len(entries), address(inside), len(inside),
                address(begin), len(begin), *arrays.addresses, lookaheads, address(self._taken),
                *self._own_at, address(mask),
            )  # fmt: skip
        if code == PAUSED:
            self._cursor[SPENT] = 0
        return code
