"""The page as a face of a server: its files below `/ui/`, and `/v1/state` for callers with a key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from sglc.runtime.serve.faces import Served
from sglc.runtime.serve.problems import refusal
from sglc.runtime.serve.requests import json_response
from sglc.runtime.serve.rest import key_of
from sglc.runtime.serve.ui.assets import MEDIA_TYPES, POLICY, assets
from sglc.runtime.serve.ui.state import state_of
from sglc.types.text.plain_json import write_json

HEADERS = {
    "content-security-policy": "; ".join((*POLICY, "frame-ancestors 'none'")),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class UiFace:
    """The page. Its files hold no data, so they are given out without a key; what they show is asked for with
    the key that is typed into the page."""

    def __init__(self, served: Served) -> None:
        self._served = served

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """The page, its files, and the state of the server."""
        return [
            Route("/ui", self.lead, methods=["GET"]),
            Route("/ui/", self.file, methods=["GET"]),
            Route("/ui/{name}", self.file, methods=["GET"]),
            Route("/v1/state", self.state, methods=["GET"]),
        ]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Sequence[str]]:
        """Nothing runs beside it."""
        yield ()

    async def lead(self, request: Request) -> Response:
        """To the page: its files are named relative to it."""
        return RedirectResponse("/ui/", 308, HEADERS)

    async def file(self, request: Request) -> Response:
        """A file of the page. Raises Refusal where there is none."""
        name = request.path_params.get("name", "index.html")
        found = assets().get(name)
        if found is None:
            raise refusal(404, "NotFound", "the page has no such file")
        if name == "index.html" and self._served.access.keys:
            found = found.replace(b'data-mode="serve"', b'data-mode="serve" data-keyed')  # it asks for one
        return Response(found, 200, HEADERS, MEDIA_TYPES["." + name.rpartition(".")[2]])

    async def state(self, request: Request) -> Response:
        """The server as it is now, as the holder of a key may see it."""
        told = () if self._served.workers is None else await self._served.workers()
        text = write_json(state_of(self._served, key_of(request), told))
        return json_response(text, headers={"cache-control": "no-store"})
