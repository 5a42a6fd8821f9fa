"""Masks and transitions of one machine under one vocabulary: computed once, then looked up by integer."""

from __future__ import annotations

from weakref import finalize

import numpy as np

from sglc.automata.caches import LeastUsed
from sglc.runtime.mask.automaton.limits import LimitTracker
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD
from sglc.runtime.mask.mask_trace import MaskTrace, Origin
from sglc.runtime.mask.search.lexeme_walks import LexemeWalks
from sglc.runtime.mask.search.mask_sharing import MaskSharing
from sglc.runtime.mask.search.search import MaskSearch
from sglc.runtime.mask.vocabulary.mask_row import Mask
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

MOST_TRANSITIONS = 1_000_000
"""(configuration, token) of one store, some 100 MB: more begin afresh. They are numbers in a plain dict, in
which a step is found soonest."""
_LONGEST_SPAN = 256
"""Byte strings of so many bytes at most are remembered with the configurations after them."""


class MaskStore:
    """Masks by configuration, configurations by (configuration, token); bounded, the oldest masks go first.

    New states are put on the account of the constraint that asks; it raises when there are too many.
    """

    def __init__(
        self, machine: Machine, vocabulary: Vocabulary, max_bytes: int, lease: object = None
    ) -> None:
        """`lease`: kept as long as the store is, see `workspaces`."""
        self._lease = lease
        self.machine = machine
        self.vocabulary = vocabulary
        self.size = vocabulary.size
        """Number of token ids."""
        self.accepting = machine.accepting
        self.masks: dict[int, Mask] = {}
        self._by_row: LeastUsed[bytes, Mask] = LeastUsed(max_bytes // 8, 4 * vocabulary.words)
        """Masks by what they are: three of four are equal to another one, and only one of these is kept."""
        self.transitions: dict[int, int] = {}
        self._spans: LeastUsed[tuple[int, bytes], int] = LeastUsed(size=_LONGEST_SPAN)
        """Configurations by those before and what was read: forced text is the same each time."""
        rows = max_bytes // max(4 * vocabulary.words, 1)
        # Of the bytes, half are for masks, a quarter for walks of lexemes, an eighth for masks that are
        # shared, and an eighth for those that others may be equal to.
        self._most_masks = max(16, rows // 2)
        self._walks = LexemeWalks(vocabulary, max(16, rows // 4))
        self._sharing = MaskSharing(machine, vocabulary.columns, max(8, rows // 8))
        self._search = MaskSearch(machine, self._walks, self._sharing)
        finalize(self, vars(self._search).clear).atexit = False
        self._origin: Origin = "known"
        """Where the mask that was found last comes from."""
        self.shared = machine.known_history_free
        """The configuration under which the mask of another one may be kept; -1 if there is none."""

    def describe_ahead(self, config: int, until: float) -> None:
        """Find out about the parts of a grammar that follows a configuration, while there is time (of
        `perf_counter`)."""
        self._search.describe_ahead(config, until)

    @property
    def table_bytes(self) -> int:
        """Bytes of the tables by which grammars are walked."""
        return self._search.table_bytes

    def kept(self, config: int) -> Mask | None:
        """The mask of a configuration if it is known."""
        return self.masks.get(config) or self.masks.get(self.shared(config))

    def mask(self, config: int, account: LimitTracker) -> Mask:
        """The mask of a configuration."""
        found = self.masks.get(config)
        if found is None:
            found = self.masks.get(self.machine.known_history_free(config))
        if found is None:
            with self.machine.lock, account:
                shared = self._shared(config)
                found = self.masks.get(shared)
                if found is None:
                    found = self._find(config, shared, account)
        return found

    def _shared(self, config: int) -> int:
        """The configuration under which others find the mask."""
        machine = self.machine
        if machine.history_dependent[config] and any(
            machine.place(thread)[0].differs for thread in machine.configs[config] if thread
        ):
            return config
        return machine.history_free(config)

    def _find(self, config: int, shared: int, account: LimitTracker) -> Mask:
        """The mask of a configuration that has none, which is kept."""
        machine = self.machine
        if machine.universal >= 0 and machine.universal in machine.configs[config]:
            found, needs_history = Mask(self.vocabulary.writable), False
            self._origin = "universal"
        else:
            known = None if self._search.reads_on(config) else self._sharing.find(config)
            if known is not None:
                found, needs_history = known, False
                self._origin = "shared"
            else:
                self._origin = "searched"
                row = np.zeros(self.vocabulary.words, np.int32)
                needs_history, path = self._search.run(config, row, account)
                found = self._same(Mask(row))
                if path is not None:
                    self._sharing.keep(path, found)
        while len(self.masks) >= self._most_masks:
            del self.masks[next(iter(self.masks))]
        self.masks[config if needs_history else shared] = found
        return found

    def _same(self, mask: Mask) -> Mask:
        """The mask, or one that is equal to it."""
        return self._by_row.get(mask.data) or self._by_row.keep(mask.data, mask)

    def trace(self, config: int, account: LimitTracker) -> MaskTrace:
        """What it takes to find the mask of a configuration, which is kept as ever."""
        with self.machine.lock:
            threads = len(self.machine.configs[config])
            known = self.kept(config)
            if known is not None:
                return MaskTrace("known", known.count, threads)
            before = self._figures(account)
            found = self.mask(config, account)
            spent = [now - then for now, then in zip(self._figures(account), before, strict=True)]
            return MaskTrace(self._origin, found.count, threads, *spent)

    def _figures(self, account: LimitTracker) -> tuple[int, ...]:
        """What a trace counts, so far, in the order of its fields."""
        machine, whole = self.machine, self._walks.whole
        walks = whole.walks, whole.entries, self._search.grammar_walks
        return *walks, len(machine.configs), machine.row_count, len(machine.nodes), account.spent

    def next(self, config: int, token: int, account: LimitTracker) -> int:
        """The configuration after a token (DEAD if it is not legal)."""
        if not 0 <= token < self.vocabulary.size:
            return DEAD
        key = config * self.vocabulary.size + token
        found = self.transitions.get(key)
        if found is None:
            # Others may be at the same token, or forget what has been found: nothing is shared but by one.
            with self.machine.lock:
                found = self.transitions.get(key)
                if found is None:
                    found = self._step(config, token, account)
                    if len(self.transitions) >= MOST_TRANSITIONS:
                        self.transitions.clear()
                    self.transitions[key] = found
        return found

    def _step(self, config: int, token: int, account: LimitTracker) -> int:
        data = self.vocabulary.token_bytes[token]
        return self.advance(config, data, account) if data else DEAD

    def after(self, config: int, data: bytes, account: LimitTracker) -> int:
        """The same as `advance`, remembered."""
        if not 0 < len(data) <= _LONGEST_SPAN:
            return self.advance(config, data, account)
        key = config, bytes(data)
        found = self._spans.get(key)
        if found is None:
            with self.machine.lock, account.reading(len(data)):
                found = self.machine.advance(config, data)
                self._spans.keep(key, found)
        return found

    def advance(self, config: int, data: bytes, account: LimitTracker) -> int:
        """The configuration after bytes (DEAD if they are not legal)."""
        with self.machine.lock, account.reading(len(data)):
            return self.machine.advance(config, data)
