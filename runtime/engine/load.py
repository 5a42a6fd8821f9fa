"""From a model's name to an engine that serves it."""

from __future__ import annotations

from pathlib import Path

from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.schedule import StepLimits
from sglc.runtime.executor.choose import Kind, load_executor
from sglc.runtime.kv.eviction import Policy
from sglc.runtime.model.convert import Progress
from sglc.runtime.model.load import DEFAULT, load_model


def load_engine(
    name: str = DEFAULT,
    *,
    executor: Kind = "auto",
    dtype: str | None = None,
    threads: int | None = None,
    device: str = "cpu",
    memory: int | None = None,
    policy: Policy = "lru",
    disk: Path | None = None,
    disk_bytes: int = 4 << 30,
    limits: StepLimits | None = None,
    max_queue: int | None = None,
    progress: Progress | None = None,
) -> Engine:
    """Load a model and open an engine over it; see `load_executor` and `open_engine` for what they mean.

    Scripted models (`scripted:FILE`) get the simple engine. Raises ModelError, and ValueError where
    `memory` holds not even one block.
    """
    if name.startswith("scripted:"):
        from sglc.runtime.engine.engine import Engine as SimpleEngine

        return SimpleEngine(load_model(name), max_queue=max_queue)
    loaded = load_executor(
        name, kind=executor, dtype=dtype, threads=threads, device=device, progress=progress
    )
    return open_engine(
        loaded,
        memory=memory,
        policy=policy,
        disk=disk,
        disk_bytes=disk_bytes,
        limits=limits,
        max_queue=max_queue,
    )
