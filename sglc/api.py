"""SGL from Python: `m = sglc.load("crew.sgl")`, then `m.crew(theme="salvage")`.

Functions of the program are attributes of the module object, and so are its types: a record is a frozen
dataclass, an enum an `enum.Enum`, a union one dataclass for each variant with a common base. The model is
loaded at the first call that needs it. Everything runs on one event loop in a thread of its own, so plain
calls work anywhere, in any thread and inside a running loop too; calls of several threads share the model.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import threading
from collections.abc import Callable, Coroutine, Mapping
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from sglc.bytecode.code import Code, Program
from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.diagnostics.render import render
from sglc.externs.modules import access_for
from sglc.options import CompileOptions
from sglc.python.background import LOOP, shared_models
from sglc.python.classes import classes_of
from sglc.python.errors import CompileError, RunError
from sglc.python.own_classes import OwnTypes, Refused
from sglc.python.spans import Spans
from sglc.python.stream import Piece, Stream
from sglc.python.wiring import wiring_of
from sglc.runtime.backends.filling.loaded import LoadedModels
from sglc.runtime.engine.core.options import DISK_BYTES, EngineOptions, ExecutorKind
from sglc.types.model_use import MAIN
from sglc.types.notation.python_names import safe_name
from sglc.types.type import TAG

if TYPE_CHECKING:
    from sglc.externs.host import Host
    from sglc.project.file import Project
    from sglc.runtime.backends.filling.remote_model import RemoteModel
    from sglc.runtime.backends.recording.wiring import Wiring
    from sglc.runtime.engine.base import Engine
    from sglc.runtime.kv.accounts import CacheStats
    from sglc.runtime.kv.eviction import Policy
    from sglc.runtime.mask.artifact.places import MaskPlaces
    from sglc.runtime.metrics.collector import Collector
    from sglc.runtime.results import RunResult
    from sglc.runtime.session import Session
    from sglc.runtime.vm.state.trace import Listener
    from sglc.targets.projection.core.capabilities import Level


DEFAULT_MODEL = "smollm2"


# -- modules and functions ---------------------------------------------------------------------------


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


_OPTIONS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "seed": ("a whole number", _is_whole),
    "max_tokens": ("None or a whole number from 1 on", lambda v: v is None or (_is_whole(v) and v > 0)),
    "timeout": ("None or seconds", lambda v: v is None or (isinstance(v, Real) and v == v)),
    "priority": ("a whole number", _is_whole),
    "concurrency": ("None or a whole number from 0 on", lambda v: v is None or (_is_whole(v) and v >= 0)),
    "pressure": ("None, True or False", lambda value: value is None or isinstance(value, bool)),
    "trace_top": ("a whole number from 0 on", lambda value: _is_whole(value) and value >= 0),
    "decode": ('None or "local"', lambda value: value is None or value == "local"),
    "select": ('None or "choose"', lambda value: value is None or value == "choose"),
    "trace": ("None or a listener", lambda value: value is None or callable(value)),
    "breakpoint": ("None, True or a function", lambda v: v is None or isinstance(v, bool) or callable(v)),
}
"""Options of a call, what they are, and the test. A wrong one would be met in the middle of other calls."""


class Function:
    """A function of a program. Calling it runs it and returns its value.

    Besides the parameters, a call takes `seed_`, `max_tokens_`, `timeout_` (seconds), `priority_`,
    `concurrency_` (most calls of the program that run ahead of their turn, 0 for none), `pressure_` (whether
    `run` tells how much the masks of holes fight the model), `decode_` ("local": every hole is drawn token by
    token, whatever `decode` says), `select_` ("choose": a model elsewhere that tells no scores writes the
    option of a `select` itself), `trace_` (a listener), `trace_top_` (how many of the most probable tokens
    `trace_` hears of with each token) and `breakpoint_` (a function that is called before every hole and says
    how the run goes on, see docs/debugging.md; True for a prompt at stdin), with an underscore so that they
    never collide with a parameter.
    """

    def __init__(self, module: Module, code: Code) -> None:
        self._module = module
        self._code = code
        self.__name__ = code.name
        self.__doc__ = code.doc or None
        self.signature = self._make_signature()
        self.__signature__ = self.signature
        self.__annotations__ = {name: p.annotation for name, p in self.signature.parameters.items()}
        self.__annotations__["return"] = self.signature.return_annotation

    def _make_signature(self) -> inspect.Signature:
        program, types = self._module.program, self._module._types
        parameters = [
            inspect.Parameter(
                safe_name(parameter.name),
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=types.out(parameter.default) if parameter.has_default else inspect.Parameter.empty,
                annotation=types.annotation(program.types[parameter.type]),
            )
            for parameter in self._code.parameters
        ]
        index = self._code.result
        result = None if index is None else types.annotation(program.types[index])
        return inspect.Signature(parameters, return_annotation=result)

    def __repr__(self) -> str:
        return f"<function {self.__name__}{self.signature} of {self._module!r}>"

    def __call__(self, /, *values: object, **named: object) -> Any:
        """Run and wait for the value."""
        return self.run(*values, **named).value

    async def aio(self, /, *values: object, **named: object) -> Any:
        """Run without blocking the caller's event loop."""
        arguments, options = self._split(values, named)
        result = await asyncio.wrap_future(LOOP.submit(self._start(arguments, **options)))
        return result.value

    def stream(self, /, *values: object, **named: object) -> Stream[Any]:
        """Start and give the events as they happen."""
        arguments, options = self._split(values, named)
        detailed = options.get("trace") is not None

        def start(listener: Listener) -> Coroutine[object, object, RunResult]:
            return self._start(arguments, on_event=listener, detailed=detailed, **options)

        return Stream(start, LOOP.submit, self._partial)

    def run(self, /, *values: object, **named: object) -> RunResult:
        """Run and wait for everything: value, conversation, statistics, checks."""
        arguments, options = self._split(values, named)
        return LOOP.wait(self._start(arguments, **options))

    def _split(
        self, values: tuple[object, ...], named: dict[str, Any]
    ) -> tuple[dict[str, object], dict[str, Any]]:
        options = dict(self._module._defaults)
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

        types = self._module._types
        try:
            session = await self._module._session(self._code)
            self._module._tell_levels(session, self._code, options)
            if wanted := options.pop("breakpoint", None):
                from sglc.debug.doors import debugger_for

                options["debugger"] = debugger_for(session.program, wanted, self._module._path, types.out)
            result = await session.run(self._code.name, arguments, **options)
            return dataclasses.replace(result, value=self._module._out(self._code.name, result.value))
        except ArgumentError as error:
            raise TypeError(render(error.diagnostic())) from None
        except Refused as error:
            found = Diagnostic(
                "E0702", str(error), None, reason="the class has rules that its types do not say"
            )
            raise RunError("Rejected", "E0702", str(error), {}, None, found) from error.__cause__
        except SglError as error:
            fields = {name: types.out(value) for name, value in error.known_fields.items()}
            found = diagnostic_of(error, self._module.program)
            told = (error.name, error.code, error.message, fields, error.partial, found)
            raised = types.error(error.name) or RunError
            failure = raised(*told)
            own = None if self._module._own is None else self._module._own.classes
            try:
                mine = None if own is None else own.error(error.name, error.fields)
            except Refused as fault:
                raise failure from fault.__cause__
            if mine is not None:
                raise mine from failure
            raise failure from None

    def _partial(self, hole: str, text: str) -> object:
        from sglc.types.text.decode import DecodeError, decode_partial

        program = self._module.program
        spec = next((spec for spec in program.holes if spec.name == hole), None)
        if spec is None or spec.type is None:
            return None
        try:
            found = decode_partial(text, program.types[spec.type], program.table)
            return self._partial_out(found)
        except (DecodeError, Refused):
            return None

    def _partial_out(self, value: object) -> object:
        from sglc.types.text.partial import MISSING, Growing, PartialFields

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


class Module:
    """A loaded program: its functions and types are attributes."""

    def __init__(
        self,
        program: Program,
        model: str,
        options: EngineOptions | None = None,
        engine: Engine | RemoteModel | None = None,
        path: Path | None = None,
        spans: Spans | None = None,
        models: Mapping[str, str | Engine | RemoteModel] | None = None,
        own: OwnTypes | None = None,
        python: Host | None = None,
        project: Project | None = None,
        wiring: Wiring | None = None,
    ) -> None:
        self._python = python
        self._wiring = wiring
        """What records, replays or keeps answers of models elsewhere."""
        self._defaults = {} if project is None else dict(project.run)
        """Options of calls that say nothing of them, without the underscore."""
        self._known = () if project is None else tuple(project.settings.values())
        """Models of the project, with what it says of each."""
        self.program = program
        self.model = model
        self._models = dict(models or {})
        self._options = options or EngineOptions()
        self._given_engine = engine
        self._spans = spans
        self._recorder: Collector | None = None
        self._path = path
        self._own = own
        self._types = classes_of(program, None if own is None else own.classes)
        self._lock = threading.Lock()
        self._joined: Session | None = None
        self._loaded = LoadedModels({} if engine is None else {MAIN: (engine,)})
        """What it runs on, as far as it is loaded."""
        self._told: set[str] = set()
        """Functions of whose levels was told."""
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
        if (error := self._types.error(name)) is not None:
            return error
        from sglc.diagnostics.suggest import nearest

        near = nearest(name, [*self.functions, *self.program.table, *self._types.errors])
        hint = f"; did you mean `{near}`?" if near else ""
        raise AttributeError(f"{self!r} has no function, type or error `{name}`{hint}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.functions, *self._types.names(), *self._types.errors})

    def __repr__(self) -> str:
        return f"<SGL module {self.program.name}>"

    def _out(self, function: str, value: object) -> Any:
        """What a function gives back as a Python object: of the user's own types, where it was written so."""
        if self._own is not None and function in self._own.results:
            return self._own.classes.read(value, self._own.results[function])
        return self._types.out(value)

    def hole_values(self, result: RunResult) -> dict[str, list[Any]]:
        """The values of a run's holes by their names, without the function's, in the order of the run.

        A text stands where the value cannot be told from it alone: where the type depends on the run.
        """
        from sglc.types.text.decode import DecodeError, decode

        specs = {spec.name: spec for spec in self.program.holes}
        found: dict[str, list[Any]] = {}
        for record in result.holes:
            spec = specs.get(record.name)
            value: object = record.text
            if spec is not None and spec.type is not None:
                try:
                    value = self._types.out(
                        decode(record.text, self.program.types[spec.type], self.program.table)
                    )
                except (DecodeError, ValueError):
                    value = record.text
            found.setdefault(record.name.rpartition(".")[2], []).append(value)
        return found

    def _masks(self) -> MaskPlaces | None:
        """Where masks made ahead of time may lie, for a program that came from a file."""
        from sglc.runtime.mask.artifact.places import program_masks

        return None if self._path is None else program_masks(self._path)

    async def _session(self, code: Code) -> Session:
        """The session, with the model loaded at the first call of a function that may need one."""
        from sglc.runtime.session import Session

        if self._python is not None:
            self._python.check(code)
        if self._joined is None:
            models = self._loaded
            if code.kind != "pure":
                models = await asyncio.get_running_loop().run_in_executor(None, self._load)
            with self._lock:
                if models.own is None:
                    return Session(self.program, recorder=self._collector(), python=self._python)
                if self._joined is None:
                    self._joined = Session(
                        self.program,
                        models.own,
                        masks=self._masks(),
                        recorder=self._collector(),
                        models=models.named,
                        python=self._python,
                        fallbacks=models.fallbacks,
                    )
                    self._loaded = models
        return self._joined

    def _load(self) -> LoadedModels:
        """The module's own model and those that its program names. Raises ArgumentError."""
        from sglc.runtime.served_models import check_names

        check_names(self.program, self._models)
        wanted = {name: self._models[name] for name in self.program.models if name in self._models}
        how = (self._options, self._known, self._wiring)
        return LoadedModels(
            {
                name: tuple(shared_models(each, *how)) if isinstance(each, str) else (each,)
                for name, each in {MAIN: self._given_engine or self.model, **wanted}.items()
            }
        )

    def _tell_levels(self, session: Session, code: Code, options: Mapping[str, object]) -> None:
        """Log once what models elsewhere do not guarantee of a function's holes."""
        if session.guarantees is not None and code.name not in self._told:
            from sglc.python.guarantees import log_levels

            self._told.add(code.name)
            log_levels(session.guarantees, code, options)

    # -- what it took --------------------------------------------------------------------------------

    def _collector(self) -> Collector:
        if self._recorder is None:
            from sglc.runtime.metrics.collector import Collector

            self._recorder = Collector(None if self._spans is None else self._spans.listening(self.model))
        return self._recorder

    def cache_stats(self) -> CacheStats | None:
        """What the engine's memory of keys and values holds and has done, for all modules that share it.

        None before the first call, and for a model whose memory is not shared. `owners` has the share of
        each program by name.
        """
        from sglc.runtime.metrics.report import cache_stats

        engine = self._loaded.engine
        return None if engine is None else cache_stats(engine)

    def statistics(self) -> dict[str, Any]:
        """What this module's runs took, by function and hole, and the engine's work (docs/observing.md)."""
        from sglc.runtime.backends.filling.remote_model import spent
        from sglc.runtime.metrics.report import report

        models = self._loaded
        return report(self._collector(), models.engine, models.engines, spent(models.remote))

    def metrics(self) -> str:
        """The same in Prometheus' text format. Needs the extra `observe`."""
        from sglc.runtime.metrics import prometheus
        from sglc.runtime.metrics.families import MetricsSource

        models = self._loaded
        return prometheus.text(MetricsSource(self._collector(), models.engine, models.engines))


class LoadOptions(TypedDict, total=False):
    """What `load` and `loads` take besides program and model; sizes are bytes (see `EngineOptions`).

    `project` says whether the program's `sgl.toml` is read; what is given here wins over it.
    `record` and `replay` are files of traffic with models elsewhere, `cache_answers` gives their answers
    again, `require` is the least level of what they guarantee. `allow_outside` is of the compiler: the
    program may read files outside of its project. `allow_py` names modules of Python that it may import;
    `functions` has functions for its `extern py`, by `module:function`.
    """

    executor: ExecutorKind
    dtype: str | None
    threads: int | None
    device: str
    kv_memory: int | None
    kv_disk: str | Path | None
    kv_disk_bytes: int
    speculate: bool | None
    kv_eviction: Policy
    max_queue: int | None
    draft: str | None
    engine: Engine | RemoteModel | None
    models: Mapping[str, str | Engine | RemoteModel] | None
    spans: Spans | None
    project: bool
    record: str | Path | None
    replay: str | Path | None
    cache_answers: bool
    require: Level | None
    allow_outside: bool
    allow_py: tuple[str, ...]
    functions: Mapping[str, Callable[..., object]] | None


def load(path: str | Path, model: str | None = None, **options: Unpack[LoadOptions]) -> Module:
    """Compile a `.sgl` file, or read a `.sglb` one. A program that was compiled before comes from the cache.

    `model` names what its functions run on; without it the project's own model, else `smollm2`. It is loaded
    at the first call, with the options that follow (see `EngineOptions`). The program's `sgl.toml` stands in
    for what is not given, also for options of calls; `project=False` leaves it unread. Modules with the same
    model and options share one engine. An `engine` may be given instead. `models` are the models that the
    program names (`using big`), by these names, each a model or an engine. `allow_outside` lets the program
    read files outside of its project, `allow_py` names modules of Python that it may import beside those of
    its own project (a `.sglb` has none of its own), and `functions` gives functions in place of importing
    any. `record` writes the traffic with models elsewhere to a new file, `replay` takes it from such a file,
    and `cache_answers` gives the same question the answer that it had before. With `require="value"` a hole
    of which a model elsewhere guarantees less is an error (docs/backends.md#levels).
    Raises CompileError, with every diagnostic of program and project, FileNotFoundError, and ValueError for
    a file of traffic or options that do not do.
    """
    path = Path(path)
    program: Program | None
    if path.suffix == ".sglb":
        from sglc.bytecode.serial import loads as read

        program, diagnostics = read(path.read_bytes())
    else:
        from sglc.compiled import build
        from sglc.library import read_source

        if not path.exists():
            raise FileNotFoundError(f"there is no file {path}")
        program = None
        source, diagnostics = read_source(path)
        if source is not None:
            built, diagnostics = build(source, compile_options(options), told=False, runs=True)
            program = None if built is None else built.program
    return made_module(program, diagnostics, model, path, options, project=_project(path, options, True))


def loads(
    text: str, model: str | None = None, *, path: str | Path = "program.sgl", **options: Unpack[LoadOptions]
) -> Module:
    """Compile a program that is given as text.

    `path` is what messages call it and where it would lie: `use ./crew`, `include` and schema files are
    looked up beside it. Nothing need be there. `project=True` reads the `sgl.toml` that it would have; by
    itself a text has none. Everything else is as in `load`.
    """
    from sglc.driver import compile_source
    from sglc.source import Source

    compiled = compile_source(Source(str(path), text), compile_options(options))
    found, place = list(compiled.diagnostics), Path(path)
    return made_module(compiled.program, found, model, None, options, project=_project(place, options, False))


def compile_options(given: LoadOptions) -> CompileOptions:
    """What of the options of `load` is of the compiler."""
    return CompileOptions(allow_outside=given.get("allow_outside", False))


def _project(place: Path, given: LoadOptions, usual: bool) -> Project:
    """The project of a program at a place, if it is to be read. Raises CompileError for a faulty file."""
    from sglc.project.file import Project, project_of

    if not given.get("project", usual):
        return Project()
    project, faults = project_of(place)
    if faults:
        raise CompileError(faults)
    return project


def made_module(
    program: Program | None,
    diagnostics: list[Diagnostic],
    model: str | None,
    path: Path | None,
    given: LoadOptions,
    own: OwnTypes | None = None,
    project: Project | None = None,
) -> Module:
    """The module of what was compiled. Raises CompileError for errors, TypeError for unknown options."""
    unknown = sorted(set(given) - LoadOptions.__annotations__.keys())
    if unknown:
        raise TypeError(
            f"there is no option `{unknown[0]}`; options: {', '.join(LoadOptions.__annotations__)}"
        )
    if program is None or has_errors(diagnostics):
        raise CompileError([d for d in diagnostics if d.severity == "error"] or diagnostics)
    if project is None:
        from sglc.project.file import Project

        if given.get("project"):
            raise TypeError(
                "`project` is an option of load and loads: a function of Python has no `sgl.toml`"
            )
        project = Project()
    engine = {**project.engine, **given}
    folder = given.get("kv_disk")
    options = EngineOptions(
        engine.get("executor", "auto"),
        engine.get("dtype"),
        engine.get("threads"),
        engine.get("device", "cpu"),
        given.get("kv_memory"),
        None if folder is None else Path(folder),
        given.get("kv_disk_bytes", DISK_BYTES),
        given.get("speculate"),
        given.get("kv_eviction", "lru"),
        engine.get("max_queue"),
        engine.get("draft"),
    )
    python = None
    if program.python_modules:
        from sglc.externs.host import Host

        access = access_for(path, tuple(given.get("allow_py", ())))
        python = Host(program, access, given.get("functions"), own)
    own_model = model or project.models.get(MAIN, DEFAULT_MODEL)
    wanted = {name: each for name, each in project.models.items() if name in program.models}
    models = {**wanted, **(given.get("models") or {})}
    spans, given_engine = given.get("spans"), given.get("engine")
    names = [own_model] if given_engine is None else []
    if given.get("require") is not None:
        from sglc.python.guarantees import require_levels

        all_models = {**models, MAIN: given_engine or own_model}
        require_levels(program, all_models, project, str(given.get("require")))
    wiring = wiring_of(
        given, [*names, *(each for each in models.values() if isinstance(each, str))], project.settings
    )
    return Module(
        *(program, own_model, options, given_engine, path, spans, models, own, python, project, wiring)
    )


__all__ = [
    "CompileError",
    "Function",
    "LoadOptions",
    "Module",
    "Piece",
    "RunError",
    "Spans",
    "Stream",
    "load",
    "loads",
]
