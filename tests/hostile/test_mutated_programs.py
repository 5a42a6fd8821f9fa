"""Programs with slips in them: diagnostics, or runs of their tests that end as the language says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import SUPPORT
from example_budget import examples
from hostile.mutated_program_worker import Told, look_at
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.driver import compile_source
from sglc.source import Source
from strategies.mutated_programs import mutated, originals

COUNT = examples(150)
"""SGLC_TEST_EXAMPLES=20000 takes a quarter of an hour."""
PIECE = 1000
"""Programs of one process."""
MEMORY = 1 << 30
WORKER = SUPPORT / "hostile" / "mutated_program_worker.py"


def test_mutations_are_repeatable_and_many() -> None:
    programs = originals()
    assert len(programs) > 150
    made = [mutated(number, programs) for number in range(300)]
    assert made == [mutated(number, programs) for number in range(300)]
    sound = {program.text for program in programs}
    assert len({program.text for program in made} - sound) > 280


@pytest.mark.parametrize(
    "word", ["_NEWLINE", "BROKEN", "'NoneType' object", "KeyError: 'x'", "<class 'int'>"]
)
def test_words_of_the_inside_are_noticed(word: str) -> None:
    spoken = Diagnostic("E0101", "this cannot stand here", None, reason=f"because of {word}")
    with pytest.raises(Told, match="because of"):
        look_at([spoken], "fn f():\n")
    look_at([Diagnostic("E0101", "this cannot stand here", None, reason="a new line is due")], "fn f():\n")


@pytest.mark.parametrize(
    "rest", [",", ", ", ",}", ", }", ", temperature}", ", temperature=}", ", seed:}", ",,}"]
)
def test_holes_that_end_behind_a_comma_are_told(rest: str) -> None:
    text = f"fn f() -> int:\n    user: | Say.\n    assistant: | ?{{n: int{rest}\n    return n\n"
    found = compile_source(Source("program.sgl", text)).diagnostics
    look_at(found, text)
    assert any(diagnostic.code == ("E0115" if "}" in rest else "E0104") for diagnostic in found)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals and limits")
def test_no_mutated_program_meets_more_than_diagnostics(tmp_path: Path) -> None:
    path = os.pathsep.join([str(SUPPORT), os.environ.get("PYTHONPATH", "")])
    counts: dict[str, int] = {}
    for first in range(0, COUNT, PIECE):
        count = min(PIECE, COUNT - first)
        results = tmp_path / "results.jsonl"
        done = subprocess.run(
            [sys.executable, "-P", str(WORKER), str(first), str(count), str(results)],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=120 + count,
        )
        rows = [json.loads(row) for row in results.read_text(encoding="utf-8").splitlines()]
        assert done.returncode == 0, f"{rows[-1]} ended with {done.returncode}: {done.stderr[-2000:]}"
        faults = [row for row in rows if "fault" in row]
        assert not faults, "\n".join(f"number {row['fault']}: {row['trace']}" for row in faults[:5])
        slow = [row for row in rows if "slow" in row]
        assert not slow, slow
        assert rows[-1]["peak"] < MEMORY
        for kind, some in rows[-1]["counts"].items():
            counts[kind] = counts.get(kind, 0) + some
    assert sum(counts.values()) == COUNT
    tested = sum(some for kind, some in counts.items() if "passed" in kind or "failed" in kind)
    assert counts["refused"] > COUNT // 2 and tested > COUNT // 20
