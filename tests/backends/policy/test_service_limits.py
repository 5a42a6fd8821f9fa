"""What services say of their limits, and deadlines: no request is sent into a 429 that was foretold."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from backends.acted import read
from backends.in_process import InProcess, StubReply
from backends.stub_model import StubModel
from backends.stub_servers import StubAnthropic, StubOpenAI
from backends.virtual_time import run
from sglc.runtime.backends.backend_settings import BackendSettings
from sglc.runtime.backends.exchange import Backend, BackendFault, Message, Query
from sglc.runtime.backends.policy.accounts import Accounts
from sglc.runtime.backends.policy.clock import LoopClock
from sglc.runtime.backends.policy.guarded import guarded
from sglc.runtime.backends.policy.settings import Policy
from sglc.runtime.backends.protocols.core.service import TICK
from sglc.runtime.backends.protocols.core.service_limits import LONGEST_PAUSE, ServiceLimits, seconds_of
from sglc.runtime.backends.registry import open_backend
from sglc.runtime.backends.transport import HttpReply, HttpRequest

QUERY = Query((Message("user", "Say hello."),), max_tokens=50, live=False)
KEYS = {"OPENAI_API_KEY": "sk-test", "ANTHROPIC_API_KEY": "sk-test"}
DATE = "Thu, 26 Nov 2026 17:00:00 GMT"


def openai(what: str, left: str, reset: str) -> dict[str, str]:
    return {f"x-ratelimit-remaining-{what}": left, f"x-ratelimit-reset-{what}": reset}


def anthropic(what: str, left: str, reset: str) -> dict[str, str]:
    names = (f"anthropic-ratelimit-{what}-remaining", f"anthropic-ratelimit-{what}-reset")
    return {**dict(zip(names, (left, reset), strict=True)), "date": DATE}


class Server:
    """A stub server whose replies have headers of limits; `times` are those of its requests."""

    def __init__(self, name: str, headers: Mapping[str, str]) -> None:
        stub = StubOpenAI(StubModel()) if name.startswith("openai") else StubAnthropic(StubModel())
        self.times: list[float] = []

        def app(path: str, body: object, request: object) -> StubReply:
            self.times.append(LoopClock().now())
            reply = stub.answer(path, body)
            return replace(reply, headers={**reply.headers, **headers})

        opened = open_backend(name, environment=KEYS, transport=InProcess(app))
        self.backend: Backend = guarded([opened], Policy(), LoopClock(), Accounts())

    async def ask(self, query: Query = QUERY) -> None:
        async for _ in self.backend.stream(query):
            pass


@pytest.mark.parametrize(
    ("name", "headers", "waits"),
    [
        ("openai:gpt-4.1", openai("requests", "0", "2.5s"), 2.5),
        ("openai:gpt-4.1", openai("tokens", "0", "1m0s"), 60.0),
        ("openai:gpt-4.1", openai("requests", "1", "2.5s"), 0.0),
        ("openai:gpt-4.1", openai("requests", "0", ""), 0.0),
        ("openai:gpt-4.1", openai("requests", "0", "9h"), LONGEST_PAUSE),
        ("anthropic:claude", anthropic("requests", "0", "2026-11-26T17:00:30Z"), 30.0),
        ("anthropic:claude", anthropic("output-tokens", "0", "2026-11-26T17:00:01+00:00"), 1.0),
        ("anthropic:claude", anthropic("tokens", "0", "2026-11-26T16:00:00Z"), 0.0),
        ("anthropic:claude", anthropic("tokens", "0", "9999-12-31T00:00:00Z"), LONGEST_PAUSE),
    ],
)
def test_where_nothing_is_left_the_reset_is_waited_for(
    name: str, headers: dict[str, str], waits: float
) -> None:
    async def main() -> list[float]:
        server = Server(name, headers)
        await server.ask()
        await asyncio.gather(server.ask(), server.ask())
        return server.times

    first, second, third = run(main())
    assert first == 0.0
    assert second == pytest.approx(waits, abs=1e-3)
    assert third >= second


def test_requests_that_wait_for_their_turn_hear_of_it_too() -> None:
    async def main() -> list[float]:
        server = Server("openai:gpt-4.1", openai("requests", "0", "10s"))
        await asyncio.gather(*(server.ask() for _ in range(3)))
        return server.times

    times = run(main())
    assert times[0] == 0.0 and max(times) <= 20.1


def test_the_deadline_ends_the_wait() -> None:
    async def main() -> tuple[float, int]:
        server = Server("openai:gpt-4.1", openai("requests", "0", "60s"))
        await server.ask()
        with pytest.raises(BackendFault) as caught:
            await server.ask(replace(QUERY, deadline=5.0))
        assert (caught.value.cause, caught.value.attempts) == ("deadline", 0)
        return LoopClock().now(), len(server.times)

    assert run(main()) == (pytest.approx(5.0), 1)


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("6m0s", 360.0),
        ("1h2m3.5s", 3723.5),
        ("20ms", 0.02),
        ("1d", 86_400.0),
        ("7", 7.0),
        ("2026-11-26T17:00:02Z", 2.0),
        ("", 0.0),
        ("soon", 0.0),
        ("-5s", 0.0),
        ("1s2", 0.0),
        ("nan", 0.0),
        ("inf", 0.0),
        ("9" * 400, 0.0),
        ("2026-11-26", 0.0),
        ("2026-13-99T99:00:00Z", 0.0),
        ("٣s", 0.0),
    ],
)
def test_what_is_read_of_a_reset(reset: str, seconds: float) -> None:
    assert seconds_of(reset, DATE) == pytest.approx(seconds)


def test_a_date_that_is_none_changes_nothing() -> None:
    async def main() -> float:
        limits = ServiceLimits(LoopClock())
        limits.note({**anthropic("requests", "0", "2026-11-26T17:00:30Z"), "date": "yesterday"})
        return limits.closed_for()

    assert run(main()) == 0.0


@pytest.mark.parametrize(
    ("more", "cause"), [(0.0, "deadline"), (TICK / 2, "deadline"), (TICK * 2, "connection")]
)
def test_what_the_deadline_ends_is_no_fault_of_the_connection(more: float, cause: str) -> None:
    """A request that breaks off when its query's deadline has come; `more` seconds before it."""

    class Passing:
        time = 100.0

        def now(self) -> float:
            return self.time

        async def sleep(self, seconds: float) -> None:
            raise AssertionError

    class Breaking:
        @asynccontextmanager
        async def send(self, request: HttpRequest) -> AsyncIterator[HttpReply]:
            clock.time += 5.0
            raise BackendFault("connection", "it broke off", again=True)
            yield

        async def close(self) -> None:
            pass

    clock = Passing()
    backend = open_backend("openai:gpt-5", BackendSettings(), KEYS, Breaking(), clock)

    async def main() -> BackendFault:
        with pytest.raises(BackendFault) as caught:
            await read(backend.stream(replace(QUERY, deadline=105.0 + more)))
        return caught.value

    found = run(main())
    assert (found.cause, found.again) == (cause, cause == "connection")
