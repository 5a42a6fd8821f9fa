"""Branches: sequences of tokens that grow, are cut back and are forked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.scheduling.draft import NO_DRAFT, Draft


@dataclass(slots=True, eq=False)
class Admission:
    """Whether a run has begun to be served. Its branches share this. Where not all can be served, runs that
    have begun go on before others begin."""

    admitted: bool = False


class Server(Protocol):
    """An engine as its branches know it."""

    async def logits(self, branch: Branch, draft: Draft) -> np.ndarray:
        """Logits [V] behind the branch's tokens, with the draft in the same step. Raises EngineError."""

    async def draw(self, branch: Branch, sampling_request: SamplingRequest, draft: Draft) -> Sampled:
        """The token that answers a sampling request behind the branch's tokens. Raises EngineError, and
        NothingAllowed where the mask is empty."""

    async def score_many(self, branch: Branch, continuations: list[list[int]]) -> list[list[float]]:
        """For each continuation of the branch, the natural log-probability of each of its tokens."""

    def forked(self, branch: Branch, copy: Branch) -> None:
        """Let a copy with the same tokens share the keys and values of a branch."""

    def released(self, branch: Branch) -> None:
        """Release the keys and values of a branch."""


class Branch:
    """A sequence of tokens; the model follows only when a token is requested.

    `tokens` is for reading. A branch belongs to one task at a time.
    """

    __slots__ = (
        "_server",
        "admission",
        "best",
        "deadline",
        "family",
        "handle",
        "owner",
        "priority",
        "settled",
        "statistics",
        "tenant",
        "tokens",
    )

    def __init__(self, server: Server, statistics: Statistics, owner: str = "") -> None:
        self._server = server
        self.tokens: list[int] = []
        self.statistics = statistics
        """Work done for this branch and all branches forked from or into it."""
        self.owner = owner
        """Whose work it is, for accounts of memory."""
        self.family: object = object()
        """The same object for a branch and all forked from it. Families take turns where not all can be
        served."""
        self.tenant = ""
        """Who asks. Steps are shared among tenants, see `Scheduler`."""
        self.priority = 0
        """Requests of higher priority are served first."""
        self.admission = Admission()
        """The admission of its run. A branch of no known run counts as a run of its own."""
        self.deadline: float | None = None
        """The time of `time.monotonic()` after which the answer is of no use. The earliest is served
        first."""
        self.best = -1
        """The argmax of the logits that were requested last; -1 where it was not computed."""
        self.handle: Any = None
        """What the engine keeps for this branch. Each engine has a class of its own for it."""
        self.settled = 0
        """So many tokens are as the engine saw them last."""

    def append(self, tokens: Iterable[int]) -> None:
        """Add tokens; nothing is computed yet."""
        self.tokens.extend(tokens)

    def rollback(self, length: int) -> None:
        """Keep the first `length` tokens only."""
        if not 0 <= length <= len(self.tokens):
            raise ValueError(f"cannot keep {length} of {len(self.tokens)} tokens")
        del self.tokens[length:]
        if length < self.settled:
            self.settled = length

    def fork(self) -> Branch:
        """A branch with the same tokens. The two share keys and values until one of them moves on."""
        copy = Branch(self._server, self.statistics, self.owner)
        copy.tokens = list(self.tokens)
        copy.priority, copy.deadline = self.priority, self.deadline
        copy.family, copy.admission, copy.tenant = self.family, self.admission, self.tenant
        self._server.forked(self, copy)
        return copy

    async def logits(self, draft: Draft = NO_DRAFT) -> np.ndarray:
        """Float32 logits [V] for the token that follows; read-only.

        `draft` has tokens that may well come next. An engine that can computes them in the same step: as
        long as the tokens appended afterwards are a path of it, their logits are there already. The result is
        the same with any draft. Trees are for engines with `trees`; others raise ValueError.
        """
        return await self._server.logits(self, draft)

    async def draw(self, sampling_request: SamplingRequest, draft: Draft = NO_DRAFT) -> Sampled:
        """The token that follows, as the request says; nothing is appended. `draft` as for `logits`.

        An engine whose executor can picks it where the logits are, and keeps no logits. Raises
        NothingAllowed, and what making a mask raises.
        """
        return await self._server.draw(self, sampling_request, draft)

    async def score(self, tokens: Iterable[int]) -> list[float]:
        """Natural log-probability of each token of a continuation; the branch stays as it is."""
        return (await self._server.score_many(self, [list(tokens)]))[0]

    async def score_many(self, continuations: Iterable[Iterable[int]]) -> list[list[float]]:
        """`score` of several continuations, computed together where the engine can."""
        return await self._server.score_many(self, [list(tokens) for tokens in continuations])

    @contextmanager
    def apart(self) -> Iterator[Statistics]:
        """The work done for this branch until the block ends, for itself; it also counts as before.

        Not while the branch is forked: forks share the statistics that they find.
        """
        whole, own = self.statistics, Statistics()
        self.statistics = own
        try:
            yield own
        finally:
            self.statistics = whole
            whole.add(own)

    def close(self) -> None:
        """Forget the tokens and release the memory. The branch may be used again, as an empty one."""
        self.tokens = []
        self.settled = 0
        self._server.released(self)
