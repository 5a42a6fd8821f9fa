"""Servers themselves, by addresses in the environment. Tests at them are skipped where none is given."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from sglc.runtime.backends.backend_settings import BackendSettings
from sglc.runtime.backends.exchange import Backend, BackendFault, Ending, Piece, Query, TextScore
from sglc.runtime.backends.registry import open_backend
from sglc.runtime.backends.transport import Timeouts

SERVERS = {
    "llama": "SGLC_LLAMA_SERVER",
    "vllm": "SGLC_VLLM_SERVER",
    "sglang": "SGLC_SGLANG_SERVER",
    "chat": "SGLC_CHAT_SERVER",
}
"""Kinds of backends, and the variables with their addresses; a name of a model stands behind a `#`."""


PATIENT = BackendSettings(timeouts=Timeouts(first=600.0, between=600.0, whole=1_200.0))
"""The machine of a server may have others to serve: a request that is sent again says nothing of it."""


def url_of(server: str) -> str:
    """The address of a server; skips the test where there is none."""
    url = os.environ.get(SERVERS[server], "")
    if not url:
        pytest.skip(f"{SERVERS[server]} is not set: the address of such a server")
    return url


def opened(server: str) -> Backend:
    """A backend of a server. Its connections belong to the first loop that uses them."""
    return open_backend(f"{server}:{url_of(server)}", PATIENT, os.environ)


def answered(server: str, query: Query) -> tuple[str, Ending, list[Piece]]:
    """Text and end of an answer, and its pieces. Raises BackendFault."""

    async def job() -> list[Any]:
        backend = opened(server)
        try:
            return [event async for event in backend.stream(query)]
        finally:
            await backend.close()

    *pieces, end = asyncio.run(job())
    return "".join(piece.text for piece in pieces), end, pieces


def fault_of(server: str, query: Query) -> BackendFault:
    """Why a server does not answer."""
    with pytest.raises(BackendFault) as caught:
        answered(server, query)
    return caught.value


def scored(server: str, query: Query, texts: list[str]) -> list[TextScore]:
    """Scores of texts."""

    async def job() -> list[TextScore]:
        backend = opened(server)
        try:
            return await backend.score(query, texts)
        finally:
            await backend.close()

    return asyncio.run(job())
