"""Workers as actors of Ray, on this machine or a cluster. Needs the package `ray`, imported only here.

An actor has two methods, and both know texts alone: messages as lines of JSON. A thread of the actor runs the
worker. What is sent and what is received have a thread each, so that both keep their order.

Ray's client blocks where its cluster does not answer: for half a minute, in calls and even where the last
reference to an object goes. So the front has threads for it that nobody waits for without a bound of time.
"""

from __future__ import annotations

import asyncio
import atexit
import itertools
import logging
import os
import queue
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, TypeVar, cast

from sglc.runtime.cluster.daemon_calls import DaemonCalls
from sglc.runtime.cluster.links import Link, Starter
from sglc.runtime.cluster.messages import END
from sglc.runtime.cluster.scaling import Sizes
from sglc.runtime.errors import ArgumentError

LOG = logging.getLogger("sglc.cluster")
F = TypeVar("F")
INWARD, OUTWARD = "inward", "outward"
"""Groups of threads of an actor, one thread each."""
CONNECTING = 10.0
"""Seconds in which a cluster must answer."""
CLOSING = 1.0
"""Seconds in which Ray must tell an actor to end, and end it; then it is left to the end of the job."""
LEAVING = 2.0
"""Seconds in which the cluster must be left at the end of the process."""
AUTO_CONNECT = "RAY_ENABLE_AUTO_CONNECT"
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


class _Promise(Protocol):
    """What a call of a method gives at once."""

    def future(self) -> Future[object]: ...


class _Method(Protocol):
    """A method of an actor."""

    def remote(self, *values: str) -> _Promise: ...


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

    def shutdown(self) -> None: ...

    def kill(self, actor: _Actor) -> None: ...

    def remote(self, **options: object) -> Callable[[type], object]: ...

    def method(self, *, concurrency_group: str) -> Callable[[F], F]: ...


def _ray() -> _Ray:
    """The package. It is told to begin no cluster by itself on this machine, as it does where a call finds
    none, such as after its client has lost one."""
    before = os.environ.get(AUTO_CONNECT)
    os.environ[AUTO_CONNECT] = "0"
    try:
        return cast(_Ray, import_module("ray"))
    finally:
        if before is None:
            del os.environ[AUTO_CONNECT]
        else:
            os.environ[AUTO_CONNECT] = before


class RayLink:
    """An actor. It ends with the job of the front, also where that was killed. `calls` are those to Ray, in
    their order."""

    def __init__(self, ray: _Ray, actor: _Actor, number: int, calls: DaemonCalls) -> None:
        self.name = f"actor {number}"
        self._ray = ray
        self._actor = actor
        self._calls = calls
        self._loop = asyncio.get_running_loop()
        self._told: asyncio.Queue[list[str]] = asyncio.Queue()
        """What the actor has told; nothing once it is no more."""
        self._taken: deque[str] = deque()
        threading.Thread(target=self._take, name=f"sglc-{self.name}", daemon=True).start()

    def send(self, line: str) -> None:
        """See `Link.send`."""
        self._calls.put(lambda: self._actor.put.remote(line))  # raises where Ray knows that it is dead
        if line.startswith(END):
            said = threading.Event()
            self._calls.put(said.set)
            self._loop.call_later(CLOSING, self._give_up, said)

    async def receive(self) -> str | bytes | None:
        """See `Link.receive`."""
        if not self._taken:
            self._taken.extend(await self._told.get())
        return self._taken.popleft() if self._taken else None

    async def close(self, *, kill: bool = False) -> None:
        """See `Link.close`."""
        with suppress(Exception):  # Ray has a dozen classes for what is no more; or it does not answer
            await self._calls.result(lambda: self._ray.kill(self._actor), CLOSING)

    def _give_up(self, said: threading.Event) -> None:
        """Hear no more of an actor that could not even be told to end."""
        if not said.is_set():
            self._told.put_nowait([])

    def _take(self) -> None:
        """Take what the actor tells until it is no more."""
        found: list[str] = []
        try:
            while found := [str(line) for line in cast(Iterable[object], self._next())]:
                self._tell(found)
        except Exception as problem:  # as in `close`
            LOG.debug("%s: %s", self.name, problem)
        self._tell([])

    def _next(self) -> object:
        return self._actor.take.remote().future().result()

    def _tell(self, lines: list[str]) -> None:
        with suppress(RuntimeError):  # the loop has been closed
            self._loop.call_soon_threadsafe(self._told.put_nowait, lines)


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
        _connect(ray, cluster, max(os.cpu_count() or 1, sizes.most * processors))
    made = ray.remote(
        num_cpus=processors,
        num_gpus=parallel if device.startswith("cuda") else 0,
        max_restarts=0,
        concurrency_groups={INWARD: 1, OUTWARD: 1},
    )(_actor_class(ray, parallel, threads))
    numbers = itertools.count(1)
    calls = DaemonCalls("sglc-ray")

    def begin() -> _Actor:
        if not ray.is_initialized():
            raise ArgumentError(
                "E0840",
                f"the cluster of Ray at {cluster} is gone",
                reason="Ray's client has given up to reach it again",
                hint="see whether its head lives, and start the command again",
            )
        return cast(_ActorClass, made).remote()

    async def start() -> Link:
        try:
            return RayLink(ray, await calls.result(begin), next(numbers), calls)
        except ArgumentError:
            raise
        except Exception as problem:  # also of grpc
            raise OSError(_line(problem)) from None

    return start


def _connect(ray: _Ray, cluster: str, processors: int) -> None:
    """Reach a cluster, or begin one of this machine with so many processors. Raises ArgumentError."""
    quiet: dict[str, object] = {
        "logging_level": logging.ERROR,
        "configure_logging": False,
        "log_to_driver": False,
    }
    try:
        if cluster == "local":
            ray.init(address="local", num_cpus=processors, include_dashboard=False, **quiet)
            return
        _check_answers(cluster)
        ray.init(address=cluster, **quiet)
    except Exception as problem:  # also of grpc
        raise ArgumentError(
            "E0840", f"there is no cluster of Ray at {cluster}", reason=_line(problem), hint=_REACHED
        ) from None
    # called before what Ray has for the end of the process, which waits for the cluster without a bound
    atexit.register(_leave, ray, cluster, DaemonCalls("sglc-ray-end"))


def _leave(ray: _Ray, cluster: str, calls: DaemonCalls) -> None:
    """Leave a cluster at the end of the process, whether it answers or not."""
    if not calls.ends_within(ray.shutdown, LEAVING):
        atexit.unregister(ray.shutdown)
        LOG.warning("the cluster of Ray at %s does not answer; what runs there is left to it", cluster)


def _line(problem: Exception) -> str:
    return str(problem).splitlines()[0] if str(problem) else type(problem).__name__


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
