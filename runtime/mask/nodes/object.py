"""The inside of a JSON object: properties and families of keys, with clauses, counts and counters.

What may come next is decided between entries (`sglc.automata.json.object_states`); a key is read by one
lexeme over all labels that are open then, so that a key that cannot be completed is dead at its first
useless byte.

There are too many states of large objects to make the keys' rows for each. So masks are walked from lexeme
states that know only which labels may still be meant and whether the object may end or go on behind each (a
`Profile`), which are the same for most states; a token that reads a whole entry and begins another key is
then said to need history, and is looked at again with the state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sglc.automata.json.object_states import ObjectStates, label_of
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import Node, Worklist
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.lexeme.escapes import read
from sglc.runtime.mask.lexeme.key_dfa import KeyTable, count_words
from sglc.runtime.mask.lexeme.table import LexemeState
from sglc.runtime.mask.nodes.core import Literal
from sglc.runtime.mask.nodes.object_keys import KeyLexeme
from sglc.runtime.mask.nodes.object_parts import (
    ObjectParts,
    ObjectWords,
    OpenKey,
    labels_of,
    measure_required,
    required_only,
)
from sglc.runtime.mask.nodes.object_profile import Profiles
from sglc.runtime.mask.nodes.options import PRODUCTIVE, Options
from sglc.runtime.mask.nodes.used_keys import after_byte, bytes_of_used, fresh_labels

_QUOTE = ord('"')
_OPEN = 1 << 40
_SOMEWHERE = _OPEN + 1
_NEEDS_HISTORY = _OPEN + 2
_CLOSE = 1 << 41
_COMMA = 1 << 42
_LABELS = 20
"""Bits of a label behind `_CLOSE`."""
_LABEL = (1 << _LABELS) - 1
_ONLY_QUOTE: np.ndarray = np.arange(256) == _QUOTE
_NONE: frozenset[str] = frozenset()

ElementState = tuple[int, int, int, frozenset[str] | None, bytes, bytes | None]
"""(state or -1, profile, place in the key table, endings that would make a used key if there are any, bytes
of the character begun if there are such endings, bytes of the key where kept).

Instead of a place in the table: `_OPEN` before the quote; `_SOMEWHERE` there too, but with no profile known,
and `_NEEDS_HISTORY` behind that quote; `_COMMA` plus n behind n bytes of a comma and the quote after it;
`_CLOSE` plus n << _LABELS plus a label behind n bytes of what closes a key of that label.
"""

ENTRY, NEXT, ENTRY_SOMEWHERE, NEXT_SOMEWHERE = range(4)
Frame = tuple[int, ...]
"""Behind an entry or a comma: (kind, state), or without the state (kind, may end, may go on)."""


class ObjectNode(Node):
    """See the module. A state of the node is a state of `ObjectStates` with the families' keys so far."""

    def __init__(self, parts: ObjectParts, entry: Callable[[str, Node], Node]) -> None:
        """`entry`: makes the node of a name with its quotes and what follows it, when it is opened."""
        self.parts = parts
        self.properties = len(parts.names)
        self._entry = entry
        self._capacity = tuple([count_words(dfa) if parts.distinct else None for dfa in parts.families])
        self.required = required_only(parts)
        self._made: tuple[tuple[bool, ...], Options, ObjectStates] | None = None
        """Options and states by what is productive; they are final when the analysis is."""
        self.states: ObjectStates
        self._options: Options | None = None
        self._wholes: dict[tuple[int, int], Node] = {}
        """By label and option: entries that have been opened as a whole."""

    # Analysis

    def children(self) -> Sequence[Node]:
        """What follows keys, for all labels, and the comma."""
        return (*self.parts.options.tails, self.parts.comma)

    def openers(self) -> Sequence[Node]:
        """No node: an entry begins with the quote of its key."""
        return ()

    def analyse(self) -> tuple[bool, bool]:
        """By required keys alone where no more is asked, else by all states. Raises ConstraintError."""
        if self.productive and self.nullable:
            return True, True
        if self.required is not None and self.parts.comma.productive:
            some = [self.parts.options.tails_of(label) for label in self.required]
            there = all([any([tail.productive for tail in tails]) for tails in some])
            return there, not self.required
        states = self._make_states()[1] if self._options is None else self.states
        return states.feasible(0), states.may_end(0)

    def _make_states(self) -> tuple[Options, ObjectStates]:
        parts = self.parts
        key = tuple([child.productive for child in self.children()])
        if self._made is not None and self._made[0] == key:
            return self._made[1], self._made[2]
        options = parts.options.only(PRODUCTIVE)
        vectors = list(map(options.vectors_of, range(len(options))))
        labels = labels_of(vectors[: self.properties])
        for some, dfa, size in zip(vectors[self.properties :], parts.families, self._capacity, strict=True):
            labels.append(label_of(some, size if dfa.edges else 0))
        most = parts.maximum
        if not parts.comma.productive:
            most = 1 if most is None else min(most, 1)
        asked = parts.clauses, parts.counters, parts.minimum, most, parts.declared
        states = ObjectStates(labels, self.properties, *asked, ConstraintError)
        self._made = key, options, states
        return options, states

    def _settle(self) -> None:
        """What is needed to read and write; the analysis is final by then."""
        if self._options is not None:
            return
        parts = self.parts
        self._options, self.states = self._make_states()
        self._made = None
        names = dict(zip(parts.names, range(len(parts.names)), strict=True))
        families = {
            label: parts.families[label - self.properties]
            for label in range(self.properties, len(self._options))
            if self._options.count(label)
        }
        self.table = KeyTable(names, families, parts.encoding)
        self._family_bits = sum(1 << label for label in families)
        self._counted = self._family_bits if parts.distinct else 0
        self.lexeme_table = KeyLexeme(self.table, len(self._options))
        self._profiles = Profiles(self.states, self.lexeme_table)
        comma = parts.comma
        self._comma = comma.data + b'"' if isinstance(comma, Literal) else b""
        self._endless = all(self.table.endless(number) for number in range(len(families)))
        self._held: dict[int, int] = {}
        """States by number; a state is there once for each set of keys with which it has been met."""
        self._used: dict[int, frozenset[str]] = {}
        """The families' keys so far by the same number, where there are any."""
        self._held_ids: dict[int | tuple[int, frozenset[str]], int] = {}
        self.words = ObjectWords(parts, self._options, self.states, self.table)
        self._hold(0, _NONE)

    def _hold(self, state: int, used: frozenset[str]) -> int:
        key = (state, used) if used else state
        found = self._held_ids.get(key)
        if found is None:
            found = self._held_ids[key] = len(self._held)
            self._held[found] = state
            if used:
                self._used[found] = used
        return found

    # Between entries

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """End at once if that is legal, and begin the first entry."""
        if not self.productive:
            return
        self._settle()
        if self.states.may_end(0):
            work.append((None, cont))
        if self.states.goes_on(0):
            self._enter(machine, 0, cont, work, out)

    def resume(self, machine: Machine, state: Frame, cont: int, work: Worklist, out: set[int]) -> None:
        """Behind an entry end or read a comma, behind a comma begin a key; without state of no profile."""
        kind = state[0]
        if kind == ENTRY:
            here = self._held[state[1]]
            if self.states.may_end(here):
                work.append((None, cont))
            if self.states.goes_on(here):
                number = self._profiles.of(here)
                if self._comma and self._whole(number) is None:
                    used = self._used.get(state[1])
                    lexeme: ElementState = (state[1], number, _COMMA, used, b"", None)
                    out.add(machine.thread(self, lexeme, cont))
                else:
                    work.append((self.parts.comma, machine.cont(self, (NEXT, state[1]), cont)))
        elif kind == NEXT:
            self._enter(machine, state[1], cont, work, out)
        elif kind == ENTRY_SOMEWHERE:
            if state[1]:
                work.append((None, cont))
            if state[2]:
                work.append((self.parts.comma, machine.cont(self, (NEXT_SOMEWHERE,), cont)))
        else:
            out.add(machine.thread(self, (-1, -1, _SOMEWHERE, None, b"", None), cont))

    def resumes_with(self, state: Frame) -> tuple[int, bool] | None:
        """The first byte of the comma, if one is read as a lexeme; known of frames behind entries only."""
        if not self._comma or state[0] not in (ENTRY, ENTRY_SOMEWHERE):
            return None
        if state[0] == ENTRY:
            here = self._held[state[1]]
            ends, goes_on = self.states.may_end(here), self.states.goes_on(here)
        else:
            ends, goes_on = bool(state[1]), bool(state[2])
        return 1 << self._comma[0] if goes_on else 0, ends

    def _enter(self, machine: Machine, state: int, cont: int, work: Worklist, out: set[int]) -> None:
        """Before the quote of a key; where there is only one key, that is a literal."""
        number = self._profiles.of(self._held[state])
        label = self._whole(number)
        if label is not None:
            for option, _, _ in self._profiles.outcome(number, label):
                after = self._after(state, label, option, None)
                work.append((self._open_whole(label, option), machine.cont(self, (ENTRY, after), cont)))
            return
        lexeme: ElementState = (state, number, _OPEN, self._used.get(state), b"", None)
        out.add(machine.thread(self, lexeme, cont))

    def _whole(self, profile: int) -> int | None:
        """The label of a profile if there is just one, and its key is written in one way."""
        label = self._profiles.only(profile)
        # Only then each name has one spelling.
        whole = self.parts.encoding == "json" and label is not None and label < self.properties
        return label if whole else None

    def _open_whole(self, label: int, option: int) -> Node:
        """An entry of a property with its key and the quotes."""
        found = self._wholes.get((label, option))
        if found is None:
            assert self._options is not None
            found = self._entry(self.parts.names[label], self._options.tail(label, option))
            self._wholes[label, option] = found
        return found

    def _after(self, state: int, label: int, option: int, key: str | None) -> int:
        used = self._used.get(state, _NONE)
        after = self.states.advance(self._held[state], label, option)
        return self._hold(after, used if key is None else used | {key})

    # Inside keys, by the lexeme table

    def forced_run(self, state: ElementState) -> bytes:
        """The comma and its quote, the quote before a key, or what closes a key; nothing inside of keys."""
        # What follows the quote is not known at `_SOMEWHERE`, so that it is walked by rows.
        local = state[2]
        if local < _OPEN:
            return b""
        if local >= _COMMA:
            return self._comma[local - _COMMA :]
        if local >= _CLOSE:
            return self.words.closing(local & _LABEL)[0][local - _CLOSE >> _LABELS :]
        return b'"' if local == _OPEN else b""

    def skip(self, state: ElementState, size: int) -> ElementState:
        """So many bytes further in a comma or in what closes a key."""
        here, profile, local, residue, begun, data = state
        local += size if local >= _COMMA else size << _LABELS
        return here, profile, local, residue, begun, data

    def behind(self, machine: Machine, state: ElementState, cont: int) -> int:
        """Inside a new key, or at what follows the one that has been closed."""
        work = self.opens_behind(machine, state, cont)
        if work is not None:
            return machine.opened(work)
        here, profile, _, residue, _, _ = state
        kept = b"" if here >= 0 and self._profiles.labels[profile] & self._counted else None
        return self._inside(machine, here, profile, 0, residue, b"", kept, cont)

    def opens_behind(self, machine: Machine, state: ElementState, cont: int) -> Worklist | None:
        """What follows the key that has been closed, one frame for each option; None before keys."""
        here, profile, local, _, _, data = state
        if not _CLOSE <= local < _COMMA:
            return None
        label = local & _LABEL
        rests = self.words.closing(label)[1]
        work: Worklist = []
        for option, end, go in self._profiles.outcome(profile, label):
            if here >= 0:
                key = None
                if self._counted >> label & 1:
                    assert data is not None, "the bytes of keys that must differ are kept"
                    key = read(data, self.parts.encoding)
                frame: Frame = (ENTRY, self._after(here, label, option, key))
            else:
                frame = (ENTRY_SOMEWHERE, end, go)
            work.append((rests[option], machine.cont(self, frame, cont)))
        return work

    def lexeme(self, machine: Machine, state: ElementState) -> LexemeState | None:
        """The place in the keys' table; None outside keys, and where used keys may be all that are left."""
        _, profile, local, residue, _, _ = state
        if local >= _OPEN or (residue and not self._endless):
            return None
        table = self.lexeme_table
        return LexemeState(table, table.number(local), open=self._profiles.open(profile))

    def follow(self, machine: Machine, state: ElementState, cont: int) -> np.ndarray:
        """The quote alone, which closes the key."""
        return _ONLY_QUOTE

    def leave(
        self, machine: Machine, state: ElementState, cont: int, label: int, data: bytes | None = None
    ) -> int:
        """What closes a key of the label; without `data` the state is dropped."""
        here, profile, _, _, _, kept = state
        if data is None:
            here = -1
        whole = None if data is None or kept is None else kept + data
        return self._closing(machine, here, profile, label, 0, whole, cont)

    def forbidden(self, machine: Machine, state: ElementState) -> Callable[[bytes], bool] | None:
        """Whether the key would be one that was used; None where no used key begins like it."""
        _, _, _, residue, begun, _ = state
        if not residue:
            return None
        return lambda data: read(begun + data, self.parts.encoding) in residue

    def land(
        self, machine: Machine, state: ElementState, cont: int, local: int, taken: int, data: bytes
    ) -> int:
        """Inside the key; where used keys begin like it, byte by byte."""
        here, profile, _, residue, _, kept = state
        if residue:
            config = machine.alone(machine.thread(self, state, cont))
            for byte in data:
                config = machine.step(config, byte)
            return config
        place = self.lexeme_table.places[local]
        kept = None if kept is None else kept + data
        return self._inside(machine, here, profile, place, None, b"", kept, cont)

    # Inside keys, byte by byte

    def needs_history(self, machine: Machine, state: ElementState) -> bool:
        """Whether a key has begun of which not even the profile is known."""
        return state[2] == _NEEDS_HISTORY

    def history_dependent(self, machine: Machine, state: ElementState) -> bool:
        """Whether the state is known, before and inside keys."""
        return state[0] >= 0 and state[2] < _CLOSE

    def without_history(self, machine: Machine, state: ElementState) -> ElementState:
        """The profile and the place in the key stay; the state and the bytes of the key go."""
        if state[2] >= _CLOSE:
            return state
        return -1, state[1], state[2], state[3], state[4], None

    def moves(self, machine: Machine, state: ElementState, cont: int) -> Iterator[tuple[int, int, int]]:
        """As without history; bytes on which used keys depend are looked at one by one."""
        if self.history_dependent(machine, state):
            state = self.without_history(machine, state)
        here, profile, local, residue, begun, _ = state
        if local >= _OPEN:
            byte = self.forced_run(state)[0] if local != _SOMEWHERE else _QUOTE
            yield byte, byte, self._first(machine, state, cont)
            return
        if local >= 0:
            target = self._close(machine, state, cont)
            if target:
                yield _QUOTE, _QUOTE, target
        special = bytes_of_used(residue, begun, self.parts.encoding) if residue else ()
        known: dict[int, int] = {}
        for low, high, target in self.table.moves(local):
            for byte in special:
                if low <= byte <= high:
                    if low < byte:
                        config = self._inside(machine, here, profile, target, None, b"", None, cont)
                        if config:
                            yield low, byte - 1, config
                    config = self._step(machine, state, byte, target, cont)
                    if config:
                        yield byte, byte, config
                    low = byte + 1
            if low <= high:
                found = known.get(target)
                if found is None:
                    found = self._inside(machine, here, profile, target, None, b"", None, cont)
                    known[target] = found
                if found:
                    yield low, high, found

    def move(self, machine: Machine, state: ElementState, cont: int, byte: int) -> int:
        """With all that is known: the state, the used keys, the bytes of the key."""
        here, profile, local, residue, _, data = state
        if local >= _OPEN:
            run = self.forced_run(state) or b'"'
            return self._first(machine, state, cont) if byte == run[0] else 0
        if byte == _QUOTE and local >= 0:
            return self._close(machine, state, cont)
        target = self.table.move(local, byte)
        if target is None:
            return 0
        if residue:
            return self._step(machine, state, byte, target, cont)
        kept = None if data is None else data + bytes([byte])
        return self._inside(machine, here, profile, target, None, b"", kept, cont)

    def _first(self, machine: Machine, state: ElementState, cont: int) -> int:
        """The configuration behind the first byte of a run, or of a quote that must come."""
        if state[2] == _SOMEWHERE:
            return machine.alone(machine.thread(self, (-1, -1, _NEEDS_HISTORY, None, b"", None), cont))
        if len(self.forced_run(state)) == 1:
            return self.behind(machine, state, cont)
        return machine.alone(machine.thread(self, self.skip(state, 1), cont))

    def _inside(
        self,
        machine: Machine,
        state: int,
        profile: int,
        local: int,
        residue: frozenset[str] | None,
        begun: bytes,
        data: bytes | None,
        cont: int,
    ) -> int:
        """The configuration at a place inside a key, DEAD if no key goes on from there."""
        labels = self.table.below(local)
        if residue:
            labels &= self._profiles.labels[profile]
            labels = fresh_labels(self.table, labels, self._counted, (local, begun), residue)
        profile = self._profiles.restrict(profile, labels)
        if profile < 0:
            return 0
        if data is not None and not self._profiles.labels[profile] & self._counted:
            data = None
        lexeme: ElementState = (state, profile, local, residue or None, begun, data)
        return machine.alone(machine.thread(self, lexeme, cont))

    def _step(self, machine: Machine, state: ElementState, byte: int, target: int, cont: int) -> int:
        """A byte where keys have been used that begin like this one."""
        here, profile, _, residue, begun, data = state
        assert residue is not None
        residue, begun = after_byte(residue, begun + bytes([byte]), target >= 0, self.parts.encoding)
        kept = None if data is None else data + bytes([byte])
        return self._inside(machine, here, profile, target, residue, begun, kept, cont)

    def _close(self, machine: Machine, state: ElementState, cont: int) -> int:
        """The configuration behind the closing quote, DEAD if no key ends here."""
        here, profile, local, residue, _, data = state
        label = self.table.end(local)
        if label < 0 or (residue and "" in residue and self._counted >> label & 1):
            return 0
        return self._closing(machine, here, profile, label, 1, data, cont)

    def _closing(
        self, machine: Machine, here: int, profile: int, label: int, read: int, data: bytes | None, cont: int
    ) -> int:
        """The configuration behind `read` bytes of what closes a key of a label."""
        profile = self._profiles.restrict(profile, 1 << label)
        if profile < 0:
            return 0
        local = _CLOSE + (read << _LABELS) + label
        lexeme: ElementState = (here, profile, local, None, b"", data if self._counted >> label & 1 else None)
        if read == len(self.words.closing(label)[0]):
            return self.behind(machine, lexeme, cont)
        return machine.alone(machine.thread(self, lexeme, cont))

    # Shortest words

    def measure(self) -> int | None:
        """By required keys alone where no more is asked, else by a cheapest way through the states."""
        if self.required is not None:
            return measure_required(self.parts, self.required)
        self._settle()
        return self.words.measure()

    def shortest(self, machine: Machine) -> bytes:
        """The entries of a cheapest way. Raises CompletionTooLong."""
        self._settle()
        return self.words.entries(machine, 0, _NONE, 0)

    def shortest_rest(self, machine: Machine, state: Frame) -> bytes:
        """The entries that have to follow; the frame must have kept its state. Raises CompletionTooLong."""
        kind = state[0]
        assert kind in (ENTRY, NEXT), "completions are asked of configurations that keep their state"
        here, used = self._held[state[1]], self._used.get(state[1], _NONE)
        if kind == ENTRY:
            return self.words.rest(machine, here, used)
        return self.words.entries(machine, here, used, 1)

    def shortest_from(self, machine: Machine, state: ElementState) -> bytes:
        """The rest of what is being read, then the entries that have to follow. Raises CompletionTooLong."""
        held, profile, local, residue, begun, data = state
        assert held >= 0, "completions are asked of configurations that keep their state"
        here, used = self._held[held], self._used.get(held, _NONE)
        if local == _OPEN:
            return self.words.entries(machine, here, used, 1)
        if local >= _COMMA:
            return self.words.rest(machine, here, used, 1)[local - _COMMA :]
        if local >= _CLOSE:
            label = local & _LABEL
            outcome = self._profiles.outcome(profile, label)
            rest = self.words.rest_behind_key(machine, here, used, label, outcome, data)
            return rest[local - _CLOSE >> _LABELS :]
        key = OpenKey(self._profiles.known[profile], local, residue or _NONE, begun, data)
        return self.words.rest_of_entry(machine, here, used, key)
