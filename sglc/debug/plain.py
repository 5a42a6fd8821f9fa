"""The plain face: a prompt in lines of text, for people over a slow connection and for scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sglc.bytecode.code import Program
from sglc.debug import places, showing
from sglc.debug.expressions import Expressions
from sglc.diagnostics.suggest import nearest
from sglc.runtime.debug.breakpoints import Breakpoint
from sglc.runtime.debug.debugger import Debugger
from sglc.runtime.debug.looking import frames_of
from sglc.runtime.debug.masks import mask_at
from sglc.runtime.debug.passages import Passage
from sglc.runtime.debug.stops import Action, Back, Go, Quit, StepKind, Stop
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.frame import Frame

HELP = """\
n  next statement               s  next statement, also in a called function    o  behind this function
h  next hole                    t  next token                                   c  go on
r  next round of a search, else the next statement
b PLACE [if EXPR] [log TEXT]    break at LINE, FILE:LINE, hole NAME or fn NAME; b alone lists them
d [NUMBER]                      delete a breakpoint, or all
stop ensure|expect|raised|uncaught|rounds on|off      stop improbable P|off      stop pressure Q|off
p EXPR  value of an expression  v  variables      conv  conversation            l  source
w  frames   up   down           holes  holes so far     strands  branches and streams
mask  what the mask allows      alt [HOLE]  what else the hole could have been given
search  the texts of the search that the run stands in
force VALUE                     give this hole a value and go on (force HOLE = VALUE for one that was passed)
back [HOLE] [seed N]            back before a hole, by its number or name; alone before the last one
q  end the run"""
_STEPS: dict[str, StepKind | None] = {
    **{"n": "over", "next": "over", "s": "statement", "step": "statement", "o": "out", "out": "out"},
    **{"h": "hole", "hole": "hole", "t": "token", "token": "token", "c": None, "continue": None},
    **{"r": "round", "round": "round"},
}
_LONG = {"break": "b", "delete": "d", "print": "p", "vars": "v", "list": "l", "where": "w", "quit": "q"}


class PlainFace:
    """Reads commands at stops, one a line. An empty line is the last step once more.

    The end of the input ends the run.
    """

    def __init__(
        self, program: Program, read: Callable[[str], str | None], write: Callable[[str], None]
    ) -> None:
        """`read` gives the next line for a prompt, None behind the last one; `write` writes a line."""
        self._program = program
        self._read = read
        self._write = write
        self._expressions: Expressions | None = None
        self.debugger: Debugger | None = None
        self._chosen = 0
        self._again = "n"
        self._commands: dict[str, Callable[[Stop, str], Iterable[str]]] = {
            **{"b": self._break, "d": self._delete, "stop": self._limit, "v": self._variables},
            **{"conv": self._conversation, "l": self._list, "w": self._frames, "up": self._up},
            **{"down": self._down, "holes": self._holes, "strands": self._strands, "alt": self._alternatives},
            **{"search": self._search},
            **{"help": lambda stop, rest: HELP.splitlines()},
        }

    def attach(self, debugger: Debugger, expressions: Expressions) -> None:
        """Belong to a debugger."""
        self.debugger, self._expressions = debugger, expressions

    @property
    def _engine(self) -> Debugger:
        assert self.debugger is not None
        return self.debugger

    def said(self, breakpoint: Breakpoint, text: str) -> None:
        """See `Face.said`."""
        self._write(f"{breakpoint.number}: {text}")

    async def stopped(self, stop: Stop) -> Action:
        """See `Face.stopped`."""
        self.arrived()
        for line in self.head(stop):
            self._write(line)
        while True:
            text = self._read("(sgl) ")
            if text is None:
                return Quit()
            try:
                action = await self.do(stop, text)
            except SglError as problem:
                self._write(f"error: {problem.message}")
                if problem.hint:
                    self._write(f"  hint: {problem.hint}")
                continue
            if action is not None:
                return action

    def arrived(self) -> None:
        """The run stands anew: the newest frame is the chosen one."""
        self._chosen = 0

    def head(self, stop: Stop) -> Iterable[str]:
        """Why and where a run stands."""
        return showing.stop_lines(self._program, stop, self._line(stop, 0))

    async def do(self, stop: Stop, text: str) -> Action | None:
        """Do a command; an empty one is the last step once more. Gives how the run goes on, None for not yet.

        Raises SglError for what cannot be done.
        """
        text = text.strip() or self._again
        word, _, rest = text.partition(" ")
        word, rest = _LONG.get(word, word), rest.strip()
        if word in _STEPS and not rest:
            self._again = word
            return Go(_STEPS[word])
        if word == "q":
            return Quit()
        if word == "force":
            return await self._force(stop, rest)
        if word == "back":
            return self._back(stop, rest)
        if word in ("p", "mask"):
            lines = self._print(stop, rest) if word == "p" else self._mask(stop)
            for line in await lines:
                self._write(line)
            return None
        command = self._commands.get(word)
        if command is None:
            known = [*self._commands, *_STEPS, *_LONG, "p", "mask", "force", "back"]
            close = nearest(word, known)
            raise SglError(
                "Failure",
                f"there is no command `{word}`",
                hint=f"did you mean `{close}`?" if close else "help lists them",
            )
        for line in command(stop, rest):
            self._write(line)
        return None

    # -- looking -------------------------------------------------------------------------------------

    def frame(self, stop: Stop) -> Frame:
        """The chosen frame."""
        return frames_of(stop.strand.machine)[self._chosen].frame

    def line(self, stop: Stop) -> int:
        """The line at which the chosen frame stands."""
        return self._line(stop, self._chosen)

    def source(self, stop: Stop) -> Iterable[str]:
        """The source around that line."""
        return self._list(stop, "")

    def _line(self, stop: Stop, chosen: int) -> int:
        """The line of the statement at which a frame stands."""
        if chosen == 0:
            lines = self._engine.places.of(stop.frame.code).lines
            return lines[stop.pc] if stop.pc < len(lines) else 0
        place = frames_of(stop.strand.machine)[chosen].place
        return place.line if place is not None else 0

    async def _print(self, stop: Stop, text: str) -> list[str]:
        assert self._expressions is not None
        value = await self._expressions.evaluate(self.frame(stop), text)
        return list(showing.value_lines(self._program, value))

    async def _mask(self, stop: Stop) -> list[str]:
        return list(showing.mask_lines(await mask_at(stop)))

    def _variables(self, stop: Stop, rest: str) -> Iterable[str]:
        return showing.variable_lines(self._program, self.frame(stop))

    def _conversation(self, stop: Stop, rest: str) -> Iterable[str]:
        return showing.conversation_lines(self.frame(stop))

    def _list(self, stop: Stop, rest: str) -> Iterable[str]:
        look = frames_of(stop.strand.machine)[self._chosen]
        place = look.place or stop.place
        file = place.file if place is not None else -1
        marks = {each.line: each.number for each in self._engine.breakpoints.all() if each.file == file}
        return showing.listing(self._program, place, self._line(stop, self._chosen), marks)

    def _frames(self, stop: Stop, rest: str) -> Iterable[str]:
        return showing.frame_lines(self._program, stop, self._chosen)

    def _up(self, stop: Stop, rest: str) -> Iterable[str]:
        return self._choose(stop, self._chosen + 1)

    def _down(self, stop: Stop, rest: str) -> Iterable[str]:
        return self._choose(stop, self._chosen - 1)

    def _choose(self, stop: Stop, number: int) -> Iterable[str]:
        if not 0 <= number < len(stop.strand.machine.frames):
            raise SglError("Failure", "there is no further frame")
        self._chosen = number
        return showing.frame_lines(self._program, stop, number)

    def _holes(self, stop: Stop, rest: str) -> Iterable[str]:
        return showing.hole_lines(list(self._engine.history.holes))

    def _strands(self, stop: Stop, rest: str) -> Iterable[str]:
        for each in self._engine.strands.alive():
            yield f"{'>' if each is stop.strand else ' '} {each.number}  {each.title}"

    def _alternatives(self, stop: Stop, rest: str) -> Iterable[str]:
        return showing.alternative_lines(self._program, self._passage(stop, rest))

    def _search(self, stop: Stop, rest: str) -> Iterable[str]:
        if stop.search is None:
            raise SglError(
                "Failure", "the run does not stand in a search", hint="r goes on to its next round"
            )
        return showing.search_lines(stop.search)

    # -- breakpoints ---------------------------------------------------------------------------------

    def _break(self, stop: Stop, rest: str) -> Iterable[str]:
        breakpoints = self._engine.breakpoints
        if rest:
            file = stop.place.file if stop.place is not None else 0
            made = places.set_breakpoint(breakpoints, places.read(rest), file)
            return [showing.breakpoint_line(self._program, made)]
        lines = [showing.breakpoint_line(self._program, each) for each in breakpoints.all()]
        return lines or ["no breakpoints"]

    def _delete(self, stop: Stop, rest: str) -> Iterable[str]:
        breakpoints = self._engine.breakpoints
        known = [each.number for each in breakpoints.all()]
        if rest and (not rest.isdecimal() or int(rest) not in known):
            raise SglError("Failure", f"there is no breakpoint {rest}")
        breakpoints.remove([int(rest)] if rest else known)
        return []

    def _limit(self, stop: Stop, rest: str) -> Iterable[str]:
        set_limit(self._engine, rest)
        return []

    # -- forcing and going back ----------------------------------------------------------------------

    def _passage(self, stop: Stop, text: str) -> Passage:
        """A hole by its number or name, the newest of that name; without either the one that the run stands
        at, or else the last one."""
        holes = self._engine.history.holes
        if not holes:
            raise SglError("Failure", "the run has come to no hole yet")
        if not text:
            return stop.passage if stop.passage is not None else holes[-1]
        if text.isdecimal() and len(text) < 9 and 1 <= int(text) <= len(holes):
            return holes[int(text) - 1]
        for each in reversed(holes):
            if text in (each.name, each.name.rpartition(".")[2]):
                return each
        raise SglError("Failure", f"the run has come to no hole `{text}`", hint="holes lists them")

    async def _force(self, stop: Stop, rest: str) -> Action:
        name, equals, value = rest.partition("=")
        passage, text = self._passage(stop, ""), rest
        if equals and name.strip().replace(".", "").isidentifier():
            try:
                passage, text = self._passage(stop, name.strip()), value.strip()
            except SglError:
                pass  # an equals sign in the value itself
        if not text:
            raise SglError("Failure", "which value?", hint="write force VALUE, text as it is, else as JSON")
        if stop.passage is None and not equals:
            raise SglError("Failure", "the run does not stand at a hole", hint="write force HOLE = VALUE")
        return await self._engine.force(stop, passage, text, Go("over"))

    def _back(self, stop: Stop, rest: str) -> Action:
        text, found, seed = rest.partition("seed")
        if found and not seed.strip().isdecimal():
            raise SglError("Failure", "a seed is a whole number", hint="write back HOLE seed 7")
        passage = self._passage(stop, text.strip())
        holes = self._engine.history.holes
        standing = stop.passage is passage and stop.token is None and stop.reason in ("hole", "back")
        if not text.strip() and standing and not found:
            at = holes.index(passage)
            if not at:
                raise SglError("Failure", "this is the first hole")
            passage = holes[at - 1]
        return Back(passage, int(seed) if found else None)


def set_limit(debugger: Debugger, text: str) -> None:
    """`ensure on`, `improbable 0.01`, `pressure off`: what else stops a run. Raises SglError for other
    words."""
    name, _, value = text.partition(" ")
    value = value.strip()
    if name in ("ensure", "expect", "raised", "uncaught", "rounds") and value in ("on", "off", ""):
        setattr(debugger.limits, name, value != "off")
        return
    if name in ("improbable", "pressure"):
        if value == "off":
            setattr(debugger.limits, name, None)
            return
        try:
            share = float(value)
        except ValueError:
            share = -1.0
        if 0.0 <= share <= 1.0:
            setattr(debugger.limits, name, share)
            return
        raise SglError("Failure", f"`stop {name}` takes a number from 0 to 1, or off")
    raise SglError(
        "Failure", "a run stops for: ensure, expect, raised, uncaught, rounds, improbable P, pressure Q"
    )
