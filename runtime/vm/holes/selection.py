"""`select`: the ways to make probabilities of the scores of options.

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
from collections.abc import Hashable, Sequence

from sglc.runtime.decoding.filling.scores import Scores


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
        children: dict[Hashable, list[int]] = {}
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
