"""What a server tells of itself: runs, queue, tenants, models and their breakers, memory. No text of anybody.

The holder of a key sees its own runs and its own tenant by name; other tenants are told as one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from sglc.runtime.backends.exchange import BreakingBackend
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.kv.tree import PrefixTree
from sglc.runtime.serve.access import Key
from sglc.runtime.serve.faces import Served
from sglc.runtime.serve.runs import Run

MOST_RUNS = 200
MOST_NODES = 20_000
"""Most nodes of a tree of prefixes that are looked at: a few milliseconds."""
MOST_LEVELS = 256
OTHERS = "(others)"
"""What tenants of other keys are called."""


def state_of(served: Served, key: Key) -> dict[str, object]:
    """The server at this moment, as the holder of a key may see it. All counts are whole numbers, times are
    seconds."""
    runs, admission = served.runs, served.runs.admission
    own = [run for run in runs.by_id.values() if run.key.name == key.name]
    return {
        "running": admission.running,
        "most_running": admission.most_running,
        "waiting": admission.waiting,
        "most_waiting": admission.most_waiting,
        "draining": runs.draining,
        "tokens": runs.tokens + sum(run.tokens for run in runs.going),
        "runs": [_run(run) for run in own[-MOST_RUNS:]],
        "tenants": _tenants(runs.going, key),
        "models": [_model(model) for model in served.models],
        "memory": list(_memories(served)),
    }


def _run(run: Run) -> dict[str, object]:
    state = "ended" if run.ended else "running" if run.placed else "waiting"
    return {
        "id": run.id,
        "function": run.function.name,
        "state": state,
        "tokens": run.tokens,
        "seconds": round(time.monotonic() - run.called_at, 3),
    }


def _tenants(going: list[Run], key: Key) -> list[dict[str, object]]:
    counts: dict[str, list[int]] = {key.tenant: [0, 0]}
    for run in going:
        name = run.key.tenant if run.key.tenant == key.tenant else OTHERS
        counts.setdefault(name, [0, 0])[0 if run.placed else 1] += 1
    return [{"name": name, "running": some[0], "waiting": some[1]} for name, some in counts.items()]


def _model(model: Engine | RemoteModel) -> dict[str, object]:
    if not isinstance(model, RemoteModel):
        return {"name": model.model.name, "where": "this machine", "breakers": []}
    found = model.backend.breakers() if isinstance(model.backend, BreakingBackend) else {}
    breakers = [{"endpoint": name, "state": state, "pause": pause} for name, (state, pause) in found.items()]
    return {"name": model.name, "where": "elsewhere", "breakers": breakers}


def _memories(served: Served) -> Iterator[dict[str, object]]:
    for engine in served.models:
        if isinstance(engine, RemoteModel) or (stats := engine.get_cache_stats()) is None:
            continue
        levels = _levels(engine.cache.tree) if isinstance(engine, BatchingEngine) else []
        yield {
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
