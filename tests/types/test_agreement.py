"""The law of types: language, printer and decoder of a type agree."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracles import term_oracle
from sglc.automata.number.decimal import DECIMAL_PLACES, INTEGER_DIGITS
from sglc.types.language.language import language
from sglc.types.language.membership import check_member, is_member
from sglc.types.text.decode import DecodeError, decode
from sglc.types.text.printer import print_value
from sglc.types.values import RecordValue
from strategies.typed_values import of_all_values, types, values_of, words_of

relaxed = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
surfaces = st.sampled_from(("hole", "json"))


@relaxed
@given(types(), surfaces, st.data())
def test_a_printed_value_is_in_the_language_and_decodes_to_itself(typed, surface, data):
    type, table = typed
    value = data.draw(values_of(type, table))
    check_member(value, type, table)
    text = print_value(value, type, table, surface=surface)
    lang = language(of_all_values(type), of_all_values(table), surface=surface)
    if surface == "hole" and not term_oracle.accepts(lang, text.encode()):
        # Only text that reads `null` beside a null has no raw spelling.
        assert text == "null"
        return
    assert term_oracle.accepts(lang, text.encode())
    if text != "null":
        assert decode(text, type, table, surface=surface) == value


@relaxed
@given(types(defaults=False), surfaces, st.data())
def test_every_word_decodes_to_a_member_and_prints_back(typed, surface, data):
    type, table = typed
    lang = language(type, table, surface=surface)
    word = data.draw(words_of(lang)).decode()
    assert term_oracle.accepts(lang, word.encode())
    value = decode(word, type, table, surface=surface)
    assert is_member(value, type, table)
    printed = print_value(value, type, table, surface=surface)
    assert decode(printed, type, table, surface=surface) == value
    if surface == "json":
        json.loads(word)


@relaxed
@given(types(), surfaces, st.data())
def test_a_damaged_word_decodes_exactly_if_it_is_still_in_the_language(typed, surface, data):
    type, table = typed
    lang = language(of_all_values(type), of_all_values(table), surface=surface)
    word = data.draw(words_of(lang)).decode()
    at = data.draw(st.integers(0, len(word)))
    cut = data.draw(st.integers(0, 2))
    put = data.draw(st.sampled_from(("", " ", "0", '"', "\\", "null", ",", "a", "-", ".", "\n", "é")))
    damaged = word[:at] + put + word[at + cut :]
    try:
        value = decode(damaged, type, table, surface=surface)
        decodes = True
    except DecodeError:
        decodes = False
    if term_oracle.accepts(lang, damaged.encode()):
        assert decodes
    elif decodes:
        # Numbers may have more digits than a hole writes.
        assert any(map(is_long, numbers_in(value)))
        assert decode(print_value(value, type, table, surface=surface), type, table, surface=surface) == value


def numbers_in(value: Any) -> list[Any]:
    match value:
        case int() | Decimal() | float():
            return [value]
        case list() | tuple():
            return [number for item in value for number in numbers_in(item)]
        case dict():
            return numbers_in(list(value.values()))
        case RecordValue():
            return numbers_in(list(value.fields.values()))
    return []


def is_long(number: Any) -> bool:
    exact = Decimal(str(number))
    places = -int(exact.as_tuple().exponent)
    return abs(exact) >= 10**INTEGER_DIGITS or places > DECIMAL_PLACES


@relaxed
@given(types(), surfaces, st.data())
def test_what_a_hole_writes_are_values_and_as_json_all_of_them(typed, surface, data):
    type, table = typed
    written = language(type, table, surface=surface)
    all_values = language(of_all_values(type), of_all_values(table), surface=surface)
    word = data.draw(words_of(written))
    assert term_oracle.accepts(all_values, word)
    if surface == "json":
        assert term_oracle.accepts(written, data.draw(words_of(all_values)))
