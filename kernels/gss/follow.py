"""Whether any text may follow a configuration of a walk, under its negative lookaheads."""

from __future__ import annotations

from sglc.kernels.dsl.language import I32, I64, U8, U64, kernel, kernel_noinline
from sglc.kernels.gss.closure import KNOWN, close
from sglc.kernels.gss.frames import (
    ACCEPTED,
    DONE,
    LISTED,
    LOOKAHEAD,
    NEEDS_TABLES,
    REQUESTED,
    REQUESTS,
    STATE,
    THREADS,
    request,
)
from sglc.kernels.gss.states import put_down, unpack
from sglc.kernels.trie.walks import search_word


@kernel
def goes_on_with(rows: I32, lookahead_rows: I32, state: int, lookahead: int) -> int:
    """Whether a state of a terminal may read an allowed character: 1 it may, 0 not, 2 one byte does not
    decide."""
    found = 0
    for byte in range(256):
        if rows[(state << 8) + byte] >= 0:
            behind = lookahead_rows[(lookahead << 8) + byte]
            if behind == 0:
                return 1
            if behind > 0:
                found = 2
    return found


@kernel
def word_goes_on_with(
    words: U8, word_starts: I64, lookahead_rows: I32, low: int, high: int, read: int, lookahead: int
) -> int:
    """The same for a place in a list of words."""
    found = 0
    while low < high:
        byte = words[word_starts[low] + read]
        behind = lookahead_rows[(lookahead << 8) + byte]
        if behind == 0:
            return 1
        if behind > 0:
            found = 2
        low = search_word(words, word_starts, low, high, read, byte + 1)
    return found


@kernel_noinline
def any_goes_on(
    rows: I32, flags: U8, words: U8, word_starts: I64, places: I32, lookahead_rows: I32, lookahead_flags: U8,
    threads: I32, count: int, requests: I32, cursor: I64,
) -> int:  # fmt: skip
    """Whether one of some threads may go on, under its lookahead: 1 it may, 0 not, 2 one byte does not
    decide, -1 tables must be made first."""
    found = may = 0
    before = cursor[REQUESTS]
    for thread in range(count):
        state, lookahead = threads[3 * thread], threads[3 * thread + 2]
        if lookahead == 0:
            return 1
        if lookahead_flags[lookahead] & KNOWN == 0:
            request(requests, cursor, LOOKAHEAD, lookahead)
        elif state >= LISTED:
            at = 4 * (state - LISTED)
            may = word_goes_on_with(
                words, word_starts, lookahead_rows, places[at], places[at + 1], places[at + 2], lookahead
            )
        elif flags[state] & KNOWN == 0:
            request(requests, cursor, STATE, state)
        else:
            may = goes_on_with(rows, lookahead_rows, state, lookahead)
        if may == 1:
            return 1
        found = max(found, may)
    return -1 if cursor[REQUESTS] > before else found


@kernel_noinline
def may_follow(
    program: I32, lists: I32, firsts: U64, frames: I32, rows: I32, begins_of: U64, flags: U8, words: U8,
    word_starts: I64, behind: I32, lookahead_rows: I32, lookahead_flags: U8, lookahead_starts: I32,
    open_bytes: U64, unions: I32, lookaheads: bool, places: I32, listed: I32, made: I32, links: I32,
    fresh: I32, settled: I32, edges: I32, threads: I32, work: I32, ended: I32, keys: I64, stamps: I32,
    values: I32, configs: I32, pool: I64, sets: U64, config: int, requests: I32, cursor: I64,
) -> int:  # fmt: skip
    """Find whether anything may follow a configuration, or the text may end.

    Returns DONE, NEEDS_TABLES, FULL or TOO_MUCH.
    """
    here = 6 * config
    begin, count, ready = configs[here], configs[here + 1], configs[here + 2]
    before = cursor[REQUESTED]
    if ready > 0 and not lookaheads:
        configs[here + 4] = 1
        return DONE
    unpack(pool, begin, count, threads)
    follows = any_goes_on(
        rows,
        flags,
        words,
        word_starts,
        places,
        lookahead_rows,
        lookahead_flags,
        threads,
        count,
        requests,
        cursor,
    )
    if follows < 0:
        return NEEDS_TABLES
    if follows != 1 and ready > 0:
        # Something that no token reads on may follow.
        cursor[THREADS] = 0
        put_down(pool, begin + count, ready, work)
        code = close(
            program, lists, firsts, frames, open_bytes, unions, lookahead_starts, words, word_starts, behind,
            begins_of, places, listed, made, links, fresh, settled, edges, threads, work, ready, ended, keys,
            stamps, values, sets, True, requests, cursor,
        )  # fmt: skip
        if code != DONE:
            return code
        later = 1
        if cursor[ACCEPTED] == 0:
            later = any_goes_on(
                rows, flags, words, word_starts, places, lookahead_rows, lookahead_flags, threads,
                cursor[THREADS], requests, cursor,
            )  # fmt: skip
            if later < 0:
                return NEEDS_TABLES
        follows = later if later == 1 else max(follows, later)
    # Where something surely follows, the rest need not be known.
    cursor[REQUESTED] = before
    configs[here + 4] = follows if follows == 1 else 3 if follows == 2 else 2
    return DONE
