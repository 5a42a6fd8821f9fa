"""Workers within the test's own process: they answer as the test says, and die when it says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from sglc.runtime.cluster.links import Link
from sglc.runtime.cluster.messages import (
    Asked,
    ModelRequest,
    Reply,
    asked_of,
    failure_line,
    number_of,
    read,
    reply_line,
    request_of,
    written,
)
from sglc.runtime.metrics.families import Family
from sglc.runtime.metrics.workers import sent

Answer = Callable[[Asked | ModelRequest], Reply | Exception | None]
"""What a worker says of a call; None for nothing, ever."""


def echo(asked: Asked | ModelRequest) -> Reply:
    """The arguments, or the body."""
    return Reply(asked.arguments if isinstance(asked, Asked) else asked.body)


@dataclass(eq=False)
class FakeLink:
    """A worker. `calls` are the numbers that it has been asked and has not answered."""

    number: int
    answer: Answer = echo
    width: int = 2
    shared: bool = False
    held: bool = False
    """Answers are kept back until `release`."""
    calls: dict[int, Asked | ModelRequest] = field(default_factory=dict)
    seen: list[Asked | ModelRequest] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    metrics: dict[str, float] | None = field(default_factory=dict)
    """Counters that it tells when it is asked, `up` being a gauge; None where it does not answer."""
    told: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    ended: bool = False

    @property
    def name(self) -> str:
        return f"fake {self.number}"

    def send(self, line: str) -> None:
        if self.ended:
            return
        message = read(line)
        if "setup" in message:
            self.told.put_nowait(written(ready={"width": self.width, "shared": self.shared}))
        elif "call" in message:
            number = number_of(message, "call")
            self.calls[number] = request_of(message) or asked_of(message)
            self.seen.append(self.calls[number])
            if not self.held:
                self.release(number)
        elif "cancel" in message:
            self.cancelled.append(number_of(message, "cancel"))
            self.calls.pop(self.cancelled[-1], None)
        elif "metrics" in message and self.metrics is not None:
            families = [
                Family("gauge" if name == "up" else "counter", name, "help", (), {(): (value,)})
                for name, value in self.metrics.items()
            ]
            self.told.put_nowait(written(metrics=sent(families)))
        elif "end" in message:
            self.die()

    def release(self, number: int) -> None:
        """Answer a call."""
        found = self.answer(self.calls[number])
        if found is None:
            return
        del self.calls[number]
        line = failure_line(number, found) if isinstance(found, Exception) else reply_line(number, found)
        self.told.put_nowait(line)

    def die(self) -> None:
        """Be no more."""
        if not self.ended:
            self.ended = True
            self.told.put_nowait(None)

    async def receive(self) -> str | None:
        return await self.told.get()

    async def close(self, *, kill: bool = False) -> None:
        self.die()


class Fleet:
    """Starts workers; `links` are all that there ever were."""

    def __init__(self, answer: Answer = echo, *, width: int = 2, held: bool = False, shared: bool = False):
        self._made = (answer, width, shared, held)
        self.links: list[FakeLink] = []

    async def start(self) -> Link:
        """One more worker."""
        link = FakeLink(len(self.links), *self._made)
        self.links.append(link)
        return link

    @property
    def alive(self) -> list[FakeLink]:
        """Those that have not died."""
        return [each for each in self.links if not each.ended]
