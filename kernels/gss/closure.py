"""The closure of a GSS walk: all terminals that may come next in a grammar.

A *thread* is a state of a terminal, the frame that follows the terminal, and a negative lookahead: the
characters that may not come first. `close` opens and resumes parts of a grammar until only threads are left.
A closure opens a rule once for all its callers, so that left, right and hidden recursion and ambiguity take
no more work than the grammar has positions (Tomita, 1985; Scott and Johnstone, GLL parsing, 2010).

Frames are those of `sglc.kernels.gss.frames`, parts those of `sglc.kernels.gss.arrays.Grammar`.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import kernel, kernel_noinline
from sglc.kernels.gss import limits
from sglc.kernels.gss.arrays import At, First, Grammar, Learned, Need, Part, Result, Sets, Several, Walk
from sglc.kernels.gss.frames import place_named, request

MOST_STATE = 2000
"""States of frames that a closure makes."""
OWN = 1 << 8
"""Added to the lookahead of what is opened before a frame of its own: it cannot have been opened before."""


@kernel
def slot(walk: Walk, epoch: int, kind: int, part: int, lookahead: int, state: int, frame: int) -> int:
    """Where a key is in the table of one closure, or belongs: its stamp is not `epoch` then."""
    keys = walk.keys
    key = (((((kind << 18) | part) << 7 | lookahead) << 12) | (state + 2048)) << 23 | frame
    at = (frame * 40503 + part * 30011 + lookahead * 769 + state * 6151 + kind * 12289) & (limits.SLOTS - 1)
    while walk.stamps[at] == epoch and keys[at] != key:
        at = (at + 1) & (limits.SLOTS - 1)
    keys[at] = key
    return at


@kernel
def push(walk: Walk, waiting: int, part: int, frame: int, lookahead: int) -> int:
    """Put down something to open, or (part -1) to resume; the number of what is waiting then."""
    work = walk.work
    work[3 * waiting], work[3 * waiting + 1], work[3 * waiting + 2] = part, frame, lookahead
    return waiting + 1


@kernel
def new_frame(walk: Walk, part: int, state: int, below: int) -> int:
    """Make a frame of this closure."""
    fresh, cursor = walk.fresh, walk.cursor
    number = cursor[At.MADE_FRESH]
    fresh[3 * number], fresh[3 * number + 1], fresh[3 * number + 2] = part, state, below
    walk.settled[number] = 0
    cursor[At.MADE_FRESH] = number + 1
    return First.FRESH + number


@kernel
def frame_of(walk: Walk, part: int, state: int, below: int) -> int:
    """The frame of this closure that resumes a part."""
    stamps, values, cursor = walk.stamps, walk.values, walk.cursor
    at = slot(walk, cursor[At.EPOCH], 2, part, 0, state, below)
    if stamps[at] != cursor[At.EPOCH]:
        stamps[at], values[at] = cursor[At.EPOCH], new_frame(walk, part, state, below)
    return values[at]


@kernel_noinline
def close(grammar: Grammar, learned: Learned, walk: Walk, waiting: int, any: bool) -> int:
    """Add the threads that begin where the `waiting` things in `work` are opened and resumed.

    What begins with no byte of the four words from sets[WANTED] on may be left out. Puts at least all bytes
    that may come into those from sets[REACHED] on, and sets cursor[At.ACCEPTED] where the text may end. With
    `any` the closure stops at the first thread. Returns DONE, NEEDS_TABLES, FULL, or TOO_MUCH beyond `ITEMS`
    items.
    """
    program, lists, firsts, frames = grammar.program, grammar.lists, grammar.firsts, grammar.frames
    open_bytes, word_starts, behind = grammar.open_bytes, grammar.word_starts, grammar.behind
    begins_of = grammar.begins
    made = learned.made
    fresh, edges, threads, work, ended = walk.fresh, walk.edges, walk.threads, walk.work, walk.ended
    stamps, values, sets, cursor = walk.stamps, walk.values, walk.sets, walk.cursor
    epoch = cursor[At.EPOCH] + 1
    cursor[At.EPOCH] = epoch
    cursor[At.MADE_FRESH], cursor[At.EDGES], cursor[At.ACCEPTED] = 0, 0, 0
    endings = items = 0
    before = cursor[At.REQUESTS]
    want0, want1, want2, want3 = (
        sets[Sets.WANTED],
        sets[Sets.WANTED + 1],
        sets[Sets.WANTED + 2],
        sets[Sets.WANTED + 3],
    )
    reach0 = sets[Sets.EVERY] & 0
    reach1, reach2, reach3 = reach0, reach0, reach0
    while waiting > 0:
        waiting -= 1
        part, frame, lookahead = work[3 * waiting], work[3 * waiting + 1], work[3 * waiting + 2]
        own = lookahead & OWN
        if part >= First.WORD:
            word = 2 * (part - First.WORD)
            part = behind[word]
            if part < -1:
                first = 4 * behind[word + 1]
                if any or first == 0:
                    request(walk, Need.BEHIND, word >> 1)
                elif first < 0:
                    request(walk, Need.BEGINS, word >> 1)
                else:
                    reach0, reach1 = reach0 | firsts[first], reach1 | firsts[first + 1]
                    reach2, reach3 = reach2 | firsts[first + 2], reach3 | firsts[first + 3]
                    some = firsts[first] & want0 | firsts[first + 1] & want1
                    if (some | firsts[first + 2] & want2 | firsts[first + 3] & want3) != 0:
                        request(walk, Need.BEHIND, word >> 1)
                continue
        if own == 0:
            at = slot(walk, epoch, 0, part + 1, lookahead, 0, frame)
            if stamps[at] == epoch:
                continue
            stamps[at] = epoch
        lookahead -= own
        items += 1
        cursor[At.SPENT] += 1
        full = (
            waiting > limits.ROOM // 2
            or cursor[At.MADE_FRESH] > limits.ROOM - 4
            or cursor[At.EDGES] > limits.ROOM - 4
        )
        if items > limits.ITEMS or full or cursor[At.THREADS] > limits.ROOM - 2:
            return Result.TOO_MUCH
        of, state, below = part, 0, frame
        if part < 0:
            if frame == 0:
                cursor[At.ACCEPTED] = 1
                if any:
                    return Result.DONE
                continue
            if frame >= First.FRESH:
                at = 3 * (frame - First.FRESH)
                of, state, below = fresh[at], fresh[at + 1], fresh[at + 2]
            elif frame >= First.GIVEN:
                at = 3 * (frame - First.GIVEN)
                of, state, below = frames[at], frames[at + 1], frames[at + 2]
                if program[4 * of] == Part.MERGED:
                    if waiting + below > limits.ROOM - 2:
                        return Result.TOO_MUCH
                    for number in range(below):
                        link = lists[state + number]
                        waiting = push(walk, waiting, -1, First.GIVEN + link if link > 0 else 0, lookahead)
                    continue
                below = First.GIVEN + below if below > 0 else 0
            else:
                of, state, below = made[3 * frame], made[3 * frame + 1], made[3 * frame + 2]
            if of == Several.JOINED:
                if waiting + below > limits.ROOM - 2:
                    return Result.TOO_MUCH
                for number in range(below):
                    waiting = push(walk, waiting, -1, learned.links[state + number], lookahead)
                continue
            if of < 0:
                if of == Several.CALL:
                    ended[2 * endings], ended[2 * endings + 1] = frame, lookahead
                    endings += 1
                link = state
                while link >= 0:
                    if waiting > limits.ROOM - 2:
                        return Result.TOO_MUCH
                    waiting = push(walk, waiting, -1, edges[2 * link], lookahead)
                    link = edges[2 * link + 1]
                continue
        kind, a, b = program[4 * of], program[4 * of + 1], program[4 * of + 2]
        if part >= 0:
            first = 4 * program[4 * of + 3]
            if first > 0:
                reach0, reach1 = reach0 | firsts[first], reach1 | firsts[first + 1]
                reach2, reach3 = reach2 | firsts[first + 2], reach3 | firsts[first + 3]
                some = firsts[first] & want0 | firsts[first + 1] & want1
                if not any and (some | firsts[first + 2] & want2 | firsts[first + 3] & want3) == 0:
                    continue
        if kind == Part.UNKNOWN:
            # The rest may have requests, too.
            request(walk, Need.PART, of)
            continue
        if kind == Part.REPEAT:
            least, limit = lists[b + 1], lists[b + 2]
            done, opens = state, state < 0
            if state < 0:
                done = -state - 1
            else:
                if state >= lists[b + 3]:
                    waiting = push(walk, waiting, -1, below, lookahead)
                if a >= 0 and (limit < 0 or state < limit):
                    if state > 0 and lists[b] >= 0:
                        if state > MOST_STATE:
                            return Result.TOO_MUCH
                        after = frame_of(walk, of, -state - 1, below)
                        waiting = push(walk, waiting, lists[b], after, lookahead)
                    else:
                        opens = True
            if opens:
                done = done + 1 if limit >= 0 else min(done + 1, max(least, 1))
                if done > MOST_STATE:
                    return Result.TOO_MUCH
                after = frame_of(walk, of, done, below)
                waiting = push(walk, waiting, a, after, lookahead)
        elif part < 0:
            if kind != Part.SERIES:
                return Result.TOO_MUCH
            waiting = push(walk, waiting, b, below, lookahead)
        elif kind == Part.TEXT or kind == Part.LIST:
            goes_on, again = a >= 0, 0
            empty = 0
            if kind == Part.LIST:
                again = 1
                empty = 1 if word_starts[a + 1] == word_starts[a] else 0
                goes_on = b > a + empty
                if empty > 0:
                    waiting = push(walk, waiting, -1, frame, lookahead)
            elif b:
                waiting = push(walk, waiting, -1, frame, lookahead)
            if goes_on:
                if program[4 * of + 3] == 0 and kind == Part.TEXT:
                    reach0, reach1 = reach0 | begins_of[4 * a], reach1 | begins_of[4 * a + 1]
                    reach2, reach3 = reach2 | begins_of[4 * a + 2], reach3 | begins_of[4 * a + 3]
                elif program[4 * of + 3] == 0:
                    reach0, reach1 = reach0 | sets[Sets.EVERY], reach1 | sets[Sets.EVERY]
                    reach2, reach3 = reach2 | sets[Sets.EVERY], reach3 | sets[Sets.EVERY]
                at = slot(walk, epoch, 3, of if kind == Part.LIST else a, lookahead, again, 0)
                if stamps[at] != epoch:
                    thread = cursor[At.THREADS]
                    stamps[at], values[at] = epoch, thread
                    threads[3 * thread], threads[3 * thread + 1] = a, frame
                    threads[3 * thread + 2] = grammar.lookahead_starts[lookahead]
                    if kind == Part.LIST:
                        threads[3 * thread] = place_named(grammar, learned, walk, a + empty, b, 0)
                        if threads[3 * thread] < 0:
                            return Result.FULL
                    cursor[At.THREADS] = thread + 1
                    if any and lookahead == 0:
                        return Result.DONE
                else:
                    thread = 3 * values[at]
                    follows, edge = threads[thread + 1], cursor[At.EDGES]
                    edges[2 * edge], edges[2 * edge + 1] = frame, -1
                    if follows >= First.FRESH and fresh[3 * (follows - First.FRESH)] == Several.EITHER:
                        edges[2 * edge + 1] = fresh[3 * (follows - First.FRESH) + 1]
                        fresh[3 * (follows - First.FRESH) + 1] = edge
                    else:
                        edges[2 * edge + 2], edges[2 * edge + 3] = follows, edge
                        threads[thread + 1] = new_frame(walk, Several.EITHER, edge + 1, 0)
                        edge += 1
                    cursor[At.EDGES] = edge + 1
        elif kind == Part.SERIES:
            after = new_frame(walk, of, 0, frame)
            waiting = push(walk, waiting, a, after, lookahead + OWN)
        elif kind == Part.CHOICE:
            if waiting + b > limits.ROOM - 2:
                return Result.TOO_MUCH
            for number in range(b):
                waiting = push(walk, waiting, lists[a + number], frame, lookahead + own)
        elif kind == Part.RULE:
            at = slot(walk, epoch, 1, of, lookahead, 0, 0)
            edge = cursor[At.EDGES]
            edges[2 * edge], edges[2 * edge + 1] = frame, -1
            if stamps[at] != epoch:
                call = new_frame(walk, Several.CALL, edge, 0)
                stamps[at], values[at] = epoch, call
                waiting = push(walk, waiting, a, call, lookahead + OWN)
            else:
                call = values[at]
                edges[2 * edge + 1] = fresh[3 * (call - First.FRESH) + 1]
                fresh[3 * (call - First.FRESH) + 1] = edge
                for number in range(endings):
                    if ended[2 * number] == call:
                        waiting = push(walk, waiting, -1, frame, ended[2 * number + 1])
            cursor[At.EDGES] = edge + 1
        elif kind == Part.NEGATIVE_LOOKAHEAD:
            both = grammar.unions[lookahead * limits.MOST_LOOKAHEADS + a]
            if both < 0:
                request(walk, Need.UNION, lookahead * limits.MOST_LOOKAHEADS + a)
                continue
            reach0, reach1 = reach0 | open_bytes[4 * both], reach1 | open_bytes[4 * both + 1]
            reach2, reach3 = reach2 | open_bytes[4 * both + 2], reach3 | open_bytes[4 * both + 3]
            some = open_bytes[4 * both] & want0 | open_bytes[4 * both + 1] & want1
            if any or (some | open_bytes[4 * both + 2] & want2 | open_bytes[4 * both + 3] & want3) != 0:
                waiting = push(walk, waiting, -1, frame, both)
        elif kind != Part.NOTHING:
            return Result.TOO_MUCH
    if cursor[At.REQUESTS] > before:
        return Result.NEEDS_TABLES
    sets[Sets.REACHED], sets[Sets.REACHED + 1], sets[Sets.REACHED + 2], sets[Sets.REACHED + 3] = (
        reach0,
        reach1,
        reach2,
        reach3,
    )
    return Result.DONE
