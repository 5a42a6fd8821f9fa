"""Backtracking for validated holes: tokens pruned at a choice, and the stack of earlier choices."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from sglc.runtime.decoding.requests import PathScores
from sglc.runtime.decoding.seams import beginnings
from sglc.runtime.decoding.stop_tracker import StopTracker
from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

MOST_BACK = 64
"""Tokens that can be taken back one after the other."""
PATIENCE = 16
"""Steps back without any text longer than before, after which the steps become twice as long."""


class PrunedTokens(NextTokens):
    """The legal next tokens without the pruned ones."""

    __slots__ = ("_deferred", "_pruned", "_vocabulary", "recalled")

    def __init__(self, matcher: Matcher, end_ids: frozenset[int], vocabulary: Vocabulary) -> None:
        super().__init__(matcher, end_ids)
        self._vocabulary = vocabulary
        self._pruned: np.ndarray | None = None
        self._deferred: set[int] = set()
        self.recalled = False
        """Whether deferred tokens are tried again."""

    def prune(self, part: bytes) -> None:
        """Prune all tokens that begin with these bytes."""
        self._prune(beginnings(self._vocabulary).tokens(part))

    def prune_token(self, token: int) -> None:
        """Prune one token."""
        self._prune(np.array([token]))

    def defer(self, token: int) -> None:
        """Prune one token until no other is left."""
        self._deferred.add(token)
        self.prune_token(token)

    def recall(self) -> bool:
        """Allow the deferred tokens again; returns whether there were any."""
        found, self._deferred = self._deferred, set()
        for token in found:
            assert self._pruned is not None
            self._pruned[token >> 5] &= np.uint32(~(1 << (token & 31)) & 0xFFFFFFFF)
        self.recalled = self.recalled or bool(found)
        return bool(found)

    def _prune(self, tokens: np.ndarray) -> None:
        if self._pruned is None:
            self._pruned = np.zeros(self._vocabulary.words, np.uint32)
        np.bitwise_or.at(self._pruned, tokens >> 5, np.uint32(1) << (tokens & 31).astype(np.uint32))

    def row(self) -> np.ndarray:
        """The mask row, int32[ceil(V/32)], without the pruned tokens."""
        row = super().row()
        if self._pruned is None:
            return row
        left: np.ndarray = row.view(np.uint32) & ~self._pruned
        return left.view(np.int32)

    def allows(self, token: int) -> bool:
        """Whether a token is legal and not pruned."""
        if self._pruned is not None and int(self._pruned[token >> 5]) >> (token & 31) & 1:
            return False
        return super().allows(token)

    def count(self) -> int:
        """How many tokens are legal and not pruned."""
        return int(np.unpackbits(self.row().view(np.uint8)).sum())


@dataclass(slots=True)
class Choice:
    """The state before a token was chosen, to choose another. `tokens` are all of the branch's."""

    tracker: StopTracker
    masks: Matcher
    legal: PrunedTokens
    tokens: list[int]
    forced: int
    scores: PathScores
    closing: bytes
    chosen: int = -1


class Choices:
    """The choices that led to the current text, newest last.

    A step back prunes the token of the last choice. If many steps back bring no longer text, the steps become
    longer, so that a mistake far back is found. A long step defers the tokens that it skips instead of
    pruning them: they are tried again where no other token is left.
    """

    def __init__(self) -> None:
        self._choices: deque[Choice] = deque(maxlen=MOST_BACK)
        self._steps = 0
        self._farthest = -1
        self.spent = 0
        """Steps back and prunings since the text was last longer than ever before."""
        self.lost = False
        """Whether a choice was dropped because there were more than `MOST_BACK`."""

    def add(self, choice: Choice) -> None:
        """Note a state before a token is chosen. The oldest of `MOST_BACK` states is dropped for it."""
        size = len(choice.tracker.data)
        if size > self._farthest:
            self._farthest, self._steps, self.spent = size, 0, 0
        self.lost = self.lost or len(self._choices) == MOST_BACK
        self._choices.append(choice)

    def back(self) -> Choice | None:
        """The choice to repeat, without the token chosen there; None if there is none."""
        choices = self._choices
        exact = True
        while choices and choices[-1].chosen < 0:
            choices.pop()
        self._steps += 1
        for _ in range((1 << min(self._steps // PATIENCE, 6)) - 1):
            if len(choices) < 2:
                break
            choices.pop()
            exact = False
        if not choices:
            return None
        choice = choices[-1]
        if exact:
            choice.legal.prune_token(choice.chosen)
        else:
            choice.legal.defer(choice.chosen)
        choice.chosen = -1
        return choice
