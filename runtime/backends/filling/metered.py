"""A backend as one hole asks it: every request is counted, whatever comes of it, and no answer is endless."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from sglc.runtime.backends.exchange import (
    Backend,
    BackendFault,
    Ending,
    Event,
    Piece,
    Query,
    TextScore,
    Usage,
)
from sglc.runtime.decoding.requests import HoleResult, RemoteWork
from sglc.targets.projection.core.capabilities import Capabilities

MOST_CHARS = 4 << 20
"""Most characters of one answer. No model writes a million tokens; a server that sends more is broken, or
wants the memory of this process."""


@dataclass(slots=True, eq=False)
class Metered:
    """A backend whose requests are entered into the `result` of a hole and its `work`.

    `poll` is called before each request and raises what ends the run. `queries` were sent, each of them one
    request or more. `ending` is that of the answer that came last.
    """

    backend: Backend
    result: HoleResult
    work: RemoteWork
    poll: Callable[[], None]
    queries: int = 0
    ending: Ending | None = None

    @property
    def name(self) -> str:
        """As `--model` has it."""
        return self.backend.name

    @property
    def endpoint(self) -> str:
        """The address that is asked."""
        return self.backend.endpoint

    @property
    def capabilities(self) -> Capabilities:
        """What the backend can do."""
        return self.backend.capabilities

    async def stream(self, query: Query) -> AsyncIterator[Event]:
        """The answer. Raises BackendFault also for one without an end, and for one that does not end."""
        self.poll()
        self.queries += 1
        self.work.requests += 1
        self.ending = None
        chars = size = 0
        try:
            async with aclosing(self.backend.stream(query)) as events:  # type: ignore[type-var]
                async for event in events:
                    if isinstance(event, Ending):
                        self.ending = event
                        break
                    assert isinstance(event, Piece)
                    chars += len(event.text)
                    size += len(event.text.encode("utf-8", "replace"))
                    if chars > MOST_CHARS:
                        raise self._broken("the answer does not end")
                    yield event
            if self.ending is None:
                raise self._broken("the answer has no end")
        except BackendFault as fault:
            self.work.requests += max(0, fault.attempts - 1)
            raise
        finally:
            self._count(size)
        yield self.ending

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """Scores, as the backend tells them."""
        return await self.backend.score(query, texts)

    async def close(self) -> None:
        """Nothing: whoever opened the backend closes it."""

    def _broken(self, message: str) -> BackendFault:
        return BackendFault("protocol", message, endpoint=self.endpoint)

    def _count(self, size: int) -> None:
        """Enter what a request was charged with; of unknown usage the bytes of the answer, `size` of them."""
        work, result, ending = self.work, self.result, self.ending
        if ending is not None:
            work.requests += ending.attempts - 1  # none was sent for a kept answer
            work.answered_by = ending.answered_by or work.answered_by
        usage = None if ending is None else ending.usage
        if usage is None:
            work.counted = work.counted and size == 0 and ending is None
            usage = Usage(output=size)
        work.prompt += usage.prompt
        work.cached += usage.cached
        work.output += usage.output
        result.tokens = usage.output
        result.sampled = result.saved = work.output
        result.lost = work.output - usage.output
        result.prompt = usage.prompt
