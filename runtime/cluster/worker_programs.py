"""What a worker computes: calls of its programs on engines of its own, as many at a time as suit these."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sglc.externs.host import Host
from sglc.externs.modules import Access
from sglc.runtime.backends.filling.loaded import LoadedModels
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.cluster.messages import CHUNK, Asked, ModelRequest, Reply
from sglc.runtime.cluster.setup import ProgramSetup, WorkerSetup
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.load import load_engine
from sglc.runtime.errors import ArgumentError
from sglc.runtime.mask.artifact.places import program_masks
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.metrics.engine_state import engine_state
from sglc.runtime.metrics.families import MetricsSource
from sglc.runtime.metrics.packages import MissingPackage
from sglc.runtime.metrics.report import report
from sglc.runtime.metrics.workers import sent
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.results import RunResult
from sglc.runtime.serve.openai.chat_models import ChatModels, Kind
from sglc.runtime.serve.options import CallOptions
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event, Listener
from sglc.types.model_use import MAIN
from sglc.types.text.plain_json import dumps, parse_json


@dataclass(slots=True)
class WorkerPrograms:
    """Programs that are ready for calls."""

    setup: WorkerSetup
    sessions: dict[str, Session] = field(default_factory=dict)
    """By the names of the functions."""
    engines: dict[str, Engine] = field(default_factory=dict)
    """By the names of their models."""
    collector: Collector = field(default_factory=Collector)
    _chat_models: ChatModels | None = None
    """What answers OpenAI's protocol; made for the first request."""

    @classmethod
    def open(cls, setup: WorkerSetup) -> WorkerPrograms:
        """Load models, each once, and join programs to them. Raises ArgumentError where that cannot be."""
        work = cls(setup, collector=Collector(weighed=setup.weighed))
        try:
            for each in setup.programs:
                work._add(each)
            for model in setup.alone:
                work._engine(model)
        except ModelError as problem:
            work.close()
            what = f"{problem.what}: {problem.where}"
            raise ArgumentError("E0807", what, reason=problem.why, hint=problem.hint) from None
        except BaseException:
            work.close()
            raise
        return work

    @property
    def engine(self) -> Engine | None:
        """That of the first model; None where nothing is asked."""
        return next(iter(self.engines.values()), None)

    @property
    def width(self) -> int:
        """Calls that are worth keeping going at the same time."""
        if self.setup.width is not None:
            return self.setup.width
        return self.setup.room * max((each.concurrency for each in self.engines.values()), default=1)

    def watch(self, gone: Callable[[bytes], None]) -> bool:
        """Have `gone` told the names of blocks that leave the first model's memory; whether it has one that
        calls share."""
        engine = self.engine
        if not isinstance(engine, BatchingEngine):
            return False
        engine.cache.watch(gone)
        return True

    async def answer(self, asked: Asked, hear: Listener) -> Reply:
        """Run a call. Raises what `Session.run` raises."""
        session = self.sessions.get(asked.function)
        if session is None:
            raise ArgumentError("E0712", f"there is no function `{asked.function}`")
        arguments = parse_json(asked.arguments)
        assert isinstance(arguments, dict)
        with _below(asked.traceparent):
            result = await session.run(
                asked.function,
                arguments,
                seed=asked.seed,
                max_tokens=asked.max_tokens,
                timeout=asked.timeout,
                priority=asked.priority,
                tenant=asked.tenant,
                concurrency=asked.ahead,
                on_event=hear if asked.told else None,
                detailed=asked.detailed,
                decode=self.setup.decode,
            )
        code = session.function(asked.function)
        program = session.program
        value = "null"
        if code.result is not None:
            value = dumps(result.value, program.types[code.result], program.table)
        return Reply(value, usage_of(result), tuple(_checks(result)))

    async def answer_request(self, request: ModelRequest, hear: Listener) -> Reply:
        """Have a model answer a request of OpenAI's protocol. Raises Refusal, and SglError where it fails."""
        options = CallOptions(timeout=request.timeout, priority=request.priority, tenant=request.tenant)
        kind: Kind = "chat" if request.kind == "chat" else "text"

        def tell(text: str) -> None:
            hear(Event(CHUNK, {"text": text}))

        found = await self._chats.answer(kind, request.body, request.id, options, tell, hear)
        return Reply(found.text, {"output_tokens": found.tokens})

    @property
    def models(self) -> dict[str, str]:
        """The models that can be asked, by the names that clients ask for, and what each was loaded by."""
        found: dict[str, str] = {}
        for loaded_by, engine in self.engines.items():
            found.setdefault(engine.model.name, loaded_by)
        return found

    @property
    def _chats(self) -> ChatModels:
        if self._chat_models is None:
            self._chat_models = ChatModels(self.engines.values(), self.collector)
        return self._chat_models

    def figures(self) -> dict[str, object]:
        """What it has done so far, in few numbers."""
        found: dict[str, object] = {"tokens": self.collector.tokens}
        stats = None if self.engine is None else self.engine.get_cache_stats()
        if stats is not None:
            found |= {"looked_up": stats.tokens_looked_up, "reused": stats.tokens_reused}
        return found

    def report(self) -> dict[str, object]:
        """What it has done so far, as `--stats=json` has it."""
        return report(self.collector, self.engine, self._others)

    def metrics(self) -> list[object]:
        """What it has done so far and how it is now, as families of samples."""
        return sent(MetricsSource(self.collector, self.engine, self._others).families())

    def state(self) -> list[object]:
        """Its engines as they are now."""
        return [engine_state(each) for each in self.engines.values()]

    @property
    def _others(self) -> dict[str, Engine]:
        return {name: engine for name, engine in self.engines.items() if engine is not self.engine}

    def close(self) -> None:
        """Give back the engines."""
        for engine in self.engines.values():
            engine.close()

    def _add(self, setup: ProgramSetup) -> None:
        chains: dict[str, tuple[Engine | RemoteModel, ...]] = {
            name: tuple(self._engine(model) for model in chain) for name, chain in setup.models.items()
        }
        models = LoadedModels(chains)
        program = setup.program
        masks = program_masks(setup.file) if setup.file else None
        session = Session(
            program,
            models.own,
            masks=masks,
            recorder=self.collector,
            models={name: each for name, each in models.named.items() if name != MAIN},
            python=_host(setup),
            fallbacks=models.fallbacks,
        )
        for name in session.functions:
            self.sessions.setdefault(name, session)

    def _engine(self, model: str) -> Engine:
        if model not in self.engines:
            self.engines[model] = load_engine(model, **self.setup.engine.keywords())
        return self.engines[model]


def _below(traceparent: str) -> AbstractContextManager[object]:
    """Has spans that Python makes on the way be below one of the front; nothing where none can be made."""
    if traceparent:
        with suppress(MissingPackage):
            from sglc.runtime.metrics.spans import below

            return below(traceparent)
    return nullcontext()


def _host(setup: ProgramSetup) -> Host | None:
    """What calls Python for a program; each function that is called has been checked by the front."""
    if not setup.program.python_modules:
        return None
    access = setup.access
    folder = Path(access.folder) if access.folder else None
    return Host(setup.program, Access(access.allowed, folder, access.own))


def usage_of(result: RunResult) -> dict[str, object]:
    """What a run took."""
    found = result.statistics
    return {
        "output_tokens": found.output_tokens,
        "forced_tokens": found.forced_tokens,
        "forwards": found.forwards,
        "retries": found.retries,
        "seconds": round(found.seconds, 3),
    }


def _checks(result: RunResult) -> list[dict[str, object]]:
    return [{"passed": check.passed, "reason": check.reason} for check in result.checks]
