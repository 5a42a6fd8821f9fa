"""The arrays of a token trie that walks read: the trie itself, and what lies below its nodes."""

from __future__ import annotations

import numpy as np

from sglc.kernels.dsl.array_layouts import LayoutError
from sglc.kernels.dsl.language import I32, I64, U8, U64
from sglc.kernels.dsl.structs import Given, Struct, shape


class TrieArrays(Struct):
    """A token trie in preorder. `sglc.runtime.mask.vocabulary.trie.Trie` has their meaning.

    Depths are from 1, at most one more than that of the node before. `token` is an id; -1 none; -2 - k: ids
    in duplicates[k:] up to -1. `words` is the length of the mask rows that walks write.
    """

    byte: U8 = shape("nodes")
    depth: I32 = shape("nodes")
    end: I32 = shape("nodes")
    token: I32 = shape("nodes")
    duplicates: I32
    deepest: int
    words: int

    def __init__(self, **values: Given) -> None:
        super().__init__(**values)
        self._check()

    def _check(self) -> None:
        """Raise LayoutError where the numbers are not those of a trie."""
        token, duplicates, end = self.arrays[3], self.arrays[4], self.arrays[2]
        depth, n = self.arrays[1], len(self.byte)
        if not n:
            return
        if depth[0] != 1 or (np.diff(depth) > 1).any() or depth.min() < 1:
            raise LayoutError("depths are not those of a preorder")
        if depth.max() > self.deepest:
            raise LayoutError("a node is deeper than `deepest`")
        if (end <= np.arange(n)).any() or end.max() > n:
            raise LayoutError("subtree ends must lie after their nodes")
        top = max(int(token.max()), int(duplicates.max(initial=-1)))
        if top >= 32 * self.words:
            raise LayoutError("a token id does not fit into the mask")
        shared = -2 - token[token < -1]
        if len(shared) and (shared.max() >= len(duplicates) or duplicates[-1] != -1):
            raise LayoutError("duplicates must end with -1 and hold every run")


class Subtrees(Struct):
    """What lies below the nodes of a trie: their children side by side, and what their tokens consist of.

    starts     children of node i are at starts[i] to starts[i + 1]
    nodes      the children in order; behind them the topmost nodes
    bytes      their bytes
    parents    of nodes, -1 of the topmost
    places     where each node is among the children
    facts      what a walk reads of a child: its number (32 bits), byte (8), the most characters of a token
               of its subtree without the path to it (24); its end (32), its token as in the trie (32); the
               groups of its subtree's tokens without that path, see `token_groups`
    order      all tokens by node
    begins     where the tokens of each node begin in `order`
    parts      the tokens with `PARTIAL` by node, which begin or end inside a character
    firsts     where those of each node begin in `parts`
    read       the characters begun on the path to a node
    spelled    the same inside a JSON string, where escapes are one character
    tokens     the characters begun by each token inside a JSON string
    duplicates those of the trie
    group      the groups of bytes
    scripts    (lowest, highest character, group), in order
    """

    starts: I32 = shape("nodes and one")
    nodes: I32 = shape("nodes")
    bytes: U8 = shape("nodes")
    parents: I32 = shape("nodes")
    places: I32 = shape("nodes")
    facts: U64 = shape("nodes", 4)
    order: I32 = shape("tokens")
    begins: I32 = shape("nodes and one")
    parts: I32 = shape("tokens")
    firsts: I32 = shape("nodes and one")
    read: I32 = shape("nodes")
    spelled: I32 = shape("nodes")
    tokens: I32 = shape("ids")
    duplicates: I32
    group: U8 = shape(256)
    scripts: I32 = shape("scripts", 3)


class LexemeArrays(Struct):
    """A lexeme as an automaton over bytes; a new record is made when it grows.

    rows    the next state or -1
    flags   BOUNDARY, ENDS, KNOWN of `walks`
    lo, hi  fewest and most characters from a state to the end of a word
    labels  sets of what may still be meant from a state, in words of 64 bits; rows without words where
            nothing is limited
    """

    rows: I32 = shape("states", 256)
    flags: U8 = shape("states")
    lo: I32 = shape("states")
    hi: I32 = shape("states")
    labels: U64 = shape("labelled", "width")


class CharacterArrays(Struct):
    """A lexeme as an automaton over characters, see `utf8_walk`; a new record is made when it grows.

    encoding       how characters are written: RAW, JSON, JSON_ANY
    edges          (lowest, highest character, state) of the states that are loaded
    starts, sizes  where each state's edges are, and how many
    rows           states + 1 after the first 128 characters, or 0; see `utf8_walk.make_row`
    flags          LOADED, ENDS, KNOWN
    loops          groups of bytes that lead back to a state
    blocks, wide   `codepoint_blocks` of the states that have some, and which are a state's, or -1
    lo, hi, labels as in `LexemeArrays`
    """

    encoding: int
    edges: I32 = shape("edges", 3)
    starts: I32 = shape("states")
    sizes: I32 = shape("states")
    rows: I32 = shape("states", 128)
    flags: U8 = shape("states")
    loops: U64 = shape("states", 2)
    blocks: I32 = shape("wide", 1024)
    wide: I32 = shape("states")
    lo: I32 = shape("states")
    hi: I32 = shape("states")
    labels: U64 = shape("states", "width")


class Quiet(Struct):
    """Bytes after which a lexeme stays alive, and what need not be walked because of them.

    below   the groups of bytes below each node of the trie
    bytes   whether a byte is one of characters that lead from the first state to states that are alive,
            without end
    groups  of bytes that need not be walked
    home    the state after each of these characters, or -1 if that may be any
    """

    below: U64 = shape("nodes", 2)
    bytes: U8 = shape(256)
    groups: U64 = shape(2)
    home: int


class Words(Struct):
    """Words in sorted order without repeats.

    bytes    of all words
    starts   where each word begins, and the end of the last
    labels   of words, if only some of them count
    open     the set of the labels of those that count
    limited  whether only some count, 1 or 0
    """

    bytes: U8
    starts: I64
    labels: I32
    open: U64
    limited: int


class At:
    """Places in the cursor of a walk, and their number.

    The first five say how far it has come: entry, node or -1 before the entry's first node (in
    `walk_characters` the level), boundaries written, the level down to which all is quiet, the most
    characters of a token or before a boundary that was found. Then what is asked: the number of entries; the
    state and mode in which the lexeme is; fewest and most characters still to come; whether entries
    themselves may be boundaries; the quiet state; words of 64 bits of a label.

    Where words are walked, the same places have the first word and that behind the last, the bytes of them
    that have been read, and whether nodes with a backslash are wanted.
    """

    ENTRY, NODE, OUT, CALM, REACH, COUNT, STATE, LEAST, MOST, EAGER, MODE, HOME, WIDTH, PLACES = range(14)
    WORDS, WORDS_END, WORDS_READ, ESCAPES = STATE, LEAST, MOST, EAGER


class TrieWalk(Struct):
    """Where a walk works: stacks by depth, its cursor, and what it finds.

    states to stops      of `walk_lexeme`, `walk_characters`
    lows, highs          the words that go on like a path
    next_words           from which of them on the next child is searched
    kids, last_kids      the children that are still to be looked at
    boundaries, ends     nodes at which a text after the lexeme may begin; the state or word before each
    asides, origins      nodes with a backslash, and (low, high, read) of the words they were met at
    found                the numbers of boundaries and of asides
    """

    states: I32 = shape("levels")
    counts: I32 = shape("levels")
    modes: I32 = shape("levels")
    values: I64 = shape("levels")
    nexts: I32 = shape("levels")
    stops: I32 = shape("levels")
    lows: I64 = shape("levels")
    highs: I64 = shape("levels")
    next_words: I64 = shape("levels")
    kids: I32 = shape("levels")
    last_kids: I32 = shape("levels")
    cursor: I64 = shape(At.PLACES)
    boundaries: I32 = shape("boundaries")
    ends: I32 = shape("boundaries")
    asides: I32 = shape("asides")
    origins: I64 = shape("asides", 3)
    found: I64 = shape(2)
