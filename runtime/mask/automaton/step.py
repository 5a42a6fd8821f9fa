"""Steps of configurations without rows: threads at one place of one lexeme are taken together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sglc.automata.work import spend
from sglc.kernels.trie.api import UNBOUNDED
from sglc.kernels.trie.walks import BOUNDARY, ENDS
from sglc.runtime.mask.lexeme.table import PLAIN, PLAIN_RUN, LexemeState

if TYPE_CHECKING:
    from sglc.runtime.mask.automaton.machine import Machine
    from sglc.runtime.mask.automaton.protocol import Node, Worklist

_ACCEPT, _DEAD = 0, 0
_OF_STEP = 5
"""Units of work of reading on from a thread."""


class Group(NamedTuple):
    """The threads of a configuration that are at one place of one lexeme, before different continuations."""

    node: Node
    state: Any
    conts: tuple[int, ...]
    run: bytes
    """`Node.forced_run` of the state."""
    lexeme: LexemeState | None

    def behind(self, machine: Machine) -> int:
        """The configuration after the forced run."""
        if len(self.conts) == 1:
            return self.node.behind(machine, self.state, self.conts[0])
        return machine.join([self.node.behind(machine, self.state, cont) for cont in self.conts])

    def opens_behind(self, machine: Machine) -> Worklist | None:
        """The same as what is opened there, see `Node.opens_behind`."""
        if len(self.conts) == 1:
            return self.node.opens_behind(machine, self.state, self.conts[0])
        found: Worklist = []
        for cont in self.conts:
            some = self.node.opens_behind(machine, self.state, cont)
            if some is None:
                return None
            found += some
        return found

    def follow(self, machine: Machine) -> np.ndarray:
        """bool[256]: the bytes with which the text after the lexeme may begin."""
        if len(self.conts) == 1:
            return self.node.follow(machine, self.state, self.conts[0])
        found = np.zeros(256, bool)
        for cont in self.conts:
            found |= self.node.follow(machine, self.state, cont)
        return found

    def key(self, machine: Machine) -> tuple[bytes, ...]:
        """What is asked of the text after the lexeme."""
        follow = self.follow(machine).tobytes()
        if self.node.follow_by_label:
            return follow, *[row.tobytes() for row in self.behind_all(machine)]
        return (follow,)

    def follow_of(self, machine: Machine, label: int) -> np.ndarray | None:
        """bool[256]: the same after words that end with a label; None where it is not known."""
        found, empty = self.node.follow_of(label)
        if found is not None and empty:
            for row in self.behind_all(machine):
                found = found | row
        return found

    def behind_all(self, machine: Machine) -> list[np.ndarray]:
        """bool[256]: the bytes at each of the continuations."""
        return [machine.first_after(cont) for cont in self.conts]

    def leave(self, machine: Machine, label: int, data: bytes | None = None) -> int:
        """The configuration after a word of the lexeme, see `Node.leave`."""
        if len(self.conts) == 1:
            return self.node.leave(machine, self.state, self.conts[0], label, data)
        return machine.join([self.node.leave(machine, self.state, cont, label, data) for cont in self.conts])


def groups(machine: Machine, config: int) -> tuple[Group, ...]:
    """The threads of a configuration but acceptance, by lexeme and state."""
    threads = machine.configs[config]
    if machine.joins or len(threads) == 1:
        return alone(machine, threads)
    conts: dict[tuple[int, Hashable], list[int]] = {}
    nodes: dict[int, Node] = {}
    for thread in threads:
        if thread != _ACCEPT:
            node, state, cont = machine.place(thread)
            conts.setdefault((node.index, state), []).append(cont)
            nodes[node.index] = node
    found = []
    for (index, state), some in conts.items():
        node = nodes[index]
        run = node.forced_run(state)
        found.append(Group(node, state, tuple(some), run, None if run else node.lexeme(machine, state)))
    return tuple(found)


def alone(machine: Machine, threads: Iterable[int]) -> tuple[Group, ...]:
    """Threads but acceptance of which each is the only one at its place."""
    found = []
    for thread in threads:
        if thread != _ACCEPT:
            node, state, cont = machine.place(thread)
            run = node.forced_run(state)
            found.append(Group(node, state, (cont,), run, None if run else node.lexeme(machine, state)))
    return tuple(found)


def first(machine: Machine, config: int) -> np.ndarray:
    """bool[256]: the bytes that may come next."""
    found = np.zeros(256, bool)
    for group in machine.groups(config):
        place = group.lexeme
        if group.run:
            found[group.run[0]] = True
        elif place is not None:
            most = UNBOUNDED if place.most is None else place.most
            found |= place.table.first(place.state, place.least, most, place.open)
            if place.table.eager and _ends_at_once(machine, group, place):
                found |= group.follow(machine)
        else:
            for cont in group.conts:
                found |= group.node.first_bytes(machine, group.state, cont)
    return found


def advance(machine: Machine, config: int, data: bytes) -> int:
    """The configuration after bytes: every lexeme is read as far as it goes.

    What follows lexemes at one position goes on together, else an ambiguous text would be read once for each
    of its ways.
    """
    size = len(data)
    if not size or config == _DEAD:
        return config
    landed: list[int] = []
    pending: dict[int, list[int]] = {}
    opened: dict[int, Worklist] = {}
    at, here = 0, config
    while True:
        machine.effort += len(machine.configs[here])
        spend(_OF_STEP * len(machine.configs[here]))
        groups = machine.groups(here)
        for group in groups:
            if group.run:
                after = _read_run(machine, group, data, at, landed, opened if len(groups) > 1 else None)
            elif group.lexeme is not None:
                after = _read_lexeme(machine, group, group.lexeme, data, at, landed)
            else:
                node, state = group.node, group.state
                after = [(node.move(machine, state, cont, data[at]), at + 1) for cont in group.conts]
            for behind, end in after:
                if end == size:
                    landed.append(behind)
                elif behind != _DEAD:
                    pending.setdefault(end, []).append(behind)
        if opened:
            # What several runs lead to at once is opened once.
            for end, work in opened.items():
                some = landed if end == size else pending.setdefault(end, [])
                some.append(machine.opened(work))
            opened.clear()
        if not pending:
            return machine.join(landed)
        at = min(pending)
        here = machine.join(pending.pop(at))


def _read_run(
    machine: Machine,
    group: Group,
    data: bytes,
    at: int,
    landed: list[int],
    opened: dict[int, Worklist] | None,
) -> list[tuple[int, int]]:
    """As `_read_lexeme`; what is opened behind the run is added to `opened` at its end, if that is kept."""
    run, node = group.run, group.node
    end = at + len(run)
    if end > len(data):
        if run.startswith(data[at:]):
            state = node.skip(group.state, len(data) - at)
            landed += [machine.alone(machine.thread(node, state, cont)) for cont in group.conts]
        return []
    if not data.startswith(run, at):
        return []
    work = None if opened is None else group.opens_behind(machine)
    if opened is None or work is None:
        return [(group.behind(machine), end)]
    opened.setdefault(end, []).extend(work)
    return []


def _read_lexeme(
    machine: Machine, group: Group, place: LexemeState, data: bytes, at: int, landed: list[int]
) -> list[tuple[int, int]]:
    """Adds the configurations at the end of the data inside the lexeme; the places where that is left."""
    node, state = group.node, group.state
    table, local, least = place.table, place.state, place.least
    most = UNBOUNDED if place.most is None else place.most
    if least > 0 or place.most is not None:
        table.measure()
    forbidden = node.forbidden(machine, state)
    follow: np.ndarray | None = None
    left: list[tuple[int, int]] = []
    taken = 0
    table.meet()
    flags = table.flags
    size = len(data)
    runs = table.encoding != "raw"
    position = at
    while position < size:
        byte = data[position]
        if (position > at or table.eager) and flags[local] & ENDS and taken >= least:
            if follow is None:
                follow = group.follow(machine)
            if follow[byte] and not (forbidden is not None and forbidden(data[at:position])):
                left.append((group.leave(machine, table.label(local), data[at:position]), position))
        after = None
        if runs and (plain := PLAIN_RUN.match(data, position)) is not None:
            if follow is None:
                follow = group.follow(machine)
            runs = not int.from_bytes(follow.tobytes(), "little") & PLAIN
            after = table.run(local, plain.group().decode()) if runs else None
        if after is not None and plain is not None:
            local, position = after, plain.end()
            taken += plain.end() - plain.start() - 1
        else:
            local = table.step(local, byte)
            position += 1
        if local < 0:
            return left
        if local >= len(flags):
            table.meet()
        taken += flags[local] & BOUNDARY
        if not table.alive(local, least - taken, most - taken, place):
            return left
    landed += [node.land(machine, state, cont, local, taken, data[at:]) for cont in group.conts]
    return left


def _ends_at_once(machine: Machine, group: Group, place: LexemeState) -> bool:
    """Whether a lexeme may be left where it is."""
    if not place.table.flags[place.state] & ENDS or place.least > 0:
        return False
    forbidden = group.node.forbidden(machine, group.state)
    if forbidden is not None and forbidden(b""):
        return False
    return group.leave(machine, place.table.label(place.state), b"") != _DEAD
