"""SmolLM2 with itself: two contexts of one model share a hole."""

from __future__ import annotations

import asyncio

import pytest

from sglc.driver import compile_source
from sglc.runtime.engine.load import load_engine
from sglc.runtime.model import load
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.source import Source

TEXT = """
const SEA = "You are an old lighthouse keeper who speaks of nothing but the sea."
pub fn said(x: str) -> str USING:
    system: | ${SEA}
    user: | What did you see last night?
    assistant: | Last night ?{seen: str min 40 chars max 60 chars temp 0.9 OPTIONS}
    return seen
"""


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (load.cached_folder(load.DEFAULT) or load.package_file()), reason="no SmolLM2 weights at hand"
)
def test_smollm2_with_itself_without_its_system_prompt() -> None:
    engine = load_engine("smollm2", executor="native", threads=1, memory=64 << 20)

    def said(using: str, options: str = "", seed: int = 0, text: str = TEXT) -> RunResult:
        whole = text.replace("USING", using).replace("OPTIONS", options)
        program = compile_source(Source("m.sgl", whole)).program
        assert program is not None
        return asyncio.run(Session(program, engine).run("said", {"x": ""}, seed=seed))

    both = "using blend(main without SEA, main)"
    for seed in range(2):
        plain = said("using main", seed=seed)
        without = said("using blend(main without SEA, main without SEA)", "weight 1", seed)
        assert said(both, "weight 1", seed).value == plain.value
        assert said(both, "weight 0", seed).value == without.value != plain.value
        assert said("using blend(main, main)", "by ess", seed).value == plain.value
    likeliest = TEXT.replace("temp 0.9", "temp 0")
    bare = likeliest.replace("    system: | ${SEA}\n", "    system: | \n")
    assert said(both, "weight 0", text=likeliest).value == said("using main", text=bare).value
    found = [said(both, seed=seed) for seed in range(2)]
    again = [said(both, seed=seed) for seed in range(2)]
    assert [result.text for result in found] == [result.text for result in again]
    shares = [hole.shares for result in found for hole in result.holes if hole.shares]
    assert len(shares) == 2
    assert all(0.2 < each.alpha < 0.8 and each.chernoff > 0.001 for each in shares)
    engine.close()
