"""Arrays for logits: never one that somebody still looks at."""

from __future__ import annotations

from sglc.runtime.executor.rows import KEPT, RowBuffers


def test_an_array_that_is_looked_at_is_not_given_out_again() -> None:
    buffers = RowBuffers(4)
    first = buffers.take(3)
    first[:] = 1.0
    view = first[1]
    del first
    second = buffers.take(2)
    second[:] = 2.0
    assert (view == 1.0).all()


def test_an_array_that_nobody_looks_at_is_used_again() -> None:
    buffers = RowBuffers(4)
    first = buffers.take(3)
    place = first.ctypes.data
    del first
    assert buffers.take(2).ctypes.data == place


def test_no_more_arrays_are_kept_than_said() -> None:
    buffers = RowBuffers(4)
    taken = [buffers.take(1) for _ in range(3 * KEPT)]
    for number, array in enumerate(taken):
        array[:] = number
    assert [array[0, 0] for array in taken] == list(range(3 * KEPT))
    assert len(buffers._kept) <= KEPT


def test_rows_begin_at_lines_of_memory_that_are_not_a_page_apart() -> None:
    for width in (1024, 1030, 49152):
        rows = RowBuffers(width).take(3)
        assert rows.flags.c_contiguous and rows.shape[1] >= width
        assert all(row.ctypes.data % 64 == 0 for row in rows)
        assert 4 * rows.shape[1] % 4096
