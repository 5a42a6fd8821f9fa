"""Reads answers of chat completions: the chunks of a stream, or one whole answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from sglc.runtime.backends.event_stream import ServerEvent, closed_after
from sglc.runtime.backends.exchange import BackendFault, Ending, Event, Piece, TokenChance, Usage
from sglc.runtime.backends.protocols.core.fields import (
    Object,
    count_in,
    garbled,
    list_in,
    logprob_of,
    object_in,
    objects_in,
    parsed,
    text_in,
)
from sglc.runtime.backends.protocols.core.service import Service

_ENDINGS = {
    "stop": "stop",
    "eos": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "filtered",
    "tool_calls": "stop",
}
"""What `finish_reason` means. A call of a tool is an answer where it was asked for."""
_BROKEN = ("abort", "error", "aborted")
"""Reasons of vLLM and SGLang for answers that the server gave up."""


class ChatReader:
    """Puts the parts of one answer together."""

    def __init__(self, service: Service, *, of_tool: bool = False) -> None:
        """`of_tool` says that the answer is the input of a custom tool."""
        self._service = service
        self._of_tool = of_tool
        self._reason = ""
        self._refusal = ""
        self._usage: Usage | None = None

    def take(self, value: Object) -> Iterator[Piece]:
        """A chunk, or a whole answer. Raises BackendFault."""
        if value.get("error"):
            raise self._service.refusal(value["error"])
        if value.get("usage") is not None:
            self._usage = usage_in(object_in(value, "usage"))
        for choice in objects_in(value, "choices"):
            if count_in(choice, "index"):
                continue
            said = object_in(choice, "delta") or object_in(choice, "message")
            text = self._text(said) if said else text_in(choice, "text")
            self._refusal += text_in(said, "refusal")
            logprob, top = chances_in(_tokens(object_in(choice, "logprobs")))
            if text or top:
                yield Piece(text, logprob, top)
            self._reason = text_in(choice, "finish_reason") or self._reason

    def _text(self, said: Object) -> str:
        if not self._of_tool:
            return text_in(said, "content")
        calls = objects_in(said, "tool_calls")
        return "".join(text_in(object_in(call, "custom"), "input") for call in calls)

    @property
    def ended(self) -> bool:
        """Whether the service has said why the answer ends."""
        return bool(self._reason)

    def ending(self) -> Ending:
        """The end of the answer. Raises BackendFault where it has none."""
        if self._refusal:
            return Ending("refused", self._usage, self._refusal)
        if self._reason in _BROKEN:
            raise BackendFault("overloaded", "the server gave the answer up", again=True)
        if not self._reason:
            raise BackendFault("connection", "the stream ended before the answer did", again=True)
        reason = _ENDINGS.get(self._reason)
        if reason is None:
            raise garbled(f"`finish_reason` is {self._reason[:40]!r}")
        return Ending(reason, self._usage)  # type: ignore[arg-type]


async def read_stream(service: Service, events: AsyncIterator[ServerEvent]) -> AsyncIterator[Event]:
    """The answer that a stream of chunks has."""
    reader = ChatReader(service)
    async with closed_after(events):
        async for event in events:
            if event.data.startswith("[DONE]"):
                break
            for piece in reader.take(parsed(event.data)):
                yield piece
    yield reader.ending()


def usage_in(value: Object) -> Usage:
    """Tokens, as chat completions count them."""
    cached = count_in(object_in(value, "prompt_tokens_details"), "cached_tokens")
    return Usage(count_in(value, "prompt_tokens"), count_in(value, "completion_tokens"), cached)


def chances_in(tokens: list[Object]) -> tuple[float | None, tuple[tuple[TokenChance, ...], ...]]:
    """The log-probability of some tokens together, and the chances at each of them."""
    if not tokens:
        return None, ()
    total = sum(logprob_of(token.get("logprob")) for token in tokens)
    return total, tuple(
        tuple(
            TokenChance(token_text(top), logprob_of(top.get("logprob")))
            for top in objects_in(token, "top_logprobs")
        )
        for token in tokens
    )


def _tokens(logprobs: Object) -> list[Object]:
    """Tokens with their chances. Completions of plain text have them in lists side by side."""
    if "tokens" not in logprobs:
        return objects_in(logprobs, "content")
    texts, chosen = list_in(logprobs, "tokens"), list_in(logprobs, "token_logprobs")
    tops = list_in(logprobs, "top_logprobs") or [None] * len(texts)
    if not len(texts) == len(chosen) == len(tops):
        raise garbled("lists of `logprobs` are of different lengths")
    return [
        {
            "token": text,
            "logprob": logprob,
            "top_logprobs": _most_probable(top),
        }
        for text, logprob, top in zip(texts, chosen, tops, strict=True)
    ]


def _most_probable(top: object) -> list[Object]:
    """The most probable tokens at a place of completions of plain text; null has none."""
    if top is not None and not isinstance(top, dict):
        raise garbled("`top_logprobs` has something in it that is no object")
    return [{"token": each, "logprob": logprob} for each, logprob in (top or {}).items()]


def token_text(token: Object) -> str:
    """The text of a token, by its bytes where these are a text."""
    data = list_in(token, "bytes")
    if data:
        try:
            return bytes(data).decode("utf-8")
        except (ValueError, TypeError):
            pass
    return text_in(token, "token")
