"""A backend of a protocol: checks what is asked, and makes whole text of the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sglc.runtime.backends.event_stream import closed_after
from sglc.runtime.backends.exchange import (
    BackendFault,
    Ending,
    Event,
    Piece,
    PreparingBackend,
    Query,
    TextScore,
)
from sglc.runtime.backends.protocols.core.answer_text import AnswerText
from sglc.runtime.backends.protocols.core.service_limits import ServiceLimits
from sglc.runtime.backends.secrets import Redactor
from sglc.targets.projection.core.capabilities import Capabilities


class Answering(Protocol):
    """How one protocol asks and reads. Its answers may be cut anywhere; they end with an `Ending`. One that
    has to ask something before a query also has the methods of `PreparingBackend`."""

    def answer(self, query: Query) -> AsyncIterator[Event]:
        """The answer as it comes. Raises BackendFault."""

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """Scores of texts behind the query's begun message. Asked only where the capabilities say so."""

    async def context_length(self) -> int | None:
        """Tokens of prompt and answer, if the service tells. It may find out more at the same time."""

    async def close(self) -> None:
        """Give connections back."""


@dataclass(slots=True)
class ProtocolBackend:
    """A `Backend` of a protocol."""

    name: str
    endpoint: str
    capabilities: Capabilities
    protocol: Answering
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    """What its service says of its limits."""
    hidden: Redactor = field(default_factory=Redactor)
    _prepared: bool = False

    def closed_for(self) -> float:
        """As `LimitedBackend.closed_for`."""
        return self.limits.closed_for()

    async def prepare(self) -> None:
        """Ask the service what only it knows, once: how long its context is. Raises BackendFault."""
        if not self._prepared:
            found = await self.protocol.context_length()
            if self.capabilities.context_length is None:
                self.capabilities = replace(self.capabilities, context_length=found)
            self._prepared = True

    def is_prepared(self, query: Query) -> bool:
        """As `PreparingBackend.is_prepared`."""
        return not isinstance(self.protocol, PreparingBackend) or self.protocol.is_prepared(query)

    async def prepare_for(self, query: Query) -> None:
        """As `PreparingBackend.prepare_for`."""
        if not isinstance(self.protocol, PreparingBackend):
            return
        self._check(query)
        try:
            return await self.protocol.prepare_for(query)
        except BackendFault as found:
            fault = self._shown(found)
        raise fault

    async def stream(self, query: Query) -> AsyncIterator[Event]:
        """As `Backend.stream`. The fault of an answer that broke off has its text as `partial`."""
        self._check(query)
        text = AnswerText(query.stops)
        try:
            async with closed_after(self.protocol.answer(query)) as events:
                async for event in events:
                    if isinstance(event, Ending):
                        rest = text.end()
                        if rest:
                            yield Piece(rest)
                        yield event
                        return
                    told = text.take(event.text)
                    if told or event.top:
                        yield event if told == event.text else Piece(told, event.logprob, event.top)
                    if text.stopped:
                        yield Ending("stop")
                        return
            raise BackendFault("connection", "the answer ended in its middle", again=True)
        except BackendFault as found:
            fault = self._shown(found, text.told)
        raise fault

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """As `Backend.score`."""
        self._check(query)
        if not self.capabilities.scores:
            raise self._cannot("score texts")
        try:
            return await self.protocol.score(query, texts)
        except BackendFault as found:
            fault = self._shown(found)
        raise fault

    async def close(self) -> None:
        """As `Backend.close`."""
        await self.protocol.close()

    def _shown(self, found: BackendFault, partial: str = "") -> BackendFault:
        """A fault as it may be shown: no secret is in its message, and its frames, in which requests with
        their headers are, are not behind it."""
        return BackendFault(
            found.cause,
            self.hidden.text(found.message),
            endpoint=found.endpoint or self.endpoint,
            status=found.status,
            again=found.again,
            retry_after=found.retry_after,
            attempts=found.attempts,
            partial=found.partial or partial,
        )

    def _check(self, query: Query) -> None:
        if query.begun and not self.capabilities.continues:
            raise self._cannot("go on behind a begun answer")
        if query.enforced is not None and query.enforced.notation not in self.capabilities.notations:
            raise self._cannot(f"enforce {query.enforced.notation}")

    def _cannot(self, what: str) -> BackendFault:
        return BackendFault("request", f"{self.name} cannot {what}", endpoint=self.endpoint)
