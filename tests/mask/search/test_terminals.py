"""Many terminals at one place: masks are exact, however many may come there."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Bytes, Choice, Language, Repeat, Rule, Sequence, Term, Text, Words
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from strategies.mask_cases import brute_force, mask_of, prefixes

PATTERNS = ("ab?c", "a{1,3}", "[ab]{1,2}c?", "b(a|é)?", "ca?", "(ab)+", "é?a", "aa|ab|c")
PIECES = [
    *(letter.encode() for letter in "abcé-;+"),
    b"\xc3",
    b"\xa9",
    b"\xa9a",
    *(a + b for a in (b"a", b"ab", b"c", b"-") for b in (b"a", b"b", b"-", b"c;", b"aa", b"-a")),
    b"aaaaaa",
    b"abababab",
    b"-----",
    b"a-b-c",
    b"ab;ab;ab",
    b"a--a",
    "aé".encode(),
    b"ca-aa;",
]


@st.composite
def terminals(draw: st.DrawFn) -> Language:
    """Many terminals at one place, each followed by something else, in a circle."""
    texts = draw(st.lists(st.sampled_from(PATTERNS), min_size=2, max_size=5, unique=True))
    some: list[Term] = [Text(compile_regex(text)) for text in texts]
    words = st.sampled_from((b"a", b"ab", b"abc", b"-", b"--", b"c-", b"b"))
    some += [Bytes(word) for word in draw(st.lists(words, min_size=1, max_size=4, unique=True))]
    if draw(st.booleans()):
        some.append(Words(frozenset(draw(st.sets(words, min_size=2, max_size=4)))))
    follows: tuple[Term, ...] = (
        Bytes(b""),
        Bytes(b";"),
        Rule("part"),
        Sequence((Bytes(b"-"), Rule("part"))),
        Repeat(Bytes(b"a"), 0, 2),
    )
    arms = [Sequence((one, draw(st.sampled_from(follows)))) for one in some]
    rules = {"part": Choice((*arms, Bytes(b"+")))}
    return Language(Repeat(Rule("part"), 1, 3, b";"), rules)


@pytest.mark.slow
@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.data())
def test_masks_of_many_terminals_are_exact(data: st.DataObject) -> None:
    language = data.draw(terminals())
    vocabulary = Vocabulary(PIECES)
    constraint = compile_constraint(language=language)
    prefix = data.draw(prefixes(language))
    matcher = constraint.matcher(vocabulary)
    assert matcher.accept_bytes(prefix)
    assert mask_of(matcher, vocabulary) == brute_force(language, prefix, vocabulary)
