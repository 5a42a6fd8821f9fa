"""Keys of an object that have been used, inside of another key that may not be one of them.

The *endings* are what is still to come of the used keys that begin like the text of the key so far; bytes of
a character that is not complete are *begun*.
"""

from __future__ import annotations

from sglc.automata.term import Encoding
from sglc.runtime.mask.lexeme.escapes import read, ways
from sglc.runtime.mask.lexeme.key_dfa import KeyTable
from sglc.runtime.mask.nodes.object_parts import after_character

Endings = frozenset[str]


def after_byte(endings: Endings, begun: bytes, complete: bool, encoding: Encoding) -> tuple[Endings, bytes]:
    """(endings, bytes begun) after a byte, the last one of `begun`, which may complete a character."""
    if complete:
        return after_character(endings, read(begun, encoding)), b""
    endings = frozenset(
        [word for word in endings if word and any(way.startswith(begun) for way in ways(word[0], encoding))]
    )
    return endings, begun if endings else b""


def bytes_of_used(endings: Endings, begun: bytes, encoding: Encoding) -> list[int]:
    """The bytes that may lead on to a used key."""
    size = len(begun)
    spelled = [way for char in {word[0] for word in endings if word} for way in ways(char, encoding)]
    return sorted({way[size] for way in spelled if len(way) > size and way.startswith(begun)})


def fresh_labels(
    table: KeyTable, labels: int, counted: int, place: tuple[int, bytes], endings: Endings
) -> int:
    """Those of some labels that have a key that has not been used from a place on, (state of the table, bytes
    begun); `counted`: the labels whose keys must differ."""
    local, begun = place
    rest = labels & counted
    while rest:
        bit = rest & -rest
        rest ^= bit
        label = bit.bit_length() - 1
        if local >= 0:
            fresh = table.has_fresh(local, label, endings)
        else:
            fresh = any(
                table.has_fresh(target, label, after_character(endings, read(begun + end, table.encoding)))
                for target, ends in table.ends_of_character(local, len(endings) + 1).items()
                if table.below(target) & bit
                for end in ends
            )
        if not fresh:
            labels ^= bit
    return labels
