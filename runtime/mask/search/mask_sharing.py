"""Masks by what was asked to find them, so that places which look alike share them.

A mask is found by going from a configuration to others: behind a forced run, behind a word of a lexeme. What
is found depends on nothing but the *structural signatures* of these configurations. A signature is what the
threads read: the bytes of a run; the language of a lexeme from its place on, and the bytes with which the
text behind may begin. It does not depend on which part of the constraint says so. Objects of a schema differ
in their keys and in what has been written of them; behind the first letters of `"name": "` most are the same.

So each search writes a path into a trie: signature of the first configuration, the question that came next
("what follows run 0 of configuration 2?"), signature of the answer, and so on to the mask. Another
configuration whose answers are the same has that mask, and no walk is needed. Where one configuration answers
twice, the path says so, as a search visits no node of it twice.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sglc.automata.caches import LeastUsed
from sglc.runtime.mask.automaton.machine import VIEW_BYTES, Machine
from sglc.runtime.mask.core.intern_table import Interned

if TYPE_CHECKING:
    from sglc.runtime.mask.automaton.step import Group
    from sglc.runtime.mask.lexeme.table import LexemeDfa
    from sglc.runtime.mask.vocabulary.mask_row import Mask
    from sglc.runtime.mask.vocabulary.token_classes import Columns

Question = tuple[int, int, int]
"""(number of a configuration on the path, of its group, of a label: -1 behind a run or without labels)."""
Path = list[tuple[int, Question | None]]
"""Configurations in the order of the search, each with the question that it answers (None: the first)."""

_OF_VIEW = 800
"""Bytes of a view beside its groups, about."""
_UNKNOWN = object()
_MOST_STEPS = 100_000
"""Steps of the trie and numbers of signatures, each some 200 bytes: more begin afresh."""
_CANONICAL = (None,)
"""The labels of one group that has none of its own."""
_NOTHING = 1 << 62
"""The question of a step of which nothing is known yet."""
_BITS = 32
_SAME = 1 << 31
"""Signatures are below; above are configurations that a path has met before."""


class View(NamedTuple):
    """A configuration as searches see it: its groups in the order of their signatures.

    labels[g] are the labels of group g by canonical number; None where the labels are canonical.
    """

    signature: int
    groups: tuple[Group, ...]
    labels: tuple[Sequence[int] | None, ...]

    def answer(self, machine: Machine, group: int, label: int) -> int:
        """The configuration behind a run or a word of a group."""
        found = self.groups[group]
        if found.run:
            return found.behind(machine)
        labels = self.labels[group]
        return found.leave(machine, label if labels is None or label < 0 else labels[label])

    def numbers(self, group: int) -> dict[int, int] | None:
        """The canonical numbers of a group's labels; None if they are canonical."""
        labels = self.labels[group]
        return None if labels is None else {label: number for number, label in enumerate(labels)}


class MaskSharing:
    """The trie of one machine and vocabulary, with at most so many masks; a full one begins again.

    Its steps are numbers: by step, the number of the next question or ~n for what was found n-th; by step and
    signature, the next step. The signature of a configuration is that of its group, or the number of the
    tuple of its groups' signatures, and _SAME + n for the configuration that the path has as number n.
    """

    def __init__(self, machine: Machine, columns: Columns, most: int) -> None:
        self._machine = machine
        self._columns = columns
        self._most = most
        self._views: LeastUsed[int, View | None] = LeastUsed(VIEW_BYTES, _OF_VIEW)
        self._clear()

    def _clear(self) -> None:
        self._views.clear()
        self._numbers: Interned[Hashable, int] = Interned()
        self._tables: dict[int, LexemeDfa] = {}
        """Keeps the tables whose identities are in signatures."""
        self._next: dict[int, int] = {}
        self._steps: list[int] = [_NOTHING]
        self._questions: Interned[Question, int] = Interned()
        self._asked: list[Question] = []
        self._masks: list[Mask] = []

    def view(self, config: int) -> View | None:
        """The groups of a configuration by signature; None if one of them has none."""
        found = self._views.get(config, _UNKNOWN)
        return self._views.keep(config, self._look(config)) if found is _UNKNOWN else found

    def _look(self, config: int) -> View | None:
        machine, numbers = self._machine, self._numbers
        groups = machine.groups(config)
        seen: list[tuple[int, int, Sequence[int] | None]] = []
        for at, group in enumerate(groups):
            key: Hashable = group.run
            labels: Sequence[int] | None = None
            if not key:
                place = group.lexeme
                if place is None or group.node.forbidden(machine, group.state) is not None:
                    return None
                table = place.table
                signature, labels = table.shape(place, self._columns)
                key = (signature, *group.key(machine))
                self._tables[id(table)] = table
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(numbers)
            seen.append((number, at, labels))
        if len(seen) == 1:
            # Groups and tuples of them are numbered together.
            signature, _, labels = seen[0]
            return View(signature, groups, _CANONICAL if labels is None else (labels,))
        seen.sort(key=_first)
        key = ("groups", *[signature for signature, _, _ in seen])
        return View(
            numbers.setdefault(key, len(numbers)),
            tuple([groups[at] for _, at, _ in seen]),
            tuple([labels for _, _, labels in seen]),
        )

    def find(self, config: int) -> Mask | None:
        """The mask of a configuration like this one, if one has been found."""
        machine, steps, following = self._machine, self._steps, self._next
        view = self.view(config)
        if view is None:
            return None
        views, places = [view], {config: 0}
        step = following.get(view.signature)
        while step is not None:
            number = steps[step]
            if number < 0:
                return self._masks[~number]
            at, group, label = self._asked[number]
            here = views[at].answer(machine, group, label)
            place = places.get(here)
            if place is None:
                view = self.view(here)
                if view is None:
                    return None
                places[here] = len(views)
                views.append(view)
                step = following.get(step << _BITS | view.signature)
            else:
                views.append(views[place])
                step = following.get(step << _BITS | _SAME + place)
        return None

    def keep(self, path: Path, mask: Mask) -> None:
        """Remember what was found."""
        if len(self._masks) >= self._most or len(self._steps) + len(self._numbers) >= _MOST_STEPS:
            # Views on the path are in the order of the numbers that go with it.
            self._clear()
            return
        steps, following, questions = self._steps, self._next, self._questions
        places: dict[int, int] = {}
        step = 0
        for number, (config, question) in enumerate(path):
            if question is not None:
                asked = questions.get(question)
                if asked is None:
                    asked = questions[question] = len(self._asked)
                    self._asked.append(question)
                steps[step] = asked
            signature = places.get(config)
            if signature is None:
                view = self.view(config)
                if view is None:
                    return
                places[config] = _SAME + number
                signature = view.signature
            key = step << _BITS | signature
            below = following.get(key)
            if below is None:
                below = following[key] = len(steps)
                steps.append(_NOTHING)
            step = below
        if steps[step] == _NOTHING:
            steps[step] = ~len(self._masks)
            self._masks.append(mask)


def _first(seen: tuple[int, int, Sequence[int] | None]) -> int:
    return seen[0]
