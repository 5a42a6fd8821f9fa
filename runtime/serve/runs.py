"""Runs of a server: each is a task that tells what happens, and may be left and found again.

A run has a number that cannot be guessed. What it tells is kept until its reader has it, and a while longer
where the call asked for that (`keep`), so that a client whose connection broke goes on where it was.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import sys
import time
from collections.abc import Mapping
from dataclasses import replace

from starlette.types import Receive

from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.serve.access import Access, Key
from sglc.runtime.serve.admission import Admission, Turn
from sglc.runtime.serve.functions import Answer, Job
from sglc.runtime.serve.keeping.kept_runs import Kept, KeptRuns, NoRoom
from sglc.runtime.serve.keeping.log import Log, Lull, at_once
from sglc.runtime.serve.options import CallOptions, ServeLimits
from sglc.runtime.serve.problems import Problem, Refusal, internal, of_arguments, refusal
from sglc.runtime.serve.requests import until_gone
from sglc.runtime.vm.state.trace import PIECES, Event, plain_data
from sglc.types.text.plain_json import write_json

LOG = logging.getLogger("sglc.serve")
TENANTS = 4
"""So many tenants share the room of kept runs where callers have keys: each has at most this part of it."""
PARTIAL_EVERY = 0.05
"""Seconds between two parts of one hole's value: what people see as steady, and few reads of a long text."""


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
        self.kept: Kept | None = None
        """Its part of the memory of kept runs, where it may outlive its client."""
        self.expiry: asyncio.TimerHandle | None = None
        """What forgets it when nobody has come for as long as it is kept."""
        self.called_at = time.monotonic()
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

    def shed(self) -> None:
        """Let go of what nobody wants once it has ended and nobody waits for it."""
        if self.answer is not None and not self.readers:
            self.answer = replace(self.answer, found=None)
            self._texts.clear()
            self._partials.clear()

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
        self.kept = KeptRuns(limits.kept, limits.kept // TENANTS if access.keys else limits.kept)
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
        self._keep(run)
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
        if run.kept is not None:
            self.kept.watch(run.kept)
        if run.expiry is not None:
            run.expiry.cancel()

    def leave(self, run: Run) -> None:
        """A reader has gone. Without one, a run ends, or goes on as long as its call says."""
        run.readers -= 1
        if run.readers:
            return
        if run.kept is None:
            self._expire(run)
            return
        seconds = run.options.keep
        run.expiry = asyncio.get_running_loop().call_later(seconds, self._expire, run)
        run.shed()
        self.kept.leave(run.kept, time.monotonic() + seconds)

    def had(self, run: Run) -> None:
        """A client has had the end of a run: it may be dropped early, where others need its room."""
        if run.kept is not None:
            self.kept.had(run.kept)

    def end(self, run: Run) -> None:
        """Its client wants a run no more: it is cancelled, or forgotten where it has ended."""
        if run.ended:
            self._forget(run)
        else:
            run.cancel()

    async def attend(self, run: Run, receive: Receive) -> None:
        """Wait for a run's end, or until its client has gone, which leaves the run."""
        assert run.task is not None
        self.enter(run)
        try:
            await until_gone(receive, run.task)
        finally:
            self.leave(run)

    def _keep(self, run: Run) -> None:
        """Count a run among those that are kept, where its call asks for that. Raises Refusal (429)."""
        if run.options.keep <= 0:
            return
        try:
            run.kept = self.kept.enter(run.key.tenant, run.log, lambda: self._forget(run))
        except NoRoom as full:
            raise refusal(
                429,
                "Kept",
                f"runs that are kept take {full.bytes} bytes already",
                hint="read what they told, end them by DELETE /v1/runs/ID, or have runs kept for less time",
                retry_after=full.after,
            ) from None

    def _expire(self, run: Run) -> None:
        """Nobody has come to a run in time."""
        run.cancel()
        self._forget(run)

    def _forget(self, run: Run) -> None:
        self.by_id.pop(run.id, None)
        if run.expiry is not None:
            run.expiry.cancel()
        if run.kept is not None:
            self.kept.forget(run.kept)

    def _end(self, run: Run, turn: Turn) -> None:
        """The work of a run is over, also where it was cancelled before it began."""
        turn.leave()
        if run.answer is None:
            run.answer = _cancelled(run)
        self.access.count(run.key, run.tokens)
        self.tokens += run.tokens
        text = run.answer.text(run.id)
        run.log.put("value" if run.answer.problem is None else "error", text)
        run.shed()
        if run.kept is not None:
            self.kept.grow(run.kept, sys.getsizeof(text))  # the answer has all of it once more

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
