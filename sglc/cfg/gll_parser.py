"""A general parser (GLL: Scott and Johnstone 2010): which part of a text was written by which rule.

The parser first finds all parses: for each node and start position the positions where it may end, for any
recursion. Then it chooses one tree from the root down: the first alternative that fits, and the longest part.
Terminals match exactly where the mask allows them, so every text that a hole can hold has a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sglc.automata import work
from sglc.automata.dfa.operations import step
from sglc.automata.graphs import reached, successors_first
from sglc.cfg.lexer.lexical_spec import LexicalSpec
from sglc.cfg.lexer.match_semantics import Automaton
from sglc.cfg.lexer.terminals import Token
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.graph import CHOICE, LEAF, REPEAT, RULE, SEQUENCE, Graph, bounds

MAX_STEPS = 3_000_000
"""Ways to go on that are followed in one text."""

Span = tuple[int, int, int]
"""(node, where it begins, where it ends)."""
Placed = tuple[Span, frozenset[int]]
"""A node of a tree, and the nodes above it that have the same span."""
_Cont = tuple[int, int, int]
"""(node that waits, where it began, its items done)."""


class Parser:
    """Parses texts by a graph with its left recursion, and by what its terminals read."""

    def __init__(self, graph: Graph, spec: LexicalSpec) -> None:
        self.graph = graph
        self.spec = spec
        self._cyclic = _cyclic(graph)
        self._leading: dict[str, list[bool]] = {}

    def parts(self, text: str, rule: str) -> list[str] | None:
        """The outermost parts below the root that `rule` wrote, in order; None if this is no text of it.

        Raises GrammarError for a text that can be read in too many ways.
        """
        graph, root = self.graph, self.graph.start
        chart = _Chart(graph, self.spec, text)
        chart.fill(root)
        if len(text) not in chart.ends[root, 0]:
            return None
        leading = self._leading_to(rule)
        tree = _Tree(chart, self._cyclic)
        found = []
        waiting = tree.children((root, 0, len(text)), frozenset())[::-1]
        while waiting:
            span, above = waiting.pop()
            node = span[0]
            if graph.kind[node] == RULE and graph.about[node] == rule:
                found.append(text[span[1] : tree.own_end(span, above)])
            elif leading[node]:
                waiting += tree.children(span, above)[::-1]
        return found

    def _leading_to(self, rule: str) -> list[bool]:
        """By node: whether the rule may stand below it."""
        found = self._leading.get(rule)
        if found is None:
            graph = self.graph
            found = self._leading[rule] = [False] * len(graph.kind)
            above: list[list[int]] = [[] for _ in graph.kind]
            for node, below in enumerate(graph.below):
                for inner in below:
                    above[inner].append(node)
            starts = [n for n, kind in enumerate(graph.kind) if kind == RULE and graph.about[n] == rule]
            for node in reached(starts, above.__getitem__):
                found[node] = True
        return found


class _Chart:
    """The end positions of each node, by its start position."""

    def __init__(self, graph: Graph, spec: LexicalSpec, text: str) -> None:
        self.graph = graph
        self.spec = spec
        self.text = text
        self.ends: dict[tuple[int, int], dict[int, None]] = {}
        self._conts: dict[tuple[int, int], list[_Cont]] = {}
        self._seen: set[tuple[_Cont, int]] = set()
        self._calls: list[tuple[int, int, _Cont]] = []
        self._goings: list[tuple[_Cont, int]] = []
        self._skipped: dict[int, list[int]] = {}

    def fill(self, root: int) -> None:
        self._begin(root, 0)
        steps = 0
        while self._goings or self._calls:
            steps += 1
            work.spend(3)
            if steps > MAX_STEPS:
                raise GrammarError("the text can be read in too many ways")
            if self._goings:
                self._go_on(*self._goings.pop())
            else:
                node, start, cont = self._calls.pop()
                self._begin(node, start)
                self._conts[node, start].append(cont)
                for end in self.ends[node, start]:
                    self._resume(cont, end)

    def _begin(self, node: int, start: int) -> None:
        if (node, start) in self.ends:
            return
        self.ends[node, start] = {}
        self._conts[node, start] = []
        kind = self.graph.kind[node]
        if kind == LEAF:
            self.ends[node, start] = dict.fromkeys(
                end for own in self.leaf(node, start) for end in self.skipped(own)
            )
        elif kind == CHOICE or kind == RULE:
            for arm in self.graph.below[node]:
                self._calls.append((arm, start, (node, start, 0)))
        else:
            self._resume((node, start, 0), start)

    def _resume(self, cont: _Cont, at: int) -> None:
        if (cont, at) not in self._seen:
            self._seen.add((cont, at))
            self._goings.append((cont, at))

    def _go_on(self, cont: _Cont, at: int) -> None:
        node, start, count = cont
        below = self.graph.below[node]
        kind = self.graph.kind[node]
        if kind == SEQUENCE:
            if count < len(below):
                self._calls.append((below[count], at, (node, start, count + 1)))
                return
        elif kind == REPEAT:
            minimum, maximum = bounds(self.graph.about[node])
            if maximum is None or count < maximum:
                after = count + 1 if maximum is not None or count < minimum else count
                self._calls.append((below[0], at, (node, start, after)))
            if count < minimum:
                return
        ends = self.ends[node, start]
        if at not in ends:
            ends[at] = None
            for waiting in self._conts[node, start]:
                self._resume(waiting, at)

    # Terminals

    def leaf(self, node: int, start: int) -> list[int]:
        """Where the terminal itself may end."""
        about = self.graph.about[node]
        if self.spec.whole and isinstance(about, Token) and about.words:
            return [start + len(word) for word in about.words if self.text.startswith(word, start)]
        return sorted(_matches(self.spec.parts[node], self.text, start))

    def skipped(self, at: int) -> list[int]:
        """Where ignored text after a terminal may end, its beginning included."""
        if self.spec.skip is None:
            return [at]
        found = self._skipped.get(at)
        if found is None:
            found = self._skipped[at] = [at, *sorted(_matches(self.spec.skip, self.text, at))]
        return found


def _matches(automaton: Automaton, text: str, start: int) -> set[int]:
    found = set()
    for dfa, forbidden in automaton:
        state: int | None = 0 if dfa.edges else None
        at = start
        while state is not None:
            if state in dfa.accepting and not _begins_with(text, at, forbidden):
                found.add(at)
            state = step(dfa, state, ord(text[at])) if at < len(text) else None
            at += 1
    return found


def _begins_with(text: str, at: int, forbidden: Sequence[tuple[int, int]]) -> bool:
    return at < len(text) and any(low <= ord(text[at]) <= high for low, high in forbidden)


May = Callable[[int], bool]
"""Whether a node may be written at the very span of the node above it."""


class _Tree:
    """One of the trees in a chart."""

    def __init__(self, chart: _Chart, cyclic: set[int]) -> None:
        self.chart = chart
        self.graph = chart.graph
        self.cyclic = cyclic

    def children(self, span: Span, above: frozenset[int]) -> list[Placed]:
        """The nodes right below one, from left to right. `above` has the ancestors of the same span."""
        above = above | {span[0]} if span[0] in self.cyclic else frozenset()
        parts = self._parts(span, lambda node: self._fits((node, *span[1:]), above))
        assert parts is not None
        return [(part, above if part[1:] == span[1:] else frozenset()) for part in parts]

    def own_end(self, span: Span, above: frozenset[int]) -> int:
        """Where a part ends without the ignored text behind it."""
        if self.chart.spec.skip is None:
            return span[2]
        while self.graph.kind[span[0]] != LEAF:
            filled = [placed for placed in self.children(span, above) if placed[0][1] < placed[0][2]]
            if not filled:
                return span[1]
            span, above = filled[-1]
        node, start, end = span
        return max(own for own in self.chart.leaf(node, start) if end in self.chart.skipped(own))

    def _ends(self, item: int, place: int, end: int) -> list[int]:
        return [stop for stop in self.chart.ends.get((item, place), ()) if stop <= end]

    def _parts(self, span: Span, may: May) -> list[Span] | None:
        """The preferred way to make a node of its parts; None if there is none."""
        node, start, end = span
        kind, below = self.graph.kind[node], self.graph.below[node]
        if kind == LEAF:
            return []
        if kind == CHOICE or kind == RULE:
            for arm in below:
                if end in self.chart.ends.get((arm, start), ()) and may(arm):
                    return [(arm, start, end)]
            return None

        def ends(item: int, place: int) -> list[int]:
            found = self._ends(item, place, end)
            if place == start and end in found and not may(item):
                found.remove(end)
            return found

        if kind == SEQUENCE:
            return _series(below, start, end, ends)
        minimum, maximum = bounds(self.graph.about[node])
        return _items(below[0], minimum, maximum, start, end, ends)

    def _fits(self, span: Span, banned: frozenset[int]) -> bool:
        """Whether a node can be written without asking for one of `banned` with the same span."""
        if not banned or span[0] not in self.cyclic:
            return True
        return span[0] not in banned and self._apart(span, banned)

    def _apart(self, span: Span, banned: frozenset[int]) -> bool:
        """`_fits` in a cycle of nodes: those that need none of `banned`, by least fixed point."""
        start, end = span[1:]

        def asked(node: int) -> Iterator[int]:
            for inner in self.graph.below[node]:
                if inner in self.cyclic and inner not in banned:
                    if end in self.chart.ends.get((inner, start), ()):
                        yield inner

        nodes = reached([span[0]], asked)
        sure: set[int] = set()
        changed = True
        while changed and span[0] not in sure:
            changed = False
            for node in nodes:
                if (
                    node not in sure
                    and self._parts(
                        (node, start, end), lambda inner: inner not in self.cyclic or inner in sure
                    )
                    is not None
                ):
                    sure.add(node)
                    changed = True
        return span[0] in sure


Ends = Callable[[int, int], list[int]]


def _series(items: Sequence[int], start: int, end: int, ends: Ends) -> list[Span] | None:
    """The parts of a sequence: each as long as it can be, from the left."""
    layers = [{start}]
    for item in items:
        layers.append({stop for place in layers[-1] for stop in ends(item, place)})
    if end not in layers[-1]:
        return None
    alive = [{end}]
    for item, layer in zip(reversed(items), reversed(layers[:-1]), strict=True):
        goal = alive[-1]
        alive.append({place for place in layer if not goal.isdisjoint(ends(item, place))})
    found = []
    place = start
    for item, goal in zip(items, alive[-2::-1], strict=True):
        stop = max(goal.intersection(ends(item, place)))
        found.append((item, place, stop))
        place = stop
    return found


def _items(
    item: int, minimum: int, maximum: int | None, start: int, end: int, ends: Ends
) -> list[Span] | None:
    """The items of a repetition: each as long as it can be, empty ones only where the count needs them."""
    most = minimum if maximum is None else maximum
    full = (2 << most) - 1
    places = {start: ends(item, start)}
    waiting = [start]
    while waiting:
        for stop in places[waiting.pop()]:
            if stop not in places:
                places[stop] = ends(item, stop)
                waiting.append(stop)
    # By place the numbers of items that may follow it, as bits; without a maximum the highest means more.
    counts: dict[int, int] = {}
    for place in sorted(places, reverse=True):
        bits = 1 if place == end else 0
        for stop in places[place]:
            if stop > place:
                after = counts[stop] << 1
                bits |= after & full
                if maximum is None and after > full:
                    bits |= 1 << most
        if place in places[place] and bits:
            bits = full & -(bits & -bits)
        counts[place] = bits
    found: list[Span] = []
    place = start
    if not _within(counts[start], minimum, maximum):
        return None
    while place != end or len(found) < minimum:
        least = max(minimum - len(found) - 1, 0)
        left = None if maximum is None else maximum - len(found) - 1
        stop = max(stop for stop in places[place] if _within(counts[stop], least, left))
        found.append((item, place, stop))
        place = stop
    return found


def _within(bits: int, least: int, most: int | None) -> bool:
    """Whether one of the numbers lies in between."""
    if most is not None:
        bits &= (2 << most) - 1 if most >= 0 else 0
    return bool(bits >> least)


def _cyclic(graph: Graph) -> set[int]:
    """At least all nodes that can be written by themselves alone."""
    units: dict[int, list[int]] = {}
    for node, below in enumerate(graph.below):
        if graph.kind[node] == SEQUENCE:
            needed = [item for item in below if not graph.nullable[item]]
            below = tuple(below if not needed else needed if len(needed) == 1 else ())
        units[node] = list(dict.fromkeys(below))
    return units.keys() - successors_first(units)
