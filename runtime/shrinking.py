"""A failing round of `fuzz` with the least values with which the same expectation still fails.

The round is run again with one value replaced by a smaller one, and keeps each that fails in the same way,
until none does. Rounds before it are left out where it fails without them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sglc.runtime.vm.state.draws import Again, Drawn, Key, Round

if TYPE_CHECKING:
    from sglc.bytecode.code import Place
    from sglc.runtime.errors import SglError
    from sglc.runtime.results import TestResult
    from sglc.runtime.session import Session
    from sglc.runtime.vm.state.run import Missed

RUNS = 200
"""Most runs for one failure. A value of 1,000 takes some twenty, a list of ten texts some fifty."""
ROUNDS = 2_000
"""Most rounds of these runs where the rounds before the failing one have to be run as well."""


@dataclass(frozen=True, slots=True)
class Failing:
    """How a round of `fuzz` has failed: by an expectation that does not hold, or by an error."""

    round: Round
    missed: Missed | None
    error: SglError | None
    made: Mapping[Key, Drawn]
    """What holes had been given."""

    @property
    def signature(self) -> tuple[str, Place | None]:
        """Two failures are the same where these are equal."""
        if self.missed is not None:
            return self.missed.message, self.missed.place
        assert self.error is not None
        return self.error.name, self.error.place


@dataclass(frozen=True, slots=True)
class Least:
    """A failure with the least values that were found, how many runs that took, and whether more were due."""

    failing: Failing
    runs: int
    cut: bool

    def texts(self) -> list[tuple[str, str]]:
        """The holes and the texts that they were given, in order; `hole@branch` in a branch of forks."""
        return [
            (f"{hole}@{branch}" if branch else hole, drawn.text)
            for (hole, branch, _), drawn in self.failing.made.items()
        ]


def failures_of(result: TestResult) -> list[Failing]:
    """The failures of a test that came in a `fuzz`: of each expectation the first, and the error."""
    first: dict[Place | None, Failing] = {}
    for missed in result.missed:
        if missed.round is not None and missed.place not in first:
            made = result.failed_draws.get(missed.place, {})
            first[missed.place] = Failing(missed.round, missed, None, made)
    found = list(first.values())
    if result.error is not None and result.error_round is not None and not result.error.fatal:
        found.append(Failing(result.error_round, None, result.error, result.error_draws))
    return found


async def shrink(session: Session, test: str, seed: int, failing: Failing) -> Least:
    """The least values with which a round fails as it has failed. The same seed gives the same."""
    search = _Search(session, test, seed, failing)
    await search.begin()
    while await search.step():
        pass
    return Least(search.best, search.runs, search.runs >= search.most)


class _Search:
    def __init__(self, session: Session, test: str, seed: int, failing: Failing) -> None:
        self.session, self.test, self.seed = session, test, seed
        self.best = failing
        self.signature = failing.signature
        self.runs, self.most = 0, RUNS
        self.alone = True
        self._tried: set[frozenset[tuple[Key, str]]] = set()

    async def begin(self) -> None:
        """See whether the round fails without the rounds before it."""
        given = {key: drawn.text for key, drawn in self.best.made.items()}
        if await self._fails(given) is None:
            self.alone = False
            self.most = min(RUNS, ROUNDS // (self.best.round.number + 1))

    async def step(self) -> bool:
        """Replace one value by a smaller one; False where that cannot be done any more."""
        texts = {key: drawn.text for key, drawn in self.best.made.items()}
        for key, drawn in self.best.made.items():
            for text in drawn.smaller(drawn.text):
                if self.runs >= self.most:
                    return False
                found = await self._fails({**texts, key: text})
                if found is not None and found.made[key].text == text:
                    self.best = found
                    return True
        return False

    async def _fails(self, given: Mapping[Key, str]) -> Failing | None:
        """The failure with these texts, if it is the same one."""
        tried = frozenset(given.items())
        if tried in self._tried:
            return None
        self._tried.add(tried)
        self.runs += 1
        again = Again(self.best.round, given, self.alone)
        result = await self.session.run_test(self.test, seed=self.seed, again=again)
        for each in failures_of(result):
            if each.signature == self.signature and each.round == self.best.round:
                return each
        return None
