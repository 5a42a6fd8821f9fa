"""The debug adapter: one client, one run. Requests come one by one, those that may take long go on beside.

It is a face of the stop engine: a stop is told as the event `stopped`, and the run stands until a request
says how it goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
from asyncio import StreamReader
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sglc.bytecode.code import Program
from sglc.debug.dap.breaking import FILTERS, Breaking, set_filters
from sglc.debug.dap.entrance import LARGEST_OUTSIDE, Entrance
from sglc.debug.dap.files import Files
from sglc.debug.dap.messages import (
    LARGEST,
    BadRequest,
    BrokenFraming,
    Json,
    Output,
    Request,
    next_message,
    read_request,
)
from sglc.debug.dap.references import References
from sglc.debug.dap.watching import Watching
from sglc.debug.expressions import Expressions
from sglc.runtime.debug.breakpoints import Breakpoint
from sglc.runtime.debug.debugger import Debugger, Face
from sglc.runtime.debug.stops import Action, Back, Go, Quit, StepKind, Stop
from sglc.runtime.errors import SglError

CAPABILITIES: Mapping[str, object] = {
    **dict.fromkeys(
        (
            *("supportsConfigurationDoneRequest", "supportsFunctionBreakpoints"),
            *("supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints", "supportsLogPoints"),
            *("supportsEvaluateForHovers", "supportsStepBack", "supportsSetVariable"),
            *("supportsRestartFrame", "supportsCompletionsRequest", "supportsExceptionInfoRequest"),
            *("supportsExceptionFilterOptions", "supportsTerminateRequest"),
            *("supportsLoadedSourcesRequest", "supportsCancelRequest"),
            *("supportsBreakpointLocationsRequest", "supportsSteppingGranularity"),
            *("supportsClipboardContext", "supportsDelayedStackTraceLoading"),
        ),
        True,
    ),
    "exceptionBreakpointFilters": list(FILTERS),
    "completionTriggerCharacters": ["."],
}
_REASONS = {
    "entry": "entry",
    "statement": "step",
    "line": "breakpoint",
    "hole": "step",
    "token": "step",
    "round": "step",
    "pause": "pause",
    "back": "goto",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run came out: its value as JSON, or why it has none. Of one that has a value `problem` are
    warnings."""

    value: str | None
    problem: str = ""


class Launched(Protocol):
    """A run that is ready to begin."""

    program: Program
    path: Path
    debugger: Debugger
    expressions: Expressions

    async def run(self) -> Ended:
        """Run to the end."""

    def close(self) -> None:
        """Let go of the models."""


Launch = Callable[[Request, Face, Callable[[str, bool], None]], Launched]
"""Makes a run of the arguments of `launch`. It is told where text of the run goes, with whether the model
wrote it. Raises BadRequest with all that is wrong."""
Handler = Callable[[Request], Awaitable[Json | None]]


class Adapter:
    """Serves one client until it leaves."""

    def __init__(
        self,
        reader: StreamReader,
        write: Callable[[bytes], None],
        launch: Launch,
        entrance: Entrance | None = None,
    ) -> None:
        """`entrance` lets the client in; None where it is in, as at stdin."""
        self._reader = reader
        self._entrance = entrance
        self._inside = entrance is None
        self._out = Output(write)
        self._launch = launch
        self._launched: Launched | None = None
        self._run: asyncio.Task[None] | None = None
        self._breaking: Breaking | None = None
        self._files: Files | None = None
        self._first_line, self._first_column = 1, 1
        self._initialized = False
        self._undebugged = False
        """Whether the client wants the run without stops (`noDebug`)."""
        self._leaving = False
        self._at_start = True
        """Whether the text of the run stands at the beginning of a line."""
        self._references: References | None = None
        self._action: asyncio.Future[Action] | None = None
        self._pending: Action | None = None
        """How the run is to go on, once the request was answered that says so."""
        self._long: dict[int, asyncio.Task[None]] = {}
        self._watching = Watching(self)
        self._handlers: dict[str, Handler] = {
            **{"initialize": self._initialize, "launch": self._launching, "attach": self._attach},
            **{"configurationDone": self._configured, "disconnect": self._disconnect},
            **{"terminate": self._terminate, "cancel": self._cancel, "pause": self._pause},
            **{"setBreakpoints": self._set_breakpoints, "setFunctionBreakpoints": self._set_names},
            **{"setExceptionBreakpoints": self._set_filters, "breakpointLocations": self._locations},
            **{"continue": self._continue, "next": self._next, "stepIn": self._step_in},
            **{"stepOut": self._step_out, "stepBack": self._step_back, "sgl/step": self._step_kind},
            **{"reverseContinue": self._reverse, "restartFrame": self._restart_frame},
            **{"sgl/back": self._back, "sgl/force": self._force},
            **self._watching.handlers,
        }

    # -- reading requests ----------------------------------------------------------------------------

    async def serve(self) -> None:
        """Answer requests until the client leaves. Whatever it sends, it gets answers and no fault."""
        try:
            while not self._leaving:
                async with asyncio.timeout(self._patience()):
                    data = await next_message(self._reader, LARGEST if self._inside else LARGEST_OUTSIDE)
                if data is None:
                    break
                await self._take(data)
        except BrokenFraming as problem:
            self.say(f"the connection is closed: {problem}\n", "important")
        except TimeoutError:
            self.say("the connection is closed: no key came\n", "important")
        finally:
            await self._end()

    def _patience(self) -> float | None:
        """Seconds that the next message may take; None once the client is in."""
        return None if self._inside or self._entrance is None else self._entrance.key_wait

    async def _enter(self, request: Request) -> bool:
        """Let the client in by its first `launch`, when its turn comes. One with a wrong key has to leave."""
        entrance = self._entrance
        if self._inside or entrance is None:
            return True
        if request.command not in ("launch", "attach"):
            told = "`launch` comes first" + ("" if entrance.key is None else ", with the `key`")
            self._out.refusal(request.number, request.command, told)
            return False
        if not entrance.admits(request.arguments.get("key")):
            self._out.refusal(request.number, request.command, "`key` of launch is not that of this adapter")
            self._leaving = True
            return False
        await entrance.turn.acquire()
        self._inside = True
        return True

    async def _take(self, data: bytes) -> None:
        try:
            request = read_request(data)
        except BadRequest as problem:
            self._out.refusal(0, "", str(problem))
            return
        if request is None:
            return
        handler = self._handlers.get(request.command)
        if handler is None:
            self._out.refusal(request.number, request.command, f"there is no request `{request.command}`")
        elif not self._initialized and request.command not in ("initialize", "disconnect"):
            self._out.refusal(request.number, request.command, "`initialize` comes first")
        elif request.command not in ("initialize", "disconnect") and not await self._enter(request):
            return
        elif request.command in self._watching.long or request.command in ("setVariable", "sgl/force"):
            task = asyncio.create_task(self._answered(request, handler))
            self._long[request.number] = task
            task.add_done_callback(lambda task: self._over(request, task))
        else:
            await self._answered(request, handler)

    def _over(self, request: Request, task: asyncio.Task[None]) -> None:
        """A request that went on beside others is over. One that was cancelled before it began is refused."""
        self._long.pop(request.number, None)
        if task.cancelled():
            self._out.refusal(request.number, request.command, "cancelled")

    async def _answered(self, request: Request, handler: Handler) -> None:
        try:
            body = await handler(request)
        except BadRequest as problem:
            self._out.refusal(request.number, request.command, str(problem))
        except SglError as problem:
            hint = f" ({problem.hint})" if problem.hint else ""
            self._out.refusal(request.number, request.command, problem.message + hint)
        except asyncio.CancelledError:
            self._out.refusal(request.number, request.command, "cancelled")
        except Exception as fault:  # a fault of sglc ends the request alone, and the client hears of it
            told = f"internal error: {type(fault).__name__}: {fault}"
            self._out.refusal(request.number, request.command, told)
        else:
            self._out.response(request.number, request.command, body)
            self._behind(request.command)

    def _behind(self, command: str) -> None:
        """What happens once a request was answered."""
        if command == "launch":
            self._out.event("initialized")
        elif command == "configurationDone":
            self._run = asyncio.create_task(self._running())
        if self._action is not None and self._pending is not None:
            action, self._pending = self._pending, None
            if not self._action.done():
                self._action.set_result(action)

    async def _end(self) -> None:
        """End what is left of the run."""
        for task in list(self._long.values()):
            task.cancel()
        if self._launched is not None:
            self._launched.debugger.quit()
            if self._action is not None and not self._action.done():
                self._action.set_result(Quit())
            if self._run is not None:
                self._run.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await self._run
            self._launched.close()
            self._launched = None
        if self._inside and self._entrance is not None:
            self._entrance.turn.release()

    # -- the run -------------------------------------------------------------------------------------

    async def _running(self) -> None:
        launched = self.launched
        try:
            ended = await launched.run()
        except asyncio.CancelledError:
            return
        except Exception as fault:  # a fault of sglc ends the session, and the client hears of it
            ended = Ended(None, f"internal error: {type(fault).__name__}: {fault}")
        if ended.value is not None:
            self.say(("" if self._at_start else "\n") + ended.value + "\n", "stdout")
            if ended.problem:
                self.say(ended.problem.rstrip("\n") + "\n", "console")
        elif not launched.debugger.ended:
            self.say(("" if self._at_start else "\n") + ended.problem.rstrip("\n") + "\n", "stderr")
        self._out.event("exited", {"exitCode": 0 if ended.value is not None else 1})
        self._out.event("terminated")

    @property
    def launched(self) -> Launched:
        """The run. Raises BadRequest where there is none."""
        if self._launched is None:
            raise BadRequest("nothing was launched")
        return self._launched

    @property
    def files(self) -> Files:
        """The files of the program. Raises BadRequest where nothing was launched."""
        if self._files is None:
            raise BadRequest("nothing was launched")
        return self._files

    @property
    def standing(self) -> References:
        """What was shown at the stop. Raises BadRequest where the run does not stand."""
        if self._references is None:
            raise BadRequest("the run does not stand: pause it first")
        return self._references

    @property
    def first_line(self) -> int:
        """The number of the first line, for this client."""
        return self._first_line

    @property
    def first_column(self) -> int:
        """The number of the first column, for this client."""
        return self._first_column

    def say(self, text: str, category: str) -> None:
        """Tell the client a text of the run, or about it."""
        self._out.event("output", {"category": category, "output": text})

    def _text(self, text: str, generated: bool) -> None:
        self._at_start = text.endswith("\n")
        self.say(text, "stdout" if generated else "console")

    async def stopped(self, stop: Stop) -> Action:
        """See `Face.stopped`."""
        self._references = References(self.launched.program, self.launched.debugger, stop)
        self._action = asyncio.get_running_loop().create_future()
        for note in stop.notes:
            self.say(note + "\n", "important")
        self._out.event("stopped", self._told(stop))
        try:
            return await self._action
        finally:
            self._action, self._references = None, None
            for task in list(self._long.values()):
                task.cancel()

    def _told(self, stop: Stop) -> dict[str, object]:
        reason = _REASONS.get(stop.reason, "exception")
        if stop.breakpoints:
            reason = "breakpoint" if stop.reason in ("line", "statement", "entry") else reason
            reason = "function breakpoint" if stop.reason == "hole" else reason
        told: dict[str, object] = {
            "reason": reason,
            "threadId": stop.strand.number,
            "allThreadsStopped": True,
        }
        if stop.text:
            told["text"] = stop.text
            told["description"] = f"{stop.reason}: {stop.text}"
        if stop.breakpoints:
            told["hitBreakpointIds"] = list(stop.breakpoints)
        return told

    def said(self, breakpoint: Breakpoint, text: str) -> None:
        """See `Face.said`."""
        text = ("" if self._at_start else "\n") + text + "\n"
        self._at_start = True
        body: dict[str, object] = {"category": "console", "output": text, "line": breakpoint.line}
        if breakpoint.file is not None:
            body["source"] = self.files.source(breakpoint.file)
        self._out.event("output", body)

    # -- beginning and end ---------------------------------------------------------------------------

    async def _initialize(self, request: Request) -> Json:
        if self._initialized:
            raise BadRequest("`initialize` comes once")
        self._first_line = int(request.flag("linesStartAt1", True))
        self._first_column = int(request.flag("columnsStartAt1", True))
        self._initialized = True
        return CAPABILITIES

    async def _launching(self, request: Request) -> None:
        if self._launched is not None:
            raise BadRequest("a program was launched already")
        launched = self._launch(request, self, self._text)
        self._launched = launched
        self._files = Files(launched.program, launched.path)
        self._breaking = Breaking(launched.debugger.breakpoints, self._files)
        self._undebugged = request.flag("noDebug", False)
        launched.debugger.limits.expect = launched.debugger.limits.uncaught = not self._undebugged

    async def _attach(self, request: Request) -> None:
        raise BadRequest("runs cannot be attached to: use `launch`")

    async def _configured(self, request: Request) -> None:
        if self._run is not None or self._launched is None:
            raise BadRequest("`configurationDone` comes once, behind `launch`")

    async def _disconnect(self, request: Request) -> None:
        self._leaving = True

    async def _terminate(self, request: Request) -> None:
        self.launched.debugger.quit()
        if self._run is None:
            self._out.event("terminated")
        self._pending = Quit()

    async def _cancel(self, request: Request) -> None:
        task = self._long.get(request.number_of("requestId", 0))
        if task is not None:
            task.cancel()

    # -- breakpoints ---------------------------------------------------------------------------------

    def _set(self) -> Breaking:
        if self._breaking is None:
            raise BadRequest("breakpoints are set behind `launch`, when `initialized` was told")
        return self._breaking

    def _idle(self, request: Request) -> Json | None:
        """The answer to requests of breakpoints where nothing is to stop the run: they are passed over."""
        if not self._undebugged:
            return None
        rows = [*request.parts("breakpoints"), *request.texts("filters"), *request.parts("filterOptions")]
        return {"breakpoints": [{"verified": False, "message": "it runs without a debugger"} for _ in rows]}

    async def _set_breakpoints(self, request: Request) -> Json:
        return self._idle(request) or {"breakpoints": self._set().lines(request, self._first_line)}

    async def _set_names(self, request: Request) -> Json:
        return self._idle(request) or {"breakpoints": self._set().names(request, self._first_line)}

    async def _set_filters(self, request: Request) -> Json:
        return self._idle(request) or {"breakpoints": set_filters(self.launched.debugger.limits, request)}

    async def _locations(self, request: Request) -> Json:
        return {"breakpoints": self._set().locations(request, self._first_line)}

    # -- going on ------------------------------------------------------------------------------------

    async def _pause(self, request: Request) -> None:
        if self._run is None:
            raise BadRequest("the run has not begun")
        self.launched.debugger.pause()

    def _go(self, action: Action) -> None:
        if self.standing.debugger.stop is not None:
            self._pending = action

    async def _continue(self, request: Request) -> Json:
        self._go(Go())
        return {"allThreadsContinued": True}

    def _stepped(self, request: Request, kind: StepKind) -> None:
        """A step; a client that asks for the finest kind gets the next token."""
        fine = request.text("granularity", "statement") == "instruction"
        number = request.number_of("threadId", 0)
        strands = self.standing.debugger.strands.alive()
        strand = next((each for each in strands if each.number == number), None)
        if strand is None and number:
            raise BadRequest(f"there is no thread {number}")
        self._go(Go("token" if fine else kind, strand))

    async def _next(self, request: Request) -> None:
        self._stepped(request, "over")

    async def _step_in(self, request: Request) -> None:
        self._stepped(request, "statement")

    async def _step_out(self, request: Request) -> None:
        self._stepped(request, "out")

    async def _step_kind(self, request: Request) -> None:
        kind = request.text("kind")
        if kind not in ("statement", "over", "out", "hole", "token", "round"):
            raise BadRequest("`kind` is statement, over, out, hole, token or round")
        self._go(Go(kind))  # type: ignore[arg-type]

    # -- going back ----------------------------------------------------------------------------------

    async def _step_back(self, request: Request) -> None:
        self._go(self._watching.before_last())

    async def _reverse(self, request: Request) -> None:
        holes = self.standing.debugger.history.holes
        if not holes:
            raise BadRequest("the run has come to no hole yet")
        self._go(Back(holes[0]))

    async def _restart_frame(self, request: Request) -> None:
        self._go(Back(self._watching.first_hole_of(request.number_of("frameId"))))

    async def _back(self, request: Request) -> None:
        seed = request.number_of("seed") if "seed" in request.arguments else None
        self._go(Back(self._watching.passage(request), seed))

    async def _force(self, request: Request) -> None:
        references = self.standing
        if "hole" not in request.arguments and references.stop.passage is None:
            raise BadRequest("the run does not stand at a hole: name one")
        passage = self._watching.passage(request)
        text = request.text("value")
        self._go(await references.debugger.force(references.stop, passage, text, Go("over")))

    def go_on(self, action: Action) -> None:
        """Let the run go on, once the request was answered that says so."""
        self._go(action)
