"""A job of rows for workers: a program, its arguments, the call of `sglc run`, and what came of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line_files import write

PROGRAM = """\
record Found:
    n: int
    at: decimal

error Odd(n: decimal)

fn f(text: str, scale: decimal = 1.5) -> Found raises Odd:
    user: | ${text}
    assistant: | ?{n: int in 0..999}
    if text == "odd":
        raise Odd(0.10)
    return Found(n, scale)
"""
ROWS = [*({"text": f"row {n}"} for n in range(12)), {"text": "odd"}, {"text": "x", "scale": 0.125}, {"no": 1}]


@pytest.fixture
def job(tmp_path: Path) -> Path:
    write(tmp_path / "rows.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))
    write(tmp_path / "s.json", "[]")
    return write(tmp_path / "p.sgl", PROGRAM)


def options(program: Path, out: str, *more: str) -> list[str]:
    folder = program.parent
    files = ["--data", str(folder / "rows.jsonl"), "--out", str(folder / out)]
    return ["run", str(program), "--model", f"scripted:{folder / 's.json'}", *files, *more]


def results(program: Path, out: str) -> list[dict[str, Any]]:
    """By rows, without how long each took."""
    lines = (program.parent / out).read_text(encoding="utf-8").splitlines()
    found = [{**json.loads(line), "seconds": 0, "line": line.partition('"value"')[2]} for line in lines]
    return sorted(found, key=lambda entry: entry["row"])
