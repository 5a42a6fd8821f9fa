"""Programs on the batching engine: many at once, forks, options and retries give what each gives alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from checkout import EXAMPLES
from fakes.fake_executor import FakeExecutor, FakeModel
from fakes.small_models import small_tokenizer
from sglc.driver import compile_file
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.scheduling.schedule import StepLimits
from sglc.runtime.errors import SglError
from sglc.runtime.session import Session

RUNS: list[tuple[str, str, dict[str, Any]]] = [
    ("ideas", "name_it", {"thing": "a lighthouse"}),
    ("ideas", "name_it", {"thing": "a bridge"}),
    ("tree", "take_apart", {}),
    ("tree", "take_apart", {"machine": "a pump"}),
    ("route", "ticket", {}),
    ("route", "ticket", {"message": "thanks, all is well"}),
    ("character", "crew", {"theme": "salvage"}),
    ("character", "crew", {"theme": "the deep sea"}),
]


async def outcome(session: Session, function: str, arguments: dict[str, Any], seed: int) -> tuple[Any, ...]:
    """What came of one run, errors included."""
    try:
        result = await session.run(function, arguments, seed=seed)
    except SglError as error:
        return error.name, error.message, error.partial
    return result.value, result.text


def sessions(engine: Engine) -> dict[str, Session]:
    made = {}
    for name in {name for name, _, _ in RUNS}:
        program = compile_file(EXAMPLES / f"{name}.sgl").program
        assert program is not None
        made[name] = Session(program, engine)
    return made


@pytest.fixture(scope="module")
def alone() -> list[tuple[Any, ...]]:
    """What every run gives on the reference engine, one after the other."""
    engine = ReferenceEngine(FakeModel(small_tokenizer()))
    made = sessions(engine)

    async def job() -> list[tuple[Any, ...]]:
        return [
            await outcome(made[name], function, arguments, seed)
            for seed in (0, 1)
            for name, function, arguments in RUNS
        ]

    results = asyncio.run(job())
    engine.close()
    return results


@pytest.fixture(params=["roomy", "crowded"])
def engine(request: pytest.FixtureRequest) -> Iterator[BatchingEngine]:
    executor = FakeExecutor(small_tokenizer())
    crowded = request.param == "crowded"
    limits = StepLimits(tokens=40, requests=5) if crowded else None
    engine = open_engine(executor, memory=executor.block_bytes * (90 if crowded else 4000), limits=limits)
    yield engine
    engine.close()


@pytest.mark.slow
def test_programs_side_by_side_give_what_each_gives_alone(
    engine: BatchingEngine, alone: list[tuple[Any, ...]]
) -> None:
    made = sessions(engine)

    async def job() -> list[tuple[Any, ...]]:
        return list(
            await asyncio.gather(
                *(
                    outcome(made[name], function, arguments, seed)
                    for seed in (0, 1)
                    for name, function, arguments in RUNS
                )
            )
        )

    assert asyncio.run(job()) == alone
    engine.cache.check()
    pinned = engine.cache.stats()
    assert pinned.held == pinned.pinned and pinned.sequences == 0
    assert engine.measure.largest > 1
