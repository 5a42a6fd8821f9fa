"""A backend of plain functions, for tests of all that stands above protocols."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from sglc.runtime.backends.exchange import BackendFault, Ending, Event, Piece, Query, TextScore, Usage
from sglc.targets.projection.core.capabilities import Capabilities

Answer = str | Sequence[str] | BackendFault | Ending


def counted(text: str) -> Ending:
    """The end of an answer with a usage: a token for each four characters."""
    return Ending("stop", Usage(prompt=10, output=-(-len(text) // 4), cached=4))


@dataclass
class FakeBackend:
    """Answers by a function of the query, or one answer after the other; `asked` keeps the queries.

    An answer is a text, its pieces, a fault, or an ending without text. `ending` ends answers that have none.
    """

    answers: Callable[[Query], Answer] | Sequence[Answer]
    capabilities: Capabilities = field(default_factory=Capabilities)
    ending: Callable[[str], Ending | None] = counted
    name: str = "fake:model"
    endpoint: str = "http://fake/v1"
    asked: list[Query] = field(default_factory=list)
    scored: list[tuple[Query, tuple[str, ...]]] = field(default_factory=list)
    open: int = 0
    most: int = 0
    closed: bool = False

    async def stream(self, query: Query) -> AsyncIterator[Event]:
        self.asked.append(query)
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            await asyncio.sleep(0)
            made = self.answers(query) if callable(self.answers) else self.answers[len(self.asked) - 1]
            if isinstance(made, BackendFault):
                raise made
            if isinstance(made, Ending):
                yield made
                return
            pieces = [made] if isinstance(made, str) else list(made)
            for piece in pieces:
                yield Piece(piece)
                await asyncio.sleep(0)
            end = self.ending("".join(pieces))
            if end is not None:
                yield end
        finally:
            self.open -= 1

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """Each text is one token; the shorter, the likelier."""
        self.scored.append((query, tuple(texts)))
        return [TextScore((text,), (-math.log(2) * len(text),)) for text in texts]

    async def close(self) -> None:
        self.closed = True
