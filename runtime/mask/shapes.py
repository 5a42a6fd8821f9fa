"""Masks by what was asked to find them, so that places which look alike share them.

A mask is found by going from a configuration to others: behind a forced run, behind a word of a leaf. What
is found depends on nothing but the *shapes* of these configurations, that is on what their threads read (the
bytes of a run; the language of a leaf from its place on, and the bytes with which the text behind may begin),
and never on which part of the constraint says so. Objects of a schema differ in their keys and in what has
been written of them; behind the first letters of `"name": "` most are the same.

So each search leaves a path in a trie: shape of the first configuration, the question that came next
("what follows run 0 of configuration 2?"), shape of the answer, and so on to the mask. Another configuration
whose answers are the same has that mask, and no walk is needed. Where one configuration answers twice, the
path says so, as a search visits no node of it twice.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sglc.runtime.mask.steps import Group

if TYPE_CHECKING:
    from sglc.runtime.mask.leaf import LeafTable
    from sglc.runtime.mask.machine import Machine
    from sglc.runtime.mask.store import Mask

Question = tuple[int, int, int]
"""(number of a configuration on the path, of its group, of a label: -1 behind a run or without labels)."""
Path = list[tuple[int, Question | None]]
"""Configurations in the order of the search, each with the question that it answers (None: the first)."""

LONGEST = 256
"""Paths with more configurations are not kept."""
_MOST_VIEWS = 4_000
_MOST_STEPS = 50_000


class View(NamedTuple):
    """A configuration as searches see it: its groups in the order of their shapes.

    labels[g] are the labels of group g by canonical number, numbers[g] the same back; None where the labels
    are canonical.
    """

    shape: tuple[int, ...]
    groups: tuple[Group, ...]
    labels: tuple[Sequence[int] | None, ...]
    numbers: tuple[dict[int, int] | None, ...]

    def answer(self, machine: Machine, group: int, label: int) -> int:
        """The configuration behind a run or a word of a group."""
        found = self.groups[group]
        if found.run:
            return found.behind(machine)
        labels = self.labels[group]
        return found.leave(machine, label if labels is None or label < 0 else labels[label])


@dataclass(slots=True, eq=False)
class Step:
    """A place in the trie: the next question, or what was found."""

    question: Question | None = None
    next: dict[tuple[int, ...] | int, Step] = field(default_factory=dict)
    """By shape, or ~n for the configuration that the path has as number n."""
    mask: Mask | None = None
    stays: np.ndarray | None = None
    """Tokens that may lead back to the configuration (see `MaskStore`)."""


class Shapes:
    """The trie of one machine and vocabulary, with at most so many masks; a full one begins again."""

    def __init__(self, machine: Machine, most: int) -> None:
        self._machine = machine
        self._most = most
        self._views: dict[int, View | None] = {}
        self._clear()

    def _clear(self) -> None:
        self._root = Step()
        self._views.clear()
        self._numbers: dict[Hashable, int] = {}
        self._tables: dict[int, LeafTable] = {}
        """Keeps the tables whose identities are in shapes."""
        self._masks = self._steps = 0

    def view(self, config: int) -> View | None:
        """The groups of a configuration by shape; None if one of them has none."""
        if config in self._views:
            return self._views[config]
        if len(self._views) > _MOST_VIEWS:
            self._views.clear()
        found = self._views[config] = self._look(config)
        return found

    def _look(self, config: int) -> View | None:
        machine = self._machine
        groups = machine.groups(config)
        seen: list[tuple[int, int, Sequence[int] | None]] = []
        for at, group in enumerate(groups):
            key: Hashable = group.run
            labels: Sequence[int] | None = None
            if not group.run:
                if group.leaf is None or group.node.barred(machine, group.state) is not None:
                    return None
                table = group.leaf.table
                shape, labels = table.shape(group.leaf)
                key = (shape, group.follow(machine).tobytes())
                self._tables[id(table)] = table
            seen.append((self._numbers.setdefault(key, len(self._numbers)), at, labels))
        if len(seen) > 1:
            seen.sort(key=_first)
        return View(
            tuple([shape for shape, _, _ in seen]),
            tuple([groups[at] for _, at, _ in seen]),
            tuple([labels for _, _, labels in seen]),
            tuple(
                [
                    None if labels is None else {label: number for number, label in enumerate(labels)}
                    for _, _, labels in seen
                ]
            ),
        )

    def find(self, config: int) -> Step | None:
        """What has been found for a configuration like this one."""
        machine = self._machine
        view = self.view(config)
        if view is None:
            return None
        views, places = [view], {config: 0}
        step = self._root.next.get(view.shape)
        while step is not None and step.question is not None:
            at, group, label = step.question
            here = views[at].answer(machine, group, label)
            place = places.get(here)
            if place is not None:
                views.append(views[place])
                step = step.next.get(~place)
                continue
            view = self.view(here)
            if view is None:
                return None
            places[here] = len(views)
            views.append(view)
            step = step.next.get(view.shape)
        return step

    def keep(self, path: Path, mask: Mask, stays: np.ndarray | None) -> None:
        """Remember what was found."""
        if self._masks >= self._most or self._steps >= _MOST_STEPS:
            self._clear()
        step = self._root
        places: dict[int, int] = {}
        for number, (config, question) in enumerate(path):
            place = places.get(config)
            if place is None:
                view = self.view(config)
                if view is None:
                    return
                places[config] = number
                key: tuple[int, ...] | int = view.shape
            else:
                key = ~place
            step.question = question
            below = step.next.get(key)
            if below is None:
                below = step.next[key] = Step()
                self._steps += 1
            step = below
        self._masks += step.mask is None
        step.mask, step.stays = mask, stays


def _first(seen: tuple[int, int, Sequence[int] | None]) -> int:
    return seen[0]
