"""API of the GSS walk `walk.walk_grammar`: dispatches to machine code, or to the reference without LLVM."""

from __future__ import annotations

import numpy as np

from sglc.kernels.gss.arrays import At, Config, Grammar, Learned, Result, Sets, Walk
from sglc.kernels.gss.walk import walk_grammar
from sglc.kernels.jit_library import typed_library
from sglc.kernels.trie.arrays import Subtrees

_WALKS = typed_library(walk_grammar)
_UNKNOWN_ROWS = ("rows", "behind", "begins")
"""Arrays whose rows are all ones where nothing is known yet."""


def empty_grammar() -> Grammar:
    """The arrays of a grammar of which nothing is known."""
    found = Grammar.zeros(
        parts=256,
        lists=256,
        firsts=64,
        frames=256,
        states=64,
        bytes=256,
        words=64,
        lookaheads=8,
    )
    for name in (*_UNKNOWN_ROWS, "unions"):
        getattr(found, name).view(np.uint8)[:] = 255
    return found


def grown(grammar: Grammar, **sizes: int) -> Grammar:
    """The grammar with some longer arrays, in which new rows are not known."""
    longer = {}
    for name, size in sizes.items():
        array = getattr(grammar, name)
        found = np.zeros((size, *array.shape[1:]), array.dtype)
        if name in _UNKNOWN_ROWS:
            found = ~found
        found[: len(array)] = array
        longer[name] = found
    return grammar.changed(**longer)


class StackWalk:
    """Walks subtrees of one trie by the arrays of one grammar, and keeps what it learns for later walks.

    Used by one thread at a time.
    """

    def __init__(self, subtrees: Subtrees, deepest: int) -> None:
        """`deepest`: the greatest depth of a node."""
        self._subtrees = subtrees
        self._lookaheads = False
        self._learned = Learned.zeros({"taken": np.zeros(0, np.int32)})
        self._walk = Walk.zeros(levels=2 * (deepest + 2))
        self._cursor, self._levels = self._walk.cursor, self._walk.levels
        self._cursor[At.LEVELS] = deepest + 2
        self._walk.sets[Sets.EVERY : Sets.EVERY + 4] = ~np.uint64(0)
        self.forget()

    def forget(self) -> None:
        """Begin anew to learn; a walk goes on where it is."""
        # Tables are written before the first walk: memory that is met for the first time is slow.
        for name in ("listed", "names", "found", "taken"):
            getattr(self._learned, name)[:] = 0
        self._learned.taken[:1] = 1
        cursor = self._cursor
        cursor[At.FRAMES], cursor[At.CONFIGS], cursor[At.LINKS], cursor[At.PLACES], cursor[At.POOL] = (
            1,
            Config.NOWHERE + 1,
            1,
            0,
            0,
        )
        self._levels[0, 0] = 0

    @property
    def place(self) -> tuple[int, ...]:
        """How far a walk has come."""
        return tuple(self._levels[: self._cursor[At.LEVEL] + 1, 1].tolist())

    @property
    def nbytes(self) -> int:
        """Bytes that what is learned takes."""
        cursor = self._cursor
        each = 12 * cursor[At.FRAMES] + 4 * cursor[At.LINKS] + 16 * cursor[At.PLACES] + 8 * cursor[At.POOL]
        tables = sum([getattr(self._learned, name).nbytes for name in ("listed", "names", "found")])
        return int(each + 1128 * cursor[At.CONFIGS] + tables)

    def begin(self, entries: np.ndarray, inside: np.ndarray, begin: np.ndarray) -> None:
        """Begin a walk below entries int32[n], from threads int32[m, 6] and from what is opened or resumed,
        int32[k, 2]; see `walk.walk_grammar`."""
        self._given = entries, inside, begin
        cursor = self._cursor
        if cursor[At.EPOCH] > 1 << 30:
            cursor[At.EPOCH] = 0
            self._walk.stamps[:] = 0
        cursor[At.LEVEL], cursor[At.SPENT] = -1, 0
        cursor[At.ENTRIES], cursor[At.INSIDES], cursor[At.BEGUN] = len(entries), len(inside), len(begin)

    @property
    def requests(self) -> list[tuple[int, int]]:
        """(what, number) of the tables that must be made before a walk goes on."""
        requests = self._walk.requests
        return [(what, number) for what, number in requests[: self._cursor[At.REQUESTED]].tolist()]

    @property
    def unsure(self) -> list[int]:
        """Nodes of which a walk cannot tell whether their own tokens are legal."""
        found: list[int] = self._walk.doubts[: self._cursor[At.UNSURE]].tolist()
        return found

    def go(self, grammar: Grammar, lookaheads: bool, mask: np.ndarray) -> int:
        """Walk on until the end, or until something has to be done first; see `arrays.DONE`."""
        if lookaheads and not self._lookaheads:
            # Without lookaheads, any text was taken to be followed by some other.
            self._lookaheads = True
            self.forget()
        self._cursor[At.LOOKS_AHEAD] = lookaheads
        taken, frames = self._learned.taken, grammar.frames
        if len(taken) < len(frames):
            longer = np.zeros(len(frames), np.int32)
            longer[: len(taken)], longer[0] = taken, 1
            self._learned = self._learned.changed(taken=longer)
        code: int = _WALKS.run(
            walk_grammar, self._subtrees, grammar, self._learned, self._walk, *self._given, mask
        )
        if code == Result.PAUSED:
            self._cursor[At.SPENT] = 0
        return code
