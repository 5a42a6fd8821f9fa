"""Loads the engine that serves a model, by the model's name."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.scheduling.schedule import StepLimits
from sglc.runtime.executor.choose import Kind, load_executor
from sglc.runtime.kv.eviction import Policy
from sglc.runtime.model.load import DEFAULT, load_model
from sglc.runtime.model.weights.convert import Progress
from sglc.runtime.model.weights.errors import ModelError


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
    speculate: bool | None = None,
    progress: Progress | None = None,
) -> Engine:
    """Load a model and open an engine over it; see `load_executor` and `open_engine` for what they mean.

    Scripted models (`scripted:FILE`) get the reference engine. Raises ModelError, also where memory or the
    folder on disk cannot be had as asked.
    """
    if policy not in get_args(Policy):
        raise ModelError("unknown order of eviction", policy, f"there are {', '.join(get_args(Policy))}")
    if name.startswith("scripted:"):
        from sglc.runtime.engine.reference_engine import ReferenceEngine

        return ReferenceEngine(load_model(name), max_queue=max_queue)
    loaded = load_executor(
        name, kind=executor, dtype=dtype, threads=threads, device=device, progress=progress
    )
    try:
        engine = open_engine(
            loaded,
            memory=memory,
            policy=policy,
            disk=disk,
            disk_bytes=disk_bytes,
            limits=limits,
            max_queue=max_queue,
            speculate=speculate,
        )
    except (ValueError, MemoryError) as error:
        loaded.close()
        raise ModelError(
            "there is no room for keys and values",
            name,
            str(error) or "the system gives no memory",
            "choose another size for them",
        ) from error
    tier = engine.cache.disk
    if tier is not None and tier.stats().write_faults:
        engine.close()
        raise ModelError(
            "the folder for keys and values cannot be used", str(disk), "it cannot be made or read"
        )
    return engine
