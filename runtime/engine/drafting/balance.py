"""Whether guessing pays in a hole at all: what it gains against the time that it takes."""

from __future__ import annotations

GUESS_SECONDS = 1e-4
"""Seconds that guessing takes for one sequence, about. Where drafts gain less on average, the hole gets
none."""
HOPE = 0.05
"""Seconds that the drafts of a step are assumed to save, before anything is measured."""
FIRST_FILL = 24.0
"""Tokens that a hole is assumed to ask for before it was filled: about a short sentence. A draft model reads
the prompt of a hole that nobody knows yet if so many tokens are worth it."""
TRIED, RESTED, RARE = 8, 2, 8
"""There, guesses are made for so many requests of one fill, and then so many requests go without for each
sequence of a step. One fill in so many begins with guesses."""


class Balance:
    """The measured gain of guessing in one hole, over all of its fills."""

    __slots__ = ("_fills", "gain", "requests")

    def __init__(self) -> None:
        self.gain = HOPE
        """Seconds that the drafts of a step save: a moving average over all guesses."""
        self.requests = FIRST_FILL
        """Tokens that a fill asks for: a moving average over fills."""
        self._fills = 0

    def enter(self, gain: float) -> None:
        """A guess promised to save so many seconds; 0.0 if nothing was sent."""
        self.gain += (gain - self.gain) / 16

    def begin(self, sequences: int) -> int:
        """Of how many requests a fill is to think that guesses were made for them already."""
        self._fills += 1
        return 0 if self._fills % RARE == 0 and self.is_low(sequences) else TRIED

    def end(self, requests: int) -> None:
        """A fill has asked for so many tokens."""
        self.requests += (requests - self.requests) / min(self._fills, 4)

    def is_low(self, sequences: int) -> bool:
        """Whether guesses for so many sequences of a step take longer than they save."""
        return self.gain < GUESS_SECONDS * sequences
