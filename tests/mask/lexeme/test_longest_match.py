"""Greedy texts: masks against a search over all continuations, completions, what may follow."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles.term_oracle import accepts, viable
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Bytes, Choice, Language, Repeat, Sequence, Term, Text, Words
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from strategies.byte_vocabulary import BYTE_VOCABULARY, EXAMPLES, some
from strategies.mask_cases import mask_of, shortest_by_search

ALPHABET = [bytes([byte]) for byte in b'!ab"\\n' + "éè".encode()]
TOKENS = [*ALPHABET, b"aa", b"ab!", b"a!", b"b!a", b"!a", b"aab", "é!".encode(), b"a\xc3", b'a\\"', b"!!"]


def word(pattern: str, low: int = 0, high: int | None = None, encoding: str = "raw") -> Text:
    return Text(compile_regex(pattern), encoding, low, high, greedy=True)  # type: ignore[arg-type]


@st.composite
def greedy_texts(draw: st.DrawFn) -> Text:
    pattern = draw(
        st.sampled_from(("[ab]+", "a*b?", "ab?a?", "(ab)+", "[aé]+", "[ab]*", 'a["\\\\]*', "a|aba"))
    )
    low = draw(st.integers(0, 2))
    high = draw(st.none() | st.integers(max(low, 1), 3))
    return word(pattern, low, high, draw(st.sampled_from(("raw", "json"))))


@st.composite
def tails(draw: st.DrawFn) -> Term:
    """What may follow a text: always something that no text can take, or nothing."""
    safe: Term = draw(
        st.sampled_from((Bytes(b"!"), Bytes(b""), Bytes(b"!a"), Words(frozenset({b"!", b"a"}))))
    )
    others = st.sampled_from(
        (
            Bytes(b"a"),
            Bytes(b"b!"),
            Text(compile_regex("[ab]{1,2}")),
            Bytes("è".encode()),
            Bytes("é".encode()),
        )
    )
    return Choice((safe, *draw(st.lists(others, max_size=2))))


@st.composite
def languages(draw: st.DrawFn) -> Language:
    one: Term = Sequence((draw(greedy_texts()), draw(tails())))
    kind = draw(st.integers(0, 3))
    if kind == 1:
        one = Choice((one, Sequence((draw(greedy_texts()), draw(tails())))))
    elif kind == 2:
        one = Repeat(Sequence((one, Bytes(b"!"))), 0, 2)
    elif kind == 3:
        one = Sequence((draw(greedy_texts()), Bytes(b"!"), one))
    return Language(one)


def may_go_on(language: Language, prefix: bytes, most: int, known: dict[bytes, bool]) -> bool:
    """Whether up to `most` bytes complete a prefix, by trying all of them."""
    if prefix not in known:
        known[prefix] = accepts(language, prefix) or (
            most > 0
            and viable(language, prefix)
            and any(may_go_on(language, prefix + byte, most - 1, known) for byte in ALPHABET)
        )
    return known[prefix]


@pytest.mark.slow
@some(EXAMPLES)
@given(languages(), st.lists(st.integers(0, 20), max_size=6))
def test_masks_are_those_of_a_search(language: Language, steps: list[int]) -> None:
    vocabulary = Vocabulary(TOKENS)
    matcher = compile_constraint(language=language).matcher(vocabulary)
    assume(not matcher.is_dead())
    for step in [*steps, 0]:
        prefix = matcher.text()
        legal = mask_of(matcher, vocabulary)
        expected = {index for index, token in enumerate(TOKENS) if may_go_on(language, prefix + token, 9, {})}
        assert legal == expected
        assert matcher.is_accepting() == accepts(language, prefix)
        if not legal:
            break
        assert matcher.accept(sorted(legal)[step % len(legal)])


@some(EXAMPLES)
@given(languages(), st.lists(st.integers(0, 20), max_size=5))
def test_completions_are_legal_and_short(language: Language, steps: list[int]) -> None:
    matcher = compile_constraint(language=language).matcher(BYTE_VOCABULARY)
    assume(not matcher.is_dead())
    for step in [*steps, 0]:
        ending = matcher.shortest_completion()
        assert accepts(language, matcher.text() + ending)
        assert len(ending) == shortest_by_search(matcher, len(ending))
        legal = matcher.allowed().tolist()
        if not legal:
            break
        assert matcher.accept(legal[step % len(legal)])


def test_a_text_takes_all_it_can() -> None:
    language = Language(Sequence((word("[a-z]+"), Choice((Bytes(b"if"), Bytes(b"(x"))))))
    matcher = compile_constraint(language=language).matcher(BYTE_VOCABULARY)
    assert matcher.accept_bytes(b"whatif")
    assert not matcher.is_accepting()
    assert matcher.shortest_completion() == b"(x"


def test_at_the_end_a_text_may_end() -> None:
    matcher = compile_constraint(language=Language(word("[a-z]+"))).matcher(BYTE_VOCABULARY)
    assert matcher.accept_bytes(b"a")
    assert matcher.is_accepting()
    assert bytes(matcher.allowed().tolist()) == bytes(range(ord("a"), ord("z") + 1))


def test_past_its_longest_word_a_text_ends() -> None:
    language = Language(Sequence((word("[a-z]*", 0, 2), Bytes(b"abc"))))
    matcher = compile_constraint(language=language).matcher(BYTE_VOCABULARY)
    assert matcher.accept_bytes(b"xyab")
    assert matcher.forced() == b"c"


def test_a_text_that_may_be_empty_cannot_follow_itself() -> None:
    with pytest.raises(ConstraintError, match="followed by itself"):
        compile_constraint(language=Language(Repeat(word("[a-z]*"), 0, None)))
