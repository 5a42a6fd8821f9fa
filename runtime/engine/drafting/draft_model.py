"""Draft models: a second, cheaper model proposes tokens (Leviathan et al. 2023; Chen et al. 2023).

The draft model draws under the hole's own mask, with the noise of the target's seed and position, temperature
and limits. Two models that share Gumbel noise draw the same token nearly as often as any coupling lets them
(Daliri, Musco, Suresh 2024), and the target never looks at what was drafted: it draws for itself.

The draft model has an engine of its own, with keys and values of its own. A fill of a hole has one branch
there. It follows the target's tokens by comparing them, so a draft that was refused is cut back and tokens
that came without it are caught up with. Fills at the same time share steps, as requests of any engine do.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import Protocol

from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.core.cost import StepCost
from sglc.runtime.engine.core.errors import EngineError
from sglc.runtime.engine.sampling.sampler import NothingAllowed, Sampled
from sglc.runtime.engine.scheduling.branch import Branch

EXPLORED = 0.01
"""Where a draft model does not pay, it is asked for so much of the time of steps all the same: its price and
how often it is right may have changed. A third of the 3 % that drafts may cost where they gain nothing."""
MOST_BEHIND = 16
"""A step of the target waits for drafts of sequences that lack at most so many tokens, a block: such a step
of the draft model takes about as long as one of a token. It does not wait while a prompt is read."""
OVERHEAD = 3e-4
"""Seconds that a drafted token takes outside of the draft model's step, before it is measured."""


class Lookahead(Protocol):
    """The decoding of a hole, some tokens ahead of what is written.

    It follows the rules by which the hole is decoded: which tokens are legal, how one is drawn, which text is
    forced, where the value ends.
    """

    tokens: list[int]
    """All tokens of the conversation, those ahead included. For reading."""
    ended: bool
    """Whether no request follows: the value has ended, or what follows is not known."""

    def fork(self) -> Lookahead:
        """The same place, to go on from another way."""

    async def draw(self, branch: Branch, besides: Sequence[int] = ()) -> Sampled:
        """The next token, drawn from the logits behind a branch that has `tokens`; the best of those that are
        not among `besides`. Raises EngineError and NothingAllowed."""

    def lead(self, first: Sampled, other: Sampled) -> float:
        """By how many nats the one token was drawn before the other: the difference of their logits over the
        temperature, with the noise."""

    def take(self, token: int) -> Sequence[int]:
        """Go on with a drawn token; the tokens of the value that it adds, forced ones behind it included."""

    def follow(self, tokens: Sequence[int]) -> bool:
        """Go on with tokens of which some are drawn and some are forced; False where the hole would write
        other ones."""


class DraftModel:
    """A draft model and its price, shared by all holes that are filled on one engine.

    `target` is the engine whose tokens are drafted. A request that the draft model cannot answer ends the
    drafts of its fill and nothing else; the statistics of its engine count it.
    """

    def __init__(self, engine: BatchingEngine, target: BatchingEngine) -> None:
        self.engine = engine
        self.target = target
        self._cost = engine.cost or StepCost()
        self._overhead = self.again = OVERHEAD
        """The second is what the next best token of a place takes, for which no step is needed."""
        self._allowance = 0.0

    def price(self, sequences: int, pending: int = 1) -> float:
        """Seconds of a drafted token where so many sequences draft in a step, and this one lacks `pending`
        tokens, the last drafted one included."""
        return self._cost.estimate(sequences + max(1, pending) - 1) + self._overhead

    def record(self, overhead: float, again: bool = False) -> None:
        """A drafted token took so many seconds outside of the draft model's step; `again` for the next best
        one of a place."""
        if again:
            self.again += (max(0.0, overhead) - self.again) / 16
            return
        self._overhead += (max(0.0, overhead) - self._overhead) / 16

    def save(self, seconds: float) -> None:
        """A step of the target without the draft model took so many seconds."""
        self._allowance += EXPLORED * seconds

    def may_explore(self, seconds: float) -> bool:
        """Whether that much may be spent to learn what the draft model is worth now; if so it is spent."""
        if seconds > self._allowance:
            return False
        self._allowance = 0.0
        return True

    def fill(self) -> ModelBranch:
        """For one fill of a hole."""
        return ModelBranch(self)


class ModelBranch:
    """What a draft model keeps for one fill of a hole: a branch that follows the target's."""

    __slots__ = ("_behind", "_branch", "_failed", "model")

    def __init__(self, model: DraftModel) -> None:
        self.model = model
        self._branch: Branch | None = None
        self._failed = False
        self._behind = 1
        """Tokens that were not read when `pending` was asked last."""

    @property
    def usable(self) -> bool:
        """Whether the draft model answers at all."""
        return not self._failed

    def pending(self, tokens: list[int]) -> int:
        """How many of the target's tokens the draft model has not read; at least the last one."""
        if self._branch is None:
            known = self.model.engine.cache.computed(tokens)
        else:
            known = _in_common(self._branch.tokens, tokens)
        self._behind = max(1, len(tokens) - known)
        return self._behind

    def hold(self) -> AbstractContextManager[None]:
        """A context in which steps of the target wait for this fill, unless a prompt is to be read first."""
        return self.model.target.hold() if self._behind <= MOST_BEHIND else nullcontext()

    async def draw(
        self, ahead: Lookahead, besides: Sequence[int] = (), several: bool = False
    ) -> Sampled | None:
        """The draft model's token at a place ahead, the best that is not among `besides`; None where it has
        none. With `several`, others of the place are drawn afterwards without a step."""
        engine = self.model.engine
        if self._branch is None:
            self._branch = engine.branch("drafts")
        branch, tokens = self._branch, ahead.tokens
        same = _in_common(branch.tokens, tokens)
        branch.rollback(same)
        branch.append(tokens[same:])
        begun, before = perf_counter(), engine.measure.seconds
        try:
            if several:
                await branch.logits()  # an executor that draws would keep none
            sampled = await ahead.draw(branch, besides)
        except NothingAllowed:
            return None
        except EngineError:
            engine.statistics.unanswered += 1
            self._failed = True
            return None
        if len(tokens) - same <= MOST_BEHIND:
            spent = perf_counter() - begun - (engine.measure.seconds - before)
            self.model.record(spent, bool(besides))
        return sampled

    def close(self) -> None:
        """Release the branch; what was computed stays findable for the next fill."""
        if self._branch is not None:
            self.model.engine.put_back(self._branch)
            self._branch = None


def _in_common(held: list[int], tokens: list[int]) -> int:
    """Length of the longest common prefix; mostly the lists differ near their ends."""
    size = min(len(held), len(tokens))
    step = 1
    while held[:size] != tokens[:size]:
        # `size` is too long: halve the part in question from its end, then look at single tokens.
        size = max(0, size - step)
        step *= 2
    end = min(len(held), len(tokens))
    while size < end and held[size] == tokens[size]:
        size += 1
    return size
