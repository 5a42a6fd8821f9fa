"""`sglc serve` that writes down how long each request took at the server.

    python -P tests/benchmarks/serving/timed_serve.py FILE sglc-arguments…

A time goes from the moment at which the server reads the first byte of a request to that at which it writes
the first of its answer: what waits in the network before, and what the client does, is not in it. At the end
FILE has a JSON list of pairs: status, seconds.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from sglc.cli import main
from sglc.runtime.serve import listening

TIMES: list[tuple[int, float]] = []


class _Transport:
    """A transport that notes when an answer begins."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.began: float | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write, and note the time where an answer begins."""
        if self.began is not None and data.startswith(b"HTTP/1.1 "):
            TIMES.append((int(data[9:12]), time.perf_counter() - self.began))
            self.began = None
        self._transport.write(data)


class _Timed(listening.BoundedProtocol):
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._noted = _Transport(transport)
        super().connection_made(self._noted)  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        if self._noted.began is None:
            self._noted.began = time.perf_counter()
        super().data_received(data)


if __name__ == "__main__":
    place, *arguments = sys.argv[1:]
    listening.BoundedProtocol = _Timed  # type: ignore[misc]
    try:
        code = main(arguments)
    finally:
        Path(place).write_text(json.dumps(TIMES), encoding="utf-8")
    sys.exit(code)
