"""A server for tests: real sockets, a loop in a thread of its own, a scripted model that may be slow."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sglc.driver import compile_source
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.model.scripted import ScriptedCache, ScriptedModel
from sglc.runtime.serve.access import Access
from sglc.runtime.serve.admission import Admission
from sglc.runtime.serve.app import AppOptions, application
from sglc.runtime.serve.faces import MakeFace, Served
from sglc.runtime.serve.functions import FunctionTable, ServedFunction
from sglc.runtime.serve.listening import Listening, bound, listen
from sglc.runtime.serve.openai.face import CALLS, OpenAiFace
from sglc.runtime.serve.options import ServeLimits
from sglc.runtime.serve.runs import Runs
from sglc.runtime.session import Session
from sglc.source import Source


class PacedModel(ScriptedModel):
    """A scripted model each of whose passes takes some seconds. `passes` counts them."""

    def __init__(self, answers: Sequence[Any] | Mapping[str, Any], pace: float = 0.0) -> None:
        super().__init__(answers)
        self.pace = pace
        self.passes = 0

    def forward(self, cache: ScriptedCache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        self.passes += 1
        time.sleep(self.pace)
        return super().forward(cache, tokens, every)


@dataclass
class Reply:
    """An answer over HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def events(self) -> list[tuple[int, str, Any]]:
        """The body as server-sent events: id, name, data."""
        found = []
        for block in self.body.decode().split("\n\n"):
            lines = dict(
                line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":")
            )
            if lines:
                found.append((int(lines.get("id", 0)), lines["event"], json.loads(lines["data"])))
        return found


@dataclass
class Server:
    """A server that runs."""

    port: int
    runs: Runs
    table: FunctionTable
    model: PacedModel
    collector: Collector
    loop: asyncio.AbstractEventLoop
    stop: Callable[[], None]
    faults: list[BaseException] = field(default_factory=list)

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """One request on a connection of its own. A body that is no bytes is sent as JSON."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
            given = {"content-type": "application/json"} if body is not None else {}
            connection.request(method, path, sent, {**given, **(headers or {})})
            reply = connection.getresponse()
            return Reply(
                reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
            )
        finally:
            connection.close()

    def call(self, function: str, headers: Mapping[str, str] | None = None, **arguments: Any) -> Reply:
        """Call a function; `options` are those of the call."""
        options = arguments.pop("options", None)
        body = {"arguments": arguments} | ({} if options is None else {"options": options})
        return self.ask("POST", f"/v1/functions/{function}", body, headers)

    def until(self, condition: Callable[[], bool], seconds: float = 10.0) -> None:
        """Wait until something holds. Raises AssertionError where it does not come."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it did not come to be"
            time.sleep(0.005)


@contextmanager
def holding(goes_on: threading.Event) -> Iterator[None]:
    """Calls of functions that have a place go on only when something happens, while the block runs."""
    whole = ServedFunction.answer

    async def answer(self: ServedFunction, arguments: Any, options: Any, hear: Any) -> Any:
        while not goes_on.is_set():
            await asyncio.sleep(0.005)
        return await whole(self, arguments, options, hear)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServedFunction, "answer", answer)
        try:
            yield
        finally:
            goes_on.set()


@contextmanager
def serving(
    text: str,
    answers: Sequence[Any] | Mapping[str, Any] = (),
    *,
    limits: ServeLimits | None = None,
    access: Access | None = None,
    options: AppOptions | None = None,
    running: int = 4,
    pace: float = 0.0,
    model: PacedModel | None = None,
    tls: tuple[Path, Path] | None = None,
    faces: Sequence[MakeFace] = (),
    name: str = "served.sgl",
) -> Iterator[Server]:
    """Serve a program while the block runs; it must end within ten seconds then."""
    limits, access = limits or ServeLimits(grace=0.0), access or Access()
    compiled = compile_source(Source(name, text))
    assert compiled.program is not None, compiled.diagnostics
    model = model or PacedModel(answers, pace)
    engine = ReferenceEngine(model)
    socket = bound(Listening(port=0))
    started = threading.Event()
    made: list[Server] = []
    faults: list[BaseException] = []

    async def whole() -> None:
        collector = Collector()
        session = Session(compiled.program, engine, recorder=collector)
        table = FunctionTable([session])
        runs = Runs(limits, Admission(running, limits.waiting), access)
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        port = socket.getsockname()[1]
        stop = lambda: loop.call_soon_threadsafe(ended.set)  # noqa: E731
        made.append(Server(port, runs, table, model, collector, loop, stop, faults))
        others = [make(Served(table, runs, access, (engine,))) for make in faces]
        routes = [
            route for face in (*others, OpenAiFace(table, runs, [engine], collector)) for route in face.routes
        ]
        app = application(table, runs, access, replace(options or AppOptions(), routes=routes, calls=CALLS))
        async with AsyncExitStack() as beside:
            for face in others:
                await beside.enter_async_context(face.running())
            await listen(app, runs, Listening(port=port, tls=tls), socket, started.set, ended)

    def main() -> None:
        try:
            asyncio.run(whole())
        except BaseException as fault:
            faults.append(fault)
        finally:
            started.set()

    thread = threading.Thread(target=main, daemon=True)
    thread.start()
    assert started.wait(30)
    assert not faults, faults
    try:
        yield made[0]
    finally:
        made[0].stop()
        thread.join(10)
        engine.close()
        assert not thread.is_alive(), "the server does not end"
        assert not faults, faults
