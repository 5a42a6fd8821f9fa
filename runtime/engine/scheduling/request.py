"""What the batching engine keeps for a branch (`KvHandle`), and what a branch waits for (`Request`)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.engine.scheduling.draft import Draft
from sglc.runtime.kv.blocks import BLOCK_TOKENS, PoolFull
from sglc.runtime.kv.sequence import Sequence as Blocks


@dataclass(slots=True, eq=False)
class KvHandle:
    """What the engine keeps for a branch: keys and values, and the last logits.

    Without a sequence nothing is kept: the branch is new, or its memory was taken for another. The tokens
    of a branch may have changed since; the first `Branch.settled` of them are those of the sequence.
    """

    branch: Branch
    sequence: Blocks | None = None
    rows: np.ndarray | None = None
    """Float32 [n, V]: row i holds the logits after the first `first + i + 1` tokens of the sequence."""
    best: list[int] | None = None
    """The largest place of each row, where the executor has looked for it."""
    first: int = 0
    served: int = -1
    """The last row that was requested."""
    draft: Draft | None = None
    """The tree whose logits the rows are, where it is no chain: row i + 1 those after its token i."""
    beside: bool = False
    """Whether the sequence still has what was computed beside the first path of the tree."""
    waiting: int = 0
    """Requests that wait with this handle."""
    used: int = 0
    """When it was last part of a step, in steps."""

    def forget(self) -> None:
        """Let go of the sequence and of the logits."""
        if self.sequence is not None:
            self.sequence.release()
        self.sequence = self.rows = self.draft = None
        self.branch.settled = 0

    def row_in_tree(self) -> int:
        """Which of the rows holds the logits after the branch, which has at least the tokens before the tree;
        -1 for none."""
        assert self.draft is not None and self.sequence is not None
        branch, base = self.branch, self.first + 1
        settled = branch.settled
        if settled < base:
            if branch.tokens[settled:base] != self.sequence.tokens[settled:base]:
                return -1
            branch.settled = base
        tokens = branch.tokens[base:]
        nodes = self.draft.path(tokens)
        if len(nodes) < len(tokens):
            return -1
        return nodes[-1] + 1 if nodes else 0

    def follow(self, tokens: list[int], length: int) -> int:
        """Bring the sequence, whose first `length` tokens are those of its branch, to as many of `tokens` as
        the last step has computed, those of its tree included; how many it has then."""
        draft, sequence = self.draft, self.sequence
        assert sequence is not None
        self.draft, base = None, self.first + 1
        if draft is not None and self.beside and length >= base:
            # What lies on the first path is where it belongs.
            moved = draft.path(tokens[base:])[length - base :]
            if moved:
                try:
                    sequence.move(length, [base + node for node in moved], [draft.tokens[n] for n in moved])
                except PoolFull:
                    pass  # they are computed again
                return sequence.length
        if length < sequence.length:
            sequence.rollback(length)
        return length


@dataclass(slots=True, eq=False)
class Request:
    """Tokens of a branch that are to be computed, and who waits for it."""

    branch: Branch
    handle: KvHandle
    tokens: list[int]
    """All tokens of the branch, and drafts behind them. Without drafts it is the branch's own list, which
    stays as it is while its task waits."""
    first: int
    """Logits are wanted after this token and all behind it."""
    future: asyncio.Future[object]
    number: int
    """Requests are numbered in the order of their arrival."""
    since: float
    """When it arrived (perf_counter)."""
    scored: Sequence[int] = ()
    """A text whose tokens are scored by the logits instead of keeping these; its first token follows
    `first`."""
    scores: Sequence[float] = ()
    """Those of the first tokens of the text."""
    drafts: int = 0
    parents: Sequence[int] = ()
    """How the drafts follow each other, as `Draft.parents`."""
    sampling_request: SamplingRequest | None = None
    """How the executor samples the token; the future's result is then a `Sampled`."""
    passed_over: int = 0
    """Steps that went without it."""
    started: bool = False

    @property
    def wanted_from(self) -> int:
        """The first token after which logits are still wanted."""
        return self.first + len(self.scores)

    @property
    def computed(self) -> int:
        """Tokens whose keys and values are there."""
        return self.handle.sequence.length if self.handle.sequence is not None else 0

    @property
    def is_short(self) -> bool:
        """Whether it needs a token or a few, and is no prompt."""
        return len(self.tokens) - self.computed < BLOCK_TOKENS

    def rank(self, turn: int) -> tuple[int, float, int, bool, int]:
        """Requests of lower rank have the first claim to a place in a step. They are ordered by priority, by
        deadline, one of each family in turn, runs that have begun before prompts of others, and the oldest
        request first."""
        branch = self.branch
        deadline = inf if branch.deadline is None else branch.deadline
        begins = not branch.admission.admitted and not self.is_short
        return -branch.priority, deadline, turn, begins, self.number
