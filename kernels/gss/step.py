"""Transitions between configurations, each computed once.

`step` advances threads by a byte. `close_on` closes ready parts as far as they may read one of the wanted
bytes. So a walk runs a lazily built automaton (Thompson, 1968), whose states are the state sets of a
generalised LR parser instead of those of a regular expression.

The same parts are often ready beside different threads. So ready parts are a configuration of their own, and
a configuration with threads leads to the union of both. A frame behind which only one terminal comes is such
a configuration, too.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import kernel, kernel_noinline
from sglc.kernels.gss import limits
from sglc.kernels.gss.arrays import (
    At,
    Config,
    First,
    Grammar,
    Key,
    Learned,
    Need,
    Part,
    Result,
    Sets,
    TextFlag,
    Walk,
)
from sglc.kernels.gss.closure import close
from sglc.kernels.gss.frames import place_named, request, settle
from sglc.kernels.gss.states import config_of, note_begins, put_down, unpack
from sglc.kernels.trie.walks import search_word


@kernel_noinline
def step(grammar: Grammar, learned: Learned, walk: Walk, read: int) -> int:
    """Advance all threads by one byte: those that go on are added to `outs`, and what follows those that
    may end to `ends`. Returns DONE, NEEDS_TABLES, FULL or TOO_MUCH."""
    flags, words, word_starts = grammar.flags, grammar.words, grammar.word_starts
    places = learned.places
    threads, cursor = walk.threads, walk.cursor
    out, waiting, before = cursor[At.OUTS], cursor[At.ENDED], cursor[At.REQUESTS]
    cursor[At.SPENT] += cursor[At.THREADS]
    for thread in range(cursor[At.THREADS]):
        state, frame, lookahead = threads[3 * thread], threads[3 * thread + 1], threads[3 * thread + 2]
        left = right = size = now = 0
        following = part = -1
        if state >= First.LISTED:
            place = 4 * (state - First.LISTED)
            left, right, size = places[place], places[place + 1], places[place + 2]
            byte = places[place + 3]
            if byte < 0:
                left = search_word(words, word_starts, left, right, size, read)
                if left < right:
                    byte = words[word_starts[left] + size]
                    right = search_word(words, word_starts, left, right, size, read + 1)
            if byte != read or left >= right:
                continue
            now = TextFlag.GOES_ON
            if word_starts[left + 1] - word_starts[left] == size + 1:
                now = TextFlag.ENDS | TextFlag.GOES_ON if right > left + 1 else TextFlag.ENDS
                part = grammar.behind[2 * left]
                if part < -1:
                    part = First.WORD + left
        else:
            if grammar.begins[4 * state + (read >> 6)] >> (read & 63) & 1 == 0:
                continue
            if flags[state] & TextFlag.KNOWN == 0:
                request(walk, Need.STATE, state)
                continue
            following = grammar.rows[(state << 8) + read]
            if following < 0:
                continue
            now = flags[following]
        if lookahead > 0:
            if grammar.lookahead_flags[lookahead] & TextFlag.KNOWN == 0:
                request(walk, Need.LOOKAHEAD, lookahead)
                continue
            lookahead = grammar.lookahead_rows[(lookahead << 8) + read]
            if lookahead < 0:
                continue
            if lookahead > Key.LOOKAHEAD:
                return Result.TOO_MUCH
        if now & (TextFlag.GOES_ON | TextFlag.ENDS) == 0:
            continue
        if max(out, waiting) > limits.ROOM - 2:
            return Result.TOO_MUCH
        if frame >= First.FRESH:
            frame = settle(learned, walk, frame)
            if frame < 0:
                return -frame
        if now & TextFlag.GOES_ON:
            if following < 0:
                more = 1 if now & TextFlag.ENDS else 0
                following = place_named(grammar, learned, walk, left + more, right, size + 1)
                if following < 0:
                    return -following
            walk.outs[out] = (following << Key.STATE_AT) | (lookahead << Key.FRAME_BITS) | frame
            out += 1
        if now & TextFlag.ENDS:
            if lookahead > 0:
                return Result.TOO_MUCH
            walk.ends[waiting] = ((part + 1) << Key.FRAME_BITS) | frame
            waiting += 1
    cursor[At.OUTS], cursor[At.ENDED] = out, waiting
    return Result.NEEDS_TABLES if cursor[At.REQUESTS] > before else Result.DONE


@kernel_noinline
def close_on(grammar: Grammar, learned: Learned, walk: Walk, config: int, read: int) -> int:
    """Find the configuration after a byte, and after others that are wanted, where nothing but what is ready
    may read them: its number, or `-code`."""
    configs, nexts = learned.configs, learned.nexts
    sets, cursor = walk.sets, walk.cursor
    here = 6 * config
    begin, count, ready = configs[here], configs[here + 1], configs[here + 2]
    put_down(learned, walk, begin + count, ready)
    cursor[At.THREADS] = cursor[At.OUTS] = cursor[At.ENDED] = 0
    code = close(grammar, learned, walk, ready, False)
    if code != Result.DONE:
        return -code
    if configs[here + 3] & Config.SURE == 0:
        # What has been opened for these bytes tells of the others, too.
        configs[here + 3] |= Config.SURE
        for number in range(4):
            learned.bits[Config.SIZE * config + number] = sets[Sets.REACHED + number]
    before, already = cursor[At.REQUESTS], cursor[At.REQUESTED]
    for byte in range(256):
        if cursor[At.REQUESTED] > already + limits.MANY_REQUESTED:
            break
        word, bit = byte >> 6, byte & 63
        if sets[Sets.WANTED + word] >> bit & 1 == 0 or nexts[256 * config + byte] > 0:
            continue
        after = Config.NOWHERE
        if sets[Sets.REACHED + word] >> bit & 1:
            cursor[At.OUTS] = cursor[At.ENDED] = 0
            code = step(grammar, learned, walk, byte)
            if code == Result.NEEDS_TABLES:
                # What siblings need is requested together.
                continue
            if code != Result.DONE:
                return -code
            after = config_of(grammar, learned, walk)
            if after < 0:
                return after
        nexts[256 * config + byte] = after
    return -Result.NEEDS_TABLES if cursor[At.REQUESTS] > before else nexts[256 * config + read]


@kernel
def is_alone(grammar: Grammar, learned: Learned, key: int) -> bool:
    """Whether nothing but one terminal comes behind a frame that is ready."""
    program, word_starts = grammar.program, grammar.word_starts
    if key <= 0 or key >= First.GIVEN:
        return False
    part = learned.made[3 * key]
    if program[4 * part] != Part.SERIES:
        return False
    rest = 4 * program[4 * part + 2]
    if program[rest] == Part.LIST:
        return word_starts[program[rest + 1] + 1] > word_starts[program[rest + 1]]
    return program[rest] == Part.TEXT and program[rest + 2] == 0


@kernel_noinline
def split(grammar: Grammar, learned: Learned, walk: Walk, config: int) -> int:
    """Find the configurations of the ready parts. Returns DONE, NEEDS_TABLES, FULL or TOO_MUCH."""
    program = grammar.program
    links, configs, pool = learned.links, learned.configs, learned.pool
    ends, cursor = walk.ends, walk.cursor
    here = 6 * config
    begin, ready, before = configs[here] + configs[here + 1], configs[here + 2], cursor[At.REQUESTS]
    for number in range(ready):
        key = pool[begin + number]
        if 0 < key and key < First.GIVEN:
            part = learned.made[3 * key]
            if program[4 * part] == Part.UNKNOWN:
                request(walk, Need.PART, part)
            elif program[4 * part] == Part.SERIES and program[4 * program[4 * part + 2]] == Part.UNKNOWN:
                request(walk, Need.PART, program[4 * part + 2])
    if cursor[At.REQUESTS] > before:
        return Result.NEEDS_TABLES
    together = alone = 0
    for number in range(ready):
        if is_alone(grammar, learned, pool[begin + number]):
            alone += 1
        elif pool[begin + number] > 0:
            together += 1
    if alone + min(together, 1) == 1 and configs[here + 1] == 0 and alone + together == ready:
        configs[here + 5] = 0
        return Result.DONE
    at = cursor[At.LINKS]
    if at + alone + 2 > limits.MOST_LINKS:
        return Result.FULL
    cursor[At.LINKS] = at + alone + 2
    count = last = 0
    for number in range(ready + 1):
        # Those that go together come last.
        cursor[At.OUTS] = cursor[At.ENDED] = 0
        if number < ready:
            if is_alone(grammar, learned, pool[begin + number]):
                ends[0], cursor[At.ENDED] = pool[begin + number], 1
        else:
            for last in range(ready):
                key = pool[begin + last]
                if key > 0 and not is_alone(grammar, learned, key):
                    ends[cursor[At.ENDED]] = key
                    cursor[At.ENDED] += 1
        if cursor[At.ENDED] > 0:
            of = config_of(grammar, learned, walk)
            if of < 0:
                return -of
            count += 1
            links[at + count] = of
    links[at] = count
    configs[here + 5] = at
    return Result.DONE


@kernel_noinline
def read_on(grammar: Grammar, learned: Learned, walk: Walk, config: int, read: int) -> int:
    """Find the configuration after a byte: its number, or `-code`."""
    links, configs, bits, nexts = learned.links, learned.configs, learned.bits, learned.nexts
    pool = learned.pool
    cursor = walk.cursor
    here = 6 * config
    begin, count, ready = configs[here], configs[here + 1], configs[here + 2]
    parts = code = 0
    if ready > 0:
        if configs[here + 5] < 0:
            code = split(grammar, learned, walk, config)
            if code != Result.DONE:
                return -code
        parts = configs[here + 5]
        first = parts if parts > 0 else 0
        for number in range(links[first] if parts > 0 else 1):
            of = links[first + 1 + number] if parts > 0 else config
            if bits[Config.SIZE * of + (read >> 6)] >> (read & 63) & 1 and nexts[256 * of + read] == 0:
                code = close_on(grammar, learned, walk, of, read)
                if code < 0 or parts == 0:
                    return code
    cursor[At.OUTS] = cursor[At.ENDED] = 0
    if count > 0:
        unpack(learned, walk, begin, count)
        cursor[At.THREADS] = count
        code = step(grammar, learned, walk, read)
        if code != Result.DONE:
            return -code
    if parts > 0:
        for number in range(links[parts]):
            of = links[parts + 1 + number]
            if bits[Config.SIZE * of + (read >> 6)] >> (read & 63) & 1:
                of = 6 * nexts[256 * of + read]
                if (
                    max(cursor[At.OUTS] + configs[of + 1], cursor[At.ENDED] + configs[of + 2])
                    > limits.ROOM - 2
                ):
                    return -Result.TOO_MUCH
                for at in range(configs[of + 1]):
                    walk.outs[cursor[At.OUTS] + at] = pool[configs[of] + at]
                cursor[At.OUTS] += configs[of + 1]
                for at in range(configs[of + 2]):
                    walk.ends[cursor[At.ENDED] + at] = pool[configs[of] + configs[of + 1] + at]
                cursor[At.ENDED] += configs[of + 2]
    after = config_of(grammar, learned, walk)
    if after > 0:
        nexts[256 * config + read] = after
        if configs[here + 3] & Config.SURE == 0:
            # Each of its parts has read something, or is known to read none of it.
            configs[here + 3] |= Config.SURE
            note_begins(grammar, learned, walk, begin, count, config)
            if parts > 0:
                for number in range(links[parts]):
                    of = links[parts + 1 + number]
                    for at in range(4):
                        bits[Config.SIZE * config + at] |= bits[Config.SIZE * of + at]
    return after
