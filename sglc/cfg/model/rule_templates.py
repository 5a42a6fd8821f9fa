"""Rules by their shape: rules that differ only in names and texts are parsed once.

A large grammar has thousands of rules of a few shapes: a name, a text in brackets, an option. Only the kinds
of its tokens decide how a rule is parsed. A kind is one character, so the kinds of a rule's tokens are a
text: its shape. A shape is parsed once, into steps that make the nodes of a rule from the nodes of its
tokens. The expression of such a rule is made at first use.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from sglc.cfg.model.grammar import Literal, Pattern, Reference, Rule

ATOM = "a"
"""The kind of names, texts and patterns. Brackets, bars and `*+?` stand for themselves."""
IN_ROW, EITHER, TIMES, NOTHING = range(4)
_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_CLOSING = {"(": ")", "[": "]"}
_DEEP = 50
"""Brackets inside of each other, which are a recursion; deeper rules are read by the parser of the
notation."""
_LONG = 100_000
"""Tokens of a rule that is read this way; longer ones are read by the parser too."""

Parts = Callable[[list[int]], Any]


class Step(NamedTuple):
    """One node of the parts that `parts` takes (one of them for `TIMES`), by their `places` among the nodes
    of the tokens and of the steps before."""

    kind: int
    parts: Parts
    places: tuple[int, ...]
    minimum: int = 0
    maximum: int | None = None


class RuleShape(NamedTuple):
    """`size` tokens; the last of the steps makes the whole, or it is the one token at place `only`."""

    size: int
    steps: tuple[Step, ...]
    only: int


def shape_of(kinds: str) -> RuleShape | None:
    """How a rule with tokens of these kinds is read; None where it takes a closer look."""
    if not kinds or len(kinds) > _LONG:
        return None
    maker = _Maker(kinds)
    place = maker.alternatives(0)
    if place is None or maker.index < len(kinds):
        return None
    return RuleShape(len(kinds), tuple(maker.steps), place)


class _Maker:
    """Recursive descent over kinds; what is found is the place of a node."""

    def __init__(self, kinds: str) -> None:
        self.kinds = kinds
        self.index = 0
        self.steps: list[Step] = []

    def step(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.kinds) + len(self.steps) - 1

    def alternatives(self, depth: int) -> int | None:
        arms: list[int] = []
        while True:
            arm = self.row(depth)
            if arm is None:
                return None
            arms.append(arm)
            if self.kinds[self.index : self.index + 1] != "|":
                break
            self.index += 1
        return arms[0] if len(arms) == 1 else self.step(_step(EITHER, arms))

    def row(self, depth: int) -> int | None:
        items: list[int] = []
        kinds = self.kinds
        while self.index < len(kinds):
            kind = kinds[self.index]
            if kind == ATOM:
                item: int | None = self.index
                self.index += 1
            elif kind in _CLOSING and depth < _DEEP:
                self.index += 1
                item = self.alternatives(depth + 1)
                if item is None or kinds[self.index : self.index + 1] != _CLOSING[kind]:
                    return None
                self.index += 1
                if kind == "[":
                    item = self.step(_step(TIMES, [item], 0, 1))
            else:
                break
            counts = _COUNTS.get(kinds[self.index : self.index + 1])
            if counts is not None:
                self.index += 1
                assert item is not None
                item = self.step(_step(TIMES, [item], *counts))
            assert item is not None
            items.append(item)
        if len(items) == 1:
            return items[0]
        return self.step(_step(IN_ROW, items) if items else _step(NOTHING, [0]))


def _step(kind: int, places: list[int], minimum: int = 0, maximum: int | None = None) -> Step:
    return Step(kind, itemgetter(*places), tuple(places), minimum, maximum)


class Written(NamedTuple):
    """A rule as tokens `first` and following of its text."""

    first: int
    shape: RuleShape
    at: int


class ShapedRules(Mapping[str, Rule]):
    """Rules of which many are known by their shape only.

    texts    the tokens of the whole text
    written  by name, the rules that are known by their shape
    atom     what a token stands for that is a name, a text or a pattern
    read     makes one of the rules that are known by their shape
    """

    def __init__(
        self,
        rules: dict[str, Rule | Written],
        texts: list[str],
        atom: Callable[[str], Literal | Pattern | Reference],
        read: Callable[[str, Written], Rule],
    ) -> None:
        self.texts = texts
        self.written = {name: rule for name, rule in rules.items() if type(rule) is Written}
        self.atom = atom
        self._rules = rules
        self._read = read
        self._lock = threading.RLock()

    def __getitem__(self, name: str) -> Rule:
        found = self._rules[name]
        if isinstance(found, Written):
            with self._lock:
                found = self._rules[name] = self._read(name, found)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._rules

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)
