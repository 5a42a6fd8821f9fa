"""The bytes with which the text behind a place may begin, without opening what stands there.

Walks ask for them at every place where a leaf may end, mostly to learn that no token goes on there. The sets
of a grammar's parts (FIRST of Lewis and Stearns, 1968) do not depend on what follows them, so they are found
once for each part; a closure is made only where some token has read on.

Sets are numbers of 256 bits. None stands for a part that has to be opened to be known: one that looks ahead,
or keeps something in mind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sglc.automata.charset import leading_bytes
from sglc.kernels.subtrees import UNBOUNDED
from sglc.runtime.mask.byte_sets import packed
from sglc.runtime.mask.case_nodes import CaseNode
from sglc.runtime.mask.nodes import Alternatives, Literal, Repetition, RuleNode, Series
from sglc.runtime.mask.text_nodes import TextNode
from sglc.runtime.mask.word_nodes import WordNode

if TYPE_CHECKING:
    from sglc.runtime.mask.joining import JoiningMachine
    from sglc.runtime.mask.node import Node


_NONE: Sequence[int] = ()


class Beginnings:
    """The sets of one machine's nodes and continuations."""

    def __init__(self, machine: JoiningMachine) -> None:
        self._machine = machine
        self._nodes: dict[int, int | None] = {}
        self._conts: dict[int, int | None] = {0: 0}

    def behind(self, cont: int) -> int | None:
        """The bytes at a continuation."""
        known = self._conts
        if cont in known:
            return known[cont]
        found = 0
        seen = {cont}
        waiting = [cont]
        while waiting:
            here = waiting.pop()
            part, further = (known[here], _NONE) if here in known else self._frame(here)
            if part is None:
                known[cont] = None
                return None
            found |= part
            for each in further:
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
        known[cont] = found
        return found

    def _frame(self, cont: int) -> tuple[int | None, Sequence[int]]:
        """The bytes of a frame itself, and the continuations that may come at once."""
        node, state, after = self._machine.frame(cont)
        if type(node) is Series:
            return self.of(node.rest), (after,) if node.rest.nullable else ()
        if type(node) is Repetition:
            return self._repeated(node, state, after)
        joint = self._machine.joined_in(cont)
        if joint is not None:
            return 0, joint
        rest = node.resumes_with(state)
        return (None, ()) if rest is None else (rest[0], (after,) if rest[1] else ())

    def _repeated(self, node: Repetition, state: int, after: int) -> tuple[int | None, Sequence[int]]:
        item, separator = node.item, node.separator.data
        if item.nullable and separator:
            return None, ()
        if state < 0:
            return self.of(item), ()
        over = (after,) if state >= node.needed else ()
        if not item.productive or (node.maximum is not None and state >= node.maximum):
            return 0, over
        return (1 << separator[0] if state and separator else self.of(item)), over

    def of(self, node: Node) -> int | None:
        """The bytes with which words of a node begin."""
        known = self._nodes
        stack = [node]
        opened: set[int] = set()
        while stack:
            here = stack[-1]
            if here.index in known:
                stack.pop()
                continue
            leading = _leading(here)
            if leading is None:
                known[here.index] = self._leaf(here)
                continue
            missing = [each for each in leading if each.index not in known]
            if not missing:
                parts = [known[each.index] for each in leading]
                found: int | None = 0
                for part in parts:
                    found = None if part is None or found is None else found | part
                known[here.index] = found
            elif here.index in opened:
                # It comes back to itself: closures have to say.
                known[here.index] = None
            else:
                opened.add(here.index)
                stack += missing
        return known[node.index]

    def _leaf(self, node: Node) -> int | None:
        if type(node) is RuleNode and node.begins is not None:
            return node.begins()
        if type(node) is Literal:
            return 1 << node.data[0] if node.data else 0
        if type(node) is WordNode and not node.table.free:
            return sum([1 << byte for byte in node.set.children(node.set.root)])
        if type(node) is CaseNode:
            return sum([1 << byte for byte in node.set.children(node.set.root)])
        if type(node) is TextNode and node.first is not None:
            if node.table.encoding == "raw" and node.first[1] == 0 and node.first[2] is None:
                return leading_bytes((low, high) for low, high, _ in node.table.dfa.edges[node.first[0]])
            place = node.leaf(self._machine, node.first)
            if place is not None:
                most = UNBOUNDED if place.most is None else place.most
                return packed(place.table.first(place.state, place.least, most))
        return None


def _leading(node: Node) -> Sequence[Node] | None:
    """The nodes with which a node may begin; None for those that are no compositions of others."""
    if type(node) is Series:
        if not node.productive:
            return ()
        return (node.first, node.rest) if node.first.nullable else (node.first,)
    if type(node) is Alternatives:
        return [arm for arm in node.arms if arm.productive]
    if type(node) is RuleNode:
        if not node.made and node.begins is not None:
            return None
        body = node.make()
        return () if body is None or not node.productive else (body,)
    if type(node) is Repetition and not (node.item.nullable and node.separator.data):
        return (node.item,) if node.item.productive and node.maximum != 0 else ()
    return None
