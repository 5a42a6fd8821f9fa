"""vLLM's server: `vllm:URL` and `vllm:URL#NAME`.

Source: `vllm/entrypoints/openai/{chat_completion,completion}/protocol.py`, `vllm/sampling_params.py` and
`vllm/entrypoints/serve/tokenize/protocol.py` of vLLM 0.32. It speaks OpenAI's chat completions and
completions, with fields of its own: `structured_outputs` (since 0.12), `continue_final_message`,
`prompt_logprobs`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from sglc.runtime.backends.event_stream import closed_after
from sglc.runtime.backends.exchange import Backend, Event, Query, TextScore
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
    objects_in,
    text_in,
)
from sglc.runtime.backends.protocols.core.protocol_backend import ProtocolBackend
from sglc.runtime.backends.protocols.core.scoring import first_token, score_of, together, token_ids
from sglc.runtime.backends.protocols.core.served_model import ServedModel
from sglc.runtime.backends.protocols.core.service import Service, bearer, service_of
from sglc.runtime.backends.registry import Opening
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.core.enforcement import Enforcement


def open_backend(opening: Opening) -> Backend:
    """A backend of a server of vLLM."""
    url = opening.url.removesuffix("/v1")
    service = service_of(opening, url=url, secrets=bearer(opening.key))
    protocol = Vllm(service, ServedModel(service, opening.name.model), opening.capabilities)
    return ProtocolBackend(
        opening.name.text, url, opening.capabilities, protocol, service.limits, opening.hidden
    )


@dataclass(slots=True)
class Vllm:
    """The protocol."""

    service: Service
    model: ServedModel
    capabilities: Capabilities

    async def answer(self, query: Query) -> AsyncIterator[Event]:
        """The answer of completions to plain text, else that of chat completions. Raises BackendFault."""
        body = self.body(query, await self.model.name(query.deadline))
        if is_plain_text(query) and query.max_tokens is None:
            body["max_tokens"] = await self._room(body, query.deadline)
        path = "/v1/completions" if is_plain_text(query) else "/v1/chat/completions"
        events = self.service.events(path, body, query.deadline)
        async with closed_after(read_stream(self.service, events)) as found:
            async for event in found:
                yield event

    def body(self, query: Query, model: str) -> Body:
        """The request."""
        body: Body = {"model": model, **_prompt(query), "stream": True}
        body["stream_options"] = {"include_usage": True}
        body |= sampling(query, self.capabilities, every=True)
        body.setdefault("top_k", 0)  # 0 is all tokens; the model's own files may say another number
        body["repetition_penalty"] = 1.0
        body |= probabilities(query, self.capabilities, plain=is_plain_text(query))
        if query.max_tokens is not None:
            body["max_tokens" if is_plain_text(query) else "max_completion_tokens"] = query.max_tokens
        if query.stops:
            body["stop"] = list(query.stops)
        if query.enforced is not None:
            body["structured_outputs"] = structured_outputs(query.enforced)
        return body

    async def _room(self, body: Body, deadline: float | None) -> int:
        """Tokens that fit behind a text: completions write 16 where nothing is said."""
        asked = {"model": body["model"], "prompt": body["prompt"]}
        found = await self.service.answer("/tokenize", asked, deadline)
        return max(1, count_in(found, "max_model_len") - count_in(found, "count"))

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """One request a text: the prompt with the text behind it, and the log-probabilities of the prompt."""
        model = await self.model.name(query.deadline)
        prompt = {"model": model, **_prompt(query)}
        before = await self.service.answer("/tokenize", prompt, query.deadline)
        known = token_ids(before.get("tokens"), "tokens")
        return await together(texts, lambda text: self._scored(query, text, model, known))

    async def _scored(self, query: Query, text: str, model: str, known: list[int]) -> TextScore:
        plain = is_plain_text(query)
        body = {
            "model": model,
            **_prompt(query, text),
            "max_tokens" if plain else "max_completion_tokens": 1,
            "temperature": 0.0,
            "prompt_logprobs": 0,
            "return_token_ids": True,
        }
        path = "/v1/completions" if plain else "/v1/chat/completions"
        found = await self.service.answer(path, body, query.deadline)
        if plain:
            found = (objects_in(found, "choices") or [{}])[0]
        tokens = token_ids(found.get("prompt_token_ids"), "prompt_token_ids")
        chances = list_in(found, "prompt_logprobs")
        if len(chances) != len(tokens):
            raise garbled("`prompt_logprobs` are of other tokens than the prompt's")
        start = first_token(known, tokens)
        return score_of([_chance(chances[at], tokens[at]) for at in range(start, len(tokens))])

    async def context_length(self) -> int | None:
        """Tokens as the server tells them with its list of models; None where it does not."""
        return await self.model.context_length()

    async def close(self) -> None:
        """Close the connections of the transport."""
        await self.service.transport.close()


def _prompt(query: Query, text: str = "") -> Body:
    """What goes in: messages, the last of them open where it is begun, or a text without messages."""
    if is_plain_text(query):
        return {"prompt": plain_text(query) + text}
    begun = query.begun + text
    body: Body = {"messages": chat_messages(query.messages, begun)}
    if begun:
        body |= {"add_generation_prompt": False, "continue_final_message": True}
    return body


def structured_outputs(enforced: Enforcement) -> Body:
    """The field that enforces something; it has exactly one of these."""
    match enforced.notation:
        case "json_schema":
            return {"json": enforced.schema}
        case "choice":
            return {"choice": list(enforced.options)}
        case "regex":
            return {"regex": enforced.text}
    return {"grammar": enforced.text}


def _chance(entry: object, token: int) -> tuple[str, object]:
    """Text and log-probability of a token of the prompt, of those that are told of its place."""
    found: Object | None = entry.get(str(token)) if isinstance(entry, dict) else None
    if not isinstance(found, dict):
        return "", None
    return text_in(found, "decoded_token"), found.get("logprob")
