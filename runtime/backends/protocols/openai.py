"""Chat completions: `openai:NAME` and `chat:URL#NAME`.

Source: the request and response types of the package openai 3.57 (`openai/types/chat`). OpenAI enforces JSON
Schemas in its strict mode, and grammars and patterns as the input of a custom tool that the model must call.
The published chunks of streams have no input of custom tools, so such an answer is asked for whole.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from sglc.runtime.backends.event_stream import closed_after
from sglc.runtime.backends.exchange import Backend, BackendFault, Event, Query, TextScore
from sglc.runtime.backends.kinds import REASONING
from sglc.runtime.backends.protocols.core.chat_chunks import ChatReader, read_stream
from sglc.runtime.backends.protocols.core.chat_request import (
    Body,
    chat_messages,
    probabilities,
    sampling,
    with_a_turn_to_answer,
)
from sglc.runtime.backends.protocols.core.fields import count_in, objects_in, text_in
from sglc.runtime.backends.protocols.core.protocol_backend import ProtocolBackend
from sglc.runtime.backends.protocols.core.service import Service, bearer, service_of, with_version
from sglc.runtime.backends.registry import Opening
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.core.enforcement import Enforcement

MOST_STOPS = 4
"""Stop texts of a request, by the reference of chat completions. Others are found in the text that comes."""
TOOL = "answer"
"""The name of the schema, and of the custom tool, that an answer is."""
_CONTEXT = ("max_model_len", "context_length", "max_context_length", "context_window")
"""Where servers of this protocol tell the length of their context, beside OpenAI's own fields."""


def open_backend(opening: Opening) -> Backend:
    """A backend of a model behind chat completions."""
    url = opening.url if opening.name.kind == "openai" else with_version(opening.url)
    service = service_of(opening, url=url, secrets=bearer(opening.key))
    able = opening.capabilities
    chat = ChatCompletions(service, opening.name.model, able, opening.name.kind == "openai")
    return ProtocolBackend(opening.name.text, url, able, chat, service.limits, opening.hidden)


@dataclass(slots=True)
class ChatCompletions:
    """The protocol. `official` is OpenAI's own service, whose newer fields others do not know."""

    service: Service
    model: str
    capabilities: Capabilities
    official: bool = True

    async def answer(self, query: Query) -> AsyncIterator[Event]:
        """The answer as it comes, or at once where the body asks for no stream. Raises BackendFault."""
        body = self.body(query)
        if "stream" in body:
            events = self.service.events("/chat/completions", body, query.deadline)
            async with closed_after(read_stream(self.service, events)) as found:
                async for event in found:
                    yield event
            return
        reader = ChatReader(self.service, of_tool=True)
        for piece in reader.take(await self.service.answer("/chat/completions", body, query.deadline)):
            yield piece
        yield reader.ending()

    def body(self, query: Query) -> Body:
        """The request."""
        messages = query.messages if self.official else with_a_turn_to_answer(query.messages)
        body: Body = {"model": self.model, "messages": chat_messages(messages)}
        by_tool = query.enforced is not None and query.enforced.notation in ("lark", "regex")
        if not by_tool:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
            body |= probabilities(query, self.capabilities)
        if query.enforced is not None:
            body |= constraint(query.enforced)
        body |= sampling(query, self.capabilities, every=not self.official)
        if query.max_tokens is not None:
            body["max_completion_tokens" if self.official else "max_tokens"] = query.max_tokens
        if query.stops and not by_tool and not (self.official and REASONING.match(self.model)):
            body["stop"] = list(query.stops[:MOST_STOPS])
        return body

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """Raises BackendFault: chat completions tell no log-probabilities of a given text."""
        raise BackendFault("request", "chat completions do not score texts")

    async def context_length(self) -> int | None:
        """What a list of models says of this one. OpenAI's says nothing, and is not asked."""
        if self.official:
            return None
        for model in objects_in(await self.service.answer("/models"), "data"):
            if text_in(model, "id") == self.model:
                return next((found for name in _CONTEXT if (found := count_in(model, name))), None)
        return None

    async def close(self) -> None:
        """Close the connections of the transport."""
        await self.service.transport.close()


def constraint(enforced: Enforcement) -> Body:
    """The fields that enforce something."""
    if enforced.notation == "json_schema":
        schema: Body = {"name": TOOL, "strict": True, "schema": enforced.schema}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    grammar: Body = {"syntax": enforced.notation, "definition": enforced.text}
    custom: Body = {"name": TOOL, "format": {"type": "grammar", "grammar": grammar}}
    return {
        "tools": [{"type": "custom", "custom": {**custom, "description": "Takes the answer."}}],
        "tool_choice": {"type": "custom", "custom": {"name": TOOL}},
    }
