"""Spans of calls that workers run: the call's own one, and below it those of each run in a worker.

They are made of the events that workers tell, in the process that was asked, so that one place writes all. A
call has more than one run where a worker dies: then the run ends with the error `Died`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.metrics.spans import RunSpans, traceparent_of
from sglc.runtime.vm.state.trace import Event

DIED = "Died"
CANCELLED = "Cancelled"


class CallSpans:
    """The spans of one call. Hears the events of its runs."""

    def __init__(self, tracer: Tracer, model: str, function: str, seed: int, span: Span, texts: bool) -> None:
        self._tracer = tracer
        self._model = model
        self._function = function
        self._seed = seed
        self._span = span
        self._texts = texts
        self._place = ""
        self._run: RunSpans | None = None
        self.traceparent = traceparent_of(span)
        """The call's span as a header, for what a worker does below it."""

    def placed(self, place: int) -> None:
        """A worker begins it: the first, or another one after one that died."""
        self._give_up(DIED)
        self._place = str(place)
        self._span.add_event("placed", {"sglc.worker": self._place})

    def __call__(self, event: Event) -> None:
        if event.kind == "start":
            self._give_up(DIED)
            self._run = RunSpans(
                self._tracer,
                self._model,
                self._function,
                self._seed,
                texts=self._texts,
                parent=trace.set_span_in_context(self._span),
                began=event.time,
                attributes={"sglc.worker": self._place},
            )
        if self._run is not None and not self._run.ended:
            self._run(event)

    def end(self, error: str) -> None:
        """The call is answered, by an error or none."""
        self._give_up(error or CANCELLED)
        if error:
            self._span.set_attribute("error.type", error)
            self._span.set_status(Status(StatusCode.ERROR, error))
        self._span.end()

    def _give_up(self, error: str) -> None:
        if self._run is not None and not self._run.ended:
            self._run.give_up(error)


class CallTracer:
    """Makes the spans of calls, below the span that is current."""

    def __init__(self, tracer: Tracer, model: str, *, texts: bool = False) -> None:
        self._tracer = tracer
        self._model = model
        self._texts = texts

    @contextmanager
    def call(self, function: str, seed: int) -> Iterator[CallSpans]:
        """The spans of one call, which end with the block, by the error that it raises."""
        attributes = {"sglc.function": function, "sglc.seed": str(seed)}
        span = self._tracer.start_span(f"dispatch {function}", kind=SpanKind.CLIENT, attributes=attributes)
        made = CallSpans(self._tracer, self._model, function, seed, span, self._texts)
        try:
            yield made
        except BaseException as error:
            made.end(_name(error))
            raise
        made.end("")


def _name(error: BaseException) -> str:
    if isinstance(error, SglError):
        return error.name
    if isinstance(error, ArgumentError):
        return "Arguments"
    return "Internal" if isinstance(error, Exception) else CANCELLED
