"""Breakpoints: where a run is to stop, under which condition, and what it says instead."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from sglc.bytecode.code import Code
from sglc.runtime.debug.places import Places
from sglc.runtime.debug.stops import Reason
from sglc.runtime.engine.sampling.sampler import Sampled

MOST = 10_000
"""Most breakpoints of a run."""


Relation = Literal[">=", ">", "==", "<=", "<", "%"]
_HITS = re.compile(r"(>=|<=|==|=|>|<|%)?\s*(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Hits:
    """At which times of those that a breakpoint is met it stops: `>= 3`, `== 3`, `% 3` (every third)."""

    relation: Relation = ">="
    number: int = 0

    def holds(self, met: int) -> bool:
        """Whether it stops when it is met for that time, counted from 1."""
        if self.relation == "%":
            return self.number > 0 and met % self.number == 0
        ways = {">=": met >= self.number, ">": met > self.number, "==": met == self.number}
        return {**ways, "<=": met <= self.number, "<": met < self.number}[self.relation]

    def __str__(self) -> str:
        return f"{self.relation} {self.number}"


ALWAYS = Hits()


def read_hits(text: str) -> Hits | None:
    """`3` (from the third time on), or a relation and a number; empty for always. None for other texts."""
    if not text.strip():
        return ALWAYS
    found = _HITS.fullmatch(text.strip())
    if found is None:
        return None
    relation = found.group(1) or ">="
    return Hits("==" if relation == "=" else relation, int(found.group(2)))  # type: ignore[arg-type]


@dataclass(slots=True, eq=False)
class Breakpoint:
    """One breakpoint. `kind` says what it is at: a line, a hole or a function.

    With `condition` it stops only where the expression is true, and only at the times that `hits` says. With
    `log` it does not stop but says that text, whose `{expression}` are replaced.
    """

    number: int
    kind: str
    name: str
    file: int | None
    line: int
    points: tuple[tuple[Code, int], ...]
    condition: str = ""
    hits: Hits = ALWAYS
    log: str = ""
    met: int = 0

    @property
    def verified(self) -> bool:
        """Whether there is such a place."""
        return bool(self.points)


@dataclass(slots=True)
class Limits:
    """When tokens stop a run: None never does."""

    improbable: float | None = None
    """Tokens, or options of a choice, of less than this probability stop it."""
    pressure: float | None = None
    """Masks that took away more than this part of the probability stop it."""
    ensure: bool = False
    """Whether a condition of `ensure` or `check` that does not hold stops it."""
    raised: bool = False
    """Whether errors stop it where they arise, also those that will be caught."""
    uncaught: bool = False
    """Whether errors stop it for which no handler is open."""
    expect: bool = True
    """Whether an expectation of a test that does not hold stops it."""

    rounds: bool = False
    """Whether searches stop it at their beginning, at each round and at their end."""

    def crossed(self, drawn: Sampled) -> tuple[Reason, str] | None:
        """Which limit a token crosses, and how that is said; None where it crosses none."""
        least, most = self.improbable, self.pressure
        probability = math.exp(min(0.0, drawn.logprob)) if drawn.logprob == drawn.logprob else 1.0
        if least is not None and probability < least:
            return "improbable", f"a token of probability {probability:.4g}, below {least:g}"
        taken = 1.0 - math.exp(min(0.0, drawn.log_mass)) if drawn.log_mass == drawn.log_mass else 0.0
        if most is not None and taken > most:
            return "pressure", f"the mask took away {taken:.4g} of the probability, more than {most:g}"
        return None


@dataclass(slots=True)
class Breakpoints:
    """All breakpoints of a run, and its limits."""

    places: Places
    limits: Limits = field(default_factory=Limits)
    _all: dict[int, Breakpoint] = field(default_factory=dict)
    _armed: dict[int, dict[int, list[Breakpoint]]] = field(default_factory=dict)
    _next: int = 1

    def at_line(
        self, file: int, line: int, condition: str = "", hits: Hits = ALWAYS, log: str = ""
    ) -> Breakpoint:
        """A breakpoint at a line, or at the next one with code."""
        found = self.places.line_from(file, line)
        points = tuple(self.places.at_line(file, found)) if found is not None else ()
        return self._add("line", "", file, line if found is None else found, points, condition, hits, log)

    def at_hole(self, name: str, condition: str = "", hits: Hits = ALWAYS, log: str = "") -> Breakpoint:
        """A breakpoint before a hole."""
        return self._add("hole", name, None, 0, tuple(self.places.at_hole(name)), condition, hits, log)

    def at_function(self, name: str, condition: str = "", hits: Hits = ALWAYS, log: str = "") -> Breakpoint:
        """A breakpoint where a function begins."""
        points = tuple(self.places.at_function(name))
        return self._add("function", name, None, 0, points, condition, hits, log)

    def _add(
        self,
        kind: str,
        name: str,
        file: int | None,
        line: int,
        points: tuple[tuple[Code, int], ...],
        condition: str,
        hits: Hits,
        log: str,
    ) -> Breakpoint:
        if points and not line:
            line = self.places.of(points[0][0]).lines[points[0][1]]
        if points and file is None:
            file = points[0][0].places[points[0][1]].file
        made = Breakpoint(self._next, kind, name, file, line, points, condition, hits, log)
        self._next += 1
        if len(self._all) < MOST:
            self._all[made.number] = made
            self._arm()
        return made

    def remove(self, numbers: Iterable[int]) -> None:
        """Take breakpoints away; numbers of none are passed over."""
        for number in numbers:
            self._all.pop(number, None)
        self._arm()

    def _arm(self) -> None:
        armed: dict[int, dict[int, list[Breakpoint]]] = defaultdict(lambda: defaultdict(list))
        for each in self._all.values():
            for code, pc in each.points:
                armed[id(code)][pc].append(each)
        self._armed = {code: dict(points) for code, points in armed.items()}

    def armed(self, code: Code, pc: int) -> list[Breakpoint]:
        """The breakpoints at an instruction."""
        points = self._armed.get(id(code))
        return [] if points is None else points.get(pc, [])

    def all(self) -> list[Breakpoint]:
        """All of them, by their numbers."""
        return list(self._all.values())
