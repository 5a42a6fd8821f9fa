"""A stand-in for Ray's client: actors are threads of this process, and the cluster may stop to answer.

It stops where the file that `FAKE_RAY_GONE` names is there. Then calls block as those of Ray's client do,
also where the last reference to a promise goes.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

GONE = Path(os.environ.get("FAKE_RAY_GONE", "/nonexistent/gone"))
FOREVER = 3600.0
BLOCKED: set[str] = set()
"""Names of threads in which a call has blocked."""
_connected = False


def _blocks() -> None:
    end = time.monotonic() + FOREVER
    if GONE.exists():
        BLOCKED.add(threading.current_thread().name)
    while GONE.exists() and time.monotonic() < end:
        time.sleep(0.01)


class _Promise:
    def __init__(self, work: Callable[[], object]) -> None:
        self._future: Future[object] = Future()
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: Callable[[], object]) -> None:
        try:
            found = work()
            _blocks()
            self._future.set_result(found)
        except Exception as problem:
            self._future.set_exception(problem)

    def future(self) -> Future[object]:
        return self._future

    def __del__(self) -> None:
        _blocks()


class _Method:
    def __init__(self, actor: object, name: str) -> None:
        self._actor, self._name = actor, name
        self._order = threading.Lock()

    def remote(self, *values: str) -> _Promise:
        work = getattr(self._actor, self._name)

        def one() -> object:
            with self._order:
                return work(*values)

        made = _Promise(one)
        if self._name == "put":
            made.future().result()  # so that the order is kept
        return made


class _Handle:
    def __init__(self, actor: object) -> None:
        self.put, self.take = _Method(actor, "put"), _Method(actor, "take")


class _Class:
    def __init__(self, made: type) -> None:
        self._made = made

    def remote(self) -> _Handle:
        _blocks()
        return _Handle(self._made())


def is_initialized() -> bool:
    return _connected


def init(**options: object) -> None:
    global _connected
    _connected = True


def shutdown() -> None:
    global _connected
    if _connected:
        _blocks()
    _connected = False


def kill(actor: _Handle) -> None:
    _blocks()


def remote(**options: object) -> Callable[[type], _Class]:
    return _Class


def method(*, concurrency_group: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    return lambda function: function


atexit.register(shutdown)
