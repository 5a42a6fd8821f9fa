"""`select`: scoring every option in full, and the ways to make probabilities of the scores.

- `sum`: the logarithm of the option's probability as a continuation.
- `mean`: the same divided by the option's number of tokens.
- `greedy`: the options form a trie of tokens. At each fork of the trie the probabilities of its branches are
  normalised to sum to 1; an option that ends at the fork has what the branches leave over. An option's
  probability is the product along its path. The top option is found by taking the most likely branch at each
  fork.
- `contrast`: `log p(option | context) - log p(option | premise)`. The premise is the opening of the same
  message with the text of the hole's own line alone (domain-conditional pointwise mutual information:
  Holtzman et al., Surface Form Competition, 2021).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.scheduling.branch import Branch


@dataclass(frozen=True, slots=True)
class Scores:
    """Log-probabilities of each option's own tokens after what all options share, and the tokens."""

    tokens: tuple[tuple[int, ...], ...]
    logprobs: tuple[tuple[float, ...], ...]
    work: Statistics = field(default_factory=Statistics)
    """What the engine did for them."""
    prompt: int = 0
    """Tokens that all options share."""

    def sums(self) -> list[float]:
        """For each option the natural logarithm of its probability behind what all options share."""
        return [sum(each) for each in self.logprobs]

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
        return Scores(self.tokens, tuple(others), self.work, self.prompt)


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
    shared = min(shared_length(whole), len(branch.tokens))
    while shared > 0 and tuple(branch.tokens[:shared]) != whole[0][:shared]:
        shared -= 1
    if shared < len(branch.tokens):
        branch.rollback(shared)
    tails = [tokens[shared:] for tokens in whole]
    with branch.apart() as work:
        logprobs = await branch.score_many(tails)
    return Scores(tuple(tails), tuple(map(tuple, logprobs)), work, shared)


def _written(conversation: Conversation, text: str, follow: str) -> tuple[int, ...]:
    """The tokens of a conversation with a text, up to the one that writes the text's end."""
    tokens = conversation.tokens(text + follow)
    if follow:
        assert conversation.encoder is not None
        token_bytes, rest = conversation.encoder.tokenizer.token_bytes, len(follow.encode())
        while (size := len(token_bytes[tokens[-1]] or b"")) <= rest:
            tokens, rest = tokens[:-1], rest - size
    return tokens


def softmax(scores: Sequence[float]) -> list[float]:
    """Probabilities in proportion to the exponentials; all equal where no score is finite."""
    top = max(scores)
    if not math.isfinite(top):
        return [1 / len(scores)] * len(scores)
    weights = [math.exp(score - top) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def greedy(scores: Scores) -> tuple[int, list[float]]:
    """The option at the end of the greedy walk, and every option's probability along the trie."""
    count = len(scores.tokens)
    probabilities = [1.0] * count
    top = -1
    groups: list[tuple[list[int], int, bool]] = [(list(range(count)), 0, True)]
    while groups:
        members, depth, on_walk = groups.pop()
        ended = [i for i in members if len(scores.tokens[i]) == depth]
        children: dict[int, list[int]] = {}
        for i in members:
            if len(scores.tokens[i]) > depth:
                children.setdefault(scores.tokens[i][depth], []).append(i)
        mass = {token: math.exp(scores.logprobs[group[0]][depth]) for token, group in children.items()}
        end = max(1.0 - sum(mass.values()), 1e-12) if ended else 0.0
        total = end + sum(mass.values())
        if total <= 0:
            mass, total = dict.fromkeys(mass, 1.0), float(len(mass))
        for i in ended:
            probabilities[i] *= end / total / len(ended)
        best = max(mass, key=lambda token: mass[token]) if mass else None
        if on_walk and ended and (best is None or end >= mass[best]):
            top, best = ended[0], None
        for token, group in children.items():
            for i in group:
                probabilities[i] *= mass[token] / total
            groups.append((group, depth + 1, on_walk and token == best))
    return top, probabilities
