"""Which tokens of a prompt are those of a text at its end, and their scores."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence

from sglc.runtime.backends.exchange import TextScore
from sglc.runtime.backends.protocols.core.fields import garbled, logprob_of

AT_ONCE = 8
"""Texts that are scored at the same time: servers compute some in one batch, and other requests wait too."""


async def together(
    texts: Sequence[str], score: Callable[[str], Coroutine[object, object, TextScore]]
) -> list[TextScore]:
    """Scores of some texts, a few at a time, in their order. Where one fails the others are given up."""
    bound = asyncio.Semaphore(AT_ONCE)

    async def one(text: str) -> TextScore:
        async with bound:
            return await score(text)

    try:
        async with asyncio.TaskGroup() as group:
            jobs = [group.create_task(one(text)) for text in texts]
    except BaseExceptionGroup as faults:
        fault = faults.exceptions[0]
    else:
        return [job.result() for job in jobs]
    raise fault


def first_token(before: Sequence[int], whole: Sequence[int]) -> int:
    """Where a text's tokens begin in a prompt: at the first that is another one than without the text.

    The last token before the text may be part of it, where the tokenizer joins them.
    """
    shared = 0
    for one, other in zip(before, whole, strict=False):
        if one != other:
            break
        shared += 1
    return shared


def score_of(tokens: Sequence[tuple[str, object]]) -> TextScore:
    """Texts and log-probabilities of tokens. Raises BackendFault where one has none."""
    if any(logprob is None for _, logprob in tokens):
        raise garbled("a token of the text has no log-probability")
    return TextScore(tuple(text for text, _ in tokens), tuple(logprob_of(logprob) for _, logprob in tokens))


def token_ids(value: object, name: str) -> list[int]:
    """A list of token numbers."""
    if not isinstance(value, list) or not all(
        isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in value
    ):
        raise garbled(f"`{name}` is no list of tokens")
    return value
