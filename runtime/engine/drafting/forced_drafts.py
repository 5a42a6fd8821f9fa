"""The drafts of holes for which nothing is guessed: tokens that forced text most likely becomes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from sglc.runtime.engine.core.statistics import DraftCounts
from sglc.runtime.engine.drafting.draft_model import Lookahead
from sglc.runtime.engine.drafting.kinds import COVERED, SOURCES, source
from sglc.runtime.engine.scheduling.draft import NO_DRAFT, Draft
from sglc.runtime.mask.matcher import Matcher

FORCED = SOURCES[source(COVERED)]


class ForcedDrafts:
    """As `Drafts`; what is proposed is sent in any case, because its rows are needed anyway."""

    __slots__ = ("_base", "_sent", "counts", "saved")

    silent = False

    def __init__(self) -> None:
        self._base = 0
        self._sent: tuple[int, ...] = ()
        self.counts = DraftCounts()
        self.saved = 0
        """Requests that no step was needed for, if the engine looks at drafts."""

    def propose(self, tokens: list[int], value: Matcher, forced: tuple[int, ...] = ()) -> Draft:
        """`forced`, where the answer is not there already."""
        since = len(tokens) - self._base
        if self._sent and 0 <= since <= len(self._sent) and tuple(tokens[self._base :]) == self._sent[:since]:
            self.saved += 1
            return NO_DRAFT
        self._settle(tokens)
        self._base, self._sent = len(tokens), forced
        return Draft(forced) if forced else NO_DRAFT

    async def extend(self, ahead: Lookahead) -> Draft:
        """There is no draft model to ask."""
        return NO_DRAFT

    def at(self, tokens: Sequence[int]) -> tuple[str, int] | None:
        """See `Drafts.at`."""
        since = len(tokens) - self._base
        if not 0 <= since < len(self._sent) or tuple(tokens[self._base :]) != self._sent[:since]:
            return None
        return FORCED, self._sent[since]

    def finish(self, tokens: Sequence[int], ended: str) -> None:
        """Nothing is learned."""
        self._settle(tokens)

    def close(self) -> None:
        """Nothing is held."""

    def _settle(self, tokens: Sequence[int]) -> None:
        """Count the tokens that were sent and those that came."""
        came = tokens[self._base :] if self._base <= len(tokens) else ()
        right = True
        for drafted, token in zip_longest(self._sent, came[: len(self._sent)]):
            right = right and drafted == token
            self.counts.add(FORCED, right)
        self._sent = ()
