"""Ahead of time: walk a constraint's machine under a vocabulary and keep what was seen as tables.

The whole automaton is often endless, so a budget of work decides how much of it is followed. First come the
states on some random walks from the start to the end of a text, then all others breadth first; bytes that
are forced count as no step. Every state that is kept has its whole mask, and all its tokens are followed at
once by going down the trie level by level, so that tokens are grouped by the state they lead to.

Nothing depends on the time or on the computer: the same constraint and vocabulary give the same bytes.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from random import Random

import numpy as np

from sglc.automata.term import Language
from sglc.kernels.bitmask.sampling import count_bits
from sglc.runtime.mask.artifact import tables as ft
from sglc.runtime.mask.artifact.token_steps import TokenSteps, byte_tokens
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.automaton.protocol import DEAD, FINAL
from sglc.runtime.mask.constraint import Constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.gss.completion import completion, forced
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

_GROUP = 48
"""Tokens that lead to one state are stored as a mask from this many on: a mask takes 28 bytes and two for
each token, pairs take four; but masks are looked at one after the other, and pairs are found by
bisection."""
_LONGEST_TEXT = 1 << 12
"""Bytes of a state's forced text, and of its shortest completion. A long text has as many states as tokens,
and each would have all of its rest. Of longer forced text the beginning is stored; longer completions are
left to the machine."""


@dataclass(frozen=True, slots=True)
class TableBudget:
    """How much of a constraint its tables hold.

    states   states that are kept
    effort   nodes of the trie that are looked at; a step of the machine counts as a hundred
    bytes    size of the tables
    branches steps of the machine for one state; beyond that only its tokens of one byte are followed
    walks    random walks that are followed first, each of up to `walk` tokens
    """

    states: int = 1000
    effort: int = 30_000_000
    bytes: int = 1 << 20
    branches: int = 4_000
    walks: int = 12
    walk: int = 80


class NotShared(Exception):
    """Two constraints have states that cannot be shared: each is to have tables of its own."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of a configuration besides its steps; the mask is a number of the pool."""

    config: int
    mask: int
    forced: bytes
    ending: bytes | None


@dataclass(slots=True)
class _State:
    """A state that is kept: what is known of it, the same of the value alone where that is asked, and the
    tokens with the configuration that they lead to and the mask of a large group, the largest group first."""

    facts: _Facts
    alone: _Facts | None
    groups: list[tuple[np.ndarray, int, int]]


def tabulate(
    language: Language,
    vocabulary: Vocabulary,
    options: ConstraintOptions | None = None,
    budget: TableBudget | None = None,
    alone: Language | None = None,
) -> ft.MaskTables:
    """The tables of a constraint. Raises ConstraintError if it cannot be compiled.

    `alone` is the language of a value where `language` is that of the value, a stop and anything: the same
    states are those of both. Raises NotShared where they are not.
    """
    limits = options or ConstraintOptions()
    start = Constraint(language, limits).matcher(vocabulary)
    value = None if alone is None else Constraint(alone, limits).matcher(vocabulary)
    return _Explorer(start, value, vocabulary, budget or TableBudget()).run()


class _Explorer:
    """Follows the machine of `start`, and keeps step with `value`, the matcher of the value alone."""

    def __init__(
        self, start: Matcher, value: Matcher | None, vocabulary: Vocabulary, budget: TableBudget
    ) -> None:
        self.vocabulary = vocabulary
        self.budget = budget
        self.start = start
        self.value = value
        self.machine = start.machine
        self.steps = TokenSteps(start, vocabulary, budget.branches)
        self.masks = _MaskPool(vocabulary.words)
        self.states: list[_State] = []
        self.place: dict[int, int] = {}
        """By configuration: its place among the states that are kept."""
        self.size = 0
        """Bytes of what is kept, a little less."""

    def run(self) -> ft.MaskTables:
        start = self.start.config
        if start not in (DEAD, FINAL):
            random = Random(0)
            try:
                self._keep(start, DEAD if self.value is None else self.value.config)
                for _ in range(self.budget.walks):
                    self._walk(random)
                self._spread()
            except ConstraintError:
                # The machine has come to a limit of the constraint: what there is by now is kept.
                if not self.states:
                    raise
        elif self.value is not None:
            raise NotShared
        if self.value is not None:
            self._hold_together(self.value)
        return self._tables()

    # Which states

    def _full(self) -> bool:
        budget = self.budget
        return (
            len(self.states) >= min(budget.states, ft.most_states(self.vocabulary.size) - 2)
            or self.steps.effort >= budget.effort
            or self.size >= budget.bytes
        )

    def _walk(self, random: Random) -> None:
        here = 0
        for _ in range(self.budget.walk):
            groups = [(ids, to) for ids, to, _ in self.states[here].groups if to not in (DEAD, FINAL)]
            if not groups:
                return
            ids, to = groups[int(random.random() * len(groups))]
            if to not in self.place:
                if self._full():
                    return
                self._keep(to, self._alone_after(here, ids))
            here = self.place[to]

    def _spread(self) -> None:
        """Breadth first; of states at one distance those that more tokens lead to come first."""
        heap: list[tuple[int, int, int, int, int, np.ndarray]] = []
        done: set[int] = set()
        distance = {0: 0}
        order = 0
        pending = [0]
        while not self._full():
            while pending:
                here = pending.pop()
                done.add(here)
                state = self.states[here]
                further = distance[here] + (0 if state.facts.forced else 1)
                for ids, to, _ in state.groups:
                    known = self.place.get(to)
                    if to in (DEAD, FINAL) or known in done:
                        continue
                    order += 1
                    heapq.heappush(heap, (further, -len(ids), order, to, here, ids))
            if not heap:
                return
            further, _, _, to, here, ids = heapq.heappop(heap)
            known = self.place.get(to)
            if known in done:
                continue
            if known is None:
                self._keep(to, self._alone_after(here, ids))
                known = self.place[to]
            distance[known] = further
            pending.append(known)

    # One state

    def _keep(self, config: int, alone: int) -> None:
        """Follow all tokens of a configuration. `alone` is where the value alone is then."""
        row = self.start._store.mask(config, self.start._account).row
        self.place[config] = len(self.states)
        before = self.masks.bytes
        facts = self._facts(self.start, config)
        value = None if self.value is None else self._facts(self.value, alone)
        groups = []
        pairs = 0
        for members, to in self.steps.groups(config, self.vocabulary.unpack(row)):
            large = len(members) >= _GROUP
            groups.append((members, to, self.masks.add(self._row(members)) if large else -1))
            pairs += 0 if large else len(members)
        self.states.append(_State(facts, value, groups))
        self.size += self.masks.bytes - before + 4 * pairs + 4 * (ft.COLUMNS + ft.ALONE_COLUMNS)

    def _facts(self, matcher: Matcher, config: int) -> _Facts:
        if config == DEAD:
            return _Facts(DEAD, self.masks.empty, b"", None)
        machine, account = matcher.machine, matcher._account
        mask = self.masks.add(matcher._store.mask(config, account).row)
        with machine.lock, account:
            ending: bytes | None = completion(machine, config)
        if ending is not None and len(ending) > _LONGEST_TEXT:
            ending = None
        return _Facts(config, mask, forced(machine, config)[:_LONGEST_TEXT], ending)

    def _alone_after(self, here: int, ids: np.ndarray) -> int:
        """Where the value alone is after a state and one of the tokens that lead on to one state."""
        before = self.states[here].alone
        if self.value is None or before is None:
            return DEAD
        return self.value._store.next(before.config, int(ids[0]), self.value._account)

    def _hold_together(self, value: Matcher) -> None:
        """Whether the value alone is at one place wherever a state is reached from, else NotShared.

        All tokens that lead from one state to another must be legal for the value alone, or none.
        """
        for here, state in enumerate(self.states):
            assert state.alone is not None
            legal = self.masks.row(state.alone.mask)
            for ids, to, _ in state.groups:
                flags = legal[ids >> 5] >> (ids & 31) & 1
                some = bool(flags.any())
                if some and not flags.all():
                    raise NotShared
                place = self.place.get(to)
                if place is None:
                    continue
                found = self.states[place].alone
                if found is None or found.config != (self._alone_after(here, ids) if some else DEAD):
                    raise NotShared

    def _row(self, ids: np.ndarray) -> np.ndarray:
        flags = np.zeros(self.vocabulary.size, bool)
        flags[ids] = True
        return self.vocabulary.pack(flags)

    # Tables

    def _tables(self) -> ft.MaskTables:
        number = {DEAD: ft.DEAD, FINAL: ft.FINAL}
        number.update((config, place + 2) for config, place in self.place.items())
        text = _TextPool()
        rows = np.zeros(
            (len(self.states) + 2, ft.COLUMNS + (0 if self.value is None else ft.ALONE_COLUMNS)), np.int32
        )
        rows[:2, ft.MASK] = self.masks.empty
        rows[0, ft.ENDING_SIZE] = -1
        rows[1, ft.FLAGS] = ft.ACCEPTING | ft.ALONE_ACCEPTING | ft.ALONE_FINAL
        if self.value is not None:
            rows[:2, ft.COLUMNS] = self.masks.empty
            rows[0, ft.COLUMNS + ft.ENDING_SIZE - ft.MASK] = -1
        steps: list[np.ndarray] = []
        bits = ft.state_bits(len(rows))
        at = 0
        for place, state in enumerate(self.states, 2):
            row = rows[place]
            if self.machine.accepts(state.facts.config):
                row[ft.FLAGS] |= ft.ACCEPTING
            row[ft.MASK : ft.MASK + ft.ALONE_COLUMNS] = text.columns(state.facts)
            if self.value is not None and state.alone is not None:
                if self.value.machine.accepts(state.alone.config):
                    row[ft.FLAGS] |= ft.ALONE_ACCEPTING
                if state.alone.config == FINAL:
                    row[ft.FLAGS] |= ft.ALONE_FINAL
                row[ft.COLUMNS :] = text.columns(state.alone)
            known = [(ids, number[to], mask) for ids, to, mask in state.groups if to in number]
            large = [(mask, to) for _, to, mask in known if mask >= 0]
            small = [(ids, to) for ids, to, mask in known if mask < 0]
            flat = [np.array(large, np.int32).reshape(-1)]
            if small:
                tokens = np.concatenate([ids for ids, _ in small]).astype(np.int32)
                targets = np.concatenate([np.full(len(ids), to, np.int32) for ids, to in small])
                order = np.argsort(tokens)
                flat.append(tokens[order] << bits | targets[order])
                row[ft.PAIRS] = len(tokens)
            row[ft.STEPS], row[ft.GROUPS] = at, len(large)
            steps += flat
            at += sum(map(len, flat))
        masks, bases, packed = self.masks.arrays()
        return ft.MaskTables(
            self.vocabulary.size,
            number[self.start.config] if self.start.config in number else 2,
            rows,
            masks,
            byte_tokens(self.vocabulary),
            bases,
            np.concatenate(steps) if steps else np.zeros(0, np.int32),
            packed,
            text.array(),
        )


class _MaskPool:
    """Different masks, each as the difference to the base that is nearest.

    Most masks are small, or a large one that occurs often with a few tokens more or less.
    """

    def __init__(self, words: int) -> None:
        self.words = words
        self.bytes = 0
        self._known: dict[bytes, int] = {}
        self._added: list[bytes] = []
        self._bases: list[np.ndarray] = []
        self._rows: list[tuple[int, int, int, int, int]] = []
        self._ids: list[np.ndarray] = []
        self._at = 0
        self.empty = self.add(np.zeros(words, np.int32))

    def row(self, number: int) -> np.ndarray:
        """int32[words]: a mask that was added."""
        return np.frombuffer(self._added[number], np.int32)

    def add(self, row: np.ndarray) -> int:
        key = row.tobytes()
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self._rows)
            self._added.append(key)
            self._rows.append(self._coded(row))
        return found

    def _coded(self, row: np.ndarray) -> tuple[int, int, int, int, int]:
        count = count_bits(row)
        base, least = -1, count
        if least > 64:
            for number, other in enumerate(self._bases):
                different = count_bits(row ^ other)
                if different < least:
                    base, least = number, different
        if 2 * least > 2 * self.words:
            # The list would take more than half of a row: the row becomes a base itself.
            base, least = len(self._bases), 0
            self._bases.append(row.copy())
            self.bytes += 4 * self.words
        self.bytes += 20
        if not least:
            return base, 0, 0, 0, count
        flips = row if base < 0 else row ^ self._bases[base]
        ids = np.flatnonzero(np.unpackbits(flips.astype("<i4").view(np.uint8), bitorder="little"))
        packed, wide = ft.pack_ids(ids)
        place = self._at
        self._ids.append(packed)
        self._at += len(packed)
        self.bytes += packed.nbytes
        return base, place, len(ids), wide, count

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(masks, bases, ids) of the tables."""
        bases = np.array(self._bases, np.int32).reshape(-1, self.words)
        ids = np.concatenate(self._ids) if self._ids else np.zeros(0, np.uint16)
        return np.array(self._rows, np.int32).reshape(-1, 5), bases, ids


class _TextPool:
    """Byte strings one after the other; what is a part of what is there takes no room."""

    def __init__(self) -> None:
        self._data = bytearray()

    def columns(self, facts: _Facts) -> tuple[int, int, int, int, int]:
        """Mask, forced text and shortest completion, as they stand in a row."""
        run = self.add(facts.forced), len(facts.forced)
        ending = (0, -1) if facts.ending is None else (self.add(facts.ending), len(facts.ending))
        return facts.mask, *run, *ending

    def add(self, text: bytes) -> int:
        at = self._data.find(text)
        if at < 0:
            at = len(self._data)
            self._data += text
        return at

    def array(self) -> np.ndarray:
        return np.frombuffer(bytes(self._data), np.uint8)
