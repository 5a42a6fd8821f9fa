"""llama.cpp's server: `llama:URL`.

Source: the README of `tools/server` in llama.cpp, autumn 2026. The server makes a text of the messages
(`/apply-template`), and `/completion` goes on from there: so begun answers are continued as they are, and
every setting is in one request.

Its JSON Schemas become grammars by rules of its own that leave some keywords out, so they are not among what
it enforces unless the settings say so; GBNF is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from sglc.runtime.backends.event_stream import ServerEvent, closed_after
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
from sglc.runtime.backends.protocols.core.chat_chunks import chances_in, token_text
from sglc.runtime.backends.protocols.core.chat_request import (
    Body,
    chat_messages,
    is_plain_text,
    plain_text,
    sampling,
    with_a_turn_to_answer,
)
from sglc.runtime.backends.protocols.core.fields import (
    Object,
    count_in,
    garbled,
    object_in,
    objects_in,
    parsed,
    text_in,
)
from sglc.runtime.backends.protocols.core.protocol_backend import ProtocolBackend
from sglc.runtime.backends.protocols.core.scoring import first_token, score_of, together, token_ids
from sglc.runtime.backends.protocols.core.service import Service, bearer, service_of
from sglc.runtime.backends.registry import Opening
from sglc.targets.projection.core.capabilities import Capabilities

FEW = 64
"""Chances that are asked for first where a token is scored. A token of a text that is likely at all is among
them; else all of the vocabulary are asked for, some megabytes."""
ALL = 1 << 20
"""More than any vocabulary has. The server gives as many as there are."""
PROMPTS = 256
"""Conversations whose text by the template is kept for requests that are sent again: as many as may be under
way with room to spare."""


def open_backend(opening: Opening) -> Backend:
    """A backend of a server of llama.cpp."""
    url = opening.url.removesuffix("/v1")
    service = service_of(opening, url=url, secrets=bearer(opening.key))
    protocol = LlamaServer(service, opening.capabilities)
    return ProtocolBackend(
        opening.name.text, url, opening.capabilities, protocol, service.limits, opening.hidden
    )


@dataclass(slots=True)
class LlamaServer:
    """The protocol."""

    service: Service
    capabilities: Capabilities
    _prompts: OrderedDict[tuple[Message, ...], str] = field(default_factory=OrderedDict, repr=False)

    async def answer(self, query: Query) -> AsyncIterator[Event]:
        """The answer of `/completion`, to the prompt that the server's own chat template makes. Raises
        BackendFault."""
        body = self.body(query, await self._prompt(query))
        events = self.service.events("/completion", body, query.deadline)
        async with closed_after(read_completion(self.service, events)) as found:
            async for event in found:
                yield event

    def body(self, query: Query, prompt: str) -> Body:
        """The request. What is not asked for is switched off: the server has defaults of its own."""
        body: Body = {"prompt": prompt, "stream": True, "cache_prompt": True}
        body |= sampling(query, self.capabilities, every=True)
        body.setdefault("top_k", 0)
        body["repeat_penalty"] = 1.0
        body["n_predict"] = -1 if query.max_tokens is None else query.max_tokens
        if query.stops:
            body["stop"] = list(query.stops)
        if query.top_logprobs:
            body["n_probs"] = min(query.top_logprobs, self.capabilities.top_logprobs)
        if query.enforced is not None:
            if query.enforced.notation == "json_schema":
                body["json_schema"] = query.enforced.schema
            else:
                body["grammar"] = query.enforced.text
        return body

    def is_prepared(self, query: Query) -> bool:
        """As `PreparingBackend.is_prepared`."""
        return is_plain_text(query) or query.messages in self._prompts

    async def prepare_for(self, query: Query) -> None:
        """As `PreparingBackend.prepare_for`."""
        await self._template(query)

    async def _prompt(self, query: Query) -> str:
        if is_plain_text(query):
            return plain_text(query)
        prompt = self._prompts.get(query.messages)
        return f"{await self._template(query) if prompt is None else prompt}{query.begun}"

    async def _template(self, query: Query) -> str:
        """The text that the model's chat template makes of the messages."""
        asked = {"messages": chat_messages(with_a_turn_to_answer(query.messages))}
        found = await self.service.answer("/apply-template", asked, query.deadline)
        prompt = found.get("prompt")
        if not isinstance(prompt, str):
            raise garbled("there is no `prompt`")
        self._prompts[query.messages] = prompt
        if len(self._prompts) > PROMPTS:
            self._prompts.popitem(last=False)
        return prompt

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """A request for each token of a text: how likely it is behind those before it. The server does not
        tell of the tokens of a prompt, but it keeps what it has computed."""
        prompt = await self._prompt(query)
        before = await self._tokens(prompt, query)
        return await together(texts, lambda text: self._scored(query, prompt + text, before))

    async def _scored(self, query: Query, whole: str, before: list[int]) -> TextScore:
        tokens = await self._tokens(whole, query)
        start = max(1, first_token(before, tokens))
        found = [await self._chance(tokens[:at], tokens[at], query) for at in range(start, len(tokens))]
        return score_of(found)

    async def _chance(self, before: list[int], token: int, query: Query) -> tuple[str, object]:
        """Text and log-probability of a token behind others, by the model's logits alone."""
        body: Body = {"prompt": before, "n_predict": 1, "cache_prompt": True, "temperature": -1.0}
        for wanted in (FEW, ALL):
            found = await self.service.answer("/completion", {**body, "n_probs": wanted}, query.deadline)
            places = objects_in(found, "completion_probabilities")
            for each in objects_in(places[0], "top_logprobs") if places else ():
                if each.get("id") == token:
                    return token_text(each), each.get("logprob")
        raise garbled("a token of the text is not among the chances of all tokens")

    async def _tokens(self, text: str, query: Query) -> list[int]:
        body = {"content": text, "add_special": True, "parse_special": True}
        found = await self.service.answer("/tokenize", body, query.deadline)
        return token_ids(found.get("tokens"), "tokens")

    async def context_length(self) -> int | None:
        """Tokens of one slot: the server divides its context among requests at the same time."""
        settings = object_in(await self.service.answer("/props"), "default_generation_settings")
        return count_in(settings, "n_ctx") or None

    async def close(self) -> None:
        """Close the connections of the transport."""
        await self.service.transport.close()


async def read_completion(service: Service, events: AsyncIterator[ServerEvent]) -> AsyncIterator[Event]:
    """The answer of a stream of `/completion`."""
    async with closed_after(events):
        async for event in events:
            value = parsed(event.data)
            if value.get("error"):
                raise service.refusal(value["error"])
            logprob, top = chances_in(objects_in(value, "completion_probabilities"))
            text = text_in(value, "content")
            if text or top:
                yield Piece(text, logprob, top)
            if value.get("stop") is True:
                yield _ending(value)
                return
    raise BackendFault("connection", "the stream ended before the answer did", again=True)


def _ending(value: Object) -> Ending:
    kind = text_in(value, "stop_type")
    if kind not in ("eos", "word", "limit", "none"):
        raise garbled(f"`stop_type` is {kind[:40]!r}")
    cached = count_in(object_in(value, "timings"), "cache_n")
    usage = Usage(count_in(value, "tokens_evaluated"), count_in(value, "tokens_predicted"), cached)
    return Ending("length" if kind in ("limit", "none") else "stop", usage)
