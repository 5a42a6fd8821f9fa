"""Functions and models of `sglc serve` on workers: the server checks, keys and queues; workers compute."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sglc.bytecode.code import Program
from sglc.commands.clustering.opening import beginnings_of, divided, open_pool, program_setup, tokenizer_of
from sglc.commands.clustering.options import ClusterOptions
from sglc.commands.running.execution import Call
from sglc.runtime.cluster.beginnings import Beginnings, RequestBeginnings
from sglc.runtime.cluster.messages import CHUNK, Asked, ModelRequest, Reply
from sglc.runtime.cluster.pool import Pool
from sglc.runtime.cluster.router import NOTHING, Beginning
from sglc.runtime.cluster.setup import ProgramSetup, WorkerSetup
from sglc.runtime.engine.core.options import EngineOptions
from sglc.runtime.errors import SglError
from sglc.runtime.serve.functions import Answer
from sglc.runtime.serve.openai.asked import Asked as AskedModel
from sglc.runtime.serve.openai.chat_models import Kind, Written
from sglc.runtime.serve.options import CallOptions
from sglc.runtime.vm.state.trace import Event, Listener
from sglc.types.model_use import MAIN
from sglc.types.text.plain_json import write_json

if TYPE_CHECKING:
    from sglc.runtime.metrics.call_spans import CallSpans, CallTracer

LATE = 0.5
"""Seconds behind its time limit that a worker may tell how far a call came."""


@dataclass(frozen=True, slots=True)
class PoolPerformer:
    """Has functions of programs performed by workers. Implements `Performer`."""

    pool: Pool
    beginnings: Mapping[str, Beginnings | None]
    """By functions."""
    tracer: CallTracer | None = None
    """Makes the spans of calls, where they are asked for."""

    async def perform(
        self, function: str, arguments: Mapping[str, object], options: CallOptions, hear: Listener
    ) -> Answer:
        """See `Performer.perform`."""
        known = self.beginnings.get(function)
        beginning = NOTHING if known is None else await known.of(function, arguments)
        asked = Asked(
            function,
            write_json(arguments),
            options.seed,
            options.max_tokens,
            options.timeout,
            options.priority,
            detailed=options.tokens,
            told=True,
            tenant=options.tenant,
        )
        with nullcontext() if self.tracer is None else self.tracer.call(function, options.seed) as spans:
            reply = await self._reply(asked, hear, beginning, spans)
        return Answer(reply.value, reply.usage, reply.checks)

    async def _reply(
        self, asked: Asked, hear: Listener, beginning: Beginning, spans: CallSpans | None
    ) -> Reply:
        """What a worker answers. Raises what the call raises."""
        if spans is None:
            return await _in_time(self.pool.call(asked, hear, beginning), asked.timeout)

        def both(event: Event) -> None:
            spans(event)
            hear(event)

        asked = replace(asked, traceparent=spans.traceparent)
        return await _in_time(self.pool.call(asked, both, beginning, spans.placed), asked.timeout)


@dataclass(frozen=True, slots=True)
class PoolModels:
    """Has requests to models answered by workers. Implements `ModelsAway`."""

    pool: Pool
    beginnings: Mapping[str, RequestBeginnings]
    """By what the models are loaded by."""

    @property
    def names(self) -> Sequence[str]:
        """See `ModelsAway`."""
        return list(self.pool.models)

    async def answer(
        self,
        kind: Kind,
        body: str,
        id: str,
        asked: AskedModel,
        options: CallOptions,
        tell: Callable[[str], None],
        hear: Listener,
        begun: Callable[[], None],
    ) -> Written:
        """See `ModelsAway`."""
        known = self.beginnings.get(self.pool.models[asked.model])
        beginning = NOTHING if known is None else await known.of(asked)
        request = ModelRequest(kind, body, id, options.timeout, options.priority, options.tenant)

        def heard(event: Event) -> None:
            if event.kind == CHUNK:
                tell(str(event.data["text"]))
            else:
                hear(event)

        answered = self.pool.call(request, heard, beginning, lambda place: begun())
        reply = await _in_time(answered, options.timeout)
        return Written(reply.value, reply.written)


async def _in_time(answered: Awaitable[Reply], seconds: float | None) -> Reply:
    """Wait for a worker's answer. Raises SglError where there is none in time."""
    try:
        async with asyncio.timeout(None if seconds is None else seconds + LATE):
            return await answered
    except TimeoutError:
        late = f"no worker was free within {seconds or 0:g} s"
        raise SglError("Timeout", late, fatal=True) from None


@dataclass(slots=True)
class OnWorkers:
    """What is to be on workers: `setups` are programs, `alone` are models without one, on an `engine` each.
    A worker does `room` times as many calls as suit its engine."""

    cluster: ClusterOptions
    room: int
    setups: list[ProgramSetup] = field(default_factory=list)
    alone: tuple[str, ...] = ()
    engine: EngineOptions = field(default_factory=EngineOptions)
    beginnings: dict[str, Beginnings | None] = field(default_factory=dict)

    def add(self, file: Path, program: Program, calls: Sequence[Call]) -> None:
        """A program with its public functions. Raises ArgumentError for what cannot go to workers."""
        assert self.cluster.sizes is not None
        asks = any(call.code.kind != "pure" for call in calls)
        models = {MAIN: calls[0].model, **calls[0].models} if asks else {}
        setup = program_setup(program, models, calls[0].known, str(file.resolve()), calls[0].access)
        if not self.setups:
            self.engine = calls[0].engine
        self.setups.append(setup)
        known = beginnings_of(setup, self.cluster.sizes)
        self.beginnings |= {call.code.name: known for call in calls}

    def open(self, tracer: CallTracer | None) -> tuple[PoolPerformer, PoolModels]:
        """What has functions performed and requests answered. The pool is not open yet. Raises ArgumentError
        where there can be none."""
        sizes = self.cluster.sizes
        assert sizes is not None
        engine = self.engine
        if not self.cluster.cluster:
            engine = divided(engine, sizes, self.cluster.parallel)
        whole = WorkerSetup(tuple(self.setups), engine, room=self.room, metrics=True, alone=self.alone)
        pool = open_pool(whole, self.cluster)
        models = [each for setup in self.setups for chain in setup.models.values() for each in chain]
        tokenizers = {each: tokenizer_of(each, sizes) for each in (*models, *self.alone)}
        known = {model: RequestBeginnings(found) for model, found in tokenizers.items() if found is not None}
        return PoolPerformer(pool, self.beginnings, tracer), PoolModels(pool, known)
