"""Who watches a hole being filled, and what a search for its text looks like to them.

Decoders that write token by token tell each token. Searches (`exact`, `smc`, `beam`) hold several texts: they
tell tokens with the text that each goes on, and where they stand between them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.engine.sampling.sampler import Sampled

MOST_TEXTS = 200
"""Most texts of a search that are told."""
Logits = Callable[[], Awaitable[np.ndarray]]
"""Gives the logits that a token was drawn from, float32 [V], or [2, V] of two models."""
Moment = Literal["begin", "token", "round", "end"]
"""`begin`: nothing is drawn yet. `round`: a walk has ended, particles or beams have taken one choice each, or
all texts are scored. `end`: the text is found, and not yet written."""


@dataclass(frozen=True, slots=True)
class SearchText:
    """A text that a search holds. `number` is its walk, or its place among particles, beams or texts."""

    number: int
    text: str
    score: float | None
    """Of a particle the natural log of its weight since the last resampling, of a beam and of a text that was
    scored as a whole that of its probability; None for a walk, which has none."""
    state: Literal["open", "ended", "illegal", "kept"]


@dataclass(frozen=True, slots=True)
class SearchLook:
    """Where a search stands."""

    strategy: str
    moment: Moment
    round: int
    """The walk that goes on or has ended; rounds of particles, or steps of beams, that are done."""
    told: str
    """The same in words."""
    texts: tuple[SearchText, ...]
    """The texts that it holds, of walks also those before; the newest or most probable MOST_TEXTS."""
    which: int | None = None
    """At a token the number of the text that it goes on."""

    @property
    def written(self) -> str:
        """The text that a token goes on, so far; empty between tokens."""
        return next((each.text for each in self.texts if each.number == self.which), "")


Look = Callable[[], SearchLook]
"""Looks at a search; it is asked only while the search stands."""


class Watcher(Protocol):
    """Is waited for while somebody looks at a hole. What its methods raise ends the hole."""

    async def token(
        self, drawn: Sampled, data: bytes, legal: NextTokens, logits: Logits, search: Look | None = None
    ) -> None:
        """A token was drawn and not yet written: its bytes, the tokens that were legal, the logits if they
        are asked for, and the search that it belongs to."""

    async def search(self, moment: Moment, look: Look) -> None:
        """A search is at such a moment, other than a token."""
