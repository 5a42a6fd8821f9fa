"""llama.cpp's own parser of GBNF, from the npm package `node-llama-cpp`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = os.environ.get("SGLC_NODE_LLAMA_CPP", "")
JUDGE = Path(__file__).with_name("llama_cpp_judge.mjs")

needs_llama_cpp = pytest.mark.skipif(
    not FOLDER or shutil.which("node") is None, reason="no node-llama-cpp (SGLC_NODE_LLAMA_CPP)"
)


def judged(cases: list[tuple[str, list[str]]]) -> list[list[bool] | str]:
    """Which texts of each grammar the parser accepts, or its error."""
    asked = [{"grammar": grammar, "texts": texts} for grammar, texts in cases]
    done = subprocess.run(
        ["node", str(JUDGE), FOLDER], input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: list[list[bool] | str] = json.loads(done.stdout)
    return found
