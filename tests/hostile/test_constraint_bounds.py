"""Huge bounds are limited where they are read: a mask and the steps after it agree, or the constraint is
refused with the keyword that asks for too much."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import MOST_COUNTED, Array, Bytes, Language, Object, Repeat, Span, Term, Text
from sglc.runtime.mask import ConstraintError, UnsupportedConstraint, Vocabulary, compile_constraint
from sglc.runtime.mask.constraint import Constraint

VOCABULARY = Vocabulary(
    [bytes([byte]) for byte in range(256)] + [b"aa", b"aaa", b'{"', b'", ', b"[1", b"ab", b"abab", b'"a']
)
LETTERS = compile_regex("[a-z]*")
ODD = compile_regex("a(aa)*")
HUGE = (2**24, 2**29 - 1, 2**30, 2**31 - 2, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**30)
BEYOND = tuple(bound for bound in HUGE if bound > MOST_COUNTED)


def agree(constraint: Constraint, *, ends: bool = True) -> None:
    """The mask at the first places of texts is the set of the tokens that are accepted there, and so are the
    bytes that may come next, those that must, and the shortest completion (`ends`: it is not a long one)."""
    matcher = constraint.matcher(VOCABULARY)
    for at in range(8):
        legal = set(VOCABULARY.unpack(matcher.mask()).tolist())
        accepted = {token for token in range(VOCABULARY.size) if matcher.clone().accept(token)}
        assert legal == accepted, matcher.text()
        if not ends:
            matcher.accept(sorted(legal)[at % len(legal)])
            continue
        begins = {VOCABULARY.token_bytes[token][0] for token in legal}  # type: ignore[index]
        assert matcher.following() == len(begins), matcher.text()
        forced = matcher.forced()
        assert not forced or {forced[0]} == begins, matcher.text()
        assert matcher.clone().accept_bytes(matcher.shortest_completion()), matcher.text()
        if not legal:
            return
        matcher.accept(sorted(legal)[at % len(legal)])


@pytest.mark.slow
@pytest.mark.parametrize("bound", HUGE)
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "maxLength": ...},
        {"type": "string", "maxLength": ..., "pattern": "^[a-z]*$"},
        {"type": "array", "maxItems": ..., "items": {"const": 1}},
        {"type": "array", "maxContains": ..., "contains": {"const": 1}, "items": {"enum": [1, 2]}},
        {"type": "object", "maxProperties": ..., "additionalProperties": {"const": 1}},
        {"type": "integer", "minimum": ...},
        {"type": "integer", "maximum": ...},
    ],
)
def test_huge_maxima_are_kept(schema: dict[str, Any], bound: int) -> None:
    filled = {key: bound if value is ... else value for key, value in schema.items()}
    agree(compile_constraint(json_schema=filled))


@pytest.mark.slow
@pytest.mark.parametrize("bound", HUGE)
@pytest.mark.parametrize(
    "term",
    [
        lambda bound: Text(LETTERS, "raw", 0, bound),
        lambda bound: Text(ODD, "json-any", 0, bound),
        lambda bound: Repeat(Bytes(b"ab"), 0, bound),
        lambda bound: Span("hello world", "raw", 0, bound),
    ],
)
def test_huge_maxima_of_terms_are_kept(term: Any, bound: int) -> None:
    agree(compile_constraint(language=Language(term(bound))))


def test_the_largest_minimum_is_kept() -> None:
    for term in (Text(LETTERS, "raw", MOST_COUNTED), Repeat(Bytes(b"ab"), MOST_COUNTED)):
        agree(compile_constraint(language=Language(term)), ends=False)
    agree(compile_constraint(json_schema={"type": "string", "minLength": MOST_COUNTED}), ends=False)
    agree(
        compile_constraint(json_schema={"type": "array", "minItems": MOST_COUNTED, "items": {"const": 1}}),
        ends=False,
    )


@pytest.mark.parametrize("bound", BEYOND)
@pytest.mark.parametrize(
    ("keyword", "rest"),
    [
        ("minLength", {"type": "string"}),
        ("minLength", {"type": "string", "pattern": "^a+$", "maxLength": 10**31}),
        ("minItems", {"type": "array"}),
        ("minItems", {"type": "array", "uniqueItems": True}),
        ("minProperties", {"type": "object"}),
        ("minContains", {"type": "array", "contains": {"const": 1}}),
    ],
)
def test_huge_minima_of_schemas_are_refused_by_name(keyword: str, rest: dict[str, Any], bound: int) -> None:
    schema = {"type": "object", "properties": {"a": {**rest, keyword: bound}}, "required": ["a"]}
    with pytest.raises(UnsupportedConstraint) as fault:
        compile_constraint(json_schema=schema)
    assert (fault.value.keyword, fault.value.path) == (keyword, f"#/properties/a/{keyword}")
    assert "16,777,216" in str(fault.value)


@pytest.mark.parametrize("bound", BEYOND)
@pytest.mark.parametrize(
    "term",
    [
        lambda bound: Text(LETTERS, "raw", bound),
        lambda bound: Repeat(Bytes(b"ab"), bound),
        lambda bound: Span("hello", "raw", bound),
        lambda bound: Array(minimum=bound),
        lambda bound: Object(minimum=bound),
    ],
)
def test_huge_minima_of_terms_are_refused(term: Any, bound: int) -> None:
    made: Term = term(bound)
    with pytest.raises(ConstraintError, match="16,777,216"):
        compile_constraint(language=Language(made))


@pytest.mark.parametrize("count", ["{2147483648}", "{0,2147483648}", "{9223372036854775808,}", "{1000001}"])
def test_counts_of_patterns_are_refused_with_their_place(count: str) -> None:
    with pytest.raises(ConstraintError, match="a count may be at most 1000000") as fault:
        compile_constraint(regex=f"[a-z]{count}")
    assert fault.value.position == 5


@pytest.mark.parametrize(
    "value",
    [10**2000, Decimal("1E+1000000"), Decimal("1E-1000000"), Decimal("1E+999999999")],
    ids=["digits", "large", "small", "huge"],
)
def test_numbers_beyond_all_measure_are_refused_at_once(value: Any) -> None:
    for keyword in ("minimum", "maximum", "exclusiveMinimum", "multipleOf", "maxLength", "minLength"):
        with pytest.raises(ConstraintError, match=keyword):
            compile_constraint(json_schema={keyword: value})


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"multipleOf": 0.123456789}, "#/multipleOf"),
        ({"multipleOf": 1e9 + 7}, "#/multipleOf"),
        ({"type": "integer", "multipleOf": 2**31 - 1}, "#/multipleOf"),
        ({"multipleOf": 10**2000}, "#/multipleOf"),
        ({"allOf": [{"multipleOf": 7}, {"multipleOf": 10007}]}, "#/allOf/0/multipleOf"),
        ({"properties": {"a": {"not": {"multipleOf": 99991}}}}, "#/properties/a/not/multipleOf"),
    ],
)
def test_steps_that_need_too_many_states_are_not_supported(schema: dict[str, Any], path: str) -> None:
    with pytest.raises(UnsupportedConstraint) as fault:
        compile_constraint(json_schema=schema)
    assert (fault.value.keyword, fault.value.path) == ("multipleOf", path)
