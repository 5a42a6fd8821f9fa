"""Random answers of one run: a draw for each value that a hole is given, by the round of `fuzz` it is in.

Each draw has a source of its own, seeded by the run's seed, the round, the hole, its branch and how often it
was filled in that round. So a round can be run again alone, and one draw replaced without a change of others.
"""

from __future__ import annotations

from collections import Counter
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
