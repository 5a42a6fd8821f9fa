"""Time between forward passes: virtual machine, masks, sampling, bookkeeping, for each generated token.

    python tests/benchmarks/compiler/vm_overhead.py [MODEL] [ROUNDS]

The model's own tokenizer and vocabulary are used, but its logits are random numbers made beforehand, so that
nothing but the work outside of the forward pass is measured. Prints medians in milliseconds.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sglc.driver import compile_source
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.load import resolve
from sglc.runtime.model.scripted import ScriptedCache
from sglc.runtime.session import Session
from sglc.runtime.tokenizer import Tokenizer
from sglc.source import Source

PROGRAM = """
enum Post: engineer, pilot, medic, biologist

record Crew:
    name: str matching /[A-Z][a-z]{1,11} [A-Z][a-z]{1,13}/
    post: Post
    age: int in 18..70
    skills: [str max 20 chars; 2..4]
    motto: str max 60 chars

fn crew(theme: str) -> Crew:
    user: | ${theme} ${schema(Crew)}
    assistant: | ?{member: Crew}
    return member

fn capped(theme: str) -> Crew:
    user: | ${theme} ${schema(Crew)}
    assistant: | ?{member: Crew max 120 tok}
    return member

fn prose(theme: str) -> str:
    user: | ${theme}
    assistant: | ?{text: str max 200 chars}
    return text
"""


class Still:
    """Random logits that never change: nothing to compute."""

    name = "still"
    context_length = 1 << 20

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._rows = [
            np.random.default_rng(seed).normal(0, 3, tokenizer.size).astype(np.float32) for seed in range(8)
        ]

    def new_cache(self) -> ScriptedCache:
        return ScriptedCache()

    def forward(self, cache: ScriptedCache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        cache.tokens.extend(tokens)
        return self._rows[len(cache.tokens) % 8].copy()


def main(model: str = "smollm2", rounds: str = "20") -> None:
    compiled = compile_source(Source("overhead.sgl", PROGRAM))
    assert compiled.program is not None, compiled.diagnostics
    engine: Any = ReferenceEngine(Still(Tokenizer.from_directory(Path(resolve(model)))))
    session = Session(compiled.program, engine)
    print(f"{'function':10} {'tokens':>7} {'first ms':>9} {'later ms':>9} {'p99 ms':>8}")
    for name in ("crew", "capped", "prose"):
        runs = [asyncio.run(session.run(name, {"theme": "a quiet sea"})) for _ in range(int(rounds))]
        first = sorted(runs[0].statistics.timing.outside)
        later = sorted(t for run in runs[1:] for t in run.statistics.timing.outside)
        print(
            f"{name:10} {runs[0].statistics.output_tokens:7} {first[len(first) // 2] / 1e6:9.3f} "
            f"{later[len(later) // 2] / 1e6:9.3f} {later[len(later) * 99 // 100] / 1e6:8.3f}"
        )
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
