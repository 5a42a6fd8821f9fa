"""Queues in Redis: a stream with a consumer group, results as keys that expire.

    NAME:calls           stream of messages, field `data`; the group is NAME
    NAME:result:DIGEST   a result
    NAME:reply:REPLY     stream of results, field `data`, of messages with this `reply`
    NAME:dead            stream of dead letters, field `data`

A result is stored, told and acknowledged by one script, so that no fault comes between these.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Sequence
from typing import cast

from redis import exceptions
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from sglc.runtime.errors import ArgumentError
from sglc.runtime.serve.queue.address import QueueAddress
from sglc.runtime.serve.queue.broker import Delivery, Outcome

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 10.0
"""Seconds in which Redis answers, beyond those that it was asked to wait."""
MOST_LETTERS = 10_000
"""About so many dead letters, and answers of one reply, are kept; the oldest go."""
LARGEST = 64 * 1024 * 1024
Entries = list[tuple[bytes, dict[bytes, bytes] | None]]
"""Messages of a stream as the package gives them: ids and fields."""
STALE = 3600.0
"""Seconds after which a consumer that has no message and shows no sign is forgotten."""

_SETTLE = """
local old = false
if ARGV[3] ~= '' then
  old = redis.call('GET', KEYS[2])
  if old and not string.find(old, ARGV[4], 1, true) then return 0 end
end
if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 1 end
redis.call('XDEL', KEYS[1], ARGV[2])
if ARGV[3] ~= '' then
  if not old then
    redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[5])
    old = ARGV[3]
  end
  if ARGV[7] ~= '' then
    redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[8], '*', 'data', old)
    redis.call('PEXPIRE', KEYS[3], ARGV[5])
  end
end
if ARGV[6] ~= '' then redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[8], '*', 'data', ARGV[6]) end
return 1
"""
"""Who acknowledges a message first stores and tells its result; whoever comes later does nothing."""

_CLAIM = """
if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[3], 1, ARGV[2]) == 0 then return 0 end
local asked = {'XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'IDLE', ARGV[4]}
if ARGV[5] ~= '' then
  table.insert(asked, 'RETRYCOUNT')
  table.insert(asked, ARGV[5])
end
table.insert(asked, 'JUSTID')
redis.call(unpack(asked))
return 1
"""
"""Sets since when a message is idle, if it still belongs to this worker."""


class RedisQueue:
    """A queue of Redis 6.2 or newer, on one server."""

    faults: tuple[type[Exception], ...] = (exceptions.RedisError, OSError, TimeoutError)
    largest = LARGEST

    def __init__(self, address: QueueAddress) -> None:
        self._address = address
        self._calls = f"{address.name}:calls"
        self._group = address.name
        self._me = f"{socket.gethostname()[:40]}-{os.getpid()}-{secrets.token_hex(4)}"
        self._looked = b"0-0"
        """Where the next look for messages that are left begins: one look reads ten times as many as it may
        take, so that those behind them have their turn."""
        self._redis = Redis(
            host=address.host,
            port=address.port,
            db=address.database,
            username=address.user or None,
            password=address.password or None,
            ssl=address.encrypted,
            protocol=2,
            socket_connect_timeout=CONNECT_SECONDS,
            socket_timeout=ANSWER_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )

    async def connect(self) -> None:
        """See `Broker.connect`."""
        try:
            await self._redis.xgroup_create(self._calls, self._group, id="0", mkstream=True)
        except exceptions.ResponseError as error:
            if "BUSYGROUP" not in str(error):  # else it is there already
                raise _refused(self._address, error) from None
        except exceptions.AuthenticationError as error:
            raise _refused(self._address, error) from None
        for each in await self._redis.xinfo_consumers(self._calls, self._group):
            if not each["pending"] and each["idle"] > STALE * 1000:
                await self._redis.xgroup_delconsumer(self._calls, self._group, each["name"])

    async def take(self, most: int, seconds: float) -> Sequence[Delivery]:
        """See `Broker.take`."""
        try:
            left = await self._left(most)
            if left:
                return left
            found = await self._redis.xreadgroup(
                self._group, self._me, {self._calls: ">"}, count=most, block=max(1, int(seconds * 1000))
            )
        except exceptions.ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            await self.connect()  # somebody has emptied the database
            return []
        streams = cast(list[tuple[bytes, Entries]], found or [])
        return [Delivery(_data(fields), 1, id) for _, entries in streams for id, fields in entries]

    async def _left(self, most: int) -> list[Delivery]:
        """Messages whose workers show no sign any more, or that were given back."""
        claimed = await self._redis.xautoclaim(
            self._calls, self._group, self._me, self._address.idle * 1000, self._looked, count=most
        )
        self._looked, found = claimed[0], []
        for id, fields in cast(Entries, claimed[1]):
            pending = await self._redis.xpending_range(self._calls, self._group, id, id, 1)
            attempt = int(pending[0]["times_delivered"]) if pending else 1
            found.append(Delivery(_data(fields), attempt, id))
        return found

    async def hold(self, delivery: Delivery) -> None:
        """See `Broker.hold`."""
        await self._claim(delivery, 0, "")

    async def stored(self, digest: str) -> str | None:
        """See `Broker.stored`."""
        found = await self._redis.get(self._result(digest))
        return found.decode() if isinstance(found, bytes) else found

    async def settle(self, delivery: Delivery, outcome: Outcome) -> bool:
        """See `Broker.settle`."""
        name = self._address.name
        keys = (
            self._calls,
            self._result(outcome.digest),
            f"{name}:reply:{outcome.reply}",
            f"{name}:dead",
        )
        said = (
            self._group,
            _id(delivery),
            outcome.text if outcome.digest else "",
            outcome.content,
            self._address.keep * 1000,
            outcome.letter,
            outcome.reply,
            MOST_LETTERS,
        )
        return bool(await self._redis.eval(_SETTLE, len(keys), *keys, *said))

    async def give_back(self, delivery: Delivery, seconds: float, *, counted: bool) -> None:
        """See `Broker.give_back`. It is taken by the next who looks for messages that are idle; so it waits
        `idle` seconds at most."""
        idle = max(0, int((self._address.idle - seconds) * 1000))
        await self._claim(delivery, idle, "" if counted else str(delivery.attempt - 1))

    async def _claim(self, delivery: Delivery, idle: int, attempts: str) -> None:
        said = (self._group, self._me, _id(delivery), idle, attempts)
        await self._redis.eval(_CLAIM, 1, self._calls, *said)

    async def close(self) -> None:
        """See `Broker.close`. What it has taken and not settled is left to others."""
        try:
            mine = await self._redis.xpending_range(self._calls, self._group, "-", "+", 1, self._me)
            if not mine:
                await self._redis.xgroup_delconsumer(self._calls, self._group, self._me)
        except self.faults:
            pass  # it is away; the consumer is forgotten later
        finally:
            await self._redis.aclose()

    def _result(self, digest: str) -> str:
        return f"{self._address.name}:result:{digest}"


def _id(delivery: Delivery) -> bytes:
    assert isinstance(delivery.handle, bytes)
    return delivery.handle


def _data(fields: dict[bytes, bytes] | None) -> bytes:
    """The message of an entry; one without the field `data`, or that was deleted, is none."""
    return (fields or {}).get(b"data", b"")


def _refused(address: QueueAddress, error: Exception) -> ArgumentError:
    reason = str(error).replace(address.password, "***") if address.password else str(error)
    return ArgumentError("E0832", f"{address.shown} refuses", reason=reason)
