"""The packages openai and anthropic as judges: what their types allow, what their clients send and read.

They are asked to validate replies strictly, which they do not by themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from late import Late
from sglc.runtime.backends.transport import HttpRequest

openai, anthropic = Late("openai"), Late("anthropic")
pydantic, httpx2 = Late("pydantic"), Late("httpx2")
KEY = "sk-test"


@dataclass
class Sent:
    """A request as a client sent it."""

    path: str
    method: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class Read:
    """What a client made of a reply."""

    text: str = ""
    reason: str | None = None
    usage: tuple[int, int, int] | None = None
    """Tokens of prompt and answer, and those of the prompt that the service had."""
    chances: list[list[tuple[str, float]]] = field(default_factory=list)
    refusal: str = ""


class AtStub:
    """A client whose requests go to a stub; `sent` are those that it sent."""

    def __init__(self, kind: str, stub: Any) -> None:
        self._stub = stub
        self.sent: list[Sent] = []
        given = {
            "api_key": KEY,
            "http_client": httpx2.Client(transport=httpx2.MockTransport(self._reply)),
            "max_retries": 0,
            "_strict_response_validation": True,
        }
        if kind == "anthropic":
            self.client = anthropic.Anthropic(**given)
        else:
            self.client = openai.OpenAI(base_url="http://stub/v1", **given)

    def _reply(self, request: Any) -> Any:
        body = json.loads(request.content) if request.content else None
        self.sent.append(Sent(request.url.path, request.method, dict(request.headers), body))
        reply = self._stub.transport.app(request.url.path, body, HttpRequest(str(request.url)))
        return httpx2.Response(reply.status, headers=dict(reply.headers), content=reply.body)

    def chat(self, body: Mapping[str, Any], others: Mapping[str, Any]) -> Read:
        """Chat completions. `others` are fields that OpenAI's own service does not have."""
        found = self.client.chat.completions.create(**body, extra_body=dict(others) or None)
        if not body.get("stream"):
            (choice,) = found.choices
            text = "".join(call.custom.input for call in choice.message.tool_calls)
            return Read(text, choice.finish_reason, _tokens(found.usage))
        read = Read()
        for chunk in found:
            read.usage = _tokens(chunk.usage) or read.usage
            for choice in chunk.choices:
                read.text += choice.delta.content or ""
                read.refusal += choice.delta.refusal or ""
                read.reason = choice.finish_reason or read.reason
                for token in (choice.logprobs and choice.logprobs.content) or ():
                    read.chances.append([(top.token, top.logprob) for top in token.top_logprobs])
        return read

    def messages(self, body: Mapping[str, Any]) -> Read:
        """Anthropic's messages, as the client puts the events of the stream together."""
        given = {name: value for name, value in body.items() if name != "stream"}
        with self.client.messages.stream(**given) as events:
            text = "".join(events.text_stream)
            whole = events.get_final_message()
        assert text == "".join(block.text for block in whole.content)
        usage = whole.usage
        cached, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
        read = Read(
            text, whole.stop_reason, (usage.input_tokens + cached + written, usage.output_tokens, cached)
        )
        if whole.stop_details is not None:
            read.refusal = whole.stop_details.explanation or ""
        return read


def _tokens(usage: Any) -> tuple[int, int, int] | None:
    if usage is None:
        return None
    details = usage.prompt_tokens_details
    return usage.prompt_tokens, usage.completion_tokens, (details and details.cached_tokens) or 0


def check_type(kind: str, body: Mapping[str, Any]) -> None:
    """Raise pydantic's ValidationError where a body is not of the type that the package publishes, other
    fields included."""
    streamed = bool(body.get("stream"))
    if kind == "anthropic":
        module = anthropic.types.message_create_params
        type = module.MessageCreateParamsStreaming if streamed else module.MessageCreateParamsNonStreaming
    else:
        module = openai.types.chat.completion_create_params
        streaming, whole = "CompletionCreateParamsStreaming", "CompletionCreateParamsNonStreaming"
        type = getattr(module, streaming if streamed else whole)
    adapter = pydantic.TypeAdapter(list[type], config={"extra": "forbid", "strict": True})
    _read_through(adapter.validate_python([body]))


def _read_through(value: Any) -> None:
    """Iterables are validated as they are read."""
    if isinstance(value, Mapping):
        value = value.values()
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for each in value:
            _read_through(each)
