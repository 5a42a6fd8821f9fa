"""Rests of tokens read by grammars: a walk of the token trie that keeps a graph-structured stack.

At every node it has the threads of `sglc.kernels.stack_closure`. Where a terminal ends, a closure adds those
that may come next. What a branch of the trie has added is dropped when the walk leaves it, and nothing is
kept from one walk to the next, so that a place in a grammar costs what its threads cost.
"""

from __future__ import annotations

from sglc.kernels.character_walk import set_token
from sglc.kernels.stack_closure import (
    ACCEPTED,
    BARRED,
    BEHIND,
    DONE,
    EARLY,
    EDGES,
    ENDS,
    EVERY,
    FRAMES,
    GOES_ON,
    ITEMS,
    KEPT,
    KNOWN,
    LARGEST,
    LEVEL,
    LISTED,
    MISSING,
    MORE,
    MOST_UNSURE,
    PAUSE,
    PAUSED,
    PLACES,
    REACHED,
    READY,
    ROOM,
    SPENT,
    STATE,
    THREADS,
    TOO_MUCH,
    UNSURE,
    close,
    new_place,
)
from sglc.kernels.token_groups import LOW
from sglc.kernels.typed import I32, I64, U8, U32, U64, kernel, kernel_apart
from sglc.kernels.walks import search_word


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


@kernel_apart
def any_goes_on(
    rows: I32, flags: U8, words: U8, word_starts: I64, places: I32, bar_rows: I32, bar_flags: U8,
    threads: I32, begin: int, end: int, cursor: I64,
) -> int:  # fmt: skip
    """Whether one of some threads may go on, under its bar: DONE and cursor[MISSING] 1 or 0, or what is
    missing, or TOO_MUCH where it cannot be told."""
    found = may = 0
    for thread in range(begin, end):
        state, bar = threads[3 * thread], threads[3 * thread + 2]
        if bar == 0:
            cursor[MISSING] = 1
            return DONE
        if bar_flags[bar] & KNOWN == 0:
            cursor[MISSING] = bar
            return BARRED
        if state >= LISTED:
            at = 4 * (state - LISTED)
            may = word_goes_on_with(
                words, word_starts, bar_rows, places[at], places[at + 1], places[at + 2], bar
            )
        else:
            if flags[state] & KNOWN == 0:
                cursor[MISSING] = state
                return STATE
            may = goes_on_with(rows, bar_rows, state, bar)
        if may == 1:
            cursor[MISSING] = 1
            return DONE
        if may == 2:
            found = 2
    cursor[MISSING] = 0
    return TOO_MUCH if found == 2 else DONE


@kernel
def put_down(ready: I32, count: int, work: I32) -> None:
    """What is ready, as work."""
    for number in range(count):
        work[3 * number], work[3 * number + 1] = ready[2 * number], ready[2 * number + 1]
        work[3 * number + 2] = 0


@kernel
def put_down_some(ready: I32, count: int, kept: I32, follows: U64, want: U64, work: I32) -> int:
    """The same without what is known not to go on with one of the bytes wanted; how much it is."""
    out = 0
    for number in range(count):
        part, frame = ready[2 * number], ready[2 * number + 1]
        at = frame & (KEPT - 1)
        if part < 0 and kept[at] == frame:
            some = follows[4 * at] & want[0] | follows[4 * at + 1] & want[1]
            if (some | follows[4 * at + 2] & want[2] | follows[4 * at + 3] & want[3]) == 0:
                continue
        work[3 * out], work[3 * out + 1], work[3 * out + 2] = part, frame, 0
        out += 1
    return out


@kernel
def enter(
    begins_of: U64, places: I32, threads: I32, low: int, levels: I32, may: U64, want: U64, level: int,
    kid: int, stop: int, cursor: I64,
) -> None:  # fmt: skip
    """Take what has been added as that of a level whose children are number `kid` to `stop` - 1."""
    here = 6 * level
    levels[here], levels[here + 1], levels[here + 2] = cursor[THREADS], cursor[FRAMES], cursor[EDGES]
    levels[here + 3], levels[here + 4], levels[here + 5] = cursor[PLACES], kid, stop
    here = 4 * level
    for word in range(4):
        may[here + word] = 0
    for thread in range(low, cursor[THREADS]):
        state = threads[3 * thread]
        if state < LISTED:
            for word in range(4):
                may[here + word] |= begins_of[4 * state + word]
        else:
            byte = places[4 * (state - LISTED) + 3]
            if byte >= 0:
                may[here + (byte >> 6)] |= 1 << (byte & 63)
            else:
                for word in range(4):
                    may[here + word] |= want[EVERY]


@kernel
def step_threads(
    rows: I32, begins_of: U64, flags: U8, loops: U64, words: U8, word_starts: I64, behind: I32, bar_rows: I32,
    bar_flags: U8, places: I32, threads: I32, low: int, high: int, ready: I32, read: int, below0: int,
    below1: int, cursor: I64,
) -> int:  # fmt: skip
    """Take threads `low` to `high` - 1 one byte further.

    Those that go on are added to the threads, what follows those that may end comes to `ready`. Returns a bit
    for each of: some thread surely goes on (1); all tokens below with no groups but `below0` and `below1` are
    legal (2); or, below zero, `-1 - result` where the walk has to stop.
    """
    out, waiting, found = high, 0, 0
    for thread in range(low, high):
        state, bar = threads[3 * thread], threads[3 * thread + 2]
        left = right = size = here = 0
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
            here = GOES_ON
            if word_starts[left + 1] - word_starts[left] == size + 1:
                here = ENDS | GOES_ON if right > left + 1 else ENDS
                part = behind[left]
        else:
            if begins_of[4 * state + (read >> 6)] >> (read & 63) & 1 == 0:
                continue
            if flags[state] & KNOWN == 0:
                cursor[MISSING] = state
                return -1 - STATE
            following = rows[(state << 8) + read]
            here = flags[following]
        if bar > 0:
            if bar_flags[bar] & KNOWN == 0:
                cursor[MISSING] = bar
                return -1 - BARRED
            bar = bar_rows[(bar << 8) + read]
            if bar < 0:
                continue
        if here & GOES_ON:
            threads[3 * out], threads[3 * out + 1] = following, threads[3 * thread + 1]
            threads[3 * out + 2] = bar
            if following < 0:
                ended = 1 if here & ENDS else 0
                threads[3 * out] = new_place(
                    words, word_starts, places, cursor, left + ended, right, size + 1
                )
            out += 1
            if bar == 0:
                found |= 1
                if following >= 0:
                    if here & KNOWN == 0 and (below0 | below1) != 0:
                        cursor[MISSING] = following
                        return -1 - STATE
                    other = below0 & ~loops[2 * following] | below1 & ~loops[2 * following + 1]
                    if other == 0:
                        found |= 2
        if here & ENDS:
            if bar > 0:
                return -1 - TOO_MUCH
            if part == -2:
                cursor[MISSING] = left
                return -1 - BEHIND
            ready[2 * waiting], ready[2 * waiting + 1] = part, threads[3 * thread + 1]
            waiting += 1
    cursor[THREADS], cursor[READY] = out, waiting
    return found


@kernel
def walk_grammar(
    nodes: U64, duplicates: I32, starts: I32, places_of: I32, bytes: U8, order: I32, firsts_of: I32,
    entries: I32, entry_bytes: U8, count: int, inside: I32, insides: int, begin: I32, begins: int,
    program: I32, lists: I32, firsts: U64, frames: I32, rows: I32, begins_of: U64, flags: U8, loops: U64,
    words: U8, word_starts: I64,
    behind: I32, bar_rows: I32, bar_flags: U8, bar_starts: I32, open_bytes: U64, unions: I32, bars: bool,
    places: I32, threads: I32, made: I32, edges: I32, levels: I32, may: U64, work: I32, ready: I32,
    ended: I32, keys: I64, stamps: I32, values: I32, kept: I32, follows: U64, doubts: I32, want: U64,
    cursor: I64, mask: U32,
) -> int:  # fmt: skip
    """Walk below `entries`, whose bytes come first: from the threads `inside` int32[insides, 6] and from what
    `begin` int32[begins, 2] opens (part, frame) or (-1, frame) resumes. A thread is (state of a text, frame,
    state of what is barred, three zeros) or (-1, frame, state of what is barred, place in a list of words).

    The trie: nodes, order and firsts_of are `nodes`, `order` and `begins` of `token_groups.TokenGroups`; for
    starts, places_of and bytes see `walks.list_children`.

    The grammar: program, lists int32[L], firsts uint64[F, 4], frames int32[C, 3], see `stack_closure`. By
    state of a text: rows int32[S, 256] the next one or -1; begins_of uint64[S, 4] the bytes with one, all of
    them where the row is not made; flags uint8[S]; loops uint64[S, 2] groups of bytes below which all tokens
    are legal. By number of a word: words uint8[...] and word_starts int64[W + 1], the bytes, each list in
    order; behind int32[W] the part that follows the word, -1 for none, -2 where that is to be asked.

    What is barred: bar_rows int32[B, 256] the next state, 0 where a character is not barred, -1 where it is;
    bar_flags uint8[B]; by number: bar_starts int32[K] the first state, open_bytes uint64[K, 4] the bytes that
    are no barred characters, unions int32[K, K] the number for two. `bars`: whether there are any.

    The walk: places int32[ROOM, 4], see `new_place`; threads, made, work int32[ROOM, 3]; edges, ready
    int32[ROOM, 2]; levels int32[deepest + 2, 6]: threads, frames, edges and places up to a level, its next
    child and the last; may uint64[deepest + 2, 4] bytes that its threads may read; ended int32[ITEMS, 2];
    keys, stamps, values [SLOTS]; kept int32[KEPT] and follows uint64[KEPT, 4]; want uint64[12], of which the
    second four are all ones. Nodes whose own tokens are left open go to `doubts` int32[MOST_UNSURE], their
    number is cursor[UNSURE]. cursor[LEVEL] is -1 at first.
    """
    level = cursor[LEVEL]
    if level < 0:
        want[0], want[1], want[2], want[3] = 0, 0, 0, 0
        for number in range(count):
            read = entry_bytes[number]
            want[read >> 6] |= 1 << (read & 63)
        cursor[THREADS], cursor[FRAMES], cursor[EDGES], cursor[PLACES] = insides, 0, 0, 0
        cursor[UNSURE] = 0
        for number in range(insides):
            at = 6 * number
            threads[3 * number], threads[3 * number + 1] = inside[at], inside[at + 1]
            threads[3 * number + 2] = inside[at + 2]
            if inside[at] < 0:
                threads[3 * number] = new_place(
                    words, word_starts, places, cursor, inside[at + 3], inside[at + 4], inside[at + 5]
                )
        put_down(begin, begins, work)
        code = close(
            program, lists, firsts, frames, open_bytes, unions, bar_starts, words, word_starts, begins_of,
            places, made, edges, threads, work, begins, ended, keys, stamps, values, kept, want, 0, ITEMS,
            cursor,
        )  # fmt: skip
        cursor[LARGEST] = cursor[SPENT]
        if code != DONE or cursor[THREADS] == 0:
            return code
        level = 0
        enter(begins_of, places, threads, 0, levels, may, want, 0, 0, count, cursor)
    unset = 0
    while level >= 0:
        above = 6 * level
        at = levels[above + 4]
        if at == levels[above + 5]:
            level -= 1
            continue
        cursor[LEVEL] = level
        if cursor[SPENT] > PAUSE:
            return PAUSED
        read = entry_bytes[at] if level == 0 else bytes[at]
        if may[4 * level + (read >> 6)] >> (read & 63) & 1 == 0:
            levels[above + 4] = at + 1
            continue
        record = 4 * places_of[entries[at]] if level == 0 else 4 * at
        node, after = nodes[record] & LOW, nodes[record + 1] & LOW
        low, high = 0, levels[above]
        if level > 0:
            low = levels[above - 6]
        cursor[FRAMES], cursor[EDGES], cursor[PLACES] = (
            levels[above + 1],
            levels[above + 2],
            levels[above + 3],
        )
        cursor[SPENT] += high - low
        if max(high, cursor[PLACES]) + high - low > ROOM - 2:
            return TOO_MUCH
        found = step_threads(
            rows, begins_of, flags, loops, words, word_starts, behind, bar_rows, bar_flags, places, threads,
            low, high, ready, read, nodes[record + 2], nodes[record + 3], cursor,
        )  # fmt: skip
        if found < 0:
            return -1 - found
        waiting = cursor[READY]
        if cursor[THREADS] == high and waiting == 0:
            levels[above + 4] = at + 1
            continue
        if found & 2:
            for number in range(firsts_of[node], firsts_of[after]):
                mask[order[number] >> 5] |= 1 << (order[number] & 31)
            levels[above + 4] = at + 1
            continue
        further = after > node + 1
        if further:
            # Nothing is to be found below a node all of whose tokens are known to be legal.
            unset, last = max(unset, firsts_of[node]) if level > 0 else firsts_of[node], firsts_of[after]
            while unset < last and mask[order[unset] >> 5] >> (order[unset] & 31) & 1:
                unset += 1
            if unset == last:
                levels[above + 4] = at + 1
                continue
        cursor[ACCEPTED] = 0
        if waiting > 0 and further:
            want[0], want[1], want[2], want[3] = 0, 0, 0, 0
            for number in range(starts[node], starts[node + 1]):
                want[bytes[number] >> 6] |= 1 << (bytes[number] & 63)
            open = put_down_some(ready, waiting, kept, follows, want, work)
            if open > 0:
                spent = cursor[SPENT]
                most = ITEMS if level < EARLY else min(2 * cursor[LARGEST] + MORE, ITEMS)
                code = close(
                    program, lists, firsts, frames, open_bytes, unions, bar_starts, words, word_starts,
                    begins_of, places, made, edges, threads, work, open, ended, keys, stamps, values, kept,
                    want, 0, most, cursor,
                )  # fmt: skip
                if code != DONE:
                    return code
                if level < EARLY:
                    cursor[LARGEST] = max(cursor[LARGEST], cursor[SPENT] - spent)
                if waiting == 1 and open == 1 and ready[0] < 0:
                    place = ready[1] & (KEPT - 1)
                    kept[place] = ready[1]
                    for number in range(4):
                        follows[4 * place + number] = want[REACHED + number]
        fresh = cursor[THREADS]
        if nodes[record + 1] >> 32 != LOW:
            alive = (found & 1) > 0 or cursor[ACCEPTED] > 0 or (waiting > 0 and not bars)
            unsure = False
            if not alive:
                code = any_goes_on(
                    rows, flags, words, word_starts, places, bar_rows, bar_flags, threads, high, fresh, cursor
                )
                if code != DONE and code != TOO_MUCH:
                    return code
                alive, unsure = code == DONE and cursor[MISSING] == 1, code == TOO_MUCH
            if not alive and waiting > 0:
                # Something that no token reads on may follow.
                frame_count, edge_count, place_count = cursor[FRAMES], cursor[EDGES], cursor[PLACES]
                put_down(ready, waiting, work)
                code = close(
                    program, lists, firsts, frames, open_bytes, unions, bar_starts, words, word_starts,
                    begins_of, places, made, edges, threads, work, waiting, ended, keys, stamps, values, kept,
                    want, EVERY, ITEMS, cursor,
                )  # fmt: skip
                if code != DONE:
                    return code
                alive = cursor[ACCEPTED] > 0
                if not alive:
                    code = any_goes_on(
                        rows, flags, words, word_starts, places, bar_rows, bar_flags, threads, fresh,
                        cursor[THREADS], cursor,
                    )  # fmt: skip
                    if code != DONE and code != TOO_MUCH:
                        return code
                    alive, unsure = code == DONE and cursor[MISSING] == 1, unsure or code == TOO_MUCH
                cursor[THREADS], cursor[FRAMES], cursor[EDGES] = fresh, frame_count, edge_count
                cursor[PLACES] = place_count
            if alive:
                set_token(nodes[record + 1] >> 32, duplicates, mask)
            elif unsure:
                if cursor[UNSURE] == MOST_UNSURE:
                    return TOO_MUCH
                doubts[cursor[UNSURE]] = node
                cursor[UNSURE] += 1
        levels[above + 4] = at + 1
        if further and fresh > high:
            level += 1
            enter(
                begins_of, places, threads, high, levels, may, want, level, starts[node], starts[node + 1],
                cursor,
            )  # fmt: skip
    return DONE
