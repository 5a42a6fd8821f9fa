"""Workers behind one front: calls go to them, come back from the dead, and are answered once.

A call is given to a worker by the router and waits there in the front, until the worker does fewer than its
width. So what a dead worker takes along is what it was doing, and a call that waits may still go elsewhere.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator

from sglc.runtime.cluster.attended import (
    MOST_LOOKED_AT,
    AttendedWorker,
    Call,
    add_figures,
    families_of,
    free_place,
    most_alike,
)
from sglc.runtime.cluster.links import PATIENCE, Starter, within
from sglc.runtime.cluster.messages import (
    Asked,
    Garbled,
    ModelRequest,
    Reply,
    call_line,
    event_of,
    failure_of,
    gone_of,
    list_of,
    number_of,
    part_of,
    read,
    reply_of,
    written,
)
from sglc.runtime.cluster.router import NOTHING, Beginning, Router, is_overloaded
from sglc.runtime.cluster.scaling import Scaling, Sizes
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.metrics.families import Family
from sglc.runtime.metrics.workers import WorkerFigures, received
from sglc.runtime.vm.state.trace import Event, Listener

LOG = logging.getLogger("sglc.cluster")
TRIES = 3
"""How often a call is begun: where its worker dies, it goes back twice."""
MOST_DEATHS = 8
"""Workers that may die one after the other without a single answer in between; then none is started any
more."""
BACK_OFF = 0.25
"""Seconds before a worker is started in the place of a dead one, twice as many with each death in a row."""
GATHERING = 10.0
"""Seconds in which the other workers come after the first one, so that work is divided from the beginning."""
TICK = 0.5
"""Seconds between two looks at how many workers there should be."""
REPORT_SECONDS = 10.0
"""Within which a worker must tell its report."""
METRICS_SECONDS = 2.0
"""Within which a worker is to tell its metrics; else those count that it told last."""


class Pool:
    """Workers that `start` starts, all set up by one line. Belongs to one event loop.

    `coming` tells how many calls will come besides those that are here, for the number of workers.
    """

    def __init__(
        self,
        start: Starter,
        setup: str,
        sizes: Sizes,
        router: Router | None = None,
        coming: Callable[[], int] = lambda: 0,
    ) -> None:
        self.sizes = sizes
        self.coming = coming
        self.deaths = 0
        """Workers that have died."""
        self.models: dict[str, str] = {}
        """The models of each worker by their names, and what it loads them by; known once one is ready."""
        self._start = start
        self._setup = setup
        self._router = router or Router()
        self._scaling = Scaling(sizes)
        self._workers: dict[int, AttendedWorker] = {}
        self._homeless: deque[Call] = deque()
        """Calls while no worker is ready."""
        self._numbers = itertools.count(1)
        self._starting: set[asyncio.Task[None]] = set()
        self._chores: set[asyncio.Task[None]] = set()
        """Ends of workers that are waited for."""
        self._ticking: asyncio.Task[None] | None = None
        self._in_a_row = 0
        self._broken: ArgumentError | None = None
        self._closing = False
        self._first: asyncio.Future[None] | None = None
        self._past: dict[str, int] = {}
        """Figures of workers that are no more."""
        self._metrics = WorkerFigures()

    # -- for callers -----------------------------------------------------------------------------------

    async def open(self) -> None:
        """Start the fewest workers and wait for them, once one is ready for GATHERING seconds at most. Raises
        ArgumentError where there can be none."""
        self._first = asyncio.get_running_loop().create_future()
        for _ in range(self.sizes.fewest):
            self._begin()
        await self._first
        patience = time.monotonic() + GATHERING
        while self.ready < self.sizes.fewest and time.monotonic() < patience and self._broken is None:
            await asyncio.sleep(0.02)
        self._ticking = asyncio.create_task(self._tick())

    @property
    def width(self) -> int:
        """Calls that one worker does at a time."""
        return max((each.width for each in self._workers.values()), default=1) or 1

    @property
    def ready(self) -> int:
        """Workers that take calls."""
        return sum(each.ready for each in self._workers.values())

    @property
    def broken(self) -> ArgumentError | None:
        """Why there will be no more workers; None where there will."""
        return self._broken

    @property
    def useless(self) -> str:
        """Why no call will be answered any more; empty while one may be."""
        return "" if self._broken is None or self.ready else str(self._broken)

    @property
    def calls(self) -> int:
        """Calls that have no answer yet."""
        return sum(each.load for each in self._workers.values()) + len(self._homeless)

    async def call(
        self,
        asked: Asked | ModelRequest,
        hear: Listener,
        beginning: Beginning = NOTHING,
        placed: Callable[[int], None] = lambda place: None,
    ) -> Reply:
        """Have a worker do a call. `hear` is told its events; where the worker dies, those of its next try
        too. `placed` is told the place of the worker at each try. Raises what the call raises: ArgumentError,
        SglError, WorkerFault."""
        answered: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        call = Call(next(self._numbers), asked, beginning, hear, placed, answered)
        self._place(call)
        try:
            return await answered
        except asyncio.CancelledError:
            self._withdraw(call)
            raise

    @property
    def figures(self) -> dict[str, int]:
        """What all workers have done, those that are no more as far as they told: `tokens`, and of prompts
        `looked_up` and `reused`."""
        found = dict(self._past)
        for each in self._workers.values():
            add_figures(found, each.figures)
        return found

    async def reports(self) -> list[dict[str, object]]:
        """What each worker has done, as `--stats=json` has it; of the dead nothing is known."""
        found = await self._told("report", REPORT_SECONDS)
        return [each for each in found if isinstance(each, dict)]

    async def states(self) -> list[dict[str, object]]:
        """The engines of all workers, as they are now or told last, each with the place of its `worker`."""
        await self._told("state", METRICS_SECONDS)
        return [{**one, "worker": each.place} for each in self._workers.values() for one in each.engines]

    async def families(self) -> list[Family]:
        """The metrics of all workers and of the pool, as they are now."""
        await self._told("metrics", METRICS_SECONDS)
        return self.known_families()

    def known_families(self) -> list[Family]:
        """The same, as far as the workers have told."""
        return [*self._metrics.families(), *families_of(self._workers.values(), self.deaths)]

    async def _told(self, what: str, seconds: float) -> list[object]:
        """What the workers that are ready tell when they are asked, those that do within some seconds."""
        asked = []
        for worker in self._workers.values():
            if worker.ready and what not in worker.promised:
                worker.promised[what] = asyncio.get_running_loop().create_future()
                worker.link.send(written(**{what: True}))
            if worker.ready:
                asked.append(worker.promised[what])
        if asked:
            await asyncio.wait(asked, timeout=seconds)
        return [each.result() for each in asked if each.done() and not each.cancelled()]

    async def close(self, *, kill: bool = False) -> None:
        """End all workers; with `kill` at once."""
        self._closing = True
        tasks = [*self._starting, *([self._ticking] if self._ticking is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        workers = [*self._workers.values()]
        heard = [each.task for each in workers if each.task is not None]
        if not kill:
            for worker in workers:
                worker.link.send(written(end=True))
            await within(PATIENCE, heard)
        await asyncio.gather(*(each.link.close(kill=kill) for each in workers), return_exceptions=True)
        await within(1.0, heard)
        await asyncio.gather(*self._chores, return_exceptions=True)

    # -- calls on their way ----------------------------------------------------------------------------

    def _place(self, call: Call, *, first: bool = False) -> None:
        """Give a call to a worker; `first` puts it before those that wait there."""
        loads = {each.number: each.load for each in self._taking()}
        if not loads and self._broken is not None:
            self._fail(call, str(self._broken))
            return
        if not loads:
            self._homeless.append(call)
            return
        worker = self._workers[self._router.choose(call.beginning, loads, self.width)]
        if first:
            worker.waiting.appendleft(call)
        else:
            worker.waiting.append(call)
        self._pump()

    def _taking(self) -> Iterator[AttendedWorker]:
        return (each for each in self._workers.values() if each.ready and not each.draining)

    def _pump(self) -> None:
        """Have workers begin what waits for them; then those that have room take from the one that has too
        much."""
        for worker in self._workers.values():
            while worker.waiting and worker.has_room:
                self._hand(worker, worker.waiting.popleft())
        if not any(worker.waiting for worker in self._workers.values()):
            return
        for worker in sorted(self._workers.values(), key=lambda each: each.load):
            while worker.has_room and (call := self._taken_over(worker)) is not None:
                self._hand(worker, call)

    def _hand(self, worker: AttendedWorker, call: Call) -> None:
        """Have a worker begin a call."""
        call.begun = time.monotonic()
        worker.open[call.number] = call
        call.placed(worker.place)
        worker.link.send(call_line(call.number, call.asked))

    def _taken_over(self, idle: AttendedWorker) -> Call | None:
        """A call that waits at the busiest worker and that an idle one is to do: one whose beginning that one
        has read too; else the last one, where the busiest has far more to do."""
        if idle.draining:
            return None
        busiest = max(self._taking(), key=lambda each: len(each.waiting), default=None)
        if busiest is None or not busiest.waiting:
            return None
        for call in itertools.islice(reversed(busiest.waiting), MOST_LOOKED_AT):
            if not busiest.shared or self._router.knows(idle.number, call.beginning):
                busiest.waiting.remove(call)
                return call
        call = most_alike(busiest.waiting)
        leeway = self._router.leeway(call.beginning.tokens, idle.width)
        if not is_overloaded(busiest.load, idle.load, idle.width, leeway):
            return None
        busiest.waiting.remove(call)
        self._router.read.note(idle.number, call.beginning.names)
        return call

    def _withdraw(self, call: Call) -> None:
        """Nobody waits for a call any more."""
        if call in self._homeless:
            self._homeless.remove(call)
        for worker in self._workers.values():
            if call in worker.waiting:
                worker.waiting.remove(call)
            if worker.open.pop(call.number, None) is not None:
                worker.link.send(written(cancel=call.number))
        self._pump()

    def _fail(self, call: Call, why: str) -> None:
        if not call.answered.done():
            fields = {"cause": "local", "endpoint": "", "attempts": call.gone_back, "retry_after": None}
            call.answered.set_exception(SglError("Backend", why, fields=fields))

    # -- workers ---------------------------------------------------------------------------------------

    def _begin(self, after: float = 0.0) -> None:
        """Start a worker in a while."""
        task = asyncio.create_task(self._launch(after))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _launch(self, after: float) -> None:
        await asyncio.sleep(after)
        try:
            link = await self._start()
        except ArgumentError as problem:
            self._break(problem)
            return
        except OSError as problem:
            self._died(f"a worker cannot be started: {problem.strerror or problem}")
            return
        worker = AttendedWorker(next(self._numbers), free_place(self._workers.values()), link)
        self._workers[worker.number] = worker
        link.send(self._setup)
        worker.task = asyncio.create_task(self._attend(worker))

    async def _attend(self, worker: AttendedWorker) -> None:
        """Read what a worker tells until it is no more."""
        try:
            while (line := await worker.link.receive()) is not None:
                try:
                    self._heard(worker, read(line))
                except Garbled as problem:
                    LOG.error("%s is ended, it sent what cannot be read: %s", worker.link.name, problem)
                    break
        finally:
            if not self._closing:
                self._lost(worker)

    def _heard(self, worker: AttendedWorker, message: dict[str, object]) -> None:
        """One message of a worker. Raises Garbled."""
        if "answer" in message:
            self._answer(worker, message)
        elif "event" in message:
            call = worker.open.get(number_of(message, "event"))
            if call is not None:
                self._tell(worker, call, event_of(message))
        elif "gone" in message:
            for name in gone_of(message):
                self._router.read.gone(worker.number, name)
        elif "figures" in message:
            told = part_of(message, "figures")
            worker.figures = {name: each for name, each in told.items() if isinstance(each, int)}
        elif "report" in message:
            self._keep(worker, "report", part_of(message, "report"))
        elif "metrics" in message:
            try:
                found = received(list_of(message, "metrics"))
            except ValueError as wrong:
                raise Garbled(f"metrics: {wrong}") from None
            self._metrics.told(worker.place, found)
            self._keep(worker, "metrics", None)
        elif "state" in message:
            worker.engines = [each for each in list_of(message, "state") if isinstance(each, dict)]
            self._keep(worker, "state", None)
        elif "ready" in message:
            self._welcome(worker, part_of(message, "ready"))
        elif "failed" in message:
            problem = failure_of(part_of(message, "failed"))
            if isinstance(problem, ArgumentError):
                self._break(problem)
            LOG.error("%s cannot work: %s", worker.link.name, problem)

    def _keep(self, worker: AttendedWorker, what: str, told: object) -> None:
        """A worker tells what it was asked, or what it was not."""
        promised = worker.promised.pop(what, None)
        if promised is not None and not promised.done():
            promised.set_result(told)

    def _welcome(self, worker: AttendedWorker, told: dict[str, object]) -> None:
        worker.width = max(1, number_of(told, "width"))
        worker.shared = told.get("shared") is True
        self.models = self.models or {name: str(each) for name, each in part_of(told, "models").items()}
        worker.ready = True
        if self._first is not None and not self._first.done():
            self._first.set_result(None)
        homeless, self._homeless = self._homeless, deque()
        for call in homeless:
            self._place(call)
        self._pump()

    def _answer(self, worker: AttendedWorker, message: dict[str, object]) -> None:
        """A call is answered; an answer that nobody waits for is dropped."""
        call = worker.open.pop(number_of(message, "answer"), None)
        if call is None:
            return
        self._in_a_row = 0
        self._scaling.ended(time.monotonic() - call.begun)
        if not call.answered.done():
            try:
                reply = reply_of(message)
                call.answered.set_result(reply)
                self._router.answered(reply.written)
            except Garbled:
                worker.open[call.number] = call  # it goes back with the others
                raise
            except Exception as problem:
                call.answered.set_exception(problem)
        self._pump()

    def _tell(self, worker: AttendedWorker, call: Call, event: Event) -> None:
        """Tell a listener; one that fails ends its call."""
        try:
            call.hear(event)
        except Exception as problem:
            worker.open.pop(call.number, None)
            worker.link.send(written(cancel=call.number))
            if not call.answered.done():
                call.answered.set_exception(problem)
            self._pump()

    def _lost(self, worker: AttendedWorker) -> None:
        """A worker is no more: what it did and what waited for it goes back, and another takes its place."""
        del self._workers[worker.number]
        self._router.read.forget(worker.number)
        add_figures(self._past, worker.figures)
        self._see_to(worker.link.close(kill=True))
        self._metrics.ended(worker.place)
        for promised in worker.promised.values():
            promised.cancel()
        drained = worker.draining and not worker.load
        if not drained:
            self._died(f"{worker.link.name} has died")
        for call in reversed(worker.waiting):
            self._place(call, first=True)
        for call in reversed(worker.open.values()):
            call.gone_back += 1
            if call.gone_back >= TRIES:
                self._fail(
                    call, f"{TRIES} workers died while they did it, the last one was {worker.link.name}"
                )
            else:
                self._place(call, first=True)

    def _died(self, what: str) -> None:
        """Start another worker in the place of one, unless that is of no use."""
        if self._closing or self._broken is not None:
            return
        self.deaths += 1
        self._in_a_row += 1
        if self._in_a_row > MOST_DEATHS:
            self._break(
                ArgumentError(
                    "E0840",
                    "workers die before they answer",
                    reason=f"{self._in_a_row} in a row; at last {what}",
                    hint="what they wrote to stderr says why; too little memory is a frequent reason",
                )
            )
            return
        LOG.warning("%s; another is started", what)
        self._begin(0.0 if self._in_a_row < 2 else BACK_OFF * 2 ** (self._in_a_row - 2))

    def _break(self, problem: ArgumentError) -> None:
        """There will be no more workers."""
        self._broken = self._broken or problem
        if self._first is not None and not self._first.done():
            self._first.set_exception(problem)
        if not self.ready:
            while self._homeless:
                self._fail(self._homeless.popleft(), str(problem))

    async def _tick(self) -> None:
        """Start and end workers as there is work for them."""
        while True:
            await asyncio.sleep(TICK)
            if self.sizes.fewest < self.sizes.most and self._broken is None:
                self._fit()

    def _fit(self) -> None:
        workers = [each for each in self._workers.values() if not each.draining]
        there = len(workers) + len(self._starting)
        going = sum(each.load for each in workers) + len(self._homeless)
        wanted = self._scaling.wanted(self.coming() + going, going, self.width, there, time.monotonic())
        for _ in range(wanted - there):
            self._begin()
        if wanted < there:
            ready = [each for each in workers if each.ready]
            if len(ready) > self.sizes.fewest:
                self._drain(min(ready, key=lambda each: each.load))

    def _drain(self, worker: AttendedWorker) -> None:
        """Give a worker no more calls; it ends when it has none."""
        worker.draining = True
        waiting, worker.waiting = worker.waiting, deque()
        for call in waiting:
            self._place(call)
        self._see_to(self._end_when_idle(worker))

    def _see_to(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)

    async def _end_when_idle(self, worker: AttendedWorker) -> None:
        while worker.load and worker.number in self._workers:
            await asyncio.sleep(TICK / 5)
        worker.link.send(written(end=True))
