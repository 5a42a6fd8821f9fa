"""The scores of texts as continuations of a conversation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.requests import RemoteWork
from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.scheduling.branch import Branch


@dataclass(frozen=True, slots=True)
class Scores:
    """Log-probabilities of each option's own tokens after what all options share, and the tokens."""

    tokens: tuple[tuple[Hashable, ...], ...]
    logprobs: tuple[tuple[float, ...], ...]
    work: Statistics = field(default_factory=Statistics)
    """What the engine did for them."""
    prompt: int = 0
    """Tokens that all options share."""
    before: int = 0
    """Tokens of the conversation before the options, some of which an option may write anew."""
    remote: RemoteWork | None = None
    """What they took of a model elsewhere; None for one of this process."""

    def sums(self) -> list[float]:
        """For each option the natural logarithm of its probability behind what all options share."""
        return [sum(each) for each in self.logprobs]

    def sizes(self) -> list[int]:
        """Tokens that each option adds to the conversation. Of one that is joined to what stands before it,
        at least one is its own."""
        return [max(1, self.prompt + len(tail) - self.before) for tail in self.tokens]

    def favouring(self, index: int) -> Scores:
        """The same scores with one option made the most likely: what a scripted model does."""
        wished = (-0.01,) * len(self.tokens[index])
        others = [
            tuple(
                -0.01 if self.tokens[index][: place + 1] == tail[: place + 1] else min(value, -5.0)
                for place, value in enumerate(values)
            )
            for tail, values in zip(self.tokens, self.logprobs, strict=True)
        ]
        others[index] = wished
        return replace(self, logprobs=tuple(others))


def shared_length(sequences: Sequence[tuple[int, ...]]) -> int:
    """Tokens that all sequences begin with; at least one token of each is left."""
    first = sequences[0]
    length = min(map(len, sequences)) - 1
    for other in sequences[1:]:
        length = next((i for i in range(length) if first[i] != other[i]), length)
    return max(0, length)


def _all_written(conversation: Conversation, texts: list[str], follow: str) -> list[tuple[int, ...]]:
    """The tokens of the conversation with each of the texts, which all differ."""
    whole = [_written(conversation, text, follow) for text in texts]
    if len(set(whole)) < len(whole):  # what follows would have to decide between some of them
        return [conversation.tokens(text) for text in texts]
    return whole


async def score(conversation: Conversation, texts: list[str], follow: str = "") -> Scores:
    """Scores of texts as continuations of a conversation. Each text is tokenised together with the
    conversation and with what follows.

    The last token of a text may also write the beginning of `follow`. Tokens behind it do not count.
    """
    conversation.start()
    whole = _all_written(conversation, texts, follow)
    if not shared_length(whole) and not conversation.state.closed:
        # The options change even the first token of what stands before them.
        conversation.lead()
        whole = _all_written(conversation, texts, follow)
    branch: Branch = conversation.sync()
    before = len(branch.tokens)
    shared = min(shared_length(whole), len(branch.tokens))
    while shared > 0 and tuple(branch.tokens[:shared]) != whole[0][:shared]:
        shared -= 1
    if shared < len(branch.tokens):
        branch.rollback(shared)
    tails = [tokens[shared:] for tokens in whole]
    with branch.apart() as work:
        logprobs = await branch.score_many(tails)
    return Scores(tuple(tails), tuple(map(tuple, logprobs)), work, shared, before)


def _written(conversation: Conversation, text: str, follow: str) -> tuple[int, ...]:
    """The tokens of a conversation with a text, up to the one that writes the text's end."""
    tokens = conversation.tokens(text + follow)
    if follow:
        assert conversation.encoder is not None
        token_bytes, rest = conversation.encoder.tokenizer.token_bytes, len(follow.encode())
        while (size := len(token_bytes[tokens[-1]] or b"")) <= rest:
            tokens, rest = tokens[:-1], rest - size
    return tokens
