"""Configurations of a GSS walk: hash-consed sets of threads and ready parts, with their known transitions.

A *configuration* is the state of a parse after a text: threads inside terminals, and parts and frames that
are *ready*, because the terminal before them has just ended. Equal configurations have one number. The key of
a thread is (state, lookahead state, frame), the key of a ready part is (part + 1, frame), in 64 bits.

configs int32[C, 6]: where the keys are in `pool`, how many threads, how many are ready, flags, whether
anything may follow (0 not known, 1 it may, 2 not, 3 that cannot be told), and where in `links` the
configurations are that it consists of, their number first (-1 not known, 0 it is one by itself). bits
uint64[C, 10]: the bytes that may be read, the groups of bytes below which all tokens are legal, and the
bytes that some thread surely reads. nexts int32[C, 256]: the configuration after each byte, 0 where that is
not known.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import bit_count, kernel, kernel_noinline
from sglc.kernels.gss import limits
from sglc.kernels.gss.arrays import (
    At,
    Config,
    First,
    Grammar,
    Key,
    Learned,
    Need,
    Result,
    Sets,
    TextFlag,
    Walk,
)
from sglc.kernels.gss.frames import gather, joined, mixed, request, sort, width


@kernel
def unpack(learned: Learned, walk: Walk, begin: int, count: int) -> None:
    """Keys of threads as threads."""
    threads = walk.threads
    for number in range(count):
        key = learned.pool[begin + number]
        threads[3 * number] = key >> Key.STATE_AT
        threads[3 * number + 1], threads[3 * number + 2] = (
            key & Key.FRAME,
            key >> Key.FRAME_BITS & Key.LOOKAHEAD,
        )


@kernel
def put_down(learned: Learned, walk: Walk, begin: int, count: int) -> None:
    """What is ready, as work."""
    work = walk.work
    for number in range(count):
        key = learned.pool[begin + number]
        work[3 * number], work[3 * number + 1], work[3 * number + 2] = (
            (key >> Key.FRAME_BITS) - 1,
            key & Key.FRAME,
            0,
        )


@kernel
def note_begins(grammar: Grammar, learned: Learned, walk: Walk, begin: int, count: int, config: int) -> None:
    """Take the bytes that threads may read, and those that texts surely do, as those of a configuration."""
    begins_of = grammar.begins
    bits = learned.bits
    sets = walk.sets
    may0 = sets[Sets.EVERY] & 0
    may1, may2, may3 = may0, may0, may0
    sure0, sure1, sure2, sure3 = may0, may0, may0, may0
    for number in range(count):
        state = learned.pool[begin + number] >> Key.STATE_AT
        if state < First.LISTED:
            may0, may1 = may0 | begins_of[4 * state], may1 | begins_of[4 * state + 1]
            may2, may3 = may2 | begins_of[4 * state + 2], may3 | begins_of[4 * state + 3]
            if grammar.flags[state] & TextFlag.KNOWN:
                sure0, sure1 = sure0 | begins_of[4 * state], sure1 | begins_of[4 * state + 1]
                sure2, sure3 = sure2 | begins_of[4 * state + 2], sure3 | begins_of[4 * state + 3]
        else:
            byte = learned.places[4 * (state - First.LISTED) + 3]
            if byte < 0:
                may0, may1, may2, may3 = (
                    sets[Sets.EVERY],
                    sets[Sets.EVERY],
                    sets[Sets.EVERY],
                    sets[Sets.EVERY],
                )
            elif byte < 128:
                if byte < 64:
                    may0 |= 1 << byte
                else:
                    may1 |= 1 << (byte - 64)
            elif byte < 192:
                may2 |= 1 << (byte - 128)
            else:
                may3 |= 1 << (byte - 192)
    here = Config.SIZE * config
    bits[here], bits[here + 1], bits[here + 2], bits[here + 3] = may0, may1, may2, may3
    here += Config.READ
    bits[here], bits[here + 1], bits[here + 2], bits[here + 3] = sure0, sure1, sure2, sure3


@kernel_noinline
def config_of(grammar: Grammar, learned: Learned, walk: Walk) -> int:
    """The number of the configuration of cursor[At.OUTS] threads and cursor[At.ENDED] ready, or `-code`."""
    found, configs, pool = learned.found, learned.configs, learned.pool
    outs, ends, some, cursor = walk.outs, walk.ends, walk.some, walk.cursor
    count = cursor[At.OUTS]
    sort(outs, count)
    size = at = 0
    while at < count:
        last = at + 1
        while last < count and outs[last] >> Key.FRAME_BITS == outs[at] >> Key.FRAME_BITS:
            last += 1
        outs[size] = outs[at]
        if last > at + 1:
            many = 0
            for number in range(at, last):
                frame = outs[number] & Key.FRAME
                if many + width(learned, frame) > limits.ROOM - 2:
                    return -Result.TOO_MUCH
                many = gather(learned, walk, many, frame)
            frame = joined(learned, walk, many)
            if frame < 0:
                return frame
            outs[size] = (outs[at] >> Key.FRAME_BITS << Key.FRAME_BITS) | frame
        size += 1
        at = last
    many = 0
    for number in range(cursor[At.ENDED]):
        frame = ends[number] & Key.FRAME
        if many + width(learned, frame) > limits.ROOM - 2:
            return -Result.TOO_MUCH
        if ends[number] >> Key.FRAME_BITS == 0:
            many = gather(learned, walk, many, frame)
        else:
            some[many] = ends[number]
            many += 1
    sort(some, many)
    ready = 0
    for number in range(many):
        if ready == 0 or some[number] != ends[ready - 1]:
            ends[ready] = some[number]
            ready += 1
    if size + ready == 0:
        return Config.NOWHERE
    at = size
    for number in range(size):
        at = mixed(at, outs[number])
    for number in range(ready):
        at = mixed(at, ends[number])
    at &= limits.CONFIG_SLOTS - 1
    while found[at] > 0:
        here = 6 * found[at]
        if configs[here + 1] == size and configs[here + 2] == ready:
            begin, number = configs[here], 0
            while number < size and pool[begin + number] == outs[number]:
                number += 1
            if number == size:
                while number < size + ready and pool[begin + number] == ends[number - size]:
                    number += 1
            if number == size + ready:
                return found[at]
        at = (at + 1) & (limits.CONFIG_SLOTS - 1)
    config, begin = cursor[At.CONFIGS], cursor[At.POOL]
    if config >= limits.MOST_CONFIGS or begin + size + ready > limits.MOST_POOL:
        return -Result.FULL
    found[at] = config
    cursor[At.CONFIGS], cursor[At.POOL] = config + 1, begin + size + ready
    some_flags, follows = Config.SURE, 0
    for number in range(size):
        key = outs[number]
        pool[begin + number] = key
        state = key >> Key.STATE_AT
        if key >> Key.FRAME_BITS & Key.LOOKAHEAD == 0:
            follows = 1
            if state < First.LISTED:
                some_flags |= Config.IN_TEXT
        if state < First.LISTED and grammar.flags[state] & TextFlag.KNOWN == 0:
            some_flags &= ~Config.SURE
    goes_on = False
    for number in range(ready):
        pool[begin + size + number] = ends[number]
        goes_on = goes_on or ends[number] > 0
        if ends[number] == 0:
            follows = 1
    note_begins(grammar, learned, walk, begin, size, config)
    here = 6 * config
    if goes_on:
        some_flags &= ~Config.SURE
        for number in range(4):
            learned.bits[Config.SIZE * config + number] = walk.sets[Sets.EVERY]
    configs[here], configs[here + 1], configs[here + 2], configs[here + 3] = begin, size, ready, some_flags
    configs[here + 4], configs[here + 5] = follows, -1
    for number in range(256):
        learned.nexts[256 * config + number] = 0
    return config


@kernel_noinline
def note_loops(grammar: Grammar, learned: Learned, walk: Walk, config: int) -> int:
    """Find groups of bytes below which all tokens are legal: those of the thread that has the most."""
    loops = grammar.loops
    configs, bits = learned.configs, learned.bits
    cursor = walk.cursor
    here, most = 6 * config, -1
    begin, before = configs[here], cursor[At.REQUESTS]
    for number in range(configs[here + 1]):
        key = learned.pool[begin + number]
        state = key >> Key.STATE_AT
        if state < First.LISTED and key >> Key.FRAME_BITS & Key.LOOKAHEAD == 0:
            if grammar.flags[state] & TextFlag.KNOWN == 0:
                request(walk, Need.STATE, state)
                continue
            size = bit_count(loops[2 * state]) + bit_count(loops[2 * state + 1])
            if size > most:
                most = size
                bits[Config.SIZE * config + Config.LOOPS] = loops[2 * state]
                bits[Config.SIZE * config + Config.LOOPS + 1] = loops[2 * state + 1]
    if cursor[At.REQUESTS] > before:
        return Result.NEEDS_TABLES
    configs[here + 3] |= Config.LOOPED
    return Result.DONE
