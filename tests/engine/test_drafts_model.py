"""Drafts on real weights: the native executor writes the same text with them, greedily and drawn."""

from __future__ import annotations

import asyncio

import pytest

from sglc.driver import compile_source
from sglc.runtime.engine.core.cost import StepCost
from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.load import load_engine
from sglc.runtime.model import load
from sglc.runtime.session import Session
from sglc.source import Source

PROGRAM = """
enum Kind: person, place, animal

record Found:
    name: str min 2 chars max 30 chars
    kind: Kind
    year: int in 1800..2100

pub fn found(warmth: float) -> str:
    user:
        | Captain Ines Duarte left the harbour of Porto in September 2021 with a dog named Pickle.
        | Repeat this sentence word for word, then name someone or something in it.
        | ${schema(Found)}
    assistant:
        | ?{line: str max 120 chars temp warmth}
        | ?{first: Found temp warmth}
        | ?{second: Found temp warmth}
    return "${line} ${first} ${second}"
"""


class Even(StepCost):
    """All steps cost the same, so that much is drafted."""

    def record(self, rows: int, seconds: float, sequences: int = 1) -> None:
        super().record(rows, 0.01, 1)


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (load.cached_folder(load.DEFAULT) or load.package_file()), reason="no SmolLM2 weights at hand"
)
def test_smollm2_writes_the_same_with_drafts() -> None:
    program = compile_source(Source("found.sgl", PROGRAM)).program
    assert program is not None
    texts: list[list[str]] = []
    took: list[Statistics] = []
    for drafts in (True, False):
        engine = load_engine("smollm2", executor="native", threads=1, memory=64 << 20, speculate=drafts)
        if drafts:
            engine.cost = Even()
        session = Session(program, engine)
        runs = [(0.0, 0), (0.0, 1), (0.9, 2), (0.9, 3)]
        texts.append(
            [asyncio.run(session.run("found", {"warmth": warmth}, seed=seed)).text for warmth, seed in runs]
        )
        took.append(engine.statistics)
        engine.close()
    assert texts[0] == texts[1]
    assert took[0].accepted > 20 and took[0].forwards < 0.9 * took[1].forwards
