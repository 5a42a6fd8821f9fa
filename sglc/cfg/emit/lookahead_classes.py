"""Which ends of a node can be followed by what comes after it, where terminals look ahead.

A terminal may forbid some next characters. Terminals that forbid the same characters end in the same
*class*. Every node of the graph is then a relation over classes: with class A before it, it can be read so as
to end in class B. Where only some classes can be continued, the node is restricted to those, so that no text
is begun that cannot be finished. A grammar without lookahead has one class, and nothing is restricted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sglc.automata.charset import Ranges, meet
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.dfa.operations import first_characters
from sglc.automata.term import CharDfa
from sglc.cfg.lexer.lexical_spec import LexicalSpec
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.graph import CHOICE, LEAF, REPEAT, RULE, SEQUENCE, Graph, bounds

ALL = -1
"""Every class may come out."""
Turns = list[tuple[int, int | None]]
"""What must come out of some turns of a repetition, and how many turns they are (None: any number)."""
MAX_CLASSES = 500
"""Ways in which terminals look ahead. Parts of the grammar are emitted once for each pair that comes up."""


class LookaheadRelations:
    """Relations of `nodes`, which are all below the start from above to below; class 0 forbids nothing."""

    def __init__(self, graph: Graph, spec: LexicalSpec, nodes: list[int]) -> None:
        self.graph = graph
        self.spec = spec
        self.classes: dict[Ranges, int] = {(): 0}
        if spec.plain:
            self.plain = True
            return
        for forbidden in (*spec.ends, *[forbidden for _, forbidden in spec.skip or ()]):
            self.classes.setdefault(forbidden, len(self.classes))
        self.plain = len(self.classes) == 1 and not spec.hollow
        if self.plain:
            return
        if len(self.classes) > MAX_CLASSES:
            raise GrammarError(f"terminals look ahead in more than {MAX_CLASSES} ways")
        self.forbidden_next = list(self.classes)
        # Relations are few, and come up again and again: they are numbered. 0 holds nowhere.
        self._numbers = Numbering((0,) * len(self.classes))
        self._rows = self._numbers.order
        self._identity = self._numbers[tuple(1 << before for before in range(len(self.forbidden_next)))]
        self._ends: list[int] = []
        """By relation: all classes that it may end in."""
        self._products: dict[tuple[int, int], int] = {}
        self._unions: dict[tuple[int, int], int] = {}
        self._powers: dict[tuple[int, object], int] = {}
        self._leaves: dict[tuple[tuple[Ranges, Ranges], ...], int] = {}
        self._firsts: dict[int, Ranges] = {}
        self._skip_ends: dict[int, int] = {}
        self._available: dict[tuple[int, Ranges], bool] = {}
        self._needs: dict[tuple[tuple[int, ...], int], list[int]] = {}
        self._befores: dict[tuple[int, int], int] = {}
        if spec.equivalence is None:
            self._relations = self._fixpoint(graph, nodes, range(len(graph.kind)))
        else:
            classes = spec.equivalence
            found = self._fixpoint(classes.classes, classes.order, classes.leaf)
            self._relations = [found[number] for number in classes.of]
        self._ends = [_any(row) for row in self._rows]

    # Leaves

    def available(self, before: int, dfa: CharDfa) -> bool:
        """Whether a text may begin after an end of that class."""
        if not before:
            return True
        return self._begins(before, self._first(dfa))

    def _first(self, dfa: CharDfa) -> Ranges:
        # The automata are those of the specification, which lives as long as this does.
        first = self._firsts.get(id(dfa))
        if first is None:
            first = self._firsts[id(dfa)] = first_characters([dfa])
        return first

    def _begins(self, before: int, first: Ranges) -> bool:
        if not before:
            return True
        key = (before, first)
        found = self._available.get(key)
        if found is None:
            found = self._available[key] = meet(first, self.forbidden_next[before]) != first
        return found

    def skip_ends(self, before: int) -> int:
        """The classes in which ignored text, if there is any, may end."""
        found = self._skip_ends.get(before)
        if found is None:
            found = 1 << before
            for dfa, forbidden in self.spec.skip or ():
                if self.available(before, dfa):
                    found |= 1 << self.classes[forbidden]
            self._skip_ends[before] = found
        return found

    def _leaf(self, node: int) -> int:
        key = tuple([(self._first(dfa), forbidden) for dfa, forbidden in self.spec.parts[node]])
        known = self._leaves.get(key)
        if known is None:
            parts = [(first, self.skip_ends(self.classes[forbidden])) for first, forbidden in key]
            row = []
            for before in range(len(self.forbidden_next)):
                ends = 0
                for first, after in parts:
                    if self._begins(before, first):
                        ends |= after
                row.append(ends)
            known = self._leaves[key] = self._numbers[tuple(row)]
        return known

    def alive_parts(self, node: int, alive: int) -> list[tuple[CharDfa, Ranges]]:
        """The parts of a leaf that can be gone on from."""
        parts = self.spec.parts[node]
        if alive == ALL:
            return list(parts)
        return [part for part in parts if self.skip_ends(self.classes[part[1]]) & alive]

    def alive_skip(self, alive: int) -> list[tuple[CharDfa, Ranges]]:
        """The parts of ignored text that can be gone on from, of the classes in a bit set."""
        return [part for part in self.spec.skip or () if alive >> self.classes[part[1]] & 1]

    # Relations

    def _fixpoint(
        self, graph: Graph, nodes: list[int], leaves: Sequence[int] | Mapping[int, int]
    ) -> list[int]:
        """Least relations, from below; an arm that changes is added to its choice, which is not made anew.

        `leaves`: the leaf that one of the graph stands for.
        """
        relations = [0] * len(graph.kind)
        kinds, below = graph.kind, graph.below
        above: list[list[int]] = [[] for _ in kinds]
        for node in nodes:
            for inner in below[node]:
                above[inner].append(node)
        rank = dict(zip(reversed(nodes), range(len(nodes)), strict=True))
        order = nodes[::-1]
        stale = set(nodes)
        while order:
            for node in order:
                if node not in stale:
                    continue
                stale.discard(node)
                found = (
                    self._leaf(leaves[node])
                    if kinds[node] == LEAF
                    else self._relation(graph, node, relations)
                )
                changed = [(node, found)]
                while changed:
                    inner, found = changed.pop()
                    if found == relations[inner]:
                        continue
                    relations[inner] = found
                    for outer in above[inner]:
                        if outer in stale:
                            continue
                        if kinds[outer] == CHOICE or kinds[outer] == RULE:
                            changed.append((outer, self._either(relations[outer], found)))
                        else:
                            stale.add(outer)
            order = sorted(stale, key=rank.__getitem__)
        return relations

    def _relation(self, graph: Graph, node: int, relations: list[int]) -> int:
        kind, below = graph.kind[node], graph.below[node]
        if kind == SEQUENCE:
            found = self._identity
            for item in below:
                found = self._after(found, relations[item])
            return found
        if kind == REPEAT:
            key = relations[below[0]], graph.about[node]
            known = self._powers.get(key)
            if known is None:
                known = self._powers[key] = self._repeated(key[0], *bounds(key[1]))
            return known
        found = 0
        for inner in {relations[arm] for arm in below}:
            found = self._either(found, inner)
        return found

    def _after(self, first: int, second: int) -> int:
        found = self._products.get((first, second))
        if found is None:
            row = tuple([_image(ends, self._rows[second]) for ends in self._rows[first]])
            found = self._products[first, second] = self._numbers[row]
        return found

    def _either(self, one: int, other: int) -> int:
        found = self._unions.get((one, other))
        if found is None:
            rows = zip(self._rows[one], self._rows[other], strict=True)
            found = self._unions[one, other] = self._numbers[tuple([a | b for a, b in rows])]
        return found

    def _repeated(self, item: int, minimum: int, maximum: int | None) -> int:
        found, power, left = self._identity, item, minimum
        while left:
            if left & 1:
                found = self._after(found, power)
            power = self._after(power, power)
            left >>= 1
        count = minimum
        while maximum is None or count < maximum:
            more = self._either(found, self._after(found, item))
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
        ends = self._ends[self._relations[node]]
        return ALL if not ends & ~alive else alive & ends

    def before(self, node: int, alive: int) -> int:
        """The classes before a node from which it can end alive."""
        if self.plain:
            return ALL
        key = self._relations[node], alive
        found = self._befores.get(key)
        if found is None:
            rows = enumerate(self._rows[key[0]])
            found = self._befores[key] = sum([1 << number for number, ends in rows if ends & alive])
        return found

    def dead(self, node: int, alive: int) -> bool:
        """Whether a node cannot be read at all."""
        return not self.plain and not self.before(node, alive)

    def items(self, items: tuple[int, ...], alive: int) -> list[int]:
        """What must come out of each item of a sequence; not to be written to."""
        if self.plain:
            return [ALL] * len(items)
        relations = self._relations
        key = tuple([relations[item] for item in items]), alive
        known = self._needs.get(key)
        if known is None:
            known = []
            for item in reversed(items):
                known.append(alive)
                alive = self.before(item, alive)
            self._needs[key] = known = known[::-1]
        return known

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
