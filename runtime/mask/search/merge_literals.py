"""Threads that read the same forced run as one: what follows it is searched once for all of them.

The arms of a union close a key alike, and so do entries before the same comma. Were each followed by itself,
whatever is alike behind them would be found again for each arm.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import Node, Work
from sglc.runtime.mask.automaton.step import Group

_MOST_TOGETHER = 1000
"""Threads of a configuration that is made only for a mask."""


def together(machine: Machine, configs: Sequence[int]) -> list[int]:
    """Configurations as one, or as they are where that would be too large."""
    every = list(dict.fromkeys(configs))
    if len(every) == 1 or sum([len(machine.configs[config]) for config in every]) > _MOST_TOGETHER:
        return every
    return [machine.join(every)]


class RunGroup:
    """Groups of a configuration with one forced run; to searches, a group with this run."""

    leaf = None
    node = Node()
    state = 0

    def __init__(self, groups: Sequence[Group]) -> None:
        self.run = groups[0].run
        self._groups = groups
        self._behind: list[int] | None = None

    def behind(self, machine: Machine) -> int:
        """The configuration behind the run; -1 where that would be too large."""
        every = self.behind_each(machine)
        return every[0] if len(every) == 1 else -1

    def behind_each(self, machine: Machine) -> list[int]:
        """The configurations behind the run: one, or many that are too large together."""
        if self._behind is None:
            self._behind = together(machine, self._find(machine))
        return self._behind

    def _find(self, machine: Machine) -> list[int]:
        work: Work = []
        found: list[int] = []
        for group in self._groups:
            opened = group.opens_behind(machine)
            if opened is None:
                found.append(group.behind(machine))
            else:
                work += opened
        if len(work) <= _MOST_TOGETHER:
            return [*found, machine.opened(work)] if work else found
        return [*found, *[machine.opened([each]) for each in work]]

    def leave(self, machine: Machine, label: int, data: bytes | None = None) -> int:
        raise TypeError("runs have no labels")

    def follow_of(self, machine: Machine, label: int) -> np.ndarray | None:
        raise TypeError("runs have no labels")


def by_runs(groups: tuple[Group, ...]) -> tuple[Group | RunGroup, ...]:
    """The groups, those with equal runs as one."""
    every = [group.run for group in groups if group.run]
    if len(every) < 2 or len(set(every)) == len(every):
        return groups
    runs: dict[bytes, list[Group]] = {}
    for group in groups:
        if group.run:
            runs.setdefault(group.run, []).append(group)
    found: list[Group | RunGroup] = []
    for group in groups:
        alike = runs.pop(group.run, None) if group.run else [group]
        if alike is not None:
            found.append(group if len(alike) == 1 else RunGroup(alike))
    return tuple(found)
