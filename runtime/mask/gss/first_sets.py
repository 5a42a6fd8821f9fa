"""The bytes with which the text behind a place may begin, without opening what stands there.

Walks ask for them at every place where a lexeme may end, mostly to learn that no token goes on there. The
sets of a grammar's parts (FIRST of Lewis and Stearns, 1968) do not depend on what follows them, so they are
found once for each part; a closure is made only where some token has read on.

Where a part looks ahead, some characters are *forbidden* from what comes next. So parts have sets by what is
forbidden before them, and say with what is forbidden behind them they may be empty.

Sets are numbers of 256 bits, and hold at least the bytes that may come. None stands for a part that has to be
opened to be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sglc.automata import charset
from sglc.automata.charset import Ranges, leading_bytes
from sglc.automata.work import spend
from sglc.kernels.trie.api import UNBOUNDED
from sglc.runtime.mask.automaton.protocol import END, Node
from sglc.runtime.mask.core.byte_sets import packed
from sglc.runtime.mask.core.intern_table import Interned
from sglc.runtime.mask.nodes.core import Alternatives, Literal, Repetition, RuleNode, Series
from sglc.runtime.mask.nodes.dispatch import CaseNode
from sglc.runtime.mask.nodes.text import TextNode
from sglc.runtime.mask.nodes.words import WordNode

if TYPE_CHECKING:
    from sglc.runtime.mask.gss.machine import GssMachine

_ASCII: Ranges = ((0, 0x7F),)
_Asked = tuple[Node, int]
"""(a node, the number of what is forbidden before it)."""


class _First(NamedTuple):
    """The bytes with which the words of a part begin, and what is forbidden behind it where it is empty."""

    bytes: int
    empty: frozenset[int]


_NEVER: frozenset[int] = frozenset()
_NOTHING = _First(0, _NEVER)
_COMPOSED = frozenset((Series, Alternatives, Repetition, RuleNode))
"""Nodes whose sets are those of others."""
_UNKNOWN = _First(-1, _NEVER)


class FirstSets:
    """The sets of one machine's nodes and continuations."""

    def __init__(self, machine: GssMachine) -> None:
        self._machine = machine
        self._nodes: Interned[tuple[int, int], _First | None] = Interned()
        self._conts: Interned[tuple[int, int], int | None] = Interned()
        self._forbidden: list[Ranges] = [()]
        """Sets of characters by number; 0 is the empty one."""
        self._numbers: dict[Ranges, int] = {(): 0}
        self._unions: Interned[tuple[int, int], int] = Interned()
        self._open_ascii: list[int] = [(1 << 256) - 1]
        """By number: all bytes but characters of the set."""

    def behind(self, cont: int) -> int | None:
        """The bytes at a continuation."""
        known = self._conts
        start = (cont, 0)
        if start in known:
            return known[start]
        found, further = (0, ()) if cont == END else self._frame(*start)
        if found is None or not further:
            known[start] = found
            return found
        seen = {start, *further}
        waiting = list(further)
        while waiting:
            here = waiting.pop()
            spend(2)
            if here[0] == END:
                continue
            part, further = (known[here], ()) if here in known else self._frame(*here)
            if part is None:
                known[start] = None
                return None
            found |= part
            for each in further:
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
        known[start] = found
        return found

    def _frame(self, cont: int, forbidden: int) -> tuple[int | None, Sequence[tuple[int, int]]]:
        """The bytes of a frame itself, and the continuations that may come at once."""
        node, state, after = self._machine.frame(cont)
        if type(node) is Series:
            rest = self.of(node.rest, forbidden)
            return (None, ()) if rest is None else (rest.bytes, [(after, each) for each in rest.empty])
        if type(node) is Repetition:
            return self._repeated(node, state, after, forbidden)
        merged = self._machine.joined_in(cont)
        if merged is not None:
            return 0, [(each, forbidden) for each in merged]
        resumed = node.resumes_with(state)
        if resumed is None:
            return None, ()
        return resumed[0] & self._open_ascii[forbidden], ((after, forbidden),) if resumed[1] else ()

    def _repeated(
        self, node: Repetition, state: int, after: int, forbidden: int
    ) -> tuple[int | None, Sequence[tuple[int, int]]]:
        item, separator = node.item, node.separator.data
        if item.nullable and separator:
            return None, ()
        over: Sequence[tuple[int, int]] = ((after, forbidden),) if state >= max(node.needed, 0) else ()
        if state >= 0:
            if not item.productive or (node.maximum is not None and state >= node.maximum):
                return 0, over
            if state and separator:
                return self._open(node.separator, 1 << separator[0], forbidden), over
        # An item that is empty forbids no less behind it.
        found = self.of(item, forbidden)
        return (None, ()) if found is None else (found.bytes, over)

    def of(self, node: Node, forbidden: int = 0) -> _First | None:
        """What words of a node begin with, where some characters may not come first."""
        known = self._nodes
        if (node.index, forbidden) in known:
            return known[node.index, forbidden]
        stack: list[_Asked] = [(node, forbidden)]
        opened: set[tuple[int, int]] = set()
        while stack:
            here = stack[-1]
            key = (here[0].index, here[1])
            if key in known:
                stack.pop()
                continue
            opened.add(key)
            missing: list[_Asked] = []
            found = self._first(*here, missing)
            if not missing:
                known[key] = found
            elif any((each.index, before) in opened for each, before in missing):
                # It comes back to itself: closures have to say.
                known[key] = None
            else:
                stack += missing
        return known[node.index, forbidden]

    def _first(self, node: Node, forbidden: int, missing: list[_Asked]) -> _First | None:
        """The set of a node from those of its parts; what is not known yet is `missing`."""
        if node.forbidden_next:
            return _First(0, frozenset([self._union(forbidden, self._number(node.forbidden_next))]))
        if type(node) is Series:
            return self._in_turn(node, forbidden, missing) if node.productive else _NOTHING
        if type(node) is Alternatives:
            return self._either([arm for arm in node.arms if arm.productive], forbidden, missing)
        if type(node) is RuleNode and (node.made or node.begins is None):
            body = node.make()
            return self._either([body] if body is not None and node.productive else [], forbidden, missing)
        if type(node) is Repetition:
            if node.item.nullable and node.separator.data:
                return None
            goes_on = node.item.productive and node.maximum != 0
            found = self._either([node.item] if goes_on else [], forbidden, missing)
            if found is None or node.needed:
                return found
            return _First(found.bytes, found.empty | {forbidden})
        read = self._lexeme(node)
        if read is None:
            return None
        return _First(self._open(node, read, forbidden), frozenset([forbidden] if node.nullable else ()))

    def _in_turn(self, node: Series, forbidden: int, missing: list[_Asked]) -> _First | None:
        first = self._either([node.first], forbidden, missing)
        if first is None or missing or not first.empty:
            return first
        found, empty = first.bytes, _NEVER
        for before in first.empty:
            rest = self._either([node.rest], before, missing)
            if rest is None:
                return None
            found, empty = found | rest.bytes, empty | rest.empty
        return _First(found, empty)

    def _either(self, nodes: Iterable[Node], forbidden: int, missing: list[_Asked]) -> _First | None:
        """What is known of all of some nodes together; None if one of them is not to be known."""
        bytes, empty, known = 0, _NEVER, self._nodes
        for node in nodes:
            key = (node.index, forbidden)
            found = known.get(key, _UNKNOWN)
            if found is _UNKNOWN:
                if type(node) in _COMPOSED:
                    missing.append((node, forbidden))
                    continue
                found = known[key] = self._first(node, forbidden, missing)
            if found is None:
                missing.clear()
                return None
            bytes, empty = bytes | found.bytes, empty | found.empty
        return _First(bytes, empty)

    def _lexeme(self, node: Node) -> int | None:
        """The bytes with which the words of a node begin that is no composition of others."""
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
            place = node.lexeme(self._machine, node.first)
            if place is not None:
                most = UNBOUNDED if place.most is None else place.most
                return packed(place.table.first(place.state, place.least, most))
        return None

    # What is forbidden

    def _number(self, these: Ranges) -> int:
        found = self._numbers.get(these)
        if found is None:
            found = self._numbers[these] = len(self._forbidden)
            self._forbidden.append(these)
            self._open_ascii.append(((1 << 256) - 1) & ~leading_bytes(charset.meet(these, _ASCII)))
        return found

    def _union(self, a: int, b: int) -> int:
        if a == b or not b:
            return a
        if not a:
            return b
        found = self._unions.get((a, b))
        if found is None:
            found = self._number(charset.ranges([*self._forbidden[a], *self._forbidden[b]]))
            self._unions[a, b] = found
        return found

    def _open(self, node: Node, read: int, forbidden: int) -> int:
        """The bytes of a lexeme with which characters begin that are not forbidden."""
        if not forbidden or not read:
            return read
        start = node.first if type(node) is TextNode else 0
        characters = None if start is None else node.first_characters(start)
        if characters is None:
            return read & self._open_ascii[forbidden]
        return leading_bytes(charset.without(characters, self._forbidden[forbidden]))
