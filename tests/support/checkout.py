"""Where things are in the checkout."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
SUPPORT = TESTS / "support"
"""On the import path of tests; given to processes that tests start."""
BENCHMARKS = TESTS / "benchmarks"
GOLDEN = TESTS / "golden"
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
