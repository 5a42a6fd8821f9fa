"""The subset construction (Rabin and Scott, 1959), as far as walks come: subsets are sets of bits.

The characters of the automaton are cut into *pieces* that none of its edges distinguishes. States of the
deterministic automaton are numbered as they are met, found again by hashing, and loaded into the arrays of
`character_walk`, in which state s is number s + 1.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import I32, I64, U64, kernel, trailing_zeros
from sglc.kernels.dsl.structs import Struct, shape
from sglc.kernels.trie.arrays import CharacterArrays
from sglc.kernels.trie.utf8_walk import LOADED
from sglc.kernels.trie.walks import ENDS

_PART = 0x7FFFFFFF
_FACTOR = 0x5BD1E995
"""The multiplier of MurmurHash 2; products of 31 bits each have room in 64."""


class Subsets(Struct):
    """The subsets of an automaton.

    cuts              where pieces begin
    steps             what each state of the automaton leads to, by piece
    last, everything  the states in which words may end, and those after which all texts are words
    sets              by number of a subset: its states
    table             numbers + 1 by hash, 0 for none
    """

    width: int
    pieces: int
    size: int
    cuts: I32
    steps: U64 = shape("automaton", "pieces", "width")
    last: U64 = shape("width")
    everything: U64 = shape("width")
    sets: U64 = shape("subsets", "width")
    table: I32 = shape("size")


@kernel
def meet_subset(subsets: Subsets, count: int) -> int:
    """The number of the subset that lies behind `count` others, which is `count` if it is new.

    The size of the table is a power of two.
    """
    sets, width, table, size = subsets.sets, subsets.width, subsets.table, subsets.size
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
    lexeme: CharacterArrays, subsets: Subsets, first: int, want: int, few: int, loaded: I32, cursor: I64
) -> int:
    """Load a state and, of those that have no more than `few` edges, their targets, up to `want` in all; how
    many have been loaded.

    loaded int32[want] are those that have been. cursor int64[2]: how many states and edges there are.
    """
    edges, flags = lexeme.edges, lexeme.flags
    width, pieces, cuts, everything = subsets.width, subsets.pieces, subsets.cuts, subsets.everything
    sets = subsets.sets
    count, edge = cursor[0], cursor[1]
    loaded[0] = first
    flags[first + 1] = LOADED
    known, done = 1, 0
    while done < known:
        state, begin, before = loaded[done], edge, -1
        done += 1
        ends = 0
        for word in range(width):
            if sets[state * width + word] & subsets.last[word] != 0:
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
                        sets[new + part] |= subsets.steps[(member * pieces + piece) * width + part]
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
            target = meet_subset(subsets, count)
            if target == count:
                count += 1
            if target == before:
                edges[3 * edge - 2] = cuts[piece + 1] - 1
                continue
            before = target
            edges[3 * edge], edges[3 * edge + 1] = cuts[piece], cuts[piece + 1] - 1
            edges[3 * edge + 2] = target + 1
            edge += 1
        lexeme.starts[state + 1], lexeme.sizes[state + 1] = begin, edge - begin
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
def list_subsets(subsets: Subsets, count: int) -> None:
    """Take the numbers of all subsets into an empty table."""
    for number in range(count):
        meet_subset(subsets, number)
