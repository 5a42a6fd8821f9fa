"""The scheduler: which requests go into the next step, and with how many tokens each.

A step has a bound on its tokens and on its requests. Prompts are cut into chunks that fit beside the requests
that need one token each (continuous batching: Yu et al., Orca, 2022; chunked prefill: Agrawal et al.,
Sarathi, 2023). Where several tenants wait, the first request of each is served as if there were no others,
and so many more go along as leave the step nearly as short (SLOWER). Where blocks are short, other branches
are preempted, idle ones first. When they go on, their tokens are computed again or found in the prefix tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic

from sglc.runtime.engine.core.cost import StepCost
from sglc.runtime.engine.core.errors import DeadlinePassed, step_failed, too_large
from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.scheduling.pinned_prefixes import PinnedPrefixes
from sglc.runtime.engine.scheduling.request import KvHandle, Request
from sglc.runtime.executor.plan import Piece
from sglc.runtime.kv.blocks import BLOCK_MASK, BLOCK_SHIFT, BLOCK_TOKENS, PoolFull
from sglc.runtime.kv.cache import KVCache
from sglc.runtime.kv.sequence import Sequence as Blocks

PATIENCE = 64
"""Steps that a request may be passed over before it goes ahead of requests of higher rank; also the steps
between two prompts that go ahead so. With more, urgent runs would hold up others for longer. With less,
waiting runs would push runs that write out of their places."""

SLOWER = 1.3
"""How many times as long a step may take for a tenant because others have more requests than it. With less,
they would lose throughput for little; a tenant's latency is to stay below twice of what it has beside one
request of each other."""


@dataclass(frozen=True, slots=True)
class StepLimits:
    """Bounds of one step."""

    tokens: int = 256
    """Most tokens, prompts and others together. A longer step serves prompts better, a shorter one
    answers."""
    prompt_tokens: int | None = None
    """Most tokens of a step in which nobody waits for a single token; None for no other bound."""
    crowded_tokens: int = 192
    """Most tokens where more requests wait than a step has places: those that write are answered sooner, so
    fewer runs are half done at a time, at the same throughput on a CPU (docs/engine.md)."""
    requests: int = 64
    """Most requests."""
    rows: int = 128
    """Most logits that are wanted; each takes four bytes times the vocabulary."""


Planned = tuple[Request, Piece]
"""A request and its part of a step."""


class Scheduler:
    """Makes the steps. `handles` are those of all branches; it may take their memory."""

    def __init__(
        self,
        cache: KVCache,
        limits: StepLimits,
        handles: dict[KvHandle, None],
        pinned_prefixes: PinnedPrefixes,
        statistics: Statistics,
        cost: StepCost,
    ) -> None:
        self.cache = cache
        self.limits = limits
        self.statistics = statistics
        self._cost = cost
        self._handles = handles
        self._pinned_prefixes = pinned_prefixes
        self._steps = 0
        self._let_in: Request | None = None
        """The prompt that was passed over too often, and goes ahead of all others until it is answered."""
        self._let_in_at = 0
        """The step at which it began to."""

    def plan(self, waiting: Iterable[Request]) -> list[Planned]:
        """The next step. Requests that cannot be served get their error. Empty if no request is left."""
        now = monotonic()
        self._steps += 1
        order: list[Request] = []
        tenants: set[str] = set()
        fed = 0
        for request in waiting:
            if request.future.done():
                continue
            deadline = request.branch.deadline
            if deadline is not None and now > deadline:
                request.future.set_exception(DeadlinePassed("the answer was not there before its deadline"))
                continue
            order.append(request)
            tenants.add(request.branch.tenant)
            sequence = request.handle.sequence
            fed += len(request.tokens) - (0 if sequence is None else sequence.length)
        limits = self.limits
        short = 0
        """Requests still to come that need a token or a few."""
        if (
            len(order) > limits.requests
            or len(order) > len(tenants) > 1
            or fed > min(limits.tokens, limits.rows)
            or (fed >> BLOCK_SHIFT) + 2 * len(order) > self.cache.available
        ):
            order = self._in_turn(order)  # else all of them have room
            short = sum([request.is_short for request in order])
        planned: list[Planned] = []
        opened: set[tuple[object, ...]] = set()
        """What the prompts of this step begin with: the blocks before them, and tokens."""
        tokens, rows = limits.tokens, limits.rows
        if fed > tokens and not any(request.is_short for request in order):
            tokens = limits.prompt_tokens or tokens
        elif len(order) > limits.requests:
            tokens = min(tokens, limits.crowded_tokens)
        shared = self._shared(len(tenants)) if len(tenants) > 1 else tokens
        """Tokens that are left for requests which are not the first of their tenant."""
        for place, request in enumerate(order):
            if short:
                short -= request.is_short
            is_first = request.branch.tenant in tenants
            room = tokens if is_first else min(tokens, shared)
            if not room or not rows or len(planned) >= limits.requests:
                request.passed_over += 1
                continue
            try:
                sequence = self._align(request)
            except Exception as error:
                _give_up(request, error)
                continue
            start, left = sequence.length, len(request.tokens) - sequence.length
            beginning: tuple[object, ...] = ()
            if left >= BLOCK_TOKENS:
                tail = start & BLOCK_MASK
                beginning = (sequence.whole_blocks, *request.tokens[start - tail : start + BLOCK_TOKENS])
                # Who is to compute the same tokens waits a step, and then finds them.
                if beginning in opened:
                    continue
            if request.drafts and self.cache.available <= 1 + (request.drafts >> BLOCK_SHIFT):
                del request.tokens[request.first + 1 :]  # no branch gives its memory up for a guess
                left, request.drafts, request.parents = len(request.tokens) - start, 0, ()
            count = left if left < room else room
            if beginning:  # the short ones behind it go along
                spared = min(short, limits.requests - len(planned) - 1)
                count = min(left, max(room - spared, min(room, BLOCK_TOKENS)))
            before = request.wanted_from - start
            """Tokens whose logits nobody wants; the request's memory never reaches beyond them."""
            wanted = count - before if count > before else 0
            if wanted > rows:
                count -= wanted - rows
                wanted = rows
            try:
                has_room = self._room(request, sequence, count, planned, order, place)
            except Exception as error:
                _give_up(request, error)
                continue
            if not has_room:
                if not planned:  # all that others held was given up, and it was not enough
                    room = self.cache.pool.size * BLOCK_TOKENS
                    request.future.set_exception(too_large(len(request.tokens), room))
                request.passed_over += 1
                continue
            if beginning:
                opened.add(beginning)
            tokens -= count
            rows -= wanted
            if is_first:
                tenants.discard(request.branch.tenant)
            else:
                shared -= count
            request.branch.admission.admitted = True
            piece = Piece(
                sequence.table,
                start,
                request.tokens[start : start + count],
                wanted,
                request.parents[: max(0, start + count - request.first - 1)] if request.parents else (),
            )
            planned.append((request, piece))
        return planned

    def _shared(self, tenants: int) -> int:
        """How many tokens more than one of each tenant a step may have and still be nearly as short."""
        most = SLOWER * self._cost.estimate(tenants)
        found = tenants
        while found < self.limits.requests and self._cost.estimate(found + 1) <= most:
            found += 1
        return found - tenants

    def _in_turn(self, requests: list[Request]) -> list[Request]:
        """The order of requests of which not all can be served.

        Places in the step are given by rank. Among requests that have a place, and among those that have
        none, short requests of a token or a few go before the prompts of their class. So runs that write keep
        writing, and a run that began keeps its place until it ends: runs end one after the other instead of
        all at once. A request that was passed over too often goes ahead: a short one after as many steps as
        there are requests, prompts one at a time and PATIENCE steps apart.
        """
        ahead = self._passed_over(requests)
        turns: dict[object, int] = {}
        ranked = []
        for request in requests:
            family = request.branch.family
            turn = turns[family] = turns.get(family, -1) + 1
            ranked.append((request not in ahead, request.rank(turn), request))
        ranked.sort(key=lambda item: item[:2])
        places = self.limits.requests
        order = []
        for part in (ranked[:places], ranked[places:]):
            part.sort(key=lambda item: (item[0], item[1][:3], not item[2].is_short))
            order += [item[2] for item in part]
        return order

    def _passed_over(self, requests: list[Request]) -> set[Request]:
        """Requests that go ahead of all others in this step."""
        patience = max(PATIENCE, len(requests))
        ahead = {request for request in requests if request.passed_over >= patience and request.is_short}
        if self._let_in is None or self._let_in.future.done():
            self._let_in = None
            if self._steps - self._let_in_at >= PATIENCE:
                late = [one for one in requests if one.passed_over >= PATIENCE and not one.is_short]
                if late:
                    self._let_in = min(late, key=lambda one: one.number)
                    self._let_in_at = self._steps
        if self._let_in is not None:
            ahead.add(self._let_in)
        return ahead

    def _align(self, request: Request) -> Blocks:
        """Bring the memory to the longest beginning of the request's tokens that it has, or the tree has."""
        handle, branch, tokens = request.handle, request.branch, request.tokens
        sequence, found = handle.sequence, 0
        if sequence is None:
            sequence = handle.sequence = self.cache.open(tokens, branch.owner)
            self._handles[handle] = None
            found = sequence.length
        else:
            length = agreement(request, sequence)
            if handle.draft is not None:
                length = handle.follow(tokens[: request.first + 1], length)
            elif length < sequence.length:
                sequence.rollback(length)
            if len(tokens) - length >= BLOCK_TOKENS:
                found = sequence.reuse(tokens[length:])
        if found:
            branch.statistics.tokens_reused += found
            self.statistics.tokens_reused += found
        wanted_from = request.wanted_from
        if sequence.length > wanted_from:
            sequence.rollback(wanted_from)
        handle.rows = None
        length, own = sequence.length, len(branch.tokens)
        branch.settled = length if length < own else own
        return sequence

    def _room(
        self,
        request: Request,
        sequence: Blocks,
        count: int,
        planned: list[Planned],
        order: list[Request],
        place: int,
    ) -> bool:
        """Make room for `count` more tokens, taking memory from branches that are not in this step.

        Beside others that run it is taken only if it suffices; a request that would be alone takes all.
        """
        victims: list[KvHandle] | None = None
        while True:
            try:
                sequence.reserve(count)
                return True
            except PoolFull as full:
                if victims is None:
                    victims = self._victims(request, planned, order[place + 1 :])
                    sequences = [victim.sequence for victim in victims if victim.sequence is not None]
                    if planned and full.available + self.cache.release_of(sequences, True) < full.needed:
                        return False
                if victims:
                    victims.pop().forget()
                    self.statistics.preemptions += 1
                elif not self._pinned_prefixes.give_up():
                    return False

    def _victims(self, request: Request, planned: list[Planned], after: list[Request]) -> list[KvHandle]:
        """Handles whose memory may be taken for a request; the last of the list goes first."""
        busy = {other.handle for other, _ in planned}
        idle = [
            handle
            for handle in self._handles
            if handle.sequence is not None and not handle.waiting and handle is not request.handle
        ]
        idle.sort(key=lambda handle: -handle.used)
        behind = [
            other.handle for other in after if other.handle.sequence is not None and other.handle not in busy
        ]
        return behind + idle


def _give_up(request: Request, error: Exception) -> None:
    """Blocks of a request could not be copied or read back: it has no memory and no answer."""
    request.handle.forget()
    request.future.set_exception(step_failed(error))


def agreement(request: Request, sequence: Blocks) -> int:
    """How many tokens of a request are those of its sequence, from the start on."""
    start = request.branch.settled
    if start >= sequence.length:
        return sequence.length
    ours = request.tokens[start : sequence.length]
    theirs = sequence.tokens[start : start + len(ours)]
    if ours == theirs:
        return start + len(ours)
    same, other = 0, len(ours)  # they are the same up to `same`, and not up to `other`
    while other - same > 1:
        middle = (same + other) // 2
        same, other = (middle, other) if ours[same:middle] == theirs[same:middle] else (same, middle)
    return start + same
