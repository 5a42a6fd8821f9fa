"""Whether any text may follow a configuration of a walk, under its negative lookaheads."""

from __future__ import annotations

from sglc.kernels.dsl.language import kernel, kernel_noinline
from sglc.kernels.gss.arrays import At, First, Grammar, Learned, Need, Result, TextFlag, Walk
from sglc.kernels.gss.closure import close
from sglc.kernels.gss.frames import request
from sglc.kernels.gss.states import put_down, unpack
from sglc.kernels.trie.walks import search_word


@kernel
def goes_on_with(grammar: Grammar, state: int, lookahead: int) -> int:
    """Whether a state of a terminal may read an allowed character: 1 it may, 0 not, 2 one byte does not
    decide."""
    found = 0
    for byte in range(256):
        if grammar.rows[(state << 8) + byte] >= 0:
            behind = grammar.lookahead_rows[(lookahead << 8) + byte]
            if behind == 0:
                return 1
            if behind > 0:
                found = 2
    return found


@kernel
def word_goes_on_with(grammar: Grammar, low: int, high: int, read: int, lookahead: int) -> int:
    """The same for a place in a list of words."""
    words, word_starts = grammar.words, grammar.word_starts
    found = 0
    while low < high:
        byte = words[word_starts[low] + read]
        behind = grammar.lookahead_rows[(lookahead << 8) + byte]
        if behind == 0:
            return 1
        if behind > 0:
            found = 2
        low = search_word(words, word_starts, low, high, read, byte + 1)
    return found


@kernel_noinline
def any_goes_on(grammar: Grammar, learned: Learned, walk: Walk, count: int) -> int:
    """Whether one of some threads may go on, under its lookahead: 1 it may, 0 not, 2 one byte does not
    decide, -1 tables must be made first."""
    places = learned.places
    threads, cursor = walk.threads, walk.cursor
    found = may = 0
    before = cursor[At.REQUESTS]
    for thread in range(count):
        state, lookahead = threads[3 * thread], threads[3 * thread + 2]
        if lookahead == 0:
            return 1
        if grammar.lookahead_flags[lookahead] & TextFlag.KNOWN == 0:
            request(walk, Need.LOOKAHEAD, lookahead)
        elif state >= First.LISTED:
            at = 4 * (state - First.LISTED)
            may = word_goes_on_with(grammar, places[at], places[at + 1], places[at + 2], lookahead)
        elif grammar.flags[state] & TextFlag.KNOWN == 0:
            request(walk, Need.STATE, state)
        else:
            may = goes_on_with(grammar, state, lookahead)
        if may == 1:
            return 1
        found = max(found, may)
    return -1 if cursor[At.REQUESTS] > before else found


@kernel_noinline
def may_follow(grammar: Grammar, learned: Learned, walk: Walk, config: int) -> int:
    """Find whether anything may follow a configuration, or the text may end.

    Returns DONE, NEEDS_TABLES, FULL or TOO_MUCH.
    """
    configs = learned.configs
    cursor = walk.cursor
    here = 6 * config
    begin, count, ready = configs[here], configs[here + 1], configs[here + 2]
    before = cursor[At.REQUESTED]
    if ready > 0 and not cursor[At.LOOKS_AHEAD]:
        configs[here + 4] = 1
        return Result.DONE
    unpack(learned, walk, begin, count)
    follows = any_goes_on(grammar, learned, walk, count)
    if follows < 0:
        return Result.NEEDS_TABLES
    if follows != 1 and ready > 0:
        # Something that no token reads on may follow.
        cursor[At.THREADS] = 0
        put_down(learned, walk, begin + count, ready)
        code = close(grammar, learned, walk, ready, True)
        if code != Result.DONE:
            return code
        later = 1
        if cursor[At.ACCEPTED] == 0:
            later = any_goes_on(grammar, learned, walk, cursor[At.THREADS])
            if later < 0:
                return Result.NEEDS_TABLES
        follows = later if later == 1 else max(follows, later)
    # Where something surely follows, the rest need not be known.
    cursor[At.REQUESTED] = before
    configs[here + 4] = follows if follows == 1 else 3 if follows == 2 else 2
    return Result.DONE
