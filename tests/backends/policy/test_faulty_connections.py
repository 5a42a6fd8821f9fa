"""Rows over real connections that fail in every way, by each protocol: every row has its own value, once."""

from __future__ import annotations

import asyncio

import pytest

from backends.faults import Fault, Scheduled, Seeded
from backends.servers.faulty_server import FIRST, NAMES, PROGRAM, RATES, FaultyServer, faulty_server, value_of
from example_budget import examples
from sglc.driver import compile_source
from sglc.runtime.backends.backend_settings import BackendSettings
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.backends.http_transport import HttpTransport
from sglc.runtime.backends.policy import backoff
from sglc.runtime.backends.policy.accounts import Accounts
from sglc.runtime.backends.policy.clock import LoopClock
from sglc.runtime.backends.policy.guarded import guarded
from sglc.runtime.backends.policy.settings import Policy
from sglc.runtime.backends.registry import open_backend
from sglc.runtime.backends.transport import Timeouts
from sglc.runtime.errors import SglError
from sglc.runtime.session import Session
from sglc.source import Source

TIMEOUTS = Timeouts(connect=5.0, first=3.0, between=1.0, whole=30.0)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before requests that are sent again."""
    monkeypatch.setattr(backoff, "FIRST", 0.05)


def session_of(server: FaultyServer) -> tuple[Session, RemoteModel]:
    program = compile_source(Source("rows.sgl", PROGRAM)).program
    assert program is not None
    transport = HttpTransport(verify=False)  # nothing is encrypted here: no certificates are read
    backend = open_backend(server.name, BackendSettings(timeouts=TIMEOUTS), server.environment, transport)
    accounts = Accounts()
    model = RemoteModel(guarded([backend], Policy(), LoopClock(), accounts), accounts)
    return Session(program, model), model


async def rows(kind: str, source: Seeded | Scheduled, count: int) -> tuple[FaultyServer, list[object]]:
    """What comes of rows, at most 16 at a time: values as JSON has them, or errors."""
    async with faulty_server(kind, source, stall=2 * TIMEOUTS.between) as server:
        session, model = session_of(server)
        turn = asyncio.Semaphore(16)

        async def one(number: int) -> object:
            async with turn:
                try:
                    value = (await session.run("row", {"n": number})).value
                except SglError as error:
                    return error
            return {**value.fields, "said": value.fields["said"]}

        found = await asyncio.gather(*map(one, range(FIRST, FIRST + count)))
        await model.backend.close()
        return server, list(found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", NAMES)
def test_every_row_has_its_own_value(kind: str) -> None:
    count = examples(12)
    server, found = asyncio.run(rows(kind, Seeded(RATES, 5), count))
    assert found == [value_of(number) for number in range(FIRST, FIRST + count)]
    assert set(server.asked) <= set(range(FIRST, FIRST + count))
    assert sum(server.asked.values()) <= 1.6 * count + 8, server.happened
    assert sum(server.happened.values()) >= 0.2 * count


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("fault", ["truncate", "twice", "garble"])
def test_the_row_behind_a_spoilt_reply_is_not_spoilt(kind: str, fault: str) -> None:
    """One row after the other on a connection that is kept: what is left of a reply is nobody's answer."""

    async def main() -> None:
        schedule = Scheduled([None, Fault(fault, where=0.6), None, None, None, None])  # type: ignore[arg-type]
        async with faulty_server(kind, schedule) as server:
            session, model = session_of(server)
            for number in (1001, 1002, 1003):
                value = (await session.run("row", {"n": number})).value
                assert value.fields == value_of(number)
            await model.backend.close()

    asyncio.run(main())


def test_what_is_sent_again_does_not_need_its_template_again() -> None:
    async def main() -> list[str]:
        async with faulty_server("llama", Scheduled([None, Fault("status", 500), None])) as server:
            session, model = session_of(server)
            await session.run("row", {"n": FIRST})
            await model.backend.close()
            return [seen.line.split()[1] for seen in server.raw.requests]

    assert asyncio.run(main()) == ["/apply-template", "/completion", "/completion"]
