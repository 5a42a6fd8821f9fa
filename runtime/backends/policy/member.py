"""One backend under its policy: each request passes budget, rates and breaker, and is put down afterwards."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from sglc.runtime.backends.exchange import (
    Backend,
    BackendFault,
    Clock,
    Ending,
    Event,
    LimitedBackend,
    Piece,
    PreparingBackend,
    Query,
    TextScore,
    Usage,
)
from sglc.runtime.backends.policy.accounts import Accounts, estimate
from sglc.runtime.backends.policy.backoff import MOST_PATIENCE, Backoff
from sglc.runtime.backends.policy.breaker import Breaker, counts
from sglc.runtime.backends.policy.hedging import FirstTokens, raced
from sglc.runtime.backends.policy.rates import RateLimits
from sglc.runtime.backends.policy.retry_budget import RetryBudget
from sglc.runtime.backends.policy.settings import Policy

NO_END = "the answer stopped without an end"


class Blocked(Exception):
    """The breaker is open: no request was sent."""


@dataclass(slots=True)
class Tally:
    """What one query took: requests sent, of all backends."""

    requests: int = 0


@dataclass(slots=True)
class Heard:
    """What one request has said so far."""

    since: float
    pieces: int = 0
    spoke_after: float | None = None
    ending: Ending | None = None

    def note(self, event: Event, now: float) -> None:
        """An event came."""
        if self.spoke_after is None:
            self.spoke_after = now - self.since
        if isinstance(event, Piece):
            self.pieces += 1
        else:
            self.ending = event


@dataclass(slots=True)
class Member:
    """A backend, and all that is known of it. It is shared by all queries."""

    backend: Backend
    policy: Policy
    clock: Clock
    accounts: Accounts
    breaker: Breaker
    limits: RateLimits = field(init=False)
    retry_budget: RetryBudget = field(init=False)
    backoff: Backoff = field(init=False)
    first_tokens: FirstTokens = field(default_factory=FirstTokens)

    def __post_init__(self) -> None:
        told = self.backend.closed_for if isinstance(self.backend, LimitedBackend) else lambda: 0.0
        self.limits = RateLimits(self.policy.limits, self.clock, told)
        self.retry_budget = RetryBudget(self.clock)
        self.backoff = Backoff(self.policy.seed)

    def events(self, query: Query, tally: Tally) -> AsyncGenerator[Event, None]:
        """The events of one request, or of two where the policy hedges. Raises BackendFault, Blocked."""
        after = self.first_tokens.hedge_after(self.policy.hedge)
        if after is None:
            return self._events(query, tally)
        return raced(lambda: self._events(query, tally), after, self._may_hedge, self.clock, query.live)

    def is_prepared(self, query: Query) -> bool:
        """Whether the backend has to ask nothing before the query."""
        return not isinstance(self.backend, PreparingBackend) or self.backend.is_prepared(query)

    async def prepare_for(self, query: Query, tally: Tally) -> None:
        """Ask what the backend has to know before the query: no tokens, so that it takes nothing of rates and
        budgets. Raises BackendFault, Blocked."""
        assert isinstance(self.backend, PreparingBackend)
        with self._entered(tally):
            await self.backend.prepare_for(query)

    async def score(self, query: Query, texts: Sequence[str], tally: Tally) -> list[TextScore]:
        """Scores by one request. Raises BackendFault, Blocked."""
        async with self._request(estimate(query), tally) as heard:
            scores = await self.backend.score(query, texts)
            read = sum(len(score.tokens) for score in scores)
            heard.note(Ending("stop", Usage(estimate(query).prompt + read)), self.clock.now())
            return scores

    async def _events(self, query: Query, tally: Tally) -> AsyncGenerator[Event, None]:
        async with self._request(estimate(query), tally) as heard:
            stream = self.backend.stream(query)
            try:
                async for event in stream:
                    heard.note(event, self.clock.now())
                    if heard.ending is not None:
                        break
                    yield event
            finally:
                await _close(stream)
            if heard.ending is None:
                raise BackendFault("connection", NO_END, endpoint=self.backend.endpoint, again=True)
        yield heard.ending

    def _may_hedge(self) -> bool:
        """Whether a second request is sent: nobody has to wait for it, and it counts as a retry."""
        return self.limits.is_free and not self.breaker.blocks and self.retry_budget.take()

    @asynccontextmanager
    async def _request(self, expected: Usage, tally: Tally) -> AsyncIterator[Heard]:
        """One request: what it may take is put aside, its turn is waited for, its outcome is put down."""
        self.accounts.reserve(self.backend.name, expected, self.policy)
        taken: Usage | None = None
        heard = Heard(0.0)
        try:
            async with self.limits.slot(expected.prompt + expected.output) as slot:
                try:
                    with self._entered(tally):
                        heard.since = self.clock.now()
                        taken = Usage(expected.prompt)
                        yield heard
                except Blocked:
                    slot.correct(Usage())
                    raise
                except BaseException as error:
                    fault = error if isinstance(error, BackendFault) else None
                    taken = _taken(expected, heard, fault)
                    raise
                taken = _taken(expected, heard, None)
                slot.correct(taken)
                if heard.spoke_after is not None:
                    self.first_tokens.note(heard.spoke_after)
        finally:
            told = taken is None or _is_told(heard)
            self.accounts.settle(self.backend.name, expected, taken, self.policy, told=told)

    @contextmanager
    def _entered(self, tally: Tally) -> Iterator[None]:
        """A request as breaker and retry budget see it. Raises Blocked where the breaker is open."""
        ticket = self.breaker.enter()
        if ticket is None:
            raise Blocked
        tally.requests += 1
        self.retry_budget.request()
        try:
            yield
        except BaseException as error:
            # What the query's own deadline ended says nothing of the endpoint.
            if isinstance(error, BackendFault) and error.cause != "deadline":
                self._failed(error, ticket)
            else:
                self.breaker.left(ticket)
            raise
        self.breaker.succeeded(ticket)

    def _failed(self, fault: BackendFault, ticket: int) -> None:
        if counts(fault):
            self.breaker.failed(ticket)
        else:
            self.breaker.succeeded(ticket)
        told = fault.retry_after
        if fault.cause == "rate" and told is not None and math.isfinite(told) and told > 0:
            self.limits.pause(min(told, MOST_PATIENCE))


def _is_told(heard: Heard) -> bool:
    return heard.ending is not None and heard.ending.usage is not None


def _taken(expected: Usage, heard: Heard, fault: BackendFault | None) -> Usage:
    """What a request took: as the backend says, nothing where it was refused by a status, else the prompt
    and a token for each piece that came."""
    if heard.ending is not None and heard.ending.usage is not None:
        return heard.ending.usage
    if fault is not None and fault.status is not None and not heard.pieces:
        return Usage()
    return Usage(expected.prompt, heard.pieces)


async def _close(stream: AsyncIterator[Event]) -> None:
    """Close an iterator that can be closed: a generator."""
    if isinstance(stream, AsyncGenerator):
        await stream.aclose()
