"""The application: what is answered at which path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Scope
from starlette.websockets import WebSocket

from sglc.runtime.serve.access import Access
from sglc.runtime.serve.functions import FunctionTable
from sglc.runtime.serve.guard import LOCAL, NO_PROXIES, AsResponse, Guard, Proxies
from sglc.runtime.serve.problems import Problem, Refusal, internal
from sglc.runtime.serve.requests import problem_response
from sglc.runtime.serve.rest import CALLS, Rest
from sglc.runtime.serve.runs import Runs
from sglc.runtime.serve.websocket import Connection

OF_MCP = ("mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name")
"""Headers of the Model Context Protocol, for pages of browsers that speak it."""


@dataclass(frozen=True, slots=True)
class AppOptions:
    """How the application is reached. `hosts` are names that it answers to without keys besides those of its
    machine, `origins` pages of browsers that may call it, `metrics` writes Prometheus' text."""

    hosts: frozenset[str] = frozenset()
    origins: tuple[str, ...] = ()
    metrics: Callable[[], Awaitable[str]] | None = None
    routes: Sequence[BaseRoute] = field(default=())
    """Other faces on the same runs."""
    calls: Mapping[str, AsResponse] = field(default_factory=dict)
    """Paths of theirs at which a POST begins a run, and how they tell a refusal."""
    below: Callable[[str], AbstractContextManager[object]] | None = None
    """Enters the trace of a `traceparent`, for spans."""
    proxies: Proxies = NO_PROXIES
    """Who is believed where a request comes from."""
    unable: Callable[[], str] = str
    """Says why no call can be answered any more; empty while calls can."""


@dataclass(frozen=True, slots=True)
class Application:
    """What is served: `answer` is the application as ASGI has it, `refused` what is asked before it: see
    `Guard.refused`."""

    answer: ASGIApp
    refused: Callable[[Scope], Response | None]


def application(table: FunctionTable, runs: Runs, access: Access, options: AppOptions) -> Application:
    """The application of a table of functions."""

    async def healthy(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def ready(request: Request) -> Response:
        if runs.draining:
            return problem_response(Problem(503, "Ending", "the server is ending"))
        if why := options.unable():
            return problem_response(Problem(503, "Unable", why, hint="start the server again"))
        return PlainTextResponse("ready\n")

    async def metrics(request: Request) -> Response:
        if options.metrics is None:
            hint = "install the extra: pip install 'sglc[observe]'"
            return problem_response(Problem(501, "Missing", "metrics need prometheus-client", hint=hint))
        return PlainTextResponse(await options.metrics())

    async def socket(websocket: WebSocket) -> None:
        await Connection(websocket, table, runs).serve()

    routes: list[BaseRoute] = [
        Route("/healthz", healthy),
        Route("/readyz", ready),
        Route("/metrics", metrics),
        *Rest(table, runs, bool(access.keys)).routes,
        WebSocketRoute("/v1/ws", socket),
        *options.routes,
    ]
    routed = Starlette(routes=routes, exception_handlers=HANDLERS)
    routed.router.redirect_slashes = False  # its redirects have the address of the header `Host`
    app: ASGIApp = routed
    hosts: Collection[str] | None = None if access.keys else LOCAL | options.hosts
    calls = {CALLS: problem_response, **options.calls}
    app = guard = Guard(app, access, hosts, options.origins, runs, calls, options.below, options.proxies)
    if options.origins:
        app = CORSMiddleware(
            app,
            allow_origins=list(options.origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=[
                "authorization",
                "content-type",
                "last-event-id",
                "prefer",
                "traceparent",
                *OF_MCP,
            ],
            expose_headers=["location", "retry-after", OF_MCP[0]],
        )
    return Application(app, guard.refused)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return problem_response(error.problem)


async def _failed(request: Request, error: Exception) -> Response:
    """A fault of our own; the guard logs it."""
    return problem_response(internal(request.scope["state"]["number"]))


async def _unrouted(request: Request, error: Exception) -> Response:
    """What starlette says where nothing is at a path, as a problem."""
    assert isinstance(error, HTTPException)
    status = error.status_code if error.status_code in (404, 405) else 400
    name = {404: "NotFound", 405: "Method"}.get(status, "Arguments")
    response = problem_response(Problem(status, name, f"{request.method} finds nothing at this path"))
    response.headers.update(error.headers or {})
    return response


HANDLERS: Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    HTTPException: _unrouted,
    Refusal: _refused,
    Exception: _failed,
}
