"""Functions of `sglc serve` on workers: the server checks, keys and queues; workers compute."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sglc.bytecode.code import Program
from sglc.commands.clustering.opening import beginnings_of, divided, open_pool, program_setup
from sglc.commands.clustering.options import ClusterOptions
from sglc.commands.running.execution import Call
from sglc.runtime.cluster.beginnings import Beginnings
from sglc.runtime.cluster.messages import Asked, Reply
from sglc.runtime.cluster.pool import Pool
from sglc.runtime.cluster.router import NOTHING, Beginning
from sglc.runtime.cluster.setup import ProgramSetup, WorkerSetup
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.serve.functions import Answer
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
        seconds = asked.timeout
        try:
            async with asyncio.timeout(None if seconds is None else seconds + LATE):
                if spans is None:
                    return await self.pool.call(asked, hear, beginning)

                def both(event: Event) -> None:
                    spans(event)
                    hear(event)

                asked = replace(asked, traceparent=spans.traceparent)
                return await self.pool.call(asked, both, beginning, spans.placed)
        except TimeoutError:
            late = f"no worker was free within {seconds or 0:g} s"
            raise SglError("Timeout", late, fatal=True) from None


def performer_of(
    programs: Sequence[tuple[Path, Program, Sequence[Call]]],
    cluster: ClusterOptions,
    room: int,
    tracer: CallTracer | None = None,
) -> PoolPerformer | None:
    """What performs the calls of programs, each with its public functions; None where no workers are asked
    for. Each worker does `room` times as many calls as suit its engine; `tracer` makes their spans. The pool
    is not open yet. Raises ArgumentError for what cannot go to workers."""
    if cluster.sizes is None:
        return None
    if not programs:
        raise ArgumentError(
            "E0840",
            "workers cannot serve a model alone",
            reason="they answer calls of functions",
            hint="give the file of a program, or leave --workers out",
        )
    setups: list[ProgramSetup] = []
    beginnings: dict[str, Beginnings | None] = {}
    for file, program, calls in programs:
        asks = any(call.code.kind != "pure" for call in calls)
        models = {MAIN: calls[0].model, **calls[0].models} if asks else {}
        setup = program_setup(program, models, calls[0].known, str(file.resolve()), calls[0].access)
        setups.append(setup)
        known = beginnings_of(setup, cluster.sizes)
        beginnings |= {call.code.name: known for call in calls}
    engine = programs[0][2][0].engine
    if not cluster.cluster:
        engine = divided(engine, cluster.sizes, cluster.parallel)
    whole = WorkerSetup(tuple(setups), engine, room=room, metrics=True)
    return PoolPerformer(open_pool(whole, cluster), beginnings, tracer)
