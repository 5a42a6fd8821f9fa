"""Values held against a JSON Schema: `jsonschema` gives the same answers; the part at fault; the work."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from random import Random

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.automata.analysis.membership import Membership, Recogniser
from sglc.driver import compile_source
from sglc.options import CompileOptions
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session
from sglc.source import Source
from sglc.types.json_values import json_value_text
from sglc.types.language.json_membership import json_fault, ordered_json
from sglc.types.language.membership import MemberError, is_member
from sglc.types.schema_language import schema_language, schema_text_of
from sglc.types.text.plain_json import from_json
from sglc.types.type import Json, ListOf

ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 5},
        "tags": {"type": "array", "items": {"enum": ["x", "yy", None]}, "minItems": 2, "maxItems": 3},
        "name": {"type": "string", "minLength": 2, "maxLength": 4},
        "part": {"$ref": "#/$defs/part"},
    },
    "required": ["id"],
    "maxProperties": 4,
    "$defs": {
        "part": {
            "type": "object",
            "properties": {"ok": {"type": "boolean"}, "part": {"$ref": "#/$defs/part"}},
            "required": ["ok"],
            "additionalProperties": False,
        }
    },
}
TYPE = Json(schema_text_of(json.dumps(ORDER)))
LEAVES = st.sampled_from([0, 5, 12, True, None, "x", "yy", "name", "longer", Decimal("7.5")])
PARTS = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(LEAVES, max_size=4)
        | st.dictionaries(st.sampled_from(["ok", "part", "id"]), inner, max_size=3)
    ),
    max_leaves=4,
)
VALUES = PARTS | st.dictionaries(
    st.sampled_from(["id", "tags", "name", "part", "more"]),
    st.sampled_from([5, 12, ["x", None], ["x", "yy", "x"], "name", {"ok": True}]) | PARTS,
    max_size=5,
)


def valid(value: object) -> bool:
    return jsonschema.Draft202012Validator(ORDER).is_valid(json.loads(json_value_text(value)))


@given(VALUES)
def test_a_value_in_the_order_of_the_schema_is_a_member_where_it_is_valid(value):
    ordered = ordered_json(value, TYPE)
    assert ordered == value
    assert is_member(ordered, TYPE, {}) == valid(value)


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"id": 3}, '["id"]', "3 does not satisfy"),
        ({"id": Decimal("5.5")}, '["id"]', "5.5 does not satisfy"),
        ({"id": "x"}, '["id"]', '"x" does not satisfy'),
        ({}, "", "{} ends where more keys are due"),
        ({"id": 5, "tags": ["x"]}, '["tags"]', '["x"] ends where more items are due'),
        ({"id": 5, "tags": ["x", "z"]}, '["tags"][1]', '"z" does not satisfy'),
        ({"id": 5, "tags": ["x"] * 4}, '["tags"]', "has items that are not allowed"),
        ({"id": 5, "name": "q"}, '["name"]', '"q" does not satisfy'),
        ({"id": 5, "name": "quite"}, '["name"]', '"quite" does not satisfy'),
        ({"id": 5, "part": {"ok": True, "part": {"no": 1}}}, '["part"]["part"]', 'the key "no" is not'),
        ({"id": 5, "a": 1, "b": 2, "c": 3, "d": 4}, "", 'the key "d" is not allowed'),
        ([1], "", "[1] does not satisfy"),
        ({"name": "name", "id": 5}, "", "do not have the order"),
    ],
)
def test_the_part_at_fault_is_named(value, path, reason):
    found = json_fault(value, TYPE)
    assert found is not None
    assert found[0] == path
    assert reason in found[1]


def test_keys_of_a_value_from_outside_get_the_order_of_the_schema():
    given = {"more": 1, "part": {"part": {"ok": True}, "ok": False}, "name": "name", "id": 9}
    value = from_json([given], ListOf(TYPE), {})
    assert value == [given]
    assert list(value[0]) == ["id", "name", "part", "more"]
    assert list(value[0]["part"]) == ["ok", "part"]
    with pytest.raises(MemberError) as fault:
        from_json([given, {"id": 1}], ListOf(TYPE), {})
    assert fault.value.path == '[1]["id"]'


def test_the_work_grows_with_the_length_of_the_text():
    """Counted in steps of the recogniser, a long text takes as many for each character as a short one."""
    each = {"id": 7, "tags": ["x", "yy"], "name": 'a"b', "part": {"ok": True, "part": {"ok": False}}}
    type = Json(schema_text_of(json.dumps({"type": "array", "items": {"$id": "urn:order", **ORDER}})))
    work = {}
    for size in (10, 200):
        written = json_value_text([each] * size)
        recogniser = Recogniser(Membership(schema_language(type.schema)), written)
        assert len(written) in recogniser.ends(recogniser.membership.language.root, 0)
        work[size] = recogniser.work / len(written)
    assert work[200] < 1.2 * work[10]
    assert work[200] < 10


PROGRAM = """record Part:
    ok: bool
    size?: int in 1..9

pure fn typed(x: json) -> str:
    let parts: [Part] = x["parts"]
    let first: json schema {"type": "object", "properties": {"ok": {"type": "boolean"}}} = x["parts"][0]
    return "${parts} ${first["ok"]}"
"""


def run(argument: object) -> str:
    program = compile_source(Source("p.sgl", PROGRAM), CompileOptions()).program
    assert program is not None
    engine = ReferenceEngine(ScriptedModel())
    try:
        return asyncio.run(Session(program, engine).run("typed", {"x": argument})).value
    finally:
        engine.close()


@pytest.mark.parametrize("seed", range(3))
def test_parts_of_json_are_given_types(seed):
    size = Random(seed).randint(1, 9)
    assert run({"parts": [{"ok": True}, {"size": size, "ok": False}]}) == (
        f'[{{"ok": true}}, {{"ok": false, "size": {size}}}] true'
    )


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ({"parts": [{"ok": True}, {"ok": True, "size": 10}]}, "[1].size: 10 is more than 9"),
        ({"parts": [{"ok": True}, {"okay": True}]}, '[1]: "okay" is no field of Part'),
        ({"parts": {"ok": True}}, "expected a list, found a map"),
    ],
)
def test_a_part_that_does_not_fit_is_named(argument, reason):
    with pytest.raises(Exception, match="outside of its type") as fault:
        run(argument)
    assert reason in str(fault.value)


@pytest.mark.parametrize(
    ("schema", "given", "taken"),
    [
        ('{"const": 1.50}', "1.50", "1.5"),
        ('{"const": 1.0}', "1.0", "1"),
        ('{"type": "number"}', "1.50", "1.50"),
        ('{"const": 1.5}', "2.50", "2.50"),
    ],
)
def test_a_number_of_a_constant_may_have_needless_digits(schema: str, given: str, taken: str) -> None:
    assert str(ordered_json(Decimal(given), Json(schema))) == taken
