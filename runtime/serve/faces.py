"""Faces of a server: ways to its functions besides typed REST, such as gRPC, MCP or a queue of messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from starlette.routing import BaseRoute

from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.engine.base import Engine
from sglc.runtime.serve.access import Access
from sglc.runtime.serve.functions import FunctionTable
from sglc.runtime.serve.runs import Runs


@dataclass(frozen=True, slots=True)
class Served:
    """What a face gives access to: functions, their runs, and who may call."""

    table: FunctionTable
    runs: Runs
    access: Access
    models: tuple[Engine | RemoteModel, ...] = ()
    """Those that the functions run on, each once."""
    workers: Callable[[], Awaitable[Sequence[Mapping[str, object]]]] | None = None
    """Asks workers, where functions run there, for the states of their engines (see `engine_state`), each
    with the place of its `worker`."""


class Face(Protocol):
    """One way to the functions of a server. Each call is a run of `Served.runs`, so that turns, limits and
    the end of the server hold for all faces alike."""

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """What it answers over HTTP; nothing where it has a connection of its own."""

    def running(self) -> AbstractAsyncContextManager[Sequence[str]]:
        """All that it does beside the HTTP server: entered before requests are taken, left when all runs have
        ended. It gives the lines that tell where it is reached. Where `Runs.draining` holds it begins no run.
        Raises ArgumentError for what cannot be opened."""


MakeFace = Callable[[Served], Face]
"""Makes a face once the functions are there."""
