"""The batching engine: continuous batching of all waiting branches, step after step.

The loop is schedule, run, commit. It is a task of the event loop that ends when no request waits. The forward
pass runs in a thread of its own. Before each step the engine lets other tasks run until none makes a new
request. By then every branch that the last step has answered has requested its next token, so that concurrent
programs share steps.

As in the reference engine, a branch is a list of tokens, and every request compares them with what the KV
cache holds. So a cut, a fork, a cancelled request, a failed step and a preemption need no other code: the
next comparison corrects the state, and missing tokens are found in the prefix tree or computed again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from time import perf_counter
from typing import Any

import numpy as np

from sglc.runtime.engine.core.cost import StepCost
from sglc.runtime.engine.core.errors import (
    ContextOverflow,
    EngineFault,
    QueueFull,
    StepFailed,
    step_failed,
    too_large,
)
from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.core.step_time import StepMeasure
from sglc.runtime.engine.reference_engine import log_probability
from sglc.runtime.engine.results import Drawn, Result, SamplingRequests, compute, launch, pick
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.engine.scheduling.draft import NO_DRAFT, Draft
from sglc.runtime.engine.scheduling.gathering import Gathering
from sglc.runtime.engine.scheduling.pinned_prefixes import PinnedPrefixes
from sglc.runtime.engine.scheduling.request import KvHandle, Request
from sglc.runtime.engine.scheduling.schedule import Planned, Scheduler, StepLimits
from sglc.runtime.executor.plan import DrawingExecutor, Executor, Piece, can_draw
from sglc.runtime.kv.accounts import CacheStats
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.kv.cache import KVCache

SAVED_BLOCKS = 256
"""Most blocks that are written to the tier on disk at the end."""
IDLE_STEPS = 16
"""Steps after which the logits of a branch that waits for nothing are copied out of those of its step."""
STEPS_TO_KNOW = 8
"""Steps before which nothing is taken for brief."""
BRIEF_SECONDS = 0.008
"""Steps that are expected to take less, by the steps before, are computed in the event loop's own thread. To
wake a thread and to be woken by it takes a third of a millisecond. A request that comes meanwhile has to wait
for the step's end in any case. Other tasks of the loop wait no longer than this bound."""


class BatchingEngine:
    """Serves the branches of any number of tasks from one executor, many in each step.

    `cache` holds the keys and values; the executor's pool must have as many blocks. `max_queue` bounds the
    requests that may wait; None is no bound. `speculate` says whether drafts are asked for; by default they
    are where they cannot change a bit of the results. Methods are for one event loop at a time.
    """

    def __init__(
        self,
        executor: Executor,
        cache: KVCache,
        *,
        limits: StepLimits | None = None,
        max_queue: int | None = None,
        speculate: bool | None = None,
    ) -> None:
        self.model = executor
        self._drawing: DrawingExecutor | None = executor if can_draw(executor) else None
        self.cache = cache
        self.limits = limits or StepLimits(prompt_tokens=executor.prompt_tokens)
        self.max_queue = max_queue
        self.statistics = Statistics()
        self.measure = StepMeasure()
        drafts = executor.invariant if speculate is None else speculate
        self.measured_cost = StepCost()
        self.cost: StepCost | None = self.measured_cost if drafts else None
        self.trees = executor.trees
        self._handles: dict[KvHandle, None] = {}
        self._pinned_prefixes = PinnedPrefixes(cache)
        self._scheduler = Scheduler(
            cache, self.limits, self._handles, self._pinned_prefixes, self.statistics, self.measured_cost
        )
        self._waiting: dict[Request, None] = {}
        self._gathering = Gathering()
        self._driver: asyncio.Task[None] | None = None
        self._running: Future[Any] | None = None
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="sglc-step")
        self._closed = False
        self.draft: BatchingEngine | None = None
        """The engine of a draft model, closed with this one; None where there is none."""

    @property
    def concurrency(self) -> int:
        """How many programs at the same time keep the steps full: some of them are between two requests."""
        return self.limits.requests + self.limits.requests // 4

    # -- branches ------------------------------------------------------------------------------------

    def branch(self, owner: str = "") -> Branch:
        """An empty branch with statistics of its own, which its forks share."""
        return Branch(self, Statistics(), owner)

    def open(self, tokens: Sequence[int], owner: str = "") -> Branch:
        """A new branch; what is known of its tokens is found in the tree of prefixes."""
        return self.branch(owner)

    def put_back(self, branch: Branch) -> None:
        """Take a branch that is no longer used; what was computed for it stays findable."""
        branch.close()

    def pin(self, tokens: Sequence[int], users: int = 1) -> None:
        """Keep keys and values of these tokens, which `users` functions begin with, once they have been
        computed. See `PinnedPrefixes`."""
        self._pinned_prefixes.name(tuple(tokens), users)

    def forked(self, branch: Branch, copy: Branch) -> None:
        """See `Server`."""
        handle: KvHandle | None = branch.handle
        if handle is None or handle.sequence is None:
            return
        copy.handle = KvHandle(
            copy, handle.sequence.fork(), handle.rows, handle.best, handle.first, handle.served
        )
        copy.handle.used, copy.handle.draft = handle.used, handle.draft
        copy.settled = branch.settled
        self._handles[copy.handle] = None

    def released(self, branch: Branch) -> None:
        """See `Server`."""
        handle: KvHandle | None = branch.handle
        if handle is not None:
            handle.forget()
            self._handles.pop(handle, None)
            branch.handle = None

    def get_cache_stats(self) -> CacheStats:
        """What the memory of keys and values holds, and how often it was of use."""
        return self.cache.stats()

    def close(self) -> None:
        """Give up requests that wait, and release the executor once its step is done.

        Where there is a tier on disk and no step is being computed, beginnings are saved for a later process.
        """
        if self._closed:
            return
        self._closed = True
        for request in list(self._waiting):
            request.future.cancel()
        if self.draft is not None:
            self.draft.close()
        if self._running is None or self._running.done():
            self.cache.save(SAVED_BLOCKS)
        self._worker.submit(self.model.close)
        self._worker.shutdown(wait=False)

    def hold(self) -> AbstractContextManager[None]:
        """See `Gathering.hold`."""
        return self._gathering.hold()

    async def step_begun(self) -> None:
        """See `Gathering.over`."""
        await self._gathering.over()

    # -- requests ------------------------------------------------------------------------------------

    async def logits(self, branch: Branch, draft: Draft = NO_DRAFT) -> np.ndarray:
        """Float32 logits [V] for the token that follows the branch; read-only. See `Branch.logits`.

        Raises EngineError in one of its forms, and ValueError for a branch without tokens.
        """
        row = self._known(branch)
        return await self._computed(branch, draft) if row is None else row

    async def draw(
        self, branch: Branch, sampling_request: SamplingRequest, draft: Draft = NO_DRAFT
    ) -> Sampled:
        """See `Branch.draw`. With a draft the logits come to the host, also where the executor can draw: they
        are what drafts are kept for."""
        row = self._known(branch)
        if row is None:
            if self._drawing is not None and not draft.tokens:
                return await self._drawn(branch, sampling_request)
            row = await self._computed(branch, draft)
        return sampling_request.sample(row, branch.best)

    async def _computed(self, branch: Branch, draft: Draft) -> np.ndarray:
        """Logits after the branch that no step has computed yet."""
        tokens = branch.tokens
        length = len(tokens)
        if draft.tokens:
            if draft.parents and not self.trees:
                raise ValueError("the executor computes no trees of drafts")
            draft = draft.first(max(0, self.model.context_length - length))
            tokens = tokens + list(draft.tokens)
        await self._served(branch, tokens, length - 1, draft)
        row = self._known(branch)
        if row is None:
            raise AssertionError("the branch was changed while it waited")
        return row

    async def _drawn(self, branch: Branch, sampling_request: SamplingRequest) -> Sampled:
        """A token that the executor picks."""
        tokens = branch.tokens
        request = await self._served(branch, tokens, len(tokens) - 1, sampling_request=sampling_request)
        if not sampling_request.came:
            sampling_request.came = perf_counter()
        drawn = request.future.result()
        assert isinstance(drawn, Sampled)
        return drawn

    async def score_many(self, branch: Branch, continuations: list[list[int]]) -> list[list[float]]:
        """See `Branch.score_many`: the branch first, then all continuations in forks of it."""
        if not any(continuations):
            return [[] for _ in continuations]
        longest = max(map(len, continuations))
        self._check_length(len(branch.tokens) + longest - 1)
        row = await self.logits(branch)
        forks: list[Branch] = []
        jobs: list[asyncio.Task[list[float]]] = []
        try:
            for continuation in continuations:
                fork = branch.fork()
                forks.append(fork)
                jobs.append(asyncio.ensure_future(self._scored(fork, row, continuation)))
            return list(await asyncio.gather(*jobs))
        finally:
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
            for fork in forks:
                fork.close()

    async def _scored(self, fork: Branch, row: np.ndarray, continuation: list[int]) -> list[float]:
        if not continuation:
            return []
        first = log_probability(row, continuation[0])
        if len(continuation) == 1:
            return [first]
        start = len(fork.tokens)
        fork.append(continuation[:-1])
        request = await self._served(fork, fork.tokens, start, scored=continuation[1:])
        return [first, *request.scores]

    def _known(self, branch: Branch) -> np.ndarray | None:
        """The logits after the branch, if a step has computed them."""
        handle: KvHandle | None = branch.handle
        if handle is None or handle.rows is None or handle.sequence is None:
            return None
        length = len(branch.tokens)
        depth = index = length - 1 - handle.first
        if handle.draft is not None and depth >= 0:
            index = handle.row_in_tree()
        if not 0 <= index < len(handle.rows):
            return None
        settled = branch.settled
        if settled < length and handle.draft is None:
            if branch.tokens[settled:] != handle.sequence.tokens[settled:length]:
                return None
            branch.settled = length
        if depth > handle.served:
            for statistics in (branch.statistics, self.statistics):
                statistics.accepted += depth - max(handle.served, 0)
            handle.served = depth
        branch.best = -1 if handle.best is None else handle.best[index]
        row: np.ndarray = handle.rows[index]
        return row

    def _check_length(self, tokens: int) -> None:
        if tokens > self.model.context_length:
            raise ContextOverflow(tokens, self.model.context_length)

    async def _served(
        self,
        branch: Branch,
        tokens: list[int],
        first: int,
        draft: Draft = NO_DRAFT,
        scored: Sequence[int] = (),
        sampling_request: SamplingRequest | None = None,
    ) -> Request:
        """Wait until the tokens have been computed."""
        if not tokens:
            raise ValueError("a branch needs at least one token before the model can continue it")
        self._check_length(len(tokens))
        drafts = len(draft.tokens)
        needed = len(tokens) - drafts
        if needed > self.cache.pool.size * BLOCK_TOKENS:
            raise too_large(needed, self.cache.pool.size * BLOCK_TOKENS)
        if self._closed:
            raise StepFailed("the engine has been closed")
        if self.max_queue is not None and len(self._waiting) >= self.max_queue:
            raise QueueFull(f"{len(self._waiting)} requests wait for the model")
        if branch.handle is None:
            branch.handle = KvHandle(branch)
        handle: KvHandle = branch.handle
        loop = asyncio.get_running_loop()
        self._gathering.arrived += 1
        future: asyncio.Future[object] = loop.create_future()
        request = Request(
            branch, handle, tokens, first, future, self._gathering.arrived, perf_counter(), scored
        )
        request.drafts, request.parents, request.sampling_request = drafts, draft.parents, sampling_request
        self._waiting[request] = None
        handle.waiting += 1
        if self._driver is None or self._driver.done() or self._driver.get_loop() is not loop:
            self._driver = loop.create_task(self._drive(), name="sglc-engine")
        try:
            await request.future
        finally:
            self._waiting.pop(request, None)
            handle.waiting -= 1
        return request

    # -- the loop ------------------------------------------------------------------------------------

    async def _drive(self) -> None:
        """Make steps as long as anything waits."""
        try:
            if self._running is not None:  # of an event loop that ended in the middle of a step
                await asyncio.wait([asyncio.wrap_future(self._running)])
            while self._waiting:
                await self._gathering.rest()
                begun = perf_counter()
                plan = self._scheduler.plan(self._waiting)
                self.measure.scheduled += perf_counter() - begun
                if plan:
                    results, seconds = await self._run(plan)
                    self._gathering.begin()
                    begun = perf_counter()
                    self._commit(plan, results, seconds)
                    self.measure.committed += perf_counter() - begun
                else:
                    self._gathering.end()
        except asyncio.CancelledError:
            for request in list(self._waiting):
                request.future.cancel()
            raise
        except Exception as error:
            for request in list(self._waiting):
                if not request.future.done():
                    request.future.set_exception(EngineFault(error))
        finally:
            self._gathering.end()

    async def _run(self, plan: list[Planned]) -> tuple[list[Result], float]:
        """Compute a step, in the worker thread unless it is brief."""
        now = perf_counter()
        queued, drafted = 0.0, 0
        for request, _ in plan:
            if not request.started:
                request.started = True
                waited, own = now - request.since, request.branch.statistics
                queued += waited
                own.queued += waited
                drafted += request.drafts
                own.drafted += request.drafts
        self.statistics.queued += queued
        self.statistics.drafted += drafted
        pieces = [piece for _, piece in plan]
        if self._drawing is not None and any(
            request.sampling_request and piece.wanted for request, piece in plan
        ):
            return await self._run_drawing(self._drawing, plan, pieces)
        if self._is_brief(pieces):
            await self._let_others()
            return compute(self.model, pieces)
        self._running = self._worker.submit(compute, self.model, pieces)
        self._gathering.end()
        return await asyncio.wrap_future(self._running)

    async def _run_drawing(
        self, executor: DrawingExecutor, plan: list[Planned], pieces: list[Piece]
    ) -> tuple[list[Result], float]:
        """Compute a step with sampling requests. Their masks are made here, after the launch, while the
        device computes without a thread. A launch in a thread of its own would wait for the thread that makes
        masks."""
        sampling_requests = SamplingRequests(executor, plan)
        if self._is_brief(pieces):
            await self._let_others()
            begun = launch(executor, pieces)
            sampling_requests.make()
            return pick(executor, pieces, sampling_requests, begun)
        self._running = self._worker.submit(launch, executor, pieces)
        self._gathering.end()
        begun = await asyncio.wrap_future(self._running)
        sampling_requests.make()
        self._running = self._worker.submit(pick, executor, pieces, sampling_requests, begun)
        return await asyncio.wrap_future(self._running)

    async def _let_others(self) -> None:
        """What has waited for a step to begin goes before one that is computed in this thread."""
        self._gathering.end()
        await asyncio.sleep(0)

    def _is_brief(self, pieces: list[Piece]) -> bool:
        if self.model.kind == "torch":  # computes in one thread only, see `TorchExecutor.from_directory`
            return False
        if self.cost is None or self.measure.steps < STEPS_TO_KNOW:
            return False
        return self.cost.estimate(sum([len(piece.tokens) for piece in pieces])) < BRIEF_SECONDS

    def _commit(self, plan: list[Planned], results: list[Result], seconds: float) -> None:
        """Commit the results to the cache, and answer the requests that are complete."""
        fed = sum([len(piece.tokens) for _, piece in plan])
        self.measure.record(len(plan), fed, seconds)
        (self.cost or self.measured_cost).record(fed, seconds, len(plan))
        told: set[int] = set()
        """Statistics that have counted this step. Forks share statistics, and the step counts once for all of
        them."""
        for (request, piece), result in zip(plan, results, strict=True):
            own = request.branch.statistics
            if id(own) not in told:
                told.add(id(own))
                own.forwards += 1
                own.seconds += seconds
            own.tokens_fed += len(piece.tokens)
            try:
                self._enter(request, piece, result)
            except Exception as error:
                _fault_of(request, error)
        self.statistics.forwards += 1
        self.statistics.tokens_fed += fed
        self.statistics.seconds += seconds
        if not self.measure.steps % IDLE_STEPS:
            self._part_rows()

    def _enter(self, request: Request, piece: Piece, result: Result) -> None:
        """Commit the result of one piece, and answer its request if that is complete."""
        handle, future = request.handle, request.future
        if isinstance(result, BaseException):
            if not future.done():
                future.set_exception(step_failed(result))
            return
        sequence = handle.sequence
        if sequence is None or sequence.table is not piece.table:
            return  # the branch was closed while the step ran
        draft = Draft(piece.tokens[-len(piece.parents) :], piece.parents) if piece.parents else None
        beside = 0 if draft is None else len(draft.tokens) - draft.trunk
        sequence.commit(piece.tokens[:-beside] if beside else piece.tokens)
        handle.used = self.measure.steps
        if len(piece.tokens) >= BLOCK_TOKENS:
            self._pinned_prefixes.computed(sequence.tokens)
        if future.done():
            return
        if isinstance(result, Drawn):
            if isinstance(result.answer, Exception):
                future.set_exception(result.answer)
            else:
                future.set_result(result.answer)
            return
        rows, best = result
        if request.scored:
            following = request.scored[len(request.scores) :]
            request.scores = [*request.scores, *map(log_probability, rows, following)]
            if len(request.scores) == len(request.scored):
                future.set_result(None)
        elif len(rows):  # of drafts that the step had no room for there are none, and none are needed
            handle.rows, handle.best, handle.first, handle.served = rows, best, request.first, 0
            handle.draft, handle.beside = draft, True
            future.set_result(None)

    def _part_rows(self) -> None:
        """Copy the logits of idle branches. A view would keep the logits of all branches of its step."""
        before = self.measure.steps - IDLE_STEPS
        parted: dict[int, np.ndarray] = {}
        for handle in self._handles:
            rows = handle.rows
            if rows is None or handle.used > before or not isinstance(rows.base, np.ndarray):
                continue
            if rows.base.nbytes > 2 * rows.nbytes:
                own = parted.get(id(rows))
                if own is None:
                    own = parted[id(rows)] = rows.copy()
                    own.flags.writeable = False
                handle.rows = own


def _fault_of(request: Request, error: Exception) -> None:
    """The result of a request could not be committed: it has no memory and no answer."""
    request.handle.forget()
    if not request.future.done():
        request.future.set_exception(EngineFault(error))
