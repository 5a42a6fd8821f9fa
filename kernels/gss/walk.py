"""The GSS walk: walks the token trie from configuration to configuration of a grammar.

The transitions of a configuration are computed when a token reaches it (`step`), and kept for later walks:
most tokens, and most masks, reach configurations that others have reached before.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import I32, I64, U8, U32, U64, kernel, kernel_noinline
from sglc.kernels.gss.closure import JOINT, WANTED
from sglc.kernels.gss.follow import may_follow
from sglc.kernels.gss.frames import (
    DONE,
    ENDED,
    FRAME_BITS,
    LEVEL,
    LEVELS,
    LOOKAHEAD_BITS,
    MANY_REQUESTED,
    MANY_REQUESTS,
    NEEDS_TABLES,
    OUTS,
    PAUSED,
    REQUESTED,
    REQUESTS,
    SPENT,
    TOO_MUCH,
    UNSURE,
    place_named,
    take,
)
from sglc.kernels.gss.states import (
    BITS,
    IN_TEXT,
    LOOPED,
    LOOPS,
    NOWHERE,
    READ,
    config_of,
    note_loops,
)
from sglc.kernels.gss.step import read_on
from sglc.kernels.trie.token_groups import LOW
from sglc.kernels.trie.utf8_walk import set_token

PAUSE = 200_000
"""Threads and items after which a walk returns PAUSED."""
MOST_UNSURE = 256
"""Nodes that are left open."""
AHEAD = 1000
"""Nodes that a walk visits behind the first with a request, to collect more requests."""


@kernel_noinline
def config_before(
    inside: I32, insides: int, begin: I32, begins: int, program: I32, lists: I32, frames: I32, flags: U8,
    begins_of: U64, words: U8, word_starts: I64, places: I32, listed: I32, taken: I32, made: I32, links: I32,
    names: I32, work: I32, outs: I64, ends: I64, some: I64, found: I32, configs: I32, bits: U64, nexts: I32,
    pool: I64, sets: U64, cursor: I64,
) -> int:  # fmt: skip
    """The number of the configuration in which a walk begins, or `-code`."""
    for number in range(insides):
        at = 6 * number
        frame = take(
            frames, program, lists, JOINT, taken, made, links, names, work, some, inside[at + 1], cursor
        )
        state, lookahead = inside[at], inside[at + 2]
        if frame < 0:
            return frame
        if lookahead >> LOOKAHEAD_BITS > 0:
            return -TOO_MUCH
        if state < 0:
            state = place_named(
                words, word_starts, places, listed, cursor, inside[at + 3], inside[at + 4], inside[at + 5]
            )
            if state < 0:
                return state
        outs[number] = (state << (FRAME_BITS + LOOKAHEAD_BITS)) | (lookahead << FRAME_BITS) | frame
    for number in range(begins):
        frame = take(
            frames, program, lists, JOINT, taken, made, links, names, work, some, begin[2 * number + 1],
            cursor,
        )  # fmt: skip
        if frame < 0:
            return frame
        ends[number] = ((begin[2 * number] + 1) << FRAME_BITS) | frame
    cursor[OUTS], cursor[ENDED] = insides, begins
    return config_of(
        flags, begins_of, places, made, links, names, outs, ends, some, found, configs, bits, nexts, pool,
        sets, cursor,
    )  # fmt: skip


@kernel
def walk_grammar(
    nodes: U64, duplicates: I32, starts: I32, places_of: I32, bytes: U8, order: I32, firsts_of: I32,
    entries: I32, entry_bytes: U8, count: int, inside: I32, insides: int, begin: I32, begins: int,
    program: I32, lists: I32, firsts: U64, frames: I32, rows: I32, begins_of: U64, flags: U8, loops: U64,
    words: U8, word_starts: I64, behind: I32, lookahead_rows: I32, lookahead_flags: U8,
    lookahead_starts: I32, open_bytes: U64, unions: I32, lookaheads: bool, taken: I32, places: I32,
    listed: I32, made: I32, links: I32, names: I32, found: I32, configs: I32, bits: U64, nexts: I32,
    pool: I64, fresh: I32, settled: I32, edges: I32, threads: I32, work: I32, ended: I32, keys: I64,
    stamps: I32, values: I32, outs: I64, ends: I64, some: I64, levels: I32, doubts: I32, sets: U64,
    requests: I32, cursor: I64, mask: U32,
) -> int:  # fmt: skip
    """Walk below `entries`, whose bytes come first: from the threads `inside` int32[insides, 6] and from what
    `begin` int32[begins, 2] opens (part, continuation) or (-1, continuation) resumes. A thread is (state of a
    text, continuation, lookahead state, three zeros) or (-1, continuation, lookahead state, place in a list
    of words).

    The trie: nodes, order and firsts_of are `nodes`, `order` and `begins` of `token_groups.TokenGroups`; for
    starts, places_of and bytes see `walks.list_children`.

    The grammar: program, lists int32[L], firsts uint64[F, 4], see `closure`; frames int32[C, 3], the
    continuations. By state of a text: rows int32[S, 256] the next one or -1; begins_of uint64[S, 4] the bytes
    with one, all of them where the row is not made; flags uint8[S]; loops uint64[S, 2] groups of bytes below
    which all tokens are legal. By number of a word: words uint8[...] and word_starts int64[W + 1], the bytes,
    each list in order; behind int32[W, 2] the part that follows the word, -1 for none, -2 where that is to be
    requested, and the number of its set of first bytes, 0 for none, -1 where that is to be requested.

    Negative lookaheads: lookahead_rows int32[B, 256] the next state, 0 where a character is allowed, -1 where
    it is forbidden; lookahead_flags uint8[B]; by number: lookahead_starts int32[K] the first state,
    open_bytes uint64[K, 4] the bytes that are no forbidden characters, unions int32[K, K] the number for two.
    `lookaheads`: whether there are any.

    What is learned: taken int32[C], places int32[MOST_PLACES, 4], listed int32[NAMES], made
    int32[MOST_FRAMES, 3], links int32[MOST_LINKS], names int32[NAMES], see `frames`; found
    int32[CONFIG_SLOTS], configs int32[MOST_CONFIGS, 6], bits uint64[MOST_CONFIGS, 10], nexts
    int32[MOST_CONFIGS, 256], pool int64[MOST_POOL], see `states`.

    The walk: fresh, threads, work int32[ROOM, 3]; settled int32[ROOM]; edges int32[ROOM, 2]; ended
    int32[ITEMS, 2]; keys, stamps, values [SLOTS]; outs, ends, some int64[ROOM]; levels int32[2 * L, 3], L
    being cursor[LEVELS]: the configuration at a level, its next child and the last, and behind them those to
    come back to; sets uint64[12], the first four all ones.
    Nodes whose own tokens are left open go to `doubts` int32[MOST_UNSURE], their number is cursor[UNSURE].
    cursor[LEVEL] is -1 at first; levels[0] is 0 when what has been learned is forgotten in the middle. The
    tables to be made are `requests` int32[MOST_REQUESTED, 2]: (what, number), cursor[REQUESTED] times.
    """
    level = cursor[LEVEL]
    cursor[REQUESTED] = cursor[REQUESTS] = 0
    if level < 0:
        cursor[UNSURE] = 0
    if level < 0 or levels[0] == 0:
        config = config_before(
            inside, insides, begin, begins, program, lists, frames, flags, begins_of, words, word_starts,
            places, listed, taken, made, links, names, work, outs, ends, some, found, configs, bits, nexts,
            pool, sets, cursor,
        )  # fmt: skip
        if config < 0:
            return -config
        if level < 0:
            if config == NOWHERE:
                return DONE
            level = 0
            levels[1], levels[2] = 0, count
        root = config
        # What was learned has been forgotten: the way to where the walk is has to be found anew.
        for number in range(level):
            at = levels[3 * number + 1] - 1
            read = entry_bytes[at] if number == 0 else bytes[at]
            before = config
            config = nexts[256 * before + read]
            if config == 0:
                for word in range(4):
                    sets[WANTED + word] = 0
                sets[WANTED + (read >> 6)] |= 1 << (read & 63)
                config = read_on(
                    program, lists, firsts, frames, rows, begins_of, flags, words, word_starts, behind,
                    lookahead_rows, lookahead_flags, lookahead_starts, open_bytes, unions, places, listed,
                    made, links, names, fresh, settled, edges, threads, work, ended, keys, stamps, values,
                    outs, ends, some, found, configs, bits, nexts, pool, sets, before, read, requests,
                    cursor,
                )  # fmt: skip
            if config < 0:
                return -config
            levels[3 * number + 3] = config
        levels[0] = root
    unset, wanted = 0, False
    first, left, doubted, held = -1, 0, 0, 3 * cursor[LEVELS]
    while level >= 0:
        if first >= 0:
            left -= 1
            if left < 0 or cursor[REQUESTED] > MANY_REQUESTED or cursor[REQUESTS] > MANY_REQUESTS:
                break
        at, stop, before = levels[3 * level + 1], levels[3 * level + 2], levels[3 * level]
        # Most nodes have nothing below them, and lead where others have led.
        while at < stop:
            read = entry_bytes[at] if level == 0 else bytes[at]
            if bits[BITS * before + (read >> 6)] >> (read & 63) & 1:
                config = nexts[256 * before + read]
                if config != NOWHERE:
                    follows = configs[6 * config + 4] if config > 0 else 0
                    if not lookaheads and bits[BITS * before + READ + (read >> 6)] >> (read & 63) & 1:
                        follows = 1
                    if config == 0 and follows == 0:
                        break
                    record = 4 * places_of[entries[at]] if level == 0 else 4 * at
                    if nodes[record + 1] & LOW > (nodes[record] & LOW) + 1:
                        break
                    if follows == 1:
                        set_token(nodes[record + 1] >> 32, duplicates, mask)
                    elif follows != 2:
                        break
            at += 1
        levels[3 * level + 1] = at
        if at == stop:
            level, wanted = level - 1, False
            continue
        if cursor[SPENT] > PAUSE and first < 0:
            cursor[LEVEL] = level
            return PAUSED
        read = entry_bytes[at] if level == 0 else bytes[at]
        config = nexts[256 * before + read]
        if config == 0:
            if not wanted:
                # Siblings are read together.
                wanted = True
                sets[WANTED], sets[WANTED + 1], sets[WANTED + 2], sets[WANTED + 3] = 0, 0, 0, 0
                for number in range(at, stop):
                    byte = entry_bytes[number] if level == 0 else bytes[number]
                    sets[WANTED + (byte >> 6)] |= 1 << (byte & 63)
            config = read_on(
                program, lists, firsts, frames, rows, begins_of, flags, words, word_starts, behind,
                lookahead_rows, lookahead_flags, lookahead_starts, open_bytes, unions, places, listed, made,
                links, names, fresh, settled, edges, threads, work, ended, keys, stamps, values, outs, ends,
                some, found, configs, bits, nexts, pool, sets, before, read, requests, cursor,
            )  # fmt: skip
            if config < 0 and config != -NEEDS_TABLES:
                if first >= 0:
                    break
                cursor[LEVEL] = level
                return -config
        if config == NOWHERE:
            levels[3 * level + 1] = at + 1
            continue
        record = 4 * places_of[entries[at]] if level == 0 else 4 * at
        node, after = nodes[record] & LOW, nodes[record + 1] & LOW
        here = 6 * config
        code = DONE if config > 0 else NEEDS_TABLES
        grouped = (nodes[record + 2] | nodes[record + 3]) != 0
        if code == DONE and configs[here + 3] & IN_TEXT:
            if grouped and configs[here + 3] & LOOPED == 0:
                code = note_loops(loops, flags, pool, configs, bits, config, requests, cursor)
            other = nodes[record + 2] & ~bits[BITS * config + LOOPS]
            other |= nodes[record + 3] & ~bits[BITS * config + LOOPS + 1]
            if code == DONE and (not grouped or other == 0):
                for number in range(firsts_of[node], firsts_of[after]):
                    mask[order[number] >> 5] |= 1 << (order[number] & 31)
                levels[3 * level + 1] = at + 1
                continue
        further = after > node + 1
        if further:
            # Nothing is to be found below a node all of whose tokens are known to be legal.
            unset, last = max(unset, firsts_of[node]) if level > 0 else firsts_of[node], firsts_of[after]
            while unset < last and mask[order[unset] >> 5] >> (order[unset] & 31) & 1:
                unset += 1
            if unset == last:
                levels[3 * level + 1] = at + 1
                continue
        if code == DONE and nodes[record + 1] >> 32 != LOW:
            if configs[here + 4] == 0:
                code = may_follow(
                    program, lists, firsts, frames, rows, begins_of, flags, words, word_starts, behind,
                    lookahead_rows, lookahead_flags, lookahead_starts, open_bytes, unions, lookaheads,
                    places, listed, made, links, fresh, settled, edges, threads, work, ended, keys, stamps,
                    values, configs, pool, sets, config, requests, cursor,
                )  # fmt: skip
                if code != DONE and code != NEEDS_TABLES:
                    if first >= 0:
                        break
                    cursor[LEVEL] = level
                    return code
            if configs[here + 4] == 1:
                set_token(nodes[record + 1] >> 32, duplicates, mask)
            elif configs[here + 4] == 3:
                if cursor[UNSURE] == MOST_UNSURE:
                    return TOO_MUCH
                doubts[cursor[UNSURE]] = node
                cursor[UNSURE] += 1
        if code == NEEDS_TABLES and first < 0:
            first, left, doubted = level, AHEAD, cursor[UNSURE]
            for number in range(3 * level + 3):
                levels[held + number] = levels[number]
        levels[3 * level + 1] = at + 1
        if further and code == DONE:
            level, wanted = level + 1, False
            levels[3 * level], levels[3 * level + 1] = config, starts[node]
            levels[3 * level + 2] = starts[node + 1]
    if first >= 0:
        # The node with the first request, and all behind it, are walked again when the tables are there.
        cursor[LEVEL], cursor[UNSURE] = first, doubted
        for number in range(3 * first + 3):
            levels[number] = levels[held + number]
        return NEEDS_TABLES
    return DONE
