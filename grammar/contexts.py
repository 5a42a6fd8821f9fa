"""Which ends of a node can be followed by what comes after it, where terminals look ahead.

A terminal whose next character is restricted ends in one of a few *classes* (its barred characters). Every
node then is a relation: with which class before it, it can be read so as to end in which class. A node in a
place where only some classes can be gone on from is restricted to those; so nothing is ever begun that cannot
be finished. Where no terminal looks ahead there is one class, and nothing to do.
"""

from __future__ import annotations

from sglc.automata import charset
from sglc.automata.charset import Ranges, meet
from sglc.automata.term import CharDfa
from sglc.grammar.errors import GrammarError
from sglc.grammar.graph import CHOICE, LEAF, REPEAT, RULE, SEQUENCE, Graph, bounds
from sglc.grammar.lexing import Lexis

ALL = -1
"""Every class may come out."""
Turns = list[tuple[int, int | None]]
"""What must come out of some turns of a repetition, and how many turns they are (None: any number)."""
MAX_CLASSES = 500


class Contexts:
    """Relations of all nodes below the start; class 0 bars nothing."""

    def __init__(self, graph: Graph, lexis: Lexis) -> None:
        self.graph = graph
        self.lexis = lexis
        self.classes: dict[Ranges, int] = {(): 0}
        if lexis.plain:
            self.plain = True
            return
        for parts in (*lexis.parts.values(), lexis.skip or ()):
            for _, barred in parts:
                self.classes.setdefault(barred, len(self.classes))
        self.plain = len(self.classes) == 1 and all(lexis.parts.values())
        if self.plain:
            return
        if len(self.classes) > MAX_CLASSES:
            raise GrammarError(f"terminals look ahead in more than {MAX_CLASSES} ways")
        self.barred = list(self.classes)
        self.relations: list[tuple[int, ...]] = [(0,) * len(self.classes)] * len(graph.kind)
        self._identity = tuple(1 << before for before in range(len(self.barred)))
        self._products: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, ...]] = {}
        """One relation after another; most are few, and come up again and again."""
        self._firsts: dict[int, Ranges] = {}
        self._skip_ends: dict[int, int] = {}
        self._available: dict[tuple[int, Ranges], bool] = {}
        self._fixpoint(graph.reached(graph.start))

    # Leaves

    def available(self, before: int, dfa: CharDfa) -> bool:
        """Whether a text may begin after an end of that class."""
        if not before:
            return True
        # The automata are those of the lexis, which lives as long as this does.
        first = self._firsts.get(id(dfa))
        if first is None:
            first = self._firsts[id(dfa)] = charset.ranges((low, high) for low, high, _ in dfa.edges[0])
        key = (before, first)
        found = self._available.get(key)
        if found is None:
            found = self._available[key] = meet(first, self.barred[before]) != first
        return found

    def skip_ends(self, before: int) -> int:
        """The classes in which ignored text, if there is any, may end."""
        found = self._skip_ends.get(before)
        if found is None:
            found = 1 << before
            for dfa, barred in self.lexis.skip or ():
                if self.available(before, dfa):
                    found |= 1 << self.classes[barred]
            self._skip_ends[before] = found
        return found

    def _leaf(self, node: int) -> tuple[int, ...]:
        parts = [(dfa, self.skip_ends(self.classes[barred])) for dfa, barred in self.lexis.parts[node]]
        row = []
        for before in range(len(self.barred)):
            ends = 0
            for dfa, after in parts:
                if self.available(before, dfa):
                    ends |= after
            row.append(ends)
        return tuple(row)

    def alive_parts(self, node: int, alive: int) -> list[tuple[CharDfa, Ranges]]:
        """The parts of a leaf that can be gone on from."""
        parts = self.lexis.parts[node]
        if alive == ALL:
            return list(parts)
        return [part for part in parts if self.skip_ends(self.classes[part[1]]) & alive]

    def alive_skip(self, alive: int) -> list[tuple[CharDfa, Ranges]]:
        return [part for part in self.lexis.skip or () if alive >> self.classes[part[1]] & 1]

    # Relations

    def _fixpoint(self, nodes: list[int]) -> None:
        """Least relations, from below; an arm that changes is added to its choice, which is not made anew."""
        graph = self.graph
        above: dict[int, list[int]] = {}
        for node in nodes:
            for inner in graph.below[node]:
                above.setdefault(inner, []).append(node)
        rank = {node: number for number, node in enumerate(_bottom_up(graph))}
        stale = set(nodes)
        while stale:
            for node in sorted(stale, key=rank.__getitem__):
                if node not in stale:
                    continue
                stale.discard(node)
                changed = [(node, self._relation(node))]
                while changed:
                    inner, found = changed.pop()
                    if found == self.relations[inner]:
                        continue
                    self.relations[inner] = found
                    for outer in above.get(inner, ()):
                        if outer in stale:
                            continue
                        if graph.kind[outer] in (CHOICE, RULE):
                            changed.append((outer, _joined(self.relations[outer], found)))
                        else:
                            stale.add(outer)

    def _relation(self, node: int) -> tuple[int, ...]:
        graph = self.graph
        kind, below = graph.kind[node], graph.below[node]
        if kind == LEAF:
            return self._leaf(node)
        identity = self._identity
        if kind == SEQUENCE:
            found = identity
            for item in below:
                found = self._after(found, self.relations[item])
            return found
        if kind == REPEAT:
            return self._repeated(self.relations[below[0]], *bounds(graph.about[node]), identity)
        if kind == CHOICE:
            rows = {self.relations[arm] for arm in below}
            return tuple(map(_any, zip(*rows, strict=True))) if rows else (0,) * len(identity)
        return self.relations[below[0]] if below else (0,) * len(identity)

    def _after(self, first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
        found = self._products.get((first, second))
        if found is None:
            images = {ends: _image(ends, second) for ends in set(first)}
            found = self._products[first, second] = tuple([images[ends] for ends in first])
        return found

    def _repeated(
        self, item: tuple[int, ...], minimum: int, maximum: int | None, identity: tuple[int, ...]
    ) -> tuple[int, ...]:
        found, power, left = identity, item, minimum
        while left:
            if left & 1:
                found = self._after(found, power)
            power = self._after(power, power)
            left >>= 1
        count = minimum
        while maximum is None or count < maximum:
            more = tuple(ends | _image(ends, item) for ends in found)
            if more == found:
                break
            found = more
            count += 1
        return found

    # Questions

    def narrowed(self, node: int, alive: int) -> int:
        """`alive`, or ALL if the node ends in no other class anyway."""
        if self.plain or alive == ALL:
            return ALL
        return ALL if not _any(self.relations[node]) & ~alive else alive & _any(self.relations[node])

    def before(self, node: int, alive: int) -> int:
        """The classes before a node from which it can end alive."""
        if self.plain:
            return ALL
        return sum(1 << number for number, ends in enumerate(self.relations[node]) if ends & alive)

    def dead(self, node: int, alive: int) -> bool:
        """Whether a node cannot be read at all."""
        return not self.plain and not self.before(node, alive)

    def items(self, items: tuple[int, ...], alive: int) -> list[int]:
        """What must come out of each item of a sequence."""
        if self.plain:
            return [ALL] * len(items)
        found = []
        for item in reversed(items):
            found.append(alive)
            alive = self.before(item, alive)
        return found[::-1]

    def turns(self, node: int, alive: int) -> tuple[Turns, Turns]:
        """What must come out of each turn of a repetition: of those that there must be, and of the others."""
        inner = self.graph.below[node][0]
        minimum, maximum = bounds(self.graph.about[node])
        may: Turns = []
        # From the last turn to the first. One that may be the last can end, or be followed by another one.
        need = alive
        if maximum is None or maximum > minimum:
            count = 0
            while maximum is None or count < maximum - minimum:
                more = need if self.plain else alive | self.before(inner, need)
                if more == need:
                    left = None if maximum is None else maximum - minimum - count
                    self._add(may, inner, need, left)
                    break
                if maximum is not None:
                    self._add(may, inner, need, 1)
                    count += 1
                need = more
            if self.dead(inner, need):
                may = []
        must: Turns = []
        for turn in range(minimum):
            before = need if self.plain else self.before(inner, need)
            if before == need:
                self._add(must, inner, need, minimum - turn)
                break
            self._add(must, inner, need, 1)
            need = before
        return must[::-1], may[::-1]

    def _add(self, turns: Turns, inner: int, need: int, count: int | None) -> None:
        """One or more turns with this need; equal neighbours are counted together."""
        need = self.narrowed(inner, need)
        known, before = turns[-1] if turns else (need, None)
        if known == need and before is not None:
            turns.pop()
            count = None if count is None else count + before
        turns.append((need, count))


def _bottom_up(graph: Graph) -> list[int]:
    """The nodes below the start, each after those below it where there is no circle."""
    found: list[int] = []
    seen = {graph.start}
    stack = [(graph.start, iter(graph.below[graph.start]))]
    while stack:
        node, following = stack[-1]
        for inner in following:
            if inner not in seen:
                seen.add(inner)
                stack.append((inner, iter(graph.below[inner])))
                break
        else:
            stack.pop()
            found.append(node)
    return found


def _joined(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([a | b for a, b in zip(one, other, strict=True)])


def _any(ends: tuple[int, ...]) -> int:
    found = 0
    for these in ends:
        found |= these
    return found


def _image(ends: int, relation: tuple[int, ...]) -> int:
    found = 0
    while ends:
        bit = ends & -ends
        found |= relation[bit.bit_length() - 1]
        ends ^= bit
    return found
