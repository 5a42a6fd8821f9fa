"""The inside of a JSON object: properties and families of keys, with clauses, counts and counters.

What may come next is decided between entries (`sglc.automata.object_states`); a key is read by one leaf over
all labels that are open then, so that a key that cannot be completed is dead at its first useless byte.

There are too many states of large objects to make the keys' rows for each. Where that matters (`traces`),
masks are walked from leaf states that know only which labels may still be meant and whether the object may
end or go on behind each (a `Profile`), which are the same for most states; a token that reads a whole entry
and begins another key is then `lost`, and looked at again with the state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from sglc.automata.object_states import Label, ObjectStates, Outcome, Profile
from sglc.runtime.mask.endings import completion
from sglc.runtime.mask.errors import ConstraintError
from sglc.runtime.mask.key_leaf import KeyLeaf
from sglc.runtime.mask.key_table import KeyTable, count_words
from sglc.runtime.mask.leaf import LeafPlace
from sglc.runtime.mask.machine import Machine, Node, Work
from sglc.runtime.mask.object_words import ObjectParts, ObjectWords, OpenKey, Option, after_character
from sglc.runtime.mask.spelling import begins, byte_ranges, read, spellings

_QUOTE = ord('"')
_OPEN = 1 << 40
_SOMEWHERE = _OPEN + 1
_LOST = _OPEN + 2
_CLOSE = _OPEN + 3
_ONLY_QUOTE = np.arange(256) == _QUOTE
_FEW = 4
"""Labels open at once up to which keys are read with the whole state."""
_NONE: frozenset[str] = frozenset()

LeafState = tuple[int, int, int, frozenset[str], bytes, bytes | None]
"""(state or -1, profile, place in the key table, endings that would make a used key, bytes of the character
begun if there are such endings, bytes of the key where kept).

Instead of a place in the table: `_OPEN` before the quote; `_SOMEWHERE` there too, but with no profile known,
and `_LOST` behind that quote; `_CLOSE` plus a label before the last quote of a key of that label.
"""

ENTRY, NEXT, ENTRY_SOMEWHERE, NEXT_SOMEWHERE = range(4)
"""Frames behind an entry or a comma: (kind, state), or without the state (kind, may end, may go on)."""


class ObjectNode(Node):
    """See the module. A state of the node is a state of `ObjectStates` with the families' keys so far."""

    def __init__(self, parts: ObjectParts) -> None:
        self.parts = parts
        self.properties = len(parts.names)
        self._tails = tuple([option.tail for options in parts.options for option in options])
        self._capacity = tuple([count_words(dfa) if parts.distinct else None for dfa in parts.families])
        self._required = _required_only(parts)
        self._made: tuple[list[bool], list[list[Option]], ObjectStates] | None = None
        """Options and states by what is productive; they are final when the analysis is."""
        self.states: ObjectStates
        self._options: list[list[Option]] | None = None

    # Analysis

    def children(self) -> Sequence[Node]:
        return (*self._tails, self.parts.comma)

    def openers(self) -> Sequence[Node]:
        return ()

    def analyse(self) -> tuple[bool, bool]:
        if self.productive and self.nullable:
            return True, True
        if self._required is not None and self.parts.comma.productive:
            options = self.parts.options
            there = all(
                [any([option.tail.productive for option in options[label]]) for label in self._required]
            )
            return there, not self._required
        _, states = self._make_states()
        return states.feasible(0), states.may_end(0)

    def _make_states(self) -> tuple[list[list[Option]], ObjectStates]:
        parts = self.parts
        key = [tail.productive for tail in self._tails]
        key.append(parts.comma.productive)
        if self._made is not None and self._made[0] == key:
            return self._made[1], self._made[2]
        options = [[option for option in some if option.tail.productive] for some in parts.options]
        labels = []
        for label, some in enumerate(options):
            capacity: int | None = 1
            if label >= self.properties:
                dfa = parts.families[label - self.properties]
                capacity = self._capacity[label - self.properties] if dfa.edges else 0
            labels.append(Label(tuple([option.vector for option in some]), capacity))
        most = parts.maximum
        if not parts.comma.productive:
            most = 1 if most is None else min(most, 1)
        states = ObjectStates(
            labels, self.properties, parts.clauses, parts.counters, parts.minimum, most, parts.declared,
            ConstraintError,
        )  # fmt: skip
        self._made = key, options, states
        return options, states

    def _settle(self) -> None:
        """What is needed to read and write; the analysis is final by then."""
        if self._options is not None:
            return
        parts = self.parts
        self._options, self.states = self._make_states()
        names = {name: label for label, name in enumerate(parts.names)}
        families = {
            label: parts.families[label - self.properties]
            for label in range(self.properties, len(self._options))
            if self._options[label]
        }
        self.table = KeyTable(names, families, parts.encoding)
        self._family_bits = sum(1 << label for label in families)
        self._counted = self._family_bits if parts.distinct else 0
        if parts.declared:
            required = {
                label for clause in parts.clauses if len(clause) == 1 for label, there in clause if there
            }
            run = longest = 0
            for label in names.values():
                run += 1
                longest = max(longest, run)
                if label in required:
                    run = 0
        else:
            longest = len(names)
        self.leaf_table = KeyLeaf(self.table, len(self._options))
        self._open_words: dict[int, np.ndarray] = {}
        self._endless = all(self.table.endless(number) for number in range(len(families)))
        self.traces = bool(self._counted) or longest + len(families) > _FEW
        self._held: list[tuple[int, frozenset[str]]] = []
        self._held_ids: dict[tuple[int, frozenset[str]], int] = {}
        self._profiles: list[Profile] = []
        self._labels: list[int] = []
        self._profile_ids: dict[Profile, int] = {}
        self._restricted: dict[tuple[int, int], int] = {}
        self._profile_of: dict[int, int] = {}
        self.words = ObjectWords(parts, self._options, self.states, self.table)
        self._hold(0, _NONE)

    def _hold(self, state: int, used: frozenset[str]) -> int:
        key = (state, used)
        found = self._held_ids.get(key)
        if found is None:
            found = self._held_ids[key] = len(self._held)
            self._held.append(key)
        return found

    # Profiles

    def _profile(self, state: int) -> int:
        """The number of the profile of a state."""
        found = self._profile_of.get(state)
        if found is None:
            found = self._number(self.states.profile(self._held[state][0]))
            self._profile_of[state] = found
        return found

    def _number(self, profile: Profile) -> int:
        found = self._profile_ids.get(profile)
        if found is None:
            found = self._profile_ids[profile] = len(self._profiles)
            self._profiles.append(profile)
            labels = 0
            for _, bits in profile:
                labels |= bits
            self._labels.append(labels)
        return found

    def _restrict(self, profile: int, labels: int) -> int:
        """The profile of these labels only, or -1 if it has none of them."""
        key = (profile, labels)
        found = self._restricted.get(key)
        if found is None:
            rest = tuple(
                [(outcome, bits & labels) for outcome, bits in self._profiles[profile] if bits & labels]
            )
            found = self._restricted[key] = self._number(rest) if rest else -1
        return found

    def _open(self, profile: int) -> np.ndarray:
        """The labels of a profile as the leaf table has them."""
        found = self._open_words.get(profile)
        if found is None:
            found = self._open_words[profile] = self.leaf_table.words(self._labels[profile])
        return found

    def _outcome(self, profile: int, label: int) -> Outcome:
        for outcome, bits in self._profiles[profile]:
            if bits >> label & 1:
                return outcome
        return ()

    # Between entries

    def open(self, machine: Machine, cont: int, work: Work, out: set[int]) -> None:
        if not self.productive:
            return
        self._settle()
        if self.states.may_end(0):
            work.append((None, cont))
        if self.states.goes_on(0):
            self._enter(machine, 0, cont, work, out)

    def resume(self, machine: Machine, state: Any, cont: int, work: Work, out: set[int]) -> None:
        kind = state[0]
        if kind == ENTRY:
            here = self._held[state[1]][0]
            if self.states.may_end(here):
                work.append((None, cont))
            if self.states.goes_on(here):
                work.append((self.parts.comma, machine.cont(self, (NEXT, state[1]), cont)))
        elif kind == NEXT:
            self._enter(machine, state[1], cont, work, out)
        elif kind == ENTRY_SOMEWHERE:
            if state[1]:
                work.append((None, cont))
            if state[2]:
                work.append((self.parts.comma, machine.cont(self, (NEXT_SOMEWHERE,), cont)))
        else:
            out.add(machine.thread(self, (-1, -1, _SOMEWHERE, _NONE, b"", None), cont))

    def _enter(self, machine: Machine, state: int, cont: int, work: Work, out: set[int]) -> None:
        """Before the quote of a key; where there is only one key, that is a literal."""
        number = self._profile(state)
        profile = self._profiles[number]
        assert self._options is not None
        if len(profile) == 1:
            outcome, bits = profile[0]
            if not bits & (bits - 1) and not bits & self._family_bits:
                label = bits.bit_length() - 1
                options = self._options[label]
                if options[0].whole is not None:
                    for option, _, _ in outcome:
                        after = self._after(state, label, option, None)
                        work.append((options[option].whole, machine.cont(self, (ENTRY, after), cont)))
                    return
        leaf: LeafState = (state, number, _OPEN, self._held[state][1], b"", None)
        out.add(machine.thread(self, leaf, cont))

    def _after(self, state: int, label: int, option: int, key: str | None) -> int:
        here, used = self._held[state]
        return self._hold(self.states.advance(here, label, option), used if key is None else used | {key})

    # Inside keys, by the leaf table

    def forced_run(self, state: LeafState) -> bytes:
        # What follows the quote is not known at `_SOMEWHERE`, so that it is walked by rows.
        return b'"' if state[2] == _OPEN or state[2] >= _CLOSE else b""

    def behind(self, machine: Machine, state: LeafState, cont: int) -> int:
        return self.move(machine, state, cont, _QUOTE)

    def leaf(self, machine: Machine, state: LeafState) -> LeafPlace | None:
        _, profile, local, residue, _, _ = state
        if local >= _OPEN or (residue and not self._endless):
            return None
        return LeafPlace(self.leaf_table, self.leaf_table.number(local), open=self._open(profile))

    def follow(self, machine: Machine, state: LeafState, cont: int) -> np.ndarray:
        return _ONLY_QUOTE

    def leave(
        self, machine: Machine, state: LeafState, cont: int, label: int, data: bytes | None = None
    ) -> int:
        if not self._labels[state[1]] >> label & 1:
            return 0
        here, profile, _, _, _, kept = state
        if data is None and self.traces:
            here = -1
        whole = None if data is None or kept is None else kept + data
        return machine.alone(machine.thread(self, (here, profile, _CLOSE + label, _NONE, b"", whole), cont))

    def barred(self, machine: Machine, state: LeafState) -> Callable[[bytes], bool] | None:
        _, _, _, residue, begun, _ = state
        if not residue:
            return None
        return lambda data: read(begun + data, self.parts.encoding) in residue

    def land(self, machine: Machine, state: LeafState, cont: int, local: int, taken: int, data: bytes) -> int:
        here, profile, _, residue, _, kept = state
        if residue:
            config = machine.alone(machine.thread(self, state, cont))
            for byte in data:
                config = machine.step(config, byte)
            return config
        place = self.leaf_table.places[local]
        kept = None if kept is None else kept + data
        return self._inside(machine, here, profile, place, _NONE, b"", kept, cont)

    # Inside keys, byte by byte

    def lost(self, machine: Machine, state: LeafState) -> bool:
        return state[2] == _LOST

    def traced(self, machine: Machine, state: LeafState) -> bool:
        return self.traces and state[0] >= 0 and state[2] < _CLOSE

    def untrace(self, machine: Machine, state: LeafState) -> LeafState:
        if not self.traces or state[2] >= _CLOSE:
            return state
        return -1, state[1], state[2], state[3], state[4], None

    def moves(self, machine: Machine, state: LeafState, cont: int) -> Iterator[tuple[int, int, int]]:
        if self.traced(machine, state):
            state = self.untrace(machine, state)
        here, profile, local, residue, begun, _ = state
        if local >= _OPEN:
            yield _QUOTE, _QUOTE, self._quote(machine, state, cont)
            return
        if local >= 0:
            target = self._close(machine, state, cont)
            if target:
                yield _QUOTE, _QUOTE, target
        special = self._special(residue, begun) if residue else ()
        known: dict[int, int] = {}
        for low, high, target in self.table.moves(local):
            for byte in special:
                if low <= byte <= high:
                    if low < byte:
                        config = self._inside(machine, here, profile, target, _NONE, b"", None, cont)
                        if config:
                            yield low, byte - 1, config
                    config = self._step(machine, state, byte, target, cont)
                    if config:
                        yield byte, byte, config
                    low = byte + 1
            if low <= high:
                found = known.get(target)
                if found is None:
                    found = self._inside(machine, here, profile, target, _NONE, b"", None, cont)
                    known[target] = found
                if found:
                    yield low, high, found

    def move(self, machine: Machine, state: LeafState, cont: int, byte: int) -> int:
        here, profile, local, residue, _, data = state
        if local >= _OPEN:
            return self._quote(machine, state, cont) if byte == _QUOTE else 0
        if byte == _QUOTE and local >= 0:
            return self._close(machine, state, cont)
        target = self.table.move(local, byte)
        if target is None:
            return 0
        if residue:
            return self._step(machine, state, byte, target, cont)
        kept = None if data is None else data + bytes([byte])
        return self._inside(machine, here, profile, target, _NONE, b"", kept, cont)

    def _quote(self, machine: Machine, state: LeafState, cont: int) -> int:
        """The configuration behind a quote that must come."""
        here, profile, local, residue, _, whole = state
        if local >= _CLOSE:
            return self._closed(machine, here, profile, local - _CLOSE, whole, cont)
        if local == _SOMEWHERE:
            return machine.alone(machine.thread(self, (-1, -1, _LOST, _NONE, b"", None), cont))
        kept = b"" if here >= 0 and self._labels[profile] & self._counted else None
        return self._inside(machine, here, profile, 0, residue, b"", kept, cont)

    def _inside(
        self, machine: Machine, state: int, profile: int, local: int, residue: frozenset[str], begun: bytes,
        data: bytes | None, cont: int,
    ) -> int:  # fmt: skip
        """The configuration at a place inside a key, DEAD if no key goes on from there."""
        labels = self.table.below(local)
        if residue:
            labels &= self._labels[profile]
            labels = self._fresh(labels, local, residue, begun)
        profile = self._restrict(profile, labels)
        if profile < 0:
            return 0
        if data is not None and not self._labels[profile] & self._counted:
            data = None
        return machine.alone(machine.thread(self, (state, profile, local, residue, begun, data), cont))

    def _step(self, machine: Machine, state: LeafState, byte: int, target: int, cont: int) -> int:
        """A byte where keys have been used that begin like this one."""
        here, profile, _, residue, begun, data = state
        read_so_far = begun + bytes([byte])
        encoding = self.parts.encoding
        if target >= 0:
            char = read(read_so_far, encoding)
            residue, begun = after_character(residue, char), b""
        else:
            residue = frozenset([word for word in residue if word and begins(word[0], read_so_far, encoding)])
            begun = read_so_far if residue else b""
        kept = None if data is None else data + bytes([byte])
        return self._inside(machine, here, profile, target, residue, begun, kept, cont)

    def _special(self, residue: frozenset[str], begun: bytes) -> list[int]:
        """The bytes that may lead on to a used key."""
        found: set[int] = set()
        for char in {word[0] for word in residue if word}:
            if begins(char, begun, self.parts.encoding):
                for path in spellings(ord(char), ord(char), self.parts.encoding):
                    if len(path) > len(begun):
                        for low, high in byte_ranges(*path[len(begun)]):
                            found.update(range(low, high + 1))
        return sorted(found)

    def _fresh(self, labels: int, local: int, residue: frozenset[str], begun: bytes) -> int:
        """Those of the labels that have a key from this place on that has not been used."""
        rest = labels & self._counted
        while rest:
            bit = rest & -rest
            rest ^= bit
            label = bit.bit_length() - 1
            if local >= 0:
                fresh = self.table.has_fresh(local, label, residue)
            else:
                fresh = any(
                    self.table.has_fresh(
                        target, label, after_character(residue, read(begun + end, self.parts.encoding))
                    )
                    for target, ends in self.table.ends_of_character(local, len(residue) + 1).items()
                    if self.table.below(target) & bit
                    for end in ends
                )
            if not fresh:
                labels ^= bit
        return labels

    def _close(self, machine: Machine, state: LeafState, cont: int) -> int:
        """The configuration behind the closing quote, DEAD if no key ends here."""
        here, profile, local, residue, _, data = state
        label = self.table.end(local)
        if label < 0 or (residue and "" in residue and self._counted >> label & 1):
            return 0
        return self._closed(machine, here, profile, label, data, cont)

    def _closed(
        self, machine: Machine, here: int, profile: int, label: int, data: bytes | None, cont: int
    ) -> int:
        """The configuration behind a key of a label, without the state if `here` is negative."""
        assert self._options is not None
        config = 0
        for option, end, go in self._outcome(profile, label):
            if here >= 0:
                key = None
                if self._counted >> label & 1:
                    assert data is not None, "the bytes of keys that must differ are kept"
                    key = read(data, self.parts.encoding)
                frame: Any = (ENTRY, self._after(here, label, option, key))
            else:
                frame = (ENTRY_SOMEWHERE, end, go)
            tail = self._options[label][option].tail
            config = machine.union(config, machine.begin(tail, machine.cont(self, frame, cont)))
        return config

    # Shortest words

    def measure(self) -> int | None:
        self._settle()
        return self.words.measure()

    def shortest(self, machine: Machine) -> bytes:
        self._settle()
        return self.words.entries(machine, 0, _NONE, 0)

    def shortest_rest(self, machine: Machine, state: Any) -> bytes:
        kind = state[0]
        assert kind in (ENTRY, NEXT), "completions are asked of configurations that keep their state"
        here, used = self._held[state[1]]
        return (
            self.words.rest(machine, here, used)
            if kind == ENTRY
            else self.words.entries(machine, here, used, 1)
        )

    def shortest_from(self, machine: Machine, state: LeafState) -> bytes:
        held, profile, local, residue, begun, data = state
        if local == _CLOSE:
            return b'"' + completion(machine, held)
        assert held >= 0, "completions are asked of configurations that keep their state"
        here, used = self._held[held]
        if local == _OPEN:
            return self.words.entries(machine, here, used, 1)
        key = OpenKey(self._profiles[profile], local, residue, begun, data)
        return self.words.rest_of_entry(machine, here, used, key)


def _required_only(parts: ObjectParts) -> tuple[int, ...] | None:
    """The properties that must be there if nothing else is asked of the entries as a whole, else None."""
    if parts.counters or parts.minimum > 0 or parts.maximum is not None:
        return None
    literals = [literal for clause in parts.clauses for literal in clause]
    if len(literals) != len(parts.clauses) or not all(there for _, there in literals):
        return None
    return tuple([label for label, _ in literals])
