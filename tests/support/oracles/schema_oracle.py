"""Whether the terms of a schema accept a JSON value: a plain recogniser over parsed values.

The text meant is `json.dumps(value, ensure_ascii=False)`. Objects may be given as lists of pairs (class
`Pairs`), so that keys can come twice. Shares no code with the schema room or the mask engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from oracles import term_oracle
from sglc.automata.dfa.operations import accepts as dfa_accepts
from sglc.automata.term import (
    Arm,
    Array,
    Bytes,
    Choice,
    Counter,
    Language,
    Nothing,
    Object,
    Rule,
    Sequence,
    Term,
    Text,
    Words,
)


class Pairs(list[tuple[str, Any]]):
    """An object as its entries in order."""


_NOTHING = object()


def accepts(language: Language, value: Any) -> bool:
    return _Recogniser(language).matches(language.root, value)


class _Recogniser:
    def __init__(self, language: Language) -> None:
        self.rules = language.rules
        self.known: dict[tuple[int, int], bool] = {}
        self.kept: list[Any] = []

    def matches(self, term: Term, value: Any) -> bool:
        if not isinstance(value, list | dict):
            return self._matches(term, value)
        key = (id(term), id(value))
        if key not in self.known:
            self.known[key] = self._matches(term, value)
            self.kept.append((term, value))
        return self.known[key]

    def _matches(self, term: Term, value: Any) -> bool:
        match term:
            case Nothing():
                return False
            case Rule(name):
                return self.matches(self.rules[name], value)
            case Choice(arms):
                return any(self.matches(arm, value) for arm in arms)
            case Bytes(b""):
                return value is _NOTHING
            case Bytes(data):
                return _is_scalar(value) and _text(value).encode() == data
            case Words(words):
                return _is_scalar(value) and _text(value).encode() in words
            case Text():
                return _is_number(value) and dfa_accepts(term.dfa, _text(value))
            case Sequence(items):
                return self._quoted(items, value)
        raise AssertionError(f"not a term of JSON: {term!r}")

    def _quoted(self, items: tuple[Term, ...], value: Any) -> bool:
        # Flexible spacing puts blanks inside the brackets.
        parts = [items[0], items[2], items[4]] if len(items) == 5 else items
        assert isinstance(parts[0], Bytes) and isinstance(parts[-1], Bytes) and len(parts) == 3
        opening, closing, inside = parts[0].data, parts[-1].data, parts[1]
        if opening == b'"':
            assert closing == b'"'
            if not isinstance(value, str):
                return False
            if isinstance(inside, Text):
                return self._string(inside, value)
            return term_oracle.accepts(Language(inside, self.rules), _text(value)[1:-1].encode())
        if opening == b"[" and isinstance(inside, Object):
            # Different strings are the keys of an object without values.
            assert inside.colon == Bytes(b"")
            return (
                isinstance(value, list)
                and not isinstance(value, Pairs)
                and all(isinstance(item, str) for item in value)
                and self._object(inside, [(item, _NOTHING) for item in value])
            )
        if opening == b"[":
            assert isinstance(inside, Array) and closing == b"]"
            return isinstance(value, list) and not isinstance(value, Pairs) and self._array(inside, value)
        assert isinstance(inside, Object) and (opening, closing) == (b"{", b"}")
        if isinstance(value, Pairs):
            return self._object(inside, value)
        return isinstance(value, dict) and self._object(inside, list(value.items()))

    def _string(self, term: Text, value: str) -> bool:
        if len(value) < term.min_chars or (term.max_chars is not None and len(value) > term.max_chars):
            return False
        return dfa_accepts(term.dfa, value)

    def _array(self, term: Array, value: list[Any]) -> bool:
        if len(value) < term.minimum or (term.maximum is not None and len(value) > term.maximum):
            return False
        if term.distinct and any(_equal(a, b) for i, a in enumerate(value) for b in value[:i]):
            return False
        tallies = {(0,) * len(term.counters)}
        for index, item in enumerate(value):
            arms = term.places[index] if index < len(term.places) else term.rest
            tallies = self._count(term.counters, tallies, arms, item)
        return any(_fulfilled(term.counters, tally) for tally in tallies)

    def _object(self, term: Object, entries: Iterable[tuple[str, Any]]) -> bool:
        index = {one.name: number for number, one in enumerate(term.properties)}
        present: set[int] = set()
        family_keys: set[str] = set()
        tallies = {(0,) * len(term.counters)}
        count = 0
        last = -1
        for key, value in entries:
            count += 1
            homes = [number for name, number in index.items() if name == key]
            families = [family for family in term.families if dfa_accepts(family.keys, key)]
            assert len(families) <= 1, f"{key!r} belongs to two"
            if homes:
                if homes[0] in present or (term.order == "declared" and homes[0] < last):
                    return False
                last = homes[0]
                present.add(homes[0])
                tallies = self._count(term.counters, tallies, term.properties[homes[0]].arms, value)
            elif families:
                last = len(term.properties)
                if term.distinct and key in family_keys:
                    return False
                family_keys.add(key)
                tallies = self._count(term.counters, tallies, families[0].arms, value)
            else:
                return False
        return (
            term.minimum <= count
            and (term.maximum is None or count <= term.maximum)
            and all(any((number in present) == flag for number, flag in clause) for clause in term.clauses)
            and any(_fulfilled(term.counters, tally) for tally in tallies)
        )

    def _count(
        self, counters: tuple[Counter, ...], tallies: set[tuple[int, ...]], arms: tuple[Arm, ...], value: Any
    ) -> set[tuple[int, ...]]:
        fitting = [arm.counts for arm in arms if self.matches(arm.term, value)]
        return set(_advanced(counters, tallies, fitting))


def _advanced(
    counters: tuple[Counter, ...], tallies: set[tuple[int, ...]], fitting: list[tuple[int, ...]]
) -> Iterator[tuple[int, ...]]:
    for tally in tallies:
        for counts in fitting:
            after = list(tally)
            for index in counts:
                after[index] += 1
            fits = True
            for index, counter in enumerate(counters):
                if counter.maximum is not None:
                    fits = fits and after[index] <= counter.maximum
                else:
                    after[index] = min(after[index], counter.minimum)
            if fits:
                yield tuple(after)


def _fulfilled(counters: tuple[Counter, ...], tally: tuple[int, ...]) -> bool:
    return all(count >= counter.minimum for count, counter in zip(tally, counters, strict=True))


def _equal(a: Any, b: Any) -> bool:
    """Equality of JSON values: that of Python, but that booleans are no numbers."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
