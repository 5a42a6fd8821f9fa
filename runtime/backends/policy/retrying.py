"""One backend asked until it answers, or until more requests are in vain."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count
from typing import TypeVar

from sglc.runtime.backends.exchange import BackendFault, Query
from sglc.runtime.backends.policy.member import Blocked, Member

T = TypeVar("T")
LOOK_AGAIN = 1.0
"""Seconds before a retry asks again whether the retry budget has room: counts of it are by the second."""


async def retried(member: Member, query: Query, once: Callable[[], Awaitable[T]], *, patient: bool) -> T:
    """What `once` gives, which sends one request. It is called again behind faults that may pass, after the
    waits of the policy, never past the deadline, and as often as the retry budget allows. Where the query
    can go to another backend (not `patient`), an open breaker or a used-up retry budget ends it at once.

    Faults of rates take nothing of the retry budget: a backend that limits rates is not in distress, and all
    wait for as long as it says. Raises BackendFault: the last one.
    """
    last: BackendFault | None = None
    for failures in count():
        is_last = failures >= member.policy.retries
        try:
            return await once()
        except Blocked:
            wait = member.breaker.pause
            if is_last or not patient or _too_late(member, query, wait):
                raise last or _left_alone(member, wait) from None
            await member.breaker.wait()
            continue
        except BackendFault as fault:
            last = fault
            again = member.backoff.wait(failures, fault)
            if again is None or is_last or _too_late(member, query, again):
                raise
        await member.clock.sleep(again)
        while last.cause != "rate" and not member.retry_budget.take():
            if not patient or _too_late(member, query, LOOK_AGAIN):
                raise last
            await member.clock.sleep(LOOK_AGAIN)
    raise AssertionError  # `count` has no end


def _too_late(member: Member, query: Query, wait: float) -> bool:
    return query.deadline is not None and member.clock.now() + wait >= query.deadline


def _left_alone(member: Member, wait: float) -> BackendFault:
    """The fault of a query whose backend is left alone."""
    return BackendFault(
        "overloaded",
        "no request was sent: the last ones failed",
        endpoint=member.backend.endpoint,
        again=True,
        retry_after=wait,
    )
