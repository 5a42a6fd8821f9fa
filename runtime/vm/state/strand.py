"""One line of execution as its instructions see it: frames, seeds, events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from sglc.bytecode.code import Code, Place
from sglc.runtime.vm.state.frame import Allowance, Frame, Signal
from sglc.runtime.vm.state.run import Run
from sglc.runtime.vm.state.seed import Seeds, known_name
from sglc.runtime.vm.state.trace import Event, ListenerFault
from sglc.runtime.vm.state.values import failure
from sglc.values.text import display

if TYPE_CHECKING:
    from sglc.runtime.vm.state.streams import CallStream

Outcome = Signal | Awaitable[Signal | None] | None
"""What a step gives the loop: nothing, a signal, or work to wait for that gives one of these."""


MOST_NESTED = 40
"""Most computations inside each other, as a condition asks that makes values of a type with a condition. Each
takes some ten frames of Python, of which there are a thousand."""


class Strand:
    """A stack of frames. `path` is its place among forks, `seed` what its first conversation draws from."""

    def __init__(self, run: Run, path: tuple[int, ...] = (), seed: int | None = None) -> None:
        self.run = run
        self.program = run.program
        self.path = path
        self.branch = ".".join(map(str, path))
        self.seed = run.seed if seed is None else seed
        self.records = run.records
        """Where checks and holes are noted. A branch of a fork has a list of its own until all branches have
        ended."""
        self.frames: list[Frame] = []
        self.callers: tuple[str, ...] = ()
        """Of a task: the functions around its call, outermost first."""
        self.stream: CallStream | None = None
        """Of the call of a stream: what reads its result."""
        self.nested = 0
        """How many lines of execution wait for this one to be computed beside them."""
        self.result: object = None
        self.last: Frame | None = None
        """The first frame, once it has returned. The one who started the machine frees it."""

    def push(
        self, code: Code, arguments: list[object], parent: Frame | None, allowances: tuple[Allowance, ...]
    ) -> Frame:
        """Enter a function: a fresh conversation for fn and test, the caller's for part, none for others."""
        if len(self.callers) + len(self.frames) >= self.run.limits.depth:
            raise failure(f"more than {self.run.limits.depth} calls deep")
        if code.within is not None:
            allowances = (
                *allowances,
                Allowance(code.within, f"`within {code.within} tok` of {known_name(code)}"),
            )
        slots = arguments + [None] * (len(code.slots) - len(arguments))
        seeds = Seeds(self.seed) if parent is None else parent.seeds
        if code.kind == "part" and parent is not None:
            conversation, owns = parent.conversation, False
        elif code.kind in ("pure", "extern"):
            conversation, owns = None, False
            if code.kind == "extern" and parent is not None:
                seeds.call(known_name(code))  # it draws nothing, but its calls are told apart by their number
        else:
            conversation, owns = self.run.model.conversation(), True
            if parent is not None:
                seeds = Seeds(seeds.call(known_name(code)))
        frame = Frame(code, slots, conversation, owns, allowances, seeds)
        self.frames.append(frame)
        if self.run.recorder is not None and code.kind != "pure":
            self.run.recorder.call(known_name(code))
        return frame

    def names(self) -> tuple[str, ...]:
        """The functions that are being run, outermost first."""
        return (*self.callers, *[known_name(frame.code) for frame in self.frames])

    async def execute(self) -> object:
        """Run until the first frame returns. See `Machine`."""
        raise AssertionError("a strand is run by a machine")

    async def compute(self, code: Code, arguments: list[object]) -> object:
        """The result of a pure function, computed beside this line of execution."""
        if self.nested >= MOST_NESTED:
            raise failure(f"conditions of types ask each other, more than {MOST_NESTED} deep")
        other = type(self)(self.run, self.path, self.seed)
        other.records, other.nested = self.records, self.nested + 1
        other.push(code, arguments, None, ())
        return await other.execute()

    def place(self, frame: Frame) -> Place | None:
        """Where the instruction that a frame took last stands in the source; None if that is not known."""
        index = frame.pc - 1
        places = frame.code.places
        return places[index] if 0 <= index < len(places) else None

    def emit(
        self,
        kind: str,
        data: dict[str, object],
        place: Place | None = None,
        took: Mapping[str, object] | None = None,
    ) -> None:
        """Tell the listeners; of another place than the last instruction's, if one is given, and what it
        `took` (`Event.took`). Raises ListenerFault for any exception of theirs."""
        if self.run.listeners:
            span = ""
            if place is None and self.frames:
                place = self.place(self.frames[-1])
            if place is not None and 0 <= place.file < len(self.program.files):
                span = f"{self.program.files[place.file]}:{place.line}:{place.column}"
            event = Event(kind, data, self.branch, span, took=took or {})
            try:
                for listener in self.run.listeners:
                    listener(event)
            except Exception as error:
                raise ListenerFault(error) from error

    def show(self, value: object) -> str:
        """The text that `${value}` writes."""
        return display(value, self.program.table)


Step = Callable[[Strand, Frame, int, int], Outcome]
"""What an instruction does, with its two operands."""
