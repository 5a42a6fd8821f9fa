"""Tables of descriptions and the garbage collector."""

from __future__ import annotations

import gc

import pytest

from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.positions import Places
from sglc.runtime.mask.automaton.protocol import END
from sglc.runtime.mask.core.intern_table import Interned
from sglc.runtime.mask.nodes.core import AnyBytes, Literal


def _is_young(table: dict[object, int]) -> bool:
    """Whether a dict is among what the next collection of young objects looks at, once something came in."""
    gc.collect()
    table[len(table), len(table)] = len(table)
    return any(found is table for found in gc.get_objects(generation=0))


@pytest.mark.slow
def test_a_table_of_tuples_of_numbers_does_not_become_young_again() -> None:
    numbers: dict[object, int] = {(number, number): number for number in range(100)}
    assert not _is_young(Interned(numbers))


def test_the_tables_of_a_machine_stay_old() -> None:
    machine = Machine()
    for table in (machine._config_ids, machine._joins):
        assert type(table) is Interned


def test_places_are_nothing_to_the_collector() -> None:
    """Neither the dict nor what it holds is looked at, however many there are."""
    places = Places()
    for number in range(1_000):
        assert places.add(number % 7, number, 1 << 20) == number + 1
    assert (places.nodes[1_000], places.states[1_000], places.conts[1_000]) == (999 % 7, 999, 1 << 20)
    assert len(places) == 1_001 == 1 + len(places.numbers)
    assert not gc.is_tracked(places.numbers)
    machine = Machine()
    assert not any(
        map(
            gc.is_tracked,
            (machine._alone, machine.history_dependent, machine.accepting, machine.needs_history),
        )
    )


def test_states_of_different_kinds_of_nodes_are_different() -> None:
    """Though True is 1 and a named tuple a tuple: who asks gets what was given."""
    machine = Machine()
    text, words = Literal(b"a"), AnyBytes()
    machine.register(text)
    machine.register(words)
    first, second = machine.cont(text, 1, END), machine.cont(words, True, END)
    assert machine.cont(text, 1, END) == first != second
    assert machine.frame(first)[1] == 1 and machine.frame(second)[1] is True
