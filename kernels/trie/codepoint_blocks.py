"""Characters by blocks of 64, where a state has too many edges to look among them for each character.

A block is what follows a lead byte of two, or the first two bytes of three: one look says that no character
of it goes on, or that all lead to one state. In others the edges are looked at from the first that touches
them.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import U64, kernel
from sglc.kernels.trie.arrays import CharacterArrays

BLOCKS = 1024
"""How many there are up to U+FFFF."""


@kernel
def make_blocks(lexeme: CharacterArrays, base: int, start: int, stop: int) -> None:
    """By block: -1 if no character of it goes on, the state if all lead to one, else -2 - an edge."""
    edges, blocks = lexeme.edges, lexeme.blocks
    at = start
    for block in range(BLOCKS):
        low = block << 6
        while at < stop and edges[3 * at + 1] < low:
            at += 1
        if at == stop or edges[3 * at] > low + 63:
            blocks[base + block] = -1
        elif edges[3 * at] <= low and edges[3 * at + 1] >= low + 63:
            blocks[base + block] = edges[3 * at + 2]
        else:
            blocks[base + block] = -2 - at


@kernel
def goes_on(lexeme: CharacterArrays, state: int, least: int, most: int, width: int, open: U64) -> int:
    """1 if a word leads from a state with so many characters to come, else 0."""
    if lexeme.lo[state] > most or lexeme.hi[state] < least:
        return 0
    for word in range(width):
        if lexeme.labels[state * width + word] & open[word] != 0:
            return 1
    return 1 if width == 0 else 0


@kernel
def block_goes_on(
    lexeme: CharacterArrays, low: int, base: int, stop: int, least: int, most: int, width: int, open: U64
) -> int:
    """1 if a word goes on with one of the 64 characters from `low` on."""
    edges = lexeme.edges
    found = lexeme.blocks[base + (low >> 6)]
    if found >= 0:
        return goes_on(lexeme, found, least, most, width, open)
    if found == -1:
        return 0
    at = -2 - found
    while at < stop and edges[3 * at] <= low + 63:
        if goes_on(lexeme, edges[3 * at + 2], least, most, width, open):
            return 1
        at += 1
    return 0


@kernel
def block_target(lexeme: CharacterArrays, point: int, base: int, stop: int) -> int:
    """The state after a character up to U+FFFF, -1 if there is none."""
    edges = lexeme.edges
    found = lexeme.blocks[base + (point >> 6)]
    if found >= -1:
        return found
    at = -2 - found
    while at < stop and edges[3 * at + 1] < point:
        at += 1
    if at < stop and edges[3 * at] <= point:
        return edges[3 * at + 2]
    return -1
