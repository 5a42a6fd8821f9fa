"""What is left to choose where text was found to lead nowhere, and the way back to where it was chosen."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from sglc.runtime.decoding.seams import beginnings
from sglc.runtime.decoding.stop_tracker import Tracker
from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

MOST_BACK = 64
"""Tokens that can be taken back one after the other."""
PATIENCE = 16
"""Steps back without any text longer than before, after which the steps become twice as long."""


class LeftTokens(NextTokens):
    """What may come next without what was barred."""

    __slots__ = ("_barred", "_deferred", "_vocabulary", "recalled")

    def __init__(self, matcher: Matcher, end_ids: frozenset[int], vocabulary: Vocabulary) -> None:
        super().__init__(matcher, end_ids)
        self._vocabulary = vocabulary
        self._barred: np.ndarray | None = None
        self._deferred: set[int] = set()
        self.recalled = False
        """Whether tokens were put off and are tried again."""

    def bar(self, part: bytes) -> None:
        """Leave out all tokens that begin with these bytes."""
        self._bar(beginnings(self._vocabulary).tokens(part))

    def bar_token(self, token: int) -> None:
        """Leave out one token."""
        self._bar(np.array([token]))

    def defer(self, token: int) -> None:
        """Leave out one token until nothing else is left."""
        self._deferred.add(token)
        self.bar_token(token)

    def recall(self) -> bool:
        """Let in again what was put off; whether there was anything."""
        found, self._deferred = self._deferred, set()
        for token in found:
            assert self._barred is not None
            self._barred[token >> 5] &= np.uint32(~(1 << (token & 31)) & 0xFFFFFFFF)
        self.recalled = self.recalled or bool(found)
        return bool(found)

    def _bar(self, tokens: np.ndarray) -> None:
        if self._barred is None:
            self._barred = np.zeros(self._vocabulary.words, np.uint32)
        np.bitwise_or.at(self._barred, tokens >> 5, np.uint32(1) << (tokens & 31).astype(np.uint32))

    def row(self) -> np.ndarray:
        row = super().row()
        if self._barred is None:
            return row
        return (row.view(np.uint32) & ~self._barred).view(np.int32)

    def allows(self, token: int) -> bool:
        if self._barred is not None and int(self._barred[token >> 5]) >> (token & 31) & 1:
            return False
        return super().allows(token)

    def count(self) -> int:
        return int(np.unpackbits(self.row().view(np.uint8)).sum())


@dataclass(slots=True)
class Place:
    """Where a token is chosen: all that is needed to choose another one. `tokens` are all of the branch's."""

    tracker: Tracker
    masks: Matcher
    legal: LeftTokens
    tokens: list[int]
    forced: int
    logprob: float
    closing: bytes
    chosen: int = -1


class Places:
    """The places on the way to the text that stands, newest last.

    A step back bars the token that was chosen at the place before. Where many steps back bring nothing new,
    they become longer, so that a mistake far back is found; what was passed over on the way is put off, not
    barred, and tried again where nothing else is left.
    """

    def __init__(self) -> None:
        self._places: deque[Place] = deque(maxlen=MOST_BACK)
        self._steps = 0
        self._farthest = -1
        self.spent = 0
        """Steps back and beginnings barred since the text was longer than ever before."""
        self.lost = False
        """Whether a place was forgotten because there were too many."""

    def add(self, place: Place) -> None:
        size = len(place.tracker.data)
        if size > self._farthest:
            self._farthest, self._steps, self.spent = size, 0, 0
        self.lost = self.lost or len(self._places) == MOST_BACK
        self._places.append(place)

    def back(self) -> Place | None:
        """The place to choose again at, without the token that was chosen there; None if there is none."""
        places = self._places
        exact = True
        while places and places[-1].chosen < 0:
            places.pop()
        self._steps += 1
        for _ in range((1 << min(self._steps // PATIENCE, 6)) - 1):
            if len(places) < 2:
                break
            places.pop()
            exact = False
        if not places:
            return None
        place = places[-1]
        if exact:
            place.legal.bar_token(place.chosen)
        else:
            place.legal.defer(place.chosen)
        place.chosen = -1
        return place
