"""A worker: reads messages, runs calls, answers. `python -m sglc.runtime.cluster.worker FD` is its process.

FD is one end of a pair of sockets. A thread reads it from the first moment on: when the other end is closed,
because the front has ended or was killed, the process ends at once, whatever it is doing.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from sglc.runtime.cluster.messages import (
    END,
    LONGEST_LINE,
    Garbled,
    Reply,
    asked_of,
    event_line,
    failure_data,
    failure_line,
    number_of,
    part_of,
    read,
    reply_line,
    request_of,
    written,
)
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.serve.problems import Refusal
from sglc.runtime.vm.state.trace import Event

if TYPE_CHECKING:
    from sglc.runtime.cluster.worker_programs import WorkerPrograms

TICK = 0.25
"""Seconds between two tellings of figures."""
METRICS_TICKS = 8
"""Ticks between two tellings of metrics that nobody asked for; what a worker counted since is lost where it
dies."""
GONE = 512
"""Most names of blocks in a message."""


class Worker:
    """Calls that are going on, and what answers them. `send` hands a line to the front."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._gone: list[str] = []
        self._told: dict[str, object] = {}

    async def serve(self, lines: asyncio.Queue[str | bytes | None]) -> None:
        """Answer messages until there are no more. Raises Garbled for one that cannot be read."""
        first = await lines.get()
        if first is None:
            return
        work = self._opened(first)
        if work is None:
            return
        ticking = asyncio.create_task(self._tick(work))
        try:
            while (line := await lines.get()) is not None:
                message = read(line)
                if "end" in message:
                    if work.setup.metrics:
                        self._send(written(metrics=work.metrics()))
                    return
                self._obey(message, work)
        finally:
            ticking.cancel()
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(ticking, *self._tasks.values(), return_exceptions=True)
            work.close()

    def _opened(self, line: str | bytes) -> WorkerPrograms | None:
        """Set up by the first message; None, having said why, where that cannot be."""
        from sglc.runtime.cluster.setup import setup_of
        from sglc.runtime.cluster.worker_programs import WorkerPrograms

        try:
            work = WorkerPrograms.open(setup_of(part_of(read(line), "setup")))
        except Garbled as problem:
            told = ArgumentError(
                "E0840",
                "a worker cannot read what it is to do",
                reason=str(problem),
                hint="install the same version of sglc on all machines",
            )
            self._send(written(failed=failure_data(told)))
            return None
        except (ArgumentError, SglError) as problem:
            self._send(written(failed=failure_data(problem)))
            return None
        except Exception as fault:
            traceback.print_exc()
            self._send(written(failed=failure_data(fault)))
            return None
        shared = work.watch(lambda name: self._gone.append(name.hex()))
        self._send(written(ready={"width": work.width, "shared": shared, "models": work.models}))
        return work

    def _obey(self, message: dict[str, object], work: WorkerPrograms) -> None:
        if "call" in message:
            number = number_of(message, "call")
            self._tasks[number] = asyncio.create_task(self._answer(number, message, work))
        elif "cancel" in message:
            task = self._tasks.get(number_of(message, "cancel"))
            if task is not None:
                task.cancel()
        elif "report" in message:
            self._send(written(report=work.report()))
        elif "metrics" in message:
            self._send(written(metrics=work.metrics()))
        elif "state" in message:
            self._send(written(state=work.state()))
        else:
            raise Garbled(f"nobody knows what to do with {', '.join(map(repr, message))[:200]}")

    async def _answer(self, number: int, message: dict[str, object], work: WorkerPrograms) -> None:
        try:
            reply = await self._reply(number, message, work)
        except asyncio.CancelledError:
            return
        except (ArgumentError, SglError, Refusal, Garbled) as problem:
            line = failure_line(number, problem)
        except Exception as fault:
            traceback.print_exc()
            line = failure_line(number, fault)
        else:
            line = reply_line(number, reply)
        finally:
            del self._tasks[number]
        self._tell_gone()
        self._send(line)

    async def _reply(self, number: int, message: dict[str, object], work: WorkerPrograms) -> Reply:
        def hear(event: Event) -> None:
            self._send(event_line(number, event))

        request = request_of(message)
        if request is None:
            return await work.answer(asked_of(message), hear)
        return await work.answer_request(request, hear)

    async def _tick(self, work: WorkerPrograms) -> None:
        metrics: list[object] = []
        for tick in itertools.count():
            self._tell_gone()
            figures = work.figures()
            if figures != self._told:
                self._told = figures
                self._send(written(figures=figures))
            if work.setup.metrics and tick % METRICS_TICKS == 0 and metrics != (metrics := work.metrics()):
                self._send(written(metrics=metrics))
            await asyncio.sleep(TICK)

    def _tell_gone(self) -> None:
        while self._gone:
            names, self._gone = self._gone[:GONE], self._gone[GONE:]
            self._send(written(gone=names))


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """The messages in a file, until it ends or one is too long."""
    while (line := file.readline(LONGEST_LINE + 1)).endswith(b"\n"):
        yield line


def main(descriptor: int) -> None:
    """Serve over a socket until it is closed."""
    for reaches_all in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C, or a service manager, tells the whole group
        signal.signal(reaches_all, signal.SIG_IGN)  # the front ends its workers when it has answered
    os.set_inheritable(descriptor, False)
    connection = socket.socket(fileno=descriptor)

    def send(line: str) -> None:
        try:
            connection.sendall(line.encode("ascii") + b"\n")
        except OSError:
            os._exit(0)  # the front has gone

    async def whole() -> None:
        lines: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def listen() -> None:
            for line in lines_of(connection.makefile("rb")):
                loop.call_soon_threadsafe(partial(lines.put_nowait, line))
                if line.startswith(END.encode()):
                    return  # told to end in peace: the engine may have something to keep
            os._exit(0)

        threading.Thread(target=listen, name="sglc-front", daemon=True).start()
        await Worker(send).serve(lines)

    asyncio.run(whole())


if __name__ == "__main__":
    main(int(sys.argv[1]))
