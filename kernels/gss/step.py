"""Transitions between configurations, each computed once.

`step` advances threads by a byte. `close_on` closes ready parts as far as they may read one of the wanted
bytes. So a walk runs a lazily built automaton (Thompson, 1968), whose states are the state sets of a
generalised LR parser instead of those of a regular expression.

The same parts are often ready beside different threads. So ready parts are a configuration of their own, and
a configuration with threads leads to the union of both. A frame behind which only one terminal comes is such
a configuration, too.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import I32, I64, U8, U64, kernel, kernel_noinline
from sglc.kernels.gss.closure import (
    ENDS,
    GOES_ON,
    KNOWN,
    LEAF,
    LIST,
    REACHED,
    SERIES,
    UNKNOWN,
    WANTED,
    close,
)
from sglc.kernels.gss.frames import (
    DONE,
    ENDED,
    FRAME_BITS,
    FRESH,
    FULL,
    GIVEN,
    LINKS,
    LISTED,
    LOOKAHEAD,
    LOOKAHEAD_BITS,
    MANY_REQUESTED,
    MOST_LINKS,
    NEEDS_TABLES,
    OUTS,
    PART,
    REQUESTED,
    REQUESTS,
    ROOM,
    SPENT,
    STATE,
    THREADS,
    TOO_MUCH,
    WORD,
    place_named,
    request,
    settle,
)
from sglc.kernels.gss.states import BITS, LOOKAHEADS, NOWHERE, SURE, config_of, note_begins, put_down, unpack
from sglc.kernels.trie.walks import search_word


@kernel_noinline
def step(
    rows: I32, begins_of: U64, flags: U8, words: U8, word_starts: I64, behind: I32, lookahead_rows: I32,
    lookahead_flags: U8, places: I32, listed: I32, made: I32, links: I32, names: I32, fresh: I32,
    settled: I32, edges: I32, threads: I32, work: I32, outs: I64, ends: I64, some: I64, read: int,
    requests: I32, cursor: I64,
) -> int:  # fmt: skip
    """Advance all threads by one byte: those that go on are added to `outs`, and what follows those that
    may end to `ends`. Returns DONE, NEEDS_TABLES, FULL or TOO_MUCH."""
    out, waiting, before = cursor[OUTS], cursor[ENDED], cursor[REQUESTS]
    cursor[SPENT] += cursor[THREADS]
    for thread in range(cursor[THREADS]):
        state, frame, lookahead = threads[3 * thread], threads[3 * thread + 1], threads[3 * thread + 2]
        left = right = size = now = 0
        following = part = -1
        if state >= LISTED:
            place = 4 * (state - LISTED)
            left, right, size = places[place], places[place + 1], places[place + 2]
            byte = places[place + 3]
            if byte < 0:
                left = search_word(words, word_starts, left, right, size, read)
                if left < right:
                    byte = words[word_starts[left] + size]
                    right = search_word(words, word_starts, left, right, size, read + 1)
            if byte != read or left >= right:
                continue
            now = GOES_ON
            if word_starts[left + 1] - word_starts[left] == size + 1:
                now = ENDS | GOES_ON if right > left + 1 else ENDS
                part = behind[2 * left]
                if part < -1:
                    part = WORD + left
        else:
            if begins_of[4 * state + (read >> 6)] >> (read & 63) & 1 == 0:
                continue
            if flags[state] & KNOWN == 0:
                request(requests, cursor, STATE, state)
                continue
            following = rows[(state << 8) + read]
            if following < 0:
                continue
            now = flags[following]
        if lookahead > 0:
            if lookahead_flags[lookahead] & KNOWN == 0:
                request(requests, cursor, LOOKAHEAD, lookahead)
                continue
            lookahead = lookahead_rows[(lookahead << 8) + read]
            if lookahead < 0:
                continue
            if lookahead > LOOKAHEADS:
                return TOO_MUCH
        if now & (GOES_ON | ENDS) == 0:
            continue
        if max(out, waiting) > ROOM - 2:
            return TOO_MUCH
        if frame >= FRESH:
            frame = settle(made, links, names, fresh, settled, edges, work, some, frame, cursor)
            if frame < 0:
                return -frame
        if now & GOES_ON:
            if following < 0:
                more = 1 if now & ENDS else 0
                following = place_named(
                    words, word_starts, places, listed, cursor, left + more, right, size + 1
                )
                if following < 0:
                    return -following
            outs[out] = (following << (FRAME_BITS + LOOKAHEAD_BITS)) | (lookahead << FRAME_BITS) | frame
            out += 1
        if now & ENDS:
            if lookahead > 0:
                return TOO_MUCH
            ends[waiting] = ((part + 1) << FRAME_BITS) | frame
            waiting += 1
    cursor[OUTS], cursor[ENDED] = out, waiting
    return NEEDS_TABLES if cursor[REQUESTS] > before else DONE


@kernel_noinline
def close_on(
    program: I32, lists: I32, firsts: U64, frames: I32, rows: I32, begins_of: U64, flags: U8, words: U8,
    word_starts: I64, behind: I32, lookahead_rows: I32, lookahead_flags: U8, lookahead_starts: I32,
    open_bytes: U64, unions: I32, places: I32, listed: I32, made: I32, links: I32, names: I32, fresh: I32,
    settled: I32, edges: I32, threads: I32, work: I32, ended: I32, keys: I64, stamps: I32, values: I32,
    outs: I64, ends: I64, some: I64, found: I32, configs: I32, bits: U64, nexts: I32, pool: I64, sets: U64,
    config: int, read: int, requests: I32, cursor: I64,
) -> int:  # fmt: skip
    """Find the configuration after a byte, and after others that are wanted, where nothing but what is ready
    may read them: its number, or `-code`."""
    here = 6 * config
    begin, count, ready = configs[here], configs[here + 1], configs[here + 2]
    put_down(pool, begin + count, ready, work)
    cursor[THREADS] = cursor[OUTS] = cursor[ENDED] = 0
    code = close(
        program, lists, firsts, frames, open_bytes, unions, lookahead_starts, words, word_starts, behind,
        begins_of, places, listed, made, links, fresh, settled, edges, threads, work, ready, ended, keys,
        stamps, values, sets, False, requests, cursor,
    )  # fmt: skip
    if code != DONE:
        return -code
    if configs[here + 3] & SURE == 0:
        # What has been opened for these bytes tells of the others, too.
        configs[here + 3] |= SURE
        for number in range(4):
            bits[BITS * config + number] = sets[REACHED + number]
    before, already = cursor[REQUESTS], cursor[REQUESTED]
    for byte in range(256):
        if cursor[REQUESTED] > already + MANY_REQUESTED:
            break
        word, bit = byte >> 6, byte & 63
        if sets[WANTED + word] >> bit & 1 == 0 or nexts[256 * config + byte] > 0:
            continue
        after = NOWHERE
        if sets[REACHED + word] >> bit & 1:
            cursor[OUTS] = cursor[ENDED] = 0
            code = step(
                rows, begins_of, flags, words, word_starts, behind, lookahead_rows, lookahead_flags, places,
                listed, made, links, names, fresh, settled, edges, threads, work, outs, ends, some, byte,
                requests, cursor,
            )  # fmt: skip
            if code == NEEDS_TABLES:
                # What siblings need is requested together.
                continue
            if code != DONE:
                return -code
            after = config_of(
                flags, begins_of, places, made, links, names, outs, ends, some, found, configs, bits, nexts,
                pool, sets, cursor,
            )  # fmt: skip
            if after < 0:
                return after
        nexts[256 * config + byte] = after
    return -NEEDS_TABLES if cursor[REQUESTS] > before else nexts[256 * config + read]


@kernel
def is_alone(program: I32, word_starts: I64, made: I32, key: int) -> bool:
    """Whether nothing but one terminal comes behind a frame that is ready."""
    if key <= 0 or key >= GIVEN:
        return False
    part = made[3 * key]
    if program[4 * part] != SERIES:
        return False
    rest = 4 * program[4 * part + 2]
    if program[rest] == LIST:
        return word_starts[program[rest + 1] + 1] > word_starts[program[rest + 1]]
    return program[rest] == LEAF and program[rest + 2] == 0


@kernel_noinline
def split(
    program: I32, word_starts: I64, flags: U8, begins_of: U64, places: I32, made: I32, links: I32, names: I32,
    outs: I64, ends: I64, some: I64, found: I32, configs: I32, bits: U64, nexts: I32, pool: I64, sets: U64,
    config: int, requests: I32, cursor: I64,
) -> int:  # fmt: skip
    """Find the configurations of the ready parts. Returns DONE, NEEDS_TABLES, FULL or TOO_MUCH."""
    here = 6 * config
    begin, ready, before = configs[here] + configs[here + 1], configs[here + 2], cursor[REQUESTS]
    for number in range(ready):
        key = pool[begin + number]
        if 0 < key and key < GIVEN:
            part = made[3 * key]
            if program[4 * part] == UNKNOWN:
                request(requests, cursor, PART, part)
            elif program[4 * part] == SERIES and program[4 * program[4 * part + 2]] == UNKNOWN:
                request(requests, cursor, PART, program[4 * part + 2])
    if cursor[REQUESTS] > before:
        return NEEDS_TABLES
    together = alone = 0
    for number in range(ready):
        if is_alone(program, word_starts, made, pool[begin + number]):
            alone += 1
        elif pool[begin + number] > 0:
            together += 1
    if alone + min(together, 1) == 1 and configs[here + 1] == 0 and alone + together == ready:
        configs[here + 5] = 0
        return DONE
    at = cursor[LINKS]
    if at + alone + 2 > MOST_LINKS:
        return FULL
    cursor[LINKS] = at + alone + 2
    count = last = 0
    for number in range(ready + 1):
        # Those that go together come last.
        cursor[OUTS] = cursor[ENDED] = 0
        if number < ready:
            if is_alone(program, word_starts, made, pool[begin + number]):
                ends[0], cursor[ENDED] = pool[begin + number], 1
        else:
            for last in range(ready):
                key = pool[begin + last]
                if key > 0 and not is_alone(program, word_starts, made, key):
                    ends[cursor[ENDED]] = key
                    cursor[ENDED] += 1
        if cursor[ENDED] > 0:
            of = config_of(
                flags, begins_of, places, made, links, names, outs, ends, some, found, configs, bits, nexts,
                pool, sets, cursor,
            )  # fmt: skip
            if of < 0:
                return -of
            count += 1
            links[at + count] = of
    links[at] = count
    configs[here + 5] = at
    return DONE


@kernel_noinline
def read_on(
    program: I32, lists: I32, firsts: U64, frames: I32, rows: I32, begins_of: U64, flags: U8, words: U8,
    word_starts: I64, behind: I32, lookahead_rows: I32, lookahead_flags: U8, lookahead_starts: I32,
    open_bytes: U64, unions: I32, places: I32, listed: I32, made: I32, links: I32, names: I32, fresh: I32,
    settled: I32, edges: I32, threads: I32, work: I32, ended: I32, keys: I64, stamps: I32, values: I32,
    outs: I64, ends: I64, some: I64, found: I32, configs: I32, bits: U64, nexts: I32, pool: I64, sets: U64,
    config: int, read: int, requests: I32, cursor: I64,
) -> int:  # fmt: skip
    """Find the configuration after a byte: its number, or `-code`."""
    here = 6 * config
    begin, count, ready = configs[here], configs[here + 1], configs[here + 2]
    parts = code = 0
    if ready > 0:
        if configs[here + 5] < 0:
            code = split(
                program, word_starts, flags, begins_of, places, made, links, names, outs, ends, some, found,
                configs, bits, nexts, pool, sets, config, requests, cursor,
            )  # fmt: skip
            if code != DONE:
                return -code
        parts = configs[here + 5]
        first = parts if parts > 0 else 0
        for number in range(links[first] if parts > 0 else 1):
            of = links[first + 1 + number] if parts > 0 else config
            if bits[BITS * of + (read >> 6)] >> (read & 63) & 1 and nexts[256 * of + read] == 0:
                code = close_on(
                    program, lists, firsts, frames, rows, begins_of, flags, words, word_starts, behind,
                    lookahead_rows, lookahead_flags, lookahead_starts, open_bytes, unions, places, listed,
                    made, links, names, fresh, settled, edges, threads, work, ended, keys, stamps, values,
                    outs, ends, some, found, configs, bits, nexts, pool, sets, of, read, requests, cursor,
                )  # fmt: skip
                if code < 0 or parts == 0:
                    return code
    cursor[OUTS] = cursor[ENDED] = 0
    if count > 0:
        unpack(pool, begin, count, threads)
        cursor[THREADS] = count
        code = step(
            rows, begins_of, flags, words, word_starts, behind, lookahead_rows, lookahead_flags, places,
            listed, made, links, names, fresh, settled, edges, threads, work, outs, ends, some, read,
            requests, cursor,
        )  # fmt: skip
        if code != DONE:
            return -code
    if parts > 0:
        for number in range(links[parts]):
            of = links[parts + 1 + number]
            if bits[BITS * of + (read >> 6)] >> (read & 63) & 1:
                of = 6 * nexts[256 * of + read]
                if max(cursor[OUTS] + configs[of + 1], cursor[ENDED] + configs[of + 2]) > ROOM - 2:
                    return -TOO_MUCH
                for at in range(configs[of + 1]):
                    outs[cursor[OUTS] + at] = pool[configs[of] + at]
                cursor[OUTS] += configs[of + 1]
                for at in range(configs[of + 2]):
                    ends[cursor[ENDED] + at] = pool[configs[of] + configs[of + 1] + at]
                cursor[ENDED] += configs[of + 2]
    after = config_of(
        flags, begins_of, places, made, links, names, outs, ends, some, found, configs, bits, nexts, pool,
        sets, cursor,
    )  # fmt: skip
    if after > 0:
        nexts[256 * config + read] = after
        if configs[here + 3] & SURE == 0:
            # Each of its parts has read something, or is known to read none of it.
            configs[here + 3] |= SURE
            note_begins(begins_of, flags, places, pool, begin, count, sets, bits, config)
            if parts > 0:
                for number in range(links[parts]):
                    of = links[parts + 1 + number]
                    for at in range(4):
                        bits[BITS * config + at] |= bits[BITS * of + at]
    return after
