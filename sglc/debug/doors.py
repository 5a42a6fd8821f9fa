"""The stop engine from Python: `breakpoint_` of a call is a function that is called before every hole."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from sglc.bytecode.code import Program
from sglc.debug.expressions import Expressions
from sglc.debug.plain import PlainFace
from sglc.debug.statements import statements_of
from sglc.runtime.debug.breakpoints import Breakpoint
from sglc.runtime.debug.debugger import Debugger, Face
from sglc.runtime.debug.looking import messages_of, variables_of
from sglc.runtime.debug.masks import MaskLook, mask_at
from sglc.runtime.debug.stops import Action, Back, Go, Quit, StepKind, Stop
from sglc.runtime.decoding.watching import SearchLook
from sglc.runtime.errors import SglError


class Here:
    """Where a run stands. Valid until the function that got it returns.

    What it returns says how the run goes on: `here.force(value)`, `here.back(hole)`, `here.step(kind)`,
    `here.end()`, or None, which goes on to the next hole.
    """

    def __init__(self, stop: Stop, debugger: Debugger, out: Callable[[object], object]) -> None:
        self._stop = stop
        self._debugger = debugger
        self._out = out

    @property
    def hole(self) -> str:
        """The hole that is about to be filled, by its name; empty at another stop."""
        return "" if self._stop.passage is None else self._stop.passage.name

    @property
    def reason(self) -> str:
        """Why the run stands: `hole`, `back`, `statement`, `token` and so on."""
        return self._stop.reason

    @property
    def line(self) -> int:
        """The line in its file; 0 where it is not known."""
        return 0 if self._stop.place is None else self._stop.place.line

    @property
    def variables(self) -> Mapping[str, object]:
        """The variables of the function as Python sees values."""
        found = variables_of(self._debugger.program, self._stop.frame)
        return {each.name: self._out(each.value) for each in found}

    @property
    def conversation(self) -> tuple[tuple[str, str], ...]:
        """Role and text of each message so far."""
        return messages_of(self._stop.frame)

    @property
    def holes(self) -> tuple[tuple[str, str | None], ...]:
        """The holes so far with their texts, the one at which the run stands too."""
        return tuple((each.name, each.text) for each in self._debugger.history.holes)

    @property
    def search(self) -> SearchLook | None:
        """Where a search for the text of the hole stands: its texts; None where none does."""
        return self._stop.search

    async def mask(self) -> MaskLook:
        """What the mask allows at the hole's first token. Raises SglError where it cannot be seen."""
        return await mask_at(self._stop)

    # -- how to go on --------------------------------------------------------------------------------

    def force(self, value: str) -> Force:
        """Give this hole a value, as text, number or JSON, and go on. The call raises ValueError for one
        that is not legal."""
        return Force(value)

    def back(self, hole: str | int, seed: int | None = None) -> Back:
        """Go back to a hole that was passed, by its name or its number from 1, and be called there."""
        holes = self._debugger.history.holes
        if isinstance(hole, int):
            if not 1 <= hole <= len(holes):
                raise ValueError(f"the run has come to {len(holes)} holes, there is no number {hole}")
            return Back(holes[hole - 1], seed)
        for each in reversed(holes):
            if hole in (each.name, each.name.rpartition(".")[2]):
                return Back(each, seed)
        raise ValueError(f"the run has come to no hole `{hole}`")

    def step(self, kind: StepKind) -> Go:
        """Be called again at the next `statement`, `over`, `out`, `hole`, `token` or `round` of a search."""
        return Go(kind)

    def end(self) -> Quit:
        """End the run: the call raises its error Cancelled."""
        return Quit()


class Force:
    """A value for a hole."""

    def __init__(self, value: str) -> None:
        self.value = value


class CallbackFace:
    """Calls a function at every stop."""

    def __init__(self, callback: Callable[[Here], object], out: Callable[[object], object]) -> None:
        self._callback = callback
        self._out = out
        self.debugger: Debugger | None = None

    async def stopped(self, stop: Stop) -> Action:
        """See `Face.stopped`. Raises ValueError for a value that is not legal, TypeError for an answer that
        is none."""
        debugger = self.debugger
        assert debugger is not None
        answer = self._callback(Here(stop, debugger, self._out))
        if inspect.isawaitable(answer):
            answer = await answer
        if answer is None:
            return Go("hole")
        if isinstance(answer, Force):
            if stop.passage is None:
                raise ValueError("the run does not stand at a hole")
            try:
                return await debugger.force(stop, stop.passage, answer.value, Go("hole"))
            except SglError as problem:
                raise ValueError(problem.message) from None
        if isinstance(answer, Go | Back | Quit):
            return answer
        raise TypeError(
            f"a breakpoint answers with None or with a method of what it got, not with {answer!r}"
        )

    def said(self, breakpoint: Breakpoint, text: str) -> None:
        """Nothing is said: it has no breakpoints with texts."""


def debugger_for(
    program: Program, wanted: object, path: Path | None, out: Callable[[object], object]
) -> Debugger:
    """The debugger of a call: of a function that is called at holes, or with True the prompt at stdin."""
    expressions = Expressions(program, main=path)
    plain = PlainFace(program, _read, print) if wanted is True else None
    face: Face = plain if plain is not None else CallbackFace(wanted, out)  # type: ignore[arg-type]
    made = Debugger(program, face, statements=statements_of(program), evaluate=expressions)
    if plain is not None:
        plain.attach(made, expressions)
    elif isinstance(face, CallbackFace):
        face.debugger, made.entry_step = made, "hole"
    return made


def _read(prompt: str) -> str | None:
    sys.stdout.write(prompt)
    sys.stdout.flush()
    return sys.stdin.readline() or None
