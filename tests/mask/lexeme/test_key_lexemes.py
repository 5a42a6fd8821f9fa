"""Tokens that end one key and begin another: masks are held to steps of single bytes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sglc.automata.dfa.operations import accepts
from sglc.automata.regex.compile import compile_regex
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.lexeme.key_dfa import KeyTable
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.core.options import SchemaOptions

INNER = {"type": "object", "properties": {"b": {"const": 1}, "bb": {"const": 2}}}
OPEN = {**INNER, "additionalProperties": {"const": 3}}
CLOSED = {**INNER, "additionalProperties": False}
ENDS = (b"", b' "', b'!"', b'  "', b'! "', b'a"', b'b"', b" ", b"a", b'z"', b'"')
BETWEEN = (b"", b': {"', b'": {"', b'": {')
KEYS = (
    b"",
    b"b",
    b"bb",
    b"c",
    b'b"',
    b'b": 1',
    b'bb": 1',
    b'c": 1',
    b'b": 2',
    b'bb": 2',
    b'c": 3',
    b'b": 3',
    b'"b": 1',
)
TOKENS = sorted({a + b + c for a, b, c in product(ENDS, BETWEEN, KEYS)} - {b""})


@pytest.mark.slow
@pytest.mark.parametrize("inner", [OPEN, CLOSED], ids=["open", "closed"])
@pytest.mark.parametrize("spelling", ["any", "canonical"])
def test_tokens_over_two_keys(inner, spelling):
    vocabulary = Vocabulary(tuple(TOKENS))
    constraint = compile_constraint(
        json_schema={"type": "object", "properties": {" ": inner, "a": inner}, "additionalProperties": inner},
        schema_options=SchemaOptions(order="any", spelling=spelling),
    )
    row = np.zeros(vocabulary.words, np.int32)
    for begin in (b"{", b'{"', b'{"a', b'{"a"', b'{"a": ', b'{"a": {"', b'{"a": {"b', b'{"a": {"b": 1, "'):
        matcher = constraint.matcher(vocabulary)
        assert matcher.accept_bytes(begin)
        matcher.fill_mask(row)
        found = {token for i, token in enumerate(TOKENS) if row[i >> 5] >> (i & 31) & 1}
        assert found == {token for token in TOKENS if matcher.clone().accept_bytes(token)}


def test_labels_of_many_keys_are_those_of_each_by_itself():
    patterns = {1: "(x-.*|ab?)", 2: "[0-9]+|y|", 3: "a.*"}
    families = {label: compile_regex(pattern) for label, pattern in patterns.items()}
    table = KeyTable({"abc": 0}, families, "json-any")
    keys = ["", "a", "ab", "abd", "x", "x-", "x-1", "7", "7a", "y", "yy", "b"]
    for begun in ("", "a", "x"):
        local = table.read(0, begun) if begun else 0
        assert local is not None
        rests = [key[len(begun) :] for key in keys if key.startswith(begun)]
        expected = [
            next((label for label, dfa in families.items() if accepts(dfa, begun + rest)), -1)
            for rest in rests
        ]
        assert table.labels_of_keys(local, rests) == expected
