"""Whether anything may follow a configuration of a walk, where some characters are barred."""

from __future__ import annotations

from sglc.kernels.dsl.language import I32, I64, U8, U64, kernel, kernel_noinline
from sglc.kernels.gss.closure import KNOWN, close
from sglc.kernels.gss.frames import (
    ACCEPTED,
    ASKED,
    ASKED_FOR,
    ASKS,
    BARRED,
    DONE,
    LISTED,
    STATE,
    THREADS,
    ask,
)
from sglc.kernels.gss.states import put_down, unpack
from sglc.kernels.trie.walks import search_word


@kernel
def goes_on_with(rows: I32, bar_rows: I32, state: int, bar: int) -> int:
    """Whether a state of a terminal may read a character that is not barred: 1 it may, 0 not, 2 that is not
    decided by one byte."""
    found = 0
    for byte in range(256):
        if rows[(state << 8) + byte] >= 0:
            behind = bar_rows[(bar << 8) + byte]
            if behind == 0:
                return 1
            if behind > 0:
                found = 2
    return found


@kernel
def word_goes_on_with(
    words: U8, word_starts: I64, bar_rows: I32, low: int, high: int, read: int, bar: int
) -> int:
    """The same for a place in a list of words."""
    found = 0
    while low < high:
        byte = words[word_starts[low] + read]
        behind = bar_rows[(bar << 8) + byte]
        if behind == 0:
            return 1
        if behind > 0:
            found = 2
        low = search_word(words, word_starts, low, high, read, byte + 1)
    return found


@kernel_noinline
def any_goes_on(
    rows: I32, flags: U8, words: U8, word_starts: I64, places: I32, bar_rows: I32, bar_flags: U8,
    threads: I32, count: int, asked: I32, cursor: I64,
) -> int:  # fmt: skip
    """Whether one of some threads may go on, under its bar: 1 it may, 0 not, 2 that is not decided by one
    byte, -1 something has to be made first."""
    found = may = 0
    before = cursor[ASKS]
    for thread in range(count):
        state, bar = threads[3 * thread], threads[3 * thread + 2]
        if bar == 0:
            return 1
        if bar_flags[bar] & KNOWN == 0:
            ask(asked, cursor, BARRED, bar)
        elif state >= LISTED:
            at = 4 * (state - LISTED)
            may = word_goes_on_with(
                words, word_starts, bar_rows, places[at], places[at + 1], places[at + 2], bar
            )
        elif flags[state] & KNOWN == 0:
            ask(asked, cursor, STATE, state)
        else:
            may = goes_on_with(rows, bar_rows, state, bar)
        if may == 1:
            return 1
        found = max(found, may)
    return -1 if cursor[ASKS] > before else found


@kernel_noinline
def may_follow(
    program: I32, lists: I32, firsts: U64, frames: I32, rows: I32, begins_of: U64, flags: U8, words: U8,
    word_starts: I64, behind: I32, bar_rows: I32, bar_flags: U8, bar_starts: I32, open_bytes: U64,
    unions: I32, bars: bool, places: I32, listed: I32, made: I32, links: I32, fresh: I32, settled: I32,
    edges: I32, threads: I32, work: I32, ended: I32, keys: I64, stamps: I32, values: I32, configs: I32,
    pool: I64, sets: U64, config: int, asked: I32, cursor: I64,
) -> int:  # fmt: skip
    """Find whether anything may follow a configuration, or the text may end. Returns DONE, ASKED, FULL or
    TOO_MUCH."""
    here = 6 * config
    begin, count, ready = configs[here], configs[here + 1], configs[here + 2]
    before = cursor[ASKED_FOR]
    if ready > 0 and not bars:
        configs[here + 4] = 1
        return DONE
    unpack(pool, begin, count, threads)
    follows = any_goes_on(
        rows, flags, words, word_starts, places, bar_rows, bar_flags, threads, count, asked, cursor
    )
    if follows < 0:
        return ASKED
    if follows != 1 and ready > 0:
        # Something that no token reads on may follow.
        cursor[THREADS] = 0
        put_down(pool, begin + count, ready, work)
        code = close(
            program, lists, firsts, frames, open_bytes, unions, bar_starts, words, word_starts, behind,
            begins_of, places, listed, made, links, fresh, settled, edges, threads, work, ready, ended, keys,
            stamps, values, sets, True, asked, cursor,
        )  # fmt: skip
        if code != DONE:
            return code
        later = 1
        if cursor[ACCEPTED] == 0:
            later = any_goes_on(
                rows, flags, words, word_starts, places, bar_rows, bar_flags, threads, cursor[THREADS], asked,
                cursor,
            )  # fmt: skip
            if later < 0:
                return ASKED
        follows = later if later == 1 else max(follows, later)
    # Where something surely follows, the rest need not be known.
    cursor[ASKED_FOR] = before
    configs[here + 4] = follows if follows == 1 else 3 if follows == 2 else 2
    return DONE
