"""Any JSON value, which is one rule in all schemas that are written alike: masks around it are exact."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.term import Rule
from sglc.automata.term_digest import term_digest
from sglc.runtime.mask import workspaces
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.nodes.core import RuleNode
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.compile import compile_schema
from sglc.schema.core.options import SchemaOptions
from strategies.mask_cases import mask_of

PIECES: list[bytes | None] = [
    *(bytes([byte]) for byte in b'{}[]":, 0123456789-.truefalsnxyab\\\n'),
    b'": ',
    b'":',
    b'": "',
    b'", "',
    b'"}',
    b'{"',
    b'{"a',
    b'": [',
    b"]}",
    b"1, ",
    b'"a": ',
    b'"}, ',
    b"[[",
    b'["',
    b'{"a": "',
    b'"b": 1',
    b"12",
    b"true",
    b'": {"',
    b"}}",
    b'"x"}',
    b' "',
    b" [",
    b" {",
    b' "x", "',
    b" 1",
    b"[1",
    b"1]",
    b"1}",
    b'": 1.5, "',
    b' {"b": [1, 2], "x": {}}',
    b"[[]], ",
    b'"a": 1, "a',
    b'{"a":1}',
    b'1, "',
    b"1,",
    b'1, "b',
    b'1,"',
    b"-1, ",
    b"],[",
    b"[ ",
    b"{}",
    b"[]",
    b'{"a": 1, "a": 2',
    b"null, ",
]
OPTIONS = [
    SchemaOptions(order="any", spelling="any"),
    SchemaOptions(),
    SchemaOptions(spacing="flexible", blanks=1),
    SchemaOptions(order="any", spacing="compact", distinct=True),
]
VALUES: tuple[Any, ...] = (
    {},
    {"type": "number"},
    {"type": "array"},
    {"type": "object"},
    {"type": "string"},
    {"type": "array", "prefixItems": [{"type": "integer"}], "minItems": 1},
    {"enum": ["a", 1, None]},
    {"type": "object", "properties": {"a": {}}, "required": ["a"]},
)


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """Objects, alone and in unions, where values of every kind may stand at the same places."""
    arms = []
    values = st.sampled_from(({}, {"type": "number"})) | st.sampled_from(VALUES)
    for _ in range(draw(st.integers(1, 3))):
        names = ["a", *draw(st.lists(st.sampled_from("bx"), max_size=1))]
        arms.append(
            {
                "type": "object",
                "properties": {name: draw(values) for name in names},
                "required": draw(st.lists(st.sampled_from(names), unique=True)),
                "additionalProperties": draw(st.integers(0, 3)) == 0,
            }
        )
    return arms[0] if len(arms) == 1 else {"anyOf": arms}


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schemas(), st.sampled_from(OPTIONS), st.data())
def test_masks_around_any_value_are_exact(
    schema: dict[str, Any], options: SchemaOptions, data: st.DataObject
) -> None:
    vocabulary = Vocabulary(PIECES)
    matcher = compile_constraint(json_schema=schema, schema_options=options).matcher(vocabulary)
    # Mostly to the first value at once, where the arms differ.
    if data.draw(st.booleans()):
        matcher.accept_bytes(b'{"a": ')
    for _ in range(10):
        found = mask_of(matcher, vocabulary)
        legal = {token for token, piece in enumerate(PIECES) if matcher.clone().accept_bytes(piece or b"")}
        assert found == legal
        if not found:
            break
        assert matcher.accept(data.draw(st.sampled_from(sorted(found))))


def test_a_value_that_shares_a_place_with_another() -> None:
    """Two arms read one number: what follows it is not what follows any value."""
    any_value = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    number = any_value | {"properties": {"a": {"type": "number"}, "b": {}}, "required": ["b"]}
    schema = {"anyOf": [any_value, number]}
    found = compile_constraint(json_schema=schema, schema_options=OPTIONS[0])
    matcher = found.matcher(vocabulary := Vocabulary(PIECES))
    assert matcher.accept_bytes(b'{"a": ')
    legal = {token for token, piece in enumerate(PIECES) if matcher.clone().accept_bytes(piece or b"")}
    assert mask_of(matcher, vocabulary) == legal
    assert matcher.accept_bytes(b"1")
    assert {PIECES[token] for token in mask_of(matcher, vocabulary)} >= {b"}", b"0", b","}


def test_schemas_share_any_value() -> None:
    workspaces.clear()
    one = compile_constraint(json_schema={}, schema_options=OPTIONS[0])
    other = compile_constraint(json_schema={"type": "array", "items": {}}, schema_options=OPTIONS[0])
    assert one.machine is other.machine
    assert len([node for node in one.machine.nodes if isinstance(node, RuleNode)]) == 1
    compile_constraint(json_schema={}, schema_options=OPTIONS[1])
    assert len([node for node in one.machine.nodes if isinstance(node, RuleNode)]) == 2


def test_a_rule_of_its_own_is_the_same_rule() -> None:
    language = compile_schema({"type": "array"}, OPTIONS[0])
    (name,) = language.rules
    assert Rule(name) == Rule(name, own=True)
    assert compile_schema({"type": "array"}, OPTIONS[0]).rules[name] is language.rules[name]
    assert term_digest(language) == term_digest(compile_schema({"type": "array"}, OPTIONS[0]))
