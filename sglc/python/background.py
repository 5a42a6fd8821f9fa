"""The event loop of this process's models, in a thread of its own, and the engines that are shared."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from sglc.runtime.engine.core.options import EngineOptions

if TYPE_CHECKING:
    from sglc.project.models import ModelSettings
    from sglc.runtime.backends.filling.remote_model import RemoteModel
    from sglc.runtime.backends.recording.wiring import Wiring
    from sglc.runtime.engine.base import Engine

R = TypeVar("R")


class BackgroundLoop:
    """One event loop in a daemon thread, started at the first use and shared by all modules."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def submit(self, work: Coroutine[Any, Any, R]) -> Future[R]:
        """Run a coroutine there; from any thread."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="sglc", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait(self, work: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine there and wait for it, from any other thread."""
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise


LOOP = BackgroundLoop()
_ENGINES: dict[tuple[str, EngineOptions], Engine] = {}
_REMOTE: dict[tuple[str, str], RemoteModel] = {}
_ENGINE_LOCK = threading.Lock()


def shared_model(
    model: str,
    options: EngineOptions,
    known: Sequence[ModelSettings] = (),
    wiring: Wiring | None = None,
) -> Engine | RemoteModel:
    """A model of this process or elsewhere by its name, shared likewise; `known` are those of a project.
    One elsewhere that has a `wiring` is of its module alone. Raises ArgumentError."""
    from sglc.runtime.backends.filling.opening import is_elsewhere, opened

    if not is_elsewhere(model):
        return shared_engine(model, options)
    if wiring is not None:
        return opened(model, known, wiring)
    with _ENGINE_LOCK:
        key = (model, repr(known))
        if key not in _REMOTE:
            _REMOTE[key] = opened(model, known)
        return _REMOTE[key]


def shared_engine(model: str, options: EngineOptions) -> Engine:
    """The engine of a model; whoever names the same model and options shares it."""
    with _ENGINE_LOCK:
        engine = _ENGINES.get((model, options))
        if engine is None:
            from sglc.runtime.engine.load import load_engine

            engine = _ENGINES[model, options] = load_engine(model, **options.keywords())
        return engine
