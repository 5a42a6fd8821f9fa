"""What the tokens below every node of a trie consist of, so that walks can take or leave whole subtrees.

Bytes are told apart by *groups*: an ASCII byte is a group of its own, but for control characters other than
tab and line breaks, which share one; all bytes from 0x80 on are `OTHER`. Tokens with one of the control
characters U+0080-U+009F have `CONTROL_1` as well, tokens that begin or end inside a character `PARTIAL`. A
set of groups is 128 bits, held as two uint64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sglc.kernels.typed import I32, U8, U64, kernel

CONTROL, TILDE, CONTROL_1, OTHER, PARTIAL = 1, 2, 3, 126, 127
GROUP = np.full(256, OTHER, np.uint8)
"""uint8[256]: the groups of bytes."""
GROUP[:128] = np.arange(128)
GROUP[:32] = CONTROL
GROUP[[9, 10, 13]] = 9, 10, 13
GROUP[0x7E], GROUP[0x7F] = TILDE, CONTROL

_BROKEN = 8


@dataclass(frozen=True, slots=True, eq=False)
class TokenGroups:
    """The facts about one trie of n nodes.

    below  uint64[n, 2]   the groups in the tokens of a node's subtree, without the path to the node
    tall   int32[n]       the most characters of a token of the subtree, without that path
    order  int32[T]       all tokens by node
    begins int32[n + 1]   where the tokens of each node begin in `order`
    """

    below: np.ndarray
    tall: np.ndarray
    order: np.ndarray
    begins: np.ndarray


@kernel
def continued(state: int, read: int) -> int:
    """Inside a character of UTF-8: what is to come after one more byte, `_BROKEN` after a wrong one.

    0 nothing; 1 to 3 so many more bytes; 4 to 7 the second byte after E0, F0, ED, F4.
    """
    if state == 0:
        if read < 0x80:
            return 0
        if read < 0xC2 or read > 0xF4:
            return _BROKEN
        if read < 0xE0:
            return 1
        if read < 0xF0:
            return 4 if read == 0xE0 else 6 if read == 0xED else 2
        return 5 if read == 0xF0 else 7 if read == 0xF4 else 3
    if state == _BROKEN or read < 0x80 or read > 0xBF:
        return _BROKEN
    if state <= 3:
        return state - 1
    if state == 4:
        return 1 if read >= 0xA0 else _BROKEN
    if state == 6:
        return 1 if read < 0xA0 else _BROKEN
    if state == 5:
        return 2 if read >= 0x90 else _BROKEN
    return 2 if read < 0x90 else _BROKEN


@kernel
def group_tokens(
    byte: U8, depth: I32, token: I32, duplicates: I32, parents: I32, count: int, group: U8, states: I32,
    own: U64, below: U64, tall: I32, order: I32, begins: I32,
) -> None:  # fmt: skip
    """See `TokenGroups`. parents int32[n], of inner nodes; states int32[deepest + 1], own uint64[n, 2]."""
    out = 0
    for node in range(count):
        level, read, index = depth[node], byte[node], token[node]
        before = states[level - 1] if level > 1 else 0
        state = continued(before, read)
        states[level] = state
        begins[node] = out
        if index >= 0:
            order[out] = index
            out += 1
        elif index < -1:
            place = -2 - index
            while duplicates[place] >= 0:
                order[out] = duplicates[place]
                place += 1
                out += 1
        kind = group[read]
        own[2 * node + (kind >> 6)] = 1 << (kind & 63)
        if index != -1 and state != 0:
            own[2 * node + (PARTIAL >> 6)] |= 1 << (PARTIAL & 63)
        if level > 1 and read >= 0x80 and read < 0xA0 and byte[parents[node]] == 0xC2:
            own[2 * node + (CONTROL_1 >> 6)] |= 1 << (CONTROL_1 & 63)
    begins[count] = out
    node = count
    while node > 0:
        node -= 1
        if depth[node] > 1:
            above = parents[node]
            below[2 * above] |= below[2 * node] | own[2 * node]
            below[2 * above + 1] |= below[2 * node + 1] | own[2 * node + 1]
            lead = 1 if byte[node] < 0x80 or byte[node] >= 0xC0 else 0
            tall[above] = max(tall[above], tall[node] + lead)
