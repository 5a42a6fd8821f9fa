"""Hash-consed frames and word states of the GSS walk: equal ones have one number.

A walk (`sglc.kernels.gss.walk`) keeps what it learns for later walks, so a number must not depend on the
path that led to it. A *frame* is (part, state, the frame below): the part is resumed when the part before it
has ended. Frame 0 is the end of the text. A *joined* frame continues with each of several frames: its part is
`JOINED`, its state is their position in `links`, and the third number counts them. So stacks that are reached
on different paths are one, like the nodes of a graph-structured stack (Tomita, 1985).

A closure has frames of its own, numbered from `FRESH`, to which it may still add continuations: `CALL` and
`EITHER` continue with a list of frames that begins at an edge (frame, next edge or -1). `settle` gives them
lasting numbers if they are still in use when the closure is done.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import I64, kernel, kernel_noinline
from sglc.kernels.gss import limits
from sglc.kernels.gss.arrays import At, First, Grammar, Learned, Part, Result, Several, Walk

DEEP = 16_384
"""So many frames are numbered at once; those below are continuations as they are."""
FEW_KEYS = 48
"""So many numbers are put in order by insertion."""
_PRIME = 48_271
_WORD = (1 << 31) - 1


@kernel
def request(walk: Walk, kind: int, number: int) -> None:
    """Request a table that must be made first, unless one of the last requests is the same."""
    requests, cursor = walk.requests, walk.cursor
    at = cursor[At.REQUESTED]
    cursor[At.REQUESTS] += 1
    before = at
    while before > max(at - limits.MANY_REQUESTED, 0):
        before -= 1
        if requests[2 * before + 1] == number and requests[2 * before] == kind:
            return
    if at < limits.MOST_REQUESTED:
        requests[2 * at], requests[2 * at + 1] = kind, number
        cursor[At.REQUESTED] = at + 1


@kernel
def sort(keys: I64, count: int) -> None:
    """Put numbers in order (Shell, 1959); few, which are nearly so, by insertion alone."""
    gap = 1
    if count > FEW_KEYS:
        while 3 * gap < count:
            gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, count):
            key = keys[at]
            place = at
            while place >= gap and keys[place - gap] > key:
                keys[place] = keys[place - gap]
                place -= gap
            keys[place] = key
        gap //= 3


@kernel
def mixed(found: int, key: int) -> int:
    """The hash of what came before and one more number, below 2^31."""
    return (found * _PRIME + (key & _WORD) * 30_269 + (key >> 31) * 7_919 + 1) & _WORD


@kernel_noinline
def frame_named(learned: Learned, walk: Walk, part: int, state: int, below: int) -> int:
    """The number of a frame; below zero where there is no room."""
    made, names = learned.made, learned.names
    cursor = walk.cursor
    at = mixed(mixed(mixed(0, part), state), below) & (limits.NAMES - 1)
    while names[at] > 0:
        here = 3 * names[at]
        if made[here] == part and made[here + 1] == state and made[here + 2] == below:
            return names[at]
        at = (at + 1) & (limits.NAMES - 1)
    number = cursor[At.FRAMES]
    if number >= limits.MOST_FRAMES:
        return -Result.FULL
    names[at] = number
    made[3 * number], made[3 * number + 1], made[3 * number + 2] = part, state, below
    cursor[At.FRAMES] = number + 1
    return number


@kernel_noinline
def joined(learned: Learned, walk: Walk, count: int) -> int:
    """The frame that goes on with each of some frames, of which no one is joined; below zero where there is
    no room. They are sorted."""
    made, links, names = learned.made, learned.links, learned.names
    some, cursor = walk.some, walk.cursor
    sort(some, count)
    out = 1
    for number in range(1, count):
        if some[number] != some[out - 1]:
            some[out] = some[number]
            out += 1
    if out == 1:
        return some[0]
    at = 0
    for number in range(out):
        at = mixed(at, some[number])
    at &= limits.NAMES - 1
    while names[at] > 0:
        here = 3 * names[at]
        if made[here] == Several.JOINED and made[here + 2] == out:
            begin, number = made[here + 1], 0
            while number < out and links[begin + number] == some[number]:
                number += 1
            if number == out:
                return names[at]
        at = (at + 1) & (limits.NAMES - 1)
    found, begin = cursor[At.FRAMES], cursor[At.LINKS]
    if found >= limits.MOST_FRAMES or begin + out > limits.MOST_LINKS:
        return -Result.FULL
    names[at] = found
    made[3 * found], made[3 * found + 1], made[3 * found + 2] = Several.JOINED, begin, out
    for number in range(out):
        links[begin + number] = some[number]
    cursor[At.FRAMES], cursor[At.LINKS] = found + 1, begin + out
    return found


@kernel
def width(learned: Learned, frame: int) -> int:
    """How many frames a frame goes on with."""
    made = learned.made
    if frame < First.GIVEN and made[3 * frame] == Several.JOINED:
        return made[3 * frame + 2]
    return 1


@kernel
def gather(learned: Learned, walk: Walk, count: int, frame: int) -> int:
    """Add a frame to some, or those that it is joined of; how many there are then."""
    made = learned.made
    some = walk.some
    if frame < First.GIVEN and made[3 * frame] == Several.JOINED:
        begin = made[3 * frame + 1]
        for number in range(made[3 * frame + 2]):
            some[count] = learned.links[begin + number]
            count += 1
        return count
    some[count] = frame
    return count + 1


@kernel_noinline
def settle(learned: Learned, walk: Walk, frame: int) -> int:
    """The lasting number of a closure's frame; below zero where there is none.

    `settled`: those of the closure's frames that have one (plus one), -1 while that is found out.
    """
    fresh, settled, edges, work = walk.fresh, walk.settled, walk.edges, walk.work
    waiting = 1
    work[0] = frame
    while waiting > 0:
        here = work[waiting - 1] - First.FRESH
        if settled[here] > 0:
            waiting -= 1
            continue
        part, link, below = fresh[3 * here], fresh[3 * here + 1], fresh[3 * here + 2]
        open = waiting
        if part >= 0:
            if below >= First.FRESH and settled[below - First.FRESH] <= 0:
                work[waiting] = below
                waiting += 1
        else:
            while link >= 0:
                below = edges[2 * link]
                if below >= First.FRESH and settled[below - First.FRESH] <= 0:
                    if waiting > limits.ROOM - 2:
                        return -Result.TOO_MUCH
                    work[waiting] = below
                    waiting += 1
                link = edges[2 * link + 1]
        if waiting > open:
            # A frame that is below itself has no number.
            if settled[here] < 0 or waiting > limits.ROOM - 2:
                return -Result.TOO_MUCH
            settled[here] = -1
            continue
        if part >= 0:
            if below >= First.FRESH:
                below = settled[below - First.FRESH] - 1
            found = frame_named(learned, walk, part, link, below)
        else:
            count, link = 0, fresh[3 * here + 1]
            while link >= 0:
                below = edges[2 * link]
                if below >= First.FRESH:
                    below = settled[below - First.FRESH] - 1
                if count + width(learned, below) > limits.ROOM - 2:
                    return -Result.TOO_MUCH
                count = gather(learned, walk, count, below)
                link = edges[2 * link + 1]
            found = joined(learned, walk, count)
        if found < 0:
            return found
        settled[here] = found + 1
        waiting -= 1
    return settled[frame - First.FRESH] - 1


@kernel_noinline
def take(grammar: Grammar, learned: Learned, walk: Walk, cont: int) -> int:
    """The number of the frame for a continuation of a machine; below zero where there is none.

    Far below, continuations are taken as they are.
    """
    frames, lists = grammar.frames, grammar.lists
    taken = learned.taken
    work = walk.work
    waiting = 1
    work[0] = cont
    while waiting > 0:
        here = work[waiting - 1]
        if taken[here] > 0:
            waiting -= 1
            continue
        part, state, below = frames[3 * here], frames[3 * here + 1], frames[3 * here + 2]
        open = waiting
        if waiting > DEEP:
            if here >= First.FRESH - First.GIVEN:
                return -Result.TOO_MUCH
            taken[here] = First.GIVEN + here + 1
            waiting -= 1
            continue
        if grammar.program[4 * part] == Part.MERGED:
            if below > limits.ROOM:
                return -Result.TOO_MUCH
            for number in range(below):
                if taken[lists[state + number]] <= 0:
                    work[waiting] = lists[state + number]
                    waiting += 1
            if waiting > open:
                continue
            count = 0
            for number in range(below):
                found = taken[lists[state + number]] - 1
                if count + width(learned, found) > limits.ROOM - 2:
                    return -Result.TOO_MUCH
                count = gather(learned, walk, count, found)
            found = joined(learned, walk, count)
        else:
            if taken[below] <= 0:
                work[waiting] = below
                waiting += 1
                continue
            found = frame_named(learned, walk, part, state, taken[below] - 1)
        if found < 0:
            return found
        taken[here] = found + 1
        waiting -= 1
    return taken[cont] - 1


@kernel
def place_named(grammar: Grammar, learned: Learned, walk: Walk, low: int, high: int, read: int) -> int:
    """The state of a thread that has read so many bytes of the words `low` to `high` - 1, all of which are
    longer. A place is these three numbers, and the next byte if there is one word. Below zero where there is
    no room."""
    places, listed = learned.places, learned.listed
    cursor = walk.cursor
    at = mixed(mixed(mixed(0, low), high), read) & (limits.NAMES - 1)
    while listed[at] > 0:
        here = 4 * (listed[at] - 1)
        if places[here] == low and places[here + 1] == high and places[here + 2] == read:
            return First.LISTED + listed[at] - 1
        at = (at + 1) & (limits.NAMES - 1)
    number = cursor[At.PLACES]
    if number >= limits.MOST_PLACES:
        return -Result.FULL
    listed[at] = number + 1
    places[4 * number], places[4 * number + 1], places[4 * number + 2] = low, high, read
    places[4 * number + 3] = grammar.words[grammar.word_starts[low] + read] if high == low + 1 else -1
    cursor[At.PLACES] = number + 1
    return First.LISTED + number
