"""Exact probabilities of a hole's values, by brute force: nothing of the engine is used but the tokenizer.

The legal sequences of tokens are those that the tokenizer gives for the legal texts: prompt, value, what is
known to follow, and anything behind that. They form a trie; at each fork of it the model's probabilities are
normalised over the branches. A value's probability is the product on the way to it, summed over
all ways.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

Tokens = tuple[int, ...]
Ways = list[tuple[Tokens, str]]


class TokenOracle:
    """For one tokenizer and one model, which is a function of tokens to float32 logits [V]."""

    def __init__(self, tokenizer: Any, logits: Callable[[Tokens], np.ndarray]) -> None:
        self._encode = tokenizer.encode
        self._bytes = tokenizer.token_bytes
        self._ends = sorted(tokenizer.end_ids)
        self._logits = logits
        self._containing: dict[bytes, list[tuple[int, bytes]]] = {}

    def ways(self, text: str, values: Sequence[str], follow: str) -> Ways:
        """All legal sequences of tokens of `text`, a value and the text that follows, as far as they decide
        about the value. Without `follow` a line or the message ends behind the value."""
        found: dict[Tokens, str] = {}
        for value in values:
            goes_on = any(other != value and other.startswith(value) for other in values)
            for way in self._of_value(text, value, follow, goes_on):
                assert found.setdefault(way, value) == value
        return list(found.items())

    def _of_value(self, text: str, value: str, follow: str, goes_on: bool) -> Iterable[Tokens]:
        written = text + value
        size = len(written.encode()) + goes_on
        for tokens in self._followed(written + (follow or "\n")):
            yield self._until(tokens, size)
        if not follow:
            whole = tuple(self._encode(written))
            if goes_on:
                for end in self._ends:
                    yield (*whole, end)
            else:
                yield whole

    def _followed(self, text: str) -> Iterable[Tokens]:
        """The tokens of a text with anything behind it: with nothing, a letter, and each text that makes a
        longer token of some end of it."""
        data = text.encode()
        more = {b"", b"x"}
        for start in range(len(data)):
            tail = data[start:]
            more.update(longer[len(tail) :] for _, longer in self._longer(tail))
        for following in more:
            try:
                yield tuple(self._encode((data + following).decode()))
            except UnicodeDecodeError:
                continue

    def _until(self, tokens: Tokens, size: int) -> Tokens:
        """The tokens that write the first `size` bytes, the last of them perhaps more."""
        count, at = 0, 0
        while at < size:
            at += len(self._bytes[tokens[count]] or b"")
            count += 1
        return tokens[:count]

    def _longer(self, tail: bytes) -> list[tuple[int, bytes]]:
        found = self._containing.get(tail)
        if found is None:
            found = self._containing[tail] = [
                (token, data)
                for token, data in enumerate(self._bytes)
                if data is not None and len(data) > len(tail) and data.startswith(tail)
            ]
        return found

    def exact(self, before: Tokens, ways: Ways) -> dict[str, float]:
        """Probability of each value; `before` are the tokens before the text."""
        total: dict[str, float] = {}
        waiting = [(ways, 0, 1.0)]
        while waiting:
            group, depth, weight = waiting.pop()
            ended = [value for way, value in group if len(way) == depth]
            if ended:
                assert len(group) == 1, group
                total[ended[0]] = total.get(ended[0], 0.0) + weight
                continue
            for part, chance in self._fork(before, group, depth):
                waiting.append((part, depth + 1, weight * chance))
        return total

    def conditioned(self, before: Tokens, ways: Ways) -> dict[str, float]:
        """Probability of each value given that one of them is written.

        At each fork of the trie the model's own probabilities count, of its whole vocabulary; their products
        are normalised at the end.
        """
        total: dict[str, float] = {}
        waiting = [(ways, 0, 1.0)]
        while waiting:
            group, depth, weight = waiting.pop()
            ended = [value for way, value in group if len(way) == depth]
            if ended:
                total[ended[0]] = total.get(ended[0], 0.0) + weight
                continue
            branches = self._fork(before, group, depth)
            legal = 1.0
            if len(branches) > 1:
                row = self._logits((*before, *group[0][0][:depth])).astype(np.float64)
                weights = np.exp(row - row.max())
                tokens = [branch[0][0][depth] for branch, _ in branches]
                legal = float(weights[tokens].sum() / weights.sum())
            for part, chance in branches:
                waiting.append((part, depth + 1, weight * chance * legal))
        return {value: weight / sum(total.values()) for value, weight in total.items()}

    def greedy(self, before: Tokens, ways: Ways) -> str:
        """The value at the end of the likelier branches."""
        depth = 0
        while any(len(way) > depth for way, _ in ways):
            ways = max(self._fork(before, ways, depth), key=lambda branch: branch[1])[0]
            depth += 1
        return ways[0][1]

    def _fork(self, before: Tokens, ways: Ways, depth: int) -> list[tuple[Ways, float]]:
        branches: dict[int, Ways] = {}
        for way in ways:
            branches.setdefault(way[0][depth], []).append(way)
        if len(branches) == 1:
            return [(ways, 1.0)]
        order = sorted(branches)  # the lowest id wins among equals, as in the sampler
        row = self._logits((*before, *ways[0][0][:depth]))[order].astype(np.float64)
        weights = np.exp(row - row.max())
        return [(branches[token], float(w)) for token, w in zip(order, weights / weights.sum(), strict=True)]


def chi_square_tail(counts: dict[str, int], exact: dict[str, float]) -> float:
    """How likely draws that differ from the exact probabilities at least as much are. Rare values are one."""
    draws = sum(counts.values())
    if any(exact.get(value, 0.0) <= 0.0 for value in counts):
        return 0.0
    cells: list[tuple[float, float]] = []
    rare = [0.0, 0.0]
    for value, chance in exact.items():
        seen, wanted = counts.get(value, 0), chance * draws
        if wanted >= 5.0:
            cells.append((seen, wanted))
        else:
            rare[0] += seen
            rare[1] += wanted
    if rare[1] >= 5.0 or not cells:
        cells.append((rare[0], rare[1]))
    elif rare[1] > 0:
        least = min(range(len(cells)), key=lambda place: cells[place][1])
        cells[least] = (cells[least][0] + rare[0], cells[least][1] + rare[1])
    if len(cells) < 2:
        return 1.0
    statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells)
    return _upper_gamma((len(cells) - 1) / 2, statistic / 2)


def _upper_gamma(a: float, x: float) -> float:
    """The regularised upper incomplete gamma function, by its series or its continued fraction."""
    if x <= 0:
        return 1.0
    scale = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for n in range(1, 1000):
            term *= x / (a + n)
            total += term
            if term < total * 1e-15:
                break
        return 1 - scale * total
    b, c = x + 1 - a, 1e300
    d = 1 / b
    fraction = d
    for i in range(1, 1000):
        step = -i * (i - a)
        b += 2
        d = 1 / (step * d + b)
        c = b + step / c
        fraction *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return scale * fraction
