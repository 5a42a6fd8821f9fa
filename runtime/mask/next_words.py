"""The words that may come next: for those who pick one of them instead of writing text, people or models.

Bytes that lead to the same configuration have the same future. Where there are many of them, as inside
of a text, one stands for all; where there are few, as at the beginning of a member of an enumeration, each
begins a word of its own. A word is followed as long as only letters, digits and escapes can go on with it.
Words with more backslashes are mostly other spellings of those with fewer, and are there only where nothing
else may come.
"""

from __future__ import annotations

import heapq
import itertools
from codecs import utf_8_decode
from string import ascii_letters, digits

import numpy as np

from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD

_WORD = np.zeros(256, bool)
_WORD[list((ascii_letters + digits + "_").encode())] = True
_WORD[0x80:] = True
_ESCAPE = np.zeros(256, bool)
_ESCAPE[ord("\\")] = True
_BLANK = b" \t\r\n"
_PREFERRED = sorted(range(256), key=lambda byte: (byte >= 0x80, not _WORD[byte], byte < 0x61, byte))
"""Bytes in the order in which they are taken as an example: small letters first, then the rest of words."""


def next_words(machine: Machine, config: int, count: int, longest: int) -> list[bytes]:
    """See `Matcher.words`. The caller holds the machine's lock.

    Once as many words are begun as are wanted, each of them goes on in one way.
    """
    found: dict[bytes, bytes] = {}
    numbers, blank, least = itertools.count(), {config}, 0
    places = [(0, 0, next(numbers), b"", config)]
    while places and len(found) < count:
        odd, *_, text, at = heapq.heappop(places)
        if odd > least and found:
            break
        ways = _ways(machine, at, count, text)
        for byte, following in ways if len(places) + len(found) < count else ways[:1]:
            word = text + bytes([byte])
            own = word.strip()
            if not own:
                if following in blank:
                    continue
                blank.add(following)
            full = len(own) >= longest and _is_whole(word)
            if own and (full or _is_word(machine, word, following)):
                least = least if found else word.count(b"\\")
                found.setdefault(own, word)
            elif len(own) < longest:
                odd = word.count(b"\\")
                heapq.heappush(places, (odd, len(word), next(numbers), word, following))
    return list(found.values())[:count]


def _ways(machine: Machine, config: int, few: int, text: bytes) -> list[tuple[int, int]]:
    """(byte, configuration behind it) of the bytes that may follow a text.

    Of more than `few` with the same configuration there is one, and then no character beyond ASCII. Behind
    blanks there are more of them only where nothing else may follow.
    """
    row = machine.row(config)
    ways: dict[int, list[int]] = {}
    for byte in _PREFERRED:
        if (following := int(row[byte])) != DEAD:
            ways.setdefault(following, []).append(byte)
    is_open = any(len(group) > few for group in ways.values())
    found = [
        (byte, following)
        for following, group in ways.items()
        for byte in (group if len(group) <= few else group[:1])
        if byte < 0x80 or not is_open
    ]
    other = [way for way in found if way[0] not in _BLANK] if text.isspace() else []
    return other or found


def _is_word(machine: Machine, word: bytes, config: int) -> bool:
    """Whether a word that leads to a configuration ends there."""
    if not _is_whole(word):
        return False
    first = machine.first(config)
    return machine.accepts(config) or not (first & _WORD).any() or bool((first & ~_WORD & ~_ESCAPE).any())


def _is_whole(word: bytes) -> bool:
    """Whether bytes end with a whole character."""
    try:
        return utf_8_decode(word, "strict", False)[1] == len(word)
    except UnicodeDecodeError:
        return False
