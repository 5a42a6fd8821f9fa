"""The law of types in each form, against readers of the form that know nothing of the language."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from example_budget import examples
from oracles import term_oracle
from sglc.automata.analysis.emptiness import is_empty
from sglc.types.forms.texts import MOST_CHARS
from sglc.types.forms.yaml import BLOCK_LEVELS, LONGEST_KEY
from sglc.types.language.form_faults import form_fault
from sglc.types.language.language import language
from sglc.types.language.membership import is_member
from sglc.types.text.decode import MISSING, DecodeError, Growing, PartialFields, decode, decode_partial
from sglc.types.text.plain_json import to_json
from sglc.types.text.printer import print_value
from sglc.types.text.scalar_printer import PrintError
from sglc.types.type import (
    Alternatives,
    Bool,
    Constant,
    Dec,
    EnumType,
    FieldType,
    Float,
    InForm,
    Int,
    LanguageError,
    ListOf,
    MapOf,
    Named,
    Null,
    OneOf,
    Optional,
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    Type,
    UnionType,
    behind_names,
    matching,
)
from sglc.types.values import EnumValue, RecordValue
from strategies.typed_values import number_types, str_types, types, values_of, words_of

relaxed = settings(
    max_examples=examples(20),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
ENUM = EnumType("Post", ("pilot", "no", "null", "a, b"))
scalars = st.one_of(
    str_types(),
    number_types(),
    st.just(Bool()),
    st.sampled_from((Constant("EUR"), Constant(7), Named("Post"))),
)


@st.composite
def formed(draw: Any, *, defaults: bool = True) -> tuple[InForm, dict[str, Any]]:
    """A type that has a form, and its table."""
    form = draw(st.sampled_from(("yaml", "xml", "csv", "lines", "json")))
    size = draw(st.sampled_from(((0, None), (0, 2), (1, 3))))
    table: dict[str, Any] = {"Post": ENUM}
    if form == "lines":
        type: Type = ListOf(draw(scalars | scalars.map(Optional)), *size)
    elif form == "csv" and draw(st.booleans()):
        items = draw(st.lists(scalars | scalars.map(Optional), min_size=1, max_size=3))
        type = ListOf(TupleOf(tuple(items)), *size)
    elif form == "csv":
        fields = [
            FieldType(name, draw(scalars | scalars.map(Optional)), optional=draw(st.booleans()))
            for name in draw(st.lists(st.sampled_from(("a", "b", "c_d")), min_size=1, unique=True))
        ]
        table["Row"] = RecordType("Row", tuple(fields))
        type = ListOf(Named("Row"), *size)
    else:
        type, table = draw(types(defaults=defaults))
    found = InForm(type, form)
    assume(form_fault(found, table) is None)
    return found, table


@pytest.mark.slow
@relaxed
@given(formed(), st.data())
def test_a_printed_value_is_in_the_language_and_decodes_to_itself(typed, data):
    type, table = typed
    value = data.draw(values_of(type.item, table))
    assume(is_member(value, type, table))
    text = print_value(value, type, table)
    assert term_oracle.accepts(language(type, table), text.encode())
    assert decode(text, type, table) == value
    read_by_others(text, value, type, table)
    for end in range(len(text)):
        assert goes_on_to(decode_partial(text[:end], type, table), value)


@pytest.mark.slow
@relaxed
@given(formed(defaults=False), st.data())
def test_every_word_decodes_to_a_member_and_prints_back(typed, data):
    type, table = typed
    lang = language(type, table)
    assume(not is_empty(lang))
    word = data.draw(words_of(lang)).decode()
    value = decode(word, type, table)
    assert is_member(value, type, table)
    printed = print_value(value, type, table)
    assert decode(printed, type, table) == value
    read_by_others(printed if type.form in ("csv", "lines") else word, value, type, table)


@pytest.mark.slow
@relaxed
@given(formed(defaults=False), st.data())
def test_a_damaged_word_decodes_only_if_it_is_still_in_the_language(typed, data):
    type, table = typed
    lang = language(type, table)
    assume(not is_empty(lang))
    word = data.draw(words_of(lang)).decode()
    at, cut = data.draw(st.integers(0, len(word))), data.draw(st.integers(0, 2))
    put = data.draw(
        st.sampled_from(("", " ", "0", '"', "\\", "null", ",", "a", "- ", ".", "\n", "é", "&", "<"))
    )
    damaged = word[:at] + put + word[at + cut :]
    try:
        decode(damaged, type, table)
        decodes = True
    except DecodeError:
        decodes = False
    if term_oracle.accepts(lang, damaged.encode()):
        assert decodes
    elif decodes:
        assert any(len(number) > 15 for number in numbers_in(damaged))  # more digits than a hole writes


def numbers_in(text: str) -> Iterator[str]:
    return iter("".join(char if char.isdigit() else " " for char in text).split())


# -- readers of the forms ------------------------------------------------------------------------------------


def read_by_others(text: str, value: Any, type: InForm, table: Mapping[str, Any]) -> None:
    """What readers of the form find in a text is the value."""
    match type.form:
        case "json":
            assert alike(json.loads(text), to_json(value, type, table))
        case "yaml":
            assert alike(yaml.safe_load(text), to_json(value, type, table))
        case "lines":
            items = ["null" if item is None else cell(item) for item in value]
            lines = text.split("\n") if text else []
            assert len(lines) == len(items) and all(map(is_cell, lines, items, value))
        case "csv":
            rows = list(csv.reader(io.StringIO(text, newline="")))
            row = behind_names(type.item.item, table)
            if isinstance(row, Named):
                assert rows.pop(0) == [field.name for field in table[row.name].fields]
            names = [field.name for field in table[row.name].fields] if isinstance(row, Named) else []
            found = [[item.fields[name] for name in names] if names else item for item in value]
            assert len(rows) == len(found)
            for cells, item in zip(rows, found, strict=True):
                assert len(cells) == len(item) and all(map(is_cell, cells, map(cell, item), item))
        case "xml":
            root = ElementTree.fromstring(text)
            assert in_element(root, value)


def is_cell(found: str, written: str, value: Any) -> bool:
    """Whether a text is that of a value; floats have several, by the bounds of their type."""
    return float(found) == value if isinstance(value, float) else found == written


def cell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, EnumValue):
        return value.name
    if isinstance(value, Float | float):
        return print_value(value, Float(), {})
    return "" if value is None else format(value, "f") if isinstance(value, Decimal) else str(value)


def alike(found: Any, value: Any) -> bool:
    """Equal, where numbers may be of any kind."""
    if isinstance(value, dict):
        return (
            isinstance(found, dict)
            and list(found) == list(value)
            and all(alike(found[key], value[key]) for key in value)
        )
    if isinstance(value, list):
        return isinstance(found, list) and len(found) == len(value) and all(map(alike, found, value))
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return type(found) is type(value) and found == value
    return not isinstance(found, bool | str) and float(found) == float(value)


def in_element(element: ElementTree.Element, value: Any) -> bool:
    children = list(element)
    if value is None:
        return [child.tag for child in children] == ["null"]
    if isinstance(value, list | tuple):
        return len(children) == len(value) and all(map(in_element, children, value)) and not element.text
    if isinstance(value, RecordValue):
        tags = [child.tag for child in children]
        if value.variant is not None:
            assert tags.pop(0) == "type"
            assert children.pop(0).text == value.variant
        absent = set(value.fields) - set(tags)
        return (
            len(set(tags)) == len(tags)
            and all(value.fields[name] is None for name in absent)
            and all(in_element(child, value.fields[child.tag]) for child in children)
        )
    text = element.text or ""
    if isinstance(value, float):
        return float(text) == value
    return not children and (Decimal(text) == value if isinstance(value, Decimal) else text == cell(value))


def goes_on_to(partial: Any, value: Any) -> bool:
    """Whether what is said of a beginning holds of the whole."""
    if partial is MISSING:
        return True
    if isinstance(partial, PartialFields):
        fields = value.fields
        return partial.variant == value.variant and all(
            goes_on_to(part, fields[name]) for name, part in partial.fields.items()
        )
    if isinstance(partial, Growing):
        if isinstance(partial.value, str):
            return isinstance(value, str) and value.startswith(partial.value)
        if isinstance(partial.value, dict):
            return all(goes_on_to(part, value[key]) for key, part in partial.value.items())
        return len(partial.value) <= len(value) and all(map(goes_on_to, partial.value, value))
    return bool(partial == value)


# -- cases ---------------------------------------------------------------------------------------------------

WORDS = ["yes", "No", "on", "NULL", "~", "true", "1", "0x1F", "1e3", "12:30", "2024-01-01", ".5", "-", "- a"]
ODD = [
    "",
    " a",
    "a ",
    "a: b",
    "a #b",
    "a:",
    "#a",
    "'a'",
    '"a"',
    "a\nb",
    "a\tb",
    "[a]",
    "{a",
    "&a",
    "*a",
    "!a",
    "%a",
]
PLAIN = ["a", "Ada Lovelace", "https://x.org/a#b", "a, b & c", "it's", "É té", "_x", "no way", "a:b", "x [1]"]


@pytest.mark.parametrize("text", WORDS + ODD + PLAIN)
def test_texts_of_yaml_are_plain_exactly_where_every_reader_takes_them_for_texts(text):
    type = InForm(ListOf(Str()), "yaml")
    written = print_value([text], type, {})
    assert yaml.safe_load(written) == [text]
    assert (written == f"- {text}") == (text in PLAIN)
    assert decode(written, type, {}) == [text]
    if text in PLAIN:
        with pytest.raises(DecodeError):  # in another spelling
            decode(f"- {json.dumps(text, ensure_ascii=False)}", type, {})


TREE = RecordType("Tree", (FieldType("v", Int(0, 9)), FieldType("of", ListOf(Named("Tree")))))


@pytest.mark.parametrize("form", ["yaml", "xml"])
@pytest.mark.parametrize("levels", [1, BLOCK_LEVELS // 2, BLOCK_LEVELS // 2 + 1, BLOCK_LEVELS // 2 + 2, 20])
def test_types_that_contain_themselves_have_a_text_at_every_depth(form, levels):
    type, table = InForm(Named("Tree"), form), {"Tree": TREE}
    value = RecordValue("Tree", {"v": 0, "of": []})
    for _ in range(levels - 1):
        value = RecordValue("Tree", {"v": 1, "of": [value, value]} if levels < 8 else {"v": 1, "of": [value]})
    text = print_value(value, type, table)
    assert term_oracle.accepts(language(type, table), text.encode())
    assert decode(text, type, table) == value
    read_by_others(text, value, type, table)
    if form == "yaml":  # a record and its list are two levels
        assert ("[{" in text) == (levels > BLOCK_LEVELS // 2 + 1)


@pytest.mark.slow
@pytest.mark.parametrize("chars", [MOST_CHARS, MOST_CHARS + 1])
@pytest.mark.parametrize("form", ["xml", "csv"])
def test_bounds_of_texts_with_escapes(form, chars):
    type = InForm(ListOf(TupleOf((Str(max_chars=chars),))), form)
    fault = form_fault(type, {})
    assert (fault is None) == (chars <= MOST_CHARS)
    if fault is None:
        longest = print_value([("&" * chars,)], type, {})
        assert term_oracle.accepts(language(type, {}), longest.encode())


@pytest.mark.parametrize("length", [LONGEST_KEY, LONGEST_KEY + 1])
def test_keys_of_yaml_are_as_long_as_readers_take_them(length):
    type, value = InForm(MapOf(Str(), Int()), "yaml"), {"\x01" * length: 1}
    assert is_member(value, type, {}) == (length <= LONGEST_KEY)
    if length <= LONGEST_KEY:
        assert yaml.safe_load(print_value(value, type, {})) == value


@pytest.mark.parametrize(
    ("form", "item", "value"),
    [
        ("lines", ListOf(Str()), ["a\nb"]),
        ("lines", ListOf(Str()), [""]),
        ("lines", ListOf(Str()), ["a\x85b"]),
        ("xml", Str(), "a\rb"),
        ("xml", Str(), "a\x01"),
        ("yaml", ListOf(Str()), ["a\u2028b"]),
        ("yaml", Str(), "\ufeff"),
    ],
)
def test_what_a_form_cannot_hold_is_no_member(form, item, value):
    assert is_member(value, item, {})
    assert not is_member(value, InForm(item, form), {})
    with pytest.raises(PrintError):
        print_value(value, InForm(item, form), {})


TABLE = {
    "Flat": RecordType("Flat", (FieldType("a", Str()),)),
    "Deep": RecordType("Deep", (FieldType("a", ListOf(Str())),)),
    "Maybe": RecordType("Maybe", (FieldType("a", Optional(Str())),)),
}


@pytest.mark.parametrize(
    ("form", "type", "reason"),
    [
        ("csv", Str(), "a list of records"),
        ("csv", ListOf(Str()), "a record or a tuple"),
        ("csv", ListOf(Named("Deep")), "a list, where a field"),
        ("csv", ListOf(Named("Maybe")), "line be blank"),
        ("csv", ListOf(TupleOf((Alternatives((Int(), Str())), Int()))), "share the text"),
        ("lines", Named("Flat"), "list of scalars"),
        ("lines", ListOf(Named("Flat")), "record or union `Flat`"),
        ("lines", ListOf(Optional(Str())), "share the text 'null'"),
        ("lines", ListOf(Alternatives((Bool(), matching("t.*")))), "share the text 'true'"),
        ("xml", MapOf(Str(), Int()), "a map"),
        ("xml", Alternatives((Int(), Str())), "share the text"),
        ("xml", Alternatives((ListOf(Int()), Str())), "share the text ''"),
        ("yaml", Str(grammar="x"), "a text in a grammar"),
        ("xml", ListOf(SpanOf(0)), "a `span of` a text"),
    ],
)
def test_a_part_that_a_form_has_no_place_for_is_named(form, type, reason):
    fault = form_fault(InForm(type, form), TABLE)
    assert fault is not None
    assert reason in str(fault)


@pytest.mark.parametrize(
    ("form", "type"),
    [
        ("csv", ListOf(TupleOf((Alternatives((Int(), Constant("none"))), Optional(Str()))))),
        ("lines", ListOf(Alternatives((Int(), Constant("none"))))),
        ("lines", ListOf(Optional(Int()))),
        ("yaml", Alternatives((Int(), Str(), Null(), ListOf(Int())))),
    ],
)
def test_arms_that_are_apart_are_taken(form, type):
    assert form_fault(InForm(type, form), {}) is None


def test_values_of_the_run_stand_in_lines():
    spans = InForm(ListOf(SpanOf(0, text="one\ntwo", max_chars=3)), "lines")
    accepted = [text for text in ("one\ntwo", "two", "ne\none", "e\ntwo", "one two") if is_text(text, spans)]
    assert accepted == ["one\ntwo", "two", "ne\none", "e\ntwo"]
    words = InForm(ListOf(OneOf(0, frozenset({"a", "b\nc", "no"})), 1), "lines")
    assert [text for text in ("a", "b", "b\nc", "no\na") if is_text(text, words)] == ["a", "no\na"]
    quoted = InForm(OneOf(0, frozenset({"a", "no"})), "yaml")
    assert [text for text in ("a", "no", '"no"', '"a"') if is_text(text, quoted)] == ["a", '"no"']


def is_text(text: str, type: Type) -> bool:
    return term_oracle.accepts(language(type, {}), text.encode())


def test_growing_texts_are_read_as_far_as_they_are_clear():
    type = InForm(Named("Flat"), "xml")
    assert decode_partial("<Flat><a>x &amp; y &l", type, TABLE) == PartialFields(
        "Flat", {"a": Growing("x & y ")}
    )
    rows = InForm(ListOf(Named("Flat")), "csv")
    assert decode_partial('a\n"x ""y"', rows, TABLE) == Growing(
        [PartialFields("Flat", {"a": Growing('x "y')})]
    )
    assert decode_partial("", rows, TABLE) is MISSING
    assert decode_partial("- 1\n- 2", InForm(ListOf(Int()), "yaml"), {}) == Growing([1])
    kinds = UnionType("U", (RecordType("A", ()), RecordType("AB", (FieldType("n", Int()),))))
    assert decode_partial("type: A", InForm(Named("U"), "yaml"), {"U": kinds}) is MISSING


def test_no_language_is_made_of_a_form_that_a_type_has_not():
    with pytest.raises(LanguageError, match="a list of records"):
        language(InForm(Str(), "csv"), {})


def test_floats_of_yaml_are_floats_for_every_reader():
    for value in (1e22, 1.5e-7, 1e-100, 3.0, -0.25):
        text = print_value([value], InForm(ListOf(Float()), "yaml"), {})
        found = yaml.safe_load(text)[0]
        assert isinstance(found, float)
        assert found == value
    with pytest.raises(DecodeError):
        decode("- 1e22", InForm(ListOf(Float()), "yaml"), {})


def test_decimals_keep_their_digits():
    text = print_value([Decimal("1.50")], InForm(ListOf(Dec()), "lines"), {})
    assert text == "1.50"


def test_a_beginning_that_may_be_null_or_an_empty_record_is_neither():
    table = {"Nothing": RecordType("Nothing", ())}
    type = InForm(Optional(Named("Nothing")), "xml")
    assert decode_partial("<value>", type, table) is MISSING
    assert decode_partial("<value><", type, table) is MISSING
    assert decode_partial("<value><null/><", type, table) is None
    assert decode_partial("<value></", type, table) == RecordValue("Nothing", {})
