"""The bytes with which texts of a grammar's nodes begin, as bits (FIRST of Lewis and Stearns, 1968).

They decide whether a token can go on where a terminal has ended, without making a term.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sglc.automata.charset import leading_bytes
from sglc.automata.term import CharDfa
from sglc.cfg.lexer.lexical_spec import LexicalSpec
from sglc.cfg.lexer.terminals import Token
from sglc.cfg.model.graph import CHOICE, LEAF, REPEAT, RULE, SEQUENCE, Graph

_ALL = (1 << 256) - 1


class FirstBytes:
    """First bytes of the nodes of a graph without left recursion, found at first use.

    A superset: lookahead of terminals is ignored.
    """

    def __init__(self, graph: Graph, spec: LexicalSpec) -> None:
        self._graph = graph
        self._parts = spec.parts
        self._skip = sum_of([dfa for dfa, _ in spec.skip or ()])
        self._known: dict[int, int] = {}

    def of(self, node: int) -> int:
        known = self._known
        stack = [node]
        begun: set[int] = set()
        while stack:
            here = stack[-1]
            if here in known:
                stack.pop()
                continue
            leading = self._leading(here)
            missing = [inner for inner in leading if inner not in known]
            if missing and here in begun:
                known[here] = _ALL
            elif missing:
                begun.add(here)
                stack += missing
            if missing:
                continue
            found = self._leaf(here) if self._graph.kind[here] == LEAF else 0
            for inner in leading:
                found |= known[inner]
            known[here] = found
        return known[node]

    def _leading(self, node: int) -> Sequence[int]:
        """The nodes below one with which it may begin."""
        graph = self._graph
        kind, below = graph.kind[node], graph.below[node]
        if kind == SEQUENCE:
            for number, item in enumerate(below):
                if not graph.nullable[item]:
                    return below[: number + 1]
        return below if kind in (SEQUENCE, CHOICE, REPEAT, RULE) else ()

    def behind(self, ways: Iterable[Sequence[int]]) -> int:
        """What may come behind a terminal: ignored text, then one of some sequences."""
        found = self._skip
        for items in ways:
            for item in items:
                found |= self.of(item)
                if not self._graph.nullable[item]:
                    break
        return found

    def of_any(self) -> int:
        """The bytes with which any of the terminals begins."""
        found = self._skip
        for node in self._parts:
            found |= self._leaf(node)
        return found

    def _leaf(self, node: int) -> int:
        about = self._graph.about[node]
        if isinstance(about, Token) and about.exact:
            return 1 << about.exact.encode()[0]
        found = sum_of([dfa for dfa, _ in self._parts[node]])
        return found | self._skip if self._graph.nullable[node] else found


def sum_of(automata: Sequence[CharDfa]) -> int:
    found = 0
    for dfa in automata:
        if dfa.edges:
            found |= leading_bytes((low, high) for low, high, _ in dfa.edges[0])
    return found
