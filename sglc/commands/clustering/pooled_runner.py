"""Rows of `sglc run --data` on workers, as `Batch` has them run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import click

from sglc.commands.clustering.opening import beginnings_of, open_pool, rows_setup
from sglc.commands.clustering.options import ClusterOptions
from sglc.commands.clustering.pool_source import PoolSource
from sglc.commands.running.batch import Halted
from sglc.commands.running.execution import Call, Failed, Outcome, host_of
from sglc.commands.running.observing import Observer
from sglc.commands.shared.invocation import Invocation, counted, fail
from sglc.commands.shared.progress import Figures
from sglc.runtime.cluster.beginnings import Beginnings
from sglc.runtime.cluster.messages import Asked, Reply
from sglc.runtime.cluster.pool import Pool
from sglc.runtime.cluster.router import NOTHING, Beginning
from sglc.runtime.errors import ArgumentError, SglError, diagnostic_of
from sglc.runtime.served_models import check_names, check_unknown
from sglc.runtime.vm.state.trace import Event
from sglc.types.text.plain_json import dumps, write_json
from sglc.types.values import Value

R = TypeVar("R")
SPARE = 8
"""Rows for each worker that wait in the front, so that it gets those that suit it."""


class PooledRunner:
    """Runs calls of one function on workers; it has what `Batch` needs of a `Runner`."""

    def __init__(
        self,
        call: Call,
        pool: Pool,
        loop: asyncio.Runner,
        beginnings: Beginnings | None,
        observer: Observer,
    ) -> None:
        self._call = call
        self._observer = observer
        self._pool = pool
        self._loop = loop
        self._beginnings = beginnings
        self.width = pool.sizes.most * (pool.width + SPARE)
        """Rows that are worth knowing of: those that workers do, and some that wait for the right one."""

    @classmethod
    @contextmanager
    def open(
        cls,
        invocation: Invocation,
        call: Call,
        cluster: ClusterOptions,
        file: Path,
        concurrency: int | None,
        figures: Figures,
    ) -> Iterator[PooledRunner]:
        """Start workers; what cannot be had ends the command. When the block ends, so do the workers, and
        what is to be told of them is told."""
        assert cluster.sizes is not None

        def left() -> int:
            return figures.total - figures.finished

        invocation.stage = "starting workers"
        try:
            host_of(call)
            check_names(call.program, call.models)
            check_unknown(call.program, call.models)
            setup = rows_setup(call, str(file.resolve()), cluster, concurrency)
            pool = open_pool(setup, cluster)
            pool.coming = lambda: max(0, left() - pool.calls)
            beginnings = beginnings_of(setup.programs[0], cluster.sizes)
            observer = Observer(invocation, replace(call.observation, stats=""), call.model)
            source = PoolSource()
            with observer.watching(None, source=source), asyncio.Runner() as loop:
                try:
                    loop.run(pool.open())
                    source.begin(pool, loop.get_loop())
                    runner = cls(call, pool, loop, beginnings, observer)
                    yield runner
                    runner._tell()
                finally:
                    loop.run(pool.close(kill=left() > 0))
        except ArgumentError as problem:
            raise fail(invocation, problem.diagnostic()) from None

    def wait(self, work: Coroutine[object, object, R]) -> R:
        """Run a coroutine to its end, in the loop of the workers."""
        return self._loop.run(work)

    async def outcome(self, arguments: Mapping[str, Value], *, concurrency: int | None = None) -> Outcome:
        """How one run ends; see `Runner.outcome`. Raises WorkerFault for a fault of sglc
        itself, and Halted where no worker is left."""
        call = self._call
        beginning = NOTHING
        if self._beginnings is not None:
            beginning = await self._beginnings.of(call.code.name, arguments)
        ahead = call.concurrency if concurrency is None else concurrency
        limits = (call.seed, call.max_tokens, call.timeout)
        asked = Asked(call.code.name, self._written(arguments), *limits, ahead=ahead)
        try:
            reply = await self._reply(asked, beginning)
        except SglError as error:
            if self._pool.broken is not None and error.name == "Backend":
                raise Halted(self._pool.broken.diagnostic()) from None
            return Outcome(failed=Failed(error, diagnostic_of(error, call.program)))
        except ArgumentError as problem:
            return Outcome(failed=Failed(SglError("Failure", problem.message), problem.diagnostic()))
        return _outcome(reply)

    async def _reply(self, asked: Asked, beginning: Beginning) -> Reply:
        """What a worker answers; its events are told for spans alone. Raises what the call raises."""
        tracer = self._observer.calls
        if tracer is None:
            return await self._pool.call(asked, _unheard, beginning)
        with tracer.call(asked.function, asked.seed) as spans:
            asked = replace(asked, told=True, traceparent=spans.traceparent)
            return await self._pool.call(asked, spans, beginning, spans.placed)

    def refresh(self) -> None:
        """Write the file of metrics again, where one is wanted and it is time."""
        self._observer.refresh()

    @property
    def tokens(self) -> int:
        """Tokens of all values so far, as far as workers have told."""
        return self._pool.figures.get("tokens", 0)

    @property
    def hit_rate(self) -> float | None:
        """Share of prompt tokens that workers had; None where nothing is shared."""
        figures = self._pool.figures
        looked_up = figures.get("looked_up", 0)
        return figures["reused"] / looked_up if looked_up else None

    def _written(self, arguments: Mapping[str, Value]) -> str:
        """The arguments as the text of a JSON object, each by its type."""
        program = self._call.program
        types = {each.name: program.types[each.type] for each in self._call.code.parameters}
        parts = [
            f"{write_json(name)}: {dumps(value, types[name], program.table)}"
            for name, value in arguments.items()
        ]
        return "{" + ", ".join(parts) + "}"

    def _tell(self) -> None:
        """What it took, where that is asked for; of workers that died nothing is known."""
        stats, pool = self._call.observation.stats, self._pool
        if self._call.observation.metrics is not None:
            self._loop.run(pool.families())  # what the observer writes is what workers told last
        if not stats:
            return
        from sglc.commands.running.statistics import as_tables

        reports = self._loop.run(pool.reports())
        died = {"died": pool.deaths} if pool.deaths else {}
        if stats == "json":
            click.echo(json.dumps({"workers": reports, **died}), err=True)
            return
        for number, report in enumerate(reports, start=1):
            click.echo(f"worker {number} of {len(reports)}\n\n{as_tables(report, {})}\n", err=True)
        if died:
            click.echo(f"{counted(pool.deaths, 'worker')} died; what they did is not told", err=True)


def _unheard(event: Event) -> None:
    """Nobody listens to rows."""


def _outcome(reply: Reply) -> Outcome:
    return Outcome(written=reply.value, statistics=reply.usage, checks=reply.checks)
