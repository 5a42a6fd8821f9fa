"""The legal next tokens for the sampler: those of a matcher, and the end tokens."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sglc.runtime.mask.matcher import Matcher


class NextTokens:
    """What may come next: the tokens that a matcher allows, and the end tokens where the text may end.

    It follows its matcher; `may_end` is set by whoever knows. See `sampler.LegalTokens`.
    """

    __slots__ = ("_end_ids", "_refused", "matcher", "may_end")

    def __init__(self, matcher: Matcher, end_ids: Iterable[int]) -> None:
        self.matcher = matcher
        self.may_end = False
        self._end_ids = frozenset(end_ids)
        self._refused: set[int] = set()

    def refuse(self, token: int) -> None:
        """Leave a token out at this place, though the matcher allows it."""
        self._refused.add(token)

    def forgive(self) -> bool:
        """Allow the refused tokens again, as at every new place. Returns whether there were any."""
        found, self._refused = bool(self._refused), set()
        return found

    @property
    def end_ids(self) -> frozenset[int]:
        """The end tokens that may come next."""
        return self._end_ids if self.may_end else frozenset()

    def ready(self) -> bool:
        """Whether `row` costs no more than a look-up."""
        return self.matcher.has_mask()

    def row(self) -> np.ndarray:
        """The mask, not to be written to."""
        row = self.matcher.mask()
        if not self.may_end and not self._refused:
            return row
        row = row.copy()
        words = row.view(np.uint32)
        for end in self.end_ids:
            words[end >> 5] |= np.uint32(1 << (end & 31))
        for token in self._refused:
            words[token >> 5] &= np.uint32(~(1 << (token & 31)) & 0xFFFFFFFF)
        return row

    def allows(self, token: int) -> bool:
        """Whether one token is legal."""
        if token in self._refused:
            return False
        return (self.may_end and token in self._end_ids) or self.matcher.allows(token)

    def count(self) -> int:
        """How many tokens are legal; makes the mask."""
        return self.matcher.mask_size() + len(self.end_ids) - len(self._refused)
