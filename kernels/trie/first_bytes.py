"""The bytes with which a text goes on from a state of an automaton that reads characters."""

from __future__ import annotations

from sglc.kernels.dsl.language import U8, U64, kernel
from sglc.kernels.trie.arrays import CharacterArrays
from sglc.kernels.trie.codepoint_blocks import goes_on
from sglc.kernels.trie.utf8_walk import JSON, JSON_ANY, RAW
from sglc.kernels.trie.walks import BACKSLASH


@kernel
def lead_byte(point: int) -> int:
    """The first byte of UTF-8."""
    if point < 0x80:
        return point
    if point < 0x800:
        return 0xC0 | (point >> 6)
    return 0xE0 | (point >> 12) if point < 0x10000 else 0xF0 | (point >> 18)


@kernel
def list_first(
    lexeme: CharacterArrays, state: int, least: int, most: int, width: int, open: U64, found: U8
) -> None:
    """The bytes with which a loaded state goes on, with `least` to `most` characters to come: uint8[256]."""
    encoding, edges, starts = lexeme.encoding, lexeme.edges, lexeme.starts
    for at in range(starts[state], starts[state] + lexeme.sizes[state]):
        if not goes_on(lexeme, edges[3 * at + 2], least - 1, most - 1, width, open):
            continue
        low, high = edges[3 * at], edges[3 * at + 1]
        if encoding == JSON_ANY or (
            encoding == JSON
            and (low < 0x20 or (low <= 0x22 and high >= 0x22) or (low <= BACKSLASH and high >= BACKSLASH))
        ):
            found[BACKSLASH] = 1
        for read in range(low, min(high, 0x7F) + 1):
            if encoding == RAW or (read >= 0x20 and read != 0x22 and read != BACKSLASH):
                found[read] = 1
        if high >= 0x80:
            for read in range(lead_byte(max(low, 0x80)), lead_byte(high) + 1):
                found[read] = 1
