"""Thompson's construction (1968): the syntax tree as an automaton with silent and guarded edges.

Counted loops are unrolled with every optional copy nested in the one before, so that the subsets made of the
states later stay small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sglc.automata import work
from sglc.automata.charset import ALL, Ranges, blocks_of
from sglc.automata.regex.tree import Chars, Edge, Either, Join, Look, Loop, Node, RegexError
from sglc.immutable import value


@value
class LookEdge:
    """A guard: `body` matches what follows (or comes before)."""

    body: Nfa
    behind: bool
    negated: bool


@dataclass(slots=True)
class Budget:
    """Counts the work of one pattern, so that every machine accepts or refuses the same patterns."""

    states: int
    work: int

    def state(self, position: int) -> None:
        """Takes one state from the budget. Raises RegexError at the position if none is left."""
        self.states -= 1
        work.spend(1)
        if self.states < 0:
            raise RegexError(position, "the pattern unrolls to too many states")

    def spend(self, amount: int) -> None:
        """Takes work from the budget. Raises RegexError if not so much is left."""
        self.work -= amount
        work.spend(amount)
        if self.work < 0:
            raise RegexError(0, "the pattern is too costly to compile")


class Nfa:
    """`open_left`, `open_right`: any text may come before, or follow. State `start` begins, `end` accepts."""

    def __init__(
        self, node: Node, budget: Budget, *, open_left: bool = False, open_right: bool = False
    ) -> None:
        self.budget = budget
        self.open_right = open_right
        self.moves: list[list[tuple[Ranges, int]]] = []
        self.silents: list[list[int]] = []
        self.edges: dict[int, list[tuple[Edge, int]]] = {}
        self.looks: dict[int, list[tuple[LookEdge, int]]] = {}
        self.start = self.state(0)
        end = self.start
        if open_left:
            self.moves[end].append((ALL, end))
            end = self.silent(end)
        end = self.add(node, end, 0)
        if open_right:
            end = self.silent(end)
            self.moves[end].append((ALL, end))
        self.end = end

    def state(self, position: int) -> int:
        """The number of a new state. Raises RegexError above the budget."""
        self.budget.state(position)
        self.moves.append([])
        self.silents.append([])
        return len(self.moves) - 1

    def silent(self, source: int) -> int:
        """A new state, with a silent edge from `source`."""
        target = self.state(0)
        self.silents[source].append(target)
        return target

    def add(self, node: Node, source: int, position: int) -> int:
        """Adds what `node` matches behind `source`; returns where it ends."""
        if isinstance(node, Chars):
            target = self.state(position)
            if node.these:
                self.moves[source].append((node.these, target))
            return target
        if isinstance(node, Join):
            for item in node.items:
                source = self.add(item, source, position)
            return source
        if isinstance(node, Either):
            target = self.state(position)
            for arm in node.arms:
                self.silents[self.add(arm, self.silent(source), position)].append(target)
            return target
        if isinstance(node, Loop):
            return self.add_loop(node, source)
        target = self.state(position)
        if isinstance(node, Edge):
            self.edges.setdefault(source, []).append((node, target))
        else:
            assert isinstance(node, Look), "captures are gone when a pattern has been read"
            body = Nfa(node.item, self.budget, open_left=node.behind, open_right=not node.behind)
            guard = LookEdge(body, node.behind, node.negated)
            self.looks.setdefault(source, []).append((guard, target))
        return target

    def add_loop(self, node: Loop, source: int) -> int:
        """The state after a loop that is read from `source` on; finite counts are unrolled."""
        for _ in range(node.minimum):
            source = self.add(node.item, source, node.position)
        if node.maximum is None:
            hub = self.silent(source)
            self.silents[self.add(node.item, self.silent(hub), node.position)].append(hub)
            return self.silent(hub)
        target = self.state(node.position)
        for _ in range(node.maximum - node.minimum):
            self.silents[source].append(target)
            source = self.add(node.item, source, node.position)
        self.silents[source].append(target)
        return target

    def bodies(self) -> list[LookEdge]:
        """All guards, those inside another one before it."""
        out = []
        for guards in self.looks.values():
            for guard, _ in guards:
                out += [*guard.body.bodies(), guard]
        return out


class Blocks:
    """One cut of the characters for an automaton and all its guards.

    `kinds[b]` has a bit for each set that an `Edge` asks about; `NO_CHAR` stands for the ends of the text.
    """

    def __init__(self, nfas: Sequence[Nfa]) -> None:
        read = [these for nfa in nfas for row in nfa.moves for these, _ in row]
        guards = [edge.these for nfa in nfas for edges in nfa.edges.values() for edge, _ in edges]
        asked = dict.fromkeys(filter(None, guards))
        self.blocks, members = blocks_of((*read, *asked, ALL) if asked else read)
        self.bits = {these: 1 << bit for bit, these in enumerate(asked)}
        self.kinds = [0] * len(self.blocks)
        for these, bit in self.bits.items():
            for block in members[these]:
                self.kinds[block] |= bit
        self.moves = [
            [[(members[these], target) for these, target in row] for row in nfa.moves] for nfa in nfas
        ]

    def holds(self, edge: Edge, before: int, behind: int) -> bool:
        """Whether an edge is passed between two neighbours, given by their kinds."""
        match edge.kind:
            case "start":
                return before == NO_CHAR
            case "end":
                return behind == NO_CHAR
            case "line_start":
                return before == NO_CHAR or bool(before & self.bits[edge.these])
            case "line_end":
                return behind == NO_CHAR or bool(behind & self.bits[edge.these])
        bit = self.bits[edge.these]
        here = (before != NO_CHAR and bool(before & bit)) != (behind != NO_CHAR and bool(behind & bit))
        return here == (edge.kind == "word")


NO_CHAR = -1
EAGER = ("start", "line_start")
"""Edges that are decided by the character before them."""
