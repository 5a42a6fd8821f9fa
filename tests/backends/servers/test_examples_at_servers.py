"""Every example at servers themselves: `SGLC_LLAMA_SERVER=http://127.0.0.1:8080`, `SGLC_VLLM_SERVER=…`.

Without such a variable these tests are skipped. `SGLC_TEST_TABLE=FILE` has what came of each hole written
down: a line with server, example, hole, level, outcome and text.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from backends.example_runs import Watched, policed, run, watching
from backends.real_servers import SERVERS, opened
from checkout import EXAMPLES

MAX_TOKENS = 400
"""Of all holes of a run: a small model does not end by itself. Its value is closed along a shortest text."""
SECONDS = 900
"""For a run: the machine may have others to serve."""
PATHS = sorted(EXAMPLES.glob("**/*.sgl"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
@pytest.mark.parametrize("server", SERVERS)
def test_an_example_at_a_server(server: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = opened(server)
    with watching(monkeypatch, lambda filler, asked: None) as watched:
        try:
            run(path, policed(backend), watched, timeout=SECONDS, max_tokens=MAX_TOKENS)
        finally:
            write_down(server, path, watched)


def write_down(server: str, path: Path, watched: Watched) -> None:
    """Add the holes of an example to the table that is asked for."""
    if table := os.environ.get("SGLC_TEST_TABLE"):
        with open(table, "a", encoding="utf-8") as file:
            for row in watched.rows:
                file.write(json.dumps([server, path.stem, *row], ensure_ascii=False) + "\n")
