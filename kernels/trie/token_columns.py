"""Tokens set in mask rows and left out of them, as columns (a bit for each token) or one by one."""

from __future__ import annotations

from sglc.kernels.dsl.language import I32, U32, kernel


@kernel
def without_columns(whole: U32, columns: U32, places: I32, count: int, words: int, row: U32) -> None:
    """Write the row `whole` without the tokens of some columns (uint32[n, words]) to `row`."""
    for word in range(words):
        row[word] = whole[word]
    for index in range(count):
        base = places[index] * words
        for word in range(words):
            row[word] &= ~columns[base + word]


@kernel
def put_tokens(tokens: I32, spans: I32, count: int, present: int, row: U32) -> None:
    """Set (present 1) or clear (0) the bits of the tokens in some spans (int32[n, 2]) of a list."""
    for index in range(count):
        start, stop = spans[2 * index], spans[2 * index + 1]
        if present:
            for at in range(start, stop):
                row[tokens[at] >> 5] |= 1 << (tokens[at] & 31)
        else:
            for at in range(start, stop):
                row[tokens[at] >> 5] &= ~(1 << (tokens[at] & 31))
