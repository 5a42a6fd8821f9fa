"""API of the subtree walks: dispatches to machine code, or to the reference, which gives the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from sglc.kernels.array_layouts import LayoutError, TrieArrays, expect
from sglc.kernels.dsl.language import run
from sglc.kernels.jit_library import address, typed_library
from sglc.kernels.trie.first_bytes import list_first
from sglc.kernels.trie.subset_construction import list_subsets, load_subsets
from sglc.kernels.trie.token_columns import put_tokens, without_columns
from sglc.kernels.trie.token_groups import GROUP, SCRIPTS, TokenGroups, empty_groups, group_tokens
from sglc.kernels.trie.utf8_walk import walk_characters
from sglc.kernels.trie.walks import (
    BACKSLASH,
    any_below,
    list_children,
    list_paths,
    walk_leaf,
    walk_literal,
    walk_rows,
    walk_words,
)
from sglc.kernels.trie.word_list import Found, WordList

UNBOUNDED = 1 << 30
"""For `most`, `lo` and `hi` of a leaf: no limit."""


WALKS = typed_library(
    list_children, group_tokens, list_first, walk_rows, walk_leaf, walk_characters, walk_literal,
    walk_words, any_below, list_paths, without_columns, put_tokens, load_subsets, list_subsets,
    brief=(
        "sglc_walk_literal", "sglc_list_first", "sglc_any_below", "sglc_list_paths", "sglc_without_columns",
        "sglc_put_tokens", "sglc_load_subsets", "sglc_list_subsets",
    ),
)  # fmt: skip


@dataclass(slots=True, eq=False)
class LexemeArrays:
    """The rows of a leaf, see `walks.walk_leaf`; new ones are made when they grow."""

    rows: np.ndarray
    flags: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    labels: np.ndarray = field(default_factory=lambda: np.zeros((1, 0), np.uint64))
    addresses: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        expect(self.rows, "rows", np.int32, 2)
        expect(self.flags, "flags", np.uint8)
        expect(self.lo, "lo", np.int32)
        expect(self.hi, "hi", np.int32)
        if self.rows.shape[1] != 256:
            raise LayoutError("rows must have 256 columns")
        expect(self.labels, "labels", np.uint64, 2)
        self.addresses = tuple(map(address, (self.rows, self.flags, self.lo, self.hi, self.labels)))


@dataclass(slots=True, eq=False)
class CharacterArrays:
    """A leaf as an automaton over characters, see `utf8_walk`; new ones are made when they grow.

    edges int32[E, 3] of the states that are loaded, starts and sizes int32[S] where each state's are; rows
    int32[S, 128], flags uint8[S], loops uint64[S, 2], blocks int32[B, 1024] of the states that have some,
    wide int32[S] which (or -1), lo and hi int32[S], labels uint64[S, width].
    """

    encoding: int
    edges: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    rows: np.ndarray
    flags: np.ndarray
    loops: np.ndarray
    blocks: np.ndarray
    wide: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    labels: np.ndarray
    addresses: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        expect(self.edges, "edges", np.int32, 2)
        expect(self.rows, "rows", np.int32, 2)
        for name in ("starts", "sizes", "wide", "lo", "hi"):
            expect(getattr(self, name), name, np.int32)
        expect(self.flags, "flags", np.uint8)
        expect(self.loops, "loops", np.uint64, 2)
        expect(self.blocks, "blocks", np.int32, 2)
        expect(self.labels, "labels", np.uint64, 2)
        if self.rows.shape[1] != 128 or self.edges.shape[1] != 3:
            raise LayoutError("rows must have 128 columns, edges three")
        self.addresses = tuple(map(address, self.arrays))

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All of them, as the walk takes them."""
        return (
            self.edges, self.starts, self.sizes, self.rows, self.flags, self.loops, self.blocks, self.wide,
            self.lo, self.hi, self.labels,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Quiet:
    """Bytes after which a leaf stays alive, and the groups of bytes that need not be walked.

    below uint64[n, 2] by trie node, bytes bool[256], groups uint64[2], `home` a state or -1; see
    `walks.walk_leaf`.
    """

    below: np.ndarray
    bytes: np.ndarray
    groups: np.ndarray
    home: int = -1

    def __post_init__(self) -> None:
        expect(self.below, "below", np.uint64, 2)
        expect(self.bytes, "bytes", np.bool_)
        expect(self.groups, "groups", np.uint64)


_NOTHING_QUIET = Quiet(np.zeros((1, 2), np.uint64), np.zeros(256, bool), np.zeros(2, np.uint64))


_NO_LABELS = np.zeros(0, np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class Children:
    """The children of every node of a trie side by side, see `walks.list_children`; -1 has no parent."""

    starts: np.ndarray
    nodes: np.ndarray
    bytes: np.ndarray
    parents: np.ndarray
    places: np.ndarray
    groups: TokenGroups


def children_of(trie: TrieArrays) -> Children:
    """Looking for a child among these touches less memory than going from sibling to sibling in the trie."""
    size = len(trie.byte)
    starts, nodes, parents, places = (
        np.full(length, -1, np.int32) for length in (size + 1, size, size, size)
    )
    groups = empty_groups(size, _token_count(trie), trie.words)
    found = Children(starts, nodes, np.zeros(size, np.uint8), parents, places, groups)
    parts = (trie.byte, trie.end)
    results = (found.starts, found.nodes, found.bytes, found.parents, found.places)
    tokens = (trie.byte, trie.depth, trie.end, trie.token, trie.duplicates, parents, places)
    facts: tuple[np.ndarray, ...] = (
        GROUP, SCRIPTS, *(np.zeros(trie.deepest + 2, np.int32) for _ in range(3)),
        np.zeros((size, 2), np.uint64), groups.nodes, groups.order, groups.begins, groups.parts,
        groups.firsts, groups.read, groups.spelled, groups.tokens,
    )  # fmt: skip
    kernels = WALKS.functions()
    if kernels is None:
        run(list_children, *parts, size, *results)
        run(group_tokens, *tokens, size, *facts)
    else:
        kernels.list_children(*map(address, parts), size, *map(address, results))
        kernels.group_tokens(*map(address, tokens), size, *map(address, facts))
    return found


def first_bytes(
    leaf: CharacterArrays, state: int, least: int, most: int, open: np.ndarray = _NO_LABELS
) -> np.ndarray:
    """bool[256], see `character_walk.list_first`."""
    found = np.zeros(256, bool)
    edges, starts, sizes, _, _, _, _, _, lo, hi, labels = leaf.arrays
    where = (state, least, most, leaf.encoding)
    kernels = WALKS.functions()
    if kernels is None:
        run(list_first, *where, edges, starts, sizes, lo, hi, labels, len(open), open, found)
    else:
        edges_at, starts_at, sizes_at, _, _, _, _, _, lo_at, hi_at, labels_at = leaf.addresses
        kernels.list_first(
            *where, edges_at, starts_at, sizes_at, lo_at, hi_at, labels_at, len(open), address(open),
            address(found),
        )  # fmt: skip
    return found


def _token_count(trie: TrieArrays) -> int:
    """How many tokens a trie has."""
    return int(np.count_nonzero(trie.token >= 0) + np.count_nonzero(trie.duplicates >= 0))


class SubtreeWalk:
    """Walks subtrees of one trie, with scratch memory of its own. Used by one thread at a time.

    The caller vouches for the numbers inside the arrays; kinds are checked where they are made. Entries are
    in order, and none of them lies below another one, or they are so few that exits `fits`: what is below two
    of them is walked twice, and exits there come twice.
    """

    def __init__(self, trie: TrieArrays, children: Children | None = None) -> None:
        self.trie = trie
        self.walks = 0
        """Native walks so far."""
        self.entries = 0
        """Nodes from which they began, all together."""
        self._parts = (trie.byte, trie.depth, trie.end, trie.token, trie.duplicates)
        self._arrays = tuple(map(address, self._parts))
        below = children or children_of(trie)
        self._parents = below.parents
        self._below = (trie.token, trie.duplicates, below.starts, below.nodes, below.bytes)
        self._below_at = tuple(map(address, self._below))
        self._stack = np.zeros(trie.deepest + 2, np.int32)
        self._counts = np.zeros(trie.deepest + 2, np.int32)
        self._modes = np.zeros(trie.deepest + 2, np.int32)
        self._values = np.zeros(trie.deepest + 2, np.int64)
        tokens = below.groups
        self._tokens: tuple[np.ndarray, ...] = (
            GROUP, SCRIPTS, tokens.order, tokens.begins, tokens.parts, tokens.firsts,
        )  # fmt: skip
        self._tokens_at = tuple(map(address, self._tokens))
        self.groups = tokens
        self._nodes = tokens.nodes, below.starts, below.places, trie.duplicates
        self._nodes_at = tuple(map(address, self._nodes))
        self._levels = (np.zeros(trie.deepest + 2, np.int32), np.zeros(trie.deepest + 2, np.int32))
        self._parts_of_characters = (
            address(self._modes), address(self._values), *map(address, self._levels)
        )  # fmt: skip
        self._exits = np.zeros(len(trie.byte) + 1, np.int32)
        self._ends = np.zeros(len(trie.byte) + 1, np.int32)
        self._cursor = np.zeros(5, np.int64)
        scratch = (self._stack, self._counts, self._cursor, self._exits, self._ends)
        self._scratch = tuple([address(array) for array in scratch])
        asides = int(np.count_nonzero(trie.byte == BACKSLASH))
        self._words = (
            *(
                np.zeros(trie.deepest + 2, kind)
                for kind in (np.int64, np.int64, np.int64, np.int32, np.int32)
            ),
            np.zeros(asides, np.int32),
            np.zeros((asides, 3), np.int64),
            np.zeros(2, np.int64),
        )
        self._words_at = tuple(map(address, self._words))
        self.roots = _roots(trie)
        self.root_bytes = trie.byte[self.roots]
        self.begins = [self.roots[self.root_bytes == byte] for byte in range(256)]

    def _count(self, entries: np.ndarray) -> None:
        self.walks += 1
        self.entries += len(entries)

    def nested(self, nodes: np.ndarray) -> bool:
        """Whether one of some nodes in order lies below another one."""
        if len(nodes) < 2:
            return False
        kernels = WALKS.functions()
        if kernels is None:
            return bool(run(any_below, self.trie.end, nodes, len(nodes)))
        return bool(kernels.any_below(self._arrays[2], address(nodes), len(nodes)))

    def layers(self, nodes: np.ndarray) -> list[np.ndarray]:
        """Nodes in order as lists of nodes none of which lies below another one of its list."""
        # Of the nodes before one, all whose subtrees have not ended lie above it.
        ended = np.searchsorted(np.sort(self.trie.end[nodes]), nodes, side="right")
        levels = np.arange(len(nodes)) - ended
        order = np.argsort(levels, kind="stable")
        sorted_nodes, stops = nodes[order], np.cumsum(np.bincount(levels)).tolist()
        return [sorted_nodes[start:stop] for start, stop in zip([0, *stops], stops, strict=False)]

    def read_before(self, nodes: np.ndarray, spelled: bool) -> np.ndarray:
        """int64: the characters begun on the paths to nodes, without their own byte; `spelled`: in JSON."""
        parents = self._parents[nodes]
        read = self.groups.spelled if spelled else self.groups.read
        return np.where(parents < 0, 0, read[parents]).astype(np.int64)

    def path(self, node: int) -> bytes:
        """The bytes of a node."""
        byte, parents = self.trie.byte, self._parents
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
        parts = (self.trie.byte, self.trie.depth, self._parents)
        kernels = WALKS.functions()
        if kernels is None:
            run(list_paths, *parts, nodes, len(nodes), starts, paths)
        else:
            kernels.list_paths(
                *map(address, parts), address(nodes), len(nodes), address(starts), address(paths)
            )
        data, bounds = paths.tobytes(), starts.tolist()
        return [data[start:stop] for start, stop in pairwise(bounds)]

    def children(self, node: int) -> np.ndarray:
        """int32: the nodes directly below a node."""
        _, _, starts, nodes, _ = self._below
        return nodes[starts.item(node) : starts.item(node + 1)]

    def tokens(self, nodes: Iterable[int]) -> np.ndarray:
        """int32: the tokens at and below nodes."""
        token, end = self.trie.token, self.trie.end
        parts = [token[node : end.item(node)] for node in nodes]
        found = np.concatenate([*parts, np.zeros(0, np.int32)])
        more: list[int] = []
        for place in (-2 - found[found < -1]).tolist():
            while (index := self.trie.duplicates.item(place)) >= 0:
                more.append(index)
                place += 1
        return np.concatenate([found[found >= 0], np.array(more, np.int32)])

    def rows(
        self, entries: np.ndarray, base: int, mask: np.ndarray,
        rows: Callable[[], tuple[np.ndarray, np.ndarray]], fill: Callable[[int, int, int], bool],
    ) -> None:  # fmt: skip
        """See `walks.walk_rows`. `rows()` are (rows, row_of).

        `fill(configuration, entry, node)` makes the missing row, or returns False to leave out the subtree of
        `node`, which lies below `entry`.
        """
        self._count(entries)
        kernels = WALKS.functions()
        cursor = self._cursor
        cursor[:] = 0, -1, 0, 0, 0
        while True:
            table, row_of = rows()
            if kernels is None:
                missing = run(
                    walk_rows, *self._parts, entries, len(entries), base, table, row_of, self._stack, cursor,
                    mask,
                )  # fmt: skip
            else:
                missing = kernels.walk_rows(
                    *self._arrays, address(entries), len(entries), base, address(table), address(row_of),
                    self._scratch[0], self._scratch[2], address(mask),
                )  # fmt: skip
            if missing < 0:
                return
            entry, node = int(entries[cursor[0]]), int(cursor[1])
            if not fill(missing, entry, node):
                cursor[1] = self.trie.end[node]

    def leaf(
        self, entries: np.ndarray, place: tuple[int, int, int, int], first: np.ndarray, mask: np.ndarray,
        arrays: Callable[[], LexemeArrays], fill: Callable[[int], None], quiet: Quiet | None = None,
        open: np.ndarray = _NO_LABELS,
    ) -> tuple[np.ndarray, np.ndarray, int]:  # fmt: skip
        """See `walks.walk_leaf`: (exits, the states before them, most characters of a path), from
        `place`, (state, least, most, eager)."""
        self._count(entries)
        kernels = WALKS.functions()
        cursor = self._cursor
        cursor[:] = 0, -1, 0, 0, 0
        still = quiet or _NOTHING_QUIET
        groups = (_signed(int(still.groups[0])), _signed(int(still.groups[1])))
        calm = (
            address(first), address(still.below), address(still.bytes), *groups, still.home,
        )  # fmt: skip
        while True:
            leaf = arrays()
            if kernels is None:
                missing = run(
                    walk_leaf, *self._parts, entries, len(entries), *place, leaf.rows, leaf.flags, leaf.lo,
                    leaf.hi, leaf.labels, len(open), open, first, still.below, still.bytes, *groups,
                    still.home, self._stack, self._counts, cursor, mask, self._exits, self._ends,
                )  # fmt: skip
            else:
                stack, counts, at, exits, ends = self._scratch
                missing = kernels.walk_leaf(
                    *self._arrays, address(entries), len(entries), *place, *leaf.addresses, len(open),
                    address(open), *calm, stack, counts, at, address(mask), exits, ends,
                )  # fmt: skip
            if missing < 0:
                found = int(cursor[2])
                return self._exits[:found].copy(), self._ends[:found].copy(), int(cursor[4])
            fill(missing)

    def characters(
        self, entries: np.ndarray, place: tuple[int, int, int, int, int], first: np.ndarray, mask: np.ndarray,
        arrays: Callable[[], CharacterArrays], load: Callable[[int], None], quiet: Quiet | None = None,
        open: np.ndarray = _NO_LABELS, home: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray, int]:  # fmt: skip
        """The same by `character_walk.walk_characters`, from (state, least, most, eager, mode); `home`:
        the state of `quiet`, where it has another number in these arrays."""
        self._count(entries)
        kernels = WALKS.functions()
        cursor = self._cursor
        cursor[:] = 0, -1, 0, 0, 0
        still = quiet or _NOTHING_QUIET
        groups = (_signed(int(still.groups[0])), _signed(int(still.groups[1])))
        home = still.home if home is None else home
        # A state to which only steps have led may be behind those that there is room for.
        if place[0] >= len(arrays().flags):
            load(place[0])
        while True:
            leaf = arrays()
            if kernels is None:
                missing = run(
                    walk_characters, *self._nodes, entries, len(entries), *place,
                    leaf.encoding, *leaf.arrays, len(open), open, first, *self._tokens, still.bytes, *groups,
                    home, self._stack, self._counts, self._modes, self._values, *self._levels, cursor,
                    mask, self._exits, self._ends,
                )  # fmt: skip
            else:
                stack, counts, at, exits, ends = self._scratch
                missing = kernels.walk_characters(
                    *self._nodes_at, address(entries), len(entries), *place, leaf.encoding, *leaf.addresses,
                    len(open), address(open), address(first), *self._tokens_at, address(still.bytes),
                    *groups, home, stack, counts, *self._parts_of_characters, at, address(mask),
                    exits, ends,
                )  # fmt: skip
            if missing < 0:
                found = int(cursor[2])
                return self._exits[:found].copy(), self._ends[:found].copy(), int(cursor[4])
            load(missing)

    def literal(self, entries: np.ndarray, data: bytes, mask: np.ndarray) -> np.ndarray:
        """See `walks.walk_literal`: returns the exits."""
        self._count(entries)
        kernels = WALKS.functions()
        if kernels is None:
            count = run(
                walk_literal, self._parts[0], *self._below, entries, len(entries), data, len(data), mask,
                self._exits,
            )  # fmt: skip
        else:
            count = kernels.walk_literal(
                self._arrays[0], *self._below_at, address(entries), len(entries), data, len(data),
                address(mask), self._scratch[3],
            )  # fmt: skip
        return self._exits[:count].copy()

    def words(
        self, entries: np.ndarray, words: WordList, place: tuple[int, int, int], first: np.ndarray,
        mask: np.ndarray, escapes: bool,
    ) -> Found:  # fmt: skip
        """See `walks.walk_words`; `place` is (low, high, read), low < high."""
        self._count(entries)
        kernels = WALKS.functions()
        *stacks, asides, origins, found = self._words
        if kernels is None:
            run(
                walk_words, *self._parts[:2], *self._below, entries, len(entries), words.bytes, words.starts,
                int(words.limited), words.labels, words.open, *place, first, int(escapes), *stacks, mask,
                self._exits, self._ends, asides, origins, found,
            )  # fmt: skip
        else:
            *stacks_at, asides_at, origins_at, found_at = self._words_at
            kernels.walk_words(
                *self._arrays[:2], *self._below_at, address(entries), len(entries), *words.addresses, *place,
                address(first), int(escapes), *stacks_at, address(mask), *self._scratch[3:], asides_at,
                origins_at, found_at,
            )  # fmt: skip
        out, aside = found.tolist()
        exits, ends = self._exits[:out].copy(), self._ends[:out].copy()
        return Found(exits, ends, asides[:aside].copy(), origins[:aside].copy())


def _roots(trie: TrieArrays) -> np.ndarray:
    """The nodes of depth 1."""
    return np.flatnonzero(trie.depth == 1).astype(np.int32)


def _signed(word: int) -> int:
    """The int64 with the bits of a uint64."""
    return word - (1 << 64) if word >> 63 else word
