"""A call whose result is read while it is written: `for p in stream f(x):`.

The call runs in a machine of its own, in turn with its reader: it goes on only while the reader waits for
more, and is held where it next waits for the model once there is more to read. So the order of events, the
budgets and what a reader gets are the same in every run, whatever takes how long. It shares the record of
its caller's run. A part of the result is there whenever the text of the hole that it is has grown by
something that can be told apart (`sglc.types.text.decode`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Generator
from functools import partial

from sglc.bytecode.code import Code
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.seed import known_name
from sglc.runtime.vm.state.strand import Strand
from sglc.runtime.vm.state.tasks import same
from sglc.types.text.decode import DecodeError, decode_partial
from sglc.types.text.partial import MISSING, Partial
from sglc.types.text.partial_values import seen

NOTHING = object()


class CallStream:
    """One call, its reader, and the parts that wait for the reader."""

    def __init__(self, caller: Strand, frame: Frame, code: Code, arguments: list[object]) -> None:
        """Enter the call; it begins when its reader first waits. It draws what the plain call would draw."""
        name = known_name(code)
        machine = type(caller)(caller.run, caller.path, frame.seeds.call(name))
        machine.callers, machine.records, machine.stream = caller.names(), caller.records, self
        machine.push(code, arguments, None, frame.allowances)
        if caller.run.listeners:
            machine.emit("call", {"function": name})
        self.machine = machine
        self.current: object = None
        """What is there: a part as it was read, at last the whole value."""
        self.ended = False
        """Whether the reader has been told the whole value."""
        self._hole = ""
        self._text = ""
        self._last: object = NOTHING
        self._parts: deque[Partial] = deque()
        self._wanted = False
        self._task: asyncio.Task[object] | None = None
        self._gate: asyncio.Future[None] | None = None
        self._news: asyncio.Future[None] | None = None

    async def next(self, hole: str) -> bool:
        """Wait until more is there of the text of a hole, or the call has ended; False behind its end.

        Raises what the call raises.
        """
        if not self._parts:
            await self._go_on(hole)
        if self._parts:
            self.current = self._parts.popleft()
            return True
        assert self._task is not None
        value = self._task.result()
        self.ended = True
        told, self._last = self._last, seen(value)  # type: ignore[arg-type]
        self.current = value
        return not same(told, self._last)

    async def _go_on(self, hole: str) -> None:
        """Let the call run until it has written more or has ended."""
        self._hole = hole
        self._wanted = True
        self._news = asyncio.get_running_loop().create_future()
        if self._task is None:
            self._task = asyncio.create_task(_alternating(self))
            self._task.add_done_callback(self._done)
        elif self._task.done():
            return
        if self._gate is not None and not self._gate.done():
            self._gate.set_result(None)
        await self._news

    def _done(self, task: asyncio.Task[object]) -> None:
        if not task.cancelled():
            task.exception()  # a call that nobody reads any more fails unseen
        self._tell()

    def _tell(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    # -- the call's side -------------------------------------------------------------------------------

    def begins(self, machine: Strand, hole: str) -> None:
        """A hole is filled, perhaps once more: its text begins."""
        if hole == self._hole and len(machine.frames) == 1:
            self._text = ""

    def wrote(self, machine: Strand, hole: str, text: str) -> None:
        """A piece of the text of a hole was written. Only those of the streamed function itself count."""
        if hole != self._hole or len(machine.frames) != 1:
            return
        self._text += text
        program = machine.program
        spec = next(spec for spec in program.holes if spec.name == hole)
        if spec.type is None:
            return  # of a choice nothing is known before it is made
        try:
            found = decode_partial(self._text, program.types[spec.type], program.table)
        except DecodeError:
            return
        if found is MISSING:
            return
        now = seen(found)
        if not same(now, self._last):
            self._last = now
            self._parts.append(found)
            self._wanted = False
            self._tell()

    def hold(self) -> asyncio.Future[None] | None:
        """What the call waits for before it goes on; None while the reader wants more."""
        if self._wanted:
            return None
        self._gate = asyncio.get_running_loop().create_future()
        return self._gate

    # -- its end ---------------------------------------------------------------------------------------

    def drop(self) -> None:
        """Stop the call; nobody reads it any more."""
        if self._task is None:
            self._leave()
        else:
            self._task.cancel()

    async def close(self) -> object:
        """Stop the call, if it still runs, and wait until it has let go of what it held. Gives its value,
        None where the reader was not told of it."""
        task = self._task
        if task is None or not task.done():
            code = self.machine.frames[0].code if self.machine.frames else None
            self.drop()
            if task is not None:
                await asyncio.wait([task])
            if code is not None:
                self.machine.frames.clear()
                self.machine.emit("return", {"function": known_name(code), "stopped": True})
        return self.current if self.ended else None

    def _leave(self) -> None:
        while self.machine.frames:
            self.machine.frames.pop().leave()


async def _alternating(stream: CallStream) -> object:
    """Run a stream's call, in turn with its reader."""
    machine = stream.machine
    try:
        return await _Turns(stream)
    finally:
        if machine.last is not None:
            machine.last.leave()


class _Turns:
    """Awaits the execution of a machine, and holds it whenever its stream says so.

    What the machine waits for is handed on to the event loop as it is. In between it may be held.
    """

    def __init__(self, stream: CallStream) -> None:
        self._stream = stream

    def __await__(self) -> Generator[object, None, object]:
        work = self._stream.machine.execute().__await__()
        go_on: Callable[[], object] = partial(next, work)
        while True:
            try:
                waits = go_on()
            except StopIteration as end:
                return end.value
            try:
                yield waits
                gate = self._stream.hold()
                if gate is not None:
                    yield from gate
            except BaseException as raised:
                go_on = partial(work.throw, raised)
            else:
                go_on = partial(next, work)
