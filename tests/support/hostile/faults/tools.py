"""Faults of repair, of strategies and of the viewer."""

from __future__ import annotations

from hostile.faults.fault import Fault

FAULTS = (
    Fault(
        "equal rows are read as a repetition",
        "runtime/repair/answer.py",
        "        return whole or self._readings[0].kept < size\n",
        "        return True\n",
        "tests/repair/test_answer.py::test_equal_rows_are_no_repetition",
    ),
    Fault(
        "a stream stays open",
        "runtime/repair/drivers.py",
        "            self._close(stream, repair)\n",
        "            pass\n",
        "tests/repair/test_drivers.py::test_a_stream_is_closed_at_its_first_illegal_byte",
    ),
    Fault(
        "a correction counts once, whatever was legal before it",
        "runtime/repair/loop.py",
        "        self._weight += 1 if settled.kept else 2\n",
        "        self._weight += 1\n",
        "tests/repair/test_logs.py::test_logs",
    ),
)
