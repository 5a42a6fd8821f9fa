"""Tables of descriptions and the garbage collector."""

from __future__ import annotations

import gc

from sglc.runtime.mask.interned import Interned
from sglc.runtime.mask.machine import Machine


def _is_young(table: dict[object, int]) -> bool:
    """Whether a dict is among what the next collection of young objects looks at, once something came in."""
    gc.collect()
    table[len(table), len(table)] = len(table)
    return any(found is table for found in gc.get_objects(generation=0))


def test_a_table_of_tuples_of_numbers_does_not_become_young_again() -> None:
    numbers: dict[object, int] = {(number, number): number for number in range(100)}
    assert not _is_young(Interned(numbers))


def test_the_tables_of_a_machine_stay_old() -> None:
    machine = Machine()
    for table in (machine._cont_ids, machine._thread_ids, machine._config_ids, machine._joins):
        assert type(table) is Interned
