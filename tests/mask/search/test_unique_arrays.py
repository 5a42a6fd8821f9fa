"""Arrays of different items: masks against all arrays there are, and against what jsonschema finds valid."""

from __future__ import annotations

import json
import random
from itertools import product

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles.schema_oracle import _equal
from oracles.term_oracle import accepts
from sglc.automata.analysis.emptiness import shortest_words
from sglc.automata.analysis.membership import Membership
from sglc.automata.json.text import NotAValue, canonical, texts
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Arm, Array, Bytes, Choice, Language, Sequence, Term, Text, Words
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.compile import compile_schema
from sglc.schema.core.errors import UnsupportedSchema
from sglc.schema.core.options import SchemaOptions
from strategies.byte_vocabulary import BYTE_VOCABULARY, EXAMPLES, some
from strategies.mask_cases import brute_force, mask_of, shortest_by_search

ITEMS = (
    "1",
    "1.0",
    "1e0",
    "10",
    "0.1e1",
    "-0",
    "0",
    "true",
    "null",
    '"a"',
    '"\\u0061"',
    '"ab"',
    "[]",
    "[1]",
    "[1.0]",
    '{"a":1,"b":2}',
    '{"b":2.0,"a":1}',
    '{"a":1}',
    '{"a":1,"b":null}',
    "{}",
    '["a"]',
    "12",
)
"""Texts of items, some of which are equal."""


@st.composite
def finite_arrays(draw: st.DrawFn) -> tuple[Array, Language]:
    """An array of different items, and the same as all its texts."""
    some_texts = st.lists(st.sampled_from(ITEMS), min_size=3, max_size=6, unique=True)
    places = [draw(some_texts) for _ in range(draw(st.integers(0, 2)))]
    rest = draw(some_texts)
    most = draw(st.integers(0, 3))
    least = draw(st.integers(0, most))
    values = [{canonical(text) for text in part} for part in (*places, rest)]
    # No place can run out of values.
    assume(all(len(some) > place for place, some in enumerate(values[:-1])) and len(values[-1]) >= most)

    def item(part: list[str]) -> Term:
        words = frozenset(text.encode() for text in part)
        return Choice(tuple(Bytes(word) for word in sorted(words))) if draw(st.booleans()) else Words(words)

    comma = draw(st.sampled_from((b",", b", ")))
    array = Array(
        tuple((Arm(item(part)),) for part in places), (Arm(item(rest)),), least, most, (), Bytes(comma), True
    )
    every = set()
    for size in range(least, most + 1):
        parts = [places[index] if index < len(places) else rest for index in range(size)]
        for items in product(*parts):
            read = [json.loads(text) for text in items]
            if not any(_equal(a, b) for index, a in enumerate(read) for b in read[:index]):
                every.add(comma.join(text.encode() for text in items))
    return array, Language(Words(frozenset(every)))


def around(term: Term) -> Language:
    return Language(Sequence((Bytes(b"["), term, Bytes(b"]"))))


@pytest.mark.slow
@some(EXAMPLES * 2)
@given(finite_arrays(), st.integers(0, 2**32))
def test_masks_are_those_of_all_arrays(case: tuple[Array, Language], seed: int) -> None:
    array, every = case
    language = around(every.root)
    assert isinstance(every.root, Words)
    dice = random.Random(seed)
    words = [b"[" + word + b"]" for word in sorted(every.root.words)]
    pieces = [
        word[start : start + dice.randint(2, 9)] for word in words[:40] for start in range(0, len(word), 3)
    ]
    joined = [b"1,1", b"1,", b"1,true", b'","', b'","a"', b"0,-0", b"1],[1.0]", b",1,", b"10,1]", b"1, 1"]
    tokens = [bytes([byte]) for byte in sorted({*b'[]{}",:\\ ', *"".join(ITEMS).encode()})]
    vocabulary = Vocabulary([*tokens, *joined, *dice.sample(pieces, min(len(pieces), 25))])
    matcher = compile_constraint(language=around(array)).matcher(vocabulary)
    word = dice.choice(words)
    prefix = word[: dice.randint(0, len(word))]
    assert matcher.accept_bytes(prefix)
    expected = {vocabulary.token_bytes[index] for index in brute_force(language, prefix, vocabulary)}
    assert {vocabulary.token_bytes[index] for index in mask_of(matcher, vocabulary)} == expected, prefix
    assert matcher.is_accepting() == accepts(language, prefix)
    ending = matcher.shortest_completion()
    assert accepts(language, prefix + ending)
    if not array.places:
        slow = compile_constraint(language=around(array)).matcher(BYTE_VOCABULARY)
        assert slow.accept_bytes(prefix)
        assert len(ending) == shortest_by_search(slow, len(ending))
    found = shortest_words(around(array), 3)
    assert all(accepts(language, one) for one in found)
    assert len(found) == min(3, len(words)) and len(found[0]) == min(map(len, words))
    member = Membership(around(array))
    for one in (word, word.replace(b"1", b"1.0", 1), dice.choice(words)[:-1] + b"," + dice.choice(words)[1:]):
        assert (member.fault(one.decode()) is None) == accepts(language, one)


SCHEMAS = [
    {"items": {"type": ["integer", "null"]}},
    {"items": {"type": "string"}},
    {"items": {"type": "string", "pattern": "^[01]{1,2}$"}},
    {"items": {"type": ["string", "boolean", "number"]}},
    {},
    {"items": {"type": "object", "properties": {"n": {"enum": [1, 2]}, "m": {"type": "string"}}}},
    {"items": {"type": "array", "items": {"type": "number"}, "maxItems": 2}, "minItems": 2},
    {"prefixItems": [{"type": "boolean"}, {"type": "boolean"}], "minItems": 1},
    {"items": {"type": "integer", "minimum": 0, "maximum": 300}, "maxItems": 4, "minItems": 2},
    {"items": {"uniqueItems": True, "type": "array", "items": {"type": "string"}}},
]
ENDLESS = [schema for schema in SCHEMAS if "maxItems" not in schema]
"""Those of which numbers have every spelling."""
PIECES = [
    *(bytes([byte]) for byte in range(0x20, 0x7F)),
    b", ",
    b'", "',
    b"1, ",
    b"1, 1",
    b"0, 0",
    b"[], ",
    b"], [",
    b'": ',
    b'{"',
    b'"n"',
    b'"n": 1',
    b'"}, {"n',
    b"true, ",
    b"null, ",
    b", null",
    b"\\u00",
    b"\\u0061",
    b"e0",
    b".0",
    b"[1, 2",
    b'["a", "a',
    b'"a"',
    b'""',
    b', ""',
    b'"", "',
    "é".encode(),
    "é".encode()[:1],
]


@pytest.mark.slow
@pytest.mark.parametrize("freely", [False, True])
@some(EXAMPLES)
@given(st.sampled_from(SCHEMAS), st.booleans(), st.integers(0, 2**32))
def test_walks_write_different_values(
    freely: bool, schema: dict[str, object], inside: bool, seed: int
) -> None:
    schema = {"type": "array", "uniqueItems": True, **schema}
    if inside:
        schema = {"type": "array", "items": {"anyOf": [schema, {"const": ["0", "1", "0"]}]}}
    options = SchemaOptions(order="any", spelling="any") if freely else SchemaOptions()
    vocabulary = Vocabulary(PIECES)
    matcher = compile_constraint(json_schema=schema, schema_options=options).matcher(vocabulary)
    judge = jsonschema.Draft202012Validator(schema)
    dice = random.Random(seed)
    for _ in range(dice.randrange(1, 25)):
        legal = sorted(mask_of(matcher, vocabulary))
        if not legal:
            break
        # What is not in the mask is refused byte by byte too, and so exactly what is.
        for token in dice.sample(range(len(PIECES)), 12):
            assert matcher.clone().accept_bytes(PIECES[token]) == (token in legal), PIECES[token]
        likely = [token for token in legal if PIECES[token] in b'01",]'] if dice.randrange(3) else legal
        assert matcher.accept(dice.choice(likely or legal))
    ending = matcher.shortest_completion()
    whole = matcher.text() + ending
    assert judge.is_valid(json.loads(whole)), whole
    assert matcher.accept_bytes(ending)
    assert matcher.is_accepting()


@some(EXAMPLES * 2)
@given(st.lists(st.sampled_from(ITEMS), min_size=1, max_size=4), st.sampled_from(ENDLESS))
def test_arrays_are_legal_exactly_if_they_are_valid(items: list[str], schema: dict[str, object]) -> None:
    schema = {"type": "array", "uniqueItems": True, **schema}
    text = "[" + ", ".join(items).replace(",", ", ").replace(",  ", ", ").replace('":', '": ') + "]"
    options = SchemaOptions(order="any", spelling="any")
    matcher = compile_constraint(json_schema=schema, schema_options=options).matcher(BYTE_VOCABULARY)
    legal = matcher.accept_bytes(text.encode()) and matcher.is_accepting()
    assert legal == jsonschema.Draft202012Validator(schema).is_valid(json.loads(text)), text


@some(EXAMPLES * 2)
@given(st.sampled_from(ITEMS), st.sampled_from(ITEMS))
def test_texts_of_a_value_are_those_that_mean_it(one: str, other: str) -> None:
    equal = _equal(json.loads(one), json.loads(other))
    assert (canonical(one) == canonical(other)) == equal
    assert accepts(Language(texts(canonical(one))), other.encode()) == equal


BESIDE = {
    "anyOf": [
        {"type": "array", "uniqueItems": True, "maxItems": 3},
        {"type": "array", "items": {"$ref": "#/$defs/tree"}, "minItems": 4},
        {"type": "array", "items": {"$ref": "#/$defs/tree"}, "maxItems": 2},
    ],
    "$defs": {"tree": {"type": ["array", "integer"], "items": {"$ref": "#/$defs/tree"}}},
}
"""Behind a comma the rule of trees is asked for before two continuations, different items before a third."""


@pytest.mark.parametrize("size", range(5))
def test_different_items_stand_beside_others_that_begin_alike(size: int) -> None:
    constraint = compile_constraint(json_schema=BESIDE)
    for items in product(("1", "2", "[1, 1]", "null"), repeat=size):
        text = f"[{', '.join(items)}]"
        matcher = constraint.matcher(BYTE_VOCABULARY)
        legal = matcher.accept_bytes(text.encode()) and matcher.is_accepting()
        assert legal == jsonschema.Draft202012Validator(BESIDE).is_valid(json.loads(text)), text


def test_an_item_is_dead_where_only_used_values_are_left() -> None:
    digits = Text(compile_regex("[12]|[3-9][0-9]*"))
    matcher = compile_constraint(language=around(Array(rest=(Arm(digits),), distinct=True))).matcher(
        BYTE_VOCABULARY
    )
    assert matcher.accept_bytes(b"[1, 3, ")
    assert bytes(matcher.allowed().tolist()) == b"23456789"
    assert matcher.accept_bytes(b"3")
    assert bytes(matcher.allowed().tolist()) == b"0123456789"


def test_what_may_run_out_of_values_is_refused() -> None:
    for schema in (
        {"items": {"type": "integer", "minimum": 0, "maximum": 9999}},
        {"items": {"type": "number"}, "prefixItems": [{"const": 1}, {"const": 1}], "minItems": 2},
        {"items": {"type": "array", "uniqueItems": True, "items": {"type": "number"}}},
        {"items": {"type": "number"}, "contains": {"minimum": 5}, "minContains": 2},
    ):
        with pytest.raises(UnsupportedSchema) as refused:
            compile_schema({"type": "array", "uniqueItems": True, **schema})
        assert (refused.value.keyword, refused.value.path) == ("uniqueItems", "#/uniqueItems")


def test_what_is_no_value_cannot_be_compared() -> None:
    with pytest.raises(NotAValue, match="nested too deeply"):
        canonical("[" * 100_000 + "]" * 100_000)
    with pytest.raises(NotAValue, match="cannot be told apart"):
        texts(canonical("1e5000"))
    with pytest.raises(NotAValue, match="no JSON value"):
        canonical("NaN")
