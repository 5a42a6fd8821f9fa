"""The API of the virtual machine: runs functions and tests of a program."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Literal

from sglc.bytecode.code import Code, Program, source_digests
from sglc.diagnostics.suggest import nearest
from sglc.runtime.arguments import bound_arguments
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.beginnings import beginnings
from sglc.runtime.decoding.conversations.conversation import PlainChat
from sglc.runtime.decoding.conversations.said import Said, said_in
from sglc.runtime.decoding.requests import Constraints
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.mask.artifact.places import MaskPlaces
from sglc.runtime.mask.vocabulary.vocabulary import BYTES
from sglc.runtime.results import RunResult, TestResult
from sglc.runtime.served_models import NO_MODELS, Urgency, serve
from sglc.runtime.vm.coverage import BranchCoverage
from sglc.runtime.vm.holes.records import error_name
from sglc.runtime.vm.machine import Machine
from sglc.runtime.vm.state.draws import Again, RoundOver
from sglc.runtime.vm.state.frame import Allowance
from sglc.runtime.vm.state.models import RunModel
from sglc.runtime.vm.state.run import Limits, Prepared, Recorder, Run
from sglc.runtime.vm.state.tasks import Tasks
from sglc.runtime.vm.state.trace import Listener, ListenerFault
from sglc.runtime.vm.state.values import BranchValue, Scored, failure
from sglc.types.model_use import MAIN
from sglc.types.text.plain_json import to_json
from sglc.types.values import TOO_DEEP, RecordValue, Value, is_too_deep
from sglc.values.kinds import is_value

if TYPE_CHECKING:
    from sglc.runtime.engine.base import Engine
    from sglc.runtime.vm.state.debugging import RunDebugger
    from sglc.runtime.vm.state.python_host import PythonHost


@dataclass(frozen=True, slots=True)
class _Asked:
    """What `Session.run` was asked for, besides the function and its arguments: see there."""

    listeners: tuple[Listener, ...]
    urgency: Urgency
    seed: int
    max_tokens: int | None
    timeout: float | None
    detailed: bool
    weighed: bool
    top: int
    concurrency: int | None
    local: bool
    unscored: bool
    answers: Mapping[str, Sequence[object]]
    said: Said | None
    debugger: RunDebugger | None


class Session:
    """A program joined to an engine. May be used for any number of runs, also at the same time.

    Without an engine only tests can run; a model elsewhere stands in its place. `models` are those that the
    program names, `fallbacks` those that are asked where the model of that name fails. `masks` are folders of
    masks that were made ahead of time; `recorder` keeps account of the runs; `python` calls functions of
    Python for runs, which tests never do. Raises ArgumentError where a model that the program names is
    missing, or two that it blends cannot be.
    """

    def __init__(
        self,
        program: Program,
        engine: Engine | RemoteModel | None = None,
        *,
        limits: Limits | None = None,
        masks: MaskPlaces | None = None,
        recorder: Recorder | None = None,
        models: Mapping[str, Engine | RemoteModel] | None = None,
        python: PythonHost | None = None,
        fallbacks: Mapping[str, Sequence[Engine | RemoteModel]] | None = None,
    ) -> None:
        self.recorder = recorder
        self.python = python
        self.program = program
        self.engine = engine
        self.limits = limits or Limits()
        vocabulary = None
        if masks is not None and engine is not None and not isinstance(engine, RemoteModel):
            vocabulary = engine.model.tokenizer.vocabulary()
        self._prepared = Prepared(program, Constraints(masks, vocabulary), {})
        self._served = NO_MODELS
        if engine is not None:
            own = self._prepared.constraints
            self._served = serve(program, engine, models or {}, masks, own, fallbacks or {})
            self._pretokenise()
        self.guarantees = self._served.guarantees(program)
        """What is guaranteed of holes at models elsewhere; None where all models are of this machine."""

    def _pretokenise(self) -> None:
        """Tokenise what conversations begin with, so that no run has to, and let the engines pin it."""
        for prefix, served, tokens in beginnings(self.program, self._served.by_name):
            engine = served.engine
            draft = engine.draft if isinstance(engine, BatchingEngine) else None
            for each in (engine, draft):
                if each is not None:
                    each.pin(tokens, len(prefix.functions))

    async def prefill(self) -> list[int]:
        """Compute what conversations begin with, so that the engine can keep it for a later process.
        What the models that a program names read is left to them.

        Returns the tokens of each beginning.
        """
        found = []
        for prefix, served, tokens in beginnings(self.program, self._served.by_name):
            if prefix.model.name != MAIN:
                continue
            branch = served.engine.open(tokens)
            try:
                branch.append(tokens)
                await branch.logits()
            finally:
                branch.close()
            found.append(len(tokens))
        return found

    # -- what there is -------------------------------------------------------------------------------

    @property
    def functions(self) -> dict[str, Code]:
        """The main module's functions that can be run, by name."""
        codes = self.program.codes
        return {name: codes[i] for name, i in self.program.entry.items() if codes[i].kind in ("fn", "pure")}

    @property
    def tests(self) -> list[Code]:
        """The tests of the program, in the order of the source."""
        return [code for code in self.program.codes if code.kind == "test"]

    def function(self, name: str) -> Code:
        """A function by name; raises ArgumentError if there is none."""
        functions = self.functions
        if name not in functions:
            near = nearest(name, functions)
            hint = f"did you mean `{near}`?" if near else "functions: " + (", ".join(functions) or "none")
            raise ArgumentError("E0712", f"there is no function `{name}` to run", hint=hint)
        return functions[name]

    def bind(self, code: Code, arguments: Mapping[str, object]) -> list[object]:
        """The arguments in order, as `sglc.runtime.arguments` has them. Raises ArgumentError."""
        return bound_arguments(self.program, code, arguments)

    # -- running -------------------------------------------------------------------------------------

    async def run(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        seed: int = 0,
        max_tokens: int | None = None,
        timeout: float | None = None,
        priority: int = 0,
        tenant: str = "",
        trace: Listener | None = None,
        on_event: Listener | None = None,
        detailed: bool | None = None,
        pressure: bool | None = None,
        trace_top: int = 0,
        concurrency: int | None = None,
        decode: Literal["local"] | None = None,
        select: Literal["choose"] | None = None,
        answers: Mapping[str, Sequence[object]] | None = None,
        said: Said | None = None,
        debugger: RunDebugger | None = None,
    ) -> RunResult:
        """Run one function.

        At most `concurrency` of its calls run ahead at a time (None: as many as suit the engine); with 0
        every call runs when its turn comes. The result is the same. `max_tokens` bounds all of its holes
        together, `timeout` (seconds) the whole run. Where the model has not enough time for all, runs of
        higher `priority` are served first, and of these the one whose timeout is nearest; each `tenant` has a
        share of its time. `trace` and `on_event` hear of every event; of single tokens, for which all legal
        ones are counted, only if `detailed` (None: if anyone listens). `pressure` says whether the pressure
        of masks is measured (None: if tokens are heard of or the recorder asks), `trace_top` how many of the
        most probable tokens are told with each token. With `decode` every hole is drawn token by token; with
        `select` a model elsewhere that tells no scores writes the option of a `select` itself. Holes with
        `answers` (of `rerun`) take these first, and no call runs ahead. The function's conversation begins
        with what was `said` in an earlier one. A `debugger` hears of everything and may stop the run, whose
        calls do not run ahead then. Raises ArgumentError before it starts, SglError when it fails, and what a
        listener raises, which ends it; cancelling the task stops it at the next token.
        """
        if detailed is None:
            detailed = trace is not None or on_event is not None
        asked = self.recorder is not None and self.recorder.weighed
        weighed = (detailed or asked) if pressure is None else pressure
        listeners = tuple(listener for listener in (trace, on_event) if listener is not None)
        try:
            return await self._run(
                self.function(name),
                arguments or {},
                _Asked(
                    listeners,
                    Urgency(priority, None if timeout is None else monotonic() + timeout, tenant),
                    seed,
                    max_tokens,
                    timeout,
                    detailed,
                    weighed,
                    trace_top,
                    concurrency,
                    decode == "local",
                    select == "choose",
                    answers or {},
                    said,
                    debugger,
                ),
            )
        except ListenerFault as fault:
            raise fault.reason from None

    async def _run(self, code: Code, arguments: Mapping[str, object], asked: _Asked) -> RunResult:
        """As `run`; raises ListenerFault where a listener fails."""
        bound = self.bind(code, arguments)
        if self.guarantees is not None:
            self.guarantees.check(code, local=asked.local, unscored=asked.unscored)
        seed, timeout, debugger = asked.seed, asked.timeout, asked.debugger
        listeners, top = asked.listeners, asked.top
        recorder = self.recorder
        recording = None if recorder is None else recorder.begin(code.name, seed)
        if recording is not None:
            listeners = (*listeners, recording)
        if debugger is not None:
            listeners, top = (*listeners, debugger.heard), max(top, debugger.top)
        debugged = debugger is not None
        run = self._new_run(
            seed,
            listeners,
            asked.urgency,
            0 if asked.answers or debugged else asked.concurrency,
            detailed=asked.detailed or debugged,
            weighed=asked.weighed or debugged,
            top=top,
            local=asked.local,
            unscored=asked.unscored,
        )
        run.give(asked.answers)
        machine = Machine(run)
        if debugger is not None:
            run.debugger, run.handlers = debugger, debugger.begin(machine)
        allowances: tuple[Allowance, ...] = ()
        if asked.max_tokens is not None:
            allowances = (Allowance(asked.max_tokens, "the run's token limit", fatal=True),)
        started = perf_counter()
        ended = ""
        try:
            machine.emit("start", self._started(code, bound, seed))
            async with asyncio.timeout(timeout):
                value = await machine.call(code, bound, allowances, asked.said)
            if is_too_deep(value):
                raise failure(f"the result of `{code.name}` is {TOO_DEEP}")
        except TimeoutError:
            ended = "Timeout"
            late = _out_of_time(timeout or 0.0)
            late.partial = run.partial
            raise self._failed(machine, late) from None
        except SglError as error:
            ended = error.name
            if error.fatal and ended == "Timeout" and timeout is not None:
                error = _out_of_time(timeout, error)  # the engine has seen it before the event loop did
            raise self._failed(machine, error) from error.__cause__
        except BaseException as raised:
            ended = error_name(raised)
            with contextlib.suppress(ListenerFault):
                machine.emit("error", {"name": ended, "message": "", "caught": False})
            raise
        finally:
            if run.tasks is not None:
                await run.tasks.close()
            run.statistics.steps = run.steps
            run.statistics.seconds = perf_counter() - started
            if recorder is not None:
                recorder.end(code.name, run.statistics, ended)
        text, said = "", asked.said
        last = machine.last
        if last is not None:
            if last.conversation is not None:
                text = last.conversation.rendered(close=True)
                said = said_in(last.conversation)
            last.leave()
        statistics = run.statistics
        machine.emit(
            "finish",
            {
                "function": code.name,
                "tokens": statistics.output_tokens,
                "forced": statistics.forced_tokens,
                "forwards": statistics.forwards,
                "seconds": round(statistics.seconds, 3),
            },
        )
        result = None if code.result is None else self.program.types[code.result]
        records = run.records
        checks, holes = tuple(records.checks), tuple(records.holes)
        return RunResult(_plain(value), result, text, statistics, checks, holes, said)

    def _started(self, code: Code, bound: list[object], seed: int) -> dict[str, object]:
        """What the event of a run's beginning tells of its call; arguments as JSON has them."""
        program = self.program
        types = [program.types[parameter.type] for parameter in code.parameters]
        arguments = {
            parameter.name: to_json(value, type, program.table)
            for parameter, value, type in zip(code.parameters, bound, types, strict=True)
        }
        told: dict[str, object] = {"arguments": arguments} if arguments else {}
        if self._digests:
            told["sources"] = self._digests
        return {"function": code.name, "seed": seed, "program": program.name, **told}

    @cached_property
    def _digests(self) -> dict[str, str]:
        """What tells whether a file is still the one that was run."""
        return source_digests(self.program)

    async def rerun(
        self,
        name: str,
        arguments: Mapping[str, object],
        answers: Mapping[str, Sequence[object]],
        *,
        seed: int = 0,
        on_event: Listener | None = None,
    ) -> object:
        """The value of a function whose holes have these answers, without a model and without Python.

        `answers` are values or what is `Written`, by hole (`function.hole`, with `@branch` in one branch of
        forks), each for one fill; of a function of Python a `CallOutcome` for each call. Raises
        ArgumentError before it starts, SglError when it fails.
        """
        code = self.function(name)
        bound = self.bind(code, arguments)
        run = self._new_run(seed, () if on_event is None else (on_event,))
        run.give(answers)
        machine = Machine(run)
        try:
            machine.emit("start", self._started(code, bound, seed))
            value = await machine.call(code, bound)
        except SglError as error:
            raise self._failed(machine, error) from error.__cause__
        if machine.last is not None:
            machine.last.leave()
        machine.emit("finish", {"function": code.name})
        return value

    async def run_test(
        self,
        name: str,
        *,
        seed: int = 0,
        on_event: Listener | None = None,
        coverage: BranchCoverage | None = None,
        again: Again | None = None,
        asks: bool = False,
        debugger: RunDebugger | None = None,
    ) -> TestResult:
        """Run one test: holes are answered by its mocks or at random, others by the model where it `asks`
        one. `coverage` notes which branches it takes. `again` runs it as far as a round of a `fuzz`, with
        texts that are given. A `debugger` may stop it, as it does runs; then `coverage` notes nothing."""
        code = next((code for code in self.tests if code.name == name), None)
        if code is None:
            raise ArgumentError("E0712", f"there is no test `{name}`")
        heard = None if debugger is None else debugger.heard
        listeners = tuple(each for each in (on_event, heard) if each is not None)
        debugged, top = debugger is not None, 0 if debugger is None else debugger.top
        urgency = Urgency() if asks else None
        run = self._new_run(
            seed, listeners, urgency, detailed=debugged, weighed=debugged, top=top, again=again
        )
        if coverage is not None:
            run.handlers = coverage.steps()
        machine = Machine(run)
        if debugger is not None:
            run.debugger, run.handlers = debugger, debugger.begin(machine)
        started = perf_counter()
        error: SglError | None = None
        try:
            await machine.call(code, [])
            if machine.last is not None:
                machine.last.leave()
        except RoundOver:
            pass
        except SglError as raised:
            error = raised
        seconds = perf_counter() - started
        unused = tuple(run.mocks.unused()) if error is None else ()
        return TestResult(
            code.name,
            seed,
            run.expectations,
            tuple(run.missed),
            error,
            seconds,
            unused,
            tuple(run.goldens),
            tuple(run.replays),
            run.failed_draws,
            None if error is None else run.draws.round,
            run.draws.made,
        )

    def _new_run(
        self,
        seed: int,
        listeners: tuple[Listener, ...] = (),
        urgency: Urgency | None = None,
        concurrency: int | None = 0,
        *,
        detailed: bool = False,
        weighed: bool = False,
        top: int = 0,
        local: bool = False,
        unscored: bool = False,
        again: Again | None = None,
    ) -> Run:
        """The state of a new run; without an urgency it is one that asks no model. See `run`."""
        engine = self.engine
        if engine is None or urgency is None:
            constraints = self._prepared.constraints
            return Run(
                self._prepared,
                model=RunModel(BYTES, constraints, chat=PlainChat()),
                limits=self.limits,
                seed=seed,
                listeners=listeners,
                recorder=None if urgency is None else self.recorder,
                python=None if urgency is None else self.python,
                again=again,
            )
        models = self._served.for_run(self.program.name, urgency)
        ahead = engine.concurrency if concurrency is None else concurrency
        if any(model.script is not None and model.script.in_order for model in models.values()):
            ahead = 0
        return Run(
            self._prepared,
            model=models[MAIN],
            models=models,
            limits=self.limits,
            seed=seed,
            listeners=listeners,
            detailed=detailed,
            weighed=weighed,
            top=top,
            local=local,
            unscored=unscored,
            recorder=self.recorder,
            tasks=Tasks(ahead) if ahead else None,
            python=self.python,
            again=again,
        )

    def _failed(self, machine: Machine, error: SglError) -> SglError:
        """The error, which ends the run."""
        error.partial = error.partial or None
        machine.emit("error", {"name": error.name, "message": error.message, "caught": False})
        return error


def _out_of_time(timeout: float, seen: SglError | None = None) -> SglError:
    """The error of a run whose time is over, however that was noticed."""
    error = SglError("Timeout", f"the run took longer than {timeout:g} s", fatal=True)
    if seen is not None:
        error.partial, error.place, error.calls = seen.partial, seen.place, seen.calls
    return error


def _plain(value: object) -> Value:
    """What a function returned, without what lives only while it runs.

    It shares no list, map or record with the constants of the program, so that the caller may change it.
    """
    if isinstance(value, Scored):
        return _plain(value.top)
    if isinstance(value, BranchValue):
        return _plain(value.value)
    if isinstance(value, range):
        return list(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple([_plain(item) for item in value])
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, RecordValue):
        fields = {name: _plain(item) for name, item in value.fields.items()}
        return RecordValue(value.type, fields, value.variant)
    return value if is_value(value) else None
