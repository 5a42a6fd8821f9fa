"""The parts of an object, and its shortest words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sglc.automata.caches import LeastUsed
from sglc.automata.dfa.operations import MOST_ENTRIES
from sglc.automata.encoding import written
from sglc.automata.json.counters import Vector
from sglc.automata.json.object_plans import cheapest_entries
from sglc.automata.json.object_states import Label, ObjectStates, Outcome, Profile, label_of
from sglc.automata.json.unit_propagation import bits_of
from sglc.automata.term import CharDfa, Counter, Encoding
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import Node
from sglc.runtime.mask.core.errors import LONGEST_COMPLETION, CompletionTooLong
from sglc.runtime.mask.lexeme.escapes import read
from sglc.runtime.mask.lexeme.key_dfa import KeyTable
from sglc.runtime.mask.nodes.core import Literal, Series, measure
from sglc.runtime.mask.nodes.options import Options

Entries = tuple[tuple[int, int], ...]
"""(label, option) of each entry to come."""

_NONE: frozenset[str] = frozenset()
_SOME = 1 << 30
"""A cost that no entry reaches, for what is not known yet."""
_OF_PLAN = 500
"""Bytes of the entries that complete an object, about."""


@dataclass(frozen=True, slots=True)
class ObjectParts:
    """An `Object` term with nodes: options by label, the properties of `names` first, then the families."""

    names: tuple[str, ...]
    families: tuple[CharDfa, ...]
    options: Options
    minimum: int
    maximum: int | None
    clauses: Sequence[Sequence[tuple[int, bool]]]
    """As those of the term, in tuples."""
    counters: tuple[Counter, ...]
    declared: bool
    distinct: bool
    encoding: Encoding
    comma: Node


@dataclass(frozen=True, slots=True)
class OpenKey:
    """A place inside a key, see `object_nodes.ElementState`."""

    profile: Profile
    local: int
    residue: frozenset[str]
    begun: bytes
    data: bytes | None


class ObjectWords:
    """`options` are those that have words, by label; a state goes with the families' keys `used` so far."""

    def __init__(self, parts: ObjectParts, options: Options, states: ObjectStates, table: KeyTable) -> None:
        self.parts = parts
        self.options = options
        self.states = states
        self.table = table
        self.properties = len(parts.names)
        counts = [parts.minimum, *[counter.minimum for counter in parts.counters]]
        self._is_large = max(counts) > MOST_ENTRIES
        self._measured: tuple[tuple[int | None, ...], int | None] | None = None
        self._closing: dict[int, tuple[bytes, tuple[Node, ...]]] = {}
        self._rests: LeastUsed[int | tuple[int, frozenset[str]], tuple[int, Entries]] | None = None
        """By state and `at_least` in one number, with the used keys where there are any."""

    def closing(self, label: int) -> tuple[bytes, tuple[Node, ...]]:
        """What closes a key of a label, as far as it is the same for all options, and the nodes behind it."""
        found = self._closing.get(label)
        if found is None:
            found = self._closing[label] = _closing(self.options.tails_of(label))
        return found

    def _costs(self) -> tuple[Callable[[int, int], int | None], int]:
        """(bytes of an entry with a comma, of a family's without its key; bytes of the comma)."""
        comma = self.parts.comma
        between = 0 if not comma.productive else _SOME if comma.size is None else comma.size
        options = self.options

        def cost(label: int, option: int) -> int | None:
            size = options.tail(label, option).size
            if size is None:
                return None
            key = len(written(self.parts.names[label], self.parts.encoding)) if label < self.properties else 0
            return 2 + key + size + between

        return cost, between

    def _new_keys(self, used: frozenset[str], label: int, count: int) -> list[bytes]:
        """The shortest keys of a family for `count` more entries; fewer if there are fewer."""
        if not self.parts.distinct:
            return self.table.rests_of_keys(0, label, 1) * count
        known = {written(key, "json") for key in used}
        found = self.table.rests_of_keys(0, label, count + len(used))
        return [key for key in found if key not in known][:count]

    def measure(self) -> int | None:
        """Bytes of the shortest word as far as known."""
        sizes = (*[node.size for node in self.options.tails], self.parts.comma.size)
        if self._measured is None or self._measured[0] != sizes:
            cost, between = self._costs()
            found = None
            if not self._is_large:
                found = cheapest_entries(self.states, 0, 0, cost, self._key_costs(_NONE))
            size = None
            if found is not None:
                size = found[0] - (between if found[1] else 0)
            self._measured = sizes, size if size is not None and size < _SOME else None
        return self._measured[1]

    def _key_costs(self, used: frozenset[str]) -> Callable[[int, int], Sequence[int]]:
        return lambda label, count: [len(key) for key in self._new_keys(used, label, count)]

    def _plan(self, state: int, used: frozenset[str], at_least: int) -> tuple[int, Entries]:
        """The cheapest entries that complete the object: their cost, each with a comma, and which."""
        if self._rests is None:
            self._rests = LeastUsed(size=_OF_PLAN)
        number = state << 1 | at_least
        key = (number, used) if used else number
        found: tuple[int, Entries] | None = self._rests.get(key)
        if found is None:
            if self._is_large:
                raise CompletionTooLong
            for node in (*self.options.tails, self.parts.comma):
                if node.productive and node.size is None:
                    measure(node)
            costs = self._costs()[0], self._key_costs(used)
            cheapest = cheapest_entries(self.states, state, at_least, *costs)
            if cheapest is None or cheapest[0] > LONGEST_COMPLETION:
                raise CompletionTooLong
            found = self._rests.keep(key, (cheapest[0], tuple(sorted(cheapest[1]))))
        return found

    def entries(self, machine: Machine, state: int, used: frozenset[str], at_least: int) -> bytes:
        """The shortest entries that complete the object, `at_least` (0 or 1) of them."""
        plan = self._plan(state, used, at_least)[1]
        if not plan:
            return b""
        keys: dict[int, Iterator[bytes]] = {}
        for label, _ in plan:
            if label >= self.properties and label not in keys:
                number = sum([other == label for other, _ in plan])
                keys[label] = iter(self._new_keys(used, label, number))
        out = []
        for label, option in plan:
            known = label < self.properties
            key = written(self.parts.names[label], self.parts.encoding) if known else next(keys[label])
            out.append(b'"' + key + b'"' + self.options.tail(label, option).shortest(machine))
        return self.parts.comma.shortest(machine).join(out) if len(out) > 1 else out[0]

    def rest(self, machine: Machine, state: int, used: frozenset[str], at_least: int = 0) -> bytes:
        """The shortest rest of an object behind an entry, with `at_least` (0 or 1) entries more."""
        entries = self.entries(machine, state, used, at_least)
        return self.parts.comma.shortest(machine) + entries if entries else b""

    def rest_of_entry(self, machine: Machine, state: int, used: frozenset[str], key: OpenKey) -> bytes:
        """The shortest rest of an object inside a key."""
        whole, _ = self._plan(state, used, 1)
        cost, _ = self._costs()
        candidates = []
        for outcome, bits in key.profile:
            for label in bits_of(bits):
                family = label >= self.properties
                end = self._end_of_key(key.local, label, key.residue, key.begun)
                for option, _, _ in outcome:
                    entry, size = cost(label, option), self.options.tail(label, option).size
                    assert entry is not None and size is not None
                    if family and self.parts.distinct:
                        entry += len(end) + len(key.data or b"")
                    elif family:
                        entry += len(self.table.rests_of_keys(0, label, 1)[0])
                    # No rest is cheaper than what the entry leaves of the cheapest completion.
                    least = len(end) + 1 + size + max(0, whole - entry)
                    candidates.append((least, end, label, option))
        candidates.sort()
        best: bytes | None = None
        for least, end, label, option in candidates:
            if best is not None and least >= len(best):
                break
            now = used
            if label >= self.properties and self.parts.distinct:
                assert key.data is not None, "the bytes of keys that must differ are kept"
                now = used | {read(key.data + end, self.parts.encoding)}
            after = self.states.advance(state, label, option)
            word = (
                end
                + b'"'
                + self.options.tail(label, option).shortest(machine)
                + self.rest(machine, after, now)
            )
            if best is None or len(word) < len(best):
                best = word
        assert best is not None, "no completion of a dead state"
        return best

    def rest_behind_key(
        self,
        machine: Machine,
        state: int,
        used: frozenset[str],
        label: int,
        outcome: Outcome,
        key: bytes | None,
    ) -> bytes:
        """The shortest rest of an object from the closing quote of a key of a label on."""
        if label >= self.properties and self.parts.distinct:
            assert key is not None, "the bytes of keys that must differ are kept"
            used = used | {read(key, self.parts.encoding)}
        words = [
            b'"'
            + self.options.tail(label, option).shortest(machine)
            + self.rest(machine, self.states.advance(state, label, option), used)
            for option, _, _ in outcome
        ]
        return min(words, key=lambda word: (len(word), word))

    def _end_of_key(self, local: int, label: int, residue: frozenset[str], begun: bytes) -> bytes:
        """The shortest end of a key of a label that has not been used."""
        if label < self.properties:
            return self.table.rest_of_name(local, label, self.parts.names[label])
        encoding = self.parts.encoding
        if local >= 0:
            used = {written(word, "json") for word in residue}
            ends = self.table.rests_of_keys(local, label, len(used) + 1)
            return next(end for end in ends if end not in used)
        found = []
        for target, endings in self.table.ends_of_character(local, len(residue) + 1).items():
            if self.table.below(target) >> label & 1:
                for end in endings:
                    rest = after_character(residue, read(begun + end, encoding)) if residue else _NONE
                    if not rest or self.table.has_fresh(target, label, rest):
                        found.append(end + self._end_of_key(target, label, rest, b""))
        return min(found, key=lambda end: (len(end), end))


def after_character(residue: frozenset[str], char: str) -> frozenset[str]:
    """The endings behind a character."""
    return frozenset([word[1:] for word in residue if word and word[0] == char])


def required_only(parts: ObjectParts) -> tuple[int, ...] | None:
    """The properties that must be there if nothing else is asked of the entries as a whole, else None."""
    if parts.counters or parts.minimum > 0 or parts.maximum is not None:
        return None
    literals = [literal for clause in parts.clauses for literal in clause]
    if len(literals) != len(parts.clauses) or not all(there for _, there in literals):
        return None
    return tuple([label for label, _ in literals])


def measure_required(parts: ObjectParts, required: Sequence[int]) -> int | None:
    """Bytes of the shortest word where these properties are all that must be there, as far as known."""
    total = 0
    for number, label in enumerate(required):
        size = min(
            [size for tail in parts.options.tails_of(label) if (size := tail.size) is not None], default=None
        )
        between = parts.comma.size if number else 0
        if size is None or between is None:
            return None
        total += between + 2 + len(written(parts.names[label], parts.encoding)) + size
    return total


def _closing(tails: tuple[Node, ...]) -> tuple[bytes, tuple[Node, ...]]:
    runs: set[bytes] = set()
    rests: list[Node] = []
    for tail in tails:
        if isinstance(tail, Series) and isinstance(tail.first, Literal):
            runs.add(tail.first.data)
            rests.append(tail.rest)
    if len(runs) == 1 and len(rests) == len(tails):
        return b'"' + runs.pop(), tuple(rests)
    return b'"', tails


def labels_of(vectors: Sequence[tuple[Vector, ...]]) -> list[Label]:
    """The labels of properties by what their options add to the counters: mostly all are one."""
    return list(map(label_of, vectors))
