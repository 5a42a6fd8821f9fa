"""The worker over a broker of the test's own: faults of each method, signs of life, what is taken."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from serving.server import holding, serving
from sglc.runtime.serve.queue import worker
from sglc.runtime.serve.queue.address import read_address
from sglc.runtime.serve.queue.broker import Delivery, Outcome
from sglc.runtime.serve.queue.worker import QueueFace

PROGRAM = """
pub fn double(x: int) -> int:
    return x * 2

pub fn text(given: str) -> str:
    return given
"""


class Away(Exception):
    """The broker is away."""


class ListBroker:
    """A queue as a list. Each method fails as often as `failures` says, before it does something or after."""

    faults: tuple[type[Exception], ...] = (Away,)
    largest = 1000

    def __init__(self, messages: Sequence[Any], failures: int = 0, *, after: bool = False) -> None:
        self.waiting = [Delivery(json.dumps(each).encode(), 1, n) for n, each in enumerate(messages)]
        self.left = dict.fromkeys(("connect", "take", "stored", "settle", "give_back", "hold"), failures)
        self.after = after
        self.asked: list[int] = []
        self.held = threading.Event()
        self.results: dict[str, str] = {}
        self.settled: dict[object, Outcome] = {}
        self.given_back: list[Delivery] = []

    def _fail(self, method: str) -> None:
        if self.left[method]:
            self.left[method] -= 1
            raise Away

    async def connect(self) -> None:
        self._fail("connect")

    async def take(self, most: int, seconds: float) -> Sequence[Delivery]:
        self._fail("take")
        self.asked.append(most)
        found, self.waiting = self.waiting[:most], self.waiting[most:]
        if not found:
            await asyncio.sleep(0.01)
        return found

    async def hold(self, delivery: Delivery) -> None:
        self._fail("hold")
        self.held.set()

    async def stored(self, digest: str) -> str | None:
        self._fail("stored")
        return self.results.get(digest)

    async def settle(self, delivery: Delivery, outcome: Outcome) -> bool:
        if not self.after:
            self._fail("settle")
        if delivery.handle not in self.settled:
            self.settled[delivery.handle] = outcome
            self.results.setdefault(outcome.digest, outcome.text)
        self._fail("settle")
        return True

    async def give_back(self, delivery: Delivery, seconds: float, *, counted: bool) -> None:
        self._fail("give_back")
        self.given_back.append(delivery)

    async def close(self) -> None:
        """Nothing is open."""


def call(x: int) -> dict[str, Any]:
    """A message."""
    return {"function": "double", "arguments": {"x": x}}


ADDRESS = read_address("redis://here?idle=1")


@pytest.mark.parametrize("after", [False, True])
def test_a_broker_that_fails_is_asked_again(after: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "pause", lambda failures: 0.01)
    broker = ListBroker([call(n) for n in range(6)], failures=2, after=after)
    with serving(PROGRAM, faces=[lambda served: QueueFace(served, ADDRESS, broker)]) as server:
        server.until(lambda: len(broker.settled) == 6, 60)
    values = [json.loads(broker.settled[n].text)["value"] for n in range(6)]
    assert values == [0, 2, 4, 6, 8, 10]


def test_a_call_that_goes_on_is_held() -> None:
    """It ends only after a sign of life."""
    broker = ListBroker([call(1)])
    face = lambda served: QueueFace(served, ADDRESS, broker)  # noqa: E731
    with holding(broker.held), serving(PROGRAM, faces=[face]) as server:
        server.until(lambda: len(broker.settled) == 1, 60)


def test_no_more_are_asked_for_than_there_are_places() -> None:
    broker = ListBroker([call(n) for n in range(40)])
    with serving(PROGRAM, faces=[lambda served: QueueFace(served, ADDRESS, broker)], running=3) as server:
        server.until(lambda: len(broker.settled) == 40, 60)
    assert 1 <= min(broker.asked) and max(broker.asked) <= 3


def test_a_result_that_is_too_large_is_told_as_one() -> None:
    broker = ListBroker([{"function": "text", "arguments": {"given": "x" * 2000}}])
    with serving(PROGRAM, faces=[lambda served: QueueFace(served, ADDRESS, broker)]) as server:
        server.until(lambda: len(broker.settled) == 1, 60)
    problem = json.loads(broker.settled[0].text)["problem"]
    assert (problem["status"], problem["name"]) == (413, "TooLarge")
