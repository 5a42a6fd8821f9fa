"""API of the subtree walks: dispatches to machine code, or to the reference, which gives the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from struct import Struct as Packed

import numpy as np

from sglc.kernels.jit_library import typed_library
from sglc.kernels.trie.arrays import At, CharacterArrays, LexemeArrays, Quiet, Subtrees, TrieArrays, TrieWalk
from sglc.kernels.trie.first_bytes import list_first
from sglc.kernels.trie.token_columns import put_tokens, without_columns
from sglc.kernels.trie.token_groups import GROUP, SCRIPTS, GroupScratch, aligned_facts, group_tokens
from sglc.kernels.trie.utf8_walk import walk_characters
from sglc.kernels.trie.walks import (
    BACKSLASH,
    any_below,
    list_children,
    list_paths,
    walk_lexeme,
    walk_literal,
    walk_rows,
    walk_words,
)
from sglc.kernels.trie.word_list import Found, WordList

UNBOUNDED = 1 << 30
"""For `most`, `lo` and `hi` of a lexeme: no limit."""

JOINED = 1 << 14
"""One walk may meet all nodes of the trie and so many more, where it begins at nodes below one another. Each
has 36 bytes in the arrays of a walk, half a megabyte together. Behind `[%` of a regular expression 662 nodes
lie below one another in 21 layers."""


WALKS = typed_library(
    list_children,
    group_tokens,
    list_first,
    walk_rows,
    walk_lexeme,
    walk_characters,
    walk_literal,
    walk_words,
    any_below,
    list_paths,
    without_columns,
    put_tokens,
    brief=(
        walk_literal,
        list_first,
        any_below,
        list_paths,
        without_columns,
        put_tokens,
    ),
)

_NOTHING_QUIET = Quiet(
    below=np.zeros((1, 2), np.uint64), bytes=np.zeros(256, bool), groups=np.zeros(2, np.uint64), home=-1
)
_NO_LABELS = np.zeros(0, np.uint64)
_ask_lexeme = Packed("=13q").pack_into
"""The first numbers of a walk's cursor, from `arrays.ENTRY` to `arrays.WIDTH`."""
_ask_words = Packed("=10q").pack_into
"""The same up to `arrays.ESCAPES`."""


def subtrees_of(trie: TrieArrays) -> Subtrees:
    """Looking for a child among these touches less memory than going from sibling to sibling in the trie."""
    size = len(trie.byte)
    tokens = int(np.count_nonzero(trie.token >= 0) + np.count_nonzero(trie.duplicates >= 0))
    known = {
        "parents": np.full(size, -1, np.int32),
        "facts": aligned_facts(size),
        "begins": np.zeros(size + 1, np.int32),
        "firsts": np.zeros(size + 1, np.int32),
        "duplicates": trie.duplicates,
        "group": GROUP,
        "scripts": SCRIPTS,
        "starts": np.zeros(size + 1, np.int32),
    }
    found = Subtrees.zeros(known, nodes=size, tokens=tokens, ids=32 * trie.words)
    scratch = GroupScratch.zeros(levels=trie.deepest + 2, nodes=size)
    WALKS.run(list_children, trie, found, size)
    WALKS.run(group_tokens, trie, found, scratch, size)
    return found


def first_bytes(
    lexeme: CharacterArrays, state: int, least: int, most: int, open: np.ndarray = _NO_LABELS
) -> np.ndarray:
    """bool[256], see `first_bytes.list_first`."""
    found = np.zeros(256, bool)
    WALKS.run(list_first, lexeme, state, least, most, len(open), open, found)
    return found


class SubtreeWalk:
    """Walks subtrees of one trie, with scratch memory of its own. Used by one thread at a time.

    The caller vouches for the numbers inside the arrays; kinds are checked where they are made. Entries are
    in order, and none of them lies below another one, or they are of one of the `portions`: what is below two
    of them is walked twice, and boundaries there come twice.
    """

    def __init__(self, trie: TrieArrays, subtrees: Subtrees | None = None) -> None:
        self.trie = trie
        self.subtrees = subtrees or subtrees_of(trie)
        self.walks = 0
        """Native walks so far."""
        self.entries = 0
        """Nodes from which they began, all together."""
        self._backslashes = np.flatnonzero(trie.byte == BACKSLASH).astype(np.int32)
        """Nodes with a backslash."""
        boundaries, asides = len(trie.byte) + JOINED, len(self._backslashes) + JOINED
        self._walk = TrieWalk.zeros(levels=trie.deepest + 2, boundaries=boundaries, asides=asides)
        self._cursor = self._walk.cursor
        self._question = self._cursor.data
        self.roots = np.flatnonzero(trie.depth == 1).astype(np.int32)
        self.root_bytes = trie.byte[self.roots]
        self.begins = [self.roots[self.root_bytes == byte] for byte in range(256)]

    def _count(self, entries: np.ndarray) -> None:
        self.walks += 1
        self.entries += len(entries)

    def nested(self, nodes: np.ndarray) -> bool:
        """Whether one of some nodes in order lies below another one."""
        if len(nodes) < 2:
            return False
        return bool(WALKS.run(any_below, self.trie.end, nodes, len(nodes)))

    def layers(self, nodes: np.ndarray) -> list[np.ndarray]:
        """Nodes in order as lists of nodes none of which lies below another one of its list."""
        # Of the nodes before one, all whose subtrees have not ended lie above it.
        ended = np.searchsorted(np.sort(self.trie.end[nodes]), nodes, side="right")
        levels = np.arange(len(nodes)) - ended
        order = np.argsort(levels, kind="stable")
        sorted_nodes, stops = nodes[order], np.cumsum(np.bincount(levels)).tolist()
        return [sorted_nodes[start:stop] for start, stop in zip([0, *stops], stops, strict=False)]

    def portions(self, nodes: np.ndarray) -> list[np.ndarray]:
        """Nodes in order as lists from each of which one walk may begin, though it meets some nodes twice: as
        many as there is room for what the walk may find."""
        end, backslashes = self.trie.end[nodes], self._backslashes
        boundaries = np.cumsum(end - nodes, dtype=np.int64)
        asides = np.cumsum(backslashes.searchsorted(end) - backslashes.searchsorted(nodes))
        found, start = [], 0
        more_boundaries, more_asides = len(self._walk.boundaries), len(self._walk.asides)
        while start < len(nodes):
            stop = min(
                int(boundaries.searchsorted(more_boundaries, "right")),
                int(asides.searchsorted(more_asides, "right")),
            )
            found.append(nodes[start:stop])
            more_boundaries = len(self._walk.boundaries) + int(boundaries[stop - 1])
            more_asides = len(self._walk.asides) + int(asides[stop - 1])
            start = stop
        return found

    def read_before(self, nodes: np.ndarray, spelled: bool) -> np.ndarray:
        """int64: the characters begun on the paths to nodes, without their own byte; `spelled`: in JSON."""
        parents = self.subtrees.parents[nodes]
        read = self.subtrees.spelled if spelled else self.subtrees.read
        return np.where(parents < 0, 0, read[parents]).astype(np.int64)

    def path(self, node: int) -> bytes:
        """The bytes of a node."""
        byte, parents = self.trie.byte, self.subtrees.parents
        out = bytearray()
        while node >= 0:
            out.append(byte.item(node))
            node = parents.item(node)
        out.reverse()
        return bytes(out)

    def paths(self, nodes: np.ndarray) -> list[bytes]:
        """The bytes of some nodes."""
        room = int(self.trie.depth[nodes].sum())
        starts, paths = np.zeros(len(nodes) + 1, np.int64), np.zeros(room, np.uint8)
        WALKS.run(list_paths, self.trie, self.subtrees, nodes, len(nodes), starts, paths)
        data, bounds = paths.tobytes(), starts.tolist()
        return [data[start:stop] for start, stop in pairwise(bounds)]

    def children(self, node: int) -> np.ndarray:
        """int32: the nodes directly below a node."""
        starts = self.subtrees.starts
        return self.subtrees.nodes[starts.item(node) : starts.item(node + 1)]

    def set_tokens(self, nodes: np.ndarray, mask: np.ndarray) -> None:
        """Set the bits of the tokens at nodes, not of those below."""
        tokens = self._ids(self.trie.token[nodes])
        np.bitwise_or.at(mask.view(np.uint32), tokens >> 5, np.uint32(1) << (tokens & 31).astype(np.uint32))

    def tokens(self, nodes: Iterable[int]) -> np.ndarray:
        """int32: the tokens at and below nodes."""
        token, end = self.trie.token, self.trie.end
        return self._ids(
            np.concatenate([*[token[node : end.item(node)] for node in nodes], np.zeros(0, np.int32)])
        )

    def _ids(self, found: np.ndarray) -> np.ndarray:
        """int32: the tokens that stand for some of `TrieArrays.token`."""
        more: list[int] = []
        for place in (-2 - found[found < -1]).tolist():
            while (index := self.trie.duplicates.item(place)) >= 0:
                more.append(index)
                place += 1
        return np.concatenate([found[found >= 0], np.array(more, np.int32)])

    def rows(
        self,
        entries: np.ndarray,
        base: int,
        mask: np.ndarray,
        rows: Callable[[], tuple[np.ndarray, np.ndarray]],
        fill: Callable[[int, int, int], bool],
    ) -> None:
        """See `walks.walk_rows`. `rows()` are (rows, row_of).

        `fill(configuration, entry, node)` makes the missing row, or returns False to leave out the subtree of
        `node`, which lies below `entry`.
        """
        self._count(entries)
        cursor = self._cursor
        cursor[At.ENTRY], cursor[At.NODE] = 0, -1
        while True:
            missing = WALKS.run(walk_rows, self.trie, self._walk, entries, len(entries), base, *rows(), mask)
            if missing < 0:
                return
            entry, node = int(entries[cursor[At.ENTRY]]), int(cursor[At.NODE])
            if not fill(missing, entry, node):
                cursor[At.NODE] = self.trie.end[node]

    def lexeme(
        self,
        entries: np.ndarray,
        place: tuple[int, int, int, int],
        first: np.ndarray,
        mask: np.ndarray,
        arrays: Callable[[], LexemeArrays],
        fill: Callable[[int], None],
        quiet: Quiet | None = None,
        open: np.ndarray = _NO_LABELS,
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """See `walks.walk_lexeme`: (boundaries, the states before them, most characters of a path), from
        `place`, (state, least, most, eager). `arrays()` are the rows, `fill(state)` makes one that is
        missing."""
        self._count(entries)
        calm = quiet or _NOTHING_QUIET
        _ask_lexeme(self._question, 0, 0, -1, 0, 0, 0, len(entries), *place, 0, calm.home, len(open))
        while True:
            missing = WALKS.run(
                walk_lexeme, self.trie, arrays(), calm, self._walk, entries, first, open, mask
            )
            if missing < 0:
                return self._found()
            fill(missing)

    def characters(
        self,
        entries: np.ndarray,
        place: tuple[int, int, int, int, int],
        first: np.ndarray,
        mask: np.ndarray,
        arrays: Callable[[], CharacterArrays],
        load: Callable[[int], None],
        quiet: Quiet | None = None,
        open: np.ndarray = _NO_LABELS,
        home: int = -1,
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """The same by `utf8_walk.walk_characters`, from (state, least, most, eager, mode); `home`: the state
        of `quiet` by its number in these arrays."""
        self._count(entries)
        calm = quiet or _NOTHING_QUIET
        _ask_lexeme(self._question, 0, 0, -1, 0, 0, 0, len(entries), *place, home, len(open))
        # A state to which only steps have led may be behind those that there is room for.
        if place[0] >= len(arrays().flags):
            load(place[0])
        while True:
            missing = WALKS.run(
                walk_characters, self.subtrees, arrays(), calm, self._walk, entries, first, open, mask
            )
            if missing < 0:
                return self._found()
            load(missing)

    def _found(self) -> tuple[np.ndarray, np.ndarray, int]:
        """The boundaries, their ends, and how far a walk has come."""
        found, walk = int(self._cursor[At.OUT]), self._walk
        return walk.boundaries[:found].copy(), walk.ends[:found].copy(), int(self._cursor[At.REACH])

    def literal(self, entries: np.ndarray, data: bytes, mask: np.ndarray) -> np.ndarray:
        """See `walks.walk_literal`: returns the boundaries."""
        self._count(entries)
        count = WALKS.run(
            walk_literal, self.trie, self.subtrees, self._walk, entries, len(entries), data, len(data), mask
        )
        return self._walk.boundaries[:count].copy()

    def words(
        self,
        entries: np.ndarray,
        words: WordList,
        place: tuple[int, int, int],
        first: np.ndarray,
        mask: np.ndarray,
        escapes: bool,
    ) -> Found:
        """See `walks.walk_words`; `place` is (low, high, read), low < high."""
        self._count(entries)
        walk = self._walk
        _ask_words(self._question, 0, 0, -1, 0, 0, 0, len(entries), *place, escapes)
        WALKS.run(walk_words, self.trie, self.subtrees, words.arrays, walk, entries, first, mask)
        out, aside = walk.found.tolist()
        boundaries, ends = walk.boundaries[:out].copy(), walk.ends[:out].copy()
        return Found(boundaries, ends, walk.asides[:aside].copy(), walk.origins[:aside].copy())
