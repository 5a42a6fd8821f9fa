"""What a server tells of itself: runs, queue, tenants, models and their breakers, memory. No text of anybody.

The holder of a key sees its own runs and its own tenant by name; other tenants are told as one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sglc.runtime.backends.exchange import BreakingBackend
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.metrics.engine_state import engine_state
from sglc.runtime.serve.access import Key
from sglc.runtime.serve.faces import Served
from sglc.runtime.serve.runs import Run

MOST_RUNS = 200
OTHERS = "(others)"
"""What tenants of other keys are called."""


def state_of(served: Served, key: Key, told: Sequence[Mapping[str, object]] = ()) -> dict[str, object]:
    """The server at this moment, as the holder of a key may see it. All counts are whole numbers, times are
    seconds. `told` is what workers tell of their engines."""
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
        "models": list(_models(served, told)),
        "memory": list(_memories(served, told)),
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


def _models(served: Served, told: Sequence[Mapping[str, object]]) -> Iterator[dict[str, object]]:
    for model in served.models:
        if not isinstance(model, RemoteModel):
            yield {"name": model.model.name, "where": "this machine", "breakers": []}
            continue
        found = model.backend.breakers() if isinstance(model.backend, BreakingBackend) else {}
        breakers = [
            {"endpoint": name, "state": state, "pause": pause} for name, (state, pause) in found.items()
        ]
        yield {"name": model.name, "where": "elsewhere", "breakers": breakers}
    for name, workers in Counter(str(each.get("model", "")) for each in told).items():
        where = "1 worker" if workers == 1 else f"{workers} workers"
        yield {"name": name, "where": where, "breakers": []}


def _memories(served: Served, told: Sequence[Mapping[str, object]]) -> Iterator[Mapping[str, object]]:
    own = (engine_state(model) for model in served.models if not isinstance(model, RemoteModel))
    return (each for each in (*own, *told) if "free" in each)
