"""Typed calls over HTTP: a function's arguments in, its value or its events out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sglc.runtime.errors import ArgumentError
from sglc.runtime.serve.access import Key
from sglc.runtime.serve.event_stream import MEDIA_TYPE, EventStream
from sglc.runtime.serve.functions import FunctionTable, OfTable
from sglc.runtime.serve.openapi import document
from sglc.runtime.serve.options import CallOptions, call_options
from sglc.runtime.serve.problems import Refusal, of_arguments, refusal
from sglc.runtime.serve.requests import json_body, json_response, members, problem_response
from sglc.runtime.serve.runs import Run, Runs
from sglc.types.text.plain_json import write_json

CALLS = "/v1/functions/"
LAST = "last-event-id"
MOST_EVENT = 10**9


class Rest:
    """Handlers of `/v1/functions`, `/v1/runs` and `/openapi.json`."""

    def __init__(self, table: FunctionTable, runs: Runs, keyed: bool) -> None:
        self._table = table
        self._runs = runs
        self._document = OfTable(table, partial(document, keyed=keyed))

    @property
    def routes(self) -> list[Route]:
        """What it answers."""
        return [
            Route("/openapi.json", self.openapi, methods=["GET"]),
            Route("/v1/functions", self.list, methods=["GET"]),
            Route(CALLS + "{name}", self.call, methods=["POST"]),
            Route("/v1/runs/{id}", self.watch, methods=["GET"]),
            Route("/v1/runs/{id}", self.cancel, methods=["DELETE"]),
        ]

    async def openapi(self, request: Request) -> Response:
        """The description of all functions, OpenAPI 3.1."""
        return json_response(self._document.now)

    async def list(self, request: Request) -> Response:
        """The functions by name, with their signatures and comments."""
        found = [
            {"name": each.name, "signature": each.signature, "description": each.code.doc}
            for each in self._table.by_name.values()
        ]
        return json_response(write_json({"functions": found}))

    async def call(self, request: Request) -> Response | EventStream:
        """Run a function: its value, or events where the client accepts these before all."""
        self._runs.check()
        try:
            function = self._table.get(request.path_params["name"])
        except ArgumentError as error:
            raise Refusal(of_arguments(error)) from None
        limits = self._runs.limits
        body = await json_body(request, limits.body)
        members(body, "arguments", "options")
        arguments = body.get("arguments", {})
        if not isinstance(arguments, dict):
            raise refusal(400, "Arguments", "`arguments` is a JSON object")
        options = call_options(body.get("options"), limits)
        streamed = wants_events(request)
        later = "respond-async" in request.headers.get("prefer", "").lower()
        if later and not options.keep:
            options = _kept(options, limits.keep)
        run = self._runs.start(function, arguments, options, key_of(request), told=streamed or later)
        if later:
            self._runs.enter(run)
            self._runs.leave(run)
            return json_response(_state(run), 202, {"location": f"/v1/runs/{run.id}"})
        if streamed:
            return EventStream(self._runs, run)
        return await self._answer(request, run)

    async def watch(self, request: Request) -> Response | EventStream:
        """A run that is kept: its events after the last that the client has, or how it stands."""
        run = self._runs.find(request.path_params["id"], key_of(request))
        if not wants_events(request):
            return self._standing(run)
        last = request.headers.get(LAST, "0")
        if not last.isdecimal() or int(last[:12]) > MOST_EVENT:
            raise refusal(400, "Arguments", "`Last-Event-ID` is the id of an event: a whole number")
        return EventStream(self._runs, run, int(last))

    async def cancel(self, request: Request) -> Response:
        """End a run at its next token; one that has ended is kept no more."""
        self._runs.end(self._runs.find(request.path_params["id"], key_of(request)))
        return Response(status_code=204)

    async def _answer(self, request: Request, run: Run) -> Response:
        await self._runs.attend(run, request.receive)
        return self._standing(run)

    def _standing(self, run: Run) -> Response:
        """How a run stands: its answer, where it has ended."""
        if run.answer is None:
            return json_response(_state(run), 202)
        self._runs.had(run)
        return _answered(run)


def wants_events(request: Request) -> bool:
    """Whether a client accepts events, and says so before JSON."""
    accepted = [
        part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")
    ]
    return MEDIA_TYPE in accepted and "application/json" not in accepted[: accepted.index(MEDIA_TYPE)]


def key_of(request: Request) -> Key:
    """The key that the request was let in by."""
    key: Key = request.scope["state"]["key"]
    return key


def _state(run: Run) -> str:
    return write_json({"id": run.id, "state": "ended" if run.ended else "running"})


def _answered(run: Run) -> Response:
    assert run.answer is not None
    problem = run.answer.problem
    text = run.answer.text(run.id)
    return json_response(text) if problem is None else problem_response(problem, text)


def _kept(options: CallOptions, seconds: float) -> CallOptions:
    return replace(options, keep=seconds)
