"""A hundred messages while workers and broker are killed; `tests/benchmarks/serving` sends thousands."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from serving.brokers import TestBroker
from serving.queue_faults import Faults, Soak


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["redis", "nats"])
def test_each_message_has_its_one_result(kind: str, tmp_path: Path) -> None:
    broker = TestBroker(kind, tmp_path / "broker")
    broker.process.start()
    faults = Faults(seed=1, worker_every=20, broker_every=30, away=0.3)
    try:
        figures = asyncio.run(Soak(broker, tmp_path / "work", 100, faults).run())
    finally:
        broker.process.kill()
    assert figures.right, figures
