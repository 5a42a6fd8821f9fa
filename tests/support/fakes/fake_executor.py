"""An executor whose logits are a known function of the whole sequence, told from what its blocks hold.

The state of a sequence after each token lies where keys and values would lie. So a wrong block table, a
block that is used twice or a missing copy gives wrong logits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from sglc.runtime.executor.plan import ExecutorError, Piece
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.model.base import Cache
from sglc.runtime.tokenizer import Tokenizer

START = 7


def following(state: int, token: int) -> int:
    """The state of a sequence after one more token."""
    return (state * 31 + token + 1) % 1_000_003


def logits_of_state(state: int, size: int) -> np.ndarray:
    """Float32 [size]."""
    return ((state * (np.arange(size, dtype=np.int64) + 3) * 7919) % 10_007 / 1000).astype(np.float32)


def expected_logits(tokens: Sequence[int], size: int) -> np.ndarray:
    """What the executor must give after these tokens."""
    state = START
    for token in tokens:
        state = following(state, token)
    return logits_of_state(state, size)


class FakeExecutor:
    """Implements `Executor`. `steps` are the pieces of every step so far."""

    name = "fake"
    kind = "fake"
    block_bytes = 8 * BLOCK_TOKENS
    identity = "fake"
    invariant = True
    trees = False
    prompt_tokens = 256

    def __init__(self, tokenizer: Tokenizer | None = None, context_length: int = 4096) -> None:
        self.tokenizer = tokenizer or Tokenizer.of_bytes()
        self.context_length = context_length
        self.size = len(self.tokenizer.token_bytes)
        self.states = np.full((0, BLOCK_TOKENS), -1, np.int64)
        self.steps: list[list[Piece]] = []
        self.gate: threading.Event | None = None
        self.moved = 0
        """Positions that were moved."""
        self.fault: Callable[[Piece], bool] | None = None
        """Pieces for which it says yes cannot be computed."""
        self.closed = False
        self.best: np.ndarray | None = None
        self._running = threading.Lock()

    def reserve(self, blocks: int) -> None:
        grown = np.full((blocks, BLOCK_TOKENS), -1, np.int64)
        grown[: len(self.states)] = self.states
        self.states = grown

    def run(self, pieces: Sequence[Piece]) -> np.ndarray:
        assert self._running.acquire(blocking=False), "one call at a time"
        try:
            return self._run(pieces)
        finally:
            self._running.release()

    def _run(self, pieces: Sequence[Piece]) -> np.ndarray:
        if self.gate is not None:
            assert self.gate.wait(10)
        self.steps.append(list(pieces))
        written: set[int] = set()
        rows = []
        for piece in pieces:
            if self.fault is not None and self.fault(piece):
                raise ExecutorError("this piece cannot be computed")
            assert len(piece.tokens) and 0 <= piece.wanted <= len(piece.tokens)
            end = piece.start + len(piece.tokens)
            assert end <= self.context_length
            own = set(piece.table[piece.start // BLOCK_TOKENS : -(-end // BLOCK_TOKENS)])
            assert not own & written, "two pieces write to one block"
            written |= own
            state = START
            if piece.start:
                place = piece.start - 1
                state = int(self.states[piece.table[place // BLOCK_TOKENS], place % BLOCK_TOKENS])
                assert state >= 0, "the position before has not been computed"
            begin, states = len(piece.tokens) - len(piece.parents), [state]
            assert self.trees or not piece.parents
            for index, token in enumerate(piece.tokens):
                if index >= begin:  # a tree: the state before is that of the parent
                    parent = piece.parents[index - begin]
                    assert -1 <= parent < index - begin and begin
                    state = states[begin + parent + 1]
                state = following(state, token)
                states.append(state)
                place = piece.start + index
                self.states[piece.table[place // BLOCK_TOKENS], place % BLOCK_TOKENS] = state
                if index >= len(piece.tokens) - piece.wanted:
                    rows.append(logits_of_state(state, self.size))
        made = np.stack(rows) if rows else np.empty((0, self.size), np.float32)
        self.best = made.argmax(1).astype(np.int32)
        return made

    def copy_block(self, source: int, target: int) -> None:
        self.states[target] = self.states[source]

    def read_places(self, places: Sequence[int]) -> np.ndarray:
        self.moved += len(places)
        return self.states.reshape(-1)[list(places)]

    def write_places(self, places: Sequence[int], held: object) -> None:
        self.states.reshape(-1)[list(places)] = held

    def read_block(self, block: int) -> bytes:
        return self.states[block].tobytes()

    def write_block(self, block: int, data: bytes) -> None:
        if len(data) != self.block_bytes:
            raise ValueError(f"a block has {self.block_bytes} bytes, not {len(data)}")
        self.states[block] = np.frombuffer(data, np.int64)

    def close(self) -> None:
        self.closed = True


class FakeModel:
    """A `LanguageModel` with the logits of `FakeExecutor`, for the reference engine."""

    name = "fake"

    def __init__(self, tokenizer: Tokenizer | None = None, context_length: int = 4096) -> None:
        self.tokenizer = tokenizer or Tokenizer.of_bytes()
        self.context_length = context_length

    def new_cache(self) -> FakeCache:
        return FakeCache([START])

    def forward(self, cache: Cache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        assert isinstance(cache, FakeCache)
        rows = []
        for token in tokens:
            cache.states.append(following(cache.states[-1], token))
            rows.append(logits_of_state(cache.states[-1], len(self.tokenizer.token_bytes)))
        return np.stack(rows) if every else rows[-1]


class FakeCache:
    """The states of a sequence, the first before any token."""

    def __init__(self, states: list[int]) -> None:
        self.states = states

    @property
    def length(self) -> int:
        return len(self.states) - 1

    def clone(self) -> FakeCache:
        return FakeCache(list(self.states))

    def truncate(self, length: int) -> None:
        del self.states[length + 1 :]
