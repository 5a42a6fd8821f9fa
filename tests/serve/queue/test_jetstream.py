"""What a server of NATS forgets when it is killed: messages that nobody would get any more."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from serving.brokers import BrokerClient, TestBroker
from serving.server import serving
from sglc.runtime.serve.faces import MakeFace
from sglc.runtime.serve.queue.address import read_address
from sglc.runtime.serve.queue.messages import read_call
from sglc.runtime.serve.queue.worker import QueueFace

PROGRAM = """
pub fn double(x: int) -> int:
    return x * 2
"""
CALL = '{"function": "double", "arguments": {"x": %d}, "id": "%d"}'
MESSAGES = [(CALL % (n, n)).encode() for n in range(3)]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[TestBroker]:
    made = TestBroker("nats", tmp_path / "broker")
    made.process.start()
    try:
        yield made
    finally:
        made.process.kill()


def face(broker: TestBroker) -> MakeFace:
    from sglc.runtime.serve.queue.jetstream import JetStreamQueue

    address = read_address(broker.url(idle=1))
    return lambda served: QueueFace(served, address, JetStreamQueue(address))


def digest(message: bytes) -> str:
    return read_call(message, 1000).digest


@pytest.mark.slow
def test_messages_that_the_broker_has_forgotten_are_taken_again(broker: TestBroker, tmp_path: Path) -> None:
    """The consumer's state says that all was acknowledged, the stream has it all, and one result is lost."""
    with serving(PROGRAM, faces=[face(broker)]):
        pass  # the streams are there
    broker.send(*MESSAGES)
    broker.process.kill()
    stream = next((tmp_path / "broker").rglob("work-calls")) / "msgs"
    shutil.copytree(stream, tmp_path / "before")
    broker.process.start()
    with serving(PROGRAM, faces=[face(broker)]):
        broker.until_settled()

    async def lose(client: Any) -> None:
        await (await client.js.key_value("work-results")).purge(digest(MESSAGES[1]))

    broker.ask(lose)
    broker.process.kill()
    shutil.rmtree(stream)
    shutil.copytree(tmp_path / "before", stream)
    broker.process.start()

    async def pending(client: Any) -> tuple[int, int, int]:
        found = await client.js.consumer_info("work-calls", "work")
        return await client.open(), found.num_ack_pending, found.num_pending

    assert broker.ask(pending) == (3, 0, 0)
    with serving(PROGRAM, faces=[face(broker)]):
        broker.until_settled()

    async def results(client: BrokerClient) -> list[object]:
        return [(await client.result(digest(each)) or {}).get("value") for each in MESSAGES]

    assert broker.ask(results) == [0, 2, 4]


@pytest.mark.slow
def test_a_consumer_that_is_gone_is_made_again(broker: TestBroker) -> None:
    async def taken(client: Any) -> None:
        await client.js.delete_consumer("work-calls", "work")

    with serving(PROGRAM, faces=[face(broker)]):
        broker.ask(taken)
        broker.send(*MESSAGES)
        broker.until_settled()
