"""SGLang's server: `sglang:URL` and `sglang:URL#NAME`.

Source: `sglang/srt/entrypoints/openai/protocol.py`, `sglang/srt/managers/io_struct.py` and
`sglang/srt/sampling/sampling_params.py` of SGLang 0.5.23. Messages go to its chat completions, which take
`regex`, `ebnf` and `continue_final_message`; text without messages, and what is scored, to `/generate`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from sglc.runtime.backends.event_stream import ServerEvent, closed_after
from sglc.runtime.backends.exchange import (
    Backend,
    BackendFault,
    Ending,
    Event,
    Piece,
    Query,
    TextScore,
    TokenChance,
    Usage,
)
from sglc.runtime.backends.protocols.core.chat_chunks import read_stream
from sglc.runtime.backends.protocols.core.chat_request import (
    Body,
    chat_messages,
    is_plain_text,
    plain_text,
    probabilities,
    sampling,
)
from sglc.runtime.backends.protocols.core.fields import (
    Object,
    count_in,
    garbled,
    list_in,
    logprob_of,
    object_in,
    parsed,
    text_in,
)
from sglc.runtime.backends.protocols.core.protocol_backend import ProtocolBackend
from sglc.runtime.backends.protocols.core.scoring import first_token, score_of, together, token_ids
from sglc.runtime.backends.protocols.core.served_model import ServedModel
from sglc.runtime.backends.protocols.core.service import Service, bearer, service_of
from sglc.runtime.backends.registry import Opening
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.core.enforcement import Enforcement
from sglc.types.text.plain_json import write_json


def open_backend(opening: Opening) -> Backend:
    """A backend of a server of SGLang."""
    url = opening.url.removesuffix("/v1")
    service = service_of(opening, url=url, secrets=bearer(opening.key))
    protocol = SGLang(service, ServedModel(service, opening.name.model), opening.capabilities)
    return ProtocolBackend(
        opening.name.text, url, opening.capabilities, protocol, service.limits, opening.hidden
    )


@dataclass(slots=True)
class SGLang:
    """The protocol."""

    service: Service
    model: ServedModel
    capabilities: Capabilities

    async def answer(self, query: Query) -> AsyncIterator[Event]:
        """The answer of `/generate` to plain text, else that of chat completions. Raises BackendFault."""
        if is_plain_text(query):
            events = self.service.events("/generate", self.text_body(query), query.deadline)
            reading = read_generated(self.service, events)
        else:
            body = self.chat_body(query, await self.model.name(query.deadline))
            events = self.service.events("/v1/chat/completions", body, query.deadline)
            reading = read_stream(self.service, events)
        async with closed_after(reading) as found:
            async for event in found:
                yield event

    def chat_body(self, query: Query, model: str) -> Body:
        """A request of chat completions."""
        body: Body = {"model": model, "messages": chat_messages(query.messages, query.begun)}
        if query.begun:
            body["continue_final_message"] = True
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        body |= self._sampling(query)
        body |= probabilities(query, self.capabilities)
        if query.max_tokens is not None:
            body["max_completion_tokens"] = query.max_tokens
        if query.stops:
            body["stop"] = list(query.stops)
        if query.enforced is not None:
            body |= chat_constraint(query.enforced)
        return body

    def text_body(self, query: Query) -> Body:
        """A request of `/generate`. Without a bound it would write 128 tokens; null is none."""
        settings = self._sampling(query)
        if "seed" in settings:
            settings["sampling_seed"] = settings.pop("seed")
        settings["max_new_tokens"] = query.max_tokens
        if query.stops:
            settings["stop"] = list(query.stops)
        if query.enforced is not None:
            settings |= text_constraint(query.enforced)
        body: Body = {"text": plain_text(query), "sampling_params": settings, "stream": True}
        if query.top_logprobs:
            wanted = min(query.top_logprobs, self.capabilities.top_logprobs)
            body |= {"return_logprob": True, "top_logprobs_num": wanted, "return_text_in_logprobs": True}
        return body

    def _sampling(self, query: Query) -> Body:
        found = sampling(query, self.capabilities, every=True)
        found.setdefault("top_k", -1)  # all tokens; the model's own files may say another number
        found["repetition_penalty"] = 1.0
        return found

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """The tokens of the prompt with and without each text, then the log-probabilities of the rest."""
        before = await self._tokens(query, "")
        return await together(texts, lambda text: self._scored(query, text, before))

    async def _scored(self, query: Query, text: str, before: list[int]) -> TextScore:
        tokens = await self._tokens(query, text)
        start = first_token(before, tokens)
        if start == len(tokens):
            return TextScore((), ())
        body = {
            "input_ids": tokens,
            "sampling_params": {"max_new_tokens": 0, "temperature": 0.0},
            "return_logprob": True,
            "logprob_start_len": max(0, start - 1),  # the first that is told has no log-probability
            "return_text_in_logprobs": True,
        }
        found = object_in(await self.service.answer("/generate", body, query.deadline), "meta_info")
        chances = list_in(found, "input_token_logprobs")[-(len(tokens) - start) :]
        told = [each if isinstance(each, list) and len(each) == 3 else [None] * 3 for each in chances]
        if [each[1] for each in told] != tokens[start:]:
            raise garbled("`input_token_logprobs` are of other tokens than the text's")
        return score_of([(str(each[2] or ""), each[0]) for each in told])

    async def _tokens(self, query: Query, text: str) -> list[int]:
        begun = query.begun + text
        body: Body = {"model": await self.model.name(query.deadline)}
        if is_plain_text(query):
            body["prompt"] = plain_text(query) + text
        else:
            body["messages"] = chat_messages(query.messages, begun)
            if begun:
                body["continue_final_message"] = True
        found = await self.service.answer("/v1/tokenize", body, query.deadline)
        return token_ids(found.get("tokens"), "tokens")

    async def context_length(self) -> int | None:
        """Tokens as the server tells them with its list of models; None where it does not."""
        return await self.model.context_length()

    async def close(self) -> None:
        """Close the connections of the transport."""
        await self.service.transport.close()


def chat_constraint(enforced: Enforcement) -> Body:
    """The field of chat completions that enforces something."""
    if enforced.notation == "json_schema":
        schema: Body = {"name": "answer", "strict": True, "schema": enforced.schema}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {"ebnf" if enforced.notation == "gbnf" else "regex": enforced.text}


def text_constraint(enforced: Enforcement) -> Body:
    """The field of sampling parameters that enforces something; schemas are texts there."""
    if enforced.notation == "json_schema":
        return {"json_schema": write_json(enforced.schema)}
    return {"ebnf" if enforced.notation == "gbnf" else "regex": enforced.text}


async def read_generated(service: Service, events: AsyncIterator[ServerEvent]) -> AsyncIterator[Event]:
    """The answer of a stream of `/generate`. Each event has all text so far, or with the server's option
    `--incremental-streaming-output` only what is new: the first two tell which."""
    text, tokens = "", 0
    ending: Ending | None = None
    async with closed_after(events):
        async for event in events:
            if event.data.startswith("[DONE]"):
                break
            value = parsed(event.data)
            if value.get("error"):
                raise service.refusal(value["error"])
            about = object_in(value, "meta_info")
            said = text_in(value, "text")
            whole = said if said.startswith(text) else text + said
            chances = _chances(list_in(about, "output_top_logprobs"))
            new = chances[tokens:] if len(chances) > tokens else ()
            if whole != text or new:
                yield Piece(whole[len(text) :], None, new)
            text, tokens = whole, max(tokens, len(chances))
            ending = _ending(about) or ending
    if ending is None:
        raise BackendFault("connection", "the stream ended before the answer did", again=True)
    yield ending


def _ending(about: Object) -> Ending | None:
    reason = object_in(about, "finish_reason")
    if not reason:
        return None
    usage = Usage(
        *(count_in(about, name) for name in ("prompt_tokens", "completion_tokens", "cached_tokens"))
    )
    kind = text_in(reason, "type")
    if kind == "abort":
        status = reason.get("status_code")
        again = not isinstance(status, int) or status >= 500
        message = text_in(reason, "message") or "it does not say why"
        raise BackendFault(
            "overloaded" if again else "request",
            f"the server gave the answer up: {message[:200]}",
            again=again,
        )
    if kind not in ("stop", "length"):
        raise garbled(f"`finish_reason` is {kind[:40]!r}")
    return Ending("stop" if kind == "stop" else "length", usage)


def _chances(tokens: list[Any]) -> tuple[tuple[TokenChance, ...], ...]:
    """Chances at each token, which are lists of log-probability, number and text."""
    try:
        return tuple(
            tuple(TokenChance(str(text), logprob_of(logprob)) for logprob, _, text in top or ())
            for top in tokens
        )
    except (TypeError, ValueError):
        raise garbled("`output_top_logprobs` are no lists of three") from None
