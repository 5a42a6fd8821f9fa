"""What can be chosen about an engine: which executor, how many threads, how much memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sglc.runtime.kv.eviction import Policy

ExecutorKind = Literal["auto", "torch", "native"]
DISK_BYTES = 4 << 30
"""Most bytes of keys and values on disk, if nothing else is said."""


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """None leaves a choice to the engine."""

    executor: ExecutorKind = "auto"
    """`native` is the compiled step, for CPUs; `torch` runs the model code of transformers."""
    dtype: str | None = None
    """Numbers of the model, as for `load_model`."""
    threads: int | None = None
    """CPU threads of a step."""
    device: str = "cpu"
    """`cpu`, or a device of torch such as `cuda`."""
    kv_memory: int | None = None
    """Bytes of keys and values in memory; None is a quarter of what is free, at most 8 GiB."""
    kv_disk: Path | None = None
    """Folder for keys and values that memory has no room for."""
    kv_disk_bytes: int = DISK_BYTES
    speculate: bool | None = None
    """Whether likely tokens are computed ahead; None where results stay the same to the bit."""
    kv_eviction: Policy = "lru"
    """What goes first where memory is full: what was let go first (`lru`), or used least often (`lfu`)."""
    max_queue: int | None = None
    """Most requests that may wait for the model; one more gets `Backend` at once. None is no bound."""

    draft: str | None = None
    """The draft model: a name as of models, `layers:` and numbers, or None for none. See `draft_loading`."""

    def keywords(self) -> dict[str, Any]:
        """As `load_engine` takes them."""
        return {
            "executor": self.executor,
            "dtype": self.dtype,
            "threads": self.threads,
            "device": self.device,
            "memory": self.kv_memory,
            "disk": self.kv_disk,
            "disk_bytes": self.kv_disk_bytes,
            "speculate": self.speculate,
            "policy": self.kv_eviction,
            "max_queue": self.max_queue,
            "draft": self.draft,
        }
