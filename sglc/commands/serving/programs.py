"""The programs of a server: compiled, their models loaded once, each with its session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import socket

from sglc.bytecode.code import Code, Program
from sglc.bytecode.serial import dumps
from sglc.commands.clustering.opening import chain_of
from sglc.commands.clustering.options import NO_WORKERS, ClusterOptions
from sglc.commands.clustering.served import OnWorkers, PoolModels
from sglc.commands.running.execution import Call, host_of
from sglc.commands.running.loading import load_models, tell_levels
from sglc.commands.running.observing import Observer
from sglc.commands.running.run_options import DEFAULT_MODEL, LevelOptions, Models, Observation
from sglc.commands.running.settings import engine_of, models_of, project_for
from sglc.commands.serving.figures import families_of
from sglc.commands.shared.invocation import Invocation, fail, fault
from sglc.commands.shared.programs import load_program
from sglc.externs.modules import access_for
from sglc.project.file import FILE, Project
from sglc.runtime.backends.filling.loaded import LoadedModels
from sglc.runtime.backends.filling.opening import links_of
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.cluster.pool import Pool
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.core.options import EngineOptions
from sglc.runtime.errors import ArgumentError
from sglc.runtime.mask.artifact.places import program_masks
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.metrics.packages import MissingPackage
from sglc.runtime.serve.access import Access
from sglc.runtime.serve.admission import Admission
from sglc.runtime.serve.app import AppOptions, application
from sglc.runtime.serve.faces import MakeFace, Served
from sglc.runtime.serve.functions import FunctionTable
from sglc.runtime.serve.guard import NO_PROXIES, Proxies
from sglc.runtime.serve.listening import Listening, listen
from sglc.runtime.serve.openai.face import CALLS, OpenAiFace
from sglc.runtime.serve.options import ServeLimits
from sglc.runtime.serve.runs import Runs
from sglc.runtime.served_models import check_names, check_unknown
from sglc.runtime.session import Session
from sglc.targets.projection.core.capabilities import Level
from sglc.types.model_use import MAIN

ROOM = 2
"""Runs for each that the model does best at a time: some of them are between two holes."""


@dataclass(frozen=True, slots=True)
class ServedProgram:
    """A program with its loaded models, and the session that runs its functions."""

    file: Path
    program: Program
    models: LoadedModels
    session: Session


@dataclass(slots=True)
class ServedPrograms:
    """Programs that are ready to be served."""

    programs: tuple[ServedProgram, ...]
    table: FunctionTable
    models: tuple[LoadedModels, ...]
    collector: Collector
    model: str
    """The first program's own model, or the one that is served alone, by the name that clients ask for."""
    calls: Callable[[Program, Path], list[Call]]
    """A call of each public function of a program in a file."""
    below: Callable[[str], AbstractContextManager[object]] | None = None
    """Puts the spans of a request below its `traceparent`; None where there are no spans."""
    pool: Pool | None = None
    """The workers that run the functions; None where they run here."""
    away: PoolModels | None = None
    """Their models."""

    @classmethod
    @contextmanager
    def open(
        cls,
        invocation: Invocation,
        files: Sequence[Path],
        models: Models,
        engine: EngineOptions,
        required: Level | None,
        observation: Observation,
        cluster: ClusterOptions = NO_WORKERS,
    ) -> Iterator[ServedPrograms]:
        """Compile the programs and load their models, each once, here or in workers; without programs load a
        model alone. What cannot be served ends the command."""
        made: dict[object, Engine | RemoteModel] = {}
        observer = Observer(invocation, observation, models.own or DEFAULT_MODEL)
        collector = observer.collector
        served: list[ServedProgram] = []
        loaded: list[LoadedModels] = []
        first = ""

        def calls_in(program: Program, file: Path) -> list[Call]:
            project = project_for(invocation, file)
            return calls_of(invocation, program, project, models, engine, file, required)

        workers = None if cluster.sizes is None else OnWorkers(cluster, ROOM)
        try:
            programs = [load_program(invocation, file) for file in files]
            _check_named(programs, models)
            for file, program in zip(files, programs, strict=True):
                calls = calls_in(program, file)
                if workers is not None:
                    workers.add(file, program, calls)
                found = LoadedModels()
                loaded.append(found)
                if any(call.code.kind != "pure" for call in calls):
                    call = calls[0]
                    check_names(program, call.models)
                    names = {} if workers is not None else {MAIN: call.model, **call.models}
                    load_models(invocation, names, call.known, call.engine, None, found, made=made)
                    first = first or (call.model if found.engine is None else found.engine.model.name)
                session = _session(invocation, program, found, calls, collector, file)
                served.append(ServedProgram(file, program, found, session))
            if not files:
                found = LoadedModels()
                loaded.append(found)
                first = _load_alone(invocation, models, engine, found, made, workers)
            performer, away = (None, None) if workers is None else workers.open(observer.calls)
            table = FunctionTable([each.session for each in served], performer)
            pool = None if performer is None else performer.pool
            with observer.watching(None):
                yield cls(
                    *(tuple(served), table, tuple(loaded), collector, first, calls_in),
                    _below(observation),
                    pool,
                    away,
                )
        except ArgumentError as problem:
            raise fail(invocation, problem.diagnostic()) from None
        finally:
            LoadedModels({MAIN: tuple(made.values())}).close()

    async def serve(
        self,
        limits: ServeLimits,
        access: Access,
        place: Listening,
        socket: socket,
        hosts: frozenset[str],
        origins: tuple[str, ...],
        faces: Sequence[MakeFace],
        ready: Callable[[Sequence[str]], None],
        proxies: Proxies = NO_PROXIES,
    ) -> None:
        """Serve until the process is told to end. Connections of models elsewhere are closed then.

        `ready` gets the lines that tell where `faces` are reached.
        """
        if self.pool is not None:
            try:
                await self.pool.open()
            except BaseException:
                await self.pool.close(kill=True)
                raise
        engines = [each.engine for each in self.models if each.engine is not None]
        engines += [engine for each in self.models for engine in each.engines.values()]

        async def lull() -> None:
            for engine in engines:
                await engine.step_begun()

        runs = Runs(limits, Admission(limits.running or self.room, limits.waiting), access, lull)
        workers = None if self.pool is None else self.pool.states
        served = Served(self.table, runs, access, tuple(self._asked()), workers)
        made = [make(served) for make in faces]
        routes = [route for face in made for route in face.routes]
        routes += OpenAiFace(self.table, runs, engines, self.collector, self.away).routes
        options = AppOptions(
            hosts, origins, self._metrics(runs), routes, CALLS, self.below, proxies, self._unable
        )
        app = application(self.table, runs, access, options)
        try:
            async with AsyncExitStack() as beside:
                entered = [await beside.enter_async_context(face.running()) for face in made]
                lines = [line for each in entered for line in each]
                await listen(app, runs, place, socket, lambda: ready(lines))
        finally:
            await self._leave()

    def _unable(self) -> str:
        return "" if self.pool is None else self.pool.useless

    async def talk(self, limits: ServeLimits, talk: Callable[[Served], Awaitable[None]]) -> None:
        """Serve one client that is there already, such as at stdin. Its runs end when `talk` does."""
        access = Access()
        runs = Runs(limits, Admission(limits.running or self.room, limits.waiting), access)
        try:
            await talk(Served(self.table, runs, access, tuple(self._asked())))
            await runs.drain(0)
        finally:
            await self._leave()

    async def _leave(self) -> None:
        for each in self.models:
            for remote in each.remote:
                await remote.close()
        if self.pool is not None:
            await self.pool.close()

    def compile_again(self, invocation: Invocation) -> tuple[ServedProgram, ...]:
        """The programs as their files are now, on the models that are loaded. One that is as before is the
        same object. Raises CommandFailed, with all that is wrong shown, where one cannot be used."""
        return tuple(self._compiled(invocation, each) for each in self.programs)

    def _compiled(self, invocation: Invocation, before: ServedProgram) -> ServedProgram:
        file, models = before.file, before.models
        program = load_program(invocation, file)
        if dumps(program) == dumps(before.program):
            return before
        calls = self.calls(program, file)
        new = [name for name in program.models if name not in before.program.models]
        if new or (models.engine is None and not models.remote and any(c.code.kind != "pure" for c in calls)):
            what = f"a model `{new[0]}`" if new else "a model"
            raise fail(
                invocation,
                fault(
                    "E0828",
                    f"{file} asks for {what} now, which is not loaded",
                    reason="models are loaded when a server begins",
                    hint="start the server again",
                ),
            )
        session = _session(invocation, program, models, calls, self.collector, file)
        return ServedProgram(file, program, models, session)

    def take(self, programs: tuple[ServedProgram, ...]) -> bool:
        """Serve these from the next call on; whether any is another than before. Calls that go on end with
        the program that they began with. Raises ArgumentError where two functions have one name."""
        if all(now is before for now, before in zip(programs, self.programs, strict=True)):
            return False
        self.table.replace([each.session for each in programs])
        self.programs = programs
        return True

    @property
    def room(self) -> int:
        """Runs that are worth keeping going at the same time."""
        if self.pool is not None:
            return self.pool.width * self.pool.sizes.most
        widths = [each.own.concurrency for each in self.models if each.own is not None]
        return ROOM * max(widths, default=1)

    def _asked(self) -> list[Engine | RemoteModel]:
        """All models, those elsewhere too, each once."""
        found = [one for each in self.models for one in (each.own, *each.engines.values(), *each.remote)]
        return list({id(one): one for one in found if one is not None}.values())

    def _metrics(self, runs: Runs) -> Callable[[], Awaitable[str]] | None:
        try:
            from sglc.runtime.metrics import prometheus
            from sglc.runtime.metrics.families import MetricsSource, ReadFamilies
        except MissingPackage:
            return None
        pool = self.pool
        engine = next((each.engine for each in self.models if each.engine is not None), None)
        others = {name: engine for each in self.models for name, engine in each.engines.items()}
        source = MetricsSource(self.collector, engine, others)

        async def text() -> str:
            own = source.families() if pool is None else await pool.families()
            return prometheus.text(ReadFamilies([*own, *families_of(runs)]))

        return text


def _below(observation: Observation) -> Callable[[str], AbstractContextManager[object]] | None:
    if not observation.spans:
        return None
    from sglc.runtime.metrics.spans import below

    return below


def _load_alone(
    invocation: Invocation,
    models: Models,
    engine: EngineOptions,
    found: LoadedModels,
    made: dict[object, Engine | RemoteModel],
    workers: OnWorkers | None,
) -> str:
    """Load the model of a server without programs, here or on workers; its name. What cannot be had ends the
    command."""
    project = project_for(invocation, Path.cwd() / FILE)
    if models.named:
        name = next(iter(models.named))
        raise ArgumentError(
            "E0721", f"no program names a model `{name}`", hint="give `--model MODEL`, or the program's file"
        )
    name = models.own or project.models.get(MAIN) or DEFAULT_MODEL
    known = tuple(project.settings.values())
    if links_of(name, known)[0].elsewhere:
        raise ArgumentError(
            "E0828",
            f"{name} cannot be served without a program",
            reason="it is a model elsewhere, which answers its clients itself",
            hint="name a model of this machine, or give the file of a program",
        )
    if workers is not None:
        workers.alone, workers.engine = chain_of(name, known), engine_of(project, engine)
        return workers.alone[0]
    load_models(invocation, {MAIN: name}, known, engine_of(project, engine), None, found, made=made)
    assert found.engine is not None
    return found.engine.model.name


def calls_of(
    invocation: Invocation,
    program: Program,
    project: Project,
    models: Models,
    engine: EngineOptions,
    file: Path,
    required: Level | None,
) -> list[Call]:
    """A call of each public function: what it is run on, and by which options."""
    own, named = models_of(project, models, program)
    named = {name: model for name, model in named.items() if name in program.models}
    engine = engine_of(project, engine)
    masks, access = program_masks(file), access_for(file, invocation.python)
    return [
        Call(
            program,
            code,
            own or DEFAULT_MODEL,
            named,
            engine,
            masks=masks,
            access=access,
            known=tuple(project.settings.values()),
            levels=LevelOptions(required),
        )
        for code in _public(program)
    ]


def _check_named(programs: Sequence[Program], models: Models) -> None:
    """Raises ArgumentError for a model that is given a name which no program has."""
    unknown = [name for name in models.named if all(name not in program.models for program in programs)]
    if programs and unknown:
        check_unknown(programs[0], unknown)


def _public(program: Program) -> list[Code]:
    codes = [program.codes[index] for index in program.entry.values()]
    return [code for code in codes if code.public and code.kind in ("fn", "pure")]


def _session(
    invocation: Invocation,
    program: Program,
    models: LoadedModels,
    calls: Sequence[Call],
    collector: Collector,
    file: Path,
) -> Session:
    """A session of a program. What its models guarantee of its holes is told; less than is required ends the
    command."""
    hosts = [host_of(call) for call in calls]  # each function's modules of Python must be allowed
    session = Session(
        program,
        models.own,
        masks=program_masks(file),
        recorder=collector,
        models=models.named,
        python=hosts[0] if hosts else None,
        fallbacks=models.fallbacks,
    )
    for call in calls:
        if call.code.kind != "pure":
            tell_levels(invocation, call, session)
    return session
