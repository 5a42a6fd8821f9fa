"""Rates: how many requests and tokens a minute, and how many requests at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sglc.runtime.backends.exchange import Clock, Usage
from sglc.runtime.backends.policy.settings import Limits

BURST = 10
"""A bucket holds this part of a minute's amount: a tenth. So no minute sees more than 1.1 times the amount,
and a queue that was empty still starts at once with several requests."""


class TokenBucket:
    """An amount that refills evenly up to a tenth of what a minute has. Who takes more than is there leaves a
    debt that others wait for; so an amount larger than the bucket passes too, once the bucket is full."""

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._clock = clock
        self._rate = per_minute / 60
        self._most = max(1.0, per_minute / BURST)
        self._level = self._most
        self._seen: float | None = None

    def missing(self, amount: float) -> float:
        """Seconds before an amount can be taken."""
        now = self._clock.now()
        passed = 0.0 if self._seen is None else now - self._seen
        self._seen = now
        self._level = min(self._most, self._level + passed * self._rate)
        lacking = min(amount, self._most) - self._level
        return lacking / self._rate if lacking > 1e-9 else 0.0

    def take(self, amount: float) -> None:
        """Take an amount, or give back what was taken too much (below 0)."""
        self._level = min(self._most, self._level - amount)


@dataclass(slots=True)
class Slot:
    """The right to send one request, with the tokens that were reserved for it."""

    reserved: int
    used: int | None = None
    """Tokens that it took; None where nobody said: the estimate stands."""

    def correct(self, usage: Usage | None) -> None:
        """What the request took."""
        if usage is not None:
            self.used = usage.prompt + usage.output


class RateLimits:
    """Requests of one backend, in the order in which they came. A pause that the backend asked for holds for
    all: the limit that one request met is that of the key."""

    def __init__(self, limits: Limits, clock: Clock, told: Callable[[], float] = lambda: 0.0) -> None:
        """`told` says for how many seconds the service itself takes no more requests."""
        self._clock = clock
        self._slots = None if limits.at_once is None else asyncio.Semaphore(limits.at_once)
        self._requests = _bucket(limits.requests_per_minute, clock)
        self._tokens = _bucket(limits.tokens_per_minute, clock)
        self._turn = asyncio.Lock()
        self._paused_until = 0.0
        self._told = told

    @property
    def is_free(self) -> bool:
        """Whether nobody waits, and a request at once would wait neither for a slot nor for the service."""
        taken = self._turn.locked() or (self._slots is not None and self._slots.locked())
        return not taken and self._told() <= 0

    def pause(self, seconds: float) -> None:
        """Send nothing for some seconds."""
        self._paused_until = max(self._paused_until, self._clock.now() + seconds)

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[Slot]:
        """Wait for the turn of a request of about so many tokens, and hold its place until it ends."""
        if self._slots is not None:
            await self._slots.acquire()
        try:
            async with self._turn:
                await self._wait(tokens)
                for bucket, amount in ((self._requests, 1), (self._tokens, tokens)):
                    if bucket is not None:
                        bucket.take(amount)
            slot = Slot(tokens)
            try:
                yield slot
            finally:
                if self._tokens is not None and slot.used is not None:
                    self._tokens.take(slot.used - slot.reserved)
        finally:
            if self._slots is not None:
                self._slots.release()

    async def _wait(self, tokens: int) -> None:
        while True:
            waits = [self._paused_until - self._clock.now(), self._told()]
            waits += [self._requests.missing(1)] if self._requests is not None else []
            waits += [self._tokens.missing(tokens)] if self._tokens is not None else []
            if max(waits) <= 0:
                return
            await self._clock.sleep(max(waits))


def _bucket(per_minute: int | None, clock: Clock) -> TokenBucket | None:
    return None if per_minute is None else TokenBucket(per_minute, clock)
