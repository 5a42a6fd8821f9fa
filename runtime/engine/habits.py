"""What came next at the places of a hole, in the fills before: drafts from the constraint.

A *place* is a configuration of the constraint at which the model was asked, with the token before it. Equal
configurations have equal futures, so what was written there before (a member of an enumeration, a digit, the
mark that ends a text, the name of the next key) is the best guess for this time. A *way* is all that was
written from one place to the next, the forced text included; the empty way is the value's end.
"""

from __future__ import annotations

from collections.abc import Sequence

Way = tuple[int, ...]

MOST_PLACES = 4096
"""Places of one hole that are remembered; the oldest go first."""
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
        """How likely the best way is, with one way unknown among the seen."""
        return (self.ways.get(self.best, 0) + 0.3) / (self.seen + 1)


class Habits:
    """The places of one hole's constraint."""

    def __init__(self) -> None:
        self._places: dict[tuple[int, int], _Place] = {}
        self.runs: dict[tuple[int, int], tuple[Way, bytes]] = {}
        """Forced text by place: its tokens, the token before included, and its bytes."""

    def learn(self, config: int, last: int, way: Way) -> None:
        """`way` was taken at a configuration, after the token `last`."""
        if len(way) > LONGEST_WAY:
            return
        for key in ((config, last), (config, -1)):
            place = self._places.get(key)
            if place is None:
                while len(self._places) >= MOST_PLACES:
                    del self._places[next(iter(self._places))]
                place = self._places[key] = _Place()
            place.take(way)

    def best(self, config: int, last: int) -> tuple[Way, float] | None:
        """The likeliest way and its chance; None for a place never seen."""
        general = self._places.get((config, -1))
        if general is None:
            return None
        place = self._places.get((config, last))
        if place is None or (place.seen < 2 and general.chance > place.chance):
            place = general
        return place.best, place.chance


class Rates:
    """How often drafts of each kind came true: moving averages, from a given belief on."""

    __slots__ = ("_seen", "rate")

    def __init__(self, beliefs: Sequence[float]) -> None:
        self.rate = list(beliefs)
        """By kind."""
        self._seen = [0] * len(beliefs)

    def observe(self, kind: int, came: bool) -> None:
        seen = self._seen[kind] = self._seen[kind] + 1
        self.rate[kind] += (came - self.rate[kind]) / min(seen + 6, 48)

    def successor(self) -> Rates:
        """Rates that begin with what these have learned."""
        return Rates(self.rate)
