"""Forward passes that the records of the examples take on real weights, without drafts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from sglc.driver import compile_file
from sglc.runtime.engine.load import load_engine
from sglc.runtime.model import load
from sglc.runtime.session import Session

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDS: dict[str, dict[str, Any]] = {
    "crew": {"theme": "a lighthouse at the end of the world"},
    "item": {},
    "draw": {},
    "order": {},
    "take_apart": {},
    "triage": json.loads((EXAMPLES / "triage.json").read_text(encoding="utf-8")),
    "profile": {},
}
"""Functions of examples whose one hole is a record, and their arguments."""
MOST = 0.55
"""Forward passes for each token: keys, quotes and separators, about half of a record, take none."""


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (load.cached_folder(load.DEFAULT) or load.package_file()), reason="no SmolLM2 weights at hand"
)
def test_records_take_at_most_55_passes_for_100_tokens() -> None:
    engine = load_engine("smollm2", executor="native", threads=1, memory=256 << 20, speculate=False)
    shares: dict[str, float] = {}
    for path in sorted(EXAMPLES.glob("*.sgl")):
        program = compile_file(path).program
        assert program is not None
        for name in RECORDS.keys() & program.entry.keys():
            run = Session(program, engine).run(name, RECORDS[name])
            took = asyncio.run(run).statistics
            assert took.output_tokens > 20
            shares[name] = took.forwards / took.output_tokens
    engine.close()
    assert shares.keys() == RECORDS.keys()
    assert all(share <= MOST for share in shares.values()), shares
