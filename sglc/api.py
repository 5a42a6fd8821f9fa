"""SGL from Python: `m = sglc.load("crew.sgl")`, then `m.crew(theme="salvage")`.

Functions of the program are attributes of the module object, and so are its types: a record is a frozen
dataclass, an enum an `enum.Enum`, a union one dataclass for each variant with a common base. The model is
loaded at the first call that needs it. Everything runs on one event loop in a thread of its own, so plain
calls work anywhere, in any thread and inside a running loop too; calls of several threads share the model.
"""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sglc.bytecode.code import Code, Program
from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.diagnostics.render import render
from sglc.python_types import PythonTypes, safe_name
from sglc.runtime.engine.options import DISK_BYTES, EngineOptions, ExecutorKind
from sglc.types.show import show_type
from sglc.types.type import TAG

if TYPE_CHECKING:
    from sglc.runtime.engine.base import Engine
    from sglc.runtime.errors import SglError
    from sglc.runtime.kv.accounts import CacheStats
    from sglc.runtime.kv.eviction import Policy
    from sglc.runtime.mask.frozen import FrozenFolders
    from sglc.runtime.metrics.collector import Collector
    from sglc.runtime.session import RunResult, Session
    from sglc.runtime.vm.trace import Event, Listener

R = TypeVar("R")


class CompileError(Exception):
    """A program that does not compile. The message is the rendered diagnostics; they are also data."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n\n".join(render(d) for d in diagnostics))


class RunError(Exception):
    """A run that failed with an error of the language.

    `name` is the error's name (`Truncated`, `Stuck`), `fields` the values it was raised with, `partial` the
    text that had been generated of what could not be finished.
    """

    def __init__(self, error: SglError, diagnostic: Diagnostic, fields: Mapping[str, Any]) -> None:
        self.name = error.name
        self.code = error.code
        self.reason = error.message
        self.fields = dict(fields)
        self.partial = error.partial
        self.diagnostic = diagnostic
        super().__init__(render(diagnostic))


# -- the loop ----------------------------------------------------------------------------------------


class _Loop:
    """One event loop in a daemon thread, started at the first use and shared by all modules."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def submit(self, work: Coroutine[Any, Any, R]) -> asyncio.Future[R] | Any:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="sglc", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait(self, work: Coroutine[Any, Any, R]) -> R:
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise


_LOOP = _Loop()
_ENGINES: dict[tuple[str, EngineOptions], Engine] = {}
_ENGINE_LOCK = threading.Lock()


def _engine(model: str, options: EngineOptions) -> Engine:
    """The engine of a model; modules that name the same model and options share it."""
    with _ENGINE_LOCK:
        engine = _ENGINES.get((model, options))
        if engine is None:
            from sglc.runtime.engine.load import load_engine

            engine = _ENGINES[model, options] = load_engine(model, **options.keywords())
        return engine


# -- modules and functions ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that happened while a streamed call runs.

    `kind` is `text` (written by the program), `forced` or `generated` (of a hole), or the name of another
    event; `text` is what was added. `partial` is the value of the hole being filled as far as it is certain:
    a record that is not finished is a dict of its finished fields and at most one that grows, and None where
    nothing is certain yet.
    """

    kind: str
    text: str
    hole: str
    partial: Any
    event: Event


class Stream:
    """The events of one running call, to be iterated over; afterwards `value` is its result."""

    def __init__(self, function: Function, arguments: dict[str, Any], options: dict[str, Any]) -> None:
        self._function = function
        self._queue: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._growing: dict[tuple[str, str], str] = {}
        self._future = _LOOP.submit(self._run(arguments, options))
        self._ended = False

    async def _run(self, arguments: dict[str, Any], options: dict[str, Any]) -> RunResult:
        try:
            detailed = options.get("trace") is not None
            return await self._function._start(
                arguments, on_event=self._queue.put, detailed=detailed, **options
            )
        finally:
            self._queue.put(None)

    def __iter__(self) -> Iterator[Piece]:
        while not self._ended:
            event = self._queue.get()
            if event is None:
                self._ended = True
                self._future.result()
                return
            if event.kind != "token":
                yield self._piece(event)

    def _piece(self, event: Event) -> Piece:
        hole = str(event.data.get("hole", ""))
        key = (event.branch, hole)
        partial = None
        if event.kind == "hole_start":
            self._growing[key] = ""
        elif event.kind in ("forced", "generated") and hole:
            text = self._growing[key] = self._growing.get(key, "") + event.text
            partial = self._function._partial(hole, text)
        return Piece(event.kind, event.text, hole, partial, event)

    @property
    def value(self) -> Any:
        """The result; waits for it."""
        return self._function._module._types.out(self._future.result().value)

    @property
    def result(self) -> RunResult:
        """Value, text, statistics and checks of the run; waits for it."""
        return self._future.result()

    def cancel(self) -> None:
        """Stop the run at its next token."""
        self._future.cancel()


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


_OPTIONS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "seed": ("a whole number", _is_whole),
    "max_tokens": ("None or a whole number from 1 on", lambda v: v is None or (_is_whole(v) and v > 0)),
    "timeout": ("None or seconds", lambda v: v is None or (isinstance(v, Real) and v == v)),
    "priority": ("a whole number", _is_whole),
    "trace": ("None or a listener", lambda value: value is None or callable(value)),
}
"""Options of a call, what they are, and the test. A wrong one would be met in the middle of other calls."""


class Function:
    """A function of a program. Calling it runs it and returns its value.

    Besides the parameters, a call takes `seed_`, `max_tokens_`, `timeout_` (seconds), `priority_` and
    `trace_` (a listener), with an underscore so that they never collide with a parameter.
    """

    def __init__(self, module: Module, code: Code) -> None:
        self._module = module
        self._code = code
        self.__name__ = code.name
        self.__doc__ = code.doc or None
        self.signature = self._make_signature()
        self.__signature__ = self.signature

    def _make_signature(self) -> inspect.Signature:
        program = self._module.program
        parameters = [
            inspect.Parameter(
                safe_name(parameter.name),
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=self._module._types.out(parameter.default)
                if parameter.has_default
                else inspect.Parameter.empty,
                annotation=show_type(program.types[parameter.type]),
            )
            for parameter in self._code.parameters
        ]
        result = (
            inspect.Signature.empty
            if self._code.result is None
            else show_type(program.types[self._code.result])
        )
        return inspect.Signature(parameters, return_annotation=result)

    def __repr__(self) -> str:
        return f"<function {self.__name__}{self.signature} of {self._module!r}>"

    def __call__(self, *values: Any, **named: Any) -> Any:
        """Run and wait for the value."""
        arguments, options = self._split(values, named)
        result = _LOOP.wait(self._start(arguments, **options))
        return self._module._types.out(result.value)

    async def aio(self, *values: Any, **named: Any) -> Any:
        """Run without blocking the caller's event loop."""
        arguments, options = self._split(values, named)
        result = await asyncio.wrap_future(_LOOP.submit(self._start(arguments, **options)))
        return self._module._types.out(result.value)

    def stream(self, *values: Any, **named: Any) -> Stream:
        """Start and give the events as they happen."""
        arguments, options = self._split(values, named)
        return Stream(self, arguments, options)

    def run(self, *values: Any, **named: Any) -> RunResult:
        """Run and wait for everything: value, conversation, statistics, checks."""
        arguments, options = self._split(values, named)
        return _LOOP.wait(self._start(arguments, **options))

    def _split(self, values: tuple[Any, ...], named: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        options = {}
        for name, (wanted, fits) in _OPTIONS.items():
            if f"{name}_" in named:
                value = options[name] = named.pop(f"{name}_")
                if not fits(value):
                    raise TypeError(f"{name}_ of {self.__name__} is {wanted}, not {value!r}")
        names = [parameter.name for parameter in self._code.parameters]
        if len(values) > len(names):
            raise TypeError(
                f"{self.__name__}{self.signature} takes {len(names)} arguments, not {len(values)}"
            )
        arguments = dict(zip(names, values, strict=False))
        safe = {safe_name(name): name for name in names}
        for name, value in named.items():
            name = safe.get(name, name)
            if name in arguments:
                raise TypeError(f"{self.__name__} got two values of `{name}`")
            arguments[name] = value
        return {name: self._module._types.into(value) for name, value in arguments.items()}, options

    async def _start(self, arguments: dict[str, Any], **options: Any) -> RunResult:
        from sglc.runtime.errors import ArgumentError, SglError, diagnostic_of

        session = await self._module._session(self._code)
        try:
            return await session.run(self._code.name, arguments, **options)
        except ArgumentError as error:
            raise TypeError(render(error.diagnostic())) from None
        except SglError as error:
            fields = {name: self._module._types.out(value) for name, value in error.fields.items()}
            raise RunError(error, diagnostic_of(error, self._module.program), fields) from None

    def _partial(self, hole: str, text: str) -> Any:
        from sglc.types.decode import DecodeError, decode_partial

        program = self._module.program
        spec = next((spec for spec in program.holes if spec.name == hole), None)
        if spec is None or spec.type is None:
            return None
        try:
            found = decode_partial(text, program.types[spec.type], program.table)
        except DecodeError:
            return None
        return self._partial_out(found)

    def _partial_out(self, value: Any) -> Any:
        from sglc.types.decode import MISSING, Growing, PartialFields

        if value is MISSING:
            return None
        if isinstance(value, Growing):
            return self._partial_out(value.value)
        if isinstance(value, PartialFields):
            tag = {} if value.variant is None else {TAG: value.variant}
            return tag | {name: self._partial_out(item) for name, item in value.fields.items()}
        if isinstance(value, list):
            return [self._partial_out(item) for item in value]
        if isinstance(value, dict):
            return {key: self._partial_out(item) for key, item in value.items()}
        return self._module._types.out(value)


@dataclass(frozen=True, slots=True)
class Spans:
    """OpenTelemetry spans of runs go to this tracer provider, None being the process's own.

    They have prompts and answers only with `texts`. Needs the extra `observe`.
    """

    provider: Any = None
    texts: bool = False

    def listening(self, model: str) -> Callable[[str, int], Listener]:
        """See `metrics.spans.listening`."""
        from sglc.runtime.metrics.spans import listening, tracer_of

        return listening(tracer_of(self.provider), model, texts=self.texts)


class Module:
    """A loaded program: its functions and types are attributes."""

    def __init__(
        self,
        program: Program,
        model: str,
        options: EngineOptions | None = None,
        engine: Engine | None = None,
        path: Path | None = None,
        spans: Spans | None = None,
    ) -> None:
        self.program = program
        self.model = model
        self._options = options or EngineOptions()
        self._given_engine = engine
        self._spans = spans
        self._recorder: Collector | None = None
        self._path = path
        self._types = PythonTypes(program, program.name)
        self._lock = threading.Lock()
        self._joined: Session | None = None
        self.functions: dict[str, Function] = {}
        for name, index in program.entry.items():
            code = program.codes[index]
            if code.kind in ("fn", "pure"):
                self.functions[name] = Function(self, code)

    @cached_property
    def types(self) -> dict[str, Any]:
        """Classes of the declared records, enums and unions, by qualified name."""
        return {name: self._types.of(name) for name in self._types.names()}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("functions", "program"):
            raise AttributeError(name)
        if name in self.functions:
            return self.functions[name]
        if name in self.program.table:
            return self._types.of(name)
        from sglc.diagnostics.suggest import nearest

        near = nearest(name, [*self.functions, *self.program.table])
        hint = f"; did you mean `{near}`?" if near else ""
        raise AttributeError(f"{self!r} has no function or type `{name}`{hint}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.functions, *self._types.names()})

    def __repr__(self) -> str:
        return f"<SGL module {self.program.name}>"

    def _masks(self) -> FrozenFolders | None:
        """Where masks made ahead of time may lie, for a program that came from a file."""
        from sglc.runtime.mask.frozen import program_folders

        return None if self._path is None else program_folders(self._path)

    async def _session(self, code: Code) -> Session:
        """The session, with the model loaded at the first call of a function that may need one."""
        from sglc.runtime.session import Session

        if self._joined is None:
            engine = self._given_engine
            if engine is None and code.kind != "pure":
                engine = await asyncio.get_running_loop().run_in_executor(
                    None, _engine, self.model, self._options
                )
            with self._lock:
                if engine is None:
                    return Session(self.program, recorder=self._collector())
                if self._joined is None:
                    self._joined = Session(
                        self.program, engine, masks=self._masks(), recorder=self._collector()
                    )
        return self._joined

    # -- what it took --------------------------------------------------------------------------------

    def _collector(self) -> Collector:
        if self._recorder is None:
            from sglc.runtime.metrics.collector import Collector

            self._recorder = Collector(None if self._spans is None else self._spans.listening(self.model))
        return self._recorder

    def _served_by(self) -> Engine | None:
        return self._given_engine if self._joined is None else self._joined.engine

    def cache_stats(self) -> CacheStats | None:
        """What the engine's memory of keys and values holds and has done, for all modules that share it.

        None before the first call, and for a model whose memory is not shared. `owners` has the share of
        each program by name.
        """
        from sglc.runtime.metrics.report import cache_stats

        engine = self._served_by()
        return None if engine is None else cache_stats(engine)

    def statistics(self) -> dict[str, Any]:
        """What this module's runs took, by function and hole, and the engine's work (docs/observing.md)."""
        from sglc.runtime.metrics.report import report

        return report(self._collector(), self._served_by())

    def metrics(self) -> str:
        """The same in Prometheus' text format. Needs the extra `observe`."""
        from sglc.runtime.metrics import prometheus

        return prometheus.text(prometheus.Source(self._collector(), self._served_by()))


def load(
    path: str | Path,
    model: str = "smollm2",
    *,
    dtype: str | None = None,
    executor: ExecutorKind = "auto",
    threads: int | None = None,
    device: str = "cpu",
    kv_memory: int | None = None,
    kv_disk: str | Path | None = None,
    kv_disk_bytes: int = DISK_BYTES,
    speculate: bool | None = None,
    kv_eviction: Policy = "lru",
    max_queue: int | None = None,
    engine: Engine | None = None,
    spans: Spans | None = None,
) -> Module:
    """Compile a `.sgl` file, or read a `.sglb` one.

    `model` names what its functions run on; it is loaded at the first call, with the options that follow (see
    `EngineOptions`; sizes are bytes). Modules with the same model and options share one engine. An `engine`
    may be given instead. Raises CompileError, with every diagnostic, and FileNotFoundError.
    """
    folder = None if kv_disk is None else Path(kv_disk)
    options = EngineOptions(
        executor, dtype, threads, device, kv_memory, folder, kv_disk_bytes, speculate, kv_eviction, max_queue
    )
    path = Path(path)
    program: Program | None
    if path.suffix == ".sglb":
        from sglc.bytecode.serial import loads

        program, diagnostics = loads(path.read_bytes())
    else:
        from sglc.driver import compile_file
        from sglc.options import CompileOptions

        if not path.exists():
            raise FileNotFoundError(f"there is no file {path}")
        compiled = compile_file(path, CompileOptions())
        program, diagnostics = compiled.program, list(compiled.diagnostics)
    if program is None or has_errors(diagnostics):
        raise CompileError([d for d in diagnostics if d.severity == "error"] or diagnostics)
    return Module(program, model, options, engine, path, spans)


__all__ = ["CompileError", "Function", "Module", "Piece", "RunError", "Spans", "Stream", "load"]
