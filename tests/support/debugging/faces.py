"""Faces for tests of the stop engine: one that follows a plan, one that wanders and takes all of it back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random

from sglc.bytecode.code import Program
from sglc.debug.expressions import Expressions
from sglc.debug.statements import statements_of
from sglc.runtime.debug.breakpoints import Breakpoint
from sglc.runtime.debug.debugger import Debugger
from sglc.runtime.debug.masks import mask_at
from sglc.runtime.debug.passages import Passage
from sglc.runtime.debug.stops import Action, Back, Go, StepKind, Stop
from sglc.runtime.errors import SglError

Turn = Callable[[Debugger, Stop], Awaitable[Action | None]]


class PlannedFace:
    """Notes every stop, and takes one turn after the other; behind the last one it goes on. A turn that gives
    None is for looking only: the next one follows at the same stop."""

    def __init__(self, *turns: Turn | Action) -> None:
        self.turns = list(turns)
        self.debugger: Debugger | None = None
        self.stops: list[str] = []
        self.said_texts: list[str] = []

    async def stopped(self, stop: Stop) -> Action:
        assert self.debugger is not None
        line = stop.place.line if stop.place is not None else 0
        self.stops.append(f"{stop.reason} {line}")
        while self.turns:
            turn = self.turns.pop(0)
            action = turn if isinstance(turn, Go | Back) else await turn(self.debugger, stop)  # type: ignore[operator]
            if action is not None:
                return action
        return Go()

    def said(self, breakpoint: Breakpoint, text: str) -> None:
        self.said_texts.append(text)


def debugger_of(program: Program, face: PlannedFace | Wanderer, *, entry: bool = True) -> Debugger:
    """A debugger with statements and expressions."""
    made = Debugger(
        program, face, statements=statements_of(program), evaluate=Expressions(program), entry=entry
    )
    face.debugger = made
    return made


STEPS: tuple[StepKind | None, ...] = ("statement", "over", "out", "hole", "token", "round", None)
VALUES = ("0", "7", "3", "a", "ab", "sea", "abcd", "calm", "wild", "true", "false", "null", "[]", "[1]")


class Wanderer:
    """Steps at random. With `strays` it also gives holes other values and goes back, and takes each of these
    back again before the run goes far; `lost` says that the run ended before that."""

    def __init__(self, random: Random, *, strays: bool) -> None:
        self.random = random
        self.debugger: Debugger | None = None
        self.kinds: set[str] = set()
        self.strayed = 0
        self._strays = strays
        self._home: Passage | None = None
        self._left = 0

    @property
    def lost(self) -> bool:
        return self._home is not None

    def said(self, breakpoint: Breakpoint, text: str) -> None:
        pass

    async def stopped(self, stop: Stop) -> Action:
        self.kinds.add(stop.reason)
        random, debugger = self.random, self.debugger
        assert debugger is not None
        if stop.passage is not None and random.random() < 0.3:
            with suppress(SglError):
                await mask_at(stop)
        if self._home is not None:
            if stop.reason == "back" and stop.passage is not None and self._left <= 0:
                self._home = None
            elif self._left <= 0 or stop.reason == "raised":
                self._left = 0
                home = self._known(self._home)
                return Back(home)
            else:
                self._left -= 1
                return Go("hole" if random.random() < 0.3 else "statement")
        if self._strays and self.strayed < 6 and random.random() < 0.35:
            action = await self._stray(debugger, stop)
            if action is not None:
                self.strayed += 1
                return action
        return Go(random.choice(STEPS))

    def _known(self, passage: Passage) -> Passage:
        """The passage of this hole in the run as it is now."""
        assert self.debugger is not None
        return next(each for each in self.debugger.history if each.identity == passage.identity)

    async def _stray(self, debugger: Debugger, stop: Stop) -> Action | None:
        random, holes = self.random, debugger.history.holes
        if stop.passage is not None and stop.token is None and stop.reason in ("hole", "back"):
            for value in random.sample(VALUES, 6):
                try:
                    action = await debugger.force(stop, stop.passage, value, Go("statement"))
                except SglError:
                    continue
                self._home, self._left = stop.passage, random.randrange(4)
                return action
        if holes:
            return Back(random.choice(holes))
        return None
