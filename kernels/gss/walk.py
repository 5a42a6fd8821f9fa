"""The GSS walk: walks the token trie from configuration to configuration of a grammar.

The transitions of a configuration are computed when a token reaches it (`step`), and kept for later walks:
most tokens, and most masks, reach configurations that others have reached before.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import I32, U32, kernel, kernel_noinline
from sglc.kernels.gss import limits
from sglc.kernels.gss.arrays import At, Config, Grammar, Key, Learned, Result, Sets, Walk
from sglc.kernels.gss.follow import may_follow
from sglc.kernels.gss.frames import place_named, take
from sglc.kernels.gss.states import config_of, note_loops
from sglc.kernels.gss.step import read_on
from sglc.kernels.trie.arrays import Subtrees
from sglc.kernels.trie.token_groups import Fact
from sglc.kernels.trie.utf8_walk import set_token

PAUSE = 200_000
"""Threads and items after which a walk returns PAUSED."""
AHEAD = 1000
"""Nodes that a walk visits behind the first with a request, to collect more requests."""


@kernel_noinline
def config_before(grammar: Grammar, learned: Learned, walk: Walk, inside: I32, begin: I32) -> int:
    """The number of the configuration in which a walk begins, or `-code`."""
    cursor = walk.cursor
    for number in range(cursor[At.INSIDES]):
        at = 6 * number
        frame = take(grammar, learned, walk, inside[at + 1])
        state, lookahead = inside[at], inside[at + 2]
        if frame < 0:
            return frame
        if lookahead >> Key.LOOKAHEAD_BITS > 0:
            return -Result.TOO_MUCH
        if state < 0:
            state = place_named(grammar, learned, walk, inside[at + 3], inside[at + 4], inside[at + 5])
            if state < 0:
                return state
        walk.outs[number] = (state << Key.STATE_AT) | (lookahead << Key.FRAME_BITS) | frame
    for number in range(cursor[At.BEGUN]):
        frame = take(grammar, learned, walk, begin[2 * number + 1])
        if frame < 0:
            return frame
        walk.ends[number] = ((begin[2 * number] + 1) << Key.FRAME_BITS) | frame
    cursor[At.OUTS], cursor[At.ENDED] = cursor[At.INSIDES], cursor[At.BEGUN]
    return config_of(grammar, learned, walk)


@kernel
def walk_grammar(
    subtrees: Subtrees,
    grammar: Grammar,
    learned: Learned,
    walk: Walk,
    entries: I32,
    inside: I32,
    begin: I32,
    mask: U32,
) -> int:
    """Walk below the nodes `entries`, whose bytes come first, and set the bits of the legal tokens in `mask`.

    A walk begins in the threads `inside`, six numbers each: (state of a text, continuation, lookahead state,
    three zeros) or (-1, continuation, lookahead state, place in a list of words). And in what `begin` opens,
    (part, continuation), or resumes, (-1, continuation). The cursor has their numbers. cursor[At.LEVEL] is -1
    at first. Returns DONE, or what has to be done before the walk goes on.
    """
    nodes, duplicates, starts, places = subtrees.facts, subtrees.duplicates, subtrees.starts, subtrees.places
    bytes, order, firsts_of = subtrees.bytes, subtrees.order, subtrees.begins
    configs, bits, nexts = learned.configs, learned.bits, learned.nexts
    levels, sets, cursor = walk.levels, walk.sets, walk.cursor
    level, lookaheads = cursor[At.LEVEL], cursor[At.LOOKS_AHEAD]
    cursor[At.REQUESTED] = cursor[At.REQUESTS] = 0
    if level < 0:
        cursor[At.UNSURE] = 0
    if level < 0 or levels[0] == 0:
        config = config_before(grammar, learned, walk, inside, begin)
        if config < 0:
            return -config
        if level < 0:
            if config == Config.NOWHERE:
                return Result.DONE
            level = 0
            levels[1], levels[2] = 0, cursor[At.ENTRIES]
        root = config
        # What was learned has been forgotten: the way to where the walk is has to be found anew.
        for number in range(level):
            at = levels[3 * number + 1] - 1
            read = bytes[places[entries[at]]] if number == 0 else bytes[at]
            before = config
            config = nexts[256 * before + read]
            if config == 0:
                for word in range(4):
                    sets[Sets.WANTED + word] = 0
                sets[Sets.WANTED + (read >> 6)] |= 1 << (read & 63)
                config = read_on(grammar, learned, walk, before, read)
            if config < 0:
                return -config
            levels[3 * number + 3] = config
        levels[0] = root
    unset, wanted = 0, False
    first, left, doubted, held = -1, 0, 0, 3 * cursor[At.LEVELS]
    while level >= 0:
        if first >= 0:
            left -= 1
            if (
                left < 0
                or cursor[At.REQUESTED] > limits.MANY_REQUESTED
                or cursor[At.REQUESTS] > limits.MANY_REQUESTS
            ):
                break
        at, stop, before = levels[3 * level + 1], levels[3 * level + 2], levels[3 * level]
        # Most nodes have nothing below them, and lead where others have led.
        while at < stop:
            read = bytes[places[entries[at]]] if level == 0 else bytes[at]
            if bits[Config.SIZE * before + (read >> 6)] >> (read & 63) & 1:
                config = nexts[256 * before + read]
                if config != Config.NOWHERE:
                    follows = configs[6 * config + 4] if config > 0 else 0
                    if (
                        not lookaheads
                        and bits[Config.SIZE * before + Config.READ + (read >> 6)] >> (read & 63) & 1
                    ):
                        follows = 1
                    if config == 0 and follows == 0:
                        break
                    record = 4 * places[entries[at]] if level == 0 else 4 * at
                    if nodes[record + 1] & Fact.LOW > (nodes[record] & Fact.LOW) + 1:
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
        if cursor[At.SPENT] > PAUSE and first < 0:
            cursor[At.LEVEL] = level
            return Result.PAUSED
        read = bytes[places[entries[at]]] if level == 0 else bytes[at]
        config = nexts[256 * before + read]
        if config == 0:
            if not wanted:
                # Siblings are read together.
                wanted = True
                sets[Sets.WANTED], sets[Sets.WANTED + 1], sets[Sets.WANTED + 2], sets[Sets.WANTED + 3] = (
                    0,
                    0,
                    0,
                    0,
                )
                for number in range(at, stop):
                    byte = bytes[places[entries[number]]] if level == 0 else bytes[number]
                    sets[Sets.WANTED + (byte >> 6)] |= 1 << (byte & 63)
            config = read_on(grammar, learned, walk, before, read)
            if config < 0 and config != -Result.NEEDS_TABLES:
                if first >= 0:
                    break
                cursor[At.LEVEL] = level
                return -config
        if config == Config.NOWHERE:
            levels[3 * level + 1] = at + 1
            continue
        record = 4 * places[entries[at]] if level == 0 else 4 * at
        node, after = nodes[record] & Fact.LOW, nodes[record + 1] & Fact.LOW
        here = 6 * config
        code = Result.DONE if config > 0 else Result.NEEDS_TABLES
        grouped = (nodes[record + 2] | nodes[record + 3]) != 0
        if code == Result.DONE and configs[here + 3] & Config.IN_TEXT:
            if grouped and configs[here + 3] & Config.LOOPED == 0:
                code = note_loops(grammar, learned, walk, config)
            other = nodes[record + 2] & ~bits[Config.SIZE * config + Config.LOOPS]
            other |= nodes[record + 3] & ~bits[Config.SIZE * config + Config.LOOPS + 1]
            if code == Result.DONE and (not grouped or other == 0):
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
        if code == Result.DONE and nodes[record + 1] >> 32 != Fact.LOW:
            if configs[here + 4] == 0:
                code = may_follow(grammar, learned, walk, config)
                if code != Result.DONE and code != Result.NEEDS_TABLES:
                    if first >= 0:
                        break
                    cursor[At.LEVEL] = level
                    return code
            if configs[here + 4] == 1:
                set_token(nodes[record + 1] >> 32, duplicates, mask)
            elif configs[here + 4] == 3:
                if cursor[At.UNSURE] == limits.MOST_UNSURE:
                    return Result.TOO_MUCH
                walk.doubts[cursor[At.UNSURE]] = node
                cursor[At.UNSURE] += 1
        if code == Result.NEEDS_TABLES and first < 0:
            first, left, doubted = level, AHEAD, cursor[At.UNSURE]
            for number in range(3 * level + 3):
                levels[held + number] = levels[number]
        levels[3 * level + 1] = at + 1
        if further and code == Result.DONE:
            level, wanted = level + 1, False
            levels[3 * level], levels[3 * level + 1] = config, starts[node]
            levels[3 * level + 2] = starts[node + 1]
    if first >= 0:
        # The node with the first request, and all behind it, are walked again when the tables are there.
        cursor[At.LEVEL], cursor[At.UNSURE] = first, doubted
        for number in range(3 * first + 3):
            levels[number] = levels[held + number]
        return Result.NEEDS_TABLES
    return Result.DONE
