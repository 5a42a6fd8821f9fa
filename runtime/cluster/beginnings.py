"""What calls and requests begin with, in a model's tokens, before any model has seen them.

A call is followed without a model to its first hole (`runtime/preview.py`): what stands before it is what a
worker computes first. A request of OpenAI's protocol begins with its conversation. Only the tokenizer is
read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sglc.bytecode.code import Program
from sglc.runtime.cluster.router import NOTHING, Beginning
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.encoder import Encoder
from sglc.runtime.decoding.requests import Constraints
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.kv.names import names_of
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.preview import preview
from sglc.runtime.serve.openai.asked import Asked, Message
from sglc.runtime.serve.openai.dialogue import notation_for, write
from sglc.runtime.serve.openai.forms import Forms
from sglc.runtime.serve.problems import Refusal
from sglc.runtime.tokenizer import Tokenizer
from sglc.runtime.vm.preview.pieces import pieces_of, tokens_of

STEPS = 100_000
"""Instructions after which a call is not followed any further: most write their first request within some
hundred."""
LONGEST_READ = 100_000
"""Characters of a conversation that are read for its beginning: the front does nothing else meanwhile."""
SHORTEST_WORTH = 32
"""Tokens of which it is not worth while to know who has read them."""


class Beginnings:
    """The beginnings of a program's calls."""

    def __init__(self, program: Program, tokenizer: Tokenizer) -> None:
        self._program = program
        self._tokenizer = tokenizer
        self._encoder = Encoder(tokenizer)

    async def of(self, function: str, arguments: Mapping[str, object]) -> Beginning:
        """The beginning of a call; of one that asks nothing, or cannot begin, nothing is known."""
        try:
            seen = await preview(self._program, function, arguments, tokenizer=self._tokenizer, steps=STEPS)
        except ArgumentError:
            return NOTHING
        asked = next((each.asked[0] for each in seen.conversations if each.asked), None)
        if asked is None:
            return NOTHING
        tokens: list[int] = []
        for token, _ in tokens_of(pieces_of(asked.transcript, {}), self._encoder):
            if token is None:
                break  # a value that nobody knows yet
            tokens.append(token)
        return _beginning(tokens)


class RequestBeginnings:
    """The beginnings of requests to a model."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._chat = tokenizer.chat
        self._encoder = Encoder(tokenizer)
        self._forms = Forms(Constraints(), tokenizer.chat)

    async def of(self, asked: Asked) -> Beginning:
        """The beginning of a request as far as it is read, of several conversations that of the first; of one
        that a worker is going to refuse nothing is known."""
        conversation = Conversation(encoder=self._encoder, chat=self._chat)
        messages = tuple(_first(asked.conversations[0]))
        try:
            notation = await notation_for(asked, self._forms)
            await write(conversation, messages, asked, notation)
            tokens = conversation.tokens()
        except (Refusal, SglError, ConstraintError):
            return NOTHING
        return _beginning(tokens)


def _first(messages: Iterable[Message]) -> Iterator[Message]:
    """The first messages of a conversation, the last of them cut where there is more than is read."""
    room = LONGEST_READ
    for message in messages:
        size = len(message.text) + len(message.tokens)
        if size > room:
            yield replace(message, text=message.text[:room], tokens=message.tokens[:room])
            return
        yield message
        room -= size


def _beginning(tokens: Sequence[int]) -> Beginning:
    if len(tokens) < SHORTEST_WORTH:
        return NOTHING
    return Beginning(tuple(names_of(tokens)), len(tokens))
