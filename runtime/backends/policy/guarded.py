"""A chain of backends under their policies, as one backend."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from sglc.runtime.backends.exchange import (
    Backend,
    BackendFault,
    Clock,
    Ending,
    Event,
    Piece,
    Query,
    TextScore,
)
from sglc.runtime.backends.policy.accounts import Accounts
from sglc.runtime.backends.policy.answer import Answer
from sglc.runtime.backends.policy.breaker import Breaker
from sglc.runtime.backends.policy.member import Member, Tally
from sglc.runtime.backends.policy.retrying import retried
from sglc.runtime.backends.policy.settings import Policy
from sglc.runtime.backends.policy.weakest import weakest
from sglc.targets.projection.core.capabilities import Capabilities

T = TypeVar("T")
WAITING = 64
"""Pieces that wait for a slow reader before the request is left waiting itself."""
Suited = Callable[[Query, Backend], Query | None]
"""A query as a backend of the chain is to be asked; None where it cannot be."""


def guarded(
    backends: Sequence[Backend],
    policy: Policy,
    clock: Clock,
    accounts: Accounts,
    *,
    policies: Sequence[Policy] = (),
    suited: Suited | None = None,
    followed: bool = False,
) -> Backend:
    """A backend that asks the first of `backends`, and the next one where that fails.

    A query ends in one answer or in one BackendFault, whose `attempts` are the requests of all, whose
    `partial` is what came of the answer. `policies` are those of the backends one by one, where they differ
    from `policy`. `suited` writes a query for a backend of the chain; by itself a backend is asked what its
    capabilities allow. Where models of another kind follow (`followed`), the last backend is not waited for
    while its breaker is open. Backends at one endpoint share a breaker.
    """
    if not backends:
        raise ValueError("a chain has at least one backend")
    breakers = {backend.endpoint or backend.name: Breaker(clock) for backend in backends}
    own = [*policies, *[policy] * (len(backends) - len(policies))]
    members = [
        Member(backend, each, clock, accounts, breakers[backend.endpoint or backend.name])
        for backend, each in zip(backends, own, strict=True)
    ]
    return _Guarded(members, clock, suited or as_it_is, followed)


def as_it_is(query: Query, backend: Backend) -> Query | None:
    """The query itself where a backend can take it."""
    able = backend.capabilities
    enforced = query.enforced is None or query.enforced.notation in able.notations
    return query if enforced and (able.continues or not query.begun) else None


@dataclass(slots=True)
class _Guarded:
    members: Sequence[Member]
    clock: Clock
    suited: Suited
    followed: bool

    @property
    def name(self) -> str:
        return self.members[0].backend.name

    @property
    def endpoint(self) -> str:
        return self.members[0].backend.endpoint

    @property
    def capabilities(self) -> Capabilities:
        return weakest([member.backend.capabilities for member in self.members])

    def breakers(self) -> dict[str, tuple[str, float]]:
        found = {member.backend.endpoint or member.backend.name: member.breaker for member in self.members}
        return {name: (breaker.state, breaker.pause) for name, breaker in found.items()}

    async def stream(self, query: Query) -> AsyncGenerator[Event, None]:
        answer, tally = Answer(query), Tally()
        told: asyncio.Queue[Event | BaseException | None] = asyncio.Queue(WAITING)

        async def once(member: Member, suited: Query) -> Ending:
            return await _answered(member, suited, answer, tally, told)

        async def ask() -> None:
            try:
                await told.put(await self._chain(query, once, answer, tally))
            except Exception as fault:
                await told.put(fault)
            except asyncio.CancelledError as stopped:
                # By the reader, who waits no more; or from within, where he must not wait for ever.
                with suppress(asyncio.QueueFull):
                    told.put_nowait(stopped)
                raise

        async def ring(seconds: float) -> None:
            await self.clock.sleep(seconds)
            await told.put(None)

        tasks = []
        if query.deadline is not None:
            tasks.append(asyncio.create_task(ring(self._left(query, tally, answer))))
        tasks.append(asyncio.create_task(ask()))
        try:
            while not isinstance(event := await told.get(), Ending):
                if event is None:
                    break
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            await _end(tasks)
        if event is None:
            raise _overdue(tally, answer)
        yield event

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        answer, tally = Answer(query), Tally()

        async def once(member: Member, suited: Query) -> list[TextScore]:
            return await member.score(suited, texts, tally)

        scores = self._chain(query, once, answer, tally, scores=True)
        if query.deadline is None:
            return await scores
        work = asyncio.create_task(scores)
        timer = asyncio.create_task(_slept(self.clock, self._left(query, tally, answer)))
        try:
            await asyncio.wait({work, timer}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
        finally:
            await _end([work, timer])
        raise _overdue(tally, answer)

    async def close(self) -> None:
        for member in self.members:
            await member.backend.close()

    async def _chain(
        self,
        query: Query,
        once: Callable[[Member, Query], Awaitable[T]],
        answer: Answer,
        tally: Tally,
        *,
        scores: bool = False,
    ) -> T:
        """What the first backend says that does not fail. Raises the fault of the last one that was asked."""
        ways = [(member, self.suited(query, member.backend)) for member in self.members]
        able = [
            (member, suited)
            for member, suited in ways
            if suited is not None and (member.backend.capabilities.scores or not scores)
        ]
        fault = BackendFault("request", "it cannot do what is asked of it", endpoint=self.endpoint)
        for place, (member, suited) in enumerate(able, 1):
            is_last = place == len(able) and not self.followed
            if place > 1:
                answer.leave()
            try:
                if not member.is_prepared(suited):
                    await _prepared(member, suited, tally, patient=is_last)
                return await retried(member, suited, partial(once, member, suited), patient=is_last)
            except BackendFault as found:
                fault = found
                if found.cause in ("budget", "deadline") or answer.is_lost:
                    break
        raise _of_all(fault, tally, answer)

    def _left(self, query: Query, tally: Tally, answer: Answer) -> float:
        """Seconds before the deadline. Raises BackendFault where none are left: nothing is asked then."""
        left = (query.deadline or 0.0) - self.clock.now()
        if left <= 0:
            raise _overdue(tally, answer)
        return left


async def _prepared(member: Member, suited: Query, tally: Tally, *, patient: bool) -> None:
    """Asks what the backend has to know before a query. It has tries of its own, and only those that are in
    vain count among the requests of the query. Raises BackendFault."""
    own = Tally()
    try:
        await retried(member, suited, partial(member.prepare_for, suited, own), patient=patient)
    except BackendFault:
        tally.requests += own.requests
        raise


async def _answered(
    member: Member,
    suited: Query,
    answer: Answer,
    tally: Tally,
    told: asyncio.Queue[Event | BaseException | None],
) -> Ending:
    """One request for an answer, or for what is missing of it. Its pieces are told."""
    query = answer.request(suited, member.backend.capabilities)
    async with aclosing(member.events(query, tally)) as events:
        async for event in events:
            if isinstance(event, Piece):
                for piece in answer.take(event):
                    await told.put(piece)
            else:
                for piece in answer.rest():
                    await told.put(piece)
                by = event.answered_by or member.backend.name
                return replace(event, answered_by=by, attempts=tally.requests + event.attempts - 1)
    raise AssertionError  # the events of a member end with an Ending, or raise


def _of_all(fault: BackendFault, tally: Tally, answer: Answer) -> BackendFault:
    """The last fault, as that of the whole query."""
    return BackendFault(
        fault.cause,
        fault.message,
        endpoint=fault.endpoint,
        status=fault.status,
        again=fault.again,
        retry_after=fault.retry_after,
        attempts=tally.requests,
        partial=answer.partial,
        differs=fault.differs,
    )


def _overdue(tally: Tally, answer: Answer) -> BackendFault:
    sent = f"{tally.requests} request{'s' if tally.requests != 1 else ''}"
    return BackendFault(
        "deadline",
        f"no answer was whole when the time was up, after {sent}",
        attempts=tally.requests,
        partial=answer.partial,
    )


async def _slept(clock: Clock, seconds: float) -> None:
    await clock.sleep(seconds)


async def _end(tasks: Sequence[asyncio.Task[object]]) -> None:
    """Cancel tasks, and wait until what they held is given back."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
