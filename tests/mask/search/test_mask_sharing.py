"""Masks found by shape are the masks that a search finds, whatever has been found before."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.search.mask_sharing import MaskSharing
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.core.options import SchemaOptions

_ALONE = itertools.count(300_000)
"""Limits that no other constraint has: each makes a machine of its own."""

VALUES: list[Any] = [
    {"type": "string"},
    {"type": "string", "maxLength": 3},
    {"type": "integer"},
    {"type": "boolean"},
    {"enum": ["a", "ab", 1]},
    {"const": None},
    {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
]
PIECES = [
    *(bytes([byte]) for byte in range(0x20, 0x7F)),
    b"\xc3",
    b"\xa9",
    b"\xc3\xa9",
    b'":',
    b'": ',
    b'": "',
    b'","',
    b'", "',
    b'"}',
    b'"},',
    b'{"',
    b'"a',
    b'"ab',
    b'a":',
    b'b":',
    b'":"","',
    b'": 1, "',
    b'a": "',
    b"}}",
    b"},{",
    b"1,",
    b'": {"a',
    b'"], "',
    b"]}",
    b'":{"',
    b', "',
    b'", "a',
    b"ab",
    b'ab"',
    b"1}",
    b'1, "b',
]
VOCABULARY = Vocabulary(PIECES)

names = st.sampled_from(["a", "ab", "abc", "b", "type", "typo", "é"])


def objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda properties, required, more: {
            "type": "object",
            "properties": properties,
            "required": [name for name in properties if name in required],
            "additionalProperties": more,
        },
        st.dictionaries(names, values, min_size=1, max_size=4),
        st.sets(names),
        st.sampled_from([False, True, {"type": "integer"}]),
    )


schemas = st.recursive(
    st.sampled_from(VALUES),
    lambda inner: st.one_of(
        objects(inner),
        st.builds(lambda a, b: {"anyOf": [a, b]}, inner, inner),
        st.builds(lambda item: {"type": "array", "items": item, "minItems": 1}, inner),
    ),
    max_leaves=6,
)


def alone(schema: Any, options: SchemaOptions) -> Constraint:
    limits = replace(ConstraintOptions(), max_terms=next(_ALONE))
    return compile_constraint(json_schema=schema, schema_options=options, options=limits)


def compare(matchers: tuple[Matcher, Matcher], choose: Any, steps: int) -> None:
    """A walk under two matchers of one constraint, which agree at each step."""
    one, other = matchers
    for _ in range(steps):
        row, expected = one.mask(), other.mask()
        assert np.array_equal(row, expected), (one.steps, VOCABULARY.unpack(row ^ expected))
        tokens = VOCABULARY.unpack(row)
        if not len(tokens):
            return
        token = int(tokens[choose(len(tokens))])
        assert one.accept(token) and other.accept(token)


@pytest.mark.slow
@given(
    some=st.lists(schemas, min_size=2, max_size=4),
    free=st.booleans(),
    random=st.randoms(use_true_random=False),
)
@settings(max_examples=examples(24), deadline=None)
def test_masks_by_shape_are_masks(some: list[Any], free: bool, random: Any) -> None:
    options = SchemaOptions(order="any", spelling="any") if free else SchemaOptions()
    for schema in some:
        shared = compile_constraint(json_schema=schema, schema_options=options)
        own = alone(schema, options)
        if shared.is_empty:
            assert own.is_empty
            continue
        with pytest.MonkeyPatch.context() as patch:
            searched = own.matcher(VOCABULARY)
            patch.setattr(searched._store._sharing, "find", lambda config: None, raising=False)
            compare((shared.matcher(VOCABULARY), searched), random.randrange, 25)


def read(matcher: Matcher, text: str) -> Matcher:
    assert matcher.accept_bytes(text.encode())
    return matcher


def test_keys_that_cannot_come_yet_are_not_legal() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "ab": {"type": "string"}},
        "required": ["ab"],
        "additionalProperties": {"type": "integer"},
    }
    matcher = read(compile_constraint(json_schema=schema).matcher(VOCABULARY), '{"')
    legal = {VOCABULARY.token_bytes[token] for token in VOCABULARY.unpack(matcher.mask())}
    assert legal and all(word.startswith(b"a") for word in legal)


def test_places_that_look_alike_share_a_mask() -> None:
    def schema(*others: str) -> Any:
        return {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("type", *others)},
            "required": ["type"],
            "additionalProperties": False,
        }

    options = SchemaOptions(order="any")
    limits = replace(ConstraintOptions(), max_terms=next(_ALONE))
    made = [
        compile_constraint(json_schema=schema(*others), schema_options=options, options=limits)
        for others in (("a",), ("b", "c"), ())
    ]
    inside = [read(constraint.matcher(VOCABULARY), '{"ty').trace_mask() for constraint in made]
    assert [trace.origin for trace in inside[:2]] == ["searched", "shared"]
    # Behind the last value, the object with no other key must end.
    after = [read(constraint.matcher(VOCABULARY), '{"type": "x"') for constraint in made]
    assert [matcher.trace_mask().origin for matcher in after] == ["searched"] * 3
    # Equal masks are one, however they were found.
    assert after[0].mask() is after[1].mask()
    assert not np.array_equal(after[0].mask(), after[2].mask())


def test_a_full_trie_begins_again() -> None:
    limits = replace(ConstraintOptions(), max_terms=next(_ALONE))
    options = SchemaOptions(order="any")
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in "abcdef"}}
    constraint = compile_constraint(json_schema=schema, schema_options=options, options=limits)
    matcher = constraint.matcher(VOCABULARY)
    matcher._store._sharing = MaskSharing(matcher.machine, VOCABULARY.columns, 2)
    matcher._store._search._sharing = matcher._store._sharing
    text = json.dumps({name: number for number, name in enumerate("abcdef")})
    twin = alone(schema, options).matcher(VOCABULARY)
    for byte in text.encode():
        assert np.array_equal(matcher.mask(), twin.mask())
        assert matcher.accept_bytes(bytes([byte])) and twin.accept_bytes(bytes([byte]))
    assert matcher.is_accepting()
