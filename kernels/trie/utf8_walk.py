"""The walk inside a text whose automaton reads characters: bytes are decoded on the way.

The automaton's edges are (lowest, highest character, state), sorted by state. A state is *loaded* when its
edges are there; the row of its first 128 characters is made when the walk first comes to it. Between
characters a place is a state. Inside a character it is the state before the character, a mode and what has
been read of the character's number; such a place is alive while some edge of the state has a character that
can still come.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import I32, U8, U32, U64, kernel
from sglc.kernels.trie.arrays import At, CharacterArrays, Quiet, Subtrees, TrieWalk
from sglc.kernels.trie.codepoint_blocks import BLOCKS, block_goes_on, block_target, goes_on, make_blocks
from sglc.kernels.trie.token_groups import SCRIPT_BITS, SCRIPT_COUNT, SCRIPTS, Fact, Group
from sglc.kernels.trie.walks import BACKSLASH, ENDS, KNOWN, find_edge

RAW, JSON, JSON_ANY = 0, 1, 2
"""Encodings: UTF-8; inside a JSON string, in one spelling; there, in every spelling."""
LOADED = 8
"""Flag of a state: its edges are there. ENDS and KNOWN (its row is made) are as for `walk_lexeme`."""

_MORE = 3
"""Modes up to here: so many bytes of UTF-8 to come."""
_AFTER_E0, _AFTER_F0, ESCAPE, HEX, _LOW_BACKSLASH, _LOW_U, _LOW, _CONTROL = 4, 5, 6, 6, 11, 12, 12, 16
"""Modes: the second byte after E0, F0; after a backslash; `HEX` + 1 to 4 digits to come; the backslash, then
the u, then `_LOW` + 1 to 4 digits of a second unit; `_CONTROL` + 1 to 4 digits of a control character."""
_LAST = 0x10FFFF
_OTHERS = 0x10FFFF - 0xA0 + 1 - 0x800 - 2
"""How many characters there are from U+00A0 on, but for U+2028 and U+2029."""
_REST = _OTHERS - int((SCRIPTS[:, 1] - SCRIPTS[:, 0] + 1).sum())
"""How many of them are of no script."""
_BEYOND = SCRIPT_BITS | 1 << Group.REST | 1 << Group.CONTROL_1 | 1 << Group.SEPARATOR
_SHORT_CONTROLS = 0x3700
"""The control characters that have a short escape, as bits: U+0008, 9, A, C, D."""


@kernel
def any_goes_on(
    lexeme: CharacterArrays,
    low: int,
    high: int,
    start: int,
    stop: int,
    least: int,
    most: int,
    width: int,
    open: U64,
) -> int:
    """1 if a word goes on with one of the characters low..high."""
    edges = lexeme.edges
    at = find_edge(edges, start, stop, low)
    while at < stop and edges[3 * at] <= high:
        if goes_on(lexeme, edges[3 * at + 2], least, most, width, open):
            return 1
        at += 1
    return 0


@kernel
def target_of(lexeme: CharacterArrays, point: int, state: int, start: int, stop: int) -> int:
    """The state after a character, -1 if there is none."""
    edges = lexeme.edges
    if point < 128:
        return lexeme.rows[(state << 7) + point] - 1
    at = find_edge(edges, start, stop, point)
    if at < stop and edges[3 * at] <= point:
        return edges[3 * at + 2]
    return -1


@kernel
def make_row(subtrees: Subtrees, lexeme: CharacterArrays, state: int) -> None:
    """The row of a state (int32[128], states + 1 or 0), its blocks, the groups of bytes that lead back to it.

    Groups are those of `token_groups`; all of a group's characters have to. `OTHER` is there where some group
    beyond ASCII is. Where all that are no control characters or separators are, a token may end inside a
    character: every beginning of one can be that of another.
    """
    group, scripts = subtrees.group, subtrees.scripts
    edges, rows, loops, wide = lexeme.edges, lexeme.rows, lexeme.loops, lexeme.wide
    start, stop = lexeme.starts[state], lexeme.starts[state] + lexeme.sizes[state]
    if wide[state] >= 0:
        make_blocks(lexeme, BLOCKS * wide[state], start, stop)
    control, separators, others = 0, 0, 0
    for at in range(start, stop):
        low, high, target = edges[3 * at], edges[3 * at + 1], edges[3 * at + 2]
        for point in range(low, min(high, 127) + 1):
            rows[(state << 7) + point] = target + 1
        if target == state:
            control += max(min(high, 0x9F) - max(low, 0x80) + 1, 0)
            lines = max(min(high, 0x2029) - max(low, 0x2028) + 1, 0)
            separators += lines
            others += max(high - max(low, 0xA0) + 1, 0) - lines
    base = 2 * state
    loops[base], loops[base + 1] = 0, 0
    for point in range(128):
        loops[base + (group[point] >> 6)] |= 1 << (group[point] & 63)
    for point in range(128):
        escaped = lexeme.encoding != RAW and (point < 0x20 or point == 0x22 or point == BACKSLASH)
        if escaped or rows[(state << 7) + point] != state + 1:
            loops[base + (group[point] >> 6)] &= ~(1 << (group[point] & 63))
    if control == 0x20:
        loops[base] |= 1 << Group.CONTROL_1
    if separators == 2:
        loops[base] |= 1 << Group.SEPARATOR
    if others > 0:
        found, within, at = 0, 0, start
        for number in range(SCRIPT_COUNT):
            found |= 1 << scripts[3 * number + 2]
        for number in range(SCRIPT_COUNT):
            low, high, covered = scripts[3 * number], scripts[3 * number + 1], 0
            while at < stop and edges[3 * at + 1] < low:
                at += 1
            here = at
            while here < stop and edges[3 * here] <= high:
                if edges[3 * here + 2] == state:
                    covered += min(edges[3 * here + 1], high) - max(edges[3 * here], low) + 1
                here += 1
            within += covered
            if covered <= high - low:
                found &= ~(1 << scripts[3 * number + 2])
        if others - within == _REST:
            found |= 1 << Group.REST
        loops[base] |= found
        if others == _OTHERS:
            loops[base + 1] |= 1 << (Group.PARTIAL - 64)
    if loops[base] & _BEYOND != 0:
        loops[base + 1] |= 1 << (Group.OTHER - 64)


@kernel
def short_escape(read: int) -> int:
    """The character of a short escape by its letter, -1 if it is none."""
    if read == 0x22 or read == BACKSLASH or read == 0x2F:
        return read
    if read == 0x62:
        return 8
    if read == 0x66:
        return 12
    if read == 0x6E:
        return 10
    if read == 0x72:
        return 13
    return 9 if read == 0x74 else -1


@kernel
def hex_digit(read: int, upper: int) -> int:
    """The value of a hexadecimal digit, -1 if it is none."""
    if read >= 0x30 and read <= 0x39:
        return read - 0x30
    if read >= 0x61 and read <= 0x66:
        return read - 0x57
    if upper and read >= 0x41 and read <= 0x46:
        return read - 0x37
    return -1


@kernel
def unit_goes_on(
    lexeme: CharacterArrays,
    low: int,
    high: int,
    start: int,
    stop: int,
    least: int,
    most: int,
    width: int,
    open: U64,
) -> int:
    """1 if a word goes on with a character whose first unit of UTF-16 is in low..high."""
    if any_goes_on(lexeme, low, high, start, stop, least, most, width, open):
        return 1
    first, last = max(low, 0xD800), min(high, 0xDBFF)
    if first > last:
        return 0
    first, last = 0x10000 + ((first - 0xD800) << 10), 0x103FF + ((last - 0xD800) << 10)
    return any_goes_on(lexeme, first, last, start, stop, least, most, width, open)


@kernel
def control_goes_on(
    lexeme: CharacterArrays, value: int, left: int, state: int, least: int, most: int, width: int, open: U64
) -> int:
    """1 if a word goes on with a control character without short escape whose number begins like this."""
    for point in range(32):
        if point >> (4 * left) == value and (_SHORT_CONTROLS >> point) & 1 == 0:
            target = lexeme.rows[(state << 7) + point] - 1
            if target >= 0 and goes_on(lexeme, target, least, most, width, open):
                return 1
    return 0


@kernel
def read_part(
    lexeme: CharacterArrays,
    walk: TrieWalk,
    read: int,
    state: int,
    mode: int,
    least: int,
    most: int,
    level: int,
    width: int,
    open: U64,
) -> int:
    """Read a byte of a character of several bytes: the mode then, 0 when it is complete, -1 if it is dead.

    `least` and `most` are what may come behind the character. The place goes to the stacks at `level`; what
    has been read of the character's number is one level above.
    """
    encoding, wide, value = lexeme.encoding, BLOCKS * lexeme.wide[state], walk.values[level - 1]
    start, stop = lexeme.starts[state], lexeme.starts[state] + lexeme.sizes[state]
    states, modes = walk.states, walk.modes
    low, high, following, done = 0, -1, 0, -1
    if mode == 0:
        if read == BACKSLASH and encoding != RAW:
            following, value = ESCAPE, 0
            if encoding == JSON_ANY:
                high = _LAST
            elif any_goes_on(lexeme, 0, 0x1F, start, stop, least, most, width, open):
                low, high = 0, 0x1F
            elif any_goes_on(lexeme, 0x22, 0x22, start, stop, least, most, width, open):
                low, high = 0x22, 0x22
            else:
                low, high = BACKSLASH, BACKSLASH
        elif read < 0xC2 or read > 0xF4:
            return -1
        elif read < 0xE0:
            following, value = 1, read & 0x1F
            low, high = value << 6, (value << 6) + 0x3F
        elif read < 0xF0:
            following, value = _AFTER_E0 if read == 0xE0 else 2, read & 0xF
            low, high = max(value << 12, 0x800), (value << 12) + 0xFFF
        else:
            following, value = _AFTER_F0 if read == 0xF0 else 3, read & 7
            low, high = max(value << 18, 0x10000), (value << 18) + 0x3FFFF
    elif mode <= _AFTER_F0:
        if read < 0x80 or read > 0xBF:
            return -1
        left = mode
        if mode == _AFTER_E0:
            if read < 0xA0:
                return -1
            left = 2
        elif mode == _AFTER_F0:
            if read < 0x90:
                return -1
            left = 3
        following, value = left - 1, (value << 6) | (read & 0x3F)
        low, high = value << (6 * following), ((value + 1) << (6 * following)) - 1
        if following == 0:
            done = value
    elif mode == ESCAPE and read != 0x75:
        done = short_escape(read)
        if done < 0 or (encoding == JSON and done == 0x2F):
            return -1
    elif mode == ESCAPE:
        if encoding == JSON:
            if not control_goes_on(lexeme, 0, 4, state, least, most, width, open):
                return -1
            following, value = _CONTROL + 4, 0
        else:
            following, value, high = HEX + 4, 0, _LAST
    elif mode == _LOW_BACKSLASH:
        if read != BACKSLASH:
            return -1
        following = _LOW_U
        low, high = value, value + 0x3FF
    elif mode == _LOW_U:
        if read != 0x75:
            return -1
        # The digits are counted from the value of the first unit, which is a multiple of 1 << 10.
        following, value = _LOW + 4, value << 16
        low, high = value >> 16, (value >> 16) + 0x3FF
    elif mode > _CONTROL:
        digit = hex_digit(read, 0)
        following, value = mode - 1, (value << 4) | digit
        left = following - _CONTROL
        if digit < 0:
            return -1
        if not control_goes_on(lexeme, value, left, state, least, most, width, open):
            return -1
        if left == 0:
            done = value
    else:
        digit = hex_digit(read, 1)
        if digit < 0:
            return -1
        if mode <= HEX + 4:
            following, value = mode - 1, (value << 4) | digit
            left = following - HEX
            first, last = value << (4 * left), ((value + 1) << (4 * left)) - 1
            if left == 0 and value >= 0xD800 and value <= 0xDBFF:
                following, value = _LOW_BACKSLASH, 0x10000 + ((value - 0xD800) << 10)
                low, high = value, value + 0x3FF
            else:
                if not unit_goes_on(lexeme, first, last, start, stop, least, most, width, open):
                    return -1
                if left == 0:
                    done = value
        else:
            following = mode - 1
            left = following - _LOW
            base, unit = value >> 16, ((value & 0xFFFF) << 4) | digit
            first, last = max(unit << (4 * left), 0xDC00), min(((unit + 1) << (4 * left)) - 1, 0xDFFF)
            if first > last:
                return -1
            low, high = base + first - 0xDC00, base + last - 0xDC00
            value = (base << 16) | unit
            if left == 0:
                done = low
    if done >= 0:
        if wide >= 0 and done >= 128 and done < BLOCKS << 6:
            target = block_target(lexeme, done, wide, stop)
        else:
            target = target_of(lexeme, done, state, start, stop)
        if target < 0 or not goes_on(lexeme, target, least, most, width, open):
            return -1
        states[level], modes[level] = target, 0
        return 0
    if wide >= 0 and high - low == 63 and high < BLOCKS << 6:
        if not block_goes_on(lexeme, low, wide, stop, least, most, width, open):
            return -1
    elif high >= low:
        if not any_goes_on(lexeme, low, high, start, stop, least, most, width, open):
            return -1
    states[level], modes[level], walk.values[level] = state, following, value
    return following


@kernel
def set_token(code: int, duplicates: I32, mask: U32) -> None:
    """Set the bits of a node's tokens, see `Subtrees.facts`."""
    if code < 0x80000000:
        mask[code >> 5] |= 1 << (code & 31)
    elif code < 0xFFFFFFFF:
        place = 0xFFFFFFFE - code
        while duplicates[place] >= 0:
            mask[duplicates[place] >> 5] |= 1 << (duplicates[place] & 31)
            place += 1


@kernel
def walk_characters(
    subtrees: Subtrees,
    lexeme: CharacterArrays,
    quiet: Quiet,
    walk: TrieWalk,
    entries: I32,
    first: U8,
    open: U64,
    mask: U32,
) -> int:
    """As `walk_lexeme`, from a state in cursor[MODE]; returns the state that is not loaded, or -1.

    A subtree whose characters all lead from a state back to it is taken as a whole. Boundaries at and below
    which all tokens are legal are left out: what follows the lexeme could add none.

    Nodes are met in the order of the trie, and read where they lie beside their siblings, so that looking at
    many siblings is looking at memory in order. Stacks are by the bytes read since the entry; nexts and stops
    are the siblings still to be looked at.
    """
    nodes, kids, duplicates = subtrees.facts, subtrees.starts, subtrees.duplicates
    order, begins, parts, firsts = subtrees.order, subtrees.begins, subtrees.parts, subtrees.firsts
    flags, loops = lexeme.flags, lexeme.loops
    states, counts, modes, values, nexts = walk.states, walk.counts, walk.modes, walk.values, walk.nexts
    stops, cursor, quiet0, quiet1 = walk.stops, walk.cursor, quiet.groups[0], quiet.groups[1]
    count, begin, least, most = cursor[At.COUNT], cursor[At.STATE], cursor[At.LEAST], cursor[At.MOST]
    eager, inside, home, width = cursor[At.EAGER], cursor[At.MODE], cursor[At.HOME], cursor[At.WIDTH]
    entry, level, out = cursor[At.ENTRY], cursor[At.NODE], cursor[At.OUT]
    calm, reach = cursor[At.CALM], cursor[At.REACH]
    half1 = quiet1 | 1 << (Group.PARTIAL - 64)
    while entry < count:
        if level < 0:
            level, calm = 0, 0
            states[0], counts[0], modes[0], values[0] = begin, 0, inside, 0
            nexts[0] = subtrees.places[entries[entry]]
            stops[0] = nexts[0] + 1
        while level >= 0:
            state, taken, mode = states[level], counts[level], modes[level]
            here = flags[state]
            if here & KNOWN == 0:
                if here & LOADED == 0:
                    cursor[At.ENTRY], cursor[At.NODE], cursor[At.OUT] = entry, level, out
                    cursor[At.CALM], cursor[At.REACH] = calm, reach
                    return state
                make_row(subtrees, lexeme, state)
                here |= KNOWN
                flags[state] = here
            may_end = mode == 0 and here & ENDS != 0 and level + eager > 0 and taken >= least
            at, stop, below = nexts[level], stops[level], level + 1
            level -= 1
            while at < stop:
                packed, more = nodes[4 * at], nodes[4 * at + 1]
                groups0, groups1 = nodes[4 * at + 2], nodes[4 * at + 3]
                node, read, after = packed & Fact.LOW, (packed >> Fact.BYTE) & 0xFF, more & Fact.LOW
                at += 1
                plain = mode == 0 and read < 128
                if plain and lexeme.encoding != RAW:
                    plain = read >= 0x20 and read != 0x22 and read != BACKSLASH
                if plain:
                    target = lexeme.rows[(state << 7) + read] - 1
                    if target >= 0 and not goes_on(
                        lexeme, target, least - taken - 1, most - taken - 1, width, open
                    ):
                        target = -1
                    following = 0 if target >= 0 else -1
                    states[below], modes[below] = target, 0
                else:
                    following = read_part(
                        lexeme,
                        walk,
                        read,
                        state,
                        mode,
                        least - taken - 1,
                        most - taken - 1,
                        below,
                        width,
                        open,
                    )
                    target = states[below]
                boundary = 1 if may_end and first[read] else 0
                if boundary:
                    # Where all below turns out to be legal, this is taken back.
                    walk.boundaries[out], walk.ends[out] = node, state
                    out += 1
                    reach = max(reach, taken)
                if following < 0:
                    continue
                now = taken + 1 if following == 0 else taken
                if calm >= below:
                    calm = below - 1
                if calm == below - 1 and quiet.bytes[read] and (home < 0 or following > 0 or target == home):
                    calm = below
                    if (groups0 & ~quiet0) == 0 and (groups1 & ~quiet1) == 0:
                        # A token of whole characters is known to the caller, one that ends inside of one is
                        # not.
                        if following > 0:
                            reach = max(reach, now)
                            set_token(more >> 32, duplicates, mask)
                        continue
                counts[below] = now
                tall = packed >> Fact.TALL
                if calm < below or following > 0:
                    reach = max(reach, now)
                    set_token(more >> 32, duplicates, mask)
                if after == node + 1 and following == 0:
                    out -= boundary
                    continue
                # Of a character that has been begun all ends have to lead back, or to where quiet ones lead.
                onto = home if following > 0 and calm == below and home >= 0 and width == 0 else target
                known = flags[onto]
                if known & LOADED and known & KNOWN == 0:
                    make_row(subtrees, lexeme, onto)
                    known |= KNOWN
                    flags[onto] = known
                if (
                    known
                    and following <= _AFTER_F0
                    and now + tall + lexeme.lo[onto] + (1 if following else 0) <= most
                ):
                    loop0, loop1 = loops[2 * onto], loops[2 * onto + 1]
                    if (groups0 & ~loop0) == 0 and (groups1 & ~loop1) == 0:
                        reach = max(reach, now + tall + (1 if following else 0))
                        out -= boundary
                        if calm == below and (groups0 & ~quiet0) == 0 and (groups1 & ~half1) == 0:
                            # The caller knows all tokens of whole characters.
                            for index in range(firsts[node + 1], firsts[after]):
                                mask[parts[index] >> 5] |= 1 << (parts[index] & 31)
                            continue
                        for index in range(begins[node + 1], begins[after]):
                            mask[order[index] >> 5] |= 1 << (order[index] & 31)
                        continue
                nexts[below - 1] = at
                nexts[below], stops[below] = kids[node], kids[node + 1]
                level = below
                break
        entry += 1
    cursor[At.OUT], cursor[At.REACH] = out, reach
    return -1
