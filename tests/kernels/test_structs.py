"""Records of arrays as arguments of kernels: checked once, read by machine code as by Python."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from sglc.kernels.dsl.array_layouts import LayoutError
from sglc.kernels.dsl.language import F32, I32, U8, U64, kernel, run
from sglc.kernels.dsl.structs import Struct, shape
from sglc.kernels.jit_library import typed_library

pytest.importorskip("llvmlite")


class Table(Struct):
    """Rows of numbers, a weight for each row."""

    rows: I32 = shape("rows", 4)
    weights: F32 = shape("rows")
    sets: U64
    flags: U8 = shape(4)
    start: int


class Results(Struct):
    """What is written."""

    sums: I32 = shape("rows")
    bits: U64


@kernel
def sum_row(table: Table, row: int) -> int:
    """The numbers of a row that are flagged."""
    total = 0
    for place in range(4):
        if table.flags[place]:
            total += table.rows[4 * row + place]
    return total


@kernel
def count_up(data: I32, count: int) -> int:
    """An array of a record, as a kernel takes arrays."""
    total = 0
    for place in range(count):
        data[place] += 1
        total += data[place]
    return total


@kernel
def sum_rows(table: Table, results: Results, count: int) -> float:
    """Fields under short names, a number of a record, records and their arrays passed on."""
    sums, weights = results.sums, table.weights
    total = 0.0
    for row in range(table.start, count):
        sums[row] = sum_row(table, row)
        results.bits[0] |= table.sets[row]
        total += weights[row] * sums[row]
    return total + count_up(sums, count) + count_up(table.rows, count)


LIBRARY = typed_library(sum_rows)


def table_of(count: int, **values: object) -> Table:
    source = np.random.default_rng(count)
    fields = {
        "rows": source.integers(-9, 9, (count, 4)).astype(np.int32),
        "weights": source.integers(0, 4, count).astype(np.float32),
        "sets": source.integers(0, 1 << 63, count, np.uint64),
        "flags": np.array([True, False, True, True]),
        "start": 1,
    }
    return Table(**fields | values)


def test_machine_code_reads_and_writes_as_python_does() -> None:
    compiled = LIBRARY.functions()
    assert compiled is not None
    for count in (1, 2, 7):
        found = []
        for call in (compiled.sum_rows, lambda *given: run(sum_rows, *given)):
            table, results = table_of(count), Results.zeros(rows=count, **{"": 1})
            total = call(table, results, count)
            found.append((total, table.rows.tolist(), results.sums.tolist(), results.bits.tolist()))
        assert found[0] == found[1]
        assert found[0][0] != 0


@pytest.mark.slow
def test_a_record_keeps_its_arrays() -> None:
    rows = np.zeros((3, 4), np.int32)
    table = table_of(3, rows=rows)
    seen = weakref.ref(rows)
    del rows
    gc.collect()
    assert seen() is not None
    del table
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"weights": np.zeros(3)}, "Table: weights must be a float32 array"),
        ({"rows": np.zeros(12, np.int32)}, "Table: rows must be a int32 array with 2 dimensions"),
        (
            {"rows": np.zeros((3, 5), np.int32)},
            r"Table: rows must have the shape \('rows', 4\), not \(3, 5\)",
        ),
        ({"rows": np.zeros((4, 3), np.int32).T}, "Table: rows must be contiguous"),
        ({"weights": np.zeros(2, np.float32)}, "Table: rows is 3 elsewhere and 2 in weights"),
        ({"flags": np.zeros(3, np.uint8)}, "Table: flags must have the shape"),
        ({"sets": [1, 2]}, "Table: sets must be a uint64 array"),
        ({"start": 0.5}, "Table: start must be a whole number"),
        ({"other": 1}, "Table has no other"),
    ],
)
def test_what_does_not_fit_is_refused(values: dict[str, object], reason: str) -> None:
    with pytest.raises(LayoutError, match=reason):
        table_of(3, **values)
    if "other" not in values:
        with pytest.raises(LayoutError, match=reason):
            table_of(3).changed(**values)


def test_fields_that_are_missing() -> None:
    with pytest.raises(LayoutError, match="Table lacks flags, sets, start, weights"):
        Table(rows=np.zeros((3, 4), np.int32))


def test_a_record_is_fixed() -> None:
    table = table_of(3)
    with pytest.raises(AttributeError, match="Table is fixed"):
        table.start = 2
    other = table.changed(start=2)
    assert (table.start, other.start) == (1, 2) and other.rows is table.rows


def test_a_kind_that_no_field_has() -> None:
    with pytest.raises(TypeError, match=r"Wrong\.name has the unknown kind str"):

        class Wrong(Struct):
            name: str


@kernel
def with_an_unknown_field(table: Table) -> int:
    return table.nothing[0]  # type: ignore[attr-defined,no-any-return]


@kernel
def with_the_wrong_record(results: Results) -> int:
    return sum_row(results, 0)  # type: ignore[no-any-return]


@kernel
def with_a_number_for_an_array(table: Table) -> int:
    return table.start[0]  # type: ignore[index,no-any-return]


@kernel
def with_an_array_for_a_number(table: Table) -> int:
    return table.rows + 1


@kernel
def with_two_meanings(table: Table) -> int:
    rows = table.rows
    rows = table.sets
    return rows[0]


@kernel
def with_a_number_that_is_set(table: Table) -> None:
    table.start = 2


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (with_an_unknown_field, "line 3: Table has no such field: table.nothing"),
        (with_the_wrong_record, "sum_row takes a record Table here: results"),
        (with_a_number_for_an_array, "not an array: table.start"),
        (with_an_array_for_a_number, "not a number of a record: table.rows"),
        (with_two_meanings, "has another meaning already: rows"),
        (with_a_number_that_is_set, "cannot be assigned to: table.start"),
    ],
)
def test_what_is_no_kernel(wrong: object, reason: str) -> None:
    from sglc.kernels.llvm.translate import translate
    from sglc.kernels.llvm.values import KernelError

    with pytest.raises(KernelError, match=reason):
        translate([wrong], "wrong")  # type: ignore[list-item]
