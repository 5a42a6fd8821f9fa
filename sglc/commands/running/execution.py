"""From a checked call to what came of it: the model is loaded once, each run ends in an `Outcome`."""

from __future__ import annotations

import asyncio
import contextlib
import traceback
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from sglc.bytecode.code import Code, Program
from sglc.commands.running.loading import load_models, tell_levels
from sglc.commands.running.narration import Narrator
from sglc.commands.running.observing import Observer
from sglc.commands.running.run_options import LevelOptions, Observation
from sglc.commands.shared.invocation import Invocation, counted, fail
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.externs.modules import Access
from sglc.project.models import ModelSettings
from sglc.runtime.backends.filling.loaded import LoadedModels
from sglc.runtime.backends.filling.opening import wired
from sglc.runtime.backends.recording.options import AnswerOptions
from sglc.runtime.engine.core.options import EngineOptions
from sglc.runtime.errors import ArgumentError, SglError, diagnostic_of
from sglc.runtime.mask.artifact.places import MaskPlaces
from sglc.runtime.results import RunResult
from sglc.runtime.served_models import check_names, check_unknown
from sglc.runtime.session import Session
from sglc.runtime.vm.state.run import Statistics
from sglc.runtime.vm.state.trace import TraceWriter
from sglc.types.model_use import MAIN
from sglc.types.text.plain_json import dumps
from sglc.types.values import Value

if TYPE_CHECKING:
    from sglc.externs.host import Host
    from sglc.runtime.vm.state.debugging import RunDebugger

R = TypeVar("R")
SHOWN_PARTIAL = 2000
"""Most characters of an unfinished answer that a message shows."""


@dataclass(frozen=True, slots=True)
class Call:
    """What is to be run, and on what."""

    program: Program
    code: Code
    model: str = "smollm2"
    models: Mapping[str, str] = field(default_factory=dict)
    """Models that the program names, by these names."""
    engine: EngineOptions = field(default_factory=EngineOptions)
    observation: Observation = field(default_factory=Observation)
    seed: int = 0
    max_tokens: int | None = None
    timeout: float | None = None
    masks: MaskPlaces | None = None
    concurrency: int | None = None
    """Most calls that run ahead of their turn; None leaves it to the engine."""
    trace_top: int = 0
    """How many of the most probable tokens a trace has with each token."""
    decode: Literal["local"] | None = None
    """What takes the place of the strategies of all holes."""
    select: Literal["choose"] | None = None
    """What a `select` is at a model elsewhere that tells no scores; None refuses it."""
    access: Access = field(default_factory=Access)
    """Which modules of Python the program may import."""
    known: tuple[ModelSettings, ...] = ()
    """Models of the project, with what it says of each."""
    answers: AnswerOptions = field(default_factory=AnswerOptions)
    """What is recorded or replayed of models elsewhere, or kept."""
    levels: LevelOptions = field(default_factory=LevelOptions)
    """What is required and told of models elsewhere."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Names of all models that it may ask: none for a pure function."""
        return () if self.code.kind == "pure" else tuple(dict.fromkeys((self.model, *self.models.values())))


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a run has no value, and how that is shown."""

    error: SglError
    diagnostic: Diagnostic


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: with a value, or with a failure.

    `text` is what the assistant said. `written` is the value as JSON where another process made it.
    """

    value: Value = None
    failed: Failed | None = None
    interrupted: bool = False
    text: str = ""
    statistics: Mapping[str, object] = field(default_factory=dict)
    checks: tuple[Mapping[str, object], ...] = ()
    written: str | None = None

    @property
    def partial(self) -> str:
        """What there was of the unfinished value, else of the conversation; its end if it is long."""
        found = (self.failed.error.partial if self.failed is not None else "") or self.text
        return found if len(found) <= SHOWN_PARTIAL else "…" + found[-SHOWN_PARTIAL:]

    @property
    def remarks(self) -> list[str]:
        """What a person wants to know besides the value: the rate, and checks that failed."""
        lines = [f"check failed: {check['reason']}" for check in self.checks if not check["passed"]]
        if self.statistics:
            numbers = self.statistics
            remote: Any = numbers.get("remote")
            kept: Any = numbers.get("kept")
            asked = f", {counted(remote['requests'], 'request')} elsewhere" if remote else ""
            asked += f", {counted(kept, 'answer')} kept from before" if kept else ""
            lines.append(
                f"{numbers['output_tokens']} tokens, {numbers['forced_tokens']} of them forced, "
                f"{numbers['forwards']} forward passes{asked}, {numbers['seconds']:.1f} s"
            )
        return lines


class Unseen:
    """Takes narrated text where nobody watches."""

    def write(self, text: str, generated: bool) -> None:
        """Text is not shown."""
        pass

    def token(self) -> None:
        """Tokens are not shown."""
        pass

    def finish(self) -> None:
        """There is nothing to finish."""
        pass


class Runner:
    """Runs calls of one function on one loaded model."""

    def __init__(
        self,
        call: Call,
        models: LoadedModels,
        observer: Observer,
        traceback: bool = False,
    ) -> None:
        """`traceback` shows what in sglc lies behind a failure. Raises ArgumentError where two models cannot
        be blended."""
        self._call = call
        engine = models.own
        self._traceback = traceback
        self._session = Session(
            call.program,
            engine,
            masks=call.masks,
            recorder=observer.collector,
            models=models.named,
            python=host_of(call),
            fallbacks=models.fallbacks,
        )
        self.engine = models.engine
        """That of this process; None where the model is elsewhere, or none is asked."""
        self.width = 1 if engine is None else engine.concurrency
        """Runs that are worth keeping going at the same time."""
        self._remote = models.remote
        self.observer = observer

    @classmethod
    @contextmanager
    def open(cls, invocation: Invocation, call: Call) -> Iterator[Runner]:
        """Load the models, with a bar if it takes a while; one that cannot be had ends the command, and so
        does a name that has none.

        A pure function asks no model, so none is loaded. When the block ends, what is to be told of its work
        is told.
        """
        startup = invocation.startup
        startup.lap("runtime")
        try:
            host_of(call)
            wiring = wired(call.answers, call.paths, call.known)
        except ArgumentError as problem:
            raise fail(invocation, problem.diagnostic()) from None
        observer = Observer(invocation, call.observation, call.model)
        if call.code.kind == "pure":
            with observer.watching(None):
                yield cls(call, LoadedModels(), observer, invocation.traceback)
            return
        models = LoadedModels()
        try:
            check_names(call.program, call.models)
            check_unknown(call.program, call.models)
            names = {MAIN: call.model, **call.models}
            as_json = call.levels.as_json
            load_models(invocation, names, call.known, call.engine, wiring, models, as_json=as_json)
            startup.lap("model")
            with observer.watching(models.engine, models.engines, models.remote):
                runner = cls(call, models, observer, invocation.traceback)
                startup.lap("session")
                tell_levels(invocation, call, runner._session)
                yield runner
        except ArgumentError as problem:
            raise fail(invocation, problem.diagnostic()) from None
        finally:
            models.close()

    def run(
        self,
        arguments: Mapping[str, Value],
        *,
        trace: Path | None = None,
        narrator: Narrator | None = None,
        debugger: RunDebugger | None = None,
    ) -> Outcome:
        """One run. Failures and Ctrl-C are outcomes; OSError means the trace cannot be written."""
        heard = narrator or Narrator(self._call.program, Unseen(), self._call.code.name)
        writer = TraceWriter.open(trace) if trace is not None else None
        try:
            outcome = self.wait(self.outcome(arguments, trace=writer, heard=heard, debugger=debugger))
            return replace(outcome, statistics={**outcome.statistics, **self._kept()})
        except KeyboardInterrupt:
            stopped = SglError("Cancelled", "interrupted")
            failed = Failed(stopped, _drawn(stopped, self._call.program))
            return Outcome(failed=failed, interrupted=True, text=heard.said)
        finally:
            if writer is not None:
                with contextlib.suppress(OSError):
                    writer.close()

    def _kept(self) -> dict[str, object]:
        """Answers of models elsewhere that were given before; nothing where there are none."""
        kept = sum(each.accounts.kept for each in self._remote)
        return {"kept": kept} if kept else {}

    def refresh(self) -> None:
        """Write the file of metrics again, where one is wanted and it is time."""
        self.observer.refresh()

    @property
    def tokens(self) -> int:
        """Tokens of all values so far."""
        return self.observer.collector.tokens

    @property
    def hit_rate(self) -> float | None:
        """Share of the tokens looked up that the cache of prefixes held; None where there is none."""
        stats = None if self.engine is None else self.engine.get_cache_stats()
        return None if stats is None or not stats.tokens_looked_up else stats.hit_rate

    def wait(self, work: Coroutine[object, object, R]) -> R:
        """Run a coroutine to its end, in a loop in which connections of models elsewhere are closed too."""

        async def whole() -> R:
            try:
                return await work
            finally:
                await self.close_remote()

        return asyncio.run(whole())

    async def close_remote(self) -> None:
        """Close connections to models elsewhere, in the loop that used them."""
        for each in self._remote:
            await each.close()

    async def outcome(
        self,
        arguments: Mapping[str, Value],
        *,
        trace: TraceWriter | None = None,
        heard: Narrator | None = None,
        concurrency: int | None = None,
        debugger: RunDebugger | None = None,
    ) -> Outcome:
        """How one run ends; any number of them may go on at the same time. `heard` keeps what is said,
        `concurrency` is that of this run where it is not that of the call."""
        call = self._call
        try:
            result = await self._session.run(
                call.code.name,
                arguments,
                seed=call.seed,
                max_tokens=call.max_tokens,
                timeout=call.timeout,
                trace=trace,
                on_event=heard,
                detailed=trace is not None,
                trace_top=call.trace_top,
                concurrency=call.concurrency if concurrency is None else concurrency,
                decode=call.decode,
                select=call.select,
                debugger=debugger,
            )
        except SglError as error:
            if self._traceback and error.__cause__ is not None:
                traceback.print_exception(error.__cause__)
            failed = Failed(error, _drawn(error, call.program))
        except ArgumentError as problem:
            failed = Failed(SglError("Failure", problem.message), problem.diagnostic())
        else:
            said = "" if heard is None else heard.said
            return Outcome(
                value=result.value, text=said, statistics=_numbers(result), checks=tuple(_checks(result))
            )
        return Outcome(failed=failed, text="" if heard is None else heard.said)


def host_of(call: Call) -> Host | None:
    """What calls Python for the program; raises ArgumentError where that is not allowed."""
    if not call.program.python_modules:
        return None
    from sglc.externs.host import Host

    host = Host(call.program, call.access)
    host.check(call.code)
    return host


def _drawn(error: SglError, program: Program) -> Diagnostic:
    """The error at its place; what was generated of the value is shown apart from it."""
    return replace(diagnostic_of(error, program), witness="")


def value_text(program: Program, code: Code, value: Value, *, indent: int | None = None) -> str:
    """The value as JSON, decimals exact."""
    if code.result is None:
        return "null"
    return dumps(value, program.types[code.result], program.table, indent=indent)


def _numbers(result: RunResult) -> dict[str, object]:
    found = result.statistics
    return {
        "holes": found.holes,
        "forwards": found.forwards,
        "output_tokens": found.output_tokens,
        "sampled_tokens": found.sampled_tokens,
        "forced_tokens": found.forced_tokens,
        "retries": found.retries,
        **_remote_numbers(found),
        "seconds": round(found.seconds, 3),
        "outside_median_ms": round(found.outside_median_ms, 4),
    }


def _remote_numbers(found: Statistics) -> dict[str, object]:
    """What models elsewhere took; nothing where none answered."""
    remote = found.remote
    if not remote.requests:
        return {}
    return {"reproducible": False, "remote": asdict(remote)}


def _checks(result: RunResult) -> Iterator[dict[str, object]]:
    for check in result.checks:
        line = check.place.line if check.place is not None else None
        yield {"passed": check.passed, "reason": check.reason, "function": check.function, "line": line}
