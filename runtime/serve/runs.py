"""Runs of a server: each is a task that tells what happens, and may be left and found again.

A run has a number that cannot be guessed. What it tells is kept until its reader has it, and a while longer
where the call asked for that (`keep`), so that a client whose connection broke goes on where it was.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from starlette.types import Receive

from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.serve.access import Access, Key
from sglc.runtime.serve.admission import Admission, Turn
from sglc.runtime.serve.functions import Answer, Job
from sglc.runtime.serve.options import CallOptions, ServeLimits
from sglc.runtime.serve.problems import Problem, Refusal, internal, of_arguments, refusal
from sglc.runtime.serve.requests import until_gone
from sglc.runtime.vm.state.trace import PIECES, Event, plain_data
from sglc.types.text.plain_json import write_json

LOG = logging.getLogger("sglc.serve")
PARTIAL_EVERY = 0.05
"""Seconds between two parts of one hole's value: what people see as steady, and few reads of a long text."""
KEPT_EVENTS = 4096
"""Most events that are kept for a reader: what it has not read of more than these is joined or lost."""
KEPT_BYTES = 4 * 1024 * 1024
"""Most bytes of these."""


Lull = Callable[[], Awaitable[None]]
"""Waits for the time at which work that can wait delays nothing; see `Engine.step_begun`."""


async def at_once() -> None:
    """There is no need to wait."""


@dataclass(frozen=True, slots=True)
class Told:
    """One event of a run: its place in the order, its name, and its data as JSON text."""

    number: int
    name: str
    data: str

    @property
    def last(self) -> bool:
        """Whether nothing follows."""
        return self.name in ("value", "error")


class Log:
    """Events of a run in their order, for one reader at a time. Bounded: see KEPT_EVENTS."""

    def __init__(self, lull: Lull = at_once) -> None:
        self._lull = lull
        self._events: deque[Told] = deque()
        self._bytes = 0
        self._number = 0
        self._news = asyncio.Event()
        self.lost = 0
        """The number of the last event that is not kept any more."""

    def put(self, name: str, data: str) -> None:
        """Tell of something."""
        self._number += 1
        self._events.append(Told(self._number, name, data))
        self._bytes += len(data)
        while len(self._events) > KEPT_EVENTS or (self._bytes > KEPT_BYTES and len(self._events) > 1):
            gone = self._events.popleft()
            self._bytes -= len(gone.data)
            self.lost = gone.number
        self._news.set()

    async def after(self, number: int) -> list[Told]:
        """All that has been told after an event, at least one; waits for it."""
        while not self._events or self._events[-1].number <= number:
            self._news.clear()
            await self._news.wait()
            await self._lull()
        first = max(0, number - self._events[0].number + 1)
        return [self._events[at] for at in range(first, len(self._events))]


class Run:
    """A call that is going on, or has ended."""

    def __init__(self, function: Job, options: CallOptions, key: Key, told: bool, lull: Lull) -> None:
        self.id = secrets.token_urlsafe(12)
        self.function = function
        self.options = options
        self.key = key
        self.told = told
        """Whether it tells events besides its end."""
        self.log = Log(lull)
        self.answer: Answer | None = None
        self.readers = 0
        self.left_at = time.monotonic()
        """When its last reader left it."""
        self.called_at = self.left_at
        self.placed = False
        """Whether its turn has come."""
        self.task: asyncio.Task[None] | None = None
        self.ending: Problem | None = None
        """Why it is made to end, where the server does that."""
        self.tokens = 0
        """Tokens of the holes that have ended."""
        self._first = 0
        """When its first event was, in nanoseconds since 1970."""
        self._texts: dict[tuple[str, str], str] = {}
        """Of holes that are open, by branch and name."""
        self._partials: dict[tuple[str, str], tuple[float, str]] = {}

    @property
    def ended(self) -> bool:
        """Whether it has a value or a problem."""
        return self.answer is not None

    def cancel(self, why: Problem | None = None) -> None:
        """Stop it at its next token."""
        if self.task is not None and not self.ended:
            self.ending = self.ending or why
            self.task.cancel()

    # -- what happens ----------------------------------------------------------------------------------

    def hear(self, event: Event) -> None:
        """A listener of the session: keeps what has come of open holes, and tells of events and of values."""
        hole = str(event.data.get("hole", ""))
        key = (event.branch, hole)
        if event.kind in ("hole_start", "again"):
            self._texts[key] = ""
        elif event.kind in PIECES and hole:
            self._texts[key] = self._texts.get(key, "") + event.text
        elif event.kind == "hole_end":
            self.tokens += int(event.data.get("tokens") or 0)
        if self.told:
            self._tell(event, key)
        if event.kind == "hole_end":
            self._texts.pop(key, None)
            self._partials.pop(key, None)

    @property
    def partial(self) -> str:
        """The text of the hole that was begun last and has not ended."""
        return next(reversed(self._texts.values()), "")

    def _tell(self, event: Event, key: tuple[str, str]) -> None:
        self._first = self._first or event.time
        seconds = max(0, event.time - self._first) / 1e9
        data: dict[str, object] = {**event.data, "t": round(seconds, 4), **event.took}
        if event.branch:
            data["branch"] = event.branch
        if event.kind == "error":
            data["uncaught"] = not data.get("caught")
            self.log.put("raised", write_json(plain_data(data)))
            return
        self.log.put(event.kind, write_json(plain_data(data)))
        if event.kind in PIECES and key[1]:
            self._grown(key, final=False)
        elif event.kind == "hole_end":
            self._grown(key, final=True)

    def _grown(self, key: tuple[str, str], *, final: bool) -> None:
        """Tell what is certain of a hole's value, where that is news and the last time is not just now."""
        then, before = self._partials.get(key, (0.0, "null"))
        now = time.monotonic()
        if not final and now - then < PARTIAL_EVERY:
            return
        branch, hole = key
        text = write_json(self.function.partial(hole, self._texts.get(key, "")))
        self._partials[key] = (now, text)
        if text != before:
            told = {"hole": hole, "branch": branch} if branch else {"hole": hole}
            self.log.put("partial", f'{write_json(told)[:-1]}, "value": {text}}}')


class Runs:
    """All runs of a server."""

    def __init__(
        self, limits: ServeLimits, admission: Admission, access: Access, lull: Lull = at_once
    ) -> None:
        self.limits = limits
        self.lull = lull
        """What is told is sent then."""
        self.admission = admission
        self.access = access
        self.ending = asyncio.Event()
        """Set once the server is told to end."""
        self.by_id: dict[str, Run] = {}
        self.tokens = 0
        """Tokens of all runs that have ended."""

    def check(self, coming: int = 0) -> None:
        """Raises Refusal where no run can begin: the server ends, or one more has no room to wait behind
        those that are `coming`. Faces ask before they read a request, so that refusals are quick where there
        are many."""
        if self.draining:
            raise refusal(503, "Ending", "the server is ending", retry_after=self.limits.grace)
        self.admission.check(coming)

    @property
    def draining(self) -> bool:
        """Whether no more runs begin."""
        return self.ending.is_set()

    def start(
        self,
        function: Job,
        arguments: Mapping[str, object],
        options: CallOptions,
        key: Key,
        *,
        told: bool,
    ) -> Run:
        """Begin a run. Raises Refusal where it cannot begin: wrong arguments, no room, a server that ends."""
        self.check()
        try:
            function.check(arguments)
        except ArgumentError as error:
            raise Refusal(of_arguments(error)) from None
        run = Run(function, options, key, told, self.lull)
        turn = self.admission.enter(key.tenant, min(options.priority, key.priority))
        self.by_id[run.id] = run
        work = self._perform(run, turn, arguments)
        run.task = asyncio.get_running_loop().create_task(work, name=f"run {run.id}")
        run.task.add_done_callback(lambda _: self._end(run, turn))
        return run

    def find(self, id: str, key: Key) -> Run:
        """A run that is going on or still kept, for who has begun it. Raises Refusal."""
        run = self.by_id.get(id)
        if run is None or run.key.name != key.name:
            raise refusal(
                404, "NotFound", f"there is no run {id}", hint="a run is kept as long as `keep` says"
            )
        return run

    def enter(self, run: Run) -> None:
        """Somebody reads what a run tells, or waits for its value."""
        run.readers += 1

    def leave(self, run: Run) -> None:
        """A reader has gone. Without one, a run ends, or goes on as long as its call says."""
        run.readers -= 1
        run.left_at = time.monotonic()
        if run.readers:
            return
        if run.options.keep <= 0:
            run.cancel()
            self.by_id.pop(run.id, None)
        else:
            asyncio.get_running_loop().call_later(run.options.keep, self._expire, run)

    async def attend(self, run: Run, receive: Receive) -> None:
        """Wait for a run's end, or until its client has gone, which leaves the run."""
        assert run.task is not None
        self.enter(run)
        try:
            await until_gone(receive, run.task)
        finally:
            self.leave(run)

    def _expire(self, run: Run) -> None:
        if not run.readers and time.monotonic() - run.left_at >= run.options.keep - 0.01:
            run.cancel()
            self.by_id.pop(run.id, None)

    def _end(self, run: Run, turn: Turn) -> None:
        """The work of a run is over, also where it was cancelled before it began."""
        turn.leave()
        if run.answer is None:
            run.answer = _cancelled(run)
        self.access.count(run.key, run.tokens)
        self.tokens += run.tokens
        run.log.put("value" if run.answer.problem is None else "error", run.answer.text(run.id))

    async def _perform(self, run: Run, turn: Turn, arguments: Mapping[str, object]) -> None:
        """The work of a run, with its waiting. It ends with an answer."""
        options, function = run.options, run.function
        ends = None if options.timeout is None else time.monotonic() + options.timeout
        try:
            async with asyncio.timeout(options.timeout) as waiting:
                await turn.come()
                run.placed = True
                waiting.reschedule(None)  # the run's own time says better what was late
                left = None if ends is None else max(0.001, ends - time.monotonic())
                priority = min(options.priority, run.key.priority)
                within = replace(options, timeout=left, priority=priority, tenant=run.key.tenant)
                run.answer = await function.answer(arguments, within, run.hear)
        except asyncio.CancelledError:
            run.answer = _cancelled(run)
        except TimeoutError:
            late = f"no model was free within {options.timeout:g} s"
            run.answer = Answer(problem=Problem(504, "Timeout", late, "E0706"))
        except Refusal as refused:
            run.answer = Answer(problem=refused.problem)
        except ArgumentError as error:
            run.answer = Answer(problem=of_arguments(error))
        except SglError as error:
            if isinstance(error.__cause__, Exception) and error.fatal and error.name == "Failure":
                LOG.error("run %s of %s failed within", run.id, function.name, exc_info=error.__cause__)
                run.answer = Answer(problem=internal(run.id))
            else:
                run.answer = Answer(problem=function.problem(error))
        except Exception:
            LOG.exception("run %s of %s failed within", run.id, function.name)
            run.answer = Answer(problem=internal(run.id))

    # -- the end of the server -------------------------------------------------------------------------

    @property
    def going(self) -> list[Run]:
        """Runs that have not ended."""
        return [run for run in self.by_id.values() if not run.ended]

    async def drain(self, seconds: float) -> None:
        """Begin no more runs; give those that go on some seconds, then cancel them."""
        self.ending.set()
        tasks = [run.task for run in self.going if run.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        late = self.going
        for run in late:
            run.cancel(Problem(503, "Cancelled", "the server has ended"))
        await asyncio.gather(*(run.task for run in late if run.task is not None), return_exceptions=True)


def _cancelled(run: Run) -> Answer:
    """The answer of a run that was made to end."""
    why = run.ending or Problem(503, "Cancelled", "the call was cancelled")
    return Answer(problem=replace(why, partial=run.partial or None))
