"""A machine that keeps ambiguous grammars small: equal places before different continuations are one place.

Where several alternatives ask for the same rule at the same place (`"(" expr ")"` and `"(" tuple ")"` nested
in each other), each has a continuation of its own, and threads would double with every bracket. Here a rule
is opened once, before the *merged continuation* of all continuations, which goes on with each of them; and
threads that read the same place of the same lexeme are one thread before that of theirs. So a configuration
has no more threads than the grammar has places, as item sets of Earley (1970) point at sets of parents, and
as Tomita's graph-structured stack (1985) joins its tops.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NoReturn

import numpy as np

from sglc.automata.caches import LeastUsed
from sglc.automata.work import spend
from sglc.runtime.mask.automaton.machine import Machine, repeated
from sglc.runtime.mask.automaton.positions import HALF
from sglc.runtime.mask.automaton.protocol import ACCEPT, END, Node, Worklist
from sglc.runtime.mask.core.byte_sets import unpacked
from sglc.runtime.mask.core.intern_table import Interned
from sglc.runtime.mask.gss.first_sets import FirstSets
from sglc.runtime.mask.nodes.core import RuleNode

_OF_OPENED = 3
"""Units of work of what a closure opens."""


class MergedContinuation(Node):
    """A frame whose state is a set of continuations, in order; it goes on with each of them."""

    def resume(
        self, machine: Machine, state: tuple[int, ...], cont: int, work: Worklist, out: set[int]
    ) -> None:
        """Resume each of the continuations in its state; `cont` plays no part."""
        work += [(None, each) for each in state]


class GssMachine(Machine):
    """See the module."""

    joins = True

    def __init__(self, *, of_grammars: bool = False) -> None:
        super().__init__(of_grammars=of_grammars)
        self.merged = MergedContinuation()
        self.register(self.merged)
        self._beginnings = FirstSets(self)
        self._opened: Interned[int, tuple[tuple[int, int], ...]] = Interned()
        """By continuation: the rules that its closure has opened, and before which continuation."""
        self._opened_at_once: Interned[tuple[tuple[int, int], ...], int] = Interned()
        """By nodes and continuations: what is before all of them."""
        self._first_after: LeastUsed[int, np.ndarray] = LeastUsed(size=attrgetter("nbytes"))
        self._begin_rows: dict[int, np.ndarray] = {}

    def first_after(self, cont: int) -> np.ndarray:
        """As the machine's own, by FIRST sets where these are known, so that nothing is opened."""
        found = self._first_after.get(cont)
        if found is None:
            known = self._beginnings.behind(cont)
            if known is None:
                found = self.first(self.after(cont))
            else:
                found = self._begin_rows.get(known)
                if found is None:
                    found = self._begin_rows[known] = unpacked(known)
            self._first_after.keep(cont, found)
        return found

    def first_of(self, node: Node) -> tuple[int, bool] | None:
        """The bytes (256 bits) with which words of a node begin, and whether it may be empty, if known."""
        found = self._beginnings.of(node)
        return None if found is None else (found.bytes, bool(found.empty))

    def joined_in(self, cont: int) -> tuple[int, ...] | None:
        """The continuations of a merged one; None if this is none."""
        node, state, _ = self.frame(cont)
        return state if node is self.merged else None

    def joined(self, conts: Sequence[int]) -> int:
        """The continuation that goes on with each of some continuations."""
        if len(conts) == 1:
            return conts[0]
        flat: set[int] = set()
        for cont in conts:
            if cont != END:
                node, state, _ = self.frame(cont)
                if node is self.merged:
                    flat.update(state)
                    continue
            flat.add(cont)
        if len(flat) == 1:
            return flat.pop()
        return self.cont(self.merged, tuple(sorted(flat)), END)

    def opened(self, work: Worklist) -> int:
        """As the machine's own, by one closure: each node is opened once, before a merged continuation."""
        if len(work) == 1:
            node, cont = work[0]
            return self.after(cont) if node is None else self.begin(node, cont)
        # One closure for all that a node is followed by, and one place for each of its own.
        conts: dict[int, list[int]] = {}
        for node, cont in work:
            conts.setdefault(-1 if node is None else node.index, []).append(cont)
        key = tuple([(index, self.joined(some)) for index, some in conts.items()])
        found = self._opened_at_once.get(key)
        if found is None:
            every: Worklist = [(None if index < 0 else self.nodes[index], cont) for index, cont in key]
            found = super().opened(every) if len(every) == 1 else self._close(every)
            self._opened_at_once[key] = found
        return found

    def _graft_frame(self, node: Node, state: Any, behind: int, cont: int) -> int:
        if node is self.merged:
            return self.joined([self._grafted(each, cont) for each in state])
        return super()._graft_frame(node, state, behind, cont)

    def _new(self, key: tuple[int, ...]) -> int:
        normal = self._normalised(key) if len(key) > 1 else key
        return super()._new(key) if normal is key else self.config(normal)

    def _normalised(self, threads: tuple[int, ...]) -> tuple[int, ...]:
        known = self._threads
        # Mostly all are at different places.
        nodes, states = known.nodes, known.states
        if len({nodes[thread] << HALF | states[thread] for thread in threads}) == len(threads):
            return threads
        conts: dict[tuple[int, int], list[int]] = {}
        for thread in threads:
            if thread != ACCEPT:
                conts.setdefault((nodes[thread], states[thread]), []).append(known.conts[thread])
        found = [ACCEPT] if threads[0] == ACCEPT else []
        for (index, state), some in conts.items():
            cont = some[0] if len(some) == 1 else self.joined(some)
            found.append(self.thread(self.nodes[index], self._states.known[state], cont))
        return tuple(found)

    def _close(self, work: Worklist) -> int:
        """As the machine's own, until a rule is asked for before a second continuation."""
        begun = list(work)
        out: set[int] = set()
        seen: set[int] = set()
        opened: dict[int, int] = {}
        least: dict[tuple[int, int], int] = {}
        while work:
            node, cont = work.pop()
            # Pairs are one number, as in the machine: continuations are resumed by themselves.
            key = cont if node is None else node.index + 1 << HALF | cont
            if key in seen:
                continue
            seen.add(key)
            spend(_OF_OPENED)
            if node is not None:
                if type(node) is RuleNode and opened.setdefault(node.index, cont) != cont:
                    return _Closure(self, begun).config()
                node.open(self, cont, work, out)
            elif cont == END:
                out.add(ACCEPT)
            else:
                frame, state, following = self.frame(cont)
                if frame.repeats_nothing:
                    if repeated(least, frame, state, following):
                        continue
                elif cont in self._opened:
                    # What has been found there is a part of this, if it needs no rule before another one.
                    for rule, before in self._opened[cont]:
                        if opened.setdefault(rule, before) != before:
                            return _Closure(self, begun).config()
                    known = self._after[cont]
                    out.update(self.configs[known])
                    continue
                frame.resume(self, state, following, work, out)
        found = self.config(out)
        if begun[0][0] is None and len(begun) == 1:
            self._after[begun[0][1]] = found
            self._opened[begun[0][1]] = tuple(opened.items())
        return found


@dataclass(slots=True)
class _Opened:
    """A rule that has been opened: the continuations it was asked for before, and whether it may be empty."""

    place: int
    conts: dict[int, None] = field(default_factory=dict)
    ended: bool = False


class _NotHere(Exception):
    """A node asks for more of the machine than the places of an unfinished closure can give."""


class _Closure:
    """A closure with places of its own, negative numbers, until all continuations of its rules are known.

    It is given to nodes in place of the machine, and knows what they need to open and resume.
    """

    def __init__(self, machine: GssMachine, work: Worklist) -> None:
        self._machine = machine
        self._work = work
        self._places: list[tuple[Node, Hashable, int] | _Opened] = []
        self._known: dict[tuple[int, Hashable, int], int] = {}
        self._rules: dict[int, _Opened] = {}
        self._local: list[tuple[Node, Hashable, int]] = []
        self._out: set[int] = set()
        self._deferred: list[tuple[Node | None, int]] = []
        """Nodes to open before continuations, or (None) continuations to resume, when places are known."""
        self._resolved: dict[int, int] = {}

    # What nodes ask for

    def cont(self, node: Node, state: Hashable, after: int) -> int:
        if after >= 0:
            return self._machine.cont(node, state, after)
        key = (node.index, state, after)
        found = self._known.get(key)
        if found is None:
            self._places.append((node, state, after))
            found = self._known[key] = -len(self._places)
        return found

    def thread(self, node: Node, state: Hashable, cont: int) -> int:
        if cont >= 0:
            return self._machine.thread(node, state, cont)
        self._local.append((node, state, cont))
        return -len(self._local)

    def __getattr__(self, name: str) -> NoReturn:
        raise _NotHere(name)

    # The closure

    def config(self) -> int:
        machine = self._machine
        work = self._work
        seen: set[tuple[int, int]] = set()
        least: dict[tuple[int, int], int] = {}
        while work:
            node, cont = work.pop()
            if node is not None and type(node) is RuleNode:
                self._open_rule(node, cont)
                continue
            key = (-1 if node is None else node.index, cont)
            if key in seen:
                continue
            seen.add(key)
            spend(_OF_OPENED)
            if node is not None:
                self._open(node, cont)
            elif cont == END:
                self._out.add(ACCEPT)
            else:
                place = machine.frame(cont) if cont > 0 else self._places[-cont - 1]
                if isinstance(place, _Opened):
                    place.ended = True
                    work += [(None, each) for each in place.conts]
                    continue
                frame, state, following = place
                if not (frame.repeats_nothing and repeated(least, frame, state, following)):
                    self._resume(frame, state, following, cont)
        return self._finish()

    def _resume(self, frame: Node, state: Hashable, following: int, cont: int) -> None:
        waiting, made = len(self._work), len(self._local)
        try:
            frame.resume(self, state, following, self._work, self._out)  # type: ignore[arg-type]
        except _NotHere:
            del self._work[waiting:]
            del self._local[made:]
            self._deferred.append((None, cont))

    def _open_rule(self, rule: RuleNode, cont: int) -> None:
        opened = self._rules.get(rule.index)
        if opened is None:
            opened = _Opened(-len(self._places) - 1)
            self._places.append(opened)
            self._rules[rule.index] = opened
            body = rule.make()
            if rule.productive and body is not None:
                self._work.append((body, opened.place))
        if cont not in opened.conts:
            opened.conts[cont] = None
            if opened.ended:
                self._work.append((None, cont))

    def _open(self, node: Node, cont: int) -> None:
        work: Worklist = []
        out: set[int] = set()
        made = len(self._local)
        try:
            node.open(self, cont, work, out)  # type: ignore[arg-type]
        except _NotHere:
            del self._local[made:]
            self._deferred.append((node, cont))
            return
        self._work += work
        self._out |= out

    def _finish(self) -> int:
        machine = self._machine
        threads = {thread for thread in self._out if thread >= 0}
        for node, state, cont in self._local:
            threads.add(machine.thread(node, state, self._resolve(cont)))
        for part, place in self._deferred:
            cont = self._resolve(place)
            threads.update(
                machine.configs[machine.after(cont) if part is None else machine.begin(part, cont)]
            )
        return machine.config(threads)

    def _resolve(self, cont: int) -> int:
        """The machine's continuation for one of this closure; those it needs come first."""
        resolved = self._resolved
        stack = [cont]
        while stack:
            here = stack[-1]
            if here >= 0 or here in resolved:
                stack.pop()
                continue
            place = self._places[-here - 1]
            needs = list(place.conts) if isinstance(place, _Opened) else [place[2]]
            missing = [each for each in needs if each < 0 and each not in resolved]
            if missing:
                stack += missing
                continue
            found = [each if each >= 0 else resolved[each] for each in needs]
            if isinstance(place, _Opened):
                resolved[here] = found[0] if len(found) == 1 else self._machine.joined(found)
            else:
                resolved[here] = self._machine.cont(place[0], place[1], found[0])
            stack.pop()
        return cont if cont >= 0 else resolved[cont]
