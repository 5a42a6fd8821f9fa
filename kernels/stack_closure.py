"""What may come next in a grammar, as a part of a graph-structured stack.

A *thread* is a state of a terminal, what follows the terminal, and which characters may not come first (a
*bar*). `close` opens and resumes parts of a grammar until nothing but threads is left. A rule is opened once,
before all that has asked for it in one closure, so that left, right and hidden recursion and ambiguity take
no more than the grammar has places (Tomita, 1985; Scott and Johnstone, GLL parsing, 2010).

What follows is a number: 0 the end, below `LOCAL` a frame that is given, from there on one that the walk has
made. Frames are (part, state, what follows it): the part is resumed when the part before has ended.

program int32[N, 4] says of each part what it is, two numbers, and the number of its set of first bytes (0 for
a part that may be empty or is not known: it is always opened):

    LEAF     the first state of a text or -1, whether it may be empty
    LIST     a list of words: the number of the first one, and that behind the last one
    SERIES   the first part, the rest
    CHOICE   where its parts are in `lists`, how many they are
    RULE     its body
    REPEAT   the item or -1, where in `lists` are separator (or -1), least, most (or -1), and how many must be
    BAR      the number of what may not come next
    JOINT    as a frame only: the state says where frames are in `lists`, `what follows` how many they are
    NOTHING  no word at all
    FOREIGN  what walks do not read
    UNKNOWN  to be asked for
"""

from __future__ import annotations

from sglc.kernels.typed import I32, I64, U8, U64, kernel, kernel_apart

UNKNOWN, NOTHING, LEAF, LIST, SERIES, CHOICE, RULE, REPEAT, BAR, JOINT, FOREIGN = range(11)
CALL, EITHER = -1, -2
"""The parts of frames that go on with several others, the state being the first edge to them: with all that
has asked for one rule in one closure, and all that follows one terminal in it."""
LOCAL, LISTED = 1 << 23, 1 << 22
"""Where the numbers of frames begin that a walk has made, and those of places in lists of words."""
GOES_ON, ENDS, KNOWN = 1, 2, 4
"""Flags of the states of texts: more bytes may come; a word may end; the row has been made."""
DONE, PART, STATE, BARRED, UNION, BEHIND, PAUSED, TOO_MUCH = range(8)
"""What a walk comes back with: it is over; something has to be made first, of which cursor[MISSING] is the
number (what a part is, the row of a state of a text or of what is barred, what two bars bar together, what
follows a word); it has worked for a while; it is not for walks."""
LEVEL, MISSING, EPOCH, THREADS, FRAMES, EDGES, PLACES, READY, ACCEPTED, SPENT, LARGEST, UNSURE = range(12)
"""Places in the cursor."""
SLOTS, ROOM, ITEMS = 65_536, 65_536, 20_000
"""Keys of one closure's table; threads, frames, edges of a walk; items of a closure."""
EARLY, MORE = 3, 4000
"""Behind so many levels a closure may have twice as many items as the largest before, and so many more. Where
closures grow with every byte of a token, configurations come to be equal, and searches follow those."""
MOST_BARS, MOST_STATE, MOST_UNSURE = 128, 2000, 256
"""Numbers of what is barred, states of frames that are made, nodes that are left open."""
FRESH = 1 << 8
"""Added to the bar of what is opened before a frame of its own: it cannot have been opened before."""
EVERY, REACHED = 4, 8
"""Where in `want` are a set of all bytes, and that of the bytes that a closure has met."""
KEPT = 1024
"""Frames of which the bytes are kept with which the text behind them may begin."""
PAUSE = 200_000
"""Threads and items after which a walk asks whether to go on."""


@kernel
def slot(keys: I64, stamps: I32, epoch: int, kind: int, part: int, bar: int, state: int, frame: int) -> int:
    """Where a key is in the table of one closure, or belongs: its stamp is not `epoch` then."""
    key = (((((kind << 18) | part) << 7 | bar) << 12) | (state + 2048)) << 24 | frame
    at = (frame * 40503 + part * 30011 + bar * 769 + state * 6151 + kind * 12289) & (SLOTS - 1)
    while stamps[at] == epoch and keys[at] != key:
        at = (at + 1) & (SLOTS - 1)
    keys[at] = key
    return at


@kernel
def push(work: I32, waiting: int, part: int, frame: int, bar: int) -> int:
    """Put down something to open, or (part -1) to resume; the number of what is waiting then."""
    work[3 * waiting], work[3 * waiting + 1], work[3 * waiting + 2] = part, frame, bar
    return waiting + 1


@kernel
def new_frame(made: I32, kept: I32, cursor: I64, part: int, state: int, below: int) -> int:
    """Make a frame; what was kept of one with its number is forgotten."""
    number = cursor[FRAMES]
    made[3 * number], made[3 * number + 1], made[3 * number + 2] = part, state, below
    kept[(LOCAL + number) & (KEPT - 1)] = -1
    cursor[FRAMES] = number + 1
    return LOCAL + number


@kernel
def frame_of(
    made: I32, kept: I32, keys: I64, stamps: I32, values: I32, cursor: I64, part: int, state: int, below: int
) -> int:
    """The frame that resumes a part; made once in one closure."""
    at = slot(keys, stamps, cursor[EPOCH], 2, part, 0, state, below)
    if stamps[at] != cursor[EPOCH]:
        stamps[at], values[at] = cursor[EPOCH], new_frame(made, kept, cursor, part, state, below)
    return values[at]


@kernel
def new_place(words: U8, word_starts: I64, places: I32, cursor: I64, low: int, high: int, read: int) -> int:
    """The state of a thread that has read so many bytes of the words `low` to `high` - 1, all of which are
    longer. A place is these three numbers, and the next byte if there is one word."""
    number = cursor[PLACES]
    places[4 * number], places[4 * number + 1], places[4 * number + 2] = low, high, read
    places[4 * number + 3] = words[word_starts[low] + read] if high == low + 1 else -1
    cursor[PLACES] = number + 1
    return LISTED + number


@kernel_apart
def close(
    program: I32, lists: I32, firsts: U64, frames: I32, open_bytes: U64, unions: I32, bar_starts: I32,
    words: U8, word_starts: I64, begins_of: U64, places: I32, made: I32, edges: I32, threads: I32, work: I32,
    waiting: int, ended: I32, keys: I64, stamps: I32, values: I32, kept: I32, want: U64, wanted: int,
    most: int, cursor: I64,
) -> int:  # fmt: skip
    """Add the threads that begin where the `waiting` things in `work` are opened and resumed.

    uint64[4] from want[wanted] on are the bytes that may come next; what begins with no other may be left
    out. Puts at least all bytes that may come into the four words from want[REACHED] on, and sets
    cursor[ACCEPTED] where the text may end. If every byte may come (`wanted` is EVERY), it is only asked
    whether anything may, and the first answer is enough. Returns DONE, PART, UNION, or TOO_MUCH beyond `most`
    items.

    Arrays: see the module and `stack_walk.walk_grammar`.
    """
    epoch = cursor[EPOCH] + 1
    cursor[EPOCH] = epoch
    want0, want1 = want[wanted], want[wanted + 1]
    want2, want3 = want[wanted + 2], want[wanted + 3]
    endings = items = 0
    reach0, reach1, reach2, reach3 = want0 & 0, want1 & 0, want2 & 0, want3 & 0
    begun = LOCAL + cursor[FRAMES]
    while waiting > 0:
        waiting -= 1
        part, frame, bar = work[3 * waiting], work[3 * waiting + 1], work[3 * waiting + 2]
        fresh = bar & FRESH
        if fresh == 0:
            at = slot(keys, stamps, epoch, 0, part + 1, bar, 0, frame)
            if stamps[at] == epoch:
                continue
            stamps[at] = epoch
        bar -= fresh
        items += 1
        cursor[SPENT] += 1
        full = waiting > ROOM // 2 or cursor[FRAMES] > ROOM - 4 or cursor[EDGES] > ROOM - 4
        if items > most or full or max(cursor[THREADS], cursor[PLACES]) > ROOM - 2:
            return TOO_MUCH
        of, state, below = part, 0, frame
        if part < 0:
            if frame == 0:
                cursor[ACCEPTED] = 1
                if wanted == EVERY:
                    return DONE
                continue
            if frame >= LOCAL:
                at = 3 * (frame - LOCAL)
                of, state, below = made[at], made[at + 1], made[at + 2]
            else:
                of, state, below = frames[3 * frame], frames[3 * frame + 1], frames[3 * frame + 2]
            if of < 0:
                if of == CALL:
                    ended[2 * endings], ended[2 * endings + 1] = frame, bar
                    endings += 1
                link = state
                while link >= 0:
                    if waiting > ROOM - 2:
                        return TOO_MUCH
                    waiting = push(work, waiting, -1, edges[2 * link], bar)
                    link = edges[2 * link + 1]
                continue
        kind, a, b = program[4 * of], program[4 * of + 1], program[4 * of + 2]
        if kind == UNKNOWN:
            cursor[MISSING] = of
            return PART
        if part >= 0:
            first = 4 * program[4 * of + 3]
            if first > 0:
                reach0, reach1 = reach0 | firsts[first], reach1 | firsts[first + 1]
                reach2, reach3 = reach2 | firsts[first + 2], reach3 | firsts[first + 3]
                some = firsts[first] & want0 | firsts[first + 1] & want1
                if (some | firsts[first + 2] & want2 | firsts[first + 3] & want3) == 0:
                    continue
        if kind == REPEAT:
            least, limit = lists[b + 1], lists[b + 2]
            done, opens = state, state < 0
            if state < 0:
                done = -state - 1
            else:
                if state >= lists[b + 3]:
                    waiting = push(work, waiting, -1, below, bar)
                if a >= 0 and (limit < 0 or state < limit):
                    if state > 0 and lists[b] >= 0:
                        if state > MOST_STATE:
                            return TOO_MUCH
                        after = frame_of(made, kept, keys, stamps, values, cursor, of, -state - 1, below)
                        waiting = push(work, waiting, lists[b], after, bar)
                    else:
                        opens = True
            if opens:
                done = done + 1 if limit >= 0 else min(done + 1, max(least, 1))
                if done > MOST_STATE:
                    return TOO_MUCH
                after = frame_of(made, kept, keys, stamps, values, cursor, of, done, below)
                waiting = push(work, waiting, a, after, bar)
        elif part < 0:
            if kind == SERIES:
                waiting = push(work, waiting, b, below, bar)
            elif kind == JOINT:
                if waiting + below > ROOM - 2:
                    return TOO_MUCH
                for number in range(below):
                    waiting = push(work, waiting, -1, lists[state + number], bar)
            else:
                return TOO_MUCH
        elif kind == LEAF or kind == LIST:
            goes_on, again = a >= 0, 0
            if kind == LIST:
                again = 1
                empty = 1 if word_starts[a + 1] == word_starts[a] else 0
                goes_on = b > a + empty
                if empty > 0:
                    waiting = push(work, waiting, -1, frame, bar)
            elif b:
                waiting = push(work, waiting, -1, frame, bar)
            if goes_on:
                if program[4 * of + 3] == 0 and kind == LEAF:
                    reach0, reach1 = reach0 | begins_of[4 * a], reach1 | begins_of[4 * a + 1]
                    reach2, reach3 = reach2 | begins_of[4 * a + 2], reach3 | begins_of[4 * a + 3]
                elif program[4 * of + 3] == 0:
                    reach0, reach1 = reach0 | want[EVERY], reach1 | want[EVERY]
                    reach2, reach3 = reach2 | want[EVERY], reach3 | want[EVERY]
                at = slot(keys, stamps, epoch, 3, of if kind == LIST else a, bar, again, 0)
                if stamps[at] != epoch:
                    thread = cursor[THREADS]
                    stamps[at], values[at] = epoch, thread
                    threads[3 * thread], threads[3 * thread + 1] = a, frame
                    threads[3 * thread + 2] = bar_starts[bar]
                    if kind == LIST:
                        empty = 1 if word_starts[a + 1] == word_starts[a] else 0
                        threads[3 * thread] = new_place(words, word_starts, places, cursor, a + empty, b, 0)
                    cursor[THREADS] = thread + 1
                    if wanted == EVERY and bar == 0:
                        return DONE
                else:
                    thread = 3 * values[at]
                    follows, edge = threads[thread + 1], cursor[EDGES]
                    edges[2 * edge], edges[2 * edge + 1] = frame, -1
                    if follows >= begun and made[3 * (follows - LOCAL)] == EITHER:
                        edges[2 * edge + 1] = made[3 * (follows - LOCAL) + 1]
                        made[3 * (follows - LOCAL) + 1] = edge
                    else:
                        edges[2 * edge + 2], edges[2 * edge + 3] = follows, edge
                        threads[thread + 1] = new_frame(made, kept, cursor, EITHER, edge + 1, 0)
                        edge += 1
                    cursor[EDGES] = edge + 1
        elif kind == SERIES:
            after = new_frame(made, kept, cursor, of, 0, frame)
            waiting = push(work, waiting, a, after, bar + FRESH)
        elif kind == CHOICE:
            if waiting + b > ROOM - 2:
                return TOO_MUCH
            for number in range(b):
                waiting = push(work, waiting, lists[a + number], frame, bar + fresh)
        elif kind == RULE:
            at = slot(keys, stamps, epoch, 1, of, bar, 0, 0)
            edge = cursor[EDGES]
            edges[2 * edge], edges[2 * edge + 1] = frame, -1
            if stamps[at] != epoch:
                call = new_frame(made, kept, cursor, CALL, edge, 0)
                stamps[at], values[at] = epoch, call
                waiting = push(work, waiting, a, call, bar + FRESH)
            else:
                call = values[at]
                edges[2 * edge + 1] = made[3 * (call - LOCAL) + 1]
                made[3 * (call - LOCAL) + 1] = edge
                for number in range(endings):
                    if ended[2 * number] == call:
                        waiting = push(work, waiting, -1, frame, ended[2 * number + 1])
            cursor[EDGES] = edge + 1
        elif kind == BAR:
            both = unions[bar * MOST_BARS + a]
            if both < 0:
                cursor[MISSING] = bar * MOST_BARS + a
                return UNION
            reach0, reach1 = reach0 | open_bytes[4 * both], reach1 | open_bytes[4 * both + 1]
            reach2, reach3 = reach2 | open_bytes[4 * both + 2], reach3 | open_bytes[4 * both + 3]
            some = open_bytes[4 * both] & want0 | open_bytes[4 * both + 1] & want1
            if (some | open_bytes[4 * both + 2] & want2 | open_bytes[4 * both + 3] & want3) != 0:
                waiting = push(work, waiting, -1, frame, both)
        elif kind != NOTHING:
            return TOO_MUCH
    want[REACHED], want[REACHED + 1], want[REACHED + 2], want[REACHED + 3] = reach0, reach1, reach2, reach3
    return DONE
