"""What came next at the places of a hole, in the fills before: drafts from the constraint.

A *place* is where the model was asked. Equal configurations of the constraint have equal futures, so what
was written at one before (a member of an enumeration, a digit, the mark that ends a text) is a guess for this
time. A place is known by its configuration with the token before it, by its configuration alone, and by the
two tokens before it: where a text has a limit, its configuration is another one at every length, but its
phrases come back. A *way* is all that was written from one place to the next, the forced text included; the
empty way is the value's end.
"""

from __future__ import annotations

from collections.abc import Sequence

from sglc.runtime.mask.matcher import Matcher

Way = tuple[int, ...]

MOST_PLACES = 4096
"""Places of one hole that are remembered; the oldest go first."""
FEW, FEWER, WIDTHS = 16, 6, 3
"""Bytes that may come where a number or one of a few words is to be written: what was there once often comes
again, words more often than digits. So there are three classes of places by their width."""
LEVELS = 3
"""Ways to know a place."""
MOST_WAYS = 8
"""Ways from one place that are remembered; one that comes newly takes the room of the rarest."""
LONGEST_WAY = 48
"""Tokens; longer ways are not remembered."""
MOST_SEEN = 64
"""Counts are halved when a place has been left this often, so that what is new counts."""


class _Place:
    """The ways that were taken from a place, and how often."""

    __slots__ = ("best", "seen", "ways")

    def __init__(self) -> None:
        self.ways: dict[Way, int] = {}
        self.seen = 0
        self.best: Way = ()

    def take(self, way: Way) -> None:
        ways = self.ways
        count = ways.get(way, 0) + 1
        if count == 1 and len(ways) >= MOST_WAYS:
            del ways[min(ways, key=ways.__getitem__)]
        ways[way] = count
        self.seen += 1
        if count >= ways.get(self.best, 0):
            self.best = way
        if self.seen >= MOST_SEEN:
            self.ways = {way: count for way, seen in ways.items() if (count := seen // 2)}
            self.seen //= 2

    @property
    def chance(self) -> float:
        """How likely the best way is, with two ways unknown among the seen."""
        return (self.ways.get(self.best, 0) + 0.2) / (self.seen + 2)


class Habits:
    """The places of one hole's constraint."""

    def __init__(self) -> None:
        self._places: dict[tuple[int, int], _Place] = {}
        self.runs: dict[tuple[int, int], tuple[Way, bytes]] = {}
        """Forced text by place: its tokens, the token before included, and its bytes."""

        self._narrow: dict[int, int] = {}

    def narrowness(self, matcher: Matcher) -> int:
        """0 where many bytes may come at a matcher's place, 1 where as few as digits, 2 where fewer."""
        config = matcher.config
        found = self._narrow.get(config)
        if found is None:
            if len(self._narrow) >= MOST_PLACES:
                self._narrow.clear()
            count = matcher.following()
            found = self._narrow[config] = (count <= FEW) + (count <= FEWER)
        return found

    def learn(self, config: int, before: int, last: int, way: Way) -> None:
        """`way` was taken at a configuration, after the tokens `before` and `last`."""
        if len(way) > LONGEST_WAY:
            return
        for key in ((config, last), (-2 - before, last), (config, -1)):
            place = self._places.get(key)
            if place is None:
                while len(self._places) >= MOST_PLACES:
                    del self._places[next(iter(self._places))]
                place = self._places[key] = _Place()
            place.take(way)

    def best(self, config: int, before: int, last: int) -> tuple[Way, float, int] | None:
        """The likeliest way, its chance, and by which of the levels; None for a place never seen."""
        found: _Place | None = None
        level = 0
        get = self._places.get
        for number, key in enumerate(((config, last), (-2 - before, last), (config, -1))):
            place = get(key)
            if place is not None and (found is None or place.chance > found.chance):
                found, level = place, number
        return None if found is None else (found.best, found.chance, level)


class Rates:
    """How often drafts of each kind came true: moving averages, from a given belief on."""

    __slots__ = ("_seen", "rate")

    def __init__(self, beliefs: Sequence[float]) -> None:
        self.rate = list(beliefs)
        """By kind."""
        self._seen = [0] * len(beliefs)

    def observe(self, kind: int, came: bool) -> None:
        seen = self._seen[kind] = self._seen[kind] + 1
        self.rate[kind] += (came - self.rate[kind]) / min(seen + 4, 48)

    def successor(self) -> Rates:
        """Rates that begin with what these have learned."""
        return Rates(self.rate)
