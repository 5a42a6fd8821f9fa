"""The distribution of a finite set of texts under a model, by asking it about every text in float64.

No mask, no engine, no sampler: logits come from the model's own `forward`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def logprobs(model: Any, tokens: Sequence[int], temperature: float = 1.0) -> np.ndarray:
    """Natural log-probabilities [V] behind the tokens, at a temperature."""
    row = np.asarray(model.forward(model.new_cache(), list(tokens)), np.float64) / temperature
    return row - row.max() - math.log(np.exp(row - row.max()).sum())


def of_tokens(model: Any, before: Sequence[int], tail: Sequence[int]) -> float:
    """Natural logarithm of the probability of a tail behind some tokens."""
    return sum(float(logprobs(model, [*before, *tail[:place]])[token]) for place, token in enumerate(tail))


def normalised(scores: dict[str, float]) -> dict[str, float]:
    """Probabilities in proportion to the exponentials."""
    top = max(scores.values())
    weights = {text: math.exp(score - top) for text, score in scores.items()}
    return {text: weight / sum(weights.values()) for text, weight in weights.items()}


def of_words(
    model: Any,
    before: Sequence[int],
    words: Sequence[str],
    ends: Callable[[str], Sequence[int]],
    temperature: float = 1.0,
) -> dict[str, float]:
    """For each word the natural logarithm of the mass of its choices, for a model whose tokens are bytes.

    A place is a choice where more than one byte may follow, or the word may also end: what is forced weighs
    nothing. `ends` are the tokens that end a word there.
    """
    found: dict[str, float] = {}
    for word in words:
        data, total = word.encode(), 0.0
        for place in range(len(data) + 1):
            left = [each.encode() for each in words if each.encode().startswith(data[:place])]
            following = {each[place] for each in left if len(each) > place}
            may_end = any(len(each) == place for each in left)
            if len(following) + may_end == 1:
                continue
            row = logprobs(model, [*before, *data[:place]], temperature)
            if place < len(data):
                total += float(row[data[place]])
            else:
                closing = [float(row[token]) for token in ends(word)]
                total += float(np.logaddexp.reduce(closing))
        found[word] = total
    return found


def chi_square(counts: dict[str, int], expected: dict[str, float]) -> tuple[float, int]:
    """Pearson's statistic and its degrees of freedom; texts expected less than 5 times count as one."""
    total = sum(counts.values())
    rare = [text for text, share in expected.items() if share * total < 5]
    cells = [(counts.get(text, 0), expected[text] * total) for text in expected if text not in rare]
    if rare:
        share = sum(expected[text] for text in rare) * total
        cells.append((sum(counts.get(text, 0) for text in rare), max(share, 1e-12)))
    return sum((seen - due) ** 2 / due for seen, due in cells), len(cells) - 1


def far_out(statistic: float, freedom: int) -> bool:
    """Whether a chi-square statistic is one in some ten thousand (Wilson and Hilferty 1931)."""
    if freedom < 1:
        return statistic > 1e-6
    scale = 2 / (9 * freedom)
    return ((statistic / freedom) ** (1 / 3) - (1 - scale)) / math.sqrt(scale) > 3.8


def total_variation(counts: dict[str, int], expected: dict[str, float]) -> float:
    """Half the sum of absolute differences of shares."""
    total = sum(counts.values())
    texts = counts.keys() | expected.keys()
    return sum(abs(counts.get(text, 0) / total - expected.get(text, 0.0)) for text in texts) / 2
