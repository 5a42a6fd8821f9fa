"""What a GSS walk reads and writes: the records of its arrays, their numbers and their limits."""

from __future__ import annotations

from sglc.kernels.dsl.language import I32, I64, U8, U64
from sglc.kernels.dsl.structs import Struct, shape

# Parts of a grammar

UNKNOWN, NOTHING, TEXT, LIST, SERIES, CHOICE, RULE, REPEAT, NEGATIVE_LOOKAHEAD, MERGED, FOREIGN = range(11)
"""What parts of a grammar are, see `Grammar.program`."""
GOES_ON, ENDS, KNOWN = 1, 2, 4
"""Flags of the states of texts: more bytes may come; a word may end; the row has been made."""
MOST_LOOKAHEADS = 128
"""Numbers of negative lookaheads."""

# Frames

JOINED, CALL, EITHER = -1, -2, -3
"""Parts of frames that continue with several others: lasting; in a closure, all callers of a rule; in a
closure, all that follows one terminal."""
GIVEN, FRESH, LISTED = 1 << 20, 1 << 22, 1 << 22
"""Where the numbers of continuations begin that are taken as they are, those of a closure's frames, and those
of places in lists of words among states."""
FRAME_BITS, LOOKAHEAD_BITS = 23, 14
"""Bits of a frame's number and of a lookahead's state in the keys of threads."""
FRAME = (1 << FRAME_BITS) - 1
LOOKAHEADS = (1 << LOOKAHEAD_BITS) - 1
WORD = 1 << 20
"""What follows a word and is not known yet stands as so much and the number of the word for its part."""
MOST_FRAMES, MOST_LINKS, MOST_PLACES = 65_536, 262_144, 65_536
NAMES = 2 * MOST_FRAMES
"""Slots of the tables in which frames and places are found."""

# Configurations

NOWHERE = 1
"""The configuration without threads."""
MOST_CONFIGS, MOST_POOL = 16_384, 1 << 20
CONFIG_SLOTS = 2 * MOST_CONFIGS
"""Slots of the table in which configurations are found."""
SURE, LOOPED, IN_TEXT = 1, 2, 4
"""Flags: the bytes that may be read are known; the groups are; some thread is in a text
without a lookahead."""
BITS, LOOPS, READ = 10, 4, 6
"""Words of a configuration in `bits`; where the groups begin, and the bytes that are surely read."""

# Walks

ROOM = 65_536
"""Threads, frames, edges of a closure; threads of a configuration."""
SLOTS, ITEMS = 65_536, 20_000
"""Keys of one closure's table; items of a closure."""
EVERY, REACHED, WANTED = 0, 4, 8
"""Where in `sets` are all bytes, those that a closure has met, and those that it is for."""
DONE, NEEDS_TABLES, PAUSED, TOO_MUCH, FULL = range(5)
"""Results of a walk: it is done; tables must be made first; its slice of work is used up; it exceeds a
limit of walks; the learned tables are full."""
PART, STATE, LOOKAHEAD, UNION, BEGINS, BEHIND = range(6)
"""What a request needs: the description of a part, the row of a text state or of a lookahead state, the union
of two lookaheads, the first bytes of what follows a word, and what follows it."""
MOST_REQUESTED, MANY_REQUESTED = 4096, 64
"""Most requests kept; the number of requests with which a walk returns."""
MANY_REQUESTS = 64
"""A walk also returns after so many requests, repeated ones included."""
MOST_UNSURE = 256
"""Nodes that are left open."""
(
    LEVEL,
    REQUESTED,
    REQUESTS,
    EPOCH,
    THREADS,
    MADE_FRESH,
    EDGES,
    OUTS,
    ENDED,
    ACCEPTED,
    SPENT,
    UNSURE,
    FRAMES,
    LINKS,
    PLACES,
    CONFIGS,
    POOL,
    LEVELS,
    ENTRIES,
    INSIDES,
    BEGUN,
    LOOKS_AHEAD,
    CURSORS,
) = range(23)
"""Places in the cursor, and their number. `REQUESTS` counts all requests, `REQUESTED` the different ones.
`FRAMES` to `POOL` count what is learned, `ENTRIES` to `BEGUN` the nodes, threads and parts with which a walk
begins. `LOOKS_AHEAD` is 1 if there are negative lookaheads, else 0."""


class Grammar(Struct):
    """What a walk reads of a grammar; arrays are replaced when they grow.

    A part is four numbers in `program`: what it is, two numbers, and the number of its set of first bytes
    in `firsts` (0 for a part that may be empty or is not known: it is always opened):

        TEXT     the first state of a text or -1, whether it may be empty
        LIST     a list of words: the number of the first one, and that behind the last one
        SERIES   the first part, the rest
        CHOICE   where its parts are in `lists`, how many they are
        RULE     its body
        REPEAT   the item or -1, where in `lists` are separator (or -1), least, most (or -1), and how many
                 must be
        NEGATIVE_LOOKAHEAD  the number of the set of characters that may not come next
        MERGED   as a continuation only: its state says where others are in `lists`, the third number how
                 many
        NOTHING  no word at all
        FOREIGN  what walks do not read
        UNKNOWN  to be requested, if it may begin with a wanted byte

    `frames` are the continuations: (part, state, the continuation below).

    By state of a text: `rows` the next one or -1; `begins` the bytes with one, all of them where the row is
    not made; `flags`; `loops`, groups of bytes below which all tokens are legal.

    By number of a word: `words` and `word_starts`, the bytes, each list in order; `behind`, the part that
    follows the word, -1 for none, -2 where that is to be requested, and the number of its set of first
    bytes, 0 for none, -1 where that is to be requested.

    Negative lookaheads: `lookahead_rows`, the next state, 0 where a character is allowed, -1 where it is
    forbidden; `lookahead_flags`; by number `lookahead_starts`, the first state, `open_bytes`, the bytes that
    are no forbidden characters, and `unions`, the number for two.
    """

    program: I32 = shape("parts", 4)
    lists: I32 = shape("lists")
    firsts: U64 = shape("firsts", 4)
    frames: I32 = shape("frames", 3)
    rows: I32 = shape("states", 256)
    begins: U64 = shape("states", 4)
    flags: U8 = shape("states")
    loops: U64 = shape("states", 2)
    words: U8 = shape("bytes")
    word_starts: I64 = shape("words")
    behind: I32 = shape("words", 2)
    lookahead_rows: I32 = shape("lookaheads", 256)
    lookahead_flags: U8 = shape("lookaheads")
    lookahead_starts: I32 = shape(MOST_LOOKAHEADS)
    open_bytes: U64 = shape(MOST_LOOKAHEADS, 4)
    unions: I32 = shape(MOST_LOOKAHEADS, MOST_LOOKAHEADS)


class Learned(Struct):
    """What walks keep for later ones: frames, places in lists of words, configurations.

    `taken` are the frames of continuations that have one (plus one). For places, listed, made, links and
    names see `frames`; for found, configs, bits, nexts and pool see `states`.
    """

    taken: I32
    places: I32 = shape(MOST_PLACES, 4)
    listed: I32 = shape(NAMES)
    made: I32 = shape(MOST_FRAMES, 3)
    links: I32 = shape(MOST_LINKS)
    names: I32 = shape(NAMES)
    found: I32 = shape(CONFIG_SLOTS)
    configs: I32 = shape(MOST_CONFIGS, 6)
    bits: U64 = shape(MOST_CONFIGS, BITS)
    nexts: I32 = shape(MOST_CONFIGS, 256)
    pool: I64 = shape(MOST_POOL)


class Walk(Struct):
    """Where a walk works, and how far it has come.

    A closure works in `fresh` to `values`, a step in `outs`, `ends` and `some`. `levels`: the configuration
    at a level, its next child and the last; behind cursor[LEVELS] of them those to come back to. Nodes whose
    own tokens are left open go to `doubts`. The first four words of `sets` are all ones. `requests` are the
    tables to be made: (what, number).
    """

    fresh: I32 = shape(ROOM, 3)
    settled: I32 = shape(ROOM)
    edges: I32 = shape(ROOM, 2)
    threads: I32 = shape(ROOM, 3)
    work: I32 = shape(ROOM, 3)
    ended: I32 = shape(ITEMS, 2)
    keys: I64 = shape(SLOTS)
    stamps: I32 = shape(SLOTS)
    values: I32 = shape(SLOTS)
    outs: I64 = shape(ROOM)
    ends: I64 = shape(ROOM)
    some: I64 = shape(ROOM)
    levels: I32 = shape("levels", 3)
    doubts: I32 = shape(MOST_UNSURE)
    sets: U64 = shape(12)
    requests: I32 = shape(MOST_REQUESTED, 2)
    cursor: I64 = shape(CURSORS)
