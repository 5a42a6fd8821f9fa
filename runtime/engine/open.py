"""Opens an engine over an executor: the memory of the KV cache, and its tier on disk."""

from __future__ import annotations

import os
from pathlib import Path

from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.scheduling.schedule import StepLimits
from sglc.runtime.executor.plan import Executor, can_branch
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.kv.cache import KVCache
from sglc.runtime.kv.disk import DiskTier
from sglc.runtime.kv.eviction import Policy

SHARE = 4
"""Keys and values get one part in so many of the memory that is free, if nothing else is said."""
MOST_BYTES = 8 << 30
"""And no more than this."""


def open_engine(
    executor: Executor,
    *,
    memory: int | None = None,
    policy: Policy = "lru",
    disk: Path | None = None,
    disk_bytes: int = 4 << 30,
    disk_writes: bool = True,
    limits: StepLimits | None = None,
    max_queue: int | None = None,
    speculate: bool | None = None,
) -> BatchingEngine:
    """An engine over an executor, with its pool of blocks reserved.

    `memory` is how many bytes of keys and values are kept; None takes a quarter of what is free, and at most
    8 GiB. With `disk`, a folder, blocks that have to go are written there, `disk_bytes` of them at most,
    and read back when they are needed; without `disk_writes` the folder is only read. Raises ValueError if
    not even one block fits, MemoryError if the system refuses.
    """
    given = free_memory() // SHARE if memory is None else memory
    blocks = min(given, MOST_BYTES if memory is None else given) // executor.block_bytes
    if memory is None:
        blocks = max(blocks, -(-min(executor.context_length, 4096) // BLOCK_TOKENS))
    if blocks < 1:
        raise ValueError(
            f"{given} bytes hold no block of keys and values; one of this model takes {executor.block_bytes}"
        )
    executor.reserve(blocks)
    tier = None
    if disk is not None:
        tier = DiskTier(disk, disk_bytes, executor.identity, writes=disk_writes)
    cache = KVCache(
        blocks,
        executor.block_bytes,
        copy_block=executor.copy_block,
        policy=policy,
        disk=tier,
        read_block=executor.read_block,
        write_block=executor.write_block,
        read_places=executor.read_places if can_branch(executor) else None,
        write_places=executor.write_places if can_branch(executor) else None,
    )
    return BatchingEngine(executor, cache, limits=limits, max_queue=max_queue, speculate=speculate)


def free_memory() -> int:
    """Bytes of memory that are available now, in this container if it has a limit; 4 GiB if nothing tells."""
    return min([_free_of_system(), *_free_of_group()])


def _free_of_group() -> list[int]:
    """What the limit of the control group leaves (cgroup v2), in a list; empty without a limit."""
    group = Path("/sys/fs/cgroup")
    try:
        limit = int((group / "memory.max").read_text(encoding="ascii"))  # "max" is no limit
        used = int((group / "memory.current").read_text(encoding="ascii"))
        for line in (group / "memory.stat").read_text(encoding="ascii").splitlines():
            name, _, number = line.partition(" ")
            if name == "inactive_file":
                used -= int(number)
    except (OSError, ValueError):
        return []
    return [max(limit - used, 0)]


def _free_of_system() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 4 << 30
