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
    Fault(
        "the most probable tokens are told of the legal ones alone",
        "runtime/engine/sampling/sampler.py",
        "    ids, values = select.masked_top(logits, None, count)\n",
        "    row = legal if isinstance(legal, np.ndarray) else None\n"
        "    ids, values = select.masked_top(logits, row, count)\n",
        "tests/engine/test_sampler.py::test_the_most_probable_tokens_are_those_of_the_whole_distribution",
    ),
    Fault(
        "texts of a run reach its page as code",
        "sglc/viewer/page.py",
        "        autoescape=True,\n",
        "        autoescape=False,\n",
        "tests/viewer/test_page.py::test_hostile_texts_everywhere",
    ),
    Fault(
        "events of a branch go to the conversation that forked",
        "sglc/viewer/building.py",
        "            flow, span = _Flow(branch.items, flow.depth + 1), parent.fork.span\n",
        "            span = parent.fork.span\n",
        "tests/viewer/test_terminal.py::test_runs",
    ),
)
