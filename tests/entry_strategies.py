"""Random arrays, objects, spans and lists."""

from __future__ import annotations

from hypothesis import strategies as st

from sglc.automata.dfa import difference, is_endless, words
from sglc.automata.regex import compile_regex
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
)  # fmt: skip

ENCODINGS = ("raw", "json", "json-any")


@st.composite
def spans(draw: st.DrawFn) -> Span:
    text = draw(st.sampled_from(("", "abcab", "aaaa", 'say "é\\', "a😀bé😀b", "null, null")))
    low = draw(st.integers(0, 3))
    encoding = draw(st.sampled_from(ENCODINGS))
    # A character has many spellings in `json-any`; the oracle tries them all.
    return Span(
        text[:4] if encoding == "json-any" else text, encoding, low, draw(st.none() | st.integers(0, 4))
    )


@st.composite
def listed(draw: st.DrawFn) -> Listed:
    """Lists of short texts, the characters of which have many spellings in `json-any`."""
    chars = st.sampled_from(("a", "b", "é", "😀", '"', "\\", "\n", "/", "\x01"))
    texts = st.lists(chars, max_size=3).map("".join)
    return Listed(frozenset(draw(st.sets(texts, max_size=5))), draw(st.sampled_from(ENCODINGS)))


@st.composite
def _counters(draw: st.DrawFn) -> tuple[Counter, ...]:
    number = draw(st.sampled_from((0, 0, 0, 1, 1, 2)))
    return tuple(
        [Counter(draw(st.integers(0, 2)), draw(st.none() | st.integers(0, 3))) for _ in range(number)]
    )


@st.composite
def _arms(draw: st.DrawFn, inner: st.SearchStrategy[Term], counters: int, most: int = 2) -> tuple[Arm, ...]:
    counts = st.lists(st.integers(0, counters - 1), max_size=2).map(tuple) if counters else st.just(())
    return tuple(draw(st.lists(st.builds(Arm, inner, counts), max_size=most)))


def _between(usual: bytes, odd: Term) -> st.SearchStrategy[Term]:
    return st.sampled_from((Bytes(usual), Bytes(usual), Bytes(usual[:1]), odd))


SPACED = Text(compile_regex(" ?, ?"))
VALUES = st.sampled_from(
    (Bytes(b"1"), Bytes(b"null"), Words(frozenset({b"1", b"12"})), Text(compile_regex("[0-9]{1,2}")),
     Sequence((Bytes(b'"'), Text(compile_regex("[ab]*"), "json-any"), Bytes(b'"'))), Bytes(b""), Bytes(b"{}"),
     Nothing())
)  # fmt: skip


@st.composite
def arrays(draw: st.DrawFn, inner: st.SearchStrategy[Term]) -> Array:
    """Arrays whose arms overlap, with counters."""
    item = VALUES | inner
    counters = draw(_counters())
    places = tuple(draw(st.lists(_arms(item, len(counters)), max_size=2)))
    low = draw(st.integers(0, 3))
    return Array(
        places, draw(_arms(item, len(counters), 3)), low, draw(st.none() | st.integers(0, 4)), counters,
        draw(_between(b", ", SPACED)),
    )  # fmt: skip


FAMILIES = ("[xy]", "z?", '[é"]{1,2}', "(ab|b)c*", '[^axyzé"b].*')
WIDE_FAMILIES = ([".*"], [".{2,}"], ["a.*", "([^a].*)?"], ["[^b]*"])
"""Families that leave nearly nothing out, alone or with one beside them."""
KEYS = ("a", "aa", "ab", "b", "größe", 'q"', "😀", "a/")


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Term]) -> Object:
    """Objects with clauses, counters, families and both orders."""
    value = VALUES | inner
    counters = draw(_counters())
    names = draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=3))
    properties = tuple([Property(name, draw(_arms(value, len(counters)))) for name in names])
    families = []
    several = st.lists(st.sampled_from(FAMILIES), unique=True, max_size=2)
    for pattern in draw(several | st.sampled_from(WIDE_FAMILIES)):
        keys = compile_regex(pattern)
        if not is_endless(keys):
            keys = difference(keys, words(names))
        families.append(Family(keys, draw(_arms(value, len(counters)))))
    literals = st.tuples(st.integers(0, len(names) - 1), st.booleans()) if names else st.nothing()
    clauses = draw(st.lists(st.frozensets(literals, max_size=3), max_size=2)) if names else []
    return Object(
        properties, tuple(families), draw(st.integers(0, 2)), draw(st.none() | st.integers(0, 3)),
        tuple(clause for clause in clauses if clause or draw(st.integers(0, 9)) == 0), counters,
        draw(st.sampled_from(("declared", "any"))), draw(st.booleans()),
        draw(st.sampled_from(("json", "json-any"))), draw(_between(b", ", SPACED)),
        draw(_between(b": ", Text(compile_regex(" {0,2}: ?")))),
    )  # fmt: skip
