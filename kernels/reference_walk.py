"""The subtree walks in plain Python. This file defines what the compiled ones must do.

A *walk* takes a list of trie nodes, the entries. The byte of an entry is the first one to be read; its whole
subtree is walked, a branch of it is left as soon as it is not legal. `mask` int32[words] gets the bits of
the tokens reached. A walk that needs something that has not been made yet puts its place into `cursor`
int64[5] (entry, node or -1 before the entry's first node, exits written, two more of its own) and is called
again with it.
"""

from __future__ import annotations

import numpy as np

from sglc.kernels.contract import DEAD, NO_ROW, TrieArrays

BOUNDARY, ENDS, KNOWN = 1, 2, 4
"""Flags of a leaf's states: a character is complete; a word may end here; the state's row has been made."""
NO_MOVE = -1
"""In a leaf's row: no move."""


def set_bits(trie: TrieArrays, node: int, mask: np.ndarray) -> None:
    """Set the mask bits of the tokens at a node."""
    bits = mask.view(np.uint32)
    index = int(trie.token[node])
    if index >= 0:
        bits[index >> 5] |= np.uint32(1 << (index & 31))
    elif index < -1:
        place = -2 - index
        while (index := int(trie.duplicates[place])) >= 0:
            bits[index >> 5] |= np.uint32(1 << (index & 31))
            place += 1


def walk_rows(
    trie: TrieArrays, entries: np.ndarray, base: int, rows: np.ndarray, row_of: np.ndarray,
    stack: np.ndarray, cursor: np.ndarray, mask: np.ndarray,
) -> int:  # fmt: skip
    """Walk from configuration `base` by rows of configurations.

    rows int32[R, 256], row_of int32[C], stack int32[deepest + 1]. Returns the configuration whose row is
    missing, or -1 when done.
    """
    entry, node = int(cursor[0]), int(cursor[1])
    while entry < len(entries):
        top = int(entries[entry])
        if node < 0:
            node = top
            stack[trie.depth[top] - 1] = base
        while node < trie.end[top]:
            level = int(trie.depth[node])
            above = int(stack[level - 1])
            row = int(row_of[above])
            if row == NO_ROW:
                cursor[0], cursor[1] = entry, node
                return above
            following = rows[row, trie.byte[node]]
            if following == DEAD:
                node = int(trie.end[node])
                continue
            stack[level] = following
            set_bits(trie, node, mask)
            node += 1
        node = -1
        entry += 1
    return -1


def walk_leaf(
    trie: TrieArrays, entries: np.ndarray, start: int, least: int, most: int, eager: int,
    rows: np.ndarray, flags: np.ndarray, lo: np.ndarray, hi: np.ndarray, labels: np.ndarray, open: np.ndarray,
    first: np.ndarray, below: np.ndarray, quiet: np.ndarray, groups: tuple[int, int], home: int,
    states: np.ndarray, counts: np.ndarray, cursor: np.ndarray, mask: np.ndarray, exits: np.ndarray,
    ends: np.ndarray,
) -> int:  # fmt: skip
    """Walk inside one leaf from state `start`, with `least` to `most` characters still to come.

    rows int32[S, 256] next state or -1; flags uint8[S]; lo, hi int32[S] fewest and most characters from a
    state to the end of a word; first uint8[256] bytes with which the text after the leaf may begin; states,
    counts int32[deepest + 1]. Every node at which that text may begin (its byte being the first) is written
    to `exits`; entries themselves only if `eager` is 1, not 0.

    labels uint64[S, W] are sets of what may still be meant from a state, and open uint64[W] what may be meant
    at all: states without a label that is open are dead. `ends` int32 gets the state before each exit.

    `quiet` bool[256] are bytes of characters that lead from `start` to states that are alive, without end.
    While a path has had no others (and was in state `home` after every character, if that is not negative),
    a subtree whose groups (below uint64[n, 2], one bit a group) are all among `groups` is left out: the
    caller knows its tokens. cursor[3] is the level down to which that holds, cursor[4] the most characters of
    a path that was walked. Returns the state whose row is missing, or -1 when done.
    """
    entry, node, out, calm, reach = (int(value) for value in cursor)
    while entry < len(entries):
        top = int(entries[entry])
        base = int(trie.depth[top]) - 1
        if node < 0:
            node = top
            states[base], counts[base] = start, 0
            calm = base
        while node < trie.end[top]:
            level = int(trie.depth[node])
            state, taken = int(states[level - 1]), int(counts[level - 1])
            if not flags[state] & KNOWN:
                cursor[:] = entry, node, out, calm, reach
                return state
            byte = int(trie.byte[node])
            if flags[state] & ENDS and level - 1 + eager > base and taken >= least and first[byte]:
                exits[out], ends[out] = node, state
                out += 1
            target = int(rows[state, byte])
            now = taken + (1 if target >= 0 and flags[target] & BOUNDARY else 0)
            if target < 0 or lo[target] > most - now or hi[target] < least - now:
                node = int(trie.end[node])
                continue
            if len(open) and not any(int(a) & int(b) for a, b in zip(labels[target], open, strict=True)):
                node = int(trie.end[node])
                continue
            calm = min(calm, level - 1)
            at_home = home < 0 or target == home or not flags[target] & BOUNDARY
            if calm == level - 1 and quiet[byte] and at_home:
                calm = level
                if not any(int(below[node, word]) & ~groups[word] for word in (0, 1)):
                    # A token of whole characters is known to the caller, one that ends inside of one is not.
                    if not flags[target] & BOUNDARY:
                        reach = max(reach, now)
                        set_bits(trie, node, mask)
                    node = int(trie.end[node])
                    continue
            reach = max(reach, now)
            states[level], counts[level] = target, now
            set_bits(trie, node, mask)
            node += 1
        node = -1
        entry += 1
    cursor[2], cursor[4] = out, reach
    return -1


def walk_literal(
    trie: TrieArrays, entries: np.ndarray, data: np.ndarray, mask: np.ndarray, exits: np.ndarray
) -> int:
    """Follow the bytes `data` uint8[n], n > 0; the nodes after them go to `exits`.

    Returns the number of exits.
    """
    out = 0
    for top in entries.tolist():
        node, stop = top, top + 1
        for position, wanted in enumerate(data.tolist()):
            while node < stop and trie.byte[node] != wanted:
                node = int(trie.end[node])
            if node >= stop:
                break
            set_bits(trie, node, mask)
            stop = int(trie.end[node])
            node += 1
            if position == len(data) - 1:
                while node < stop:
                    exits[out] = node
                    out += 1
                    node = int(trie.end[node])
    return out
