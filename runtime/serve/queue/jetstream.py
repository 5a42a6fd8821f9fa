"""Queues in NATS JetStream: a stream with one durable consumer, results in a bucket of keys and values.

    NAME.calls           subject of messages; stream NAME-calls, consumer NAME
    NAME-results         bucket of results, by digest
    NAME.reply.REPLY     subject of results of messages with this `reply`; stream NAME-replies
    NAME.dead            subject of dead letters; stream NAME-dead

Results are created, never overwritten; answers and letters have a `Nats-Msg-Id`, so that what is published
again within two minutes is there once.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import random
import time
from collections.abc import Sequence

from nats import errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext, api
from nats.js import errors as js_errors
from nats.js.kv import KeyValue

from sglc.runtime.errors import ArgumentError
from sglc.runtime.serve.queue.address import QueueAddress
from sglc.runtime.serve.queue.broker import Delivery, Outcome

LOG = logging.getLogger("sglc.serve")
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 5.0
"""Seconds in which the broker answers, beyond those that it was asked to wait."""
MOST_LETTERS = 10_000
MOST_HELD = 4096
"""Most messages that all workers together have taken and not settled."""
AGAIN_SECONDS = 120
"""Seconds in which a second publication of the same is dropped."""
ROOM = 4096
"""Bytes that a message may need beside its text."""
_ID = "Nats-Msg-Id"


class JetStreamQueue:
    """A queue of a NATS server 2.9 or newer with JetStream."""

    faults: tuple[type[Exception], ...] = (errors.Error, OSError, TimeoutError)

    def __init__(self, address: QueueAddress) -> None:
        self._address = address
        self._client: Client | None = None
        self._stream: JetStreamContext
        self._results: KeyValue
        self._pull: JetStreamContext.PullSubscription
        self._calls = f"{address.name}-calls"
        """The stream of messages."""
        self._look_at = 0.0
        self._suspected = 0

    @property
    def largest(self) -> int:
        """See `Broker.largest`."""
        payload = 0 if self._client is None else self._client.max_payload
        return max(payload - ROOM, payload // 2)

    async def connect(self) -> None:
        """See `Broker.connect`. From then on the client reaches the broker again by itself."""
        if self._client is None or self._client.is_closed:
            self._client = await self._connected()
        self._stream = self._client.jetstream(timeout=ANSWER_SECONDS)
        await self._make()

    async def _connected(self) -> Client:
        """A client that is connected. The package tries for ever, so it is given some seconds."""
        address, client = self._address, Client()
        host = f"[{address.host}]" if ":" in address.host else address.host
        refused = asyncio.Event()

        async def heard(error: Exception) -> None:
            if "authorization" in str(error).lower():
                refused.set()

        connecting = asyncio.ensure_future(
            client.connect(
                f"{'tls' if address.encrypted else 'nats'}://{host}:{address.port}",
                user=address.user or None,
                password=address.password or None,
                name=f"sglc {address.name}",
                error_cb=heard,
                connect_timeout=int(CONNECT_SECONDS),
                reconnect_time_wait=1,
                max_reconnect_attempts=-1,
            )
        )

        async def told() -> None:
            await refused.wait()

        telling = asyncio.ensure_future(told())
        both = {connecting, telling}
        await asyncio.wait(both, timeout=CONNECT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        telling.cancel()
        if connecting.done():
            await connecting
            return client
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        await client.close()
        if refused.is_set():
            raise ArgumentError("E0832", f"{address.shown} refuses", reason="user or password are not known")
        raise TimeoutError

    async def _make(self) -> None:
        """Make what is not there. What is there stays as it is."""
        name, keep = self._address.name, float(self._address.keep)
        calls = api.StreamConfig(
            name=self._calls,
            subjects=[f"{name}.calls"],
            retention=api.RetentionPolicy.WORK_QUEUE,
            duplicate_window=AGAIN_SECONDS,
        )
        replies = api.StreamConfig(
            name=f"{name}-replies",
            subjects=[f"{name}.reply.*"],
            max_age=keep,
            duplicate_window=min(AGAIN_SECONDS, keep),
        )
        dead = api.StreamConfig(
            name=f"{name}-dead",
            subjects=[f"{name}.dead"],
            max_msgs=MOST_LETTERS,
            duplicate_window=AGAIN_SECONDS,
        )
        for config in (calls, replies, dead):
            config.storage = api.StorageType.FILE
            await self._made(config)
        bucket = f"{name}-results"
        try:
            self._results = await self._stream.key_value(bucket)
        except js_errors.NotFoundError:
            kept = api.KeyValueConfig(bucket=bucket, ttl=keep, storage=api.StorageType.FILE)
            self._results = await self._stream.create_key_value(kept)
        await self._make_consumer()
        self._pull = await self._stream.pull_subscribe_bind(consumer=name, stream=self._calls)

    async def _make_consumer(self) -> None:
        name = self._address.name
        consumer = api.ConsumerConfig(
            durable_name=name,
            ack_policy=api.AckPolicy.EXPLICIT,
            ack_wait=float(self._address.idle),
            max_deliver=-1,
            max_ack_pending=MOST_HELD,
        )
        try:
            await self._stream.consumer_info(self._calls, name)
        except js_errors.NotFoundError:
            await self._stream.add_consumer(self._calls, consumer)

    async def _made(self, config: api.StreamConfig) -> None:
        assert config.name is not None
        try:
            await self._stream.stream_info(config.name)
        except js_errors.NotFoundError:
            await self._stream.add_stream(config)

    async def take(self, most: int, seconds: float) -> Sequence[Delivery]:
        """See `Broker.take`."""
        if self._client is None or self._client.is_closed:
            await self.connect()
        elif not self._client.is_connected:
            raise errors.ConnectionReconnectingError
        try:
            found = await self._pull.fetch(most, timeout=seconds)
        except TimeoutError:
            await self._recover()
            return []
        return [Delivery(each.data, each.metadata.num_delivered or 1, each) for each in found]

    async def _recover(self) -> None:
        """Have the broker deliver again what it has forgotten. One that was killed may know that a message
        was delivered, and neither that it is pending nor that it is gone: then nobody would ever get it. A
        consumer that is made anew delivers all that is in the stream; what has a result is not run again."""
        now = time.monotonic()
        if now < self._look_at:
            return
        self._look_at = now + self._address.idle * random.uniform(1, 2)  # not all workers at once
        try:
            suspected, self._suspected = self._suspected, await self._forgotten()
            if not (suspected and self._suspected):
                return
            LOG.warning("queue: %s has forgotten %d messages", self._address.shown, self._suspected)
            await self._stream.delete_consumer(self._calls, self._address.name)
        except js_errors.NotFoundError:
            pass  # somebody has taken it away: the broker says so to nobody who waits for messages
        self._suspected = 0
        await self._make_consumer()

    async def _forgotten(self) -> int:
        """Messages in the stream that are neither pending nor to be delivered; 0 where this changes now."""
        before = await self._counts()
        state = (await self._stream.stream_info(self._calls)).state
        left = state.messages - before[0] - before[1]
        return left if left > 0 and before == await self._counts() else 0

    async def _counts(self) -> tuple[int, int, int, int]:
        """Of the consumer: messages that are pending and to be delivered, deliveries, acknowledgements."""
        found = await self._stream.consumer_info(self._calls, self._address.name)
        delivered = 0 if found.delivered is None else found.delivered.consumer_seq
        acknowledged = 0 if found.ack_floor is None else found.ack_floor.consumer_seq
        return found.num_ack_pending or 0, found.num_pending or 0, delivered, acknowledged

    async def hold(self, delivery: Delivery) -> None:
        """See `Broker.hold`."""
        await _message(delivery).in_progress()

    async def stored(self, digest: str) -> str | None:
        """See `Broker.stored`."""
        try:
            found = await self._results.get(digest)
        except js_errors.KeyNotFoundError:
            return None
        return None if found.value is None else found.value.decode()

    async def settle(self, delivery: Delivery, outcome: Outcome) -> bool:
        """See `Broker.settle`."""
        name, message = self._address.name, _message(delivery)
        sequence = message.metadata.sequence.stream
        if outcome.digest:
            text = await self._kept(outcome)
            if outcome.content not in text:
                return False
            if outcome.reply:
                id = hashlib.sha256(f"{sequence} {outcome.digest}".encode()).hexdigest()
                await self._stream.publish(f"{name}.reply.{outcome.reply}", text.encode(), headers={_ID: id})
        if outcome.letter:
            await self._stream.publish(
                f"{name}.dead", outcome.letter.encode(), headers={_ID: f"{name} {sequence}"}
            )
        with contextlib.suppress(*self.faults):  # then it comes again, and its result is there
            await message.ack_sync(timeout=ANSWER_SECONDS)
        return True

    async def _kept(self, outcome: Outcome) -> str:
        """Store a result, or get the one that is stored."""
        try:
            await self._results.create(outcome.digest, outcome.text.encode())
        except js_errors.KeyWrongLastSequenceError:
            found = await self.stored(outcome.digest)
            if found is not None:
                return found
        return outcome.text

    async def give_back(self, delivery: Delivery, seconds: float, *, counted: bool) -> None:
        """See `Broker.give_back`. The broker counts all that it delivers."""
        with contextlib.suppress(errors.ConnectionClosedError):  # then it comes again after `idle` seconds
            await _message(delivery).nak(delay=seconds or None)

    async def close(self) -> None:
        """See `Broker.close`."""
        if self._client is not None and not self._client.is_closed:
            with contextlib.suppress(*self.faults):
                await self._client.flush(timeout=1)
            await self._client.close()


def _message(delivery: Delivery) -> Msg:
    assert isinstance(delivery.handle, Msg)
    return delivery.handle
