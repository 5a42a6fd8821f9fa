"""One backend asked until it answers, or until more requests are in vain."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from sglc.runtime.backends.exchange import BackendFault, Query
from sglc.runtime.backends.policy.member import Blocked, Member

T = TypeVar("T")
LONGEST_OUTAGE = 60.0
"""Seconds that a query waits for a breaker in all: three pauses (5, 10, 20) fit, and restarts take less. Who
has another backend or a deadline does not wait so long."""
MOST_GARBLED = 2
"""Retries of a query behind answers that are not as the protocol says. One may have been garbled on its way,
or cut as if it were whole; a server that says so three times has another protocol."""
LOOK_AGAIN = 1.0
"""Seconds before a retry asks again whether the retry budget has room: counts of it are by the second."""


async def retried(member: Member, query: Query, once: Callable[[], Awaitable[T]], *, patient: bool) -> T:
    """What `once` gives, which sends one request. It is called again behind faults that may pass, after the
    waits of the policy, never past the deadline, and as often as the retry budget allows. Where the query
    can go to another backend (not `patient`), an open breaker or a used-up retry budget ends it at once; else
    it waits for them, for a breaker a minute at most.

    Faults of rates take nothing of the retry budget: a backend that limits rates is not in distress, and all
    wait for as long as it says. Raises BackendFault: the last one.
    """
    last: BackendFault | None = None
    failures, garbled, waited = 0, 0, 0.0
    while True:
        try:
            return await once()
        except Blocked:
            pause = member.breaker.pause
            if not patient or waited + pause > LONGEST_OUTAGE or _too_late(member, query, pause):
                raise last or _left_alone(member, pause) from None
            since = member.clock.now()
            await member.breaker.wait()
            waited += member.clock.now() - since
            continue
        except BackendFault as fault:
            last = fault
            again = member.backoff.wait(failures, fault)
            garbled += fault.cause == "protocol"
            if (
                garbled > MOST_GARBLED
                or again is None
                or failures >= member.policy.retries
                or _too_late(member, query, again)
            ):
                raise
        failures += 1
        await member.clock.sleep(again)
        while last.cause != "rate" and not member.retry_budget.take():
            if not patient or _too_late(member, query, LOOK_AGAIN):
                raise last
            await member.clock.sleep(LOOK_AGAIN)


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
