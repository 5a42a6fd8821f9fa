"""Eliminates left recursion exactly: the texts stay the same, and no rule calls itself at its own beginning.

Only cycles of nodes that can begin with each other are rewritten. In such a cycle C, a text of a node A is
built up from the left: it begins with something outside C that is a D of C (`D -> seed …`), then grows along
productions `E -> D rest` until it is an A. So the texts of A are the seeds followed by the paths of a finite
automaton whose states are the nodes of C and whose edges are labelled with the rests: the left-corner
transform (Rosenkrantz and Lewis 1970; Johnson 1998; Moore 2000, restricted to left-recursive symbols). States
that are equivalent are merged; a single state with loops becomes a repetition, and several become rules that
call each other last (so that a reader's stack does not grow). Empty texts are handled separately: every
node of C is taken as `empty | non-empty part`, and rests that may be empty are silent edges.
"""

from __future__ import annotations

from collections.abc import Iterable

from sglc.automata import work
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.graph import CHOICE, LEAF, NO, REPEAT, RULE, SEQUENCE, YES, Graph, bounds
from sglc.cfg.transforms.left_cycles import left_recursive_sccs, unwound

MAX_STATES = 200_000
"""States of all the automata together."""


def remove_left_recursion(graph: Graph) -> bool:
    """Rewrite a graph that has been analysed; afterwards no node can begin with itself.

    Whether nodes may be left that have no text, so that it has to be analysed again.
    """
    cycles = [cycle for cycle in left_recursive_sccs(graph) if not unwound(graph, cycle)]
    if not cycles:
        return False
    remover = _Remover(graph, cycles)
    remover.run()
    return remover.hollow


Edge = tuple[int, int]
"""(label: a node without the empty text, target state)."""


class _Remover:
    def __init__(self, graph: Graph, cycles: list[list[int]]) -> None:
        self.graph = graph
        self.cycle_of = {node: number for number, cycle in enumerate(cycles) for node in cycle}
        self.cycles = cycles
        self.productions: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        self.plus_of: dict[int, int | None] = {}
        self.plus_waiting: list[int] = []
        self.entries: list[int] = []
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
            for node in cycle:
                self.nonempty(node)
        # Nodes of cycles that are needed from outside; others come up as rests refer to them.
        outside = [below for node, below in enumerate(graph.below) if node not in self.cycle_of]
        self.enter([inner for below in outside for inner in below if inner in self.cycle_of])
        self.enter((graph.start,))
        for cycle in self.cycles:
            for node in cycle:
                self.productions[node] = self.split(node)
        self.edges_of: dict[
            int, tuple[dict[int, list[Edge]], dict[int, list[int]], dict[int, list[int]]]
        ] = {}
        while self.entries or self.plus_waiting:
            if self.plus_waiting:
                self.fill_plus(self.plus_waiting.pop())
            else:
                self.rewrite(self.entries.pop())

    def enter(self, nodes: Iterable[int]) -> None:
        for node in nodes:
            # What is repeated by a node that was made here is needed with it.
            inner = self.repeated.get(node, node)
            if inner in self.cycle_of and inner not in self.entered:
                self.entered.add(inner)
                self.entries.append(inner)

    def name(self, wanted: str) -> str:
        name, count = wanted, 1
        while name in self.names:
            count += 1
            name = f"{wanted}.{count}"
        self.names.add(name)
        return name

    def shown(self, node: int) -> str:
        about = self.graph.about[node]
        return str(about) if self.graph.kind[node] == RULE else f"#{node}"

    # Productions

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
            self.filled[node] = self.nonempty(item)
        return node

    def new(self, kind: int, below: tuple[int, ...], about: object = None, *, nullable: bool = False) -> int:
        node = self.graph.add(kind, below, about, YES if nullable else NO)
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
            return self.core_of(node)
        if not graph.nullable[node]:
            return node
        found = self.plus_of.get(node, -1)
        if found != -1:
            return found
        # Made at once and filled later: what it is made of may be long, or refer back to it.
        if graph.kind[node] == RULE:
            made = self.new(RULE, (), self.name(self.shown(node) + "+"))
        else:
            made = self.new(CHOICE, ())
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
                arms.append(self.series((start, *rest)))
        self.hollow |= not arms
        if graph.kind[node] == RULE:
            graph.below[made] = (arms[0],)
        else:
            graph.below[made] = tuple(dict.fromkeys(arms))

    def plus_series(self, items: tuple[int, ...]) -> list[int]:
        """The nodes that together read the texts of a sequence but the empty one."""
        graph = self.graph
        arms = []
        for place, item in enumerate(items):
            first = self.plus(item)
            if first is not None:
                arms.append(self.series((first, *items[place + 1 :])))
            if not graph.nullable[item]:
                break
        self.enter(items)
        return arms

    def series(self, items: tuple[int, ...]) -> int:
        if len(items) == 1:
            return items[0]
        flat: list[int] = []
        for item in items:
            if self.graph.kind[item] == SEQUENCE and item not in self.cycle_of:
                flat += self.graph.below[item]
            else:
                flat.append(item)
        return self.new(SEQUENCE, tuple(flat), nullable=all(self.graph.nullable[item] for item in flat))

    # Cycles

    def core_of(self, node: int) -> int:
        """The rule that will read the texts of a node of a cycle but the empty one."""
        core = self.core.get(node)
        if core is None:
            core = self.core[node] = self.new(RULE, (), self.name(f"{self.shown(node)}'"))
        return core

    def cycle_edges(
        self, number: int
    ) -> tuple[dict[int, list[Edge]], dict[int, list[int]], dict[int, list[int]]]:
        """(edges by state, silent edges by state, seeds by state) of a cycle."""
        found = self.edges_of.get(number)
        if found is not None:
            return found
        graph = self.graph
        edges: dict[int, list[Edge]] = {node: [] for node in self.cycles[number]}
        silent: dict[int, list[int]] = {node: [] for node in self.cycles[number]}
        seeds: dict[int, list[int]] = {node: [] for node in self.cycles[number]}
        for node in self.cycles[number]:
            for first, rest in self.productions[node]:
                if self.cycle_of.get(first) == number:
                    if all(graph.nullable[item] for item in rest):
                        silent[first].append(node)
                    edges[first] += [(label, node) for label in self.plus_series(rest)]
                else:
                    seed = self.plus(first)
                    if seed is not None:
                        self.enter(rest)
                        seeds[node].append(self.series((seed, *rest)))
        self.edges_of[number] = edges, silent, seeds
        return edges, silent, seeds

    def rewrite(self, target: int) -> None:
        """Give a node of a cycle its new form."""
        graph = self.graph
        core = self.core_of(target)
        edges, silent, seeds = self.cycle_edges(self.cycle_of[target])
        live = self.reaching(target, edges, silent)
        accepting, moves = self.closed(target, live, edges, silent)
        starts = [state for state in live if seeds[state]]
        class_of = _merged(live, accepting, moves)
        nodes = self.state_nodes(target, core, starts, class_of, accepting, moves)
        by_class: dict[int, list[int]] = {}
        for state in starts:
            by_class.setdefault(class_of[state], []).extend(seeds[state])
        arms: list[int] = []
        for state, heads in by_class.items():
            tail = nodes[state]
            heads = list(dict.fromkeys(heads))
            if tail is None:
                arms += heads
                continue
            closing: list[int] = []
            if class_of[target] == state:
                heads, closing = self.divided(heads, target, core)
            if heads:
                arms.append(self.series((self.any_of(heads), tail)))
            arms += closing
        self.hollow |= not arms
        graph.below[core] = (arms[0] if len(arms) == 1 else self.new(CHOICE, tuple(dict.fromkeys(arms))),)
        # All who refer to the node refer to its new form.
        if graph.kind[target] == RULE:
            graph.kind[target] = CHOICE
            graph.about[core] = graph.about[target]
        else:
            graph.kind[target] = CHOICE
        graph.about[target] = None
        graph.below[target] = (graph.empty, core) if graph.nullable[target] else (core,)

    def any_of(self, arms: list[int]) -> int:
        return arms[0] if len(arms) == 1 else self.new(CHOICE, tuple(arms))

    def divided(self, heads: list[int], target: int, core: int) -> tuple[list[int], list[int]]:
        """(parts to be followed by the target's own paths, parts that need not be).

        A part that ends in the target needs no paths after it: the target itself ends with them.
        """
        graph = self.graph
        open_parts: list[int] = []
        closing: list[int] = []
        for head in heads:
            items = graph.below[head] if graph.kind[head] == SEQUENCE else (head,)
            if items[-1] == core or (items[-1] == target and not graph.nullable[target]):
                closing.append(head)
            elif items[-1] == target:
                # Such a part is never empty, so something stands before the target.
                open_parts.append(self.series(items[:-1]))
                closing.append(self.series((*items[:-1], core)))
            else:
                open_parts.append(head)
        return list(dict.fromkeys(open_parts)), closing

    def reaching(self, target: int, edges: dict[int, list[Edge]], silent: dict[int, list[int]]) -> list[int]:
        """The states from which the target can be reached, the target first."""
        before: dict[int, list[int]] = {}
        for state, following in edges.items():
            for _, after in following:
                before.setdefault(after, []).append(state)
            for after in silent[state]:
                before.setdefault(after, []).append(state)
        found = [target]
        seen = {target}
        for state in found:
            for earlier in before.get(state, ()):
                if earlier not in seen:
                    seen.add(earlier)
                    found.append(earlier)
        self.states_made += len(found)
        work.spend(2 * len(found))
        if self.states_made > MAX_STATES:
            raise GrammarError(
                f"taking out left recursion needs more than {MAX_STATES} parts",
                hint="too many rules begin with each other",
            )
        return found

    def closed(
        self, target: int, live: list[int], edges: dict[int, list[Edge]], silent: dict[int, list[int]]
    ) -> tuple[set[int], dict[int, list[Edge]]]:
        """Acceptance and edges with silent ones followed."""
        alive = set(live)
        accepting: set[int] = set()
        moves: dict[int, list[Edge]] = {}
        for state in live:
            reached = [state]
            seen = {state}
            for here in reached:
                for after in silent[here]:
                    if after not in seen and after in alive:
                        seen.add(after)
                        reached.append(after)
            self.states_made += len(reached) - 1
            work.spend(2 * len(reached))
            if self.states_made > MAX_STATES:
                raise GrammarError(f"taking out left recursion needs more than {MAX_STATES} parts")
            if target in seen:
                accepting.add(state)
            moves[state] = list(
                dict.fromkeys(edge for here in reached for edge in edges[here] if edge[1] in alive)
            )
        return accepting, moves

    def state_nodes(
        self,
        target: int,
        core: int,
        starts: list[int],
        class_of: dict[int, int],
        accepting: set[int],
        moves: dict[int, list[Edge]],
    ) -> dict[int, int | None]:
        """For each class of states the node that reads the paths from it to the target (None: only empty)."""
        graph = self.graph
        needed = list(dict.fromkeys(class_of[state] for state in starts))
        seen = set(needed)
        arcs: dict[int, dict[int, list[int]]] = {}
        for state in needed:
            by_target: dict[int, list[int]] = {}
            for label, after in moves[state]:
                by_target.setdefault(class_of[after], []).append(label)
            arcs[state] = {after: list(dict.fromkeys(labels)) for after, labels in by_target.items()}
            for after in by_target:
                if after not in seen:
                    seen.add(after)
                    needed.append(after)
        nodes: dict[int, int | None] = {}
        for state in needed:
            if not arcs[state]:
                nodes[state] = None
            else:
                name = self.name(f"{self.shown(target)}\\{self.shown(state)}")
                nodes[state] = self.new(RULE, (), name, nullable=state in accepting)
        for state in needed:
            node = nodes[state]
            if node is None:
                continue
            arms: list[int] = [graph.empty] if state in accepting else []
            only_loops = state in accepting and set(arcs[state]) == {state}
            for after, labels in arcs[state].items():
                closing: list[int] = []
                if after == class_of[target]:
                    labels, closing = self.divided(labels, target, core)
                tail = nodes[after]
                if only_loops and not closing:
                    arms = [self.new(REPEAT, (self.any_of(labels),), (0, None), nullable=True)]
                elif labels:
                    head = self.any_of(labels)
                    arms.append(head if tail is None else self.series((head, tail)))
                arms += closing
            graph.below[node] = (
                arms[0] if len(arms) == 1 else self.new(CHOICE, tuple(arms), nullable=state in accepting),
            )
        return nodes


def _merged(live: list[int], accepting: set[int], moves: dict[int, list[Edge]]) -> dict[int, int]:
    """State to a representative of its equivalence class, as far as a few rounds of merging find."""
    class_of = {state: state for state in live}
    for _ in range(4):
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
