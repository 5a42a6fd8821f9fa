"""Random arrays, objects, spans and lists."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from sglc.automata.dfa.operations import difference, is_endless, words
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import (
    Arm,
    Array,
    Bytes,
    Counter,
    Family,
    Listed,
    Nothing,
    Object,
    Property,
    Sequence,
    Span,
    Term,
    Text,
    Words,
)

ENCODINGS = ("raw", "json", "json-any")


@cache
@st.composite
def spans(draw: st.DrawFn) -> Span:
    text = draw(st.sampled_from(("", "abcab", "aaaa", 'say "é\\', "a😀bé😀b", "null, null")))
    low = draw(st.integers(0, 3))
    encoding = draw(st.sampled_from(ENCODINGS))
    # A character has many spellings in `json-any`; the oracle tries them all.
    return Span(
        text[:4] if encoding == "json-any" else text, encoding, low, draw(st.none() | st.integers(0, 4))
    )


@cache
@st.composite
def listed(draw: st.DrawFn) -> Listed:
    """Lists of short texts, the characters of which have many spellings in `json-any`."""
    chars = st.sampled_from(("a", "b", "é", "😀", '"', "\\", "\n", "/", "\x01"))
    texts = st.lists(chars, max_size=3).map("".join)
    return Listed(frozenset(draw(st.sets(texts, max_size=5))), draw(st.sampled_from(ENCODINGS)))


@cache
@st.composite
def _counters(draw: st.DrawFn) -> tuple[Counter, ...]:
    number = draw(st.sampled_from((0, 0, 0, 1, 1, 2)))
    return tuple(
        [Counter(draw(st.integers(0, 2)), draw(st.none() | st.integers(0, 3))) for _ in range(number)]
    )


@cache
def _arms(inner: st.SearchStrategy[Term], counters: int, most: int = 2) -> st.SearchStrategy[tuple[Arm, ...]]:
    counts = st.lists(st.integers(0, counters - 1), max_size=2).map(tuple) if counters else st.just(())
    return st.lists(st.builds(Arm, VALUES | inner, counts), max_size=most).map(tuple)


@cache
def _places(inner: st.SearchStrategy[Term], counters: int) -> st.SearchStrategy[tuple[tuple[Arm, ...], ...]]:
    return st.lists(_arms(inner, counters), max_size=2).map(tuple)


@cache
def _between(usual: bytes, odd: Term) -> st.SearchStrategy[Term]:
    return st.sampled_from((Bytes(usual), Bytes(usual), Bytes(usual[:1]), odd))


SPACED = Text(compile_regex(" ?, ?"))
VALUES = st.sampled_from(
    (
        Bytes(b"1"),
        Bytes(b"null"),
        Words(frozenset({b"1", b"12"})),
        Text(compile_regex("[0-9]{1,2}")),
        Sequence((Bytes(b'"'), Text(compile_regex("[ab]*"), "json-any"), Bytes(b'"'))),
        Bytes(b""),
        Bytes(b"{}"),
        Nothing(),
    )
)


@cache
@st.composite
def arrays(draw: st.DrawFn, inner: st.SearchStrategy[Term]) -> Array:
    """Arrays whose arms overlap, with counters."""
    counters = draw(_counters())
    places = draw(_places(inner, len(counters)))
    low = draw(st.integers(0, 3))
    return Array(
        places,
        draw(_arms(inner, len(counters), 3)),
        low,
        draw(st.none() | st.integers(0, 4)),
        counters,
        draw(_between(b", ", SPACED)),
    )


FAMILIES = ("[xy]", "z?", '[é"]{1,2}', "(ab|b)c*", '[^axyzé"b].*')
WIDE_FAMILIES = ([".*"], [".{2,}"], ["a.*", "([^a].*)?"], ["[^b]*"])
"""Families that leave nearly nothing out, alone or with one beside them."""
_FAMILIES = st.lists(st.sampled_from(FAMILIES), unique=True, max_size=2) | st.sampled_from(WIDE_FAMILIES)
KEYS = ("a", "aa", "ab", "b", "größe", 'q"', "😀", "a/")
_NAMES = st.lists(st.sampled_from(KEYS), unique=True, max_size=3)


@cache
def _clauses(names: int) -> st.SearchStrategy[list[frozenset[tuple[int, bool]]]]:
    if not names:
        return st.just([])
    literals = st.tuples(st.integers(0, names - 1), st.booleans())
    return st.lists(st.frozensets(literals, max_size=3), max_size=2)


@cache
@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Term]) -> Object:
    """Objects with clauses, counters, families and both orders."""
    counters = draw(_counters())
    names = draw(_NAMES)
    properties = tuple([Property(name, draw(_arms(inner, len(counters)))) for name in names])
    families = []
    for pattern in draw(_FAMILIES):
        keys = compile_regex(pattern)
        if not is_endless(keys):
            keys = difference(keys, words(names))
        families.append(Family(keys, draw(_arms(inner, len(counters)))))
    clauses = draw(_clauses(len(names)))
    return Object(
        properties,
        tuple(families),
        draw(st.integers(0, 2)),
        draw(st.none() | st.integers(0, 3)),
        tuple(clause for clause in clauses if clause or draw(st.integers(0, 9)) == 0),
        counters,
        draw(st.sampled_from(("declared", "any"))),
        draw(st.booleans()),
        draw(st.sampled_from(("json", "json-any"))),
        draw(_between(b", ", SPACED)),
        draw(_between(b": ", Text(compile_regex(" {0,2}: ?")))),
    )
