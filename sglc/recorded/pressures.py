"""How much masks fought the model in a recorded run, and the bound that tests set on it.

The pressure at a drawn token is -log of the probability that the model gave all legal tokens together, in
nats. A hole is judged by the mean over all tokens that were drawn for it in the run, those of rejected values
too: the sum would grow with the length of values, which says nothing of the prompt.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sglc.types.json_text import json_text
from sglc.viewer.reading import Event

WORST = 3
"""Tokens of a hole that are told: more of them repeat what the first say, a prompt that shows no form."""
BEFORE = 24
"""Characters of a value that are shown before a token: enough to find the place."""


@dataclass(slots=True)
class HolePressure:
    """The pressure of one hole over a run."""

    total: float = 0.0
    drawn: int = 0
    """Tokens at which it was measured; a `choose` counts as one."""
    worst: list[tuple[float, int, str, str]] = field(default_factory=list)
    """The tokens with the most, a heap: the pressure, a number of its own, the token, the text before it."""

    @property
    def mean(self) -> float:
        """In nats a drawn token; 0 where nothing was drawn."""
        return self.total / self.drawn if self.drawn else 0.0

    def add(self, pressure: float, token: str, before: str) -> None:
        """Take in a drawn token."""
        self.total += pressure
        self.drawn += 1
        heapq.heappush(self.worst, (pressure, -self.drawn, token, before))
        if len(self.worst) > WORST:
            heapq.heappop(self.worst)

    def shown(self) -> str:
        """Where the mask fought most, worst first."""
        lines = []
        for pressure, _, token, before in sorted(self.worst, reverse=True):
            cut = before if len(before) <= BEFORE else "…" + before[-BEFORE:]
            behind = f" behind {json_text(cut)}" if before else " at the beginning"
            lines.append(f"  {pressure:.2f} nats: {json_text(token)}{behind}")
        return "\n".join(lines)


@dataclass(slots=True)
class Pressures:
    """The pressures of the holes of a run, from the events of its trace."""

    holes: dict[str, HolePressure] = field(default_factory=dict)
    _texts: dict[tuple[str, str], str] = field(default_factory=dict)
    """What is written of a hole in a branch so far."""
    _told: set[tuple[str, str]] = field(default_factory=set)
    """Holes that have told of tokens since they began."""

    def add(self, event: Event) -> None:
        """Take in one event, in the order of the trace."""
        key = (event.text("hole"), event.text("branch"))
        match event.kind:
            case "hole_start":
                self._texts[key] = ""
                self._told.discard(key)
            case "forced":
                self._texts[key] = self._texts.get(key, "") + event.text("text")
            case "token":
                before = self._texts.get(key, "")
                self._note(key, event, event.text("text"), before)
                self._texts[key] = before + event.text("text")
            case "hole_end" if key not in self._told:
                self._note(key, event, event.text("text"), "")

    def _note(self, key: tuple[str, str], event: Event, token: str, before: str) -> None:
        pressure = event.number("pressure")
        if pressure is not None:
            self._told.add(key)
            self.holes.setdefault(key[0], HolePressure()).add(max(0.0, pressure), token, before)


@dataclass(slots=True)
class PressureBound:
    """Most pressure of a hole, in nats a drawn token, and how many holes were held against it so far."""

    most: float
    measured: int = 0

    def above(self, holes: Mapping[str, HolePressure]) -> list[tuple[str, HolePressure]]:
        """The holes of a run that have more, the one with the most first."""
        self.measured += len(holes)
        found = [(name, hole) for name, hole in holes.items() if hole.mean > self.most]
        return sorted(found, key=lambda each: (-each[1].mean, each[0]))

    def told(self, name: str, hole: HolePressure) -> str:
        """What is wrong with a hole that has more."""
        share = 100 * math.exp(-hole.mean)
        return (
            f"the mask of `{name}` has a pressure of {hole.mean:.2f} nats a drawn token, {self.most:g} is "
            f"allowed: the model gives what is legal {share:.2g} % on average"
        )
