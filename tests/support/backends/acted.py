"""A backend that does what a test says, request by request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from sglc.runtime.backends.exchange import BackendFault, Ending, Event, Piece, Query, TextScore, Usage
from sglc.targets.projection.core.capabilities import Capabilities

Step = float | str | BackendFault | Ending | None
"""Seconds to wait, text to say, a fault, the end; None: the stream just stops."""
Act = Callable[[int, Query], Sequence[Step]]


def overloaded(**more: object) -> BackendFault:
    """A fault that may pass."""
    return BackendFault("overloaded", "too much to do", status=503, again=True, **more)  # type: ignore[arg-type]


END = Ending("stop", Usage(10, 5))


@dataclass
class ActedBackend:
    """Each request takes the steps that `act` gives for its number, from 0 on, and its query."""

    act: Act
    name: str = "acted:one"
    endpoint: str = "http://one"
    capabilities: Capabilities = field(default_factory=Capabilities)
    queries: list[Query] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    open: int = 0
    most_open: int = 0
    closed: int = 0

    async def stream(self, query: Query) -> AsyncIterator[Event]:
        number = len(self.queries)
        self.queries.append(query)
        self.times.append(asyncio.get_running_loop().time())
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            for step in self.act(number, query):
                match step:
                    case float() | int():
                        await asyncio.sleep(step)
                    case str():
                        yield Piece(step)
                    case BackendFault():
                        raise step
                    case Ending():
                        yield step
        finally:
            self.open -= 1

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        async for _ in self.stream(query):
            pass
        return [TextScore((text,), (-1.0,)) for text in texts]

    async def close(self) -> None:
        self.closed += 1


async def read(stream: AsyncIterator[Event]) -> tuple[str, Ending]:
    """The text of an answer, and its end: the last event."""
    events = [event async for event in stream]
    *pieces, ending = events
    assert isinstance(ending, Ending), f"the stream ends with {ending}"
    return "".join(piece.text for piece in pieces if isinstance(piece, Piece)), ending
