"""Unions of objects that are alike, and what is known of a place without opening it: masks are exact."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.charset import LAST, leading_bytes
from sglc.automata.json.object_states import Label
from sglc.automata.json.unit_propagation import bit_set
from sglc.kernels.trie.word_list import WordList
from sglc.runtime.mask import workspaces
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.byte_sets import members, packed
from sglc.runtime.mask.gss.machine import GssMachine
from sglc.runtime.mask.lexeme.row_kinds import covered
from sglc.runtime.mask.nodes.object_parts import labels_of
from sglc.runtime.mask.search.mask_sharing import MaskSharing
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.core.options import SchemaOptions
from strategies.mask_cases import mask_of

ANY_ORDER = SchemaOptions(order="any", spelling="any")
PIECES: list[bytes | None] = [
    *(bytes([byte]) for byte in b'{}[]":, 0123456789-truefalsnxyab\\'),
    b'": ',
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
]
VALUES: tuple[Any, ...] = (
    {},
    {"type": "string"},
    {"type": "integer"},
    {"const": "x"},
    {"type": "array", "items": {"type": "string"}},
    {"type": "integer", "minimum": 10, "maximum": 21},
    {"enum": ["a", "ab", 1, True]},
    {"type": "boolean"},
)


@st.composite
def unions(draw: st.DrawFn) -> dict[str, Any]:
    """Objects whose keys overlap, some of which take any other key."""
    arms = []
    for _ in range(draw(st.integers(2, 5))):
        names = draw(st.lists(st.sampled_from("abxy"), min_size=1, max_size=3, unique=True))
        arm: dict[str, Any] = {
            "type": "object",
            "properties": {name: draw(st.sampled_from(VALUES)) for name in names},
            "required": draw(st.lists(st.sampled_from(names), unique=True)),
        }
        if draw(st.booleans()):
            arm["additionalProperties"] = False
        arms.append(arm)
    return {"anyOf": arms}


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
def test_masks_of_overlapping_objects_are_exact(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Masks that are not shared merge what is open."""
    if not shared:
        monkeypatch.setattr(MaskSharing, "view", lambda self, config: None)

    @settings(
        max_examples=examples(25),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    @given(unions(), st.data())
    def check(schema: dict[str, Any], data: st.DataObject) -> None:
        # Shapes of one machine would know masks that have been found with another limit.
        workspaces.clear()
        vocabulary = Vocabulary(PIECES)
        matcher = compile_constraint(json_schema=schema, schema_options=ANY_ORDER).matcher(vocabulary)
        for _ in range(14):
            found = mask_of(matcher, vocabulary)
            legal = {
                token for token, piece in enumerate(PIECES) if matcher.clone().accept_bytes(piece or b"")
            }
            assert found == legal
            if not found:
                break
            assert matcher.accept(data.draw(st.sampled_from(sorted(found))))

    check()
    workspaces.clear()


def _machine_of(schema: Any) -> tuple[GssMachine, int]:
    workspaces.clear()
    found = compile_constraint(json_schema=schema, schema_options=ANY_ORDER)
    assert isinstance(found.machine, GssMachine)
    return found.machine, found.start


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(unions(), st.sampled_from((b'{"a": ', b'{"x": "x", "b', b'{"b": [', b'{"y": 1', b'{"a": "x"')))
def test_bytes_behind_entries_are_those_of_the_closure(schema: dict[str, Any], text: bytes) -> None:
    machine, start = _machine_of(schema)
    machine.advance(start, text)
    behind = machine._beginnings.behind
    for cont in [cont for cont in range(1, len(machine._conts)) if behind(cont) is not None]:
        assert packed(machine.first_after(cont)) == packed(machine.first(machine.after(cont)))


def test_bytes_of_a_set() -> None:
    assert members(0) == frozenset()
    assert members(leading_bytes([(0x20, 0x22), (0xE9, 0xE9), (LAST, LAST)])) == {
        0x20,
        0x21,
        0x22,
        0xC3,
        0xF4,
    }


@given(st.lists(st.integers(1, 5), min_size=1, max_size=300), st.integers(0, 0xDA00))
def test_characters_of_many_edges(steps: list[int], start: int) -> None:
    """Gaps and ranges in turn: equal to what is found for few edges, taken together."""
    row: list[tuple[int, int, int]] = []
    for number, step in enumerate(steps):
        if number % 2 == 0:
            row.append((start, start + step - 1, number % 3))
        start += step - 1 + (number % 3 > 0)
    expected = {point for low, high, _ in row for point in range(low, high + 1)} - set(range(0xD800, 0xE000))
    found = covered(row)
    assert {point for low, high in found for point in range(low, high + 1)} == expected
    assert all(high + 1 < low for (_, high), (low, _) in itertools.pairwise(found))


@given(st.lists(st.text(max_size=5), unique=True).map(sorted))
def test_words_of_texts(texts: list[str]) -> None:
    made, plain = WordList.of_texts(texts), WordList([text.encode() for text in texts])
    assert made.bytes.tolist() == plain.bytes.tolist()
    assert made.starts.tolist() == plain.starts.tolist()
    assert made.plain == plain.plain


def test_labels_that_are_alike_are_one() -> None:
    one, two = (1,), (2,)
    assert labels_of([(one,), (one,)]) == [Label(((1,),))] * 2
    assert labels_of([(one,), (one, two), (two,)]) == [Label(((1,),)), Label(((1,), (2,))), Label(((2,),))]
    assert labels_of([]) == []


@given(st.sets(st.integers(0, 200)).map(sorted))
def test_numbers_as_bits(numbers: list[int]) -> None:
    assert bit_set(numbers) == sum(1 << number for number in numbers)
