"""Types with conditions and with values, in each form: exactly the texts of their values."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from oracles import term_oracle
from sglc.automata.analysis.emptiness import few_words
from sglc.types.condition import All, Among, Compared, Divided, Given, Known, Not, Subject
from sglc.types.dependent import bind
from sglc.types.language.language import language
from sglc.types.language.membership import is_member
from sglc.types.language.narrowing import is_expressible, narrowed_language
from sglc.types.text.decode import DecodeError, decode
from sglc.types.text.printer import print_value
from sglc.types.type import (
    AliasType,
    Applied,
    Bool,
    Constant,
    EnumType,
    FieldType,
    InForm,
    Int,
    ListOf,
    Named,
    OneOf,
    OpenType,
    Optional,
    RecordType,
    Source,
    SpanOf,
    Str,
    TupleOf,
    Type,
    UnionType,
    matching,
)
from sglc.types.values import EnumValue, RecordValue

HERE = Subject()
ODD = AliasType("odd", Int(0, 5), where=Divided(HERE, Known(2), Known(1)))
SHORT = AliasType("short", matching("[ab&]{1,2}"), where=Not(Among(HERE, Known(("a", "b&")))))
MOOD = EnumType("Mood", ("calm", "no", "a, b"))
GLAD = AliasType("glad", Named("Mood"), where=Compared(HERE, "!=", Known(EnumValue("Mood", "calm"))))
TRUE = AliasType("sure", Bool(), where=Compared(HERE, "==", Known(True)))
ROW = RecordType(
    "Row",
    (
        FieldType("n", Named("odd")),
        FieldType("mood", Named("Mood"), has_default=True, default=EnumValue("Mood", "no")),
    ),
)
LOW = AliasType(
    "low",
    Named("Row"),
    where=All(
        (
            Compared(Subject(("n",)), "<", Known(5)),
            Compared(Subject(("mood",)), "!=", Known(EnumValue("Mood", "a, b"))),
        )
    ),
)
TABLE = {each.name: each for each in (ODD, SHORT, MOOD, GLAD, TRUE, ROW, LOW)}
MOODS = [EnumValue("Mood", name) for name in MOOD.members]
ROWS = [RecordValue("Row", {"n": n, "mood": mood}) for n in range(6) for mood in MOODS]
TEXTS = [text for size in (1, 2) for text in map("".join, product("ab&", repeat=size))]

PAIR = TupleOf((Named("odd"), Named("short")))


def lists(values: list[Any], low: int, high: int) -> list[list[Any]]:
    return [list(each) for size in range(low, high + 1) for each in product(values, repeat=size)]


CASES: list[tuple[Type, list[Any], str]] = [
    (ListOf(Named("odd"), 1, 2), lists(list(range(6)), 1, 2), "lines yaml xml"),
    (ListOf(Named("short"), 1, 2), lists(TEXTS, 1, 2), "lines yaml xml"),
    (ListOf(Named("glad"), 1, 2), lists(MOODS, 1, 2), "lines yaml xml"),
    (ListOf(Optional(Named("sure")), 1, 2), lists([True, False, None], 1, 2), "lines yaml xml"),
    (ListOf(Named("low"), 1, 1), lists(ROWS, 1, 1), "csv yaml xml"),
    (
        ListOf(TupleOf((Named("odd"), Named("short"))), 1, 1),
        lists([*product(range(6), TEXTS)], 1, 1),
        "csv yaml",
    ),
]


@pytest.mark.parametrize(("type", "values", "form"), [(t, v, f) for t, v, fs in CASES for f in fs.split()])
def test_a_mask_keeps_the_conditions_of_parts(type, values, form):
    formed = InForm(type, form)
    expected = {print_value(each, formed, TABLE) for each in values if is_member(each, formed, TABLE)}
    words = few_words(language(formed, TABLE), 1000)
    assert words is not None and expected
    assert {word.decode() for word in words} >= expected
    assert {print_value(decode(word.decode(), formed, TABLE), formed, TABLE) for word in words} == expected
    refused = [each for each in values if not is_member(each, formed, TABLE)]
    assert refused
    for each in refused:
        text = print_value(each, formed, TABLE)
        assert not term_oracle.accepts(language(formed, TABLE), text.encode())
        with pytest.raises(DecodeError):
            decode(text, formed, TABLE)


@pytest.mark.parametrize("form", ["lines", "yaml", "xml", "json"])
def test_a_condition_on_a_type_that_has_a_form(form):
    size = Compared(Subject(length=True), ">", Known(1))
    formed = InForm(ListOf(Int(0, 2), 0, 3), form)
    table = {"several": AliasType("several", formed, where=size)}
    expected = {print_value(each, formed, {}).encode() for each in lists([0, 1, 2], 2, 3)}
    assert set(few_words(language(Named("several"), table), 100) or ()) == expected
    assert is_expressible(formed, size, {})
    assert set(few_words(narrowed_language(formed, {}, size), 100) or ()) == expected
    with pytest.raises(DecodeError):
        decode(print_value([1], formed, {}), Named("several"), table)
    assert decode(print_value([1, 2], formed, {}), Named("several"), table) == [1, 2]


@pytest.mark.parametrize("form", ["yaml", "csv", "xml"])
def test_a_condition_of_a_hole_on_a_field(form):
    formed = InForm(Named("Row") if form != "csv" else ListOf(Named("Row"), 1, 1), form)
    condition = Compared(Subject(("n",)), ">", Known(2))
    if form == "csv":
        assert not is_expressible(formed, condition, TABLE)
        return
    found = few_words(narrowed_language(formed, TABLE, condition), 100)
    assert found is not None and found
    assert {decode(word.decode(), formed, TABLE).fields["n"] for word in found} == {3, 5}


BODY = FieldType("text", SpanOf(0, max_chars=3))
MAIL = OpenType(
    UnionType("Mail", (RecordType("Question", (BODY, FieldType("n", Int(0, 1)))), RecordType("Spam", ()))),
    ("body",),
    (Source(0),),
)
ERASED = {
    "Mail": UnionType(
        "Mail",
        (
            RecordType("Question", (FieldType("text", Str(max_chars=3)), FieldType("n", Int(0, 1)))),
            RecordType("Spam", ()),
        ),
    )
}


def test_a_type_with_values_in_yaml():
    body = 'a "b\x85é'
    formed = bind(InForm(Applied("Mail", (0,), (MAIL,)), "yaml"), [body])
    words = [word.decode() for word in few_words(language(formed, ERASED), 1000) or ()]
    pieces = {body[at : at + size] for at in range(len(body)) for size in (1, 2, 3)}
    values = [decode(word, formed, ERASED) for word in words]
    asked = [value for value in values if value.variant == "Question"]
    assert {value.fields["text"] for value in asked} == {each for each in pieces if "\x85" not in each}
    assert len(asked) == len(words) - 1
    assert all(is_member(value, formed, ERASED) for value in values)
    assert [print_value(value, formed, ERASED) for value in values] == words


def test_a_list_of_a_type_with_values_and_a_condition():
    alias = AliasType("least", Int(0, 4), where=Compared(HERE, ">=", Given(0)))
    opened = OpenType(alias, ("least",), (Source(0),))
    formed = bind(InForm(ListOf(Applied("least", (0,), (opened,)), 1, 1), "lines"), [3])
    table = {"least": AliasType("least", Int(0, 4))}
    assert set(few_words(language(formed, table), 10) or ()) == {b"3", b"4"}
    with pytest.raises(DecodeError):
        decode("2", formed, table)


def test_an_entry_of_a_list_beside_a_constant_keeps_the_form():
    formed = bind(InForm(ListOf(TupleOf((OneOf(0), Constant("x"))), 1, 1), "csv"), [["a", "b,c"]])
    assert set(few_words(language(formed, {}), 10) or ()) == {b"a,x", b'"b,c",x'}
