"""Whatever the package litellm reaches: `litellm:NAME`, as `litellm:groq/llama-3.3-70b-versatile`.

The package is an extra (`pip install 'sglc[litellm]'`) and is imported here only. It finds keys of services
in the environment by itself. Its answers have the form of chat completions. It does not retry: policies do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sglc.runtime.backends.event_stream import closed_after
from sglc.runtime.backends.exchange import Backend, BackendFault, Event, Query, TextScore
from sglc.runtime.backends.protocols.core.chat_chunks import ChatReader
from sglc.runtime.backends.protocols.core.chat_request import Body, chat_messages, probabilities, sampling
from sglc.runtime.backends.protocols.core.faults import fault_of_status, line
from sglc.runtime.backends.protocols.core.protocol_backend import ProtocolBackend
from sglc.runtime.backends.protocols.core.service import Service, service_of
from sglc.runtime.backends.protocols.openai import constraint
from sglc.runtime.backends.registry import Opening, missing_package
from sglc.runtime.backends.secrets import Redactor
from sglc.targets.projection.core.capabilities import Capabilities

_SERVER_FAULTS = ("APIConnectionError", "Timeout", "InternalServerError", "ServiceUnavailableError")
"""Exceptions of litellm for what may go better the next time, where they have no status."""


def open_backend(opening: Opening) -> Backend:
    """A backend of a model that litellm knows by name."""
    try:
        import litellm
    except ImportError:
        raise missing_package("litellm", "litellm") from None
    service = service_of(opening, url=opening.url or "litellm:")
    hidden = opening.hidden
    protocol = LiteLlm(
        service, litellm, opening.name.model, opening.capabilities, opening.key, opening.url, hidden
    )
    return ProtocolBackend(opening.name.text, service.url, opening.capabilities, protocol, hidden=hidden)


class Chunk(Protocol):
    """A part of an answer."""

    def model_dump(self) -> Mapping[str, object]:
        """The part as plain data."""


class Package(Protocol):
    """The module `litellm`, as far as it is used here."""

    async def acompletion(self, **arguments: object) -> AsyncIterator[Chunk]:
        """Begin an answer. Raises exceptions of its own."""

    def get_model_info(self, model: str, /) -> Mapping[str, object]:
        """What its table says of a model. Raises Exception for one that is not in it."""


@dataclass(slots=True)
class LiteLlm:
    """The protocol: calls of the package. `service` only says how errors in a stream are told, `hidden` knows
    the keys that the package finds by itself."""

    service: Service
    package: Package
    model: str
    capabilities: Capabilities
    key: str = field(repr=False)
    url: str
    hidden: Redactor

    async def answer(self, query: Query) -> AsyncIterator[Event]:
        """The pieces of an answer and its ending. Raises BackendFault, also for every exception of the
        package."""
        reader = ChatReader(self.service)
        try:
            async with closed_after(await self.package.acompletion(**self.arguments(query))) as chunks:
                async for chunk in chunks:
                    for piece in reader.take(chunk.model_dump()):
                        yield piece
        except BackendFault:
            raise
        except Exception as problem:
            fault = self._fault(problem)
        else:
            yield reader.ending()
            return
        raise fault

    def arguments(self, query: Query) -> Body:
        """The arguments of `litellm.acompletion`."""
        body: Body = {"model": self.model, "messages": chat_messages(query.messages)}
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        if query.enforced is not None:
            body |= constraint(query.enforced)
        body |= sampling(query, self.capabilities)
        body |= probabilities(query, self.capabilities)
        if query.max_tokens is not None:
            body["max_tokens"] = query.max_tokens
        if query.stops:
            body["stop"] = list(query.stops)
        body |= {"num_retries": 0, "max_retries": 0, "timeout": self.service.timeouts.whole}
        if self.key:
            body["api_key"] = self.key
        if self.url:
            body["api_base"] = self.url
        return {name: value for name, value in body.items() if name not in self.service.leave_out}

    def _fault(self, problem: Exception) -> BackendFault:
        """What an exception of the package means. It says what went wrong, with or without a status."""
        status = getattr(problem, "status_code", None)
        # Before a message is cut: of a key that was cut none would be found.
        message = line(self.hidden.text(str(problem)), [self.key])
        if isinstance(status, int) and status >= 400:
            response = getattr(problem, "response", None)
            headers = {name.lower(): value for name, value in getattr(response, "headers", {}).items()}
            return fault_of_status(status, headers, message.encode(), self.service.url, [self.key])
        again = type(problem).__name__ in _SERVER_FAULTS
        return BackendFault(
            "connection" if again else "request", message, endpoint=self.service.url, again=again
        )

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """Raises BackendFault: the package has no call for it."""
        raise BackendFault("request", "litellm does not score texts")

    async def context_length(self) -> int | None:
        """What litellm's table of models says."""
        try:
            found = self.package.get_model_info(self.model).get("max_input_tokens")
        except Exception:  # it raises Exception itself for a model that is not in the table
            return None
        return found if isinstance(found, int) else None

    async def close(self) -> None:
        """The package keeps its connections to itself."""
