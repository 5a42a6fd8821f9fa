"""Files of tables: found by what they are of, refused where they are damaged or hostile."""

from __future__ import annotations

import functools
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.automata.term import Anything, Bytes, Language, Sequence, Words
from sglc.runtime.mask.artifact import tables as mask_tables
from sglc.runtime.mask.artifact.build import TableBudget, tabulate
from sglc.runtime.mask.artifact.places import (
    MaskPlaces,
    TabledConstraint,
    constraint_digest,
    load_tables,
    save_tables,
)
from sglc.runtime.mask.artifact.tables import MaskTables, TableError, from_bytes, to_bytes
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from strategies.tabled_record import RECORD, VOCABULARY, assert_agree, walk

KEYS = constraint_digest(RECORD), bytes.fromhex(VOCABULARY.digest)


@pytest.fixture(scope="module")
def tables() -> MaskTables:
    return tabulate(RECORD, VOCABULARY, budget=TableBudget(states=60))


def read_whole(data: bytes) -> None:
    """Open a file and look at all that is in it."""
    found = from_bytes(data, *KEYS)
    found.verify_all()
    for number in range(len(found.masks)):
        found.mask(number)
    for state in range(found.n):
        found.groups(state)
    for byte in range(256):
        found.byte_token(byte)


def test_a_file_is_found_by_what_it_is_of(tables: MaskTables, tmp_path: Path) -> None:
    path = save_tables(tmp_path / "new", RECORD, VOCABULARY, tables)
    assert path.parent == tmp_path / "new" and path.suffix == ".sglm"
    for place in (path, path.parent):
        assert_agree(
            load_tables(place, RECORD, VOCABULARY).matcher(VOCABULARY),
            compile_constraint(language=RECORD).matcher(VOCABULARY),
        )
    folders = MaskPlaces(folders=[tmp_path / "nothing", path.parent])
    assert isinstance(folders.find(RECORD, VOCABULARY), TabledConstraint)
    assert folders.find(Language(Bytes(b"a")), VOCABULARY) is None
    assert folders.find(RECORD, Vocabulary([b"a"])) is None
    assert folders.find(RECORD, VOCABULARY, ConstraintOptions(max_depth=9)) is None


def test_with_a_digest_that_was_kept_the_language_is_made_when_it_is_needed(
    tables: MaskTables, tmp_path: Path
) -> None:
    save_tables(tmp_path, RECORD, VOCABULARY, tables)
    made: list[Language] = []

    def language() -> Language:
        made.append(RECORD)
        return RECORD

    cold = load_tables(tmp_path, language, VOCABULARY, digest=constraint_digest(RECORD)).matcher(VOCABULARY)
    cold.mask()
    assert not made
    live = compile_constraint(language=RECORD).matcher(VOCABULARY)
    walk(cold, live, VOCABULARY, random.Random(5), 80)
    assert len(made) == cold.is_compiled == 1


def test_a_file_of_something_else_is_refused(tables: MaskTables, tmp_path: Path) -> None:
    path = save_tables(tmp_path, RECORD, VOCABULARY, tables)
    with pytest.raises(TableError, match="another constraint"):
        load_tables(path, Language(Bytes(b"a")), VOCABULARY)
    with pytest.raises(TableError, match="another vocabulary"):
        load_tables(path, RECORD, Vocabulary([b"a"]))
    data = bytearray(path.read_bytes())
    data[8] += 1
    with pytest.raises(TableError, match="another version"):
        from_bytes(bytes(data), *KEYS)
    with pytest.raises(TableError, match="no tabled constraint"):
        from_bytes(b"x" + bytes(data[1:]), *KEYS)


@pytest.mark.parametrize("size", [0, 1, 7, 111, 175, 176, 1000, -1])
def test_a_file_that_is_cut_short_is_refused(tables: MaskTables, tmp_path: Path, size: int) -> None:
    path = save_tables(tmp_path, RECORD, VOCABULARY, tables)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(TableError):
        load_tables(path, RECORD, VOCABULARY)
    assert MaskPlaces(folders=[tmp_path]).find(RECORD, VOCABULARY) is None


def test_every_changed_byte_is_noticed(tables: MaskTables) -> None:
    data = to_bytes(tables, *KEYS)
    read_whole(data)
    random_places = random.Random(0).sample(range(len(data)), 300)
    for place in [*range(200), *random_places]:
        damaged = bytearray(data)
        damaged[place] ^= 0x41
        with pytest.raises(TableError):
            read_whole(bytes(damaged))
    with pytest.raises(TableError):
        read_whole(data + b"\0")


def test_damage_that_is_found_on_the_way_does_not_change_the_masks(tables: MaskTables) -> None:
    data = bytearray(to_bytes(tables, *KEYS))
    body = len(data) - len(from_bytes(bytes(data), *KEYS).body)
    data[body:] = bytes(len(data) - body)
    damaged = from_bytes(bytes(data), *KEYS)
    cold = TabledConstraint(RECORD, ConstraintOptions(), damaged, VOCABULARY)
    live = compile_constraint(language=RECORD)
    walk(cold.matcher(VOCABULARY), live.matcher(VOCABULARY), VOCABULARY, random.Random(3), 40)


@settings(max_examples=150)
@given(st.data())
def test_hostile_files_with_right_checksums_are_refused_or_only_wrong(data: st.DataObject) -> None:
    """Numbers anywhere in the tables are replaced, and the checksums made to fit."""
    alone = data.draw(st.booleans())
    made = small_pair() if alone else small_tables()
    parts = {
        name: np.array(getattr(made, name), order="C")
        for name in ("states", "masks", "byte_tokens", "bases", "steps", "ids", "text")
    }
    for _ in range(data.draw(st.integers(1, 3))):
        array = parts[data.draw(st.sampled_from(sorted(parts)))].reshape(-1)
        if len(array):
            low, high = int(np.iinfo(array.dtype).min), int(np.iinfo(array.dtype).max)
            value = data.draw(st.integers(low, high) | st.integers(max(-2, low), min(300, high)))
            array[data.draw(st.integers(0, len(array) - 1))] = value
    start = data.draw(st.sampled_from([made.start, made.start, 0, 1, -1, 3, 1 << 40]))
    try:
        keys = (bytes(32), KEYS[1], KEYS[0]) if alone else KEYS
        tables = from_bytes(to_bytes(MaskTables(made.size, start, **parts), *keys), *KEYS)
        matcher = TabledConstraint(RECORD, ConstraintOptions(), tables, VOCABULARY).matcher(VOCABULARY)
    except TableError:
        return
    dice = random.Random(0)
    for _ in range(8):
        legal = matcher.allowed().tolist()
        matcher.forced(), matcher.is_accepting()
        if legal and not matcher.is_dead():
            matcher.accept(dice.choice(legal))
        matcher.accept_bytes(b'"')


@functools.cache
def small_tables() -> MaskTables:
    return tabulate(RECORD, VOCABULARY, budget=TableBudget(states=12))


@functools.cache
def small_pair() -> MaskTables:
    """Those of the language with something behind it, and those of the language alone."""
    pair = replace(RECORD, root=Sequence((RECORD.root, Words(frozenset({b"\n"})), Anything())))
    return tabulate(pair, VOCABULARY, budget=TableBudget(states=12), alone=RECORD)


def test_a_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: MaskTables) -> None:
    path = save_tables(tmp_path, RECORD, VOCABULARY, tables)
    monkeypatch.setattr(mask_tables, "LARGEST", 1000)
    with pytest.raises(TableError, match="size"):
        load_tables(path, RECORD, VOCABULARY)
