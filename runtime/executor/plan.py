"""The interface of executors: one step over pieces of many sequences.

An executor owns one pool of blocks. A block holds keys and values of `BLOCK_TOKENS` positions of every layer;
the engine decides who uses which block. A sequence is known to the executor by its block table alone:
position p lies in block `table[p // BLOCK_TOKENS]` at place `p % BLOCK_TOKENS`. Decoding one token, a chunk
of a prompt, drafts that are to be verified and options that are to be scored are all the same: a piece.

Drafts may be a tree (token tree verification: Miao et al., SpecInfer, 2023). Each token of a tree attends to
what its own path has before it, and to nothing beside that. Its keys and values lie where its place among the
piece's tokens says, which for tokens beside the first path is not their position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeGuard

import numpy as np

from sglc.runtime.tokenizer import Tokenizer


class Piece(NamedTuple):
    """Tokens of one sequence that a step computes.

    Their keys and values go to the places `start`, `start + 1`, … of the table; those of the positions before
    are in its blocks already. No block that a piece writes to is read or written by another piece of the same
    step.
    """

    table: Sequence[int]
    """Blocks of the sequence from position 0 on, as far as the last token of the piece at least."""
    start: int
    tokens: Sequence[int]
    """At least one."""
    wanted: int = 1
    """Logits are wanted after each of the last `wanted` tokens; 0: only keys and values are to be made."""
    parents: Sequence[int] = ()
    """The last tokens may be a tree: for each of so many its parent's number among them, which is smaller
    than its own, or -1 for the token before them. Without any, each token follows the one before it. For
    executors with `trees` only."""


@dataclass(frozen=True, slots=True)
class Picking:
    """How a token is picked from a row: mask, temperature, top-k, top-p and min-p, in this order."""

    temperature: float = 0.0
    """0 takes the argmax, the first of several."""
    key: int = 0
    """64 bits that the noise of each token follows from; see `sampling_reference.gumbel`."""
    top_k: int | None = None
    """So many of the most likely tokens, the first of equals. None is no limit, here and below."""
    top_p: float | None = None
    """The fewest of them whose probabilities reach this, the first of equals."""
    min_p: float | None = None
    """Those at least so many times as likely as the most likely one."""
    scored: bool = False
    """Whether the token's log-probability is wanted."""
    weighed: bool = False
    """Whether the probability of all tokens of the mask is wanted."""
    top: int = 0
    """So many of the most probable tokens of the whole distribution are to be told."""


class Candidate(NamedTuple):
    """A token that a model thought of: its natural log-probability in the whole distribution (temperature 1,
    no mask), and whether the mask allowed it."""

    token: int
    logprob: float
    legal: bool


class Picked(NamedTuple):
    """The result of a step some of whose tokens were picked."""

    tokens: np.ndarray
    """int64 [n]; -1 where no token may be picked."""
    logprobs: np.ndarray
    """float64 [n]: natural logarithms of the tokens' probabilities in the whole distributions (temperature
    1, no mask); NaN where they were not wanted."""
    masses: np.ndarray
    """float64 [n]: natural logarithms of the probabilities of the masks' tokens, at the temperature (1 where
    it is 0); NaN where they were not wanted."""
    tops: Sequence[tuple[Candidate, ...]]
    """By row the most probable tokens, the best first; none where none were wanted."""
    rows: np.ndarray
    """Float32 [others, V], as of `run`: the wanted rows that nothing was picked from."""


class ExecutorError(Exception):
    """A step could not be computed; nothing of it counts, and the same step may be run again."""


class Executor(Protocol):
    """Computes steps of a model. One call at a time, from any thread.

    Results depend on the sequence alone: on neither the other pieces of a step nor the cut of a sequence into
    pieces, as far as the arithmetic of the executor allows (`invariant`).
    """

    name: str
    """Name of the model."""
    kind: str
    """`torch` or `native`."""
    tokenizer: Tokenizer
    context_length: int
    """Most positions of one sequence."""
    block_bytes: int
    """Bytes of keys and values of one block."""
    identity: str
    """Names weights, arithmetic and layout of blocks; blocks may go from one executor to another only where
    it is the same."""
    invariant: bool
    """Whether logits are bit-equal in any batch and any chunking."""
    trees: bool
    """Whether pieces may have `parents`. If so it is a `TreeExecutor`."""
    prompt_tokens: int
    """Most tokens of a step that reads nothing but prompts: as many as products of them gain by."""
    best: np.ndarray | None
    """Of the rows of the last `run`, int32: the place of the largest logit, the first of equals, or -1. None
    where it was not looked for."""

    def reserve(self, blocks: int) -> None:
        """Make the pool `blocks` blocks large, or larger than before; what it holds is kept.

        On a CPU memory is taken from the system only as blocks are written. Raises MemoryError.
        """

    def run(self, pieces: Sequence[Piece]) -> np.ndarray:
        """Compute keys, values and logits of some pieces.

        Float32 [sum of wanted, V]: the rows of the first piece in order, then those of the next. The array is
        the caller's: it is not written to again while anything refers to it. Raises ExecutorError.
        """

    def copy_block(self, source: int, target: int) -> None:
        """Copy all of a block's keys and values."""

    def read_block(self, block: int) -> bytes:
        """A block's keys and values, `block_bytes` bytes in an order of the executor's own."""

    def write_block(self, block: int, data: bytes) -> None:
        """Put back what `read_block` gave. Raises ValueError for another number of bytes."""

    def close(self) -> None:
        """Release threads and memory."""


class TreeExecutor(Executor, Protocol):
    """An executor that computes trees of drafts, and moves what it has computed beside the first path."""

    def read_places(self, places: Sequence[int]) -> object:
        """Keys and values at some places of the pool, for `write_places`. A place is
        `block * BLOCK_TOKENS + position % BLOCK_TOKENS`."""

    def write_places(self, places: Sequence[int], held: object) -> None:
        """Put what `read_places` gave to as many other places, in the same order."""


class DrawingExecutor(Executor, Protocol):
    """An executor that can pick tokens where its logits are, so that these stay there."""

    draws: bool
    """Whether it should be asked to."""

    def mask_rows(self, count: int) -> np.ndarray:
        """An array for masks, int32 [count, ceil(V / 32)], which `pick` is quickest with; not set.

        Not to be called while a step is launched or picked from.
        """

    def launch(self, pieces: Sequence[Piece]) -> object:
        """Begin a step, for `pick`; a device may go on computing after the call. Raises ExecutorError."""

    def pick(
        self, launched: object, rows: Sequence[int], masks: np.ndarray, pickings: Sequence[Picking]
    ) -> Picked:
        """Pick tokens from some of the wanted rows of the step that was launched last, and end it.

        `rows` are ascending numbers among all rows that `run` would give, at least one. Of each there is a
        mask, a row of int32 [n, ceil(V / 32)]: bit t % 32 of word t // 32 for a token t that may be picked.
        Raises ExecutorError, also for what failed after the launch.
        """


def can_branch(executor: Executor) -> TypeGuard[TreeExecutor]:
    """Whether pieces may be trees."""
    return executor.trees


def can_draw(executor: Executor) -> TypeGuard[DrawingExecutor]:
    """Whether an executor should be asked to pick tokens."""
    return bool(getattr(executor, "draws", False))
