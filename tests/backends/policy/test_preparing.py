"""What a backend has to know before a query has tries of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from backends.acted import END, ActedBackend, Step, overloaded, read
from backends.virtual_time import run
from sglc.runtime.backends.exchange import BackendFault, Ending, Message, Query
from sglc.runtime.backends.policy.accounts import Accounts
from sglc.runtime.backends.policy.clock import LoopClock
from sglc.runtime.backends.policy.guarded import guarded
from sglc.runtime.backends.policy.settings import Policy

LIMITED = BackendFault("rate", "not now", status=429, again=True)
"""A fault that says nothing against an endpoint, so that no breaker opens."""
QUERY = Query((Message("user", "Say hello."),), max_tokens=50, live=False)


@dataclass
class Preparing(ActedBackend):
    """Fails by `faults` before it is prepared, one a request."""

    faults: Sequence[BackendFault] = ()
    asked: int = 0
    ready: set[tuple[Message, ...]] = field(default_factory=set)

    def is_prepared(self, query: Query) -> bool:
        return query.messages in self.ready

    async def prepare_for(self, query: Query) -> None:
        self.asked += 1
        if self.asked <= len(self.faults):
            raise self.faults[self.asked - 1]
        self.ready.add(query.messages)


def asked(backend: Preparing, accounts: Accounts | None = None) -> tuple[str, Ending]:
    async def main() -> tuple[str, Ending]:
        chain = guarded([backend], Policy(), LoopClock(), accounts or Accounts())
        return await read(chain.stream(QUERY))

    return run(main())


def failing(times: int) -> Preparing:
    def act(number: int, _: Query) -> Sequence[Step]:
        return [LIMITED] if number < times else ["ok", END]

    return Preparing(act, faults=[LIMITED] * times)


def test_preparing_takes_no_try_of_the_answer() -> None:
    """As often as a query may fail, and its answer as often again."""
    backend, accounts = failing(Policy().retries), Accounts()
    text, ending = asked(backend, accounts)
    tries = Policy().retries + 1
    assert (text, backend.asked, len(backend.queries)) == ("ok", tries, tries)
    assert ending.attempts == tries == accounts.spendings[backend.name].requests


def test_a_prepared_query_is_not_prepared_again() -> None:
    backend = failing(0)
    backend.ready.add(QUERY.messages)
    assert asked(backend)[0] == "ok" and backend.asked == 0


@pytest.mark.parametrize(
    ("fault", "tries"),
    [(LIMITED, Policy().retries + 1), (BackendFault("access", "no", status=401), 1)],
)
def test_tries_in_vain_are_counted(fault: BackendFault, tries: int) -> None:
    backend = Preparing(lambda number, _: ["ok", END], faults=[fault] * 20)
    with pytest.raises(BackendFault) as caught:
        asked(backend)
    assert (caught.value.cause, caught.value.attempts) == (fault.cause, tries)
    assert (backend.asked, backend.queries) == (tries, [])


def test_an_endpoint_that_cannot_be_prepared_is_left_alone() -> None:
    """Faults before a query speak against the endpoint as others do: the breaker opens behind five."""
    backend = failing(5)
    backend.faults = [overloaded()] * 5

    async def main() -> float:
        clock = LoopClock()
        await read(guarded([backend], Policy(), clock, Accounts()).stream(QUERY))
        return clock.now()

    assert run(main()) >= 5.0
