"""The JSON that clients read: whole answers, chunks of a stream, log-probabilities, usage."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Protocol

from sglc.runtime.serve.openai.answering import Answering, Choice, Likely, Token
from sglc.runtime.serve.openai.calls import Called

LEAST_LOGPROB = -9999.0
"""What OpenAI tells of a token without probability: JSON has no infinity."""


def usage_of(work: Answering) -> dict[str, object]:
    """Tokens that were read and written."""
    usage = work.usage
    written = sum(each.tokens for each in work.choices)
    told: dict[str, object] = {
        "prompt_tokens": usage.prompt,
        "completion_tokens": written,
        "total_tokens": usage.prompt + written,
    }
    if usage.cached is not None:
        told["prompt_tokens_details"] = {"cached_tokens": usage.cached}
    if usage.drafted is not None:
        told["completion_tokens_details"] = {
            "accepted_prediction_tokens": usage.accepted,
            "rejected_prediction_tokens": usage.drafted - usage.accepted,
        }
    return told


def call_of(call: Called) -> dict[str, object]:
    """A whole call of a tool."""
    if call.custom:
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def call_piece(index: int, call: Called, text: str, *, first: bool) -> dict[str, object]:
    """More of the arguments of a call; the first piece names it."""
    kind, member = ("custom", "input") if call.custom else ("function", "arguments")
    if first:
        return {"index": index, "id": call.id, "type": kind, kind: {"name": call.name, member: text}}
    return {"index": index, kind: {member: text}}


def logprobs_of(tokens: Sequence[Token]) -> dict[str, object]:
    """Tokens as `logprobs` has them."""
    content = [{**_likely(each.drawn), "top_logprobs": [_likely(top) for top in each.top]} for each in tokens]
    return {"content": content, "refusal": None}


def _likely(token: Likely) -> dict[str, object]:
    return {"token": _text(token), "logprob": _finite(token.logprob), "bytes": list(token.data)}


def _text(token: Likely) -> str:
    return token.data.decode("utf-8", "replace")


def _finite(logprob: float) -> float:
    return max(logprob, LEAST_LOGPROB) if isfinite(logprob) else LEAST_LOGPROB


def tokens_within(choice: Choice, first: int, size: int) -> list[Token]:
    """The tokens from `first` on that lie in the first `size` bytes of the answer, those that end it left
    out."""
    found: list[Token] = []
    end = sum(len(each.drawn.data) for each in choice.drawn[:first])
    for each in choice.drawn[first:]:
        end += len(each.drawn.data)
        if end > size or not each.drawn.data:
            break
        found.append(each)
    return found


class Shape(Protocol):
    """One kind of answer."""

    def whole(self, work: Answering) -> dict[str, object]:
        """All answers at once."""

    def chunk(self, at: int, text: str, tokens: Sequence[Token], *, first: bool) -> dict[str, object]:
        """More of one answer."""

    def called(self, at: int, calls: Sequence[dict[str, object]], *, first: bool) -> dict[str, object]:
        """More of the calls of one answer."""

    def ending(self, at: int, choice: Choice) -> dict[str, object]:
        """The end of one answer."""

    def last(self, work: Answering) -> dict[str, object]:
        """What a stream ends with where usage is asked for."""


def _ended(choice: Choice) -> dict[str, object]:
    return {"finish_reason": choice.finish, "sglc": {"ended": choice.ended}}


def _message(choice: Choice) -> dict[str, object]:
    """An answer as a message. Blank text before calls is none."""
    content = choice.content if choice.content.strip() or not choice.calls else None
    told: dict[str, object] = {"role": "assistant", "content": content, "refusal": None}
    if choice.calls:
        told["tool_calls"] = [call_of(each) for each in choice.calls]
    return told


@dataclass(frozen=True, slots=True)
class ChatShape:
    """Chat completions. `logprobs` says whether log-probabilities are told."""

    id: str
    model: str
    logprobs: bool = False
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, work: Answering) -> dict[str, object]:
        """See `Shape`."""
        choices = [
            {
                "index": at,
                "message": _message(each),
                "logprobs": self._told(tokens_within(each, 0, len(each.text.encode()))),
                **_ended(each),
            }
            for at, each in enumerate(work.choices)
        ]
        return {**self._head("chat.completion"), "choices": choices, "usage": usage_of(work)}

    def chunk(self, at: int, text: str, tokens: Sequence[Token], *, first: bool) -> dict[str, object]:
        """See `Shape`."""
        delta = {**({"role": "assistant"} if first else {}), "content": text}
        row = {"index": at, "delta": delta, "logprobs": self._told(tokens), "finish_reason": None}
        return {**self._head("chat.completion.chunk"), "choices": [row]}

    def called(self, at: int, calls: Sequence[dict[str, object]], *, first: bool) -> dict[str, object]:
        """See `Shape`."""
        delta = {**({"role": "assistant", "content": None} if first else {}), "tool_calls": list(calls)}
        row = {"index": at, "delta": delta, "logprobs": None, "finish_reason": None}
        return {**self._head("chat.completion.chunk"), "choices": [row]}

    def ending(self, at: int, choice: Choice) -> dict[str, object]:
        """See `Shape`."""
        row = {"index": at, "delta": {}, "logprobs": None, **_ended(choice)}
        return {**self._head("chat.completion.chunk"), "choices": [row]}

    def last(self, work: Answering) -> dict[str, object]:
        """See `Shape`."""
        return {**self._head("chat.completion.chunk"), "choices": [], "usage": usage_of(work)}

    def _head(self, kind: str) -> dict[str, object]:
        return {"id": f"chatcmpl-{self.id}", "object": kind, "created": self.created, "model": self.model}

    def _told(self, tokens: Sequence[Token]) -> dict[str, object] | None:
        return logprobs_of(tokens) if self.logprobs else None


@dataclass(slots=True)
class TextShape:
    """Plain completions. `logprobs` says whether log-probabilities are told."""

    id: str
    model: str
    logprobs: bool = False
    created: int = field(default_factory=lambda: int(time.time()))
    _told: dict[int, int] = field(default_factory=dict)
    """Characters of each answer of a stream whose tokens were told."""

    def whole(self, work: Answering) -> dict[str, object]:
        """See `Shape`."""
        choices = [
            {
                "index": at,
                "text": each.text,
                "logprobs": self._logprobs(tokens_within(each, 0, len(each.text.encode())), 0),
                **_ended(each),
            }
            for at, each in enumerate(work.choices)
        ]
        return {**self._head(), "choices": choices, "usage": usage_of(work)}

    def chunk(self, at: int, text: str, tokens: Sequence[Token], *, first: bool) -> dict[str, object]:
        """See `Shape`."""
        told = self._logprobs(tokens, self._told.get(at, 0))
        self._told[at] = self._told.get(at, 0) + sum(len(_text(each.drawn)) for each in tokens)
        row = {"index": at, "text": text, "logprobs": told, "finish_reason": None}
        return {**self._head(), "choices": [row]}

    def called(self, at: int, calls: Sequence[dict[str, object]], *, first: bool) -> dict[str, object]:
        """See `Shape`; completions call no tools."""
        raise AssertionError("completions call no tools")

    def ending(self, at: int, choice: Choice) -> dict[str, object]:
        """See `Shape`."""
        return {**self._head(), "choices": [{"index": at, "text": "", "logprobs": None, **_ended(choice)}]}

    def last(self, work: Answering) -> dict[str, object]:
        """See `Shape`."""
        return {**self._head(), "choices": [], "usage": usage_of(work)}

    def _logprobs(self, tokens: Sequence[Token], offset: int) -> dict[str, object] | None:
        """Tokens as completions have them, the first of which stands at a character."""
        if not self.logprobs:
            return None
        offsets = []
        for each in tokens:
            offsets.append(offset)
            offset += len(_text(each.drawn))
        return {
            "tokens": [_text(each.drawn) for each in tokens],
            "token_logprobs": [_finite(each.drawn.logprob) for each in tokens],
            "top_logprobs": [{_text(top): _finite(top.logprob) for top in each.top} for each in tokens],
            "text_offset": offsets,
        }

    def _head(self) -> dict[str, object]:
        return {
            "id": f"cmpl-{self.id}",
            "object": "text_completion",
            "created": self.created,
            "model": self.model,
        }
