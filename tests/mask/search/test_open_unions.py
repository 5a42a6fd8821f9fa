"""Unions of objects with keys in common that take others as well: masks are those of reading each token."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

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

_ALONE = itertools.count(700_000)
"""Limits that no other constraint has: each makes a machine of its own."""
PIECES = [
    *(bytes([byte]) for byte in range(0x20, 0x7F)),
    b"\xc3",
    b"\xa9",
    b"\xc3\xa9",
    b'\\"',
    b'":',
    b'": ',
    b'": "',
    b'","',
    b'", "',
    b'"},',
    b'{"',
    b'"a',
    b'"ab',
    b'a":',
    b'b":',
    b'"b": t',
    b"ab",
    b'ab": 1',
    b'c": 1, "',
    b'a": "',
    b'": {"a',
    b'x": ',
    b'abc": ',
    b'abcd": "',
    b'b": 1, "a',
    b'": "", "ab',
    b'b": true, "a": 1',
    b'", "b',
    b"1, ",
    b'p3": ',
]
VOCABULARY = Vocabulary(PIECES)
VALUES: list[Any] = [
    {"type": "string", "maxLength": 2},
    {"type": "integer"},
    {"type": "boolean"},
    {"const": 1},
]
NAMES = st.sampled_from(["a", "ab", "abc", "b", "bc", "é", 'q"'])


@st.composite
def unions(draw: st.DrawFn) -> Any:
    """A union of objects that take other keys, some of which have the same names."""
    arms = []
    for _ in range(draw(st.integers(3, 6))):
        properties = draw(st.dictionaries(NAMES, st.sampled_from(VALUES), max_size=4))
        arms.append(
            {
                "type": "object",
                "properties": properties,
                "required": [name for name in properties if draw(st.booleans())],
                "additionalProperties": draw(
                    st.sampled_from([True, {"type": "integer"}, {"type": "boolean"}])
                ),
            }
        )
    return {"anyOf": arms}


def compiled(schema: Any, options: SchemaOptions) -> Constraint:
    limits = replace(ConstraintOptions(), max_terms=next(_ALONE))
    return compile_constraint(json_schema=schema, schema_options=options, options=limits)


def stepped(matcher: Matcher) -> set[int]:
    """The tokens of whose bytes one after the other is taken."""
    return {number for number, data in enumerate(PIECES) if matcher.clone().accept_bytes(data)}


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
def test_masks_are_those_of_stepping(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shared with places that look alike, or not."""
    if not shared:
        monkeypatch.setattr(MaskSharing, "view", lambda self, config: None)

    @given(schema=unions(), free=st.booleans(), random=st.randoms(use_true_random=False))
    @settings(max_examples=examples(40), deadline=None)
    def check(schema: Any, free: bool, random: Any) -> None:
        options = SchemaOptions(order="any", spelling="any") if free else SchemaOptions()
        matcher = compiled(schema, options).matcher(VOCABULARY)
        for _ in range(18):
            tokens = VOCABULARY.unpack(matcher.mask()).tolist()
            assert set(tokens) == stepped(matcher)
            if not tokens:
                return
            # Those that leave keys come up more often.
            some = [token for token in tokens if b'"' in PIECES[token]]
            assert matcher.accept(random.choice(some if some and random.random() < 0.6 else tokens))

    check()


def test_arms_that_take_other_keys() -> None:
    arms = [
        {"type": "object", "properties": {f"p{number}": {"type": "integer"}, "a": {"const": number}}}
        for number in range(5)
    ]
    matcher = compiled({"anyOf": arms}, SchemaOptions(order="any")).matcher(VOCABULARY)
    assert matcher.accept_bytes(b'{"')
    assert set(VOCABULARY.unpack(matcher.mask()).tolist()) == stepped(matcher)
    # Behind `p3` one arm wants a number.
    assert matcher.accept_bytes(b'p3": ')
    legal = {PIECES[token] for token in VOCABULARY.unpack(matcher.mask()).tolist()}
    assert {b"1", b"{", b"t", b'"'} <= legal
    assert matcher.accept_bytes(b'"x", "a": ') and not matcher.clone().accept_bytes(b"3")
    assert matcher.accept_bytes(b"4}")


def test_a_name_that_has_been_used_is_no_other_key() -> None:
    arms = [
        {
            "type": "object",
            "properties": {name: {"type": "integer"}},
            "additionalProperties": {"type": "boolean"},
        }
        for name in ("a", "ab", "abc")
    ]
    matcher = compiled({"anyOf": arms}, SchemaOptions(order="any")).matcher(VOCABULARY)
    assert matcher.accept_bytes(b'{"a": 1, "')
    found = set(VOCABULARY.unpack(matcher.mask()).tolist())
    assert found == stepped(matcher)
    assert PIECES.index(b'a":') not in found and PIECES.index(b'b":') in found
