"""What a command tells about its work: figures at the end, metrics, spans."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglc.commands.running.run_options import Observation
from sglc.commands.shared.invocation import Invocation, fail, fault
from sglc.runtime.backends.filling.remote_model import RemoteModel, spent
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.metrics.packages import MissingPackage

if TYPE_CHECKING:
    from sglc.runtime.engine.base import Engine
    from sglc.runtime.metrics.call_spans import CallTracer
    from sglc.runtime.metrics.families import Source
    from sglc.runtime.vm.state.trace import Listener

REFRESH = 10.0
"""Seconds after which a file of metrics is written again while rows are run."""
GLOBAL = "global"


class Observer:
    """Collects figures and hands them on. `collector` is the recorder of the session."""

    def __init__(self, invocation: Invocation, observation: Observation, model: str) -> None:
        """Opens what spans are written to. Raises CommandFailed, having said why."""
        self._invocation = invocation
        self._observation = observation
        self._exits = ExitStack()
        self._engine: Engine | None = None
        self._models: dict[str, Engine] = {}
        self._remote: list[RemoteModel] = []
        self._written = 0.0
        self._write: Callable[[], None] | None = None
        self.calls: CallTracer | None = None
        """What makes the spans of calls that other processes run, where spans are asked for."""
        self.collector = Collector(self._listen(model), weighed=bool(observation.stats))

    @contextmanager
    def watching(
        self,
        engine: Engine | None,
        models: Mapping[str, Engine] | None = None,
        remote: Sequence[RemoteModel] = (),
        source: Source | None = None,
    ) -> Iterator[None]:
        """Serve or write metrics of an engine while the block runs; figures are told when it ends,
        also of the `models` that the program names, and of models elsewhere (`remote`). With a `source`
        metrics are those that it has, of other processes."""
        self._engine, self._models, self._remote = engine, dict(models or {}), list(remote)
        with self._exits:
            self._metrics(source)
            try:
                yield
            finally:
                problem = self.refresh(0.0)
                self._tell()
                if problem is not None:
                    click.echo(f"{self._observation.metrics} could not be written: {problem}", err=True)

    def refresh(self, after: float = REFRESH) -> str | None:
        """Write the file of metrics again, if so many seconds have gone by; why it cannot be written."""
        if self._write is not None and time.monotonic() - self._written >= after:
            self._written = time.monotonic()
            try:
                self._write()
            except OSError as problem:
                return problem.strerror or str(problem)
        return None

    # -- parts ---------------------------------------------------------------------------------------

    def _listen(self, model: str) -> Callable[[str, int], Listener] | None:
        spans = self._observation.spans
        if not spans:
            return None
        try:
            from sglc.runtime.metrics.call_spans import CallTracer
            from sglc.runtime.metrics.spans import listening, tracer_of

            if spans == GLOBAL:
                tracer = tracer_of()
            else:
                from sglc.runtime.metrics.span_files import file_provider

                provider, close = file_provider(Path(spans))
                self._exits.callback(close)
                tracer = tracer_of(provider)
        except MissingPackage as missing:
            raise self._missing(missing) from None
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise fail(
                self._invocation, fault("E0805", f"{spans} cannot be written", reason=reason)
            ) from None
        texts = self._observation.span_texts
        self.calls = CallTracer(tracer, model, texts=texts)
        return listening(tracer, model, texts=texts)

    def _metrics(self, given: Source | None) -> None:
        target = self._observation.metrics
        if target is None:
            return
        try:
            from sglc.runtime.metrics import prometheus
            from sglc.runtime.metrics.families import MetricsSource
        except MissingPackage as missing:
            raise self._missing(missing) from None
        source = given or MetricsSource(self.collector, self._engine, self._models)
        try:
            if isinstance(target, Path):
                self._write = lambda: prometheus.write(source, target)
                self._write()
            else:
                self._exits.callback(prometheus.serve(source, *target))
        except OSError as problem:
            self._write = None
            reason = problem.strerror or str(problem)
            if isinstance(target, Path):
                found = fault("E0805", f"{target} cannot be written", reason=reason)
            else:
                address = f"{target[0]}:{target[1]}"
                found = fault("E0811", f"metrics cannot be served at {address}", reason=reason)
            raise fail(self._invocation, found) from None

    def _missing(self, missing: MissingPackage) -> Exception:
        return fail(self._invocation, fault("E0812", str(missing), hint=missing.hint))

    def _tell(self) -> None:
        if not self._observation.stats:
            return
        from sglc.commands.running.statistics import as_json, as_tables
        from sglc.runtime.metrics.report import report

        startup = self._invocation.startup
        start = dict(startup.parts)
        first = self.collector.first_hole
        if first is not None:
            start["first prompt"] = first[1] - first[0]
            start["until the first token"] = first[1] - startup.began
        draw = as_json if self._observation.stats == "json" else as_tables
        backends = spent(self._remote)
        click.echo(draw(report(self.collector, self._engine, self._models, backends), start), err=True)
