"""The event loop of this process's models, in a thread of its own, and the engines that are shared."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

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

    def submit(self, work: Coroutine[object, object, R]) -> Future[R]:
        """Run a coroutine there; from any thread."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="sglc", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait(self, work: Coroutine[object, object, R]) -> R:
        """Run a coroutine there and wait for it, from any other thread."""
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise


LOOP = BackgroundLoop()
_ENGINES: dict[tuple[str, EngineOptions], Engine] = {}
_REMOTE: dict[str, RemoteModel] = {}
_ENGINE_LOCK = threading.Lock()


def shared_models(
    model: str,
    options: EngineOptions,
    known: Sequence[ModelSettings] = (),
    wiring: Wiring | None = None,
) -> list[Engine | RemoteModel]:
    """A model of this process or elsewhere by its name, and behind it those that are asked where it fails;
    `known` are the models of a project. All are shared; one elsewhere that has a `wiring` is of its module
    alone. Raises ArgumentError."""
    from sglc.runtime.backends.filling.opening import links_of, opened

    found: list[Engine | RemoteModel] = []
    for link in links_of(model, known):
        if not link.elsewhere:
            found.append(shared_engine(link.name, options))
        elif wiring is not None:
            found.append(opened(link, wiring))
        else:
            with _ENGINE_LOCK:
                key = repr(link)
                if key not in _REMOTE:
                    _REMOTE[key] = opened(link)
                found.append(_REMOTE[key])
    return found


def shared_engine(model: str, options: EngineOptions) -> Engine:
    """The engine of a model; whoever names the same model and options shares it."""
    with _ENGINE_LOCK:
        engine = _ENGINES.get((model, options))
        if engine is None:
            from sglc.runtime.engine.load import load_engine

            engine = _ENGINES[model, options] = load_engine(model, **options.keywords())
        return engine
