"""Loads the engine that serves a model, by the model's name."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import get_args

from sglc.cache_files import cache_folder
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.draft_loading import NO_DRAFT, check_draft, load_draft
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.scheduling.schedule import StepLimits
from sglc.runtime.executor.choose import Kind, load_executor
from sglc.runtime.kv.eviction import Policy
from sglc.runtime.model.load import DEFAULT, load_model
from sglc.runtime.model.weights.convert import Progress
from sglc.runtime.model.weights.errors import ModelError

PREFILL_BYTES = 256 << 20
"""Most bytes of keys and values that `sglc build --prefill` keeps, of all programs and models: some 19,000
tokens of SmolLM2-135M. An engine looks at each file of the folder when it is opened."""


def prefill_folder() -> Path:
    """Where `sglc build --prefill` keeps keys and values of what conversations begin with."""
    return cache_folder() / "beginnings"


def prefilled_folder() -> Path | None:
    """The same if there is anything."""
    folder = prefill_folder()
    return folder if folder.is_dir() else None


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
    draft: str | None = None,
    progress: Progress | None = None,
) -> Engine:
    """Load a model and open an engine over it; see `load_executor` and `open_engine` for what they mean.

    `draft` names a draft model (see `draft_loading`). It gets the same executor and options.
    Without `disk` the engine reads what `sglc build --prefill` has kept, and writes nothing. Scripted models
    (`scripted:FILE`) get the reference engine. Raises ModelError, also where memory or the
    folder on disk cannot be had as asked.
    """
    if policy not in get_args(Policy):
        raise ModelError("unknown order of eviction", policy, f"there are {', '.join(get_args(Policy))}")
    draft = None if draft == NO_DRAFT else draft
    if draft is not None:
        check_draft(name, draft, speculate)
    if name.startswith("scripted:"):
        from sglc.runtime.engine.reference_engine import ReferenceEngine

        return ReferenceEngine(load_model(name), max_queue=max_queue)
    load = partial(
        load_executor, kind=executor, dtype=dtype, threads=threads, device=device, progress=progress
    )
    loaded = load(name)
    try:
        engine = open_engine(
            loaded,
            memory=memory,
            policy=policy,
            disk=disk or prefilled_folder(),
            disk_bytes=disk_bytes,
            disk_writes=disk is not None,
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
    if disk is not None and tier is not None and tier.stats().write_faults:
        engine.close()
        raise ModelError(
            "the folder for keys and values cannot be used", str(disk), "it cannot be made or read"
        )
    if draft is not None:
        try:
            engine.draft = load_draft(engine, name, draft, load, limits)
        except BaseException:
            engine.close()
            raise
    return engine
