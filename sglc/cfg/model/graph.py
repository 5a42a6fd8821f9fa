"""A grammar as a graph of numbered nodes: the form that is analysed and transformed.

Everything is linear in the size of the grammar and works with lists of its own instead of the call stack, so
that ten thousand rules, or a chain of them, are no trouble.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Sequenced
from typing import cast

from sglc.automata import work
from sglc.automata.graphs import reached
from sglc.cfg.model.errors import GrammarError

LEAF, SEQUENCE, CHOICE, REPEAT, RULE = range(5)

MAX_NODES = 2_000_000
"""Parts of a grammar with all that passes have added, where no account limits the work."""


def bounds(about: object) -> tuple[int, int | None]:
    """(minimum, maximum) of a REPEAT."""
    return cast("tuple[int, int | None]", about)


_SWEEPS = 4
"""How often all that is left open is looked at, before what depends on what is written down."""
NO, MAYBE, YES = range(3)
"""What is known of a node: `MAYBE` as long as rules are made that it depends on."""


class Graph:
    """Nodes by number.

    kind      LEAF, SEQUENCE, CHOICE, REPEAT or RULE
    below     its nodes: in order, the arms, the one repeated, the body
    about     LEAF: what it reads (`Token` or `CharDfa`); REPEAT: (minimum, maximum);
              RULE: its name
    nullable  whether it has the empty text
    productive  whether it has a text
    begins    whether it may begin with a rule; not exact: a rule that is never left-recursive may be meant

    The last three are found as nodes are made, as far as they do not depend on rules that are made later;
    `settle` finds the rest.
    """

    def __init__(self) -> None:
        self.kind: list[int] = []
        self.below: list[tuple[int, ...]] = []
        self.about: list[object] = []
        self.nullable: list[int] = []
        self.productive: list[int] = []
        self.begins: list[bool] = []
        self.rules: list[int] = []
        self.apart: set[int] = set()
        """Rules that were made to be read when they are come to, never as a part of others."""
        self.start = -1
        self.root = -1
        """The rule whose texts are meant, where the start is only what it stands in."""
        self.empty = self.add(SEQUENCE, (), None, YES)

    def add(
        self,
        kind: int,
        below: tuple[int, ...],
        about: object = None,
        nullable: int = NO,
        productive: int = YES,
        begins: bool = False,
    ) -> int:
        """The number of a new node. Raises GrammarError above MAX_NODES."""
        node = len(self.kind)
        if node > MAX_NODES:
            raise GrammarError(f"the grammar has more than {MAX_NODES} parts")
        work.spend(5)
        self.kind.append(kind)
        self.below.append(below)
        self.about.append(about)
        self.nullable.append(nullable)
        self.productive.append(productive)
        self.begins.append(begins)
        return node

    def sequence(self, items: Sequenced[int]) -> int:
        """A node that reads the items in order; sequences among them are dissolved."""
        if len(items) < 2:
            return items[0] if items else self.empty
        kind = self.kind
        nullable = productive = YES
        begins = False
        for item in items:
            if kind[item] == SEQUENCE:
                return self._flat_sequence(items)
            if nullable:
                begins = begins or self.begins[item]
                value = self.nullable[item]
                if value < nullable:
                    nullable = value
            value = self.productive[item]
            if value < productive:
                productive = value
        return self.add(SEQUENCE, tuple(items), None, nullable, productive, begins)

    def _flat_sequence(self, items: Sequenced[int]) -> int:
        found: list[int] = []
        for item in items:
            if self.kind[item] == SEQUENCE:
                found += self.below[item]
            else:
                found.append(item)
        return self.sequence(found)

    def choice(self, arms: Iterable[int]) -> int:
        """A node that reads one of the arms; equal arms are one."""
        found = tuple(dict.fromkeys(arms))
        if len(found) == 1:
            return found[0]
        nullable = productive = NO
        begins = False
        for arm in found:
            value = self.nullable[arm]
            if value > nullable:
                nullable = value
            value = self.productive[arm]
            if value > productive:
                productive = value
            begins = begins or self.begins[arm]
        return self.add(CHOICE, found, None, nullable, productive, begins)

    def repeat(self, item: int, minimum: int, maximum: int | None) -> int:
        """A node that reads the item between `minimum` and `maximum` times (None: no limit)."""
        if maximum == 0:
            return self.empty
        if (minimum, maximum) == (1, 1):
            return item
        none = minimum == 0
        return self.add(
            REPEAT,
            (item,),
            (minimum, maximum),
            YES if none else self.nullable[item],
            YES if none else self.productive[item],
            self.begins[item],
        )

    def rule(self, name: str) -> int:
        """A rule whose body is still to be made."""
        node = self.add(RULE, (), name, MAYBE, MAYBE, True)
        self.rules.append(node)
        return node

    def define(self, rule: int, body: int) -> None:
        """Gives a rule its body."""
        self.below[rule] = (body,)
        self.nullable[rule] = self.nullable[body]
        self.productive[rule] = self.productive[body]

    # Analysis

    def settle(self) -> None:
        """Find what was left open when all rules have been made."""
        self._settle(self.nullable)
        if NO in self.productive or MAYBE in [self.productive[rule] for rule in self.rules]:
            self._settle(self.productive)
        else:
            self.productive = [YES] * len(self.kind)
        begins, below = self.begins, self.below
        for rule in self.rules:
            begins[rule] = bool(below[rule]) and begins[below[rule][0]]

    def _settle(self, values: list[int]) -> None:
        """A least fixed point: a sequence holds if all its items do, all else if something below it does."""
        self._sweep(values)
        if MAYBE not in values:
            return
        need: dict[int, int] = {}
        above: dict[int, list[int]] = {}
        waiting: list[int] = []
        for node in [node for node, value in enumerate(values) if value == MAYBE]:
            these = [inner for inner in self.below[node] if values[inner] == MAYBE]
            if self.kind[node] == SEQUENCE:
                if NO in [values[inner] for inner in self.below[node]]:
                    continue
                need[node] = len(these)
            else:
                need[node] = 0 if YES in [values[inner] for inner in self.below[node]] else 1
            if not need[node]:
                waiting.append(node)
            for inner in these:
                above.setdefault(inner, []).append(node)
        for node in waiting:
            if values[node] == YES:
                continue
            values[node] = YES
            for outer in above.get(node, ()):
                if outer in need and need[outer] > 0:
                    need[outer] -= 1
                    if not need[outer]:
                        waiting.append(outer)
        if MAYBE in values:
            values[:] = [NO if value == MAYBE else value for value in values]

    def _sweep(self, values: list[int]) -> None:
        """As `_settle`, as far as a few looks from the last node to the first come."""
        kind, below = self.kind, self.below
        rules = {below[rule][0]: rule for rule in self.rules if values[rule] == MAYBE and below[rule]}
        left = [node for node, value in enumerate(values) if value == MAYBE]
        for _ in range(_SWEEPS):
            for node in reversed(left):
                if values[node] != MAYBE:
                    continue
                these = [values[inner] for inner in below[node]]
                value = min(these) if kind[node] == SEQUENCE else max(these, default=NO)
                if value != MAYBE:
                    values[node] = value
                    # A rule is made before its body.
                    if node in rules:
                        values[rules[node]] = value
            before = len(left)
            left = [node for node in left if values[node] == MAYBE]
            if not left or len(left) > before // 2:
                break

    def prune(self) -> None:
        """Take out what has no text."""
        productive = self.productive
        if NO not in productive:
            return
        kind, below = self.kind, self.below
        for node, holds in enumerate(productive):
            if not holds:
                continue
            if kind[node] == CHOICE:
                below[node] = tuple([arm for arm in below[node] if productive[arm]])
            elif kind[node] == REPEAT and not productive[below[node][0]]:
                kind[node], below[node] = SEQUENCE, ()

    def analyse(self) -> None:
        """Find everything anew and take out what has no text."""
        size = len(self.kind)
        self.nullable, self.productive = [MAYBE] * size, [MAYBE] * size
        for node, kind in enumerate(self.kind):
            if kind == LEAF:
                self.nullable[node], self.productive[node] = NO, YES
            elif kind == REPEAT and bounds(self.about[node])[0] == 0:
                self.nullable[node] = self.productive[node] = YES
            elif not self.below[node]:
                self.nullable[node] = self.productive[node] = YES if kind == SEQUENCE else NO
        self._settle(self.nullable)
        self._settle(self.productive)
        self.prune()

    def reached(self, start: int) -> list[int]:
        """The nodes below one, itself first."""
        return reached([start], self.below.__getitem__)

    def left(self, node: int) -> tuple[int, ...]:
        """The nodes with which a text of this node may begin."""
        below = self.below[node]
        if self.kind[node] != SEQUENCE:
            return below
        for count, item in enumerate(below, 1):
            if not self.nullable[item]:
                return below[:count]
        return below
