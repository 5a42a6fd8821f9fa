"""What the conversations of a program begin with, as tokens that are known before any run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from sglc.bytecode.code import Prefix, Program
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.engine.scheduling.pinned_prefixes import MOST_NAMED
from sglc.runtime.errors import SglError
from sglc.runtime.served_models import Served

OPEN_END = 4
"""Tokens at the end of a constant beginning that may become others with the text that follows."""
MOST_MESSAGES = 64
"""Messages of a prefix that are tokenised ahead: for each of them the chat template reads all before it."""


def beginnings(
    program: Program, served: Mapping[str, object]
) -> Iterator[tuple[Prefix, Served, tuple[int, ...]]]:
    """What conversations begin with, who of the models (by name) reads it, and those of its tokens that stay
    whatever follows."""
    for prefix in program.prefixes[-MOST_NAMED:]:
        model = served.get(prefix.model.name)
        if not isinstance(model, Served):
            continue  # of a chain, a model that is not given; or one elsewhere, which has its own tokens
        with contextlib.suppress(SglError):  # a model without a role says so when the function runs
            tokens = _tokens(prefix, model)[:-OPEN_END]
            if tokens:
                yield prefix, model, tokens


def _tokens(prefix: Prefix, served: Served) -> tuple[int, ...]:
    """The tokens of a prefix in this model's template. The encoder remembers them, and those of the text
    before the hole that it ends in. Raises SglError for a role that the model does not know."""
    conversation = Conversation(encoder=served.encoder, chat=served.engine.model.tokenizer.chat)
    *before, last = prefix.messages[:MOST_MESSAGES]
    ahead = prefix.ahead if len(prefix.messages) <= MOST_MESSAGES else 0
    for message in before:
        if message.role:
            conversation.role(message.role)
        conversation.text(message.text)
        if message.role:
            conversation.end_role()
    if last.role:
        conversation.role(last.role)
    at = len(last.text) - ahead
    conversation.text(last.text[:at])
    tokens = conversation.tokens()
    return conversation.tokens(last.text[at:]) if ahead else tokens
