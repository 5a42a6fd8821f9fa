"""What the tokens below every node of a trie consist of, so that walks can take or leave whole subtrees.

Bytes are in *groups*. An ASCII byte is a group of its own, but control characters other than tab and line
breaks share one; all bytes from 0x80 on are `OTHER`. Every character of them has a group
as well, in the node of its last byte: `CONTROL_1` for the control characters U+0080-U+009F, `SEPARATOR` for
the line separators U+2028 and U+2029, one for the letters of each of some scripts (`SCRIPTS`), `REST` for all
others. Tokens that begin or end inside a character have `PARTIAL`, and those that no text begins with
`BROKEN` too. A set of groups is 128 bits, held as two uint64.
"""

from __future__ import annotations

import numpy as np

from sglc.kernels.dsl.language import I32, U64, kernel
from sglc.kernels.dsl.structs import Struct, shape
from sglc.kernels.trie.arrays import Subtrees, TrieArrays
from sglc.kernels.trie.walks import find_edge


class Group:
    """The groups that are not those of one byte or one script; REST is of all other characters."""

    CONTROL, TILDE, CONTROL_1, SEPARATOR, BROKEN, REST, OTHER, PARTIAL = 1, 2, 3, 4, 5, 29, 126, 127


class Fact:
    """Where the parts of a node's first word are: its number, its byte, the most characters below it."""

    LOW, BYTE, TALL = 0xFFFFFFFF, 32, 40


GROUP = np.full(256, Group.OTHER, np.uint8)
"""uint8[256]: the groups of bytes."""
GROUP[:128] = np.arange(128)
GROUP[:32] = Group.CONTROL
GROUP[[9, 10, 13]] = 9, 10, 13
GROUP[0x7E], GROUP[0x7F] = Group.TILDE, Group.CONTROL

BACKSLASH = 0x5C
LAST_POINT = 0x1FFFFF
_LETTERS: dict[int, tuple[tuple[int, int], ...]] = {
    14: ((0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0xFF)),
    15: ((0x100, 0x24F), (0x1E00, 0x1EFF)),
    16: ((0x386, 0x386), (0x388, 0x38A), (0x38C, 0x38C), (0x38E, 0x3A1), (0x3A3, 0x3CE)),
    17: ((0x410, 0x44F),),
    18: ((0x400, 0x40F), (0x450, 0x481), (0x48A, 0x52F)),
    19: ((0x5D0, 0x5EA),),
    20: ((0x620, 0x64A), (0x671, 0x6D3)),
    21: ((0x904, 0x939),),
    22: ((0xE01, 0xE30), (0xE32, 0xE33), (0xE40, 0xE46)),
    23: ((0x3041, 0x3093),),
    24: ((0x30A1, 0x30F6),),
    25: ((0x4E00, 0x9FA5),),
    26: ((0xAC00, 0xD7A3),),
    27: ((0x300, 0x36F), (0x64B, 0x655), (0x93E, 0x94D), (0xE31, 0xE31), (0xE34, 0xE3A), (0xE47, 0xE4E)),
}
"""By group: Latin (two), Greek, Cyrillic (two), Hebrew, Arabic, Devanagari, Thai, Hiragana, Katakana, Han and
Hangul letters, as far as classes mostly have all of them or none; marks that follow letters."""
SCRIPTS: np.ndarray = np.array(
    sorted([(*part, group) for group, parts in _LETTERS.items() for part in parts]), np.int32
)
"""int32[n, 3]: (lowest, highest character, group), in order."""
SCRIPT_COUNT = len(SCRIPTS)
SCRIPT_BITS = sum([1 << group for group in _LETTERS])

_BELOW_TALL = (1 << Fact.TALL) - 1
_BROKEN = 8
_BEGUN, _UNIT, _HALF = 100, 101, 102


def aligned_facts(size: int) -> np.ndarray:
    """Room for `Subtrees.facts` of so many nodes; no node lies in two lines of memory."""
    room = np.zeros(4 * size + 8, np.uint64)
    skip = (-room.ctypes.data % 64) // 8
    return room[skip : skip + 4 * size].reshape(-1, 4)


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
def escaped(state: int, read: int) -> int:
    """Inside a JSON string: how many bytes are to come of an escape after one more byte, 0 outside of one.

    `_BEGUN` after its backslash, `_UNIT` after the u, `_HALF` where the unit may be the first of a pair.
    """
    if state == 0:
        return _BEGUN if read == BACKSLASH else 0
    if state == _BEGUN:
        return _UNIT if read == 0x75 else 0
    if state == _UNIT:
        return _HALF if read == 0x64 or read == 0x44 else 3
    if state == _HALF:
        first = read == 0x38 or read == 0x39 or read == 0x61 or read == 0x62 or read == 0x41 or read == 0x42
        return 8 if first else 2
    return state - 1


@kernel
def beyond_group(subtrees: Subtrees, point: int) -> int:
    """The group of a character beyond ASCII."""
    scripts = subtrees.scripts
    if point < 0xA0:
        return Group.CONTROL_1
    if point == 0x2028 or point == 0x2029:
        return Group.SEPARATOR
    at = find_edge(scripts, 0, SCRIPT_COUNT, point)
    if at < SCRIPT_COUNT and scripts[3 * at] <= point:
        return scripts[3 * at + 2]
    return Group.REST


class GroupScratch(Struct):
    """Where `group_tokens` works: by depth, and the groups of each node's own token."""

    points: I32 = shape("levels")
    states: I32 = shape("levels")
    escapes: I32 = shape("levels")
    own: U64 = shape("nodes", 2)


@kernel
def group_tokens(trie: TrieArrays, subtrees: Subtrees, scratch: GroupScratch, count: int) -> None:
    """Find out about the tokens of `count` nodes: the fields of `Subtrees` from `facts` to `tokens`."""
    byte, depth, token, duplicates = trie.byte, trie.depth, trie.token, trie.duplicates
    parents, places, nodes, order = subtrees.parents, subtrees.places, subtrees.facts, subtrees.order
    begins, parts, firsts = subtrees.begins, subtrees.parts, subtrees.firsts
    characters, spelled, by_token = subtrees.read, subtrees.spelled, subtrees.tokens
    points, states, escapes, own = scratch.points, scratch.states, scratch.escapes, scratch.own
    out = partial = 0
    for node in range(count):
        level, read, index = depth[node], byte[node], token[node]
        lead = 1 if read < 0x80 or read >= 0xC0 else 0
        within = escapes[level - 1] if level > 1 else 0
        escapes[level] = escaped(within, read)
        above = characters[parents[node]] if level > 1 else 0
        characters[node] = above + lead
        above = spelled[parents[node]] if level > 1 else 0
        spelled[node] = above + lead if within == 0 else above
        before = states[level - 1] if level > 1 else 0
        state = continued(before, read)
        states[level] = state
        begins[node], firsts[node] = out, partial
        if index >= 0:
            order[out] = index
            by_token[index] = spelled[node]
            out += 1
        elif index < -1:
            place = -2 - index
            while duplicates[place] >= 0:
                order[out] = duplicates[place]
                by_token[duplicates[place]] = spelled[node]
                place += 1
                out += 1
        here = 4 * places[node]
        nodes[here], nodes[here + 1] = (read << Fact.BYTE) | node, ((index & Fact.LOW) << 32) | trie.end[node]
        kind = subtrees.group[read]
        own[2 * node + (kind >> 6)] = 1 << (kind & 63)
        if index != -1 and state != 0:
            own[2 * node + (Group.PARTIAL >> 6)] |= 1 << (Group.PARTIAL & 63)
            if state == _BROKEN:
                own[2 * node] |= 1 << Group.BROKEN
            for place in range(begins[node], out):
                parts[partial] = order[place]
                partial += 1
        if read >= 0x80:
            if before == 0:
                point = read & 0x1F if read < 0xE0 else read & 0xF if read < 0xF0 else read & 7
            else:
                point = (points[level - 1] << 6 | (read & 0x3F)) & LAST_POINT
            points[level] = point
            if state == 0:
                own[2 * node] |= 1 << beyond_group(subtrees, point)
    begins[count], firsts[count] = out, partial
    node = count
    while node > 0:
        node -= 1
        if depth[node] > 1:
            parent, here = 4 * places[parents[node]], 4 * places[node]
            nodes[parent + 2] |= nodes[here + 2] | own[2 * node]
            nodes[parent + 3] |= nodes[here + 3] | own[2 * node + 1]
            ahead = 1 if byte[node] < 0x80 or byte[node] >= 0xC0 else 0
            tall = (nodes[here] >> Fact.TALL) + ahead
            if tall > nodes[parent] >> Fact.TALL:
                nodes[parent] = (nodes[parent] & _BELOW_TALL) | (tall << Fact.TALL)
