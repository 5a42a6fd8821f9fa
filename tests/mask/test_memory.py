"""What is kept between constraints is bounded in bytes, and what nobody can ask for any more is released."""

from __future__ import annotations

import gc
import json
import random
import sys
import tracemalloc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sglc.automata import caches
from sglc.automata.caches import BoundedCache, LeastUsed, remembered, size_of
from sglc.automata.regex.compile import compile_regex
from sglc.runtime.mask import clear_caches, limit_caches, workspaces
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.compile import compile_schema
from sglc.schema.core.options import SchemaOptions

PIECES = [bytes([byte]) for byte in range(256)] + [
    b'{"',
    b'": ',
    b'", "',
    b"ab",
    b"12",
    b'"a',
    b"a1",
    b"]}",
    b", ",
    "é".encode(),
    b"aaaa",
    *[b"%c%c" % (one, other) for one in range(97, 123) for other in range(97, 123)],
]
ANY = SchemaOptions(order="any", spelling="any")


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary(PIECES)


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    clear_caches()
    yield
    clear_caches()


def schema(number: int) -> dict[str, Any]:
    """A schema like no other one, but with parts that all have."""
    items = {"enum": ["a", number]}
    return {
        "type": "object",
        "properties": {
            f"k{number}": {"type": "string", "pattern": f"^[a-z]{{2,{3 + number % 90}}}x{number}$"},
            "of": {"anyOf": [{"type": "integer", "maximum": number}, {"type": "array", "items": items}]},
            "more": {},
        },
        "required": [f"k{number}"],
    }


def text(number: int) -> bytes:
    return f'{{"k{number}": "abx{number}", "of": ["a"], "more": [1, {{"z": null}}]}}'.encode()


def rows_of(constraint: Constraint, vocabulary: Vocabulary, data: bytes) -> list[bytes]:
    """The masks before every seventh byte of a text."""
    matcher = constraint.matcher(vocabulary)
    row = np.zeros(vocabulary.words, np.int32)
    found = []
    for at in range(0, len(data), 7):
        matcher.fill_mask(row)
        found.append(row.tobytes())
        assert matcher.accept_bytes(data[at : at + 7])
    assert matcher.is_accepting()
    return found


def serve(count: int, vocabulary: Vocabulary, options: ConstraintOptions) -> list[bytes]:
    """Compile and use so many constraints, none of which is kept."""
    found: list[bytes] = []
    for number in range(count):
        made = compile_constraint(json_schema=schema(number), schema_options=ANY, options=options)
        found += rows_of(made, vocabulary, text(number))
    return found


@pytest.mark.slow
def test_300_schemas_leave_nothing_behind(vocabulary: Vocabulary) -> None:
    """What is left is that of the vocabulary, some rows of classes, and of the interpreter."""
    options = ConstraintOptions(table_bytes=4 << 20)
    serve(3, vocabulary, options)
    clear_caches()
    gc.collect()
    before = sys.getallocatedblocks()
    serve(300, vocabulary, options)
    gc.collect()
    kept = sys.getallocatedblocks()
    clear_caches()
    gc.collect()
    left = sys.getallocatedblocks()
    # The workspace that is used holds a few score of schemas; all of them are five times as much.
    assert 30_000 < kept - before < 300_000
    assert left - before < 5_000


@pytest.mark.slow
def test_a_smaller_budget_is_less_memory_and_the_same_masks(vocabulary: Vocabulary) -> None:
    used, rows = [], []
    for options in (
        ConstraintOptions(mask_bytes=64 << 20, table_bytes=64 << 20),
        ConstraintOptions(mask_bytes=64 << 10, table_bytes=256 << 10),
    ):
        clear_caches()
        gc.collect()
        tracemalloc.start()
        try:
            rows.append(serve(24, vocabulary, options))
            found = sum(map(len, rows[-1]))
            gc.collect()
            used.append(tracemalloc.get_traced_memory()[0] - found)
        finally:
            tracemalloc.stop()
    assert rows[0] == rows[1]
    assert used[1] < used[0] / 2


def test_masks_lexemes_and_signatures_share_their_bytes(vocabulary: Vocabulary) -> None:
    """Half of the bytes are for masks, a quarter for walks of leaves, an eighth for masks by shape."""
    options = ConstraintOptions(mask_bytes=16_000)
    serve(12, vocabulary, options)
    store = workspaces.get(options).store(vocabulary)
    row = 4 * vocabulary.words
    assert 7_500 < len(store.masks) * row <= 8_000
    assert 3_000 < store._walks._lexemes.bytes <= 4_000
    assert len(store._sharing._masks) * row <= 2_000


@pytest.mark.slow
def test_machines_that_nobody_can_ask_are_gone_at_once(vocabulary: Vocabulary) -> None:
    """Without the garbage collector: constraints, matchers and their clones hold them, nothing else."""
    gc.collect()
    gc.disable()
    try:
        options = ConstraintOptions(max_terms=199_004)
        made = compile_constraint(json_schema=schema(1), schema_options=ANY, options=options)
        matcher = made.matcher(vocabulary)
        machine = weakref.ref(made.machine)
        rows = rows_of(made, vocabulary, text(1))
        before = len(gc.get_objects())
        workspaces.clear()
        del made
        # The matcher goes on: its rules are still compiled, its masks found.
        twin = matcher.clone()
        del matcher
        assert twin.accept_bytes(text(1))
        assert twin.is_accepting()
        assert machine() is not None
        del twin
        assert machine() is None
        assert len(gc.get_objects()) < before
    finally:
        gc.enable()
    again = compile_constraint(json_schema=schema(1), schema_options=ANY, options=options)
    assert rows_of(again, vocabulary, text(1)) == rows


@pytest.mark.slow
def test_the_collector_has_little_to_look_at(vocabulary: Vocabulary) -> None:
    """A full collection takes as long as there are objects and references between them: a few for each mask
    and part, none for each place in a text."""
    gc.collect()
    before = len(gc.get_objects())
    options = ConstraintOptions(max_terms=199_005)
    made = compile_constraint(regex="[a-f]{3000,4000}!", options=options)
    matcher = made.matcher(vocabulary)
    for number in range(3_000):
        assert matcher.accept(97 + number % 6)
    assert len(made.machine.configs) > 3_000
    history = matcher.steps
    # Tuples of numbers are no longer looked at once a collection has seen them.
    for _ in range(3):
        gc.collect()
    assert len(gc.get_objects()) - before - history < 1_200


def tracked() -> int:
    """How many objects the collector looks at. It has done with tuples and dicts of numbers and texts once it
    has seen them, and with those that hold such at the next collection."""
    for _ in range(4):
        gc.collect()
    return len(gc.get_objects())


def record(number: int) -> dict[str, Any]:
    """A schema as people write them: objects in objects, lists, names of its own."""
    texts = {f"{name}{number}": {"type": "string"} for name in ("title", "note", "path")}
    person = {
        "type": "object",
        "properties": {"name": {"type": "string"}, f"age{number}": {"type": "integer", "minimum": 0}},
        "required": ["name", f"age{number}"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {**texts, "by": person, f"all{number}": {"type": "array", "items": person}},
        "required": ["by", *texts],
    }


def test_the_language_of_a_schema_is_made_again(vocabulary: Vocabulary) -> None:
    """It is not kept; a constraint that moves to another workspace has the same masks there."""
    tree = {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}, "$ref": "#/$defs/t"}
    for given, data in ((schema(1), text(1)), (tree, b"[[], [[]]]")):
        made = compile_constraint(json_schema=given, schema_options=ANY)
        copy = json.loads(json.dumps(given))
        given.clear()  # as the caller may
        assert made.language == compile_schema(copy, ANY)
        before, rows = made.machine, rows_of(made, vocabulary, data)
        # As if its workspace were full with other constraints.
        seat = made._seat
        seat.workspace.budget = seat.most = 0
        seat.workspace.matchers += 100
        assert rows_of(made, vocabulary, data) == rows
        assert made.machine is not before


@pytest.mark.slow
def test_a_kept_constraint_is_few_objects(vocabulary: Vocabulary) -> None:
    """A full collection takes as long as there are objects: a program that keeps hundreds of constraints
    pays for them with a pause."""
    options = ConstraintOptions(max_terms=199_006)
    count = 40

    def use(number: int) -> Constraint:
        made = compile_constraint(json_schema=record(number), options=options)
        matcher = made.matcher(vocabulary)
        row = np.zeros(vocabulary.words, np.int32)
        for byte in matcher.shortest_completion():
            matcher.fill_mask(row)
            assert matcher.accept(byte)
        return made

    first = use(count)
    before = tracked()
    kept = [use(number) for number in range(count)]
    # It was 300 with the terms, an object for each entry, and lists of numbers.
    assert (tracked() - before) / count < 100
    assert first.machine is kept[0].machine


@pytest.mark.slow
def test_masks_leave_few_objects(vocabulary: Vocabulary) -> None:
    """What texts leave is bounded by the caches: four times as many masks are not more objects."""
    options = ConstraintOptions(mask_bytes=16_000, max_terms=199_007)
    made = compile_constraint(json_schema=record(0), schema_options=ANY, options=options)
    row = np.zeros(vocabulary.words, np.int32)
    masks, counts = 0, []
    for number in range(80):
        chance = random.Random(number)
        matcher = made.matcher(vocabulary)
        for _ in range(40):
            matcher.fill_mask(row)
            tokens = vocabulary.unpack(row).tolist()
            if not tokens:
                break
            masks += 1
            assert matcher.accept(chance.choice(tokens))
        assert matcher.accept_bytes(matcher.shortest_completion())
        del matcher
        if number in (19, 79):
            counts.append((masks, tracked()))
    (few, before), (many, after) = counts
    assert many > 3 * few
    assert after - before < 300


@pytest.mark.parametrize("kind", [LeastUsed, BoundedCache])
def test_the_least_used_makes_room(kind: type[LeastUsed[int, bytes]]) -> None:
    kept = kind(4_000, len)
    for number in range(3):
        kept.keep(number, bytes(1_000))
    assert kept.get(0) == bytes(1_000)
    kept.keep(3, bytes(1_000))
    assert [kept.get(number) is not None for number in range(4)] == [True, False, True, True]
    assert kept.bytes == 3 * 1_200
    kept.keep(0, bytes(10))
    assert kept.bytes == 2 * 1_200 + 210
    kept.keep(5, bytes(4_000))
    assert kept.get(5) is None and len(kept) == 3
    kept.limit(1_500)
    assert len(kept) == 2 and kept.get(0) == bytes(10)
    kept.clear()
    assert not len(kept) and kept.bytes == 0


def test_small_values_of_one_size_may_be_none() -> None:
    kept: LeastUsed[int, int | None] = LeastUsed(4_000, 200)
    for number in range(11):
        assert kept.get(number, "missing") == "missing"
        assert kept.keep(number, None if number % 2 else number) is (None if number % 2 else number)
    assert kept.bytes == 10 * 400
    assert [kept.get(number, "missing") for number in (0, 1, 2)] == ["missing", None, 2]


def test_what_functions_have_found_is_bounded_in_bytes() -> None:
    asked: list[int] = []

    @remembered
    def zeros(size: int, *, of: str = "0") -> str | None:
        asked.append(size)
        return of * size if size else None

    try:
        limit_caches(30_000)
        for _ in range(2):
            assert zeros(9_000) == "0" * 9_000
            assert zeros(9_001, of="1") == "1" * 9_001
            assert zeros(0) is None
        assert asked == [9_000, 9_001, 0]
        assert 18_000 < caches._found.bytes <= 30_000
        zeros(9_002)
        zeros(9_003)
        zeros(9_000)
        assert asked == [9_000, 9_001, 0, 9_002, 9_003, 9_000]
        clear_caches()
        assert caches._found.bytes == 0
        zeros(9_000)
        assert len(asked) == 7
    finally:
        limit_caches(caches.DEFAULT_BYTES)


@pytest.mark.slow
def test_sizes_count_each_part_once() -> None:
    part = tuple(range(1_000))
    assert size_of((part, part)) < size_of(part) + 100
    assert size_of((part, [*part], {1: part}, frozenset(part))) > 3 * 8_000
    # An automaton is counted by its edges, which come near to what it takes.
    gc.collect()  # tuples that were made before are used again else, and not counted
    before = sys.getallocatedblocks()
    tracemalloc.start()
    dfa = compile_regex("|".join(f"[a-{chr(98 + number % 20)}]{{{number}}}x" for number in range(2, 30)))
    made, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sys.getallocatedblocks() > before
    assert made / 4 < size_of(dfa) < 2 * made
