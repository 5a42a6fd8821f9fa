"""What Redis alone needs: whose message it is, looks at many messages, databases that somebody empties."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from late import Late
from serving.brokers import TestBroker
from sglc.runtime.serve.queue.address import read_address
from sglc.runtime.serve.queue.broker import Delivery, Outcome

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from sglc.runtime.serve.queue.redis_streams import RedisQueue

clients, streams = Late("redis.asyncio"), Late("sglc.runtime.serve.queue.redis_streams")
DIGEST = "d" * 64


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestBroker]:
    made = TestBroker("redis", tmp_path_factory.mktemp("broker"))
    made.process.start()
    try:
        yield made
    finally:
        made.process.kill()


def talk(broker: TestBroker, speak: Callable[[RedisQueue, RedisQueue, Redis], Awaitable[None]]) -> None:
    """Two workers and a plain client at an empty database."""

    async def whole() -> None:
        redis = clients.Redis(port=broker.process.port)
        await redis.flushdb()
        one, two = (streams.RedisQueue(read_address(broker.url(idle=60))) for _ in range(2))
        try:
            await one.connect()
            await two.connect()
            await speak(one, two, redis)
        finally:
            await one.close()
            await two.close()
            await redis.aclose()

    asyncio.run(asyncio.wait_for(whole(), 30))


async def make_idle(redis: Redis, owner: RedisQueue, delivery: Delivery) -> None:
    """A message as if its worker had shown no sign for a minute."""
    await owner.give_back(delivery, -120, counted=True)


def test_a_message_that_another_worker_has_got_is_left_to_it(broker: TestBroker) -> None:
    async def speak(one: RedisQueue, two: RedisQueue, redis: Redis) -> None:
        await redis.xadd("work:calls", {"data": "x"})
        (mine,) = await one.take(1, 0.01)
        assert await two.take(1, 0.01) == []
        await make_idle(redis, one, mine)
        (theirs,) = await two.take(1, 0.01)
        assert (theirs.handle, theirs.attempt) == (mine.handle, 2)
        await one.hold(mine)
        await one.give_back(mine, -60, counted=True)
        assert await one.take(1, 0.01) == []
        await make_idle(redis, two, theirs)
        await two.hold(theirs)
        assert await one.take(1, 0.01) == []

        first = Outcome(DIGEST, "c1", '{"content": "c1", "by": 1}', "r")
        second = Outcome(DIGEST, "c1", '{"content": "c1", "by": 2}', "r", "a letter")
        assert await one.settle(mine, first) and await two.settle(theirs, second)
        assert await one.stored(DIGEST) == first.text
        assert await redis.xlen("work:reply:r") == 1 and await redis.xlen("work:dead") == 0
        assert await redis.xlen("work:calls") == 0

    talk(broker, speak)


def test_a_result_of_another_content_is_not_taken(broker: TestBroker) -> None:
    async def speak(one: RedisQueue, two: RedisQueue, redis: Redis) -> None:
        for content, right in (("c1", True), ("c2", False)):
            await redis.xadd("work:calls", {"data": "x"})
            (mine,) = await one.take(1, 0.01)
            outcome = Outcome(DIGEST, content, f'{{"content": "{content}"}}')
            assert await one.settle(mine, outcome) == right
        assert await redis.xlen("work:calls") == 1
        assert 80_000_000 < await redis.pttl(f"work:result:{DIGEST}") <= 86_400_000

    talk(broker, speak)


def test_what_was_given_back_without_an_attempt_is_not_counted(broker: TestBroker) -> None:
    async def speak(one: RedisQueue, two: RedisQueue, redis: Redis) -> None:
        await redis.xadd("work:calls", {"data": "x"})
        (delivery,) = await one.take(1, 0.01)
        for _ in range(3):
            await one.give_back(delivery, 0, counted=False)
            await asyncio.sleep(0.01)
            (delivery,) = await one.take(1, 0.01)
            assert delivery.attempt == 1
        await one.give_back(delivery, 0, counted=True)
        await asyncio.sleep(0.01)
        (delivery,) = await two.take(1, 0.01)
        assert delivery.attempt == 2

    talk(broker, speak)


def test_a_message_behind_many_that_are_held_is_found(broker: TestBroker) -> None:
    """A look reads ten times as many as it may take; the next one goes on behind these."""

    async def speak(one: RedisQueue, two: RedisQueue, redis: Redis) -> None:
        for n in range(35):
            await redis.xadd("work:calls", {"data": str(n)})
        held = await one.take(35, 0.01)
        await make_idle(redis, one, held[-1])
        found = [each for _ in range(6) for each in await two.take(1, 0.01)]
        assert [each.data for each in found] == [b"34"]

    talk(broker, speak)


def test_an_emptied_database_is_made_anew(broker: TestBroker) -> None:
    async def speak(one: RedisQueue, two: RedisQueue, redis: Redis) -> None:
        await redis.flushdb()
        assert await one.take(1, 0.01) == []
        await redis.xadd("work:calls", {"other": "x"})
        (delivery,) = await one.take(1, 0.01)
        assert delivery.data == b""

    talk(broker, speak)


def test_a_wrong_password_is_told_at_once(broker: TestBroker) -> None:
    from sglc.runtime.errors import ArgumentError

    async def speak(one: RedisQueue, two: RedisQueue, redis: Redis) -> None:
        url = broker.url().replace("redis://", "redis://me:secret@")
        with pytest.raises(ArgumentError) as found:
            await streams.RedisQueue(read_address(url)).connect()
        assert found.value.code == "E0832" and "secret" not in str(found.value.diagnostic())

    talk(broker, speak)
