"""Whether a text is a word: random languages against the oracle of terms."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles.term_oracle import accepts
from sglc.automata.analysis import membership
from sglc.automata.analysis.emptiness import is_empty
from sglc.automata.analysis.membership import Membership, MembershipLimit, is_word
from sglc.automata.json.counters import TooComplex
from sglc.automata.regex.compile import compile_regex, compile_small
from sglc.automata.regex.parse import parse_regex
from sglc.automata.term import (
    Arm,
    Bytes,
    CharNfa,
    Choice,
    Language,
    Object,
    Pattern,
    Property,
    Repeat,
    Rule,
    Sequence,
    Text,
)
from strategies.entry_strategies import ENCODINGS
from strategies.typed_values import compounds, languages, words_of


def near(word: bytes, data: st.DataObject) -> bytes:
    """The word, or one that differs in a place or two."""
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(word)))
        cut = data.draw(st.integers(0, 2))
        word = (
            word[:at]
            + data.draw(st.sampled_from((b"", b"a", b'"', b", ", b"\\", "é".encode())))
            + word[at + cut :]
        )
    return word


def whole(part: object) -> bool:
    """Whether a term has no bytes that are no characters."""
    if isinstance(part, bytes):
        return part.decode("utf-8", "ignore").encode() == part
    if isinstance(part, tuple | frozenset):
        return all(map(whole, part))
    if isinstance(part, dict):
        return all(map(whole, part.values()))
    fields = getattr(part, "__dataclass_fields__", {})
    return all(whole(getattr(part, name)) for name in fields)


@pytest.mark.slow
@given(languages() | compounds(), st.data())
def test_words_are_told_from_other_texts(language, data):
    assume(whole(language))
    try:
        assume(not is_empty(language))
    except TooComplex:
        assume(False)
    text = near(data.draw(words_of(language)), data)
    try:
        text.decode()
    except UnicodeDecodeError:
        assume(False)
    assert is_word(language, text.decode()) == accepts(language, text)


def test_how_far_a_text_can_be_read():
    digits = Text(compile_regex("[0-9]{2,}"))
    entry = Object((Property("a", (Arm(digits),)), Property("b", (Arm(digits),))))
    membership = Membership(Language(Sequence((Bytes(b"{"), entry, Bytes(b"}")))))
    assert membership.fault('{"a": 12, "b": 34}') is None
    assert membership.fault('{"a": 12, "b": 3}') == (16, True)  # one more digit is due
    assert membership.fault('{"a": 12, "c": 34}') == (10, False)
    assert membership.fault('{"a": 12') == (8, False)


def test_work_is_limited(monkeypatch):
    monkeypatch.setattr(membership, "MAX_WORK", 1_000)
    many = Language(Repeat(Choice((Bytes(b"a"), Bytes(b"aa")))))
    assert is_word(many, "a" * 20)
    with pytest.raises(MembershipLimit, match="1000 steps"):
        is_word(many, "a" * 2_000)


@pytest.mark.slow
def test_deep_texts_are_no_trouble():
    nested = Language(Rule("r"), {"r": Sequence((Bytes(b"["), Choice((Rule("r"), Bytes(b""))), Bytes(b"]")))})
    assert is_word(nested, "[" * 20_000 + "]" * 20_000)
    assert not is_word(nested, "[" * 20_000 + "]" * 19_999)


@given(st.sampled_from(ENCODINGS), st.text('ab"\\', max_size=8))
def test_patterns_that_are_not_deterministic(encoding, text):
    pattern = '(a|b|")*a(a|b|"){2}'
    nfa = compile_small(parse_regex(pattern), open_left=False, open_right=False, small=1, limit=1000)
    assert isinstance(nfa, CharNfa)
    term = Text(compile_regex(pattern), encoding)
    written = Language(Sequence((Bytes(b"<"), Pattern(nfa, encoding), Bytes(b">"))))
    assert is_word(written, f"<{text}>") == accepts(Language(term), text.encode())
