"""The fewest and the most tokens of a hole, over all places that its decoder can come to.

Small languages are gone through whole (`whole`). In others the fewest tokens are found by iterative deepening
(Korf 1985): is there a value of K tokens, of K + 1, …, where the distances of the token graph cut off what
cannot end in time. Both are bounded by the number of tokens that are looked at, so that the answer is the
same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sglc.runtime.bounds.places import Ended, HolePlaces, Place
from sglc.runtime.bounds.token_graph import TokenGraph

WHOLE = 4_000
"""Most tokens that are looked at to go through a whole language: a second at most."""
WIDE = 128
"""A place with more legal tokens than these belongs to no language that is gone through whole."""
TRIED = 20_000
"""Most tokens that are tried to find a value of the fewest tokens: some seconds."""
DEEPEST = 600
"""Most tokens of a value that is looked for; a Python frame is taken for each."""


class TooMuch(Exception):
    """The limit was reached before the answer was known."""


class Unbounded(Exception):
    """There is no longest value."""


@dataclass(frozen=True, slots=True)
class Whole:
    """Values of a small language with the fewest and with the most tokens."""

    fewest: Ended
    most: Ended


def whole(places: HolePlaces) -> Whole | None:
    """Go through all places; None where they are too many, or there is no end of them."""
    try:
        found = _Everything(places).run()
    except (TooMuch, Unbounded, RecursionError):
        return None
    return found


class _Everything:
    """Depth first over all places. What lies behind equal places is looked at once."""

    def __init__(self, places: HolePlaces) -> None:
        self._places = places
        self._skip = len(places.prefix)
        self._known: dict[tuple[object, ...], tuple[Ended, Ended]] = {}
        """By place: the nearest and the farthest end behind it, counted from it."""
        self._open: set[tuple[object, ...]] = set()
        self._left = WHOLE

    def run(self) -> Whole | None:
        first = self._places.start()
        if isinstance(first, Ended):
            return Whole(first, first)
        found = self._behind(first)
        return None if found is None else Whole(*found)

    def _behind(self, place: Place) -> tuple[Ended, Ended] | None:
        """The ends with the fewest and the most tokens of those behind a place; None if there are none."""
        key = place.key(self._skip)
        known = self._known.get(key)
        if known is not None:
            return _moved(known[0], place), _moved(known[1], place)
        if key in self._open:
            raise Unbounded
        if place.masks.mask_size() > WIDE:
            raise TooMuch
        self._open.add(key)
        fewest: Ended | None = None
        most: Ended | None = None
        for end in self._ends(place):
            fewest = end[0] if fewest is None or end[0].tokens < fewest.tokens else fewest
            most = end[1] if most is None or end[1].tokens > most.tokens else most
        self._open.discard(key)
        if fewest is None or most is None:
            return None
        self._known[key] = _from(fewest, place), _from(most, place)
        return fewest, most

    def _ends(self, place: Place) -> Iterator[tuple[Ended, Ended]]:
        if self._places.may_end(place):
            end = self._places.ended(place)
            yield end, end
        for token in self._places.tokens_at(place):
            self._left -= 1
            if self._left < 0:
                raise TooMuch
            after = self._places.after(place, token)
            if isinstance(after, Ended):
                yield after, after
            else:
                found = self._behind(after)
                if found is not None:
                    yield found


def _from(end: Ended, place: Place) -> Ended:
    """What lies between a place and an end behind it."""
    return Ended(
        end.text[len(place.tracker.data) :],
        end.tokens - place.used,
        end.drawn - place.drawn,
        end.forced - place.forced,
    )


def _moved(rest: Ended, place: Place) -> Ended:
    """The end that lies so far behind a place. The text is right but for a prefix, which no one reads."""
    return Ended(
        bytes(place.tracker.data) + rest.text,
        place.used + rest.tokens,
        place.drawn + rest.drawn,
        place.forced + rest.forced,
    )


@dataclass(frozen=True, slots=True)
class Fewest:
    """At least `tokens`; exactly so many where `end`, a value of so many, is known."""

    tokens: int
    end: Ended | None


def fewest(places: HolePlaces, graph: TokenGraph) -> Fewest:
    """The fewest tokens of a value. `graph` begins where the places begin."""
    bound = graph.least()
    if graph.ended or bound > DEEPEST:
        return Fewest(bound, None)
    first = places.start()
    if isinstance(first, Ended):
        return Fewest(first.tokens, first)
    search = _Deepening(places, graph)
    try:
        while bound <= DEEPEST:
            end = search.within(first, bound)
            if end is not None:
                return Fewest(end.tokens, end)
            bound += 1
            while graph.depth < bound and not graph.whole:
                graph.grow()
                if graph.ended:
                    raise TooMuch
    except (TooMuch, RecursionError):
        pass
    return Fewest(bound, None)


class _Deepening:
    def __init__(self, places: HolePlaces, graph: TokenGraph) -> None:
        self._places, self._graph = places, graph
        self._skip = len(places.prefix)
        self._failed: dict[tuple[object, ...], int] = {}
        """By place: with so many tokens left no end was found behind it."""
        self._left = TRIED

    def within(self, place: Place, most: int) -> Ended | None:
        """An end behind a place with at most so many tokens."""
        if place.used > most:
            return None
        if self._places.may_end(place):
            return self._places.ended(place)
        key = place.key(self._skip)
        if self._failed.get(key, -1) >= most - place.used:
            return None
        for token in self._worth(place, most):
            self._left -= 1
            if self._left < 0:
                raise TooMuch
            if not self._places.is_open(place, token):
                continue
            after = self._places.after(place, token)
            if isinstance(after, Ended):
                if after.tokens <= most:
                    return after
                continue
            end = self.within(after, most)
            if end is not None:
                return end
        self._failed[key] = most - place.used
        return None

    def _worth(self, place: Place, most: int) -> Iterator[int]:
        """The legal tokens behind which a value may end in time, the nearest to the end first."""
        left = most - place.used
        value, graph = place.tracker.value, self._graph
        legal = place.masks.allowed()
        if place.tracker.candidates or not place.tracker.alive or value.config not in graph.groups:
            yield from legal.tolist()
            return
        free = len(self._places.prefix) - len(place.tracker.data)
        groups = graph.groups[value.config]
        inside = np.concatenate([ids for ids, _ in groups]) if groups else np.zeros(0, np.int64)
        stops = place.masks is not value
        if stops and (left > 0 or value.is_accepting()):  # a stop behind a whole value may cost no token
            yield from legal[~np.isin(legal, inside)].tolist()
        rests = sorted((graph.rest(to), at) for at, (_, to) in enumerate(groups))
        for rest, at in rests:
            ids = groups[at][0]
            if rest + 1 <= left:
                yield from ids.tolist()
            elif rest <= left and free > 0:
                yield from ids.tolist()
            elif stops and graph.rest(value.config) <= 1:
                yield from self._places.ending(place, ids)
