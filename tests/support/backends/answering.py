"""Backends that answer what a test says, and one that is a local model which only writes text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from sglc.runtime.backends.exchange import Backend, Ending, Event, Piece, Query, TextScore, Usage
from sglc.runtime.repair.local_model import LocalModel
from sglc.targets.projection.core.capabilities import Capabilities

Answer = str | Iterable[Event | BaseException]
"""A text, which comes character by character and ends with `stop`; or events, or what is raised there, maybe
without an end."""


class Answering:
    """A backend whose answers are given: a list in order, of which the last one comes again, or a function of
    the query. It notes the queries, the events that were read, and which streams were closed early."""

    def __init__(
        self,
        answers: Sequence[Answer] | Callable[[Query], Answer],
        capabilities: Capabilities | None = None,
        name: str = "test:model",
    ) -> None:
        self._answers = answers
        self.name = name
        self.endpoint = "https://model.test/v1"
        self.capabilities = capabilities or Capabilities()
        self.queries: list[Query] = []
        self.read: list[str] = []
        self.closed = 0

    async def stream(self, query: Query) -> AsyncIterator[Event]:
        self.queries.append(query)
        self.read.append("")
        number = len(self.queries) - 1
        ended = False
        try:
            for event in events(self._answer(query, number)):
                if isinstance(event, BaseException):
                    ended = True
                    raise event
                if isinstance(event, Piece):
                    self.read[number] += event.text
                ended = ended or isinstance(event, Ending)
                yield event
        finally:
            self.closed += not ended

    def _answer(self, query: Query, number: int) -> Answer:
        if callable(self._answers):
            return self._answers(query)
        return self._answers[min(number, len(self._answers) - 1)]

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        raise NotImplementedError

    async def close(self) -> None:
        pass


def events(answer: Answer) -> Iterable[Event | BaseException]:
    """The events of an answer."""
    if not isinstance(answer, str):
        return answer
    return [*map(Piece, answer), Ending("stop", Usage(prompt=10, output=len(answer)))]


class TextOnly:
    """A local model behind a backend's face, which gives text alone.

    Messages and begun answer are one text. A stop text ends the answer behind it, and is part of it: not
    every service takes it away.
    """

    def __init__(self, model: LocalModel, *, continues: bool) -> None:
        self._model = model
        self.name = "local:text"
        self.endpoint = ""
        self.capabilities = Capabilities(continues=continues)
        self.drawn = 0
        """Tokens of the last request, so far."""

    async def stream(self, query: Query) -> AsyncIterator[Event]:
        prompt = "\n\n".join(f"{message.text}" for message in query.messages)
        stream = self._model(prompt, query.begun, query.max_tokens)
        try:
            told = ""
            async for piece in stream:
                self.drawn, told = stream.tokens, told + piece
                yield Piece(piece)
                if any(stop in told for stop in query.stops):
                    break
            self.drawn = stream.tokens
            yield Ending("length" if stream.ended == "length" else "stop", Usage(output=stream.tokens))
        finally:
            await stream.aclose()

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        raise NotImplementedError

    async def close(self) -> None:
        pass


def is_backend(found: Answering | TextOnly) -> Backend:
    """The same, as what they are: a type checker looks."""
    return found
