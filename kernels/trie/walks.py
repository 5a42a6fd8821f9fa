"""The walks of token subtrees.

A *walk* takes a list of nodes of the token trie, the entries. The byte of an entry is the first one to be
read; its whole subtree is walked, a branch of it is left as soon as it is not legal. `mask` gets the bits of
the tokens reached. A walk that needs something that has not been made yet puts its place into `cursor`
(entry, node or -1 before the entry's first node, exits written, two more of its own) and is called again with
it.

The trie is that of `sglc.kernels.array_layouts.TrieArrays`: byte, depth, end, token, duplicates.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import I32, I64, U8, U32, U64, kernel

BOUNDARY, ENDS, KNOWN = 1, 2, 4
"""Flags of a leaf's states: a character is complete; a word may end here; the state's row has been made."""
NO_MOVE = -1
"""In a leaf's row: no move."""
BACKSLASH = 0x5C


@kernel
def set_bits(token: I32, duplicates: I32, node: int, mask: U32) -> None:
    """Set the bits of the tokens that end at a node."""
    index = token[node]
    if index >= 0:
        mask[index >> 5] |= 1 << (index & 31)
    elif index < -1:
        place = -2 - index
        while duplicates[place] >= 0:
            mask[duplicates[place] >> 5] |= 1 << (duplicates[place] & 31)
            place += 1


@kernel
def walk_rows(
    byte: U8, depth: I32, end: I32, token: I32, duplicates: I32, entries: I32, count: int, base: int,
    rows: I32, row_of: I32, stack: I32, cursor: I64, mask: U32,
) -> int:  # fmt: skip
    """Walk from configuration `base` by rows of configurations.

    rows int32[R, 256], next configuration or 0; row_of int32[C], -1 where there is no row; stack
    int32[deepest + 1]. Returns the configuration whose row is missing, or -1 when done.
    """
    entry, node = cursor[0], cursor[1]
    while entry < count:
        top = entries[entry]
        if node < 0:
            node = top
            stack[depth[top] - 1] = base
        while node < end[top]:
            level = depth[node]
            above = stack[level - 1]
            row = row_of[above]
            if row < 0:
                cursor[0], cursor[1] = entry, node
                return above
            following = rows[(row << 8) + byte[node]]
            if following == 0:
                node = end[node]
                continue
            stack[level] = following
            set_bits(token, duplicates, node, mask)
            node += 1
        node = -1
        entry += 1
    return -1


@kernel
def walk_leaf(
    byte: U8, depth: I32, end: I32, token: I32, duplicates: I32, entries: I32, count: int, start: int,
    least: int, most: int, eager: int, rows: I32, flags: U8, lo: I32, hi: I32, labels: U64, width: int,
    open: U64, first: U8, below: U64, quiet: U8, quiet0: int, quiet1: int, home: int, states: I32,
    counts: I32, cursor: I64, mask: U32, exits: I32, ends: I32,
) -> int:  # fmt: skip
    """Walk inside one leaf from state `start`, with `least` to `most` characters still to come.

    rows int32[S, 256] next state or -1; flags uint8[S]; lo, hi int32[S] fewest and most characters from a
    state to the end of a word; first uint8[256] bytes with which the text after the leaf may begin; states,
    counts int32[deepest + 1]. Every node at which that text may begin (its byte being the first) is written
    to `exits`, the state before it to `ends`; entries themselves only if `eager` is 1, not 0.

    labels uint64[S, width] are sets of what may still be meant from a state, and open uint64[width] what may
    be meant at all: states without a label that is open are dead.

    `quiet` uint8[256] are bytes of characters that lead from `start` to states that are alive, without end.
    While a path has had no others (and was in state `home` after every character, if that is not negative),
    tokens of whole characters are left out, and a subtree whose groups (below uint64[n, 2], one bit a group)
    are all among `quiet0` and `quiet1`: the caller knows them. cursor[3] is the level down to which that
    holds, cursor[4] the most characters of a token or before an exit that was found. Returns the state whose
    row is missing, or -1 when done.
    """
    entry, node, out, calm, reach = cursor[0], cursor[1], cursor[2], cursor[3], cursor[4]
    while entry < count:
        top = entries[entry]
        base = depth[top] - 1
        if node < 0:
            node = top
            states[base], counts[base] = start, 0
            calm = base
        stop = end[top]
        while node < stop:
            level = depth[node]
            above = level - 1
            state, taken = states[above], counts[above]
            here = flags[state]
            if here & KNOWN == 0:
                cursor[0], cursor[1], cursor[2], cursor[3], cursor[4] = entry, node, out, calm, reach
                return state
            read = byte[node]
            if here & ENDS and above + eager > base and taken >= least and first[read]:
                exits[out], ends[out] = node, state
                out += 1
                reach = max(reach, taken)
            target = rows[(state << 8) + read]
            if target < 0:
                node = end[node]
                continue
            whole = flags[target] & BOUNDARY
            now = taken + whole
            if lo[target] > most - now or hi[target] < least - now:
                node = end[node]
                continue
            if width > 0:
                word, shared = 0, labels[target * width] & open[0]
                while shared == 0 and word + 1 < width:
                    word += 1
                    shared = labels[target * width + word] & open[word]
                if shared == 0:
                    node = end[node]
                    continue
            if calm > above:
                calm = above
            if calm == above and quiet[read] and (home < 0 or whole == 0 or target == home):
                calm = level
                if (below[2 * node] & ~quiet0) == 0 and (below[2 * node + 1] & ~quiet1) == 0:
                    # A token of whole characters is known to the caller, one that ends inside of one is not.
                    if whole == 0:
                        reach = max(reach, now)
                        set_bits(token, duplicates, node, mask)
                    node = end[node]
                    continue
            states[level], counts[level] = target, now
            if calm < level or whole == 0:
                reach = max(reach, now)
                set_bits(token, duplicates, node, mask)
            node += 1
        node = -1
        entry += 1
    cursor[2], cursor[4] = out, reach
    return -1


@kernel
def list_children(
    byte: U8, end: I32, count: int, starts: I32, nodes: I32, bytes: U8, parents: I32, places: I32
) -> None:  # fmt: skip
    """The children of every node side by side: those of node i are at starts[i] to starts[i + 1].

    starts int32[n + 1]; nodes int32[n], bytes uint8[n]: the children in order, and their bytes; behind them
    the topmost nodes. places int32[n]: where each node is among them. parents int32[n] is written for all
    nodes but the topmost.
    """
    out = 0
    for node in range(count):
        starts[node] = out
        child = node + 1
        while child < end[node]:
            nodes[out], bytes[out] = child, byte[child]
            parents[child], places[child] = node, out
            out += 1
            child = end[child]
    starts[count] = out
    top = 0
    while top < count:
        nodes[out], bytes[out], places[top] = top, byte[top], out
        out += 1
        top = end[top]


@kernel
def list_paths(
    byte: U8, depth: I32, parents: I32, nodes: I32, count: int, starts: I64, paths: U8
) -> None:  # fmt: skip
    """The bytes of some nodes one after another; those of the n-th are at starts[n] to starts[n + 1].

    starts int64[count + 1]; paths uint8[sum of depths].
    """
    out = 0
    for number in range(count):
        node = nodes[number]
        starts[number] = out
        size = depth[node]
        at = out + size
        while at > out:
            at -= 1
            paths[at] = byte[node]
            if at > out:
                node = parents[node]
        out += size
    starts[count] = out


@kernel
def any_below(end: I32, nodes: I32, count: int) -> int:
    """1 if one of some nodes in order lies below another one, else 0."""
    for at in range(1, count):
        if end[nodes[at - 1]] > nodes[at]:
            return 1
    return 0


@kernel
def walk_literal(
    byte: U8, token: I32, duplicates: I32, starts: I32, nodes: I32, bytes: U8, entries: I32, count: int,
    data: U8, size: int, mask: U32, exits: I32,
) -> int:  # fmt: skip
    """Follow the bytes `data` uint8[size], size > 0; the nodes after them go to `exits`.

    For starts, nodes, bytes see `list_children`. Returns the number of exits.
    """
    out = 0
    for entry in range(count):
        node = entries[entry]
        if byte[node] != data[0]:
            continue
        set_bits(token, duplicates, node, mask)
        read = 1
        while read < size:
            at, stop = starts[node], starts[node + 1]
            while at < stop and bytes[at] < data[read]:
                at += 1
            if at == stop or bytes[at] != data[read]:
                break
            node = nodes[at]
            set_bits(token, duplicates, node, mask)
            read += 1
        if read == size:
            for at in range(starts[node], starts[node + 1]):
                exits[out] = nodes[at]
                out += 1
    return out


@kernel
def search_word(words: U8, starts: I64, left: int, right: int, at: int, wanted: int) -> int:
    """The first of the words `left` to `right` of which byte `at` is not below `wanted`."""
    while left < right:
        middle = (left + right) >> 1
        if words[starts[middle] + at] < wanted:
            left = middle + 1
        else:
            right = middle
    return left


@kernel
def next_open(labels: I32, open: U64, left: int, right: int) -> int:
    """The first of the words `left` to `right` whose label is in the set `open`, `right` if there is none."""
    while left < right:
        label = labels[left]
        if open[label >> 6] & (1 << (label & 63)) != 0:
            return left
        left += 1
    return right


@kernel
def walk_words(
    byte: U8, depth: I32, token: I32, duplicates: I32, starts: I32, nodes: I32, bytes: U8, entries: I32,
    count: int, words: U8, begins: I64, limited: int, labels: I32, open: U64, low: int, high: int, read: int,
    first: U8, escapes: int, lows: I64, highs: I64, nexts: I64, kids: I32, stops: I32, mask: U32, exits: I32,
    ends: I32, asides: I32, origins: I64, found: I64,
) -> None:  # fmt: skip
    """Walk inside the words number `low` to `high` - 1, of which `read` bytes have been read.

    words uint8[...] are the bytes of all words in sorted order without repeats, begins int64[n + 1] where
    each begins. Both the nodes of the trie and the words are in order, so the search for a node goes on where
    that for the sibling before it came to. Nodes at which a text after a word may begin (its byte being in
    `first` uint8[256]) go to `exits`, the words' numbers to `ends`. If `limited`, words count only whose
    labels int32[n] are in the set `open`, uint64[...]. If `escapes`, nodes with a backslash go
    to `asides`, together with the place they were met at (origins int64[n, 3]).

    For starts, nodes, bytes see `list_children`. Stacks by depth, [deepest + 2]: lows, highs int64 the words
    that go on like this path, nexts int64 from which of them on the next child is searched; kids, stops
    int32 the children that are still to be looked at. found int64[2] gets the numbers of exits and asides.
    """
    out = aside = 0
    if limited:
        low = next_open(labels, open, low, high)
        if low == high:
            count = 0
    for entry in range(count):
        node = entries[entry]
        base = depth[node] - 1
        level = base
        lows[base], highs[base] = low, high
        nexts[base] = low + (1 if begins[low + 1] - begins[low] == read else 0)
        wanted = byte[node]
        while True:
            at = read + level - base
            here, stop, left = lows[level], highs[level], nexts[level]
            if first[wanted] and level > base and begins[here + 1] - begins[here] == at:
                exits[out], ends[out] = node, here
                out += 1
            if escapes and wanted == BACKSLASH:
                asides[aside] = node
                origins[3 * aside], origins[3 * aside + 1], origins[3 * aside + 2] = here, stop, at
                aside += 1
            if left < stop and words[begins[left] + at] < wanted:
                left = search_word(words, begins, left, stop, at, wanted)
                nexts[level] = left
            if left < stop and words[begins[left] + at] == wanted:
                right = stop
                if words[begins[stop - 1] + at] != wanted:
                    right = search_word(words, begins, left, stop, at, wanted + 1)
                if limited:
                    left = next_open(labels, open, left, right)
                if left < right:
                    set_bits(token, duplicates, node, mask)
                    level += 1
                    lows[level], highs[level] = left, right
                    nexts[level] = left + (1 if begins[left + 1] - begins[left] == at + 1 else 0)
                    kids[level], stops[level] = starts[node], starts[node + 1]
            while level > base and kids[level] == stops[level]:
                level -= 1
            if level == base:
                break
            node, wanted = nodes[kids[level]], bytes[kids[level]]
            kids[level] += 1
    found[0], found[1] = out, aside
