"""Changes to logits that a request asks for: a bias of single tokens, and penalties for what is written.

OpenAI's formula: from the logit of each token its `frequency` is taken as often as the token was written, its
`presence` once if it was written at all, and its bias is added. The mask decides what is legal; these only
say what is likelier.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Shaping:
    """How logits are changed before a token is drawn. `bias` are token ids and what is added to their logits;
    the penalties are in units of logits. All numbers must be finite."""

    bias: tuple[tuple[int, float], ...] = ()
    frequency: float = 0.0
    presence: float = 0.0

    def __post_init__(self) -> None:
        for number in (self.frequency, self.presence, *(add for _, add in self.bias)):
            if not math.isfinite(number):
                raise ValueError(f"a penalty or a bias must be a finite number, not {number}")

    def adjusted(self, logits: np.ndarray, written: Sequence[int]) -> np.ndarray:
        """Logits [V] as float32, those given left as they are. `written` are the tokens of the text so far;
        ids outside of the vocabulary are passed over."""
        found = logits.astype(np.float32, copy=True)
        for token, add in self.bias:
            if token < found.size:
                found[token] += np.float32(add)
        if (self.frequency or self.presence) and written:
            tokens, counts = np.unique(np.asarray(written, dtype=np.int64), return_counts=True)
            kept = tokens < found.size
            tokens, counts = tokens[kept], counts[kept]
            found[tokens] -= (self.frequency * counts + self.presence).astype(np.float32)
        return found


@dataclass(frozen=True, slots=True)
class Shaped:
    """A shaping at work on one text, whose tokens so far `written` gives."""

    shaping: Shaping
    written: Callable[[], Sequence[int]]

    def adjusted(self, logits: np.ndarray) -> np.ndarray:
        """See `Shaping.adjusted`."""
        return self.shaping.adjusted(logits, self.written())
