"""Transition history of a hole: what followed each position in earlier fills. Drafts are guessed from it.

A *position* is a point at which the model was asked for a token. Equal configurations of the constraint have
equal futures, so what was written at a configuration before (a member of an enumeration, a digit, the mark
that ends a text) is a good guess for this time.

A position is looked up by three keys: its configuration with the token before it, its configuration alone,
and the two tokens before it. The last key serves texts with a limit: their configuration differs at every
length, but their phrases repeat.

A *continuation* is all tokens from one position to the next, forced text included. The empty continuation is
the end of the value.
"""

from __future__ import annotations

from collections.abc import Sequence

from sglc.runtime.mask.matcher import Matcher

Continuation = tuple[int, ...]

MOST_POSITIONS = 4096
"""Positions kept for one hole; the oldest are evicted first."""
FEW, FEWER, WIDTHS = 16, 6, 3
"""Upper bounds of the number of legal next bytes, for numbers (FEW) and for one of a few words (FEWER). Words
repeat more often than digits, so positions are in three classes (WIDTHS) by this number."""
LEVELS = 3
"""Keys of a position."""
MOST_CONTINUATIONS = 8
"""Continuations kept for one position; a new one replaces the rarest."""
LONGEST_CONTINUATION = 48
"""Tokens; longer continuations are not kept."""
MOST_SEEN = 64
"""Counts are halved when a position has been seen this often, so that new continuations count."""


class _Position:
    """The continuations taken from a position, and how often."""

    __slots__ = ("best", "continuations", "seen")

    def __init__(self) -> None:
        self.continuations: dict[Continuation, int] = {}
        self.seen = 0
        self.best: Continuation = ()

    def take(self, continuation: Continuation) -> None:
        continuations = self.continuations
        count = continuations.get(continuation, 0) + 1
        if count == 1 and len(continuations) >= MOST_CONTINUATIONS:
            del continuations[min(continuations, key=continuations.__getitem__)]
        continuations[continuation] = count
        self.seen += 1
        if count >= continuations.get(self.best, 0):
            self.best = continuation
        if self.seen >= MOST_SEEN:
            self.continuations = {
                continuation: count for continuation, seen in continuations.items() if (count := seen // 2)
            }
            self.seen //= 2

    @property
    def chance(self) -> float:
        """Estimated probability of the best continuation, smoothed by two unseen ones."""
        return (self.continuations.get(self.best, 0) + 0.2) / (self.seen + 2)


class TransitionHistory:
    """What followed each position of one hole's constraint."""

    def __init__(self) -> None:
        self._positions: dict[tuple[int, int], _Position] = {}
        self.runs: dict[tuple[int, int], tuple[Continuation, bytes]] = {}
        """Forced text by position: its tokens, the token before included, and its bytes."""

        self._narrow: dict[int, int] = {}

    def narrowness(self, matcher: Matcher) -> int:
        """Width class of a matcher's position: 0 many next bytes, 1 at most FEW, 2 at most FEWER."""
        config = matcher.config
        found = self._narrow.get(config)
        if found is None:
            if len(self._narrow) >= MOST_POSITIONS:
                self._narrow.clear()
            count = matcher.following()
            found = self._narrow[config] = (count <= FEW) + (count <= FEWER)
        return found

    def learn(self, config: int, before: int, last: int, continuation: Continuation) -> None:
        """Record that `continuation` followed a configuration after the tokens `before` and `last`."""
        if len(continuation) > LONGEST_CONTINUATION:
            return
        for key in ((config, last), (-2 - before, last), (config, -1)):
            position = self._positions.get(key)
            if position is None:
                while len(self._positions) >= MOST_POSITIONS:
                    del self._positions[next(iter(self._positions))]
                position = self._positions[key] = _Position()
            position.take(continuation)

    def best(self, config: int, before: int, last: int) -> tuple[Continuation, float, int] | None:
        """The most likely continuation, its probability, and the number of its key; None if unseen."""
        found: _Position | None = None
        level = 0
        get = self._positions.get
        for number, key in enumerate(((config, last), (-2 - before, last), (config, -1))):
            position = get(key)
            if position is not None and (found is None or position.chance > found.chance):
                found, level = position, number
        return None if found is None else (found.best, found.chance, level)


class Rates:
    """Acceptance rate of each kind of draft: moving averages that start from a prior."""

    __slots__ = ("_seen", "rate")

    def __init__(self, beliefs: Sequence[float]) -> None:
        self.rate = list(beliefs)
        """By kind."""
        self._seen = [0] * len(beliefs)

    def observe(self, kind: int, came: bool) -> None:
        """Note whether a draft of a kind came. The n-th of its kind weighs 1 / min(n + 4, 48)."""
        seen = self._seen[kind] = self._seen[kind] + 1
        self.rate[kind] += (came - self.rate[kind]) / min(seen + 4, 48)

    def successor(self) -> Rates:
        """Rates that begin with what these have learned."""
        return Rates(self.rate)
