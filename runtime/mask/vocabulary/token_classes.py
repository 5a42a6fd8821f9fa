"""What the tokens of a vocabulary consist of: bit sets by byte, and by subtree of the trie.

Inside a text almost every token consists of characters that leave the automaton where it is. For such a
class of characters the tokens wholly inside it are found without a walk: all whole-character tokens but those
that contain a byte outside of the class. And a walk need not enter a subtree of the trie whose bytes all lie
in the class, since nothing can happen there. Both depend on the vocabulary only, so there is nothing to
build for a class.

For the groups of bytes see `sglc.kernels.trie.token_groups`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from operator import attrgetter

import numpy as np

from sglc.automata.caches import BoundedCache, small_cache
from sglc.kernels.trie.arrays import Quiet
from sglc.kernels.trie.column_rows import leave_out, put
from sglc.kernels.trie.token_groups import GROUP, SCRIPT_BITS, SCRIPTS, Group

_QUOTE = 0x22
_WORD = (1 << 64) - 1
ALL_GROUPS = (1 << 128) - 1
_GROUPS: list[int] = GROUP.tolist()

_DIGITS = bytes.maketrans(b"01", b"\0\1")
_OF_QUIET = 1_000
"""Bytes of what need not be looked at, but for what the vocabulary shares."""
_FEW = 3000
"""So many tokens are left out of a row one by one."""


_ALONE = sum([1 << char for char in range(128) if GROUP[char] == char])
_CONTROLS = sum([1 << char for char in range(128) if GROUP[char] == Group.CONTROL])
BEYOND = SCRIPT_BITS | 1 << Group.REST | 1 << Group.CONTROL_1 | 1 << Group.SEPARATOR
"""The groups of characters beyond ASCII."""


def _span(first: str, last: str) -> int:
    """The groups of some characters of ASCII that are groups of their own."""
    return (2 << ord(last)) - (1 << ord(first))


_MARKS = (
    _span("!", "&") | _span("(", ","),
    _span(":", "@"),
    _span("[", "^"),
    _span("{", "}") | 1 << Group.TILDE,
)
_KINDS = (
    *(_span(*ends) for ends in ("09", "AF", "GZ", "af", "gz")),
    sum(_MARKS) | _span("-", "/") | _span("'", "'") | _span("_", "`"),
    *_MARKS,
)
"""Groups that classes mostly have all of, or none."""
_LETTERS = _span("A", "Z") | _span("a", "z") | _span(" ", " ")
_BASES = (
    _span(" ", "}") | 1 << Group.TILDE,
    _LETTERS | _span("0", "9") | _span("-", ".") | _span("_", "_"),
    _LETTERS,
)
"""Groups that many classes are among, each among those before."""


def group_bits(characters: int) -> int:
    """The groups of any of some characters of ASCII, both as bits."""
    found = characters & _ALONE
    if characters & _CONTROLS:
        found |= 1 << Group.CONTROL
    if characters >> 0x7E & 1:
        found |= 1 << Group.TILDE
    return found


def group_set(inside: int, beyond: int) -> np.ndarray:
    """uint64[2]: the groups wholly inside of a class: of ASCII, as bits, and groups beyond."""
    found = group_bits(inside)
    if inside & _CONTROLS != _CONTROLS:
        found &= ~(1 << Group.CONTROL)
    return as_words(found | beyond | (1 << Group.OTHER if beyond else 0))


def as_words(groups: int) -> np.ndarray:
    """A set of groups as uint64[2], not to be written to."""
    return np.frombuffer(groups.to_bytes(16, "little"), "<u8")


def bytes_in(groups: np.ndarray) -> np.ndarray:
    """bool[256], not to be written to: the bytes of a group set; those from 0x80 on if it has all that is
    beyond ASCII."""
    found = int.from_bytes(groups.tobytes(), "little")
    plain = found & _ALONE
    if found >> Group.CONTROL & 1:
        plain |= _CONTROLS
    if found >> Group.TILDE & 1:
        plain |= 1 << 0x7E
    # The digits of a number of base two are the quickest way to flags.
    flags = f"{plain:0128b}"[::-1].encode().translate(_DIGITS)
    return np.frombuffer(flags + (b"\1" if found & BEYOND == BEYOND else b"\0") * 128, bool)


class BegunTokens:
    """The tokens of a vocabulary by their first byte.

    tokens int32[T] in the order of the trie; spans by byte, of which all tokens begin with it.
    """

    def __init__(self, tokens: np.ndarray, spans: dict[int, tuple[int, int]], words: int) -> None:
        self._tokens, self._spans = tokens, spans
        self._words = words

    def without(self, bytes: bytes) -> np.ndarray:
        """int32[words]: the row of the tokens that begin with none of some bytes."""
        spans = [self._spans[byte] for byte in bytes if byte in self._spans]
        some = sum([stop - start for start, stop in spans])
        if 2 * some <= len(self._tokens):
            row = np.full(self._words, -1, np.int32)
            put(self._tokens, spans, False, row)
        else:
            row = np.zeros(self._words, np.int32)
            put(self._tokens, [span for byte, span in self._spans.items() if byte not in bytes], True, row)
        return row


class Columns:
    """The facts about one vocabulary.

    below  uint64[n, 2]  by trie node: the groups in the tokens of its subtree, without the path to the node
    """

    def __init__(
        self, below: np.ndarray, token_bytes: tuple[bytes | None, ...], begun: BegunTokens | None = None
    ) -> None:
        """`begun`: the tokens by their first byte, for `inside`."""
        self._token_bytes = token_bytes
        self._words = (len(token_bytes) + 31) // 32
        self._size = len(token_bytes)
        data = [b or b"" for b in token_bytes]
        sizes = np.array([len(b) for b in data], np.int64)
        flat = np.frombuffer(b"".join(data), np.uint8)
        owner = np.repeat(np.arange(self._size), sizes)
        self.characters = np.bincount(owner[(flat & 0xC0) != 0x80], minlength=self._size).astype(np.int32)
        """int32[V]: characters of each token."""
        partial = _partial(flat, sizes)
        self.longest = int(self.characters.max(initial=0))
        """Most characters of a token."""
        narrow = np.uint16 if self.longest <= 0xFFFF else np.int32
        self._sizes: np.ndarray = np.zeros(32 * self._words, narrow)
        """The same, as narrow as comparing likes it."""
        self._sizes[: self._size] = self.characters
        self._whole = self._pack((sizes > 0) & ~partial)
        leads = np.flatnonzero(flat >= 0xC2)
        kinds = np.concatenate([GROUP[flat], _beyond(flat, leads)])
        self._keep_with(kinds, np.concatenate([owner, owner[leads]]))
        self._bases = [(self._known, self._whole)]
        """Groups and the tokens inside them, those of fewer groups first."""
        for groups in _BASES:
            self._bases.insert(0, (groups & self._known, self._inside_groups(groups)))
        self._begun = begun
        self._short: dict[int, np.ndarray] = {}
        self._inside: BoundedCache[tuple[bytes, int | None, bytes], np.ndarray] = BoundedCache(
            size=attrgetter("nbytes")
        )
        self._quiet: BoundedCache[bytes, Quiet] = BoundedCache(size=_OF_QUIET)
        self.below = below

    @cached_property
    def quoted(self) -> frozenset[str]:
        """The texts that a token may read before a quote, however spelled; no other key ends in a token."""
        found: set[str] = set()
        column = self.containing(_QUOTE)
        for token in np.flatnonzero(np.unpackbits(column.view(np.uint8), bitorder="little")).tolist():
            data = self._token_bytes[token] or b""
            at = data.find(_QUOTE)
            while at >= 0:
                found.update(_texts_before(data[:at]))
                at = data.find(_QUOTE, at + 1)
        return frozenset(found)

    def containing(self, byte: int) -> np.ndarray:
        """The tokens in which a byte of ASCII is that is a group of its own."""
        row = np.zeros(self._words, np.int32)
        if byte in self._dense:
            row |= self._columns[self._dense[byte]]
        elif byte in self._few:
            put(self._tokens, [self._few[byte]], True, row)
        return row

    def quiet(
        self, groups: np.ndarray, bytes: np.ndarray, dead: np.ndarray, home: int, first: np.ndarray
    ) -> Quiet:
        """What need not be looked at while only some groups have been read: these, and what dies anyway.

        first: bool[256], the bytes behind the text, which do not die.
        """
        return Quiet(below=self.below, bytes=bytes, groups=(groups | dead) & ~_groups_of(first), home=home)

    def quiet_but(self, first: np.ndarray) -> Quiet:
        """All groups but those of some bytes, bool[256]."""
        key = first.tobytes()
        found = self._quiet.get(key)
        if found is None:
            groups = ~_groups_of(first)
            quiet = Quiet(below=self.below, bytes=~first, groups=groups, home=-1)
            found = self._quiet.keep(key, quiet)
        return found

    def inside(self, groups: np.ndarray, most: int | None, forbidden: bytes = b"") -> np.ndarray:
        """The tokens of whole characters with no byte outside of the groups and up to `most` characters,
        which begin with none of some bytes of ASCII."""
        if most is not None and most >= self.longest:
            most = None
        key = (groups.tobytes(), most, forbidden)
        found = self._inside.get(key)
        if found is not None:
            return found
        if forbidden:
            assert self._begun is not None
            found = self.inside(groups, most) & self._begun.without(forbidden)
        elif most is None:
            found = self._inside_groups(int.from_bytes(key[0], "little"))
        else:
            short = self._short.get(most)
            if short is None:
                bits = np.packbits(self._sizes <= most, bitorder="little")
                short = self._short[most] = bits.view("<i4").astype(np.int32, copy=False)
            found = self.inside(groups, None) & short
        return self._inside.keep(key, found)

    def _inside_groups(self, groups: int) -> np.ndarray:
        """The same without bounds, of groups as bits."""
        groups &= self._known
        base, row = next((base, row) for base, row in self._bases if groups & ~base == 0)
        outside = base & ~groups
        if outside >> Group.OTHER & 1:
            # A token of whole characters beyond ASCII has bytes beyond ASCII.
            outside &= ~BEYOND
        columns: list[int] = []
        for kind, column in self._kinds:
            if kind & ~outside == 0:
                columns.append(column)
                outside &= ~kind
        spans: list[tuple[int, int]] = []
        dense, few = self._dense, self._few
        while outside:
            group = (outside & -outside).bit_length() - 1
            outside &= outside - 1
            if group in dense:
                columns.append(dense[group])
            else:
                spans.append(few[group])
        found = leave_out(row, self._columns, columns)
        put(self._tokens, spans, False, found)
        return found

    def _keep_with(self, groups: np.ndarray, owner: np.ndarray) -> None:
        """Keep the tokens that contain a byte of each group: `_columns` of those that are many, parts of
        `_tokens` of the others, by group `_dense` and `_few`; `_kinds` are columns of several groups."""
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(np.bincount(groups, minlength=128))
        self._known = 0
        """The groups that there are."""
        self._dense: dict[int, int] = {}
        self._few: dict[int, tuple[int, int]] = {}
        columns: list[np.ndarray] = []
        lists: list[np.ndarray] = [np.zeros(0, np.int64)]
        kinds = [np.zeros(self._size, bool) for _ in _KINDS]
        listed = 0
        for group in np.unique(groups).tolist():
            flags = np.zeros(self._size, bool)
            flags[owner[order[ends[group - 1] if group else 0 : ends[group]]]] = True
            self._known |= 1 << group
            for kind, among in zip(_KINDS, kinds, strict=True):
                if kind >> group & 1:
                    among |= flags
            tokens = np.flatnonzero(flags)
            if len(tokens) > _FEW:
                self._dense[group] = len(columns)
                columns.append(self._pack(flags))
            else:
                self._few[group] = listed, listed + len(tokens)
                listed += len(tokens)
                lists.append(tokens)
        self._kinds = [(kind & self._known, len(columns) + place) for place, kind in enumerate(_KINDS)]
        columns += [self._pack(among) for among in kinds]
        self._columns: np.ndarray = np.array(columns, np.int32)
        self._tokens: np.ndarray = np.concatenate(lists).astype(np.int32)

    def _pack(self, flags: np.ndarray) -> np.ndarray:
        padded = np.zeros(self._words * 32, np.uint8)
        padded[: self._size] = flags
        return np.packbits(padded, bitorder="little").view("<i4").astype(np.int32, copy=False)


def _groups_of(bytes: np.ndarray) -> np.ndarray:
    """uint64[2]: the groups of some bytes, bool[256]."""
    return _groups_of_flags(bytes.tobytes())


@small_cache(256)
def _groups_of_flags(flags: bytes) -> np.ndarray:
    """The same of flags by byte."""
    found = 0
    for byte, flag in enumerate(flags):
        if flag:
            found |= 1 << _GROUPS[byte]
    return as_words(found)


def _beyond(flat: np.ndarray, leads: np.ndarray) -> np.ndarray:
    """The groups of the characters that begin at some bytes, as far as they are whole."""
    data = np.concatenate([flat, np.zeros(3, np.uint8)]).astype(np.int32)
    lead, second, third, fourth = (data[leads + n] & 0x3F if n else data[leads] for n in range(4))
    points = (lead & 0x1F) << 6 | second
    three, four = lead >= 0xE0, lead >= 0xF0
    points[three] = ((lead & 0xF) << 12 | second << 6 | third)[three]
    points[four] = ((lead & 7) << 18 | second << 12 | third << 6 | fourth)[four]
    at = np.minimum(np.searchsorted(SCRIPTS[:, 1], points), len(SCRIPTS) - 1)
    inside = (SCRIPTS[at, 0] <= points) & (points <= SCRIPTS[at, 1])
    found = np.where(inside, SCRIPTS[at, 2], Group.REST).astype(np.uint8)
    found[points < 0xA0] = Group.CONTROL_1
    found[(points == 0x2028) | (points == 0x2029)] = Group.SEPARATOR
    return found


def _partial(flat: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """bool[V]: tokens that are not a sequence of whole characters."""
    partial = np.zeros(len(sizes), bool)
    if not len(flat):
        return partial
    ends = np.cumsum(sizes)
    high = np.zeros(len(sizes), bool)
    high[np.repeat(np.arange(len(sizes)), sizes)[flat >= 0x80]] = True
    data = flat.tobytes()
    for index in np.flatnonzero(high).tolist():
        try:
            data[ends[index] - sizes[index] : ends[index]].decode()
        except UnicodeDecodeError:
            partial[index] = True
    return partial


def _texts_before(data: bytes) -> Iterator[str]:
    """The texts of a JSON string that end with some bytes, from every place where one may begin."""
    for start in range(len(data), -1, -1):
        part = data[start:]
        try:
            if b"\\" in part:
                yield json.loads(f'"{part.decode()}"', strict=False)
            elif part[:1] == b'"':
                # All that begin further to the left have this quote inside, escaped or not.
                if data[start - 1 : start] != b"\\":
                    return
            else:
                yield part.decode()
        except ValueError:
            # Inside a character, or a quote that is not escaped.
            continue
