"""Work without a look for garbage: it is looked for again afterwards, and what was made counts as old."""

from __future__ import annotations

import gc

import pytest

from sglc.automata.pause import without_collection


def _young() -> int:
    return len(gc.get_objects(generation=0)) + len(gc.get_objects(generation=1))


def test_what_was_made_is_old() -> None:
    made: list[list[int]] = []
    with without_collection():
        assert not gc.isenabled()
        made += [[number] for number in range(20_000)]
        assert _young() > 20_000
    assert gc.isenabled() and len(made) == 20_000
    assert _young() < 20_000


def test_it_stays_off_where_it_was_off() -> None:
    gc.disable()
    try:
        with pytest.raises(KeyError), without_collection():
            raise KeyError
        assert not gc.isenabled()
    finally:
        gc.enable()
