"""What a GSS walk reads and writes: the records of its arrays, and what their numbers mean."""

from __future__ import annotations

from sglc.kernels.dsl.language import I32, I64, U8, U64
from sglc.kernels.dsl.structs import Struct, shape
from sglc.kernels.gss import limits


class Part:
    """What parts of a grammar are, see `Grammar.program`."""

    UNKNOWN, NOTHING, TEXT, LIST, SERIES, CHOICE, RULE, REPEAT, NEGATIVE_LOOKAHEAD, MERGED, FOREIGN = range(
        11
    )


class Several:
    """Parts of frames that continue with several others.

    JOINED lasts. Inside a closure, CALL is all callers of a rule, EITHER all that follows one terminal.
    """

    JOINED, CALL, EITHER = -1, -2, -3


class TextFlag:
    """Flags of the states of texts: more bytes may come; a word may end; the row has been made."""

    GOES_ON, ENDS, KNOWN = 1, 2, 4


class First:
    """Where numbers begin that are told apart by their size.

    GIVEN: continuations that are taken as they are. FRESH: frames of a closure. LISTED: among states, places
    in lists of words. WORD: what follows a word and is not known yet stands as so much and the number of the
    word for its part.
    """

    GIVEN, FRESH, LISTED, WORD = 1 << 20, 1 << 22, 1 << 22, 1 << 20


class Key:
    """The keys of threads: bits of a frame's number, then bits of a lookahead's state, then a state."""

    FRAME_BITS, LOOKAHEAD_BITS = 23, 14
    STATE_AT = FRAME_BITS + LOOKAHEAD_BITS
    FRAME = (1 << FRAME_BITS) - 1
    LOOKAHEAD = (1 << LOOKAHEAD_BITS) - 1


class Config:
    """Configurations.

    NOWHERE is the one without threads. Flags: SURE, the bytes that may be read are known; LOOPED, the groups
    are; IN_TEXT, some thread is in a text without a lookahead. In `bits`, of SIZE words: where the groups
    begin, and the bytes that are surely read.
    """

    NOWHERE = 1
    SURE, LOOPED, IN_TEXT = 1, 2, 4
    LOOPS, READ, SIZE = 4, 6, 10


class Sets:
    """Where in `sets` are all bytes, those that a closure has met, and those that it is for."""

    EVERY, REACHED, WANTED = 0, 4, 8


class Result:
    """How a walk ends.

    It is done; tables must be made first; its slice of work is used up; it exceeds a limit of walks; the
    learned tables are full.
    """

    DONE, NEEDS_TABLES, PAUSED, TOO_MUCH, FULL = range(5)


class Need:
    """What a request is for.

    The description of a part, the row of a text state or of a lookahead state, the union of two lookaheads,
    the first bytes of what follows a word, and what follows it.
    """

    PART, STATE, LOOKAHEAD, UNION, BEGINS, BEHIND = range(6)


class At:
    """Places in the cursor, and their number.

    `REQUESTS` counts all requests, `REQUESTED` the different ones. `FRAMES` to `POOL` count what is learned,
    `ENTRIES` to `BEGUN` the nodes, threads and parts with which a walk begins. `LOOKS_AHEAD` is 1 if there
    are negative lookaheads, else 0.
    """

    LEVEL, REQUESTED, REQUESTS, EPOCH, THREADS, MADE_FRESH, EDGES, OUTS, ENDED, ACCEPTED, SPENT = range(11)
    UNSURE, FRAMES, LINKS, PLACES, CONFIGS, POOL, LEVELS, ENTRIES, INSIDES, BEGUN, LOOKS_AHEAD = range(11, 22)
    COUNT = 22


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
    lookahead_starts: I32 = shape(limits.MOST_LOOKAHEADS)
    open_bytes: U64 = shape(limits.MOST_LOOKAHEADS, 4)
    unions: I32 = shape(limits.MOST_LOOKAHEADS, limits.MOST_LOOKAHEADS)


class Learned(Struct):
    """What walks keep for later ones: frames, places in lists of words, configurations.

    `taken` are the frames of continuations that have one (plus one). For places, listed, made, links and
    names see `frames`; for found, configs, bits, nexts and pool see `states`.
    """

    taken: I32
    places: I32 = shape(limits.MOST_PLACES, 4)
    listed: I32 = shape(limits.NAMES)
    made: I32 = shape(limits.MOST_FRAMES, 3)
    links: I32 = shape(limits.MOST_LINKS)
    names: I32 = shape(limits.NAMES)
    found: I32 = shape(limits.CONFIG_SLOTS)
    configs: I32 = shape(limits.MOST_CONFIGS, 6)
    bits: U64 = shape(limits.MOST_CONFIGS, Config.SIZE)
    nexts: I32 = shape(limits.MOST_CONFIGS, 256)
    pool: I64 = shape(limits.MOST_POOL)


class Walk(Struct):
    """Where a walk works, and how far it has come.

    A closure works in `fresh` to `values`, a step in `outs`, `ends` and `some`. `levels`: the configuration
    at a level, its next child and the last; behind cursor[At.LEVELS] of them those to come back to.
    Nodes whose own tokens are left open go to `doubts`. The first four words of `sets` are all ones.
    `requests` are the tables to be made: (what, number).
    """

    fresh: I32 = shape(limits.ROOM, 3)
    settled: I32 = shape(limits.ROOM)
    edges: I32 = shape(limits.ROOM, 2)
    threads: I32 = shape(limits.ROOM, 3)
    work: I32 = shape(limits.ROOM, 3)
    ended: I32 = shape(limits.ITEMS, 2)
    keys: I64 = shape(limits.SLOTS)
    stamps: I32 = shape(limits.SLOTS)
    values: I32 = shape(limits.SLOTS)
    outs: I64 = shape(limits.ROOM)
    ends: I64 = shape(limits.ROOM)
    some: I64 = shape(limits.ROOM)
    levels: I32 = shape("levels", 3)
    doubts: I32 = shape(limits.MOST_UNSURE)
    sets: U64 = shape(12)
    requests: I32 = shape(limits.MOST_REQUESTED, 2)
    cursor: I64 = shape(At.COUNT)
