"""Aliases with conditions: language, decoder, membership and printer agree; any remainder is one of them."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import term_oracle
from sglc.automata.analysis.emptiness import is_empty
from sglc.types.condition import (
    All,
    Among,
    Compared,
    Divided,
    Either,
    Known,
    Listed,
    Not,
    Subject,
    TextAt,
    holds,
)
from sglc.types.language.language import language
from sglc.types.language.membership import is_member
from sglc.types.text.decode import DecodeError, decode
from sglc.types.text.plain_json import from_json
from sglc.types.text.printer import print_value
from sglc.types.type import AliasType, FieldType, Int, ListOf, Named, Optional, RecordType, Str
from sglc.types.values import RecordValue
from strategies.typed_values import words_of

IT = Subject()
NUMBERS = st.integers(-12, 12)


def _joined(atoms):
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.builds(Not, inner),
            st.builds(lambda a, b: All((a, b)), inner, inner),
            st.builds(lambda a, b: Either((a, b)), inner, inner),
        ),
        max_leaves=3,
    )


OF_NUMBERS = _joined(
    st.one_of(
        st.builds(lambda n, r: Divided(IT, Known(n), Known(r)), st.integers(1, 5), st.integers(-1, 4)),
        st.builds(lambda o, n: Compared(IT, o, Known(n)), st.sampled_from(("<", ">=", "!=")), NUMBERS),
        st.builds(lambda ns: Among(IT, Known(Listed(ns))), st.lists(NUMBERS, min_size=1, max_size=4)),
    )
)
OF_TEXTS = _joined(
    st.one_of(
        st.builds(
            lambda p, t: TextAt(IT, p, Known(t)),
            st.sampled_from(("start", "end", "inside")),
            st.sampled_from(("a", "b", "ab")),
        ),
        st.builds(lambda n: Compared(Subject((), True), "<=", Known(n)), st.integers(0, 3)),
        st.builds(lambda t: Compared(IT, "!=", Known(t)), st.sampled_from(("", "a", "null"))),
    )
)


@st.composite
def conditioned(draw):
    """A base with every value that is tried, and the alias that a condition makes of it."""
    if draw(st.booleans()):
        low = draw(NUMBERS)
        base, where = Int(low, low + 12), draw(OF_NUMBERS)
        tried = list(range(low - 1, low + 14))
    else:
        base, where = Str(max_chars=3, patterns=("[ab]*",), layout="free"), draw(OF_TEXTS)
        tried = ["", *"ab", "aa", "ab", "ba", "bb", "aba", "abb", "bab", "aaa", "c", "aaaa"]
    return AliasType("T", base, "", where), tried


@settings(max_examples=60, deadline=None)
@given(conditioned(), st.sampled_from(("hole", "json")))
def test_the_texts_are_those_of_the_values_for_which_the_condition_holds(made, surface):
    alias, tried = made
    table, type = {"T": alias}, Named("T")
    found = language(type, table, surface=surface)
    for value in tried:
        right = is_member(value, alias.type, {}) and holds(alias.where, value)
        text = value if surface == "hole" and isinstance(value, str) else json.dumps(value)
        assert is_member(value, type, table) == right
        assert term_oracle.accepts(found, text.encode()) == right
        try:
            assert (decode(text, type, table, surface=surface) == value) == right
        except DecodeError:
            assert not right
        if right:
            assert print_value(value, type, table, surface=surface) == text
            assert from_json(value, type, table) == value


@settings(max_examples=40, deadline=None)
@given(conditioned(), st.data())
def test_parts_of_other_types_keep_their_conditions(made, data):
    alias, _ = made
    fields = (FieldType("a", Named("T")), FieldType("b", ListOf(Named("T"), 0, 2)))
    record = RecordType("R", (*fields, FieldType("c", Optional(Named("T")))))
    table = {"T": alias, "R": record}
    found = language(Named("R"), table, surface="json")
    if is_empty(language(Named("T"), {"T": alias})):
        assert is_empty(found)
        return
    word = data.draw(words_of(found)).decode()
    value = decode(word, Named("R"), table, surface="json")
    assert isinstance(value, RecordValue)
    parts = [value.fields["a"], *value.fields["b"]]
    parts += [] if value.fields["c"] is None else [value.fields["c"]]
    assert all(holds(alias.where, part) for part in parts)
    assert is_member(value, Named("R"), table)


def test_every_residue_is_as_regular_as_zero():
    for step in range(1, 12):
        for rest in range(step):
            table = {"T": AliasType("T", Int(-30, 30), "", Divided(IT, Known(step), Known(rest)))}
            found = language(Named("T"), table)
            kept = [n for n in range(-30, 31) if term_oracle.accepts(found, str(n).encode())]
            assert kept == [n for n in range(-30, 31) if n % step == rest]
