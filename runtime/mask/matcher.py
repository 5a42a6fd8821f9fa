"""One text under a constraint: masks, steps, rollback. All its state is one integer and a linked history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Self, cast

import numpy as np

from sglc.kernels.bitmask.operations import RowDelta, fill_rows
from sglc.runtime.mask.automaton.limits import LimitTracker, limited
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD, FINAL
from sglc.runtime.mask.gss.completion import completion, forced
from sglc.runtime.mask.mask_cache import MaskStore
from sglc.runtime.mask.mask_trace import MaskTrace
from sglc.runtime.mask.next_words import next_words
from sglc.runtime.mask.vocabulary.mask_row import Mask

_FEW = 6
"""Below this many rows, a copy for each is quicker than one call for all."""
_SOURCE_OF = attrgetter("source")

_History = tuple[int, int | bytes, "_History | None"]
"""(configuration before the step, token or bytes of the step, the steps before)."""


class Matcher:
    """The bytes so far, as a configuration of the constraint's machine.

    A mask allows a token if and only if the text with it can still be completed. End tokens are the caller's
    business: masks never contain tokens without bytes.
    """

    __slots__ = ("_account", "_config", "_history", "_length", "_row", "_store", "_view")

    def __init__(self, store: MaskStore, start: int, account: LimitTracker) -> None:
        self._store = store
        self._account = account
        self._config = start
        self._history: _History | None = None
        self._length = 0
        self._row: np.ndarray | None = None
        """The row that was written last, which mostly is the next one, and below as a buffer."""
        self._view: memoryview

    # Questions

    @property
    def machine(self) -> Machine:
        """The machine whose configuration this is."""
        return self._store.machine

    @property
    def store(self) -> object:
        """What the matchers of one constraint share: `config` means the same to all that have it."""
        return self._store

    @property
    def config(self) -> int:
        """The configuration: equal numbers of one constraint have equal futures."""
        return self._config

    @property
    def steps(self) -> int:
        """Number of steps taken (tokens and byte strings) that `rollback` can take back."""
        return self._length

    def is_accepting(self) -> bool:
        """Whether the text so far is legal as it stands."""
        return bool(self._store.accepting[self._config])

    def is_complete(self) -> bool:
        """Whether the text is legal and nothing can follow."""
        return self._config == FINAL

    def is_dead(self) -> bool:
        """Whether no continuation is legal. Only a constraint without any legal text gets here."""
        return self._config == DEAD

    def fill_mask(self, row: np.ndarray) -> None:
        """Write the mask of the next token into `row` (int32[ceil(V/32)]); ValueError for any other."""
        found = self._store.masks.get(self._config)
        if found is None:
            found = self._store.mask(self._config, self._account)
        try:
            if row is not self._row:
                data = row.data
                if data.format != "i" or data.ndim != 1:
                    raise _unfit(row, len(found.row))
                self._row, self._view = row, data.cast("B")
            self._view[:] = found.data
        except (AttributeError, TypeError, ValueError, NotImplementedError, BufferError):
            self._row = None
            raise _unfit(row, len(found.row)) from None

    def mask(self) -> np.ndarray:
        """The same as a shared row that must not be written to."""
        return self._store.mask(self._config, self._account).row

    def trace_mask(self) -> MaskTrace:
        """What finding the mask takes; the mask is kept, so to ask again says that it is known."""
        return self._store.trace(self._config, self._account)

    def has_mask(self) -> bool:
        """Whether the mask is known already, so that `mask` is a look-up."""
        masks, machine, config = self._store.masks, self._store.machine, self._config
        if config in masks:
            return True
        if not machine.history_dependent[config]:
            return False
        with machine.lock:
            return machine.history_free(config) in masks

    def mask_size(self) -> int:
        """How many tokens may come next."""
        return self._store.mask(self._config, self._account).count

    def allowed(self) -> np.ndarray:
        """The ids of the tokens that may come next, ascending."""
        return self._store.vocabulary.unpack(self.mask())

    def allows(self, token: int) -> bool:
        """Whether a token may come next, without computing the whole mask."""
        store, size = self._store, self._store.size
        following = store.transitions.get(self._config * size + token) if 0 <= token < size else None
        if following is None:
            following = store.next(self._config, token, self._account)
        return following != DEAD

    def allows_each(self, tokens: Iterable[int]) -> np.ndarray:
        """bool by token: which of some tokens may come next, without computing the whole mask."""
        known = self._store.masks.get(self._config)
        if known is None:
            return np.array([self.allows(token) for token in tokens], bool)
        row, size = known.row, self._store.size
        return np.array(
            [0 <= token < size and bool(row.item(token >> 5) >> (token & 31) & 1) for token in tokens], bool
        )

    def first_allowed(self, tokens: Iterable[int], count: int = 1) -> list[int]:
        """The first `count` of some tokens that may come next; fewer if no more of them may.

        The tokens are those that a model likes best, the best first: mostly one of the first few is legal,
        and no others are asked about. The whole mask is not computed.
        """
        if count < 1:
            raise ValueError(f"at least one token is asked for, not {count}")
        found: list[int] = []
        for token in tokens:
            if self.allows_each((int(token),))[0]:
                found.append(int(token))
                if len(found) == count:
                    break
        return found

    def longest(self) -> int:
        """Bytes of the longest token that may come next, 0 if there is none."""
        return self._store.mask(self._config, self._account).longest(self._store.vocabulary)

    def forced(self) -> bytes:
        """The bytes that must come next; empty where there is a choice or the text may end."""
        found = self.machine.forced_runs.get(self._config)
        if found is None:
            with self.machine.lock, self._account:
                found = forced(self.machine, self._config)
        return found

    def following(self) -> int:
        """How many bytes may come next."""
        with self.machine.lock, self._account:
            return int(np.count_nonzero(self.machine.first(self._config)))

    def next_bytes(self) -> bytes:
        """The bytes that may come next, ascending."""
        with self.machine.lock, self._account:
            return np.flatnonzero(self.machine.first(self._config)).astype(np.uint8).tobytes()

    def forced_tokens(self, encode: Callable[[bytes], Sequence[int]] | None = None) -> list[int]:
        """Tokens of the bytes that must come next, as far as no other token can write their beginning.

        `encode` is the tokenizer of the model: it gives the tokens as the model has seen such text; without
        it, each is the longest that fits. The last bytes are left out where a token begins in them and goes
        on behind them, unless nothing can follow. Raises ValueError if the tokens of `encode` do not write
        the bytes.
        """
        data = self.forced()
        vocabulary = self._store.vocabulary
        tokens = vocabulary.tokens_of(data) if encode is None else list(encode(data))
        if not data or tokens is None:
            return []
        pieces = [vocabulary.token_bytes[token] or b"" for token in tokens]
        if b"".join(pieces) != data:
            raise ValueError("the tokens do not write the bytes that are forced")
        behind = self.clone()
        if not behind.accept_bytes(data) or behind.is_complete():
            return tokens
        kept, at = 0, 0
        while kept < len(tokens) and not vocabulary.trie.extends(data[at:]):
            at += len(pieces[kept])
            kept += 1
        return tokens[:kept]

    def shortest_completion(self) -> bytes:
        """A shortest byte string that makes the text legal. Raises ConstraintError on a dead matcher."""
        machine = self._store.machine
        found = machine.endings.get(self._config)
        if found is None:
            with machine.lock, limited(self._account.options.max_work, "max_work", "a completion"):
                found = completion(machine, self._config)
        return found

    def words(self, count: int = 20, longest: int = 64) -> list[bytes]:
        """Words that may come next, the shorter ones first: up to `count` different ones of at most `longest`
        bytes. Of what may be almost anything (the letters of a text) there is one example.

        A word is in whole characters, has more than blanks, and ends where something else than letters and
        digits may follow. Nothing where nothing can follow.
        """
        with self.machine.lock, self._account:
            return next_words(self.machine, self._config, count, longest)

    def text(self) -> bytes:
        """All bytes accepted so far."""
        parts: list[bytes] = []
        token_bytes = self._store.vocabulary.token_bytes
        history = self._history
        while history is not None:
            step = history[1]
            parts.append(step if isinstance(step, bytes) else token_bytes[step] or b"")
            history = history[2]
        return b"".join(reversed(parts))

    # Steps

    def accept(self, token: int) -> bool:
        """Take a token; False, and nothing happens, if it is not legal."""
        store = self._store
        config, size = self._config, store.size
        following = store.transitions.get(config * size + token) if 0 <= token < size else None
        if following is None:
            following = store.next(config, token, self._account)
        if not following:  # DEAD
            return False
        self._history = (config, token, self._history)
        self._config = following
        self._length += 1
        return True

    def accept_bytes(self, data: bytes) -> bool:
        """Take bytes as one step; False, and nothing happens, if they are not legal."""
        config = self._store.after(self._config, data, self._account)
        if config == DEAD:
            return False
        self._history = (self._config, bytes(data), self._history)
        self._config = config
        self._length += 1
        return True

    def accept_prefix(self, data: bytes) -> int:
        """Take as many bytes as are legal, as one step (none if there is no such byte); how many those are.

        Blocks are halved where one is not legal, so that a text that is mostly legal costs little more than
        `accept_bytes`.
        """
        store, account = self._store, self._account
        config, count, size = self._config, 0, len(data)
        while size and count < len(data):
            after = store.after(config, data[count : count + size], account)
            if after == DEAD:
                size //= 2
            else:
                config, count = after, min(count + size, len(data))
        if count:
            self._history = (self._config, bytes(data[:count]), self._history)
            self._config = config
            self._length += 1
        return count

    def rollback(self, steps: int) -> None:
        """Take back the last `steps` calls of `accept`, `accept_bytes` and `accept_prefix` that took some."""
        if not 0 <= steps <= self._length:
            raise ValueError(f"cannot take back {steps} of {self._length} steps")
        for _ in range(steps):
            assert self._history is not None
            self._config, _, self._history = self._history
        self._length -= steps

    def clone(self) -> Self:
        """An independent matcher at the same place."""
        twin = object.__new__(type(self))
        twin._store = self._store
        twin._account = self._account
        twin._config = self._config
        twin._history = self._history
        twin._length = self._length
        twin._row = None
        return twin


def fill_masks(matchers: Sequence[Matcher], rows: np.ndarray, at: np.ndarray | None = None) -> list[Mask]:
    """Write the masks of several matchers into rows of `rows` (int32[m, ceil(V/32) or more]); return them.

    Matcher i has row i, or row at[i] (int64[n]); further words of a row are left alone. Masks that are known
    are written in one native call, which runs without the interpreter lock. Raises ValueError if the matchers
    do not fit the rows, or have vocabularies of different sizes.
    """
    if len(matchers) < _FEW:
        return _fill_each(matchers, rows, at)
    store = matchers[0]._store
    configs = [matcher._config for matcher in matchers if matcher._store is store]
    if len(configs) < len(matchers):
        return _fill_new(matchers, rows, at)
    known: list[Mask | None] = list(map(store.masks.get, configs))
    if None in known:
        masks, shared = store.masks.get, store.shared
        known = [mask or masks(shared(config)) for mask, config in zip(known, configs, strict=True)]
        if None in known:
            return _fill_new(matchers, rows, at)
    found = cast("list[Mask]", known)
    sources = list(map(_SOURCE_OF, found))
    if None in sources:
        return _fill_new(matchers, rows, at)
    fill_rows(sources, rows, at)
    return found


def _fill_each(matchers: Sequence[Matcher], rows: np.ndarray, at: np.ndarray | None) -> list[Mask]:
    """The same row by row."""
    if len(rows if at is None else at) != len(matchers):
        raise ValueError(f"{len(matchers)} matchers do not fill {len(rows)} rows")
    if at is not None and len(at) and not 0 <= int(at.min()) <= int(at.max()) < len(rows):
        raise ValueError(f"a row is outside of the {len(rows)} rows")
    found = []
    for matcher, row in zip(matchers, rows if at is None else map(rows.__getitem__, at), strict=True):
        store, config = matcher._store, matcher._config
        mask = store.masks.get(config) or store.mask(config, matcher._account)
        target = row if len(row) == len(mask.row) else row[: len(mask.row)]
        target.data[:] = mask.row.data
        found.append(mask)
    return found


def _fill_new(matchers: Sequence[Matcher], rows: np.ndarray, at: np.ndarray | None) -> list[Mask]:
    """The same where the matchers have several stores, or no batch has written some of the masks before."""
    found, sources = [], []
    for matcher in matchers:
        store = matcher._store
        mask = store.kept(matcher._config)
        if mask is None:
            # A mask that is new may never be needed again: it is written as it is.
            mask = store.mask(matcher._config, matcher._account)
            source = mask.source or RowDelta(mask.row)
        else:
            source = mask.source or store.vocabulary.bases.source(mask.row)
            mask.source = source
        found.append(mask)
        sources.append(source)
    fill_rows(sources, rows, at)
    return found


def _unfit(row: object, size: int) -> ValueError:
    """What is said of a row that a mask cannot be written to."""
    given = type(row).__name__
    if isinstance(row, np.ndarray):
        read_only = "" if row.flags.writeable else ", which is read-only"
        given = f"{row.dtype}{list(row.shape)}{read_only}"
    return ValueError(f"a mask is written to a numpy array int32[{size}], not to {given}")
