"""The JSON that clients read: whole answers, chunks of a stream, log-probabilities, usage."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Protocol

from sglc.runtime.serve.openai.answering import Answering, Choice, Likely, Token

LEAST_LOGPROB = -9999.0
"""What OpenAI tells of a token without probability: JSON has no infinity."""


def usage_of(work: Answering) -> dict[str, object]:
    """Tokens that were read and written."""
    written = sum(each.tokens for each in work.choices)
    return {"prompt_tokens": work.prompt, "completion_tokens": written, "total_tokens": work.prompt + written}


def logprobs_of(tokens: Sequence[Token]) -> dict[str, object]:
    """Tokens as `logprobs` has them."""
    content = [{**_likely(each.drawn), "top_logprobs": [_likely(top) for top in each.top]} for each in tokens]
    return {"content": content, "refusal": None}


def _likely(token: Likely) -> dict[str, object]:
    logprob = max(token.logprob, LEAST_LOGPROB) if isfinite(token.logprob) else LEAST_LOGPROB
    return {"token": token.data.decode("utf-8", "replace"), "logprob": logprob, "bytes": list(token.data)}


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

    def ending(self, at: int, choice: Choice) -> dict[str, object]:
        """The end of one answer."""

    def last(self, work: Answering) -> dict[str, object]:
        """What a stream ends with where usage is asked for."""


def _ended(choice: Choice) -> dict[str, object]:
    return {"finish_reason": choice.finish, "sglc": {"ended": choice.ended}}


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
                "message": {"role": "assistant", "content": each.text, "refusal": None},
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


@dataclass(frozen=True, slots=True)
class TextShape:
    """Plain completions."""

    id: str
    model: str
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, work: Answering) -> dict[str, object]:
        """See `Shape`."""
        choices = [
            {"index": at, "text": each.text, "logprobs": None, **_ended(each)}
            for at, each in enumerate(work.choices)
        ]
        return {**self._head(), "choices": choices, "usage": usage_of(work)}

    def chunk(self, at: int, text: str, tokens: Sequence[Token], *, first: bool) -> dict[str, object]:
        """See `Shape`."""
        return {
            **self._head(),
            "choices": [{"index": at, "text": text, "logprobs": None, "finish_reason": None}],
        }

    def ending(self, at: int, choice: Choice) -> dict[str, object]:
        """See `Shape`."""
        return {**self._head(), "choices": [{"index": at, "text": "", "logprobs": None, **_ended(choice)}]}

    def last(self, work: Answering) -> dict[str, object]:
        """See `Shape`."""
        return {**self._head(), "choices": [], "usage": usage_of(work)}

    def _head(self) -> dict[str, object]:
        return {
            "id": f"cmpl-{self.id}",
            "object": "text_completion",
            "created": self.created,
            "model": self.model,
        }
