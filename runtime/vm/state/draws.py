"""Answers that holes have without a model: mocks, and random ones, by the round of `fuzz` that they are in.

Each random draw has a source of its own, seeded by the run's seed, the round, the hole, its branch and how
often it was filled in that round. So a round can be run again alone, and one draw replaced without a change
of others.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from sglc.bytecode.code import Place
from sglc.runtime.engine.sampling.seeds import mix

Key = tuple[str, str, int]
"""A draw in its round: the hole, its branch, and how often it had been filled before."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a `fuzz`: which loop of the run it is, counted by their places in the source as they are
    met, and the number of the round."""

    loop: int
    number: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """The text that a hole was given. `smaller` are legal texts that are less, the least first."""

    text: str
    smaller: Callable[[str], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Again:
    """A round that is to be run again: the texts that are given, and whether the rounds before it are left
    out."""

    round: Round
    given: Mapping[Key, str] = field(default_factory=dict)
    alone: bool = True


class RoundOver(Exception):
    """The round that was to be run again is over: nothing behind it matters."""


@dataclass(frozen=True, slots=True)
class DrawsMark:
    """Where the draws of a run were."""

    round: Round | None
    made: Mapping[Key, Drawn]
    loops: Mapping[Place | None, int]
    begun: Mapping[int, int]
    counts: Mapping[tuple[str, str], int]


@dataclass(slots=True)
class _Mock:
    """One answer to a hole, and where the test gives it."""

    value: object
    place: Place | None
    used: bool = False


MocksMark = Mapping[str, tuple[tuple[tuple[_Mock, bool], ...], tuple[tuple[_Mock, bool], ...]]]
"""Mocks by their holes, those for one fill and lasting ones, each with whether it was used."""


class Mocks:
    """The answers that are given to the holes of one run."""

    def __init__(self) -> None:
        self.replaced: list[tuple[str, Place | None]] = []
        """Lasting mocks that no hole asked for before another one took their place."""
        self._of: dict[str, tuple[deque[_Mock], list[_Mock]]] = {}

    def add(self, hole: str, value: object, always: bool, place: Place | None) -> None:
        """See `Run.mock`."""
        once, lasting = self._of.setdefault(hole, (deque(), []))
        made = _Mock(value, place)
        if always:
            self.replaced += [(hole, old.place) for old in lasting if not old.used]
            lasting[:] = [made]
        else:
            once.append(made)

    def unused(self) -> list[tuple[str, Place | None]]:
        """Mocks that no hole has asked for, by the hole that they are for."""
        left = [
            (hole, mock.place)
            for hole, (once, lasting) in self._of.items()
            for mock in (*once, *lasting)
            if not mock.used
        ]
        return self.replaced + left

    def has(self, hole: str, branch: str) -> bool:
        """Whether a hole has an answer left in a branch of forks."""
        return any(self._of.get(hole, ())) or any(self._of.get(f"{hole}@{branch}", ()))

    def take(self, hole: str, branch: str) -> tuple[object] | None:
        """The next answer of a hole in a branch of forks, in a tuple of one; None if it has none."""
        if not self._of:
            return None
        own = f"{hole}@{branch}"
        once, lasting = self._of.get(own if any(self._of.get(own, ())) else hole, (None, None))
        found = once.popleft() if once else lasting[0] if lasting else None
        if found is None:
            return None
        found.used = True
        return (found.value,)

    def mark(self) -> MocksMark:
        """Which there are, for `restore`."""
        return {
            hole: (tuple((each, each.used) for each in once), tuple((each, each.used) for each in lasting))
            for hole, (once, lasting) in self._of.items()
        }

    def restore(self, mark: MocksMark, replaced: int) -> None:
        """Have the mocks of a mark once more, of which so many had been `replaced`."""
        del self.replaced[replaced:]
        self._of = {
            hole: (deque(each for each, _ in once), [each for each, _ in lasting])
            for hole, (once, lasting) in mark.items()
        }
        for once, lasting in mark.values():
            for each, used in (*once, *lasting):
                each.used = used


class Draws:
    """What is drawn in one run, and where it is."""

    def __init__(self, seed: int, again: Again | None = None) -> None:
        self.seed = seed
        self.again = again
        self.round: Round | None = None
        """The round that is going on; None outside of `fuzz`."""
        self.made: dict[Key, Drawn] = {}
        """The draws of the round so far."""
        self._loops: dict[Place | None, int] = {}
        self._begun: Counter[int] = Counter()
        self._counts: Counter[tuple[str, str]] = Counter()

    def mark(self) -> DrawsMark:
        """Where the draws are, for `restore`."""
        return DrawsMark(
            self.round, dict(self.made), dict(self._loops), Counter(self._begun), Counter(self._counts)
        )

    def restore(self, mark: DrawsMark) -> None:
        """Be where the draws were once more."""
        self.round, self.made, self._loops = mark.round, dict(mark.made), dict(mark.loops)
        self._begun, self._counts = Counter(mark.begun), Counter(mark.counts)

    def begin(self, place: Place | None) -> None:
        """A round of the loop at a place begins. Raises RoundOver behind the round that is run again.

        Instructions move with the passes that a program went through; places in its source do not.
        """
        self._leave()
        loop = self._loops.setdefault(place, len(self._loops))
        number, self._begun[loop] = self._begun[loop], self._begun[loop] + 1
        again = self.again
        if again is not None and again.alone and loop == again.round.loop:
            number = again.round.number
        self.round = Round(loop, number)

    def end(self) -> None:
        """The loop is over. Raises RoundOver behind the round that is run again."""
        self._leave()

    def _leave(self) -> None:
        if self.again is not None and self.round == self.again.round:
            raise RoundOver
        self.round, self.made = None, {}
        self._counts.clear()

    def next(self, hole: str, branch: str) -> tuple[Key, Random, str | None]:
        """The next draw of a hole in a branch of forks: its key, its source, and the text that it is given in
        place of a random one."""
        key = (hole, branch, self._counts[hole, branch])
        self._counts[hole, branch] += 1
        again, now = self.again, self.round
        given = again.given.get(key) if again is not None and now == again.round else None
        place = (now.loop, now.number) if now is not None else ()
        return key, Random(mix("fuzz", self.seed, place, key)), given

    def note(self, key: Key, text: str, smaller: Callable[[str], Iterator[str]]) -> None:
        """Keep what came of a draw."""
        if self.round is not None:
            self.made[key] = Drawn(text, smaller)
