"""The worker of a queue: takes as many messages as there are places, and gives each its outcome.

A message goes only after its result is stored. A worker that dies leaves its messages to others; a message
that comes again finds the result and is not run again. So each call is run at least once and in effect once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from starlette.routing import BaseRoute

from sglc.runtime.errors import ArgumentError
from sglc.runtime.serve.access import Key
from sglc.runtime.serve.faces import Served
from sglc.runtime.serve.functions import Answer
from sglc.runtime.serve.options import CallOptions, call_options
from sglc.runtime.serve.problems import Problem, Refusal, of_arguments, refusal
from sglc.runtime.serve.queue.address import QueueAddress
from sglc.runtime.serve.queue.broker import Broker, Delivery, Outcome, pause
from sglc.runtime.serve.queue.messages import (
    LONGEST_LETTER,
    Poison,
    QueuedCall,
    is_result_of,
    letter_text,
    read_call,
    result_text,
)

LOG = logging.getLogger("sglc.serve")
KEY = Key("queue:", tenant="queue:", priority=100)
"""Calls of a queue take turns with those of other tenants. No key of a file has this name's colon."""
TAKE_SECONDS = 1.0
"""Seconds that the broker is asked to wait for a message: so soon the worker sees that the server ends."""
START_SECONDS = 10.0
"""Seconds in which the broker is there when the server starts."""
LAST_SECONDS = 5.0
"""Seconds in which outcomes are told when the server ends."""
LONGEST_RETRY = 30.0
TELL_AFTER = 5
"""Failures in a row to tell an outcome after which the log says so."""
TRANSIENT = ("connection", "overloaded", "rate")
"""Causes of `Backend` that may have gone when a call is made again."""
_NOT_HERE = ("keep", "tokens")
T = TypeVar("T")


class QueueFace:
    """Calls from a queue as a face of the server."""

    routes: Sequence[BaseRoute] = ()

    def __init__(self, served: Served, address: QueueAddress, broker: Broker) -> None:
        self._table, self._runs = served.table, served.runs
        self._address = address
        self._broker = broker
        self._tasks: set[asyncio.Task[None]] = set()
        self._same: dict[str, asyncio.Event] = {}
        """Digests of calls that this worker runs now, and their ends."""
        self._closing = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Sequence[str]]:
        """See `Face.running`. Raises ArgumentError (E0832) where the broker is not there."""
        await self._start()
        taking = asyncio.ensure_future(self._take())
        try:
            yield [f"{self._address.shown}    calls of the queue {self._address.name}"]
        finally:
            self._closing = True
            await asyncio.wait({taking}, timeout=LAST_SECONDS / 2)
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=LAST_SECONDS / 2)
            left = (taking, *self._tasks)
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
            await self._broker.close()

    async def _start(self) -> None:
        failures = 0
        try:
            async with asyncio.timeout(START_SECONDS):
                while True:
                    try:
                        return await self._broker.connect()
                    except self._broker.faults as fault:
                        found, failures = fault, failures + 1
                    await asyncio.sleep(pause(failures))
        except TimeoutError:
            why = type(found).__name__ if failures else "it does not answer"
            raise ArgumentError(
                "E0832", f"{self._address.shown} is not there", reason=why, hint="start the broker first"
            ) from None

    # -- taking ----------------------------------------------------------------------------------------

    @property
    def _ending(self) -> bool:
        return self._runs.draining or self._closing

    async def _take(self) -> None:
        """Take messages while there are places, until the server ends."""
        failures = 0
        while not self._ending:
            admission = self._runs.admission
            room = admission.most_running - max(admission.running + admission.waiting, len(self._tasks))
            if room <= 0:
                await self._wait_for_room()
                continue
            try:
                taken = await self._broker.take(room, TAKE_SECONDS)
            except self._broker.faults as fault:
                failures += 1
                if failures == 1:
                    LOG.warning("queue: %s is away: %s", self._address.shown, type(fault).__name__)
                await asyncio.sleep(pause(failures))
                continue
            if failures:
                LOG.warning("queue: %s is back", self._address.shown)
                failures = 0
            for delivery in taken:
                task = asyncio.ensure_future(self._handle(delivery))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _wait_for_room(self) -> None:
        """Until a message of this worker is settled or a place is free; short, so that an end is seen."""
        free = asyncio.ensure_future(self._runs.admission.until_free())
        try:
            waited = self._tasks or {free}
            await asyncio.wait(waited, timeout=TAKE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            free.cancel()

    async def _persist(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something at the broker, again and again while it is away."""
        failures = 0
        while True:
            try:
                return await work()
            except self._broker.faults as fault:
                failures += 1
                if failures == TELL_AFTER:
                    LOG.warning("queue: %s takes no outcome: %s", self._address.shown, type(fault).__name__)
            await asyncio.sleep(pause(failures))

    # -- one message -----------------------------------------------------------------------------------

    async def _handle(self, delivery: Delivery) -> None:
        """Give a message its outcome. A fault of our own leaves it to be taken again."""
        holding = asyncio.ensure_future(self._hold(delivery))
        try:
            await self._outcome(delivery)
        except Exception:
            LOG.exception("queue: a message failed within")
        finally:
            holding.cancel()

    async def _hold(self, delivery: Delivery) -> None:
        while True:
            await asyncio.sleep(self._address.idle / 3)
            try:
                await self._broker.hold(delivery)
            except self._broker.faults:
                pass  # it is away; its clock stands as well, or the message goes to another

    async def _outcome(self, delivery: Delivery) -> None:
        try:
            call = read_call(delivery.data, self._runs.limits.body)
        except Poison as poison:
            await self._bury(delivery, str(poison))
            return
        while (same := self._same.get(call.digest)) is not None:
            await same.wait()
        self._same[call.digest] = asyncio.Event()
        try:
            await self._once(delivery, call)
        finally:
            self._same.pop(call.digest).set()

    async def _once(self, delivery: Delivery, call: QueuedCall) -> None:
        """The outcome of a call, of which no other with its digest runs in this worker."""
        stored = await self._persist(lambda: self._broker.stored(call.digest))
        if stored is not None:
            if is_result_of(stored, call):
                await self._settle(delivery, call, stored)
            else:
                await self._bury(delivery, "the id has the result of another call")
            return
        if delivery.attempt > self._address.attempts:
            times = delivery.attempt - 1
            lost = Problem(500, "Internal", f"the call was begun {times} times, and no worker has ended it")
            await self._fail(delivery, call, lost, "")
            return
        if self._ending:
            await self._give_back(delivery, 0.0, counted=False)
            return
        answer, run = await self._answer(call)
        problem = answer.problem
        if problem is None or not is_mendable(problem):
            await self._settle(delivery, call, self._fitting(call, answer, run))
        elif problem.status == 503 and self._ending:
            await self._give_back(delivery, 0.0, counted=False)
        elif not run or problem.name == "Busy":  # no place: others have taken it meanwhile
            await self._give_back(delivery, pause(delivery.attempt + 3), counted=False)
        elif delivery.attempt >= self._address.attempts:
            await self._fail(delivery, call, problem, run)
        else:
            wait = max(problem.retry_after or 0.0, pause(delivery.attempt + 3))
            await self._give_back(delivery, min(wait, LONGEST_RETRY), counted=True)

    async def _answer(self, call: QueuedCall) -> tuple[Answer, str]:
        """Run a call: its answer and the number of the run, which is empty where it could not begin."""
        try:
            function = self._table.get(call.function)
            options = self._options(call)
            run = self._runs.start(function, call.arguments, options, KEY, told=False)
        except ArgumentError as error:
            return Answer(problem=of_arguments(error)), ""
        except Refusal as refused:
            return Answer(problem=refused.problem), ""
        assert run.task is not None
        self._runs.enter(run)
        try:
            await asyncio.wait({run.task})
        finally:
            self._runs.leave(run)
        return run.answer or Answer(problem=Problem(503, "Cancelled", "the server has ended")), run.id

    def _options(self, call: QueuedCall) -> CallOptions:
        if isinstance(call.options, dict):
            for name in _NOT_HERE:
                if call.options.get(name) is not None:
                    raise refusal(400, "Arguments", f"a call of a queue has no option `{name}`")
        return call_options(call.options, self._runs.limits)

    def _fitting(self, call: QueuedCall, answer: Answer, run: str) -> str:
        """The result of a call, or that it is too large for the broker."""
        text = result_text(call, answer, run)
        if len(text.encode()) <= self._broker.largest:
            return text
        large = Problem(413, "TooLarge", f"the result is larger than {self._broker.largest} bytes")
        return result_text(call, replace(answer, problem=large), run)

    # -- outcomes --------------------------------------------------------------------------------------

    async def _settle(self, delivery: Delivery, call: QueuedCall, text: str, letter: str = "") -> None:
        outcome = Outcome(call.digest, call.content, text, call.reply, letter)
        if not await self._persist(lambda: self._broker.settle(delivery, outcome)):
            await self._bury(delivery, "the id has the result of another call")

    async def _fail(self, delivery: Delivery, call: QueuedCall, problem: Problem, run: str) -> None:
        """The last attempt has failed: the problem is the result, and the message a dead letter."""
        LOG.error("queue: %s is given up after %d attempts", call.digest, delivery.attempt)
        letter = self._letter(delivery, "all attempts have failed", problem)
        await self._settle(delivery, call, self._fitting(call, Answer(problem=problem), run), letter)

    async def _bury(self, delivery: Delivery, reason: str) -> None:
        """Make a message a dead letter without a result. The log has no text of it."""
        LOG.error("queue: a message is a dead letter")
        outcome = Outcome(letter=self._letter(delivery, reason))
        await self._persist(lambda: self._broker.settle(delivery, outcome))

    def _letter(self, delivery: Delivery, reason: str, problem: Problem | None = None) -> str:
        room = min(LONGEST_LETTER, self._broker.largest // 8)  # a byte takes up to six characters
        return letter_text(delivery.data[:room], len(delivery.data), reason, delivery.attempt, problem)

    async def _give_back(self, delivery: Delivery, seconds: float, *, counted: bool) -> None:
        await self._persist(lambda: self._broker.give_back(delivery, seconds, counted=counted))


def is_mendable(problem: Problem) -> bool:
    """Whether a call that failed so may have a value when it is made again: a model elsewhere was away or
    overloaded, there was no place, the server ended, or it had a fault of its own."""
    if problem.name == "Backend":
        return problem.status == 429 or problem.fields.get("cause", TRANSIENT[0]) in TRANSIENT
    return problem.status in (429, 503) or problem.name == "Internal"
