"""`sglc serve --workers` as a process, and what tests ask it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any


@dataclass
class Served:
    """A server with workers. `lines` are what it has written to stderr so far."""

    process: subprocess.Popen[str]
    port: int
    lines: list[str] = field(default_factory=list)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
        """One request on a connection of its own. A body that is no bytes is sent as JSON."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            sent = body if isinstance(body, bytes | None) else json.dumps(body)
            connection.request(method, path, sent, {"content-type": "application/json", **headers})
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def call(self, function: str, options: dict[str, Any] | None = None, **arguments: Any) -> tuple[int, Any]:
        body = {"arguments": arguments, "options": options or {}}
        status, found = self.ask("POST", f"/v1/functions/{function}", body)
        return status, json.loads(found)

    @property
    def workers(self) -> list[int]:
        parent = self.process.pid
        text = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
        return [int(each) for each in text.split()]


def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.02)


@contextmanager
def serving(program: Path | None, *options: str, workers: int = 2) -> Iterator[Served]:
    """Serve a program, or a model alone, with some workers, or without any. When the block ends, it is to end
    in peace, and its workers too."""
    files = [] if program is None else [str(program)]
    own = ["--workers", str(workers)] if workers else []
    command = [sys.executable, "-P", "-m", "sglc", "serve", *files, *options, "--port", "0", *own]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = re.search(r"at http://127\.0\.0\.1:(\d+)", process.stderr.readline())
        assert found is not None, process.stderr.read()
        server = Served(process, int(found[1]))
        reading = threading.Thread(target=server.lines.extend, args=(process.stderr,), daemon=True)
        reading.start()  # a pipe that nobody reads fills up
        yield server
        there = [] if process.poll() is not None else server.workers
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0, server.lines
        until(lambda: not any(Path(f"/proc/{each}").is_dir() for each in there), 10.0)
        reading.join(10)
    finally:
        process.kill()
        process.wait()
