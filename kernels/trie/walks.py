"""The walks of token subtrees.

A *walk* takes a list of nodes of the token trie, the entries. The byte of an entry is the first one to be
read; its whole subtree is walked, a branch of it is left as soon as it is not legal. `mask` gets the bits of
the tokens reached. A walk that needs something that has not been made yet puts its place into its cursor
(`sglc.kernels.trie.arrays`) and is called again with it.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import I32, I64, U8, U32, U64, kernel
from sglc.kernels.trie.arrays import At, LexemeArrays, Quiet, Subtrees, TrieArrays, TrieWalk, Words

BOUNDARY, ENDS, KNOWN = 1, 2, 4
"""Flags of a lexeme's states: a character is complete; a word may end here; the state's row has been made."""
NO_MOVE = -1
"""In a lexeme's row: no move."""
BACKSLASH = 0x5C


@kernel
def find_edge(edges: I32, left: int, right: int, point: int) -> int:
    """The first of the edges `left` to `right` whose highest character is not below `point`."""
    while left < right:
        middle = (left + right) >> 1
        if edges[3 * middle + 1] < point:
            left = middle + 1
        else:
            right = middle
    return left


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
    trie: TrieArrays, walk: TrieWalk, entries: I32, count: int, base: int, rows: I32, row_of: I32, mask: U32
) -> int:
    """Walk from configuration `base` by rows of configurations.

    rows int32[R, 256], next configuration or 0; row_of int32[C], -1 where there is no row. Returns the
    configuration whose row is missing, or -1 when done.
    """
    depth, end = trie.depth, trie.end
    stack, cursor = walk.states, walk.cursor
    entry, node = cursor[At.ENTRY], cursor[At.NODE]
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
                cursor[At.ENTRY], cursor[At.NODE] = entry, node
                return above
            following = rows[(row << 8) + trie.byte[node]]
            if following == 0:
                node = end[node]
                continue
            stack[level] = following
            set_bits(trie.token, trie.duplicates, node, mask)
            node += 1
        node = -1
        entry += 1
    return -1


@kernel
def walk_lexeme(
    trie: TrieArrays,
    lexeme: LexemeArrays,
    quiet: Quiet,
    walk: TrieWalk,
    entries: I32,
    first: U8,
    open: U64,
    mask: U32,
) -> int:
    """Walk inside one lexeme from cursor[STATE], with cursor[LEAST] to cursor[MOST] characters to come.

    first uint8[256] are bytes with which the text after the lexeme may begin. Every node at which that text
    may begin (its byte being the first) is a boundary; entries themselves only if cursor[EAGER] is 1, not 0.
    open uint64[width] is what may be meant at all: states without a label that is open are dead.

    While a path has had only quiet bytes (and was in the quiet state after every character, if there is one),
    tokens of whole characters are left out, and a subtree all of whose groups are quiet: the caller knows
    them. Returns the state whose row is missing, or -1 when done.
    """
    depth, end, token, duplicates = trie.depth, trie.end, trie.token, trie.duplicates
    flags, labels, below = lexeme.flags, lexeme.labels, quiet.below
    quiet0, quiet1 = quiet.groups[0], quiet.groups[1]
    states, counts, cursor = walk.states, walk.counts, walk.cursor
    count, start, least, most = cursor[At.COUNT], cursor[At.STATE], cursor[At.LEAST], cursor[At.MOST]
    eager, home, width = cursor[At.EAGER], cursor[At.HOME], cursor[At.WIDTH]
    entry, node, out = cursor[At.ENTRY], cursor[At.NODE], cursor[At.OUT]
    calm, reach = cursor[At.CALM], cursor[At.REACH]
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
                cursor[At.ENTRY], cursor[At.NODE], cursor[At.OUT] = entry, node, out
                cursor[At.CALM], cursor[At.REACH] = calm, reach
                return state
            read = trie.byte[node]
            if here & ENDS and above + eager > base and taken >= least and first[read]:
                walk.boundaries[out], walk.ends[out] = node, state
                out += 1
                reach = max(reach, taken)
            target = lexeme.rows[(state << 8) + read]
            if target < 0:
                node = end[node]
                continue
            whole = flags[target] & BOUNDARY
            now = taken + whole
            if lexeme.lo[target] > most - now or lexeme.hi[target] < least - now:
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
            if calm == above and quiet.bytes[read] and (home < 0 or whole == 0 or target == home):
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
    cursor[At.OUT], cursor[At.REACH] = out, reach
    return -1


@kernel
def list_children(trie: TrieArrays, subtrees: Subtrees, count: int) -> None:
    """List the children of `count` nodes: the fields of `Subtrees` from `starts` to `places`. `parents` is
    written for all nodes but the topmost."""
    byte, end = trie.byte, trie.end
    starts, nodes, bytes, places = subtrees.starts, subtrees.nodes, subtrees.bytes, subtrees.places
    out = 0
    for node in range(count):
        starts[node] = out
        child = node + 1
        while child < end[node]:
            nodes[out], bytes[out] = child, byte[child]
            subtrees.parents[child], places[child] = node, out
            out += 1
            child = end[child]
    starts[count] = out
    top = 0
    while top < count:
        nodes[out], bytes[out], places[top] = top, byte[top], out
        out += 1
        top = end[top]


@kernel
def list_paths(trie: TrieArrays, subtrees: Subtrees, nodes: I32, count: int, starts: I64, paths: U8) -> None:
    """The bytes of some nodes one after another; those of the n-th are at starts[n] to starts[n + 1].

    starts int64[count + 1]; paths uint8[sum of depths].
    """
    out = 0
    for number in range(count):
        node = nodes[number]
        starts[number] = out
        size = trie.depth[node]
        at = out + size
        while at > out:
            at -= 1
            paths[at] = trie.byte[node]
            if at > out:
                node = subtrees.parents[node]
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
    trie: TrieArrays,
    subtrees: Subtrees,
    walk: TrieWalk,
    entries: I32,
    count: int,
    data: U8,
    size: int,
    mask: U32,
) -> int:
    """Follow the bytes `data` uint8[size], size > 0; the nodes after them are boundaries: how many."""
    token, duplicates = trie.token, trie.duplicates
    starts, nodes, bytes = subtrees.starts, subtrees.nodes, subtrees.bytes
    out = 0
    for entry in range(count):
        node = entries[entry]
        if trie.byte[node] != data[0]:
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
                walk.boundaries[out] = nodes[at]
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
    trie: TrieArrays,
    subtrees: Subtrees,
    words: Words,
    walk: TrieWalk,
    entries: I32,
    first: U8,
    mask: U32,
) -> None:
    """Walk inside words, cursor[WORDS] to cursor[WORDS_END], of which cursor[WORDS_READ] bytes are read.

    Both the nodes of the trie and the words are in order, so the search for a node goes on where that for the
    sibling before it came to. Nodes at which a text after a word may begin (its byte being in `first`
    uint8[256]) are boundaries, whose ends are the words' numbers. If cursor[ESCAPES] is 1, nodes with a
    backslash go to `asides`.
    """
    starts, data, begins, labels, open = subtrees.starts, words.bytes, words.starts, words.labels, words.open
    lows, highs, nexts, kids, stops = walk.lows, walk.highs, walk.next_words, walk.kids, walk.last_kids
    origins, cursor, limited = walk.origins, walk.cursor, words.limited
    count, low = cursor[At.COUNT], cursor[At.WORDS]
    high, read = cursor[At.WORDS_END], cursor[At.WORDS_READ]
    out = aside = 0
    if limited:
        low = next_open(labels, open, low, high)
        if low == high:
            count = 0
    for entry in range(count):
        node = entries[entry]
        base = trie.depth[node] - 1
        level = base
        lows[base], highs[base] = low, high
        nexts[base] = low + (1 if begins[low + 1] - begins[low] == read else 0)
        wanted = trie.byte[node]
        while True:
            at = read + level - base
            here, stop, left = lows[level], highs[level], nexts[level]
            if first[wanted] and level > base and begins[here + 1] - begins[here] == at:
                walk.boundaries[out], walk.ends[out] = node, here
                out += 1
            if cursor[At.ESCAPES] and wanted == BACKSLASH:
                walk.asides[aside] = node
                origins[3 * aside], origins[3 * aside + 1], origins[3 * aside + 2] = here, stop, at
                aside += 1
            if left < stop and data[begins[left] + at] < wanted:
                left = search_word(data, begins, left, stop, at, wanted)
                nexts[level] = left
            if left < stop and data[begins[left] + at] == wanted:
                right = stop
                if data[begins[stop - 1] + at] != wanted:
                    right = search_word(data, begins, left, stop, at, wanted + 1)
                if limited:
                    left = next_open(labels, open, left, right)
                if left < right:
                    set_bits(trie.token, trie.duplicates, node, mask)
                    level += 1
                    lows[level], highs[level] = left, right
                    nexts[level] = left + (1 if begins[left + 1] - begins[left] == at + 1 else 0)
                    kids[level], stops[level] = starts[node], starts[node + 1]
            while level > base and kids[level] == stops[level]:
                level -= 1
            if level == base:
                break
            node, wanted = subtrees.nodes[kids[level]], subtrees.bytes[kids[level]]
            kids[level] += 1
    walk.found[0], walk.found[1] = out, aside
