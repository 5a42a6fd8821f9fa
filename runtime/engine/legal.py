"""The legal tokens of a matcher and the end tokens beside them, as the sampler asks for them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sglc.runtime.mask.matcher import Matcher


class NextTokens:
    """What may come next: the tokens that a matcher allows, and the end tokens where the text may end.

    It follows its matcher; `may_end` is set by whoever knows. See `sampler.LegalTokens`.
    """

    __slots__ = ("_end_ids", "matcher", "may_end")

    def __init__(self, matcher: Matcher, end_ids: Iterable[int]) -> None:
        self.matcher = matcher
        self.may_end = False
        self._end_ids = frozenset(end_ids)

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
        if not self.may_end:
            return row
        row = row.copy()
        words = row.view(np.uint32)
        for end in self._end_ids:
            words[end >> 5] |= np.uint32(1 << (end & 31))
        return row

    def allows(self, token: int) -> bool:
        """Whether one token is legal."""
        return (self.may_end and token in self._end_ids) or self.matcher.allows(token)

    def count(self) -> int:
        """How many tokens are legal; makes the mask."""
        return self.matcher.mask_size() + len(self.end_ids)
