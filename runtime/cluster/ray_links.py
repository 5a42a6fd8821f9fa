"""Workers as actors of Ray, on this machine or a cluster. Needs the package `ray`, imported only here.

An actor has two methods, and both know texts alone: messages as lines of JSON. A thread of the actor runs the
worker. What is sent and what is received have a thread each, so that both keep their order.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import queue
import socket
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, TypeVar, cast

from sglc.runtime.cluster.links import Link, Starter
from sglc.runtime.cluster.scaling import Sizes
from sglc.runtime.errors import ArgumentError

LOG = logging.getLogger("sglc.cluster")
F = TypeVar("F")
INWARD, OUTWARD = "inward", "outward"
"""Groups of threads of an actor, one thread each."""
CONNECTING = 10.0
"""Seconds in which a cluster must answer."""
MOST_LINES = 1024
"""Most messages that are fetched at once."""
_EXTRA = "pip install 'sglc[ray]'"
_REACHED = (
    "`ray start --head` starts one, port 10001 is the one for ray://; where it wants a token, set "
    "RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
)


class LineWorker:
    """A worker in a thread, whose messages are put in and taken out. An actor of Ray has one. With `parallel`
    processes it is a group of these on the actor's machine."""

    def __init__(self, parallel: int = 1, threads: int | None = None) -> None:
        self._group = (parallel, threads)
        self._out: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._lines: asyncio.Queue[str | bytes | None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="sglc-worker", daemon=True)
        self._thread.start()
        ready.wait()

    def put(self, line: str) -> None:
        """Hand the worker a message."""
        assert self._loop is not None and self._lines is not None
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(partial(self._lines.put_nowait, line))

    def take(self) -> list[str]:
        """What the worker has told since the last time, at least one message; none once it has ended."""
        found: list[str] = []
        line = self._out.get()
        while line is not None:
            found.append(line)
            if len(found) == MOST_LINES or self._out.empty():
                return found
            line = self._out.get()
        self._out.put(None)  # for the next time
        return found

    def _run(self, ready: threading.Event) -> None:
        from sglc.runtime.cluster.worker import Worker

        async def whole() -> None:
            self._lines = asyncio.Queue()
            self._loop = asyncio.get_running_loop()
            ready.set()
            if self._group[0] == 1:
                await Worker(self._out.put).serve(self._lines)
            else:
                await self._relay(self._lines)

        try:
            asyncio.run(whole())
        finally:
            self._out.put(None)

    async def _relay(self, lines: asyncio.Queue[str | bytes | None]) -> None:
        """Hand messages on to a group of processes and back, until it ends."""
        from sglc.runtime.cluster.group_links import GroupLink

        link = await GroupLink.start(*self._group)

        async def inward() -> None:
            while (line := await lines.get()) is not None:
                link.send(str(line))

        handing = asyncio.ensure_future(inward())
        try:
            while (told := await link.receive()) is not None:
                self._out.put(told.decode("ascii") if isinstance(told, bytes) else told)
        finally:
            handing.cancel()
            await link.close(kill=True)


class _Method(Protocol):
    """A method of an actor. Calls give promises at once."""

    def remote(self, *values: str) -> Awaitable[object]: ...


class _Actor(Protocol):
    """The handle of an actor of `_actor_class`."""

    @property
    def put(self) -> _Method: ...

    @property
    def take(self) -> _Method: ...


class _Ray(Protocol):
    """What is used of the package."""

    def is_initialized(self) -> bool: ...

    def init(self, **options: object) -> object: ...

    def kill(self, actor: _Actor) -> None: ...

    def remote(self, **options: object) -> Callable[[type], object]: ...

    def method(self, *, concurrency_group: str) -> Callable[[F], F]: ...


def _ray() -> _Ray:
    return cast(_Ray, import_module("ray"))


class RayLink:
    """An actor. It ends with the job of the front, also where that was killed."""

    def __init__(self, actor: _Actor, number: int) -> None:
        self.actor = actor
        self.name = f"actor {number}"
        self._taken: deque[str] = deque()

    def send(self, line: str) -> None:
        """See `Link.send`."""
        with suppress(Exception):  # Ray raises where it knows already that the actor is dead
            self.actor.put.remote(line)

    async def receive(self) -> str | bytes | None:
        """See `Link.receive`."""
        if not self._taken:
            try:
                found = await self.actor.take.remote()
            except Exception as problem:  # Ray has a dozen classes for a worker that is no more
                LOG.debug("%s: %s", self.name, problem)
                return None
            self._taken.extend(str(line) for line in cast(Iterable[object], found))
        return self._taken.popleft() if self._taken else None

    async def close(self, *, kill: bool = False) -> None:
        """See `Link.close`."""
        with suppress(Exception):
            _ray().kill(self.actor)


def ray_starter(cluster: str, sizes: Sizes, threads: int | None, device: str, parallel: int = 1) -> Starter:
    """What starts workers on a cluster (`ray://HOST:PORT`), or with `local` on Ray of this machine, which is
    started for it. Each of its `parallel` processes takes as many CPUs as it has threads, one where that is
    not said, and a GPU for `cuda`. Raises ArgumentError."""
    try:
        ray = _ray()
    except ImportError as missing:
        raise ArgumentError("E0812", f"`--cluster` needs the package {missing.name}", hint=_EXTRA) from None
    if cluster != "local" and find_spec("grpc") is None:
        raise ArgumentError("E0812", "`--cluster ray://…` needs the package grpcio", hint=_EXTRA)
    processors = (threads or 1) * parallel
    if not ray.is_initialized():
        quiet: dict[str, object] = {
            "logging_level": logging.ERROR,
            "configure_logging": False,
            "log_to_driver": False,
        }
        try:
            if cluster == "local":
                most = max(os.cpu_count() or 1, sizes.most * processors)
                ray.init(address="local", num_cpus=most, include_dashboard=False, **quiet)
            else:
                _check_answers(cluster)
                ray.init(address=cluster, **quiet)
        except Exception as problem:  # also of grpc
            raise ArgumentError(
                "E0840",
                f"there is no cluster of Ray at {cluster}",
                reason=str(problem).splitlines()[0] if str(problem) else type(problem).__name__,
                hint=_REACHED,
            ) from None
    made = ray.remote(
        num_cpus=processors,
        num_gpus=parallel if device.startswith("cuda") else 0,
        max_restarts=0,
        concurrency_groups={INWARD: 1, OUTWARD: 1},
    )(_actor_class(ray, parallel, threads))
    numbers = itertools.count(1)

    async def start() -> Link:
        actor = cast(_ActorClass, made).remote()
        return RayLink(actor, next(numbers))

    return start


def _actor_class(ray: _Ray, parallel: int, threads: int | None) -> type:
    """The class of actors. It is made here, so that it travels with the groups of its methods: a class that a
    module has is imported on the other machine, which knows nothing of them."""

    class LineActor:
        def __init__(self) -> None:
            self._worker = LineWorker(parallel, threads)

        @ray.method(concurrency_group=INWARD)
        def put(self, line: str) -> None:
            self._worker.put(line)

        @ray.method(concurrency_group=OUTWARD)
        def take(self) -> list[str]:
            return self._worker.take()

    return LineActor


def _check_answers(cluster: str) -> None:
    """Raises OSError where nobody listens at `ray://HOST:PORT`, for which Ray itself takes half a minute."""
    host, _, port = cluster.removeprefix("ray://").rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), CONNECTING).close()


class _ActorClass(Protocol):
    def remote(self) -> _Actor: ...
