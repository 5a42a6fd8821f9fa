"""Constraints from tables that were made ahead of time: warm from the first mask on.

A matcher walks in the tables as long as they know the way. Where they do not, the constraint is compiled,
its machine is led to the same place, and the text goes on there; the masks are the same in either case. So a
configuration is one of two things: a state of the tables, or, from the number of states on, a configuration
of the machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from sglc.automata.term import Language
from sglc.runtime.mask.artifact.tables import (
    DEAD,
    UNKNOWN,
    MaskTables,
    TableError,
)
from sglc.runtime.mask.artifact.token_steps import byte_tokens
from sglc.runtime.mask.automaton.limits import ConstraintOptions, LimitTracker
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import FINAL
from sglc.runtime.mask.constraint import Constraint
from sglc.runtime.mask.mask_cache import MOST_TRANSITIONS
from sglc.runtime.mask.mask_trace import MaskTrace
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.mask_row import Mask
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

_ENDED = (DEAD, FINAL)
"""Configurations that have the same number here and on the machine."""


class _Live:
    """The machine that knows everything, behind tables that do not."""

    def __init__(self, constraint: Constraint, vocabulary: Vocabulary) -> None:
        matcher = constraint.matcher(vocabulary)
        self.machine = matcher.machine
        self.store = matcher._store
        self.account = matcher._account
        self.start = matcher.config


class _Compiled:
    """The constraint behind tables, made at the first question that needs it."""

    def __init__(self, language: Language | Callable[[], Language], options: ConstraintOptions) -> None:
        self._language = language
        self.options = options
        self._lock = threading.Lock()
        self._made: Constraint | None = None

    @property
    def language(self) -> Language:
        if not isinstance(self._language, Language):
            self._language = self._language()
        return self._language

    def constraint(self) -> Constraint:
        with self._lock:
            if self._made is None:
                self._made = Constraint(self.language, self.options)
            return self._made


class TabledStore:
    """Masks and steps from tables, and from the machine where these end; a matcher's store."""

    def __init__(self, tables: MaskTables, vocabulary: Vocabulary, compiled: _Compiled) -> None:
        self.vocabulary = vocabulary
        self.size = vocabulary.size
        self.masks: dict[int, Mask] = {}
        self.transitions: dict[int, int] = {}
        self.tables = tables
        self.start = tables.first
        self.known = tables.n
        """Configurations below are states of the tables."""
        self._compiled = compiled
        self._lock = threading.RLock()
        """Held while anything below is changed; those of the constraint and its machine are below it."""
        self._live: _Live | None = None
        self._ways: dict[int, tuple[int, int]] = {}
        """By state that was reached: the state before it, and the token between."""
        self._places: dict[int, int] = {}
        self._rows: dict[int, np.ndarray] = {}
        self._most_masks = max(16, compiled.options.mask_bytes // max(4 * vocabulary.words, 1))

    @property
    def machine(self) -> Machine:
        """The machine; it is made at the first question that needs it."""
        return self.live.machine

    @property
    def live(self) -> _Live:
        """The compiled constraint with its machine, made at the first text that goes on behind the tables."""
        if self._live is None:
            with self._lock:
                if self._live is None:
                    self._live = _Live(self._compiled.constraint(), self.vocabulary)
        return self._live

    @property
    def is_compiled(self) -> bool:
        """Whether the machine had to be asked."""
        return self._live is not None

    def place(self, config: int) -> int:
        """A configuration as one of the machine."""
        if config >= self.known:
            return config - self.known
        if config in _ENDED:
            return config
        with self._lock:
            live = self.live
            way: list[tuple[int, int]] = []
            while config not in self._places and config != self.start:
                before, token = self._ways[config]
                way.append((config, token))
                config = before
            found = self._places[config] if config in self._places else live.start
            for state, token in reversed(way):
                found = self._places[state] = live.store.next(found, token, live.account)
            return found

    def lifted(self, config: int) -> int:
        """A configuration of the machine as one of this store."""
        return config if config in _ENDED else config + self.known

    def accepts(self, config: int) -> bool:
        """Whether the text may end at a configuration."""
        if config in _ENDED:
            return config == FINAL
        if config < self.known:
            try:
                return self.tables.accepts(config)
            except TableError:
                pass
        return self.machine.accepts(self.place(config))

    def kept(self, config: int) -> Mask | None:
        """The mask of a configuration if it is at hand."""
        return self.masks.get(config)

    def shared(self, config: int) -> int:
        """No two states of the tables share a mask here."""
        return -1

    def mask(self, config: int, account: LimitTracker | None = None) -> Mask:
        """The mask of a configuration."""
        found = self.masks.get(config)
        if found is None:
            with self._lock:
                found = self._tabled_mask(config)
                if found is None:
                    found = self.live.store.mask(self.place(config), self.live.account)
                while len(self.masks) >= self._most_masks:
                    del self.masks[next(iter(self.masks))]
                self.masks[config] = found
        return found

    def _tabled_mask(self, config: int) -> Mask | None:
        if config >= self.known:
            return None
        try:
            row, count = self.tables.mask(self.tables.mask_of(config))
        except TableError:
            return None
        row.flags.writeable = False
        return Mask(row, count)

    def next(self, config: int, token: int, account: LimitTracker | None = None) -> int:
        """The configuration after a token (DEAD if it is not legal)."""
        size = self.vocabulary.size
        if not 0 <= token < size or config == DEAD:
            return DEAD
        key = config * size + token
        found = self.transitions.get(key)
        if found is None:
            with self._lock:
                found = self._step(config, token) if config < self.known else UNKNOWN
                if found == UNKNOWN:
                    live = self.live
                    found = self.lifted(live.store.next(self.place(config), token, live.account))
                if len(self.transitions) >= MOST_TRANSITIONS:
                    self.transitions.clear()
                self.transitions[key] = found
        return found

    def _step(self, state: int, token: int) -> int:
        """The state after a token, DEAD if it is not legal, UNKNOWN if the tables do not say."""
        row = self.mask(state).row
        if not _holds(row, token):
            return DEAD
        try:
            found = self.tables.step(state, token)
            if found == UNKNOWN:
                groups = self.tables.groups(state)
                found = next((to for mask, to in groups if _holds(self._group(mask), token)), UNKNOWN)
        except TableError:
            return UNKNOWN
        if found not in _ENDED:
            self._ways.setdefault(found, (state, token))
        return found

    def _group(self, mask: int) -> np.ndarray:
        found = self._rows.get(mask)
        if found is None:
            found = self.tables.mask(mask)[0]
            while len(self._rows) >= self._most_masks:
                del self._rows[next(iter(self._rows))]
            self._rows[mask] = found
        return found

    def advance(self, config: int, data: bytes, account: LimitTracker | None = None) -> int:
        """The configuration after bytes (DEAD if they are not legal)."""
        with self._lock:
            return self._advance(config, data)

    def _advance(self, config: int, data: bytes) -> int:
        at = 0
        while at < len(data) and config != DEAD and config < self.known:
            try:
                token = self.tables.byte_token(data[at])
            except TableError:
                break
            # What says which token writes a byte is only believed if it is so.
            if token < 0 or self.vocabulary.token_bytes[token] != data[at : at + 1]:
                break
            following = self.transitions.get(config * self.vocabulary.size + token)
            if following is None:
                following = self._step(config, token)
                if following == UNKNOWN:
                    break
                self.transitions[config * self.vocabulary.size + token] = following
            config = following
            at += 1
        if at == len(data) or config == DEAD:
            return config
        live = self.live
        return self.lifted(live.store.after(self.place(config), data[at:], live.account))

    after = advance


def _holds(row: np.ndarray, token: int) -> bool:
    return bool(int(row[token >> 5]) >> (token & 31) & 1)


class TabledMatcher(Matcher):
    """A matcher over tables; see `Matcher`. Configurations are not those of its machine."""

    __slots__ = ()
    _store: TabledStore  # type: ignore[assignment]

    def __init__(self, store: TabledStore, start: int) -> None:
        super().__init__(store, start, None)  # type: ignore[arg-type]

    @property
    def is_compiled(self) -> bool:
        """Whether the constraint had to be compiled, for this matcher or another one."""
        return self._store.is_compiled

    def is_accepting(self) -> bool:
        """Whether the text so far is legal as a whole, by the tables or the machine."""
        return self._store.accepts(self._config)

    def has_mask(self) -> bool:
        """Whether the mask is there: in the tables, or found already."""
        store, config = self._store, self._config
        return config < store.known or config in store.masks

    def trace_mask(self) -> MaskTrace:
        """What finding the mask takes without tables; see `Matcher`."""
        return self._compiled_matcher().trace_mask()

    def forced(self) -> bytes:
        """The bytes without an alternative, of the tables where they have them; else of the machine, which
        compiles the constraint."""
        store, config = self._store, self._config
        if config < store.known:
            try:
                return store.tables.forced(config)
            except TableError:
                pass
        return self._compiled_matcher().forced()

    def following(self) -> int:
        """How many bytes may come next; the machine is asked only where some byte has no token."""
        legal = self._legal_bytes()
        return self._compiled_matcher().following() if legal is None else int(np.count_nonzero(legal))

    def next_bytes(self) -> bytes:
        """The bytes that may come next, ascending; see `following`."""
        legal = self._legal_bytes()
        if legal is None:
            return self._compiled_matcher().next_bytes()
        return np.flatnonzero(legal).astype(np.uint8).tobytes()

    def words(self, count: int = 20, longest: int = 64) -> list[bytes]:
        """Words that may come next, of the machine, which compiles the constraint."""
        return self._compiled_matcher().words(count, longest)

    def _legal_bytes(self) -> np.ndarray | None:
        """By byte, whether it may come next, by the mask; None where some byte has no token."""
        tokens = byte_tokens(self._store.vocabulary)
        return None if tokens.min() < 0 else self.mask()[tokens >> 5] >> (tokens & 31) & 1

    def shortest_completion(self) -> bytes:
        """A shortest ending, of the tables where they have it; else of the machine, which compiles the
        constraint."""
        store, config = self._store, self._config
        if config < store.known:
            try:
                found = store.tables.ending(config)
            except TableError:
                found = None
            if found is not None:
                return found
        return self._compiled_matcher().shortest_completion()

    def _compiled_matcher(self) -> Matcher:
        """A matcher of the machine at the same place, without the steps before."""
        live = self._store.live
        return Matcher(live.store, self._store.place(self._config), live.account)


class TabledConstraint:
    """A constraint that was expanded ahead of time for one vocabulary; answers like a `Constraint`.

    It is compiled when a text goes on behind the tables, or when it is asked for another vocabulary.
    """

    def __init__(
        self,
        language: Language | Callable[[], Language],
        options: ConstraintOptions,
        tables: MaskTables,
        vocabulary: Vocabulary,
    ) -> None:
        self.tables = tables
        self._vocabulary = vocabulary
        self._compiled = _Compiled(language, options)
        self._store = TabledStore(tables, vocabulary, self._compiled)

    @property
    def is_empty(self) -> bool:
        """Whether no text at all is legal."""
        return self._store.start == DEAD

    @property
    def language(self) -> Language:
        """What it is the constraint of; made now if it was given as a function."""
        return self._compiled.language

    @property
    def options(self) -> ConstraintOptions:
        """What the constraint was compiled with."""
        return self._compiled.options

    def compiled(self) -> Constraint:
        """The constraint without tables."""
        return self._compiled.constraint()

    def matcher(self, vocabulary: Vocabulary) -> Matcher:
        """A matcher at the beginning of a text."""
        if vocabulary is not self._vocabulary and vocabulary.digest != self._vocabulary.digest:
            return self.compiled().matcher(vocabulary)
        return TabledMatcher(self._store, self._store.start)
