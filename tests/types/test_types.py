"""Types as texts for models and people, values from and to JSON, partial values."""

from __future__ import annotations

import json
from decimal import Decimal

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden_case import golden_cases
from sglc.driver import compile_source
from sglc.source import Source
from sglc.types.language.language import language
from sglc.types.language.membership import MemberError
from sglc.types.notation.prompt_text import STYLES, schema_text
from sglc.types.notation.sgl import show_type
from sglc.types.text.decode import (
    MISSING,
    DecodeError,
    Growing,
    PartialFields,
    decode,
    decode_partial,
)
from sglc.types.text.plain_json import dumps, from_json, from_text, to_json
from sglc.types.text.printer import print_value
from sglc.types.type import (
    AliasType,
    Alternatives,
    Bool,
    Constant,
    Dec,
    EnumType,
    FieldType,
    Float,
    Int,
    LanguageError,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    RecordType,
    Str,
    TupleOf,
    Type,
    UnionType,
)
from sglc.types.values import EnumValue, RecordValue
from strategies.typed_values import number_types, str_types, types, values_of, words_of

CREW = RecordType(
    "Crew",
    (
        FieldType("name", Str(max_chars=20)),
        FieldType("post", Named("Post")),
        FieldType("age", Int(18, 70), optional=True),
        FieldType("skills", ListOf(Str(), 0, 3)),
        FieldType("pay", Dec(), has_default=True, default=Decimal("1.50")),
    ),
)
MAIL = UnionType("Mail", (RecordType("Bill", (FieldType("sum", Dec()),)), RecordType("Other", ())))
TABLE = {"Crew": CREW, "Mail": MAIL, "Post": EnumType("Post", ("engineer", "pilot", "medic"))}


def typed(declarations: str, notation: str) -> tuple[Type, dict]:
    """A type written in the language, through the compiler."""
    source = f"{declarations}\npure fn keep(_x: {notation}) -> int:\n    return 1\n"
    result = compile_source(Source("types.sgl", source))
    assert result.program is not None, [diagnostic.message for diagnostic in result.diagnostics]
    program = result.program
    return program.types[program.codes[program.entry["keep"]].parameters[0].type], dict(program.table)


@pytest.mark.parametrize("case", golden_cases("types/schema"), ids=str)
def test_schema_texts(case, golden):
    *declarations, last = case.input.splitlines()
    notation, _, style = last.rpartition(" ") if last.split()[-1] in STYLES else (last, "", None)
    golden(case, schema_text(*typed("\n".join(declarations), notation), style))


def test_an_unknown_style_is_refused():
    with pytest.raises(ValueError, match="no schema style yaml"):
        schema_text(Int(), {}, "yaml")


@given(types(), st.data())
@settings(max_examples=25)
def test_every_text_validates_against_the_json_schema(typed, data):
    type, table = typed
    schema = json.loads(schema_text(type, table, "json"), parse_float=Decimal)
    jsonschema.Draft202012Validator.check_schema(schema)
    word = data.draw(words_of(language(type, table, surface="json"))).decode()
    jsonschema.validate(json.loads(word, parse_float=Decimal), schema, jsonschema.Draft202012Validator)


@given(types(), st.sampled_from((None, *STYLES)))
@settings(max_examples=25)
def test_every_style_shows_every_type(typed, style):
    assert schema_text(*typed, style)


@given(str_types() | number_types())
@settings(max_examples=30)
def test_a_shown_scalar_type_parses_back(type):
    assert typed("", show_type(type))[0] == type


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (Str(3, 9, ("a+",)), "str min 3 chars max 9 chars matching /a+/"),
        (Str(until=("<<",), excludes=('"',)), r'str until "<<" not containing "\""'),
        (ListOf(Int(0), 2, 4), "[int in 0..; 2..4]"),
        (ListOf(Bool(), 2, 2), "[bool; 2]"),
        (MapOf(Str(), Dec(maximum=Decimal("0.5")), 0, 8), "{str: decimal in ..0.5; ..8}"),
        (Dec(multiple_of=Decimal("0.10")), "decimal multiple of 0.10"),
        (Optional(Alternatives((Constant("a"), Constant(1)))), '("a" | 1)?'),
        (TupleOf((Float(), Optional(Named("Crew")))), "(float, Crew?)"),
    ],
)
def test_types_are_shown_in_the_notation_of_the_language(type, text):
    assert show_type(type) == text


# --- JSON -------------------------------------------------------------------------------------------------

GOOD = {"name": "Ann", "post": "pilot", "skills": ["nets"]}


def test_data_becomes_typed_values():
    crew = from_json(GOOD, Named("Crew"), TABLE)
    assert crew == RecordValue(
        "Crew",
        {
            "name": "Ann",
            "post": EnumValue("Post", "pilot"),
            "age": None,
            "skills": ["nets"],
            "pay": Decimal("1.50"),
        },
    )
    assert from_json({"type": "Bill", "sum": 0.1}, Named("Mail"), TABLE).fields == {"sum": Decimal("0.1")}
    assert from_json([1, "x"], TupleOf((Float(), Str())), TABLE) == (1.0, "x")
    assert from_json(crew, Named("Crew"), TABLE) is crew


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {**GOOD, "post": "pilto"},
            'post: "pilto" is no member of Post (there are engineer, pilot, medic); did you mean pilot?',
        ),
        ({**GOOD, "age": 3}, "age: 3 is less than 18"),
        ({**GOOD, "age": "3"}, 'age: expected an integer, found "3"'),
        ({**GOOD, "age": True}, "age: expected an integer, found true"),
        ({**GOOD, "skills": ["a", 4]}, "skills[1]: expected text, found 4"),
        ({**GOOD, "skills": ["a"] * 4}, "skills: 4 items, at most 3 are allowed"),
        (
            {**GOOD, "skils": []},
            '"skils" is no field of Crew (there are name, post, age, skills, pay); did you mean skills?',
        ),
        ({"name": "Ann"}, "post: the field is missing"),
        (
            {**GOOD, "name": "a\ud800"},
            "name: a text with the lone surrogate U+D800, at 1, is no Unicode text",
        ),
        ([], "expected an object of Crew, found a list of 0"),
    ],
)
def test_wrong_data_is_refused_with_path_and_reason(data, message):
    with pytest.raises(MemberError) as caught:
        from_json(data, Named("Crew"), TABLE)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "type", "value"),
    [
        ("a, b", Str(), "a, b"),
        ("42", Int(), 42),
        ("0.10", Dec(), Decimal("0.10")),
        ("1e3", Float(), 1000.0),
        ("true", Bool(), True),
        ("pilot", Named("Post"), EnumValue("Post", "pilot")),
        ("null", Optional(Int()), None),
        ("7", Alternatives((Bool(), Int())), 7),
        ('{"a": 1.10}', MapOf(Str(), Dec()), {"a": Decimal("1.10")}),
    ],
)
def test_command_line_values(text, type, value):
    found = from_text(text, type, TABLE)
    assert found == value and repr(found) == repr(value)


@pytest.mark.parametrize(
    ("text", "type", "message"),
    [
        ("x", Int(), 'expected an integer, found "x"'),
        ("1.5", Int(), 'expected an integer, found "1.5"'),
        ("9" * 5000, Int(), "expected an integer"),
        ("[1, 2", ListOf(Int()), "no JSON: Expecting ',' delimiter at line 1, column 6"),
        ("[NaN]", ListOf(Float()), "no JSON: NaN is no number"),
        ('{"a": 1, "a": 2}', MapOf(Str(), Int()), 'no JSON: the key "a" stands twice'),
        ("[" * 100_000, ListOf(Int()), "no JSON: a number or the nesting is too large"),
        ("[" + "9" * 5000 + "]", ListOf(Int()), "no JSON: a number or the nesting is too large"),
    ],
)
def test_wrong_command_line_values(text, type, message):
    with pytest.raises(MemberError) as caught:
        from_text(text, type, TABLE)
    assert str(caught.value).startswith(message)


@given(types(), st.data())
@settings(max_examples=25)
def test_a_value_goes_out_to_json_and_comes_back(typed, data):
    type, table = typed
    value = data.draw(values_of(type, table))
    assert from_json(to_json(value, type, table), type, table) == value
    for indent in (None, 2):
        back = json.loads(dumps(value, type, table, indent=indent), parse_float=Decimal)
        assert from_json(back, type, table) == value


def test_decimals_are_written_exactly():
    type = ListOf(Dec())
    value = [Decimal("0.10"), Decimal("123456789012345678.0000000001")]
    assert dumps(value, type, {}) == "[0.10, 123456789012345678.0000000001]"
    assert dumps(value, type, {}, indent=1) == "[\n 0.10,\n 123456789012345678.0000000001\n]"


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        (Decimal(1) / Decimal(3), Dec(), "0.3333333333333333333333333333"),
        (Decimal("1E+5"), Dec(), "100000"),
        (Decimal("-0.0"), Dec(), "0.0"),
        (0.1 + 0.2, Float(), "0.30000000000000004"),
        (-0.0, Float(), "0.0"),
        (1e16, Float(), "1e+16"),
        (0.1, Float(None, Decimal("0.1")), "0.1"),
        (1e-5, Float(Decimal(0)), "0.00001"),
    ],
)
def test_numbers_are_printed_as_they_are(value, type, text):
    assert print_value(value, type, {}) == text


# --- decoding ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "type", "position"),
    [
        ("-0", Int(), 0),
        ("01", Int(), 0),
        ("4.50.1", Dec(), 0),
        ('{"name":"Ann"}', Named("Crew"), 1),
        ('{"name": "Ann", "post": "boss", "skills": []}', Named("Crew"), 24),
        ('["\\u0061"]', ListOf(Str()), 1),
        ("[1, 2,3]", ListOf(Int()), 5),
        ("[1] ", ListOf(Int()), 3),
        ('{"a": 1, "a": 2}', MapOf(Str(), Int()), 9),
        ('{"type": "Bull", "sum": 1}', Named("Mail"), 9),
    ],
)
def test_other_spellings_do_not_decode(text, type, position):
    with pytest.raises(DecodeError) as caught:
        decode(text, type, TABLE)
    assert caught.value.position == position


def test_deep_nesting_is_refused():
    table = {"Deep": AliasType("Deep", ListOf(Named("Deep")))}
    with pytest.raises(DecodeError, match="nested deeper"):
        decode("[" * 5000 + "]" * 5000, Named("Deep"), table)


def test_an_alias_of_itself_alone_has_no_language():
    table = {
        "A": AliasType("A", Optional(Named("B"))),
        "B": AliasType("B", Alternatives((Int(), Named("A")))),
    }
    with pytest.raises(LanguageError, match="defined by itself alone"):
        language(Named("A"), table)


def test_partial_values_hold_finished_fields_and_one_growing():
    def partial(text: str):
        found = decode_partial(text, Named("Crew"), TABLE)
        return found.fields if isinstance(found, PartialFields) else found

    pilot = EnumValue("Post", "pilot")
    assert partial("") is MISSING
    assert partial('{"na') == {}
    assert partial('{"name": "An') == {"name": Growing("An")}
    assert partial('{"name": "An\\') == {"name": Growing("An")}
    assert partial('{"name": "Ann", "post": "pil') == {"name": "Ann"}
    assert partial('{"name": "Ann", "post": "pilot"') == {"name": "Ann", "post": pilot}
    assert partial('{"name": "Ann", "post": "pilot", "age": 4') == {"name": "Ann", "post": pilot}
    assert partial('{"name": "Ann", "post": "pilot", "age": 42,') == {"name": "Ann", "post": pilot, "age": 42}
    assert partial('{"name": "Ann", "post": "pilot", "skills": ["a", "b')["skills"] == Growing(
        ["a", Growing("b")]
    )
    whole = '{"name": "Ann", "post": "pilot", "skills": ["a"]}'
    assert decode_partial(whole, Named("Crew"), TABLE) == decode(whole, Named("Crew"), TABLE)
    with pytest.raises(DecodeError):
        partial('{"name": 4')


def test_raw_text_is_always_growing_and_raw_numbers_never_appear():
    assert decode_partial("so f", Str(), {}) == Growing("so f")
    assert decode_partial("4", Int(), {}) is MISSING
    assert decode_partial("nul", Optional(Str()), {}) is MISSING
    assert decode_partial("numb", Optional(Str()), {}) == Growing("numb")


def _finished(part: object, whole: object) -> bool:
    """Whether a partial value says nothing that the whole does not."""
    if part is MISSING:
        return True
    if isinstance(part, PartialFields):
        assert isinstance(whole, RecordValue)
        return all(_finished(item, whole.fields[name]) for name, item in part.fields.items())
    if isinstance(part, Growing) and isinstance(part.value, str):
        return isinstance(whole, str) and whole.startswith(part.value)
    if isinstance(part, Growing) and isinstance(part.value, list):
        return all(_finished(a, b) for a, b in zip(part.value, whole, strict=False))
    if isinstance(part, Growing):
        return all(_finished(item, whole[key]) for key, item in part.value.items())
    return part == whole


@given(types(defaults=False), st.data())
@settings(max_examples=25)
def test_every_prefix_has_a_partial_value_that_the_whole_keeps(typed, data):
    type, table = typed
    word = data.draw(words_of(language(type, table))).decode()
    whole = decode(word, type, table)
    for cut in range(len(word) + 1):
        assert _finished(decode_partial(word[:cut], type, table), whole), word[:cut]


def test_null_means_null_where_null_is_allowed():
    assert decode("null", Optional(Str()), {}) is None
    with pytest.raises(DecodeError):
        decode("null", Alternatives((Constant("x"), Named("E"))), {"E": EnumType("E", ("a",))})
    assert decode('"null"', Optional(Str()), {}, surface="json") == "null"
    assert decode("null", Alternatives((Str(), Null())), {}) is None
