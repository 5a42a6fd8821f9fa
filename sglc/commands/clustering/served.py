"""Functions of `sglc serve` on workers: the server checks, keys and queues; workers compute."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sglc.bytecode.code import Program
from sglc.commands.clustering.opening import beginnings_of, divided, open_pool, program_setup
from sglc.commands.clustering.options import ClusterOptions
from sglc.commands.running.execution import Call
from sglc.runtime.cluster.beginnings import Beginnings
from sglc.runtime.cluster.messages import Asked
from sglc.runtime.cluster.pool import Pool
from sglc.runtime.cluster.router import NOTHING
from sglc.runtime.cluster.setup import ProgramSetup, WorkerSetup
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.serve.functions import Answer
from sglc.runtime.serve.options import CallOptions
from sglc.runtime.vm.state.trace import Listener
from sglc.types.model_use import MAIN
from sglc.types.text.plain_json import write_json

LATE = 0.5
"""Seconds behind its time limit that a worker may tell how far a call came."""


@dataclass(frozen=True, slots=True)
class PoolPerformer:
    """Has functions of programs performed by workers. Implements `Performer`."""

    pool: Pool
    beginnings: Mapping[str, Beginnings | None]
    """By functions."""

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
        seconds = options.timeout
        try:
            async with asyncio.timeout(None if seconds is None else seconds + LATE):
                reply = await self.pool.call(asked, hear, beginning)
        except TimeoutError:
            late = f"no worker was free within {seconds:g} s"
            raise SglError("Timeout", late, fatal=True) from None
        return Answer(reply.value, reply.usage, reply.checks)


def performer_of(
    programs: Sequence[tuple[Path, Program, Sequence[Call]]], cluster: ClusterOptions, room: int
) -> PoolPerformer | None:
    """What performs the calls of programs, each with its public functions; None where no workers are asked
    for. Each worker does `room` times as many calls as suit its engine. The pool is not open yet. Raises
    ArgumentError for what cannot go to workers."""
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
        engine = divided(engine, cluster.sizes)
    return PoolPerformer(open_pool(WorkerSetup(tuple(setups), engine, room=room), cluster), beginnings)
