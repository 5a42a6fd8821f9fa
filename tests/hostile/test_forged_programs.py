"""Compiled programs that lie, with right checksums: refused, or run to an end that is the language's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import EXAMPLES, SUPPORT
from sglc.bytecode.serial import dumps
from sglc.commands.shared.programs import compile_path

COUNT = max(120, int(os.environ.get("SGLC_TEST_EXAMPLES", "0")))
"""SGLC_TEST_EXAMPLES=10000 takes a quarter of an hour."""
MEMORY = 1 << 30
WORKER = SUPPORT / "hostile" / "forged_program_worker.py"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals and limits")
def test_no_forged_program_is_more_than_refused(tmp_path: Path) -> None:
    programs = []
    for source in sorted(EXAMPLES.glob("*.sgl")):
        program, _ = compile_path(source)
        if program is not None:
            programs.append(tmp_path / f"{source.stem}.sglb")
            programs[-1].write_bytes(dumps(program))
    assert len(programs) > 10
    results = tmp_path / "results.jsonl"
    done = subprocess.run(
        [sys.executable, "-P", str(WORKER), "0", str(COUNT), str(results), *map(str, programs)],
        env={**os.environ, "PYTHONPATH": str(SUPPORT)},
        capture_output=True,
        text=True,
        timeout=120 + COUNT,
    )
    rows = [json.loads(row) for row in results.read_text().splitlines()]
    assert done.returncode == 0, f"{rows[-1]} ended with {done.returncode}: {done.stderr[-2000:]}"
    faults = [row for row in rows if "fault" in row]
    assert not faults, "\n".join(f"number {row['fault']}: {row['trace']}" for row in faults[:5])
    assert rows[-1]["peak"] < MEMORY
    counts = rows[-1]["counts"]
    assert sum(counts.values()) == COUNT
    assert COUNT // 2 < counts["refused"] < COUNT * 9 // 10  # the others are run
