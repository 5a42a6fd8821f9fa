"""`json` and `json schema`: what the mask accepts is read, and what is printed the mask accepts."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.automata.analysis.membership import is_word
from sglc.bytecode.serial import dumps, loads
from sglc.bytecode.verify import verify
from sglc.driver import compile_file, compile_source
from sglc.options import CompileOptions
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import BYTES
from sglc.runtime.vm.holes.fuzz import random_word
from sglc.source import Source
from sglc.types.json_values import json_number_text, number_of
from sglc.types.language.language import language
from sglc.types.language.membership import is_member
from sglc.types.notation.prompt_text import schema_text
from sglc.types.schema_language import SchemaTextError, schema_language, schema_text_of
from sglc.types.text.decode import MISSING, DecodeError, Growing, decode, decode_partial
from sglc.types.text.plain_json import from_json, to_json
from sglc.types.text.printer import print_value
from sglc.types.type import Json, ListOf, TupleOf

ANY = Json()
SCHEMAS = [
    {"type": "number", "minimum": 0, "maximum": 2},
    {"type": "integer", "multipleOf": 3},
    {"type": "string", "maxLength": 3, "pattern": '^[a\n"]*$'},
    {"enum": [1, "1", None, 1.5, [True], {"a": "b"}]},
    {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 4}, "age": {"type": "integer", "minimum": 0}},
        "required": ["age"],
        "additionalProperties": {"type": "boolean"},
        "maxProperties": 4,
    },
    {"type": "array", "items": {"$ref": "#"}, "maxItems": 2},
    {"$schema": "http://json-schema.org/draft-04/schema#", "type": "number", "not": {"type": "integer"}},
    {"oneOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]},
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False, places=3)
    | st.text('ab"\\\n\x7fé', max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('ab"\n', max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


def of_schema(schema: object) -> Json:
    return Json(schema_text_of(json.dumps(schema)))


def matcher_of(type):
    return compile_constraint(language=language(type, {})).matcher(BYTES)


def legal(type, text: str) -> bool:
    matcher = matcher_of(type)
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


@given(VALUES)
def test_every_value_prints_as_a_text_that_is_legal_and_reads_back(value):
    written = print_value(value, ANY, {})
    assert legal(ANY, written)
    assert decode(written, ANY, {}) == value
    assert is_member(value, ANY, {})


@pytest.mark.slow
@pytest.mark.parametrize("schema", [{}, *SCHEMAS], ids=lambda schema: json.dumps(schema)[:40])
@pytest.mark.parametrize("inside", [False, True])
def test_every_text_of_the_mask_is_read_and_prints_as_one(schema, inside):
    type = TupleOf((of_schema(schema), ANY)) if inside else of_schema(schema)
    for seed in range(25):
        text = random_word(matcher_of(type), Random(seed)).decode()
        value = decode(text, type, {})
        again = print_value(value, type, {})
        assert legal(type, again), (text, again)
        assert decode(again, type, {}) == value
        assert is_member(value, type, {})


@pytest.mark.parametrize(
    "text",
    [
        "1 ",
        "01",
        "1.",
        "1e5",
        "1E+05",
        "1e+5",
        "+1",
        "[1,2]",
        "[1 , 2]",
        '{"a":1}',
        '{"a": 1, "a": 2}',
        '"\\/"',
        '"\\u00e9"',
        "nul",
        "NaN",
        "",
        "[",
        '{"a": 1,}',
    ],
)
def test_other_spellings_are_neither_legal_nor_read(text):
    assert not legal(ANY, text)
    with pytest.raises(DecodeError):
        decode(text, ANY, {})


@pytest.mark.parametrize(
    ("text", "value", "again"),
    [
        ("12", 12, "12"),
        ("-0", 0, "0"),
        ("1.50", Decimal("1.50"), "1.50"),
        ("1e+05", Decimal("1e5"), "1e+05"),
        ("1.5e+01", Decimal(15), "15.0"),
        ("1e-07", Decimal("1e-7"), "0.0000001"),
        ("1.7e+308", Decimal("1.7e308"), "1.7e+308"),
    ],
)
def test_numbers_keep_their_kind(text, value, again):
    found = number_of(text)
    assert found == value
    assert found.__class__ is value.__class__
    assert json_number_text(found) == again
    assert number_of(again) == value
    assert legal(ANY, text)
    assert legal(ANY, again)


def test_a_value_outside_of_its_schema_is_no_member():
    person = of_schema(SCHEMAS[4])
    assert is_member({"age": 3, "x": True}, person, {})
    assert not is_member({"name": "Ann"}, person, {})
    assert not is_member({"name": "Annabel", "age": 3}, person, {})
    assert not is_member({"age": 3, "name": "Ann"}, person, {})  # not in the order of the schema


def test_floats_become_decimals():
    assert from_json({"a": [0.1, (1,)]}, ANY, {}) == {"a": [Decimal("0.1"), [1]]}
    assert to_json([Decimal("0.1")], ANY, {}) == [Decimal("0.1")]


def test_of_a_part_nothing_is_said_before_it_is_complete():
    assert decode_partial('{"a": 1', ANY, {}) is MISSING
    assert decode_partial('[{"a": 1}, {"a"', ListOf(ANY), {}) == Growing([{"a": 1}])


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{", "no JSON"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"minimum": NaN}', "NaN is no number"),
        ('{"type": "text"}', "type"),
        ("false", "no JSON value"),
        ("[" * 100_000, "nested"),
    ],
)
def test_a_text_that_is_no_schema_is_refused(source, reason):
    with pytest.raises(SchemaTextError, match=reason):
        schema_text_of(source)


def test_how_schemas_are_shown():
    recursive = of_schema(SCHEMAS[5])
    shown = json.loads(schema_text(ListOf(recursive), {}, "json"))
    assert shown["items"]["$ref" if "$ref" in shown["items"] else "$id"].startswith("urn:sgl:")
    assert json.loads(schema_text(of_schema(SCHEMAS[4]), {}, "json"))["required"] == ["age"]
    assert schema_text(ANY, {}) == "any JSON value"
    assert '"maxItems":2' in schema_text(recursive, {}, "prose")


def test_a_schema_file_lies_beside_the_source_and_becomes_part_of_the_program(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "size.json").write_text('{"type": "integer", "minimum": 0, "maximum": 9}')
    path = tmp_path / "in" / "p.sgl"
    path.write_text('fn f() -> json schema "size.json":\n    | ?{x: json schema "size.json"}\n    return x\n')
    program = compile_file(path, CompileOptions()).program
    assert program is not None
    data = dumps(program)
    assert str(tmp_path).encode() not in data
    (tmp_path / "in" / "size.json").unlink()
    again, faults = loads(data)
    assert faults == []
    assert again == program
    assert Json('{"type":"integer","minimum":0,"maximum":9}') in program.types


OLD = '{{"$schema": "http://json-schema.org/draft-0{}/schema#", "$ref": "other.json"}}'
FILES = {
    "in/root.json": '{"type": "object", "properties": {"a": {"$ref": "parts/a.json#/$defs/x"}}, '
    '"required": ["a"], "additionalProperties": false}',
    "in/parts/a.json": '{"$defs": {"x": {"type": "array", "items": {"$ref": "b.json"}, "maxItems": 1}}}',
    "in/parts/b.json": '{"anyOf": [{"type": "null"}, {"$ref": "a.json#/$defs/x"}, {"$ref": "../root.json"}]}',
}


def compiled(folder, files, name="root.json"):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    path = folder / "in" / "p.sgl"
    path.write_text(
        f'fn f() -> json schema "{name}":\n    | ?{{x: json schema "{name}" max 99 tok}}\n    return x\n'
    )
    return compile_file(path, CompileOptions())


def test_schema_files_may_refer_to_files_in_their_folder(tmp_path):
    found = compiled(tmp_path, FILES)
    assert found.program is not None
    (schema,) = [type for type in found.program.types if isinstance(type, Json) and type.schema]
    language = schema_language(schema.schema)
    texts = ['{"a": []}', '{"a": [null]}', '{"a": [[null]]}', '{"a": [{"a": []}]}', '{"a": 1}', '{"a": [1]}']
    assert [is_word(language, text) for text in texts] == [True] * 4 + [False] * 2
    assert verify(found.program) == []
    above = {"in/schemas/root.json": '{"$ref": "x.json"}', "in/schemas/x.json": '{"type": "null"}'}
    assert compiled(tmp_path, above, "schemas/root.json").program is not None


@pytest.mark.parametrize(
    ("root", "other", "reason"),
    [
        ('{"$ref": "../other.json"}', "true", "leads out of the schema's folder"),
        ('{"$ref": "%2e%2e/other.json"}', "true", "leads out of the schema's folder"),
        ('{"$ref": "none.json"}', "true", "which is not given"),
        ('{"$ref": "file:other.json"}', "true", "which is not given"),
        ('{"$ref": "other.json"}', '{"$id": "http://x.example/y"}', "has an id of its own"),
        ('{"$ref": "other.json"}', "{", "of `other.json`: it is no JSON"),
        ('{"$ref": "other.json#/a"}', "{}", "leads nowhere"),
    ],
)
def test_references_to_files_that_cannot_be_followed(tmp_path, root, other, reason):
    found = compiled(tmp_path, {"in/root.json": root, "in/other.json": other, "other.json": "true"})
    assert found.program is None
    assert any(reason in str(fault) for fault in found.diagnostics)


@pytest.mark.parametrize(
    ("root", "other"),
    [
        ('{"$ref": "other.json"}', "{}"),
        ('{"items": {"$ref": "other.json"}}', "true"),
        (OLD.format(7), '{"$ref": "#/definitions/a", "definitions": {"a": {}}}'),
        (OLD.format(4), '{"type": "null"}'),
    ],
)
def test_files_of_every_draft_are_found(tmp_path, root, other):
    assert compiled(tmp_path, {"in/root.json": root, "in/other.json": other}).program is not None


@pytest.mark.parametrize("schema", ["{", '{"type": "integer"}', '{"type":"text"}', "false"])
def test_an_artefact_with_another_schema_is_no_program(schema):
    program = compile_source(
        Source("p.sgl", "pure fn f(x: json) -> json:\n    return x\n"), CompileOptions()
    ).program
    assert program is not None
    assert verify(program) == []
    other = replace(program, types=(Json(schema), *program.types[1:]))
    assert any("JSON Schema" in fault.reason for fault in verify(other))
