"""Runs as OpenTelemetry spans: a run holds calls and holes, and so does a call, as they were nested.

Attributes of holes follow the semantic conventions for generative AI (opentelemetry.io, gen-ai spans); what
they have no name for begins with `sglc.`. Texts of prompts and values, arguments and messages of errors are
left out unless they are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sglc.runtime.metrics.packages import MissingPackage
from sglc.runtime.vm.state.trace import Event, Listener

try:
    from opentelemetry import trace
    from opentelemetry.context import Context, attach, detach
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, TracerProvider
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError as _missing:
    raise MissingPackage("opentelemetry-api", "writing spans") from _missing

PROVIDER = "sglc"
FINISH = {"budget": "length"}
"""Finish reasons of the conventions by how a hole ended; all others are `stop`."""


def tracer_of(provider: TracerProvider | None = None) -> Tracer:
    """The tracer of a provider; None is the process's own."""
    from sglc import __version__

    return trace.get_tracer(PROVIDER, __version__, provider)


def listening(tracer: Tracer, model: str, *, texts: bool = False) -> Callable[[str, int], Listener]:
    """For `Collector(listen=…)`: each run becomes a tree of spans below the span that is current."""
    return lambda function, seed: RunSpans(tracer, model, function, seed, texts=texts)


@contextmanager
def below(traceparent: str) -> Iterator[None]:
    """Spans that begin in the block are below this one of another process (W3C Trace Context); without one
    they begin a trace of their own."""
    parent = TraceContextTextMapPropagator().extract({"traceparent": traceparent}, Context())
    token = attach(parent)
    try:
        yield
    finally:
        detach(token)


def traceparent_of(span: Span) -> str:
    """The header by which another process hangs spans below this one; empty for one that nobody keeps."""
    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier, trace.set_span_in_context(span, Context()))
    return carrier.get("traceparent", "")


@dataclass(slots=True)
class _Open:
    """A run or a call that is going on; `messages` is what its conversation has so far, as (role, text)."""

    span: Span
    messages: list[tuple[str, str]] = field(default_factory=list)
    roles: bool = False


@dataclass(slots=True)
class _Hole:
    span: Span
    name: str
    before: list[tuple[str, str]]


class RunSpans:
    """Listens to the events of one run. Branches of a fork hang below what was open where they began.

    Spans begin and end when their events happened, which may be before they are told.
    """

    def __init__(
        self,
        tracer: Tracer,
        model: str,
        function: str,
        seed: int,
        *,
        texts: bool,
        parent: Context | None = None,
        began: int | None = None,
        attributes: Mapping[str, str] | None = None,
    ) -> None:
        """The run's span is below the one of `parent`, or below the current one; it began at `began`, in
        nanoseconds since 1970, or now. `attributes` are its own besides the usual ones."""
        self._tracer = tracer
        self._model = model
        self._seed = seed
        self._texts = texts
        usual = {"sglc.function": function, "sglc.seed": str(seed), "gen_ai.request.model": model}
        whole = tracer.start_span(
            f"run {function}",
            parent,
            SpanKind.INTERNAL,
            {**usual, **(attributes or {})},
            start_time=began,
        )
        self.ended = False
        """Whether the run's span has its end."""
        self._open: dict[str, list[_Open]] = {"": [_Open(whole)]}
        self._holes: dict[str, _Hole] = {}
        self._drawn: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._now = 0
        """The time of the event that is being heard, in nanoseconds."""

    def __call__(self, event: Event) -> None:
        data, branch = event.data, event.branch
        self._now = event.time
        match event.kind:
            case "start":
                self._top("").span.set_attribute("sglc.program", data["program"])
            case "role":
                top = self._top(branch)
                top.roles = True
                top.messages.append((data["role"], ""))
            case "text":
                self._write(branch, data["text"])
            case "call":
                self._call(branch, data["function"])
            case "return":
                self._left(branch, str(data.get("error", "")))
            case "hole_start":
                self._begin_hole(branch, data)
            case "hole_end":
                self._end_hole(branch, data)
            case "fallback":
                self._end_hole_by(branch, str(data["name"]))
            case "retry":
                self._top(branch).span.add_event("retry", {"sglc.hole": data["hole"]}, self._now)
                known = self._drawn.get((branch, data["hole"]))
                if known is not None:
                    self._top(branch).messages[:] = known
            case "fork":
                prefix = f"{branch}." if branch else ""
                for index in range(data["branches"]):
                    self._open.pop(f"{prefix}{index}", None)
            case "error":
                self._error(event)
            case "finish":
                self._finish(data)

    # -- calls ---------------------------------------------------------------------------------------

    def _stack(self, branch: str) -> list[_Open]:
        found = self._open.get(branch)
        if found is None:
            parent = self._stack(branch.rpartition(".")[0])[-1]
            found = self._open[branch] = [_Open(parent.span, list(parent.messages), parent.roles)]
        return found

    def _top(self, branch: str) -> _Open:
        return self._stack(branch)[-1]

    def _start(self, branch: str, name: str, attributes: Mapping[str, str]) -> Span:
        context = trace.set_span_in_context(self._top(branch).span)
        return self._tracer.start_span(name, context, SpanKind.INTERNAL, attributes, start_time=self._now)

    def _call(self, branch: str, function: str) -> None:
        span = self._start(branch, f"call {function}", {"sglc.function": function})
        self._stack(branch).append(_Open(span))

    def _left(self, branch: str, error: str) -> None:
        stack = self._stack(branch)
        if error:
            self._end_hole_by(branch, error)
        if len(stack) > 1:
            span = stack.pop().span
            if error:
                _fail(span, error)
            span.end(self._now)

    # -- holes ---------------------------------------------------------------------------------------

    def _write(self, branch: str, text: str) -> None:
        if self._texts:
            messages = self._top(branch).messages
            role, known = messages.pop() if messages else ("", "")
            messages.append((role, known + text))

    def _begin_hole(self, branch: str, data: Any) -> None:
        top = self._top(branch)
        operation = "chat" if top.roles else "text_completion"
        attributes = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": PROVIDER,
            "gen_ai.request.model": self._model,
            "gen_ai.response.model": self._model,
            "sglc.hole": data["hole"],
            "sglc.mode": data["mode"],
        }
        span = self._start(branch, f"{operation} {self._model}", attributes)
        before = list(top.messages)
        self._holes[branch] = _Hole(span, data["hole"], before)
        self._drawn[branch, data["hole"]] = before
        if self._texts and span.is_recording():
            span.set_attribute("gen_ai.input.messages", _messages(before))

    def _end_hole(self, branch: str, data: Any) -> None:
        hole = self._holes.pop(branch, None)
        if hole is None:
            return
        span, ended = hole.span, data["ended"]
        reason = FINISH.get(ended, "stop")
        span.set_attribute("gen_ai.response.finish_reasons", [reason])
        span.set_attribute("sglc.ended", ended)
        for key, name in (
            ("prompt", "gen_ai.usage.input_tokens"),
            ("tokens", "gen_ai.usage.output_tokens"),
            ("forced", "sglc.forced_tokens"),
            ("sampled", "sglc.sampled_tokens"),
        ):
            if key in data:
                span.set_attribute(name, data[key])
        if self._texts:
            answer = json.loads(_messages([("assistant", data["text"])]))
            answer[0]["finish_reason"] = reason
            span.set_attribute("gen_ai.output.messages", json.dumps(answer, ensure_ascii=False))
            self._write(branch, data["text"])
        span.end(self._now)

    # -- ends ----------------------------------------------------------------------------------------

    def _error(self, event: Event) -> None:
        data, name, branch = event.data, event.data["name"], event.branch
        if "skipped" in data:
            self._end_all(f"{branch}.{data['skipped']}" if branch else str(data["skipped"]), name)
            return
        if data["caught"]:
            self._end_hole_by(branch, name)
            for path in [path for path in self._open if path != branch and _below(path, branch)]:
                self._end_all(path, name)
            self._top(branch).span.add_event("caught", {"error.type": name}, self._now)
            return
        if self._texts:
            self._open[""][0].span.set_attribute("sglc.error", data["message"])
        self.give_up(name)

    def give_up(self, error: str) -> None:
        """End all that is open by an error, at the time of the last event."""
        for path in sorted(self._open, reverse=True):
            self._end_all(path, error)
        whole = self._open[""][0].span
        _fail(whole, error)
        whole.end(self._now or None)
        self.ended = True

    def _end_all(self, branch: str, error: str) -> None:
        """End the hole and the calls that are open in a branch."""
        self._end_hole_by(branch, error)
        while len(self._stack(branch)) > 1:
            self._left(branch, error)

    def _end_hole_by(self, branch: str, error: str) -> None:
        hole = self._holes.pop(branch, None)
        if hole is not None:
            _fail(hole.span, error)
            hole.span.end(self._now)

    def _finish(self, data: Any) -> None:
        whole = self._open[""][0].span
        whole.set_attribute("gen_ai.usage.output_tokens", data["tokens"])
        whole.set_attribute("sglc.forced_tokens", data["forced"])
        whole.set_attribute("sglc.forwards", data["forwards"])
        whole.end(self._now)
        self.ended = True


def _below(path: str, branch: str) -> bool:
    """Whether a path of fork indices is that branch or one that began in it."""
    return not branch or path == branch or path.startswith(f"{branch}.")


def _fail(span: Span, name: str) -> None:
    span.set_attribute("error.type", name)
    span.set_status(Status(StatusCode.ERROR, name))


def _messages(messages: list[tuple[str, str]]) -> str:
    """As the conventions have messages in an attribute: JSON with roles and parts."""
    made = [{"role": role or "user", "parts": [{"type": "text", "content": text}]} for role, text in messages]
    return json.dumps(made, ensure_ascii=False)
