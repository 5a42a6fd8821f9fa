"""An engine as it is now: its model, and the memory of keys and values. Plain data, which can be sent."""

from __future__ import annotations

from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.kv.tree import PrefixTree

MOST_NODES = 20_000
"""Most nodes of a tree of prefixes that are looked at: a few milliseconds."""
MOST_LEVELS = 256


def engine_state(engine: Engine) -> dict[str, object]:
    """Its `model`, and of its memory, where it has one, blocks, evictions, the form of its tree of prefixes
    and what programs looked up and found. All counts are whole numbers."""
    stats = engine.get_cache_stats()
    if stats is None:
        return {"model": engine.model.name}
    levels = _levels(engine.cache.tree) if isinstance(engine, BatchingEngine) else []
    return {
        "model": engine.model.name,
        "free": stats.free,
        "cached": stats.cached,
        "held": stats.held,
        "evictions": stats.evictions,
        "nodes": sum(levels),
        "depth": len(levels),
        "widest": max(levels, default=0),
        "levels": levels[:MOST_LEVELS],
        "programs": [
            {"program": owner, "looked_up": share.tokens_looked_up, "reused": share.tokens_reused}
            for owner, share in stats.owners.items()
        ],
    }


def _levels(tree: PrefixTree) -> list[int]:
    """How many nodes each level of a tree has, from the top."""
    found: list[int] = []
    level = list(tree.root.children.values())
    while level and sum(found) < MOST_NODES:
        found.append(len(level))
        level = [child for node in level for child in node.children.values()]
    return found
