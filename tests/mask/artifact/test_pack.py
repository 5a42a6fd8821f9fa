"""Packs of ahead-of-time tables: found by what they are of, and damage is noticed before anything is used."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.term import Anything, Bytes, Language, Sequence, Words
from sglc.runtime.mask.artifact import pack as packs
from sglc.runtime.mask.artifact.build import tabulate
from sglc.runtime.mask.artifact.pack import MaskPack, Packed, pack
from sglc.runtime.mask.artifact.places import MaskPlaces, constraint_digest
from sglc.runtime.mask.artifact.tables import TableError, to_bytes
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

VOCABULARY = Vocabulary([b"a", b"ab", b"b", b"abb"], frozenset())
KEY = bytes.fromhex(VOCABULARY.digest)
VALUES = [Language(Words(frozenset(words))) for words in ({b"ab"}, {b"ba", b"bb"}, {b"abb", b"a"})]


def packed(value: Language, alone: Language | None = None) -> list[Packed]:
    names = [constraint_digest(one) for one in (value, alone) if one is not None]
    data = to_bytes(tabulate(value, VOCABULARY, alone=alone), names[0], KEY, *names[1:])
    return [Packed(name, KEY, data) for name in names]


def whole() -> bytes:
    return pack([entry for value in VALUES for entry in packed(value)])


def test_every_table_is_found_and_nothing_else() -> None:
    opened = MaskPack(b"whatever stands before it" + whole())
    for value in VALUES:
        found = opened.find(constraint_digest(value), KEY)
        assert found is not None
        found.verify_all()
        live = compile_constraint(language=value).matcher(VOCABULARY)
        assert found.mask(found.mask_of(found.first))[0].tolist() == live.mask().tolist()
    assert opened.find(bytes(32), KEY) is None
    assert opened.find(constraint_digest(VALUES[0]), bytes(32)) is None
    assert pack(opened.contents()) == whole()


def test_the_same_tables_are_stored_once() -> None:
    value = VALUES[0]
    stopped = Language(Sequence((value.root, Bytes(b"b"), Anything())))
    both = packed(stopped, value)
    file = pack(both)
    assert len(both) == 2 and len(file) < len(both[0].data) + 300
    opened = MaskPack(file)
    assert [opened.find(entry.constraint, KEY).alone for entry in both] == [False, True]  # type: ignore[union-attr]


def test_a_pack_without_tables_has_none() -> None:
    assert MaskPack(pack([])).find(bytes(32), KEY) is None


@pytest.mark.slow
@settings(max_examples=examples(80))
@given(st.data())
def test_damage_is_noticed_or_not_met(data: st.DataObject) -> None:
    """A changed byte is noticed where the pack is opened, where tables are found, or where they are read."""
    file = bytearray(whole())
    place = data.draw(st.integers(0, len(file) - 1))
    file[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(TableError):
        opened = MaskPack(bytes(file))
        for value in VALUES:
            found = opened.find(constraint_digest(value), KEY)
            assert found is not None
            found.verify_all()


@pytest.mark.parametrize("kept", [0, 1, 15, 16, 47, 48, 63, 64, 100, 300, -1])
def test_a_pack_that_is_cut_short_is_refused(kept: int) -> None:
    with pytest.raises(TableError):
        MaskPack(whole()[:kept])
    with pytest.raises(TableError):
        MaskPack(whole()[len(whole()) - kept if kept > 0 else len(whole()) :])


@pytest.mark.parametrize("place", [-1, 1 << 62, -(1 << 62)])
@pytest.mark.parametrize("size", [-1, 1 << 62, 8])
def test_places_outside_are_refused_though_the_checksum_is_right(place: int, size: int) -> None:
    file = whole()
    real = packs._ENTRY
    count = int.from_bytes(file[12:16], "little")
    at = packs._HEAD.size
    index = b"".join(
        real.pack(constraint, vocabulary, place, size)
        for constraint, vocabulary, _, _ in real.iter_unpack(file[at : at + count * real.size])
    )
    forged = file[:16] + hashlib.sha256(file[:16] + index).digest() + index + file[at + len(index) :]
    opened = MaskPack(forged)
    for value in VALUES:
        with pytest.raises(TableError):
            opened.find(constraint_digest(value), KEY)


def test_the_first_place_that_has_sound_tables_wins(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.sglm", tmp_path / "bad.sglm"
    good.write_bytes(whole())
    data = bytearray(whole())
    data[400] ^= 1
    bad.write_bytes(data)
    places = MaskPlaces([tmp_path / "none.sglm", bad, tmp_path, good])
    for value in VALUES:
        found = places.find(value, VOCABULARY)
        assert found is not None
        live = compile_constraint(language=value).matcher(VOCABULARY)
        assert found.matcher(VOCABULARY).mask().tolist() == live.mask().tolist()
    assert MaskPlaces([bad]).find(Language(Words(frozenset({b"q"}))), VOCABULARY) is None
