"""Calls that run beside their callers: begun where a hint says that they will come, joined where they come.

A task is a machine of its own with a record of its own (`Run.beside`). Nothing of it can be seen until the
call comes that its hint spoke of. Then the call joins the task: what the task said, counted and spent is
entered where the call stands, as if it had run there. If the call has other arguments, or gets another seed,
or the task may have seen a budget that was larger than it is, the task is dropped and the call runs as ever.
So a hint changes nothing but time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from decimal import Decimal

from sglc.bytecode.code import Code
from sglc.runtime.vm.state.frame import Allowance, Frame
from sglc.runtime.vm.state.run import Run
from sglc.runtime.vm.state.seed import known_name
from sglc.runtime.vm.state.strand import Strand
from sglc.types.values import EnumValue, RecordValue

MOST_WAITING = 10_000
"""Most calls of one run that wait for their turn; each takes about a kilobyte. Other hints are passed by."""


@dataclass(slots=True)
class Loan:
    """An allowance of the caller, and the copy that a task spends from."""

    given: Allowance
    own: Allowance
    before: int
    """What was spent when the copy was made."""

    @classmethod
    def of(cls, given: Allowance) -> Loan:
        """A copy of an allowance as it is now."""
        return cls(given, Allowance(given.limit, given.source, given.fatal, given.spent), given.spent)

    @property
    def late(self) -> int:
        """Tokens that were spent before the call, in the order of the program, and that the task did not
        know of."""
        return self.given.spent - self.before

    @property
    def fits(self) -> bool:
        """Whether the task would have done the same with what was really left."""
        late = self.late
        return not late or self.own.slack >= late

    def settle(self) -> None:
        """Charge the caller with what the task has spent."""
        self.given.slack = min(self.given.slack, self.own.slack - self.late)
        self.given.spent += self.own.spent - self.before


class Task:
    """One call that a hint has told of. `future` is None while it waits for its turn."""

    __slots__ = (
        "_frame",
        "arguments",
        "caller",
        "callers",
        "code",
        "dropped",
        "future",
        "loans",
        "run",
        "seed",
    )

    def __init__(self, caller: Strand, frame: Frame, code: Code, arguments: list[object], seed: int) -> None:
        self.caller = caller
        self.callers = caller.names()
        self.code = code
        self.arguments = arguments
        self.seed = seed
        self.dropped = False
        self.future: asyncio.Task[object] | None = None
        self.run: Run = caller.run
        self.loans: list[Loan] = []
        self._frame = frame

    def begin(self) -> asyncio.Task[object]:
        """Run the call beside its caller, with budgets as they are now."""
        self.run = self.caller.run.beside()
        self.loans = [Loan.of(each) for each in self._frame.allowances]
        self.future = asyncio.create_task(self._work())
        return self.future

    async def _work(self) -> object:
        machine = type(self.caller)(self.run, self.caller.path, self.seed)
        machine.callers = self.callers
        machine.push(self.code, list(self.arguments), None, tuple(loan.own for loan in self.loans))
        if self.run.listeners:
            machine.emit("call", {"function": known_name(self.code)})
        value = await machine.execute()
        if machine.last is not None:
            machine.last.leave()
        return value

    def is_call(self, arguments: list[object], seed: int) -> bool:
        """Whether this is a call with these arguments and this seed."""
        return seed == self.seed and same(self.arguments, arguments)

    @property
    def timely(self) -> bool:
        """Whether nothing was spent of a budget that the task does not know of."""
        return not any(loan.late for loan in self.loans)

    def fits(self, run: Run) -> bool:
        """Whether all that the task has done, it would have done with the budgets and steps that are left
        now."""
        return self.run.steps < run.steps_left and all(loan.fits for loan in self.loans)

    def settle(self) -> None:
        """Enter what the task has counted, spent and checked where its caller stands."""
        for loan in self.loans:
            loan.settle()
        self.caller.run.absorb(self.run)
        self.caller.records.add(self.run.records)

    def drop(self) -> None:
        """End the call; nobody will see anything of it."""
        self.dropped = True
        if self.future is not None:
            self.future.cancel()


class Tasks:
    """The tasks of one run. At most `limit` run at a time; others wait, in the order of their hints."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._running: set[asyncio.Task[object]] = set()
        self._waiting: deque[Task] = deque()

    def hint(self, caller: Strand, frame: Frame, index: int, arguments: list[object]) -> None:
        """A call of code `index` with these arguments will come in this frame."""
        if len(self._waiting) >= MOST_WAITING:
            return
        code = caller.program.codes[index]
        if frame.tasks is None:
            frame.tasks = {}
        name, codes = known_name(code), caller.program.codes
        queue = frame.tasks.setdefault(index, deque())
        # copies of one function count as one
        ahead = sum(len(each) for other, each in frame.tasks.items() if known_name(codes[other]) == name)
        task = Task(caller, frame, code, arguments, frame.seeds.coming(name, ahead))
        queue.append(task)
        self._waiting.append(task)
        self._begin()

    def _begin(self) -> None:
        while self._waiting and len(self._running) < self._limit:
            task = self._waiting.popleft()
            if not task.dropped:
                future = task.begin()
                self._running.add(future)
                future.add_done_callback(self._ended)

    def _ended(self, future: asyncio.Task[object]) -> None:
        self._running.discard(future)
        if not future.cancelled():
            future.exception()  # a task that nobody joins fails unseen
        self._begin()

    async def close(self) -> None:
        """End all that still runs, and wait until it has let go of what it held."""
        self._waiting.clear()
        left = list(self._running)
        for future in left:
            future.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def begun(frame: Frame, index: int, arguments: list[object]) -> Task | None:
    """The task that a call of code `index` joins: the first of those that are waited for, if it is this call.

    If it is another call, the hints were wrong, and all tasks of the function are dropped. A task that has
    not begun is dropped too: the call runs at once.
    """
    assert frame.tasks is not None
    queue = frame.tasks.get(index)
    if not queue:
        return None
    first = queue[0]
    if not first.is_call(arguments, frame.seeds.coming(known_name(first.code))):
        for task in queue:
            task.drop()
        queue.clear()
        return None
    queue.popleft()
    if first.future is None:
        first.drop()
        return None
    return first


def same(one: object, other: object) -> bool:
    """Whether nothing can tell two values apart. 1, true, 1.0 and 1.00 are four values.

    Values that exist only while a program runs are the same only if they are one object.
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        assert isinstance(other, list | tuple)
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        assert isinstance(other, dict)
        return same(list(one.items()), list(other.items()))
    if isinstance(one, RecordValue):
        assert isinstance(other, RecordValue)
        return (one.type, one.variant) == (other.type, other.variant) and same(one.fields, other.fields)
    if isinstance(one, float | Decimal):
        return repr(one) == repr(other)
    return isinstance(one, str | int | EnumValue | range) and one == other
