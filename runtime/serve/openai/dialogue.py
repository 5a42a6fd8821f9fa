"""The conversation of a request, written into a model's own form: its template, its notation of calls."""

from __future__ import annotations

import asyncio

from sglc.runtime.decoding.conversations.conversation import Conversation, Transcript
from sglc.runtime.serve.openai.asked import Asked, Message
from sglc.runtime.serve.openai.calls import Notation
from sglc.runtime.serve.openai.errors import unsupported, wrong
from sglc.runtime.serve.openai.forms import Forms


async def notation_for(asked: Asked, forms: Forms) -> Notation | None:
    """How the model writes calls of tools, where the request has any."""
    if asked.tools is None and not any(message.calls for message in asked.conversations[0]):
        return None
    return await forms.notation("" if asked.tools is None else asked.tools.shown)


async def write(
    conversation: Conversation, messages: tuple[Message, ...], asked: Asked, notation: Notation | None
) -> None:
    """Write messages, so that the next text is the answer. Raises Refusal for calls and tokens that cannot be
    written, and SglError for roles that the template does not have."""
    if asked.tools is not None:
        if notation is None:
            raise unsupported("tools", "this model has no chat template, so it calls no tools")
        conversation.offer(asked.tools.shown, notation.form)
    for at, message in enumerate(messages):
        if message.tokens:
            _write_tokens(conversation, message.tokens)
            continue
        role, text = _shown(message, notation)
        if role:
            conversation.role(role)
        conversation.text(text)
        if not asked.open or at + 1 < len(messages):
            conversation.end_role()
        await asyncio.sleep(0)  # chat templates take their time
    if not asked.open:
        conversation.role("assistant")


def _shown(message: Message, notation: Notation | None) -> tuple[str, str]:
    """Role and text of a message as the template has it."""
    if notation is None:
        return message.role, message.text
    if message.calls:
        return message.role, notation.message(message.text, message.calls)
    if message.role == "tool":
        return notation.result(message.text)
    return message.role, message.text


def _write_tokens(conversation: Conversation, tokens: tuple[int, ...]) -> None:
    """Write tokens as text. Raises Refusal where the tokenizer writes that text with other tokens."""
    encoder = conversation.encoder
    if encoder is None:
        raise unsupported("prompt", "this model has no tokenizer")
    tokenizer = encoder.tokenizer
    special = set(tokenizer.special.values())
    closed: list[tuple[str, int]] = []
    stretch = b""
    try:
        for token in tokens:
            if token in special:
                closed.append((stretch.decode(), token))
                stretch = b""
                continue
            data = tokenizer.token_bytes[token] if token < len(tokenizer.token_bytes) else None
            if data is None:
                raise wrong("prompt", f"there is no token {token} that text has")
            stretch += data
        text = stretch.decode()
    except UnicodeDecodeError:
        raise wrong("prompt", "these tokens end within a character") from None
    conversation.restore(Transcript(closed=tuple(closed), stretch=text, content=0, fresh=False))
    if conversation.tokens() != tokens:
        raise unsupported("prompt", "the tokenizer writes the text of these tokens with other ones")
