"""Eliminates left recursion exactly: the texts stay the same, and no rule calls itself at its own beginning.

Only cycles of nodes that can begin with each other are looked at. Each leads through rules, and only these
are rewritten. In such a cycle C, a text of a rule A is built up from the left. It begins with something
outside C that is a D of C (`D -> seed …`), then grows along productions `E -> D rest` until it is an A. So
the texts of A are the seeds followed by the paths of a finite automaton. Its states are the rules of C, its
edges are labelled with the rests. This is the left-corner transform (Rosenkrantz and Lewis 1970; Johnson
1998; Moore 2000, restricted to left-recursive symbols).

States that are equivalent are merged. A single state with loops becomes a repetition: `a: a x | b` is
`a: b x*`. Several become rules that call each other last, so that a reader's stack does not grow. Empty texts
are handled separately: every rule of C is taken as `empty | non-empty part`, and rests that may be empty are
silent edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sglc.automata import work
from sglc.automata.graphs import reached
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.graph import CHOICE, LEAF, NO, REPEAT, RULE, SEQUENCE, YES, Graph, bounds
from sglc.cfg.transforms.left_cycles import left_recursive_sccs

MAX_STATES = 200_000
"""States of all the automata together."""


def remove_left_recursion(graph: Graph) -> bool:
    """Rewrite a graph that has been analysed; afterwards no node can begin with itself.

    Whether nodes may be left that have no text, so that it has to be analysed again.
    """
    cycles = left_recursive_sccs(graph)
    if not cycles:
        return False
    remover = _Remover(graph, cycles)
    remover.run()
    return remover.hollow


Edge = tuple[int, int]
"""(label: a node without the empty text, target state)."""


@dataclass(slots=True)
class _Cycle:
    """The automaton of a cycle, whose states are its rules; by state, each but the first."""

    rules: list[int]
    edges: dict[int, list[Edge]] = field(default_factory=dict)
    silent: dict[int, list[int]] = field(default_factory=dict)
    """Rules that a rule is without reading on."""
    seeds: dict[int, list[int]] = field(default_factory=dict)
    """Nodes with which its texts begin outside of the cycle."""
    made: bool = False


class _Remover:
    def __init__(self, graph: Graph, cycles: list[list[int]]) -> None:
        self.graph = graph
        self.cycle_of = {node: number for number, cycle in enumerate(cycles) for node in cycle}
        self.cycles = [_Cycle([node for node in cycle if graph.kind[node] == RULE]) for cycle in cycles]
        self.productions: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        self.plus_of: dict[int, int | None] = {}
        self.plus_waiting: list[int] = []
        self.entries: list[int] = []
        """Rules of cycles that are needed, and to be rewritten."""
        self.repeated: dict[int, int] = {}
        self.entered: set[int] = set()
        self.core: dict[int, int] = {}
        self.states_made = 0
        self.names = {str(graph.about[rule]) for rule in graph.rules}
        self.filled: dict[int, bool] = {}
        """Whether a node has a text of at least one character."""
        self.hollow = False
        """Whether a node has been made that has no text."""

    def run(self) -> None:
        graph = self.graph
        for cycle in self.cycles:
            for rule in cycle.rules:
                self.nonempty(rule)
        # What is needed from outside; others come up as rests refer to them.
        outside = [below for node, below in enumerate(graph.below) if node not in self.cycle_of]
        self.enter([inner for below in outside for inner in below if inner in self.cycle_of])
        self.enter((graph.start,))
        for cycle in self.cycles:
            for rule in cycle.rules:
                self.productions[rule] = self.written(rule)
        while self.entries or self.plus_waiting:
            if self.plus_waiting:
                self.fill_plus(self.plus_waiting.pop())
            else:
                self.rewrite(self.entries.pop())

    def enter(self, nodes: Iterable[int]) -> None:
        """Have the rules of cycles rewritten that some nodes are, or are made of."""
        waiting = list(nodes)
        while waiting:
            # What is repeated by a node that was made here is needed with it.
            node = waiting.pop()
            node = self.repeated.get(node, node)
            if node in self.cycle_of and node not in self.entered:
                self.entered.add(node)
                if self.graph.kind[node] == RULE:
                    self.entries.append(node)
                else:
                    waiting += self.graph.below[node]

    def name(self, wanted: str) -> str:
        name, count = wanted, 1
        while name in self.names:
            count += 1
            name = f"{wanted}.{count}"
        self.names.add(name)
        return name

    # Productions

    def written(self, rule: int) -> list[tuple[int, tuple[int, ...]]]:
        """(first, rest) of every way to write a rule; the first is a rule of its cycle or outside of that."""
        cycle = self.cycle_of[rule]
        found: list[tuple[int, tuple[int, ...]]] = []
        waiting: list[tuple[int, tuple[int, ...]]] = [(self.graph.below[rule][0], ())]
        while waiting:
            node, rest = waiting.pop()
            if self.graph.kind[node] == RULE or self.cycle_of.get(node) != cycle:
                found.append((node, rest))
            else:
                waiting += [(first, (*more, *rest)) for first, more in reversed(self.split(node))]
        return found

    def split(self, node: int) -> list[tuple[int, tuple[int, ...]]]:
        """(first, rest) of every way to make a node of another that is not empty, and what follows it."""
        graph = self.graph
        kind, below = graph.kind[node], graph.below[node]
        if kind == SEQUENCE:
            return [(item, below[place + 1 :]) for place, item in enumerate(graph.left(node))]
        if kind != REPEAT:
            return [(item, ()) for item in below]
        minimum, maximum = bounds(graph.about[node])
        item = below[0]
        if graph.nullable[item]:
            minimum = 0
        if maximum == 1:
            return [(item, ())]
        if maximum is None and minimum == 0:
            return [(item, (node,) if graph.about[node] == (0, None) else (self.new_repeat(item, 0, None),))]
        more = None if maximum is None else maximum - 1
        return [(item, (self.new_repeat(item, max(minimum - 1, 0), more),))]

    def new_repeat(self, item: int, minimum: int, maximum: int | None) -> int:
        graph = self.graph
        size = len(graph.kind)
        node = graph.repeat(item, minimum, maximum)
        if node >= size:
            self.repeated[node] = item
        return node

    def new(self, kind: int, name: str | None = None, *, nullable: bool = False) -> int:
        """A node that is filled later."""
        about = None if name is None else self.name(name)
        node = self.graph.add(kind, (), about, YES if nullable else NO)
        self.filled[node] = True
        return node

    def nonempty(self, node: int) -> bool:
        """Whether a node has a text of at least one character: it has one where it comes to a leaf."""
        filled, kind, below = self.filled, self.graph.kind, self.graph.below
        if node in filled:
            return filled[node]
        above = {node: -1}
        waiting = [node]
        while waiting:
            here = waiting.pop()
            if kind[here] == LEAF or filled.get(here):
                while here >= 0:
                    filled[here] = True
                    here = above[here]
                return True
            for inner in reversed(below[here]):
                if inner not in above and filled.get(inner, True):
                    above[inner] = here
                    waiting.append(inner)
        filled.update(dict.fromkeys(above, False))
        return False

    # Without the empty text

    def plus(self, node: int) -> int | None:
        """A node of the same texts but the empty one; None if there is no other."""
        graph = self.graph
        if not self.nonempty(node):
            return None
        if node in self.cycle_of:
            self.enter((node,))
        if not graph.nullable[node]:
            return node
        if graph.kind[node] == RULE and node in self.cycle_of:
            return self.core_of(node)
        found = self.plus_of.get(node, -1)
        if found != -1:
            return found
        # Made at once and filled later: what it is made of may be long, or refer back to it.
        if graph.kind[node] == RULE:
            made = self.new(RULE, f"{graph.about[node]}+")
        else:
            made = self.new(CHOICE)
        self.plus_of[node] = made
        self.plus_waiting.append(node)
        return made

    def fill_plus(self, node: int) -> None:
        graph = self.graph
        made = self.plus_of[node]
        assert made is not None
        arms: list[int] = []
        for first, rest in self.split(node):
            start = self.plus(first)
            if start is not None:
                self.enter(rest)
                arms.append(graph.sequence((start, *rest)))
        self.hollow |= not arms
        graph.below[made] = (arms[0],) if graph.kind[node] == RULE else tuple(dict.fromkeys(arms))

    def plus_series(self, items: tuple[int, ...]) -> list[int]:
        """The nodes that together read the texts of a sequence but the empty one."""
        graph = self.graph
        arms = []
        for place, item in enumerate(items):
            first = self.plus(item)
            if first is not None:
                arms.append(graph.sequence((first, *items[place + 1 :])))
            if not graph.nullable[item]:
                break
        self.enter(items)
        return arms

    # Cycles

    def core_of(self, rule: int) -> int:
        """The rule that reads the texts of a rule of a cycle but the empty one."""
        if not self.graph.nullable[rule]:
            return rule
        core = self.core.get(rule)
        if core is None:
            core = self.core[rule] = self.new(RULE, f"{self.graph.about[rule]}'")
        return core

    def automaton(self, number: int) -> _Cycle:
        """A cycle with its edges."""
        graph, cycle = self.graph, self.cycles[number]
        if cycle.made:
            return cycle
        cycle.made = True
        for states in (cycle.edges, cycle.silent, cycle.seeds):
            states.update({rule: [] for rule in cycle.rules})
        for rule in cycle.rules:
            for first, rest in self.productions[rule]:
                if self.cycle_of.get(first) == number:
                    if all([graph.nullable[item] for item in rest]):
                        cycle.silent[first].append(rule)
                    cycle.edges[first] += [(label, rule) for label in self.plus_series(rest)]
                else:
                    seed = self.plus(first)
                    if seed is not None:
                        self.enter(rest)
                        cycle.seeds[rule].append(graph.sequence((seed, *rest)))
        return cycle

    def rewrite(self, target: int) -> None:
        """Give a rule of a cycle its new form."""
        graph = self.graph
        core = self.core_of(target)
        cycle = self.automaton(self.cycle_of[target])
        live = self.reaching(target, cycle)
        accepting, moves = self.closed(target, live, cycle)
        class_of = _merged(live, accepting, moves)
        seeds: dict[int, list[int]] = {}
        for state in live:
            if cycle.seeds[state]:
                seeds.setdefault(class_of[state], []).extend(cycle.seeds[state])
        nodes = self.state_nodes(target, list(seeds), class_of, accepting, moves)
        arms: list[int] = []
        for state, heads in seeds.items():
            tail = nodes[state]
            if tail is None:
                arms += heads
                continue
            closing: list[int] = []
            if class_of[target] == state:
                heads, closing = self.divided(heads, target)
            if heads:
                arms.append(graph.sequence((graph.choice(heads), tail)))
            arms += closing
        self.hollow |= not arms
        graph.below[core] = (graph.choice(arms),)
        if core != target:
            graph.below[target] = (graph.choice((graph.empty, core)),)

    def divided(self, heads: list[int], target: int) -> tuple[list[int], list[int]]:
        """(parts to be followed by the target's own paths, parts that need not be).

        A part that ends in the target needs no paths after it: the target itself ends with them.
        """
        graph, core = self.graph, self.core_of(target)
        open_parts: list[int] = []
        closing: list[int] = []
        for head in heads:
            items = graph.below[head] if graph.kind[head] == SEQUENCE else (head,)
            if items[-1] == core:
                closing.append(head)
            elif items[-1] == target:
                # Such a part is never empty, so something stands before the target.
                open_parts.append(graph.sequence(items[:-1]))
                closing.append(graph.sequence((*items[:-1], core)))
            else:
                open_parts.append(head)
        return open_parts, closing

    def reaching(self, target: int, cycle: _Cycle) -> list[int]:
        """The states from which the target can be reached, the target first."""
        before: dict[int, list[int]] = {}
        for state, following in cycle.edges.items():
            for after in [after for _, after in following] + cycle.silent[state]:
                before.setdefault(after, []).append(state)
        found = reached([target], lambda state: before.get(state, ()))
        self.spend(len(found))
        return found

    def spend(self, states: int) -> None:
        self.states_made += states
        work.spend(2 * states)
        if self.states_made > MAX_STATES:
            raise GrammarError(
                f"taking out left recursion needs more than {MAX_STATES} parts",
                hint="too many rules begin with each other",
            )

    def closed(self, target: int, live: list[int], cycle: _Cycle) -> tuple[set[int], dict[int, list[Edge]]]:
        """Acceptance and edges with silent ones followed."""
        alive = set(live)
        accepting: set[int] = set()
        moves: dict[int, list[Edge]] = {}
        for state in live:
            reached = {state: None}
            waiting = [state]
            for here in waiting:
                new = [after for after in cycle.silent[here] if after in alive and after not in reached]
                reached.update(dict.fromkeys(new))
                waiting += new
            self.spend(len(reached) - 1)
            if target in reached:
                accepting.add(state)
            every = [edge for here in reached for edge in cycle.edges[here] if edge[1] in alive]
            moves[state] = list(dict.fromkeys(every))
        return accepting, moves

    def state_nodes(
        self,
        target: int,
        starts: list[int],
        class_of: dict[int, int],
        accepting: set[int],
        moves: dict[int, list[Edge]],
    ) -> dict[int, int | None]:
        """For each class of states the node that reads the paths from it to the target (None: only empty)."""
        graph = self.graph
        arcs: dict[int, dict[int, list[int]]] = {}
        needed = dict.fromkeys(starts)
        waiting = list(needed)
        for state in waiting:
            arcs[state] = {}
            for label, after in moves[state]:
                labels = arcs[state].setdefault(class_of[after], [])
                labels.append(label)
            waiting += [after for after in arcs[state] if after not in needed]
            needed.update(dict.fromkeys(arcs[state]))
        nodes: dict[int, int | None] = {}
        closing: dict[int, list[int]] = {}
        """By state the paths that end with the target."""
        for state in needed:
            open_arcs = arcs[state]
            own = class_of[target]
            closing[state] = []
            if own in open_arcs:
                open_arcs[own], closing[state] = self.divided(list(dict.fromkeys(open_arcs[own])), target)
            ends = state in accepting
            if not open_arcs:
                nodes[state] = None
            elif ends and not closing[state] and open_arcs.keys() == {state}:
                nodes[state] = graph.repeat(graph.choice(open_arcs[state]), 0, None)
            else:
                name = f"{graph.about[target]}\\{graph.about[state]}"
                nodes[state] = self.new(RULE, name, nullable=ends)
        for state, node in nodes.items():
            if node is None or graph.kind[node] == REPEAT:
                continue
            arms = [graph.empty] if state in accepting else []
            for after, labels in arcs[state].items():
                tail = nodes[after]
                if labels:
                    head = graph.choice(labels)
                    arms.append(head if tail is None else graph.sequence((head, tail)))
            graph.below[node] = (graph.choice((*arms, *closing[state])),)
        return nodes


def _merged(live: list[int], accepting: set[int], moves: dict[int, list[Edge]]) -> dict[int, int]:
    """State to a representative of its equivalence class, as far as a few rounds of merging find."""
    class_of = {state: state for state in live}
    for _ in range(4 if len(live) > 1 else 0):
        known: dict[tuple[bool, frozenset[Edge]], int] = {}
        changed = False
        following: dict[int, int] = {}
        for state in live:
            key = (
                state in accepting,
                frozenset((label, class_of[after]) for label, after in moves[state]),
            )
            first = known.setdefault(key, state)
            following[state] = first
            changed |= first != class_of[state]
        class_of = following
        if not changed:
            break
    return class_of
