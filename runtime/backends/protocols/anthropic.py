"""Anthropic's messages: `anthropic:NAME`.

Source: the request and response types of the package anthropic 2.14 (`anthropic/types`). They have no fields
for temperature, seed or chances of tokens. An answer is enforced by a JSON Schema in `output_config`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from sglc.runtime.backends.event_stream import closed_after
from sglc.runtime.backends.exchange import (
    Backend,
    BackendFault,
    Ending,
    Event,
    Message,
    Piece,
    Query,
    TextScore,
    Usage,
)
from sglc.runtime.backends.protocols.core.chat_request import Body, with_a_turn_to_answer
from sglc.runtime.backends.protocols.core.fields import (
    Object,
    count_in,
    garbled,
    object_in,
    parsed,
    text_in,
)
from sglc.runtime.backends.protocols.core.protocol_backend import ProtocolBackend
from sglc.runtime.backends.protocols.core.service import Service, bearer, service_of
from sglc.runtime.backends.registry import Opening

VERSION = "2026-10-21"
MOST_TOKENS = 4_096
"""The bound on tokens where a query has none: the protocol needs one, and this is the least that any model
with messages may write at once."""
_REASONS: dict[str, Literal["stop", "length", "refused"]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}


def open_backend(opening: Opening) -> Backend:
    """A backend of a model of Anthropic."""
    url = opening.url.removesuffix("/v1")
    headers = {"anthropic-version": VERSION}
    service = service_of(opening, url=url, headers=headers, secrets=bearer(opening.key))
    most = opening.settings.max_tokens or MOST_TOKENS
    protocol = Messages(service, opening.name.model, most)
    return ProtocolBackend(
        opening.name.text, url, opening.capabilities, protocol, service.limits, opening.hidden
    )


@dataclass(slots=True)
class Messages:
    """The protocol."""

    service: Service
    model: str
    most_tokens: int

    async def answer(self, query: Query) -> AsyncIterator[Event]:
        """The pieces of a streamed message, without chances of tokens, then its ending. Raises
        BackendFault."""
        reader = _Reader(self.service)
        events = self.service.events("/v1/messages", self.body(query), query.deadline)
        async with closed_after(events):
            async for event in events:
                if event.type == "message_stop":
                    break
                text = reader.take(parsed(event.data))
                if text:
                    yield Piece(text)
        yield reader.ending()

    def body(self, query: Query) -> Body:
        """The request. Text of the system before all others goes to `system`, which is cached by itself."""
        system, turns = divided(query.messages)
        body: Body = {"model": self.model, "max_tokens": query.max_tokens or self.most_tokens, "stream": True}
        if system:
            body["system"] = system
        body["messages"] = turns
        body["cache_control"] = {"type": "ephemeral"}
        if query.enforced is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": query.enforced.schema}}
        stops = [stop for stop in query.stops if stop.strip()]  # those of blanks are refused
        if stops:
            body["stop_sequences"] = stops
        return body

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """Raises BackendFault: the service tells no log-probabilities."""
        raise BackendFault("request", "Anthropic's messages do not score texts")

    async def context_length(self) -> int | None:
        """What the model's page says of its input."""
        return count_in(await self.service.answer(f"/v1/models/{self.model}"), "max_input_tokens") or None

    async def close(self) -> None:
        """Close the connections of the transport."""
        await self.service.transport.close()


def divided(messages: Sequence[Message]) -> tuple[str, list[Body]]:
    """What the system says before all others, and the turns behind it. The first is of a user, neighbours of
    one role are one turn, and none is empty: so the service wants it."""
    count = next((at for at, each in enumerate(messages) if each.role != "system"), len(messages))
    system = "\n\n".join(each.text for each in messages[:count] if each.text.strip())
    turns: list[Body] = []
    roles = {"assistant": "assistant", "system": "system"}
    rest = with_a_turn_to_answer([each for each in messages[count:] if each.text.strip()])
    for role, group in groupby(rest, lambda each: roles.get(each.role, "user")):
        turns.append({"role": role, "content": "\n\n".join(each.text for each in group)})
    if not turns or turns[0]["role"] != "user":
        turns.insert(0, {"role": "user", "content": "Begin."})
    return system, turns


@dataclass(slots=True)
class _Reader:
    """Puts the events of one answer together."""

    service: Service
    reason: str = ""
    explanation: str = ""
    usage: dict[str, int] = field(default_factory=dict)

    def take(self, value: Object) -> str:
        """The text of an event."""
        kind = text_in(value, "type")
        if kind == "error":
            raise self.service.refusal(object_in(value, "error"))
        if kind == "message_start":
            self._count(object_in(object_in(value, "message"), "usage"))
        elif kind == "message_delta":
            delta = object_in(value, "delta")
            self.reason = text_in(delta, "stop_reason") or self.reason
            self.explanation = text_in(object_in(delta, "stop_details"), "explanation") or self.explanation
            self._count(object_in(value, "usage"))
        elif kind == "content_block_delta":
            delta = object_in(value, "delta")
            if text_in(delta, "type") == "text_delta":
                return text_in(delta, "text")
        elif kind == "content_block_start":
            return text_in(object_in(value, "content_block"), "text")
        elif not kind:
            raise garbled("an event has no `type`")
        return ""

    def _count(self, usage: Object) -> None:
        """Counts are of all so far."""
        for name in (
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        ):
            if usage.get(name) is not None:
                self.usage[name] = count_in(usage, name)

    def ending(self) -> Ending:
        """The end of the answer. Raises BackendFault where it has none."""
        if not self.reason:
            raise BackendFault("connection", "the stream ended before the answer did", again=True)
        reason = _REASONS.get(self.reason)
        if reason is None:
            raise garbled(f"`stop_reason` is {self.reason[:40]!r}")
        cached = self.usage.get("cache_read_input_tokens", 0)
        written = self.usage.get("cache_creation_input_tokens", 0)
        prompt = self.usage.get("input_tokens", 0) + cached + written
        usage = Usage(prompt, self.usage.get("output_tokens", 0), cached) if self.usage else None
        message = (self.explanation or "the model refuses to answer") if reason == "refused" else ""
        return Ending(reason, usage, message)
