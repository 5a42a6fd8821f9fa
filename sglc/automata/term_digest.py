"""A digest of a language's description: equal terms have equal digests, in every process on every machine.

Terms are hashed as a Merkle tree (Merkle 1987): the digest of a term is that of its kind, its plain fields
and the digests of its parts, so a part that is shared is hashed once, and sharing does not show. Sets are
hashed in sorted order. Different descriptions of one language may have different digests; the same digest
means the same description.
"""

from __future__ import annotations

import dataclasses
import hashlib
import sys
from array import array
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from typing import Any

from sglc.automata.term import CharDfa, Language

_DEEPEST = 250
"""Nesting beyond this is refused; constraints allow less."""


class TooDeep(ValueError):
    """A description that is nested too deeply to be hashed."""


def term_digest(language: Language) -> bytes:
    """SHA-256 of the root and of all rules by name. Raises TooDeep."""
    known: dict[int, bytes] = {}
    state = hashlib.sha256(b"language\0")
    state.update(_encoded(language.root, known, 0))
    for name in sorted(language.rules):
        state.update(_encoded(name, known, 0))
        state.update(_encoded(language.rules[name], known, 0))
    return state.digest()


def _encoded(value: Any, known: dict[int, bytes], depth: int) -> bytes:
    """One field, so that no two different fields have the same bytes."""
    kind = type(value)
    if kind is tuple:
        return b"(%d:" % len(value) + b"".join([_encoded(item, known, depth + 1) for item in value])
    if kind is int:
        return b"i%d;" % value
    if kind is bytes:
        return _text(b"b", value)
    if kind is str:
        return _text(b"s", value.encode("utf-8", "surrogatepass"))
    if value is None:
        return b"n"
    if kind is bool:
        return b"t" if value else b"f"
    if kind is frozenset:
        return _members(value, known, depth)
    return b"d" + _term(value, known, depth)


def _text(kind: bytes, data: bytes) -> bytes:
    return kind + b"%d:" % len(data) + data


def _members(value: frozenset[Any], known: dict[int, bytes], depth: int) -> bytes:
    if all(type(item) is bytes for item in value):
        # Choices of 100,000 words are usual: no bytes object for each.
        words = sorted(value)
        return b"w%d:" % len(words) + _numbers(map(len, words)) + b"".join(words)
    return b"{%d:" % len(value) + b"".join(sorted(_encoded(item, known, depth + 1) for item in value))


def _term(value: object, known: dict[int, bytes], depth: int) -> bytes:
    found = known.get(id(value))
    if found is None:
        if depth > _DEEPEST:
            raise TooDeep(f"nested more than {_DEEPEST} deep")
        if isinstance(value, CharDfa):
            found = _automaton(value)
        else:
            kind = type(value)
            parts = [_encoded(getattr(value, name), known, depth + 1) for name in _fields(kind)]  # type: ignore[arg-type]
            found = hashlib.sha256(kind.__name__.encode() + b"\0" + b"".join(parts)).digest()
        # `value` is a part of the language that is being hashed, so its identity stays its own meanwhile.
        known[id(value)] = found
    return found


@lru_cache(maxsize=64)
def _fields(kind: type) -> tuple[str, ...]:
    """Names of a term's fields that say what it is. Raises TypeError for what is no term."""
    return tuple(field.name for field in dataclasses.fields(kind) if field.compare)


def _automaton(dfa: CharDfa) -> bytes:
    edges = chain.from_iterable(chain.from_iterable(dfa.edges))
    sizes = (len(dfa.edges), len(dfa.accepting))
    numbers = chain(sizes, map(len, dfa.edges), edges, sorted(dfa.accepting))
    return hashlib.sha256(b"CharDfa\0" + _numbers(numbers)).digest()


def _numbers(values: Iterable[int]) -> bytes:
    """Eight bytes each, little-endian."""
    made = array("q", values)
    if sys.byteorder == "big":
        made.byteswap()
    return made.tobytes()
