"""What the front knows of its calls and its workers."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sglc.runtime.cluster.links import Link
from sglc.runtime.cluster.messages import Asked, ModelRequest, Reply
from sglc.runtime.cluster.router import Beginning
from sglc.runtime.metrics.families import Family, gauge, single
from sglc.runtime.metrics.workers import WORKER
from sglc.runtime.vm.state.trace import Listener

MOST_LOOKED_AT = 64
"""Calls that wait at one worker among which another looks for one that suits it."""


@dataclass(eq=False, slots=True)
class Call:
    """A call that has no answer yet. `gone_back` counts the workers that died while they did it; `placed` is
    told the place of each worker that begins it."""

    number: int
    asked: Asked | ModelRequest
    beginning: Beginning
    hear: Listener
    placed: Callable[[int], None]
    answered: asyncio.Future[Reply]
    gone_back: int = 0
    begun: float = 0.0


@dataclass(eq=False, slots=True)
class AttendedWorker:
    """A worker as the front has it: what it does (`open`), and what waits for it."""

    number: int
    place: int
    """Its number among those that live: the lowest that was free. Metrics go by it."""
    link: Link
    width: int = 0
    shared: bool = False
    """Whether its calls share keys and values, and it tells which of them leave."""
    ready: bool = False
    draining: bool = False
    open: dict[int, Call] = field(default_factory=dict)
    waiting: deque[Call] = field(default_factory=deque)
    figures: dict[str, int] = field(default_factory=dict)
    engines: list[dict[str, object]] = field(default_factory=list)
    """The states of its engines, as it told last (`engine_state`)."""
    promised: dict[str, asyncio.Future[object]] = field(default_factory=dict)
    """What it was asked to tell (`report`, `metrics`, `state`) and has not told yet."""
    task: asyncio.Task[None] | None = None

    @property
    def has_room(self) -> bool:
        """Whether it can begin a call."""
        return self.ready and len(self.open) < self.width

    @property
    def load(self) -> int:
        """Calls that it has."""
        return len(self.open) + len(self.waiting)


def families_of(workers: Iterable[AttendedWorker], deaths: int) -> list[Family]:
    """How many there are and what they do; so many have died."""
    found = sorted(workers, key=lambda each: each.place)
    live = gauge("sglc_workers", "Workers that live.", "state")
    calls = gauge("sglc_worker_calls", "Calls that have no answer yet.", WORKER, "state")
    for state, told in (("ready", True), ("starting", False)):
        live.add(sum(each.ready is told for each in found), state)
    for each in found:
        calls.add(len(each.open), str(each.place), "running")
        calls.add(len(each.waiting), str(each.place), "waiting")
    return [live, calls, single("counter", "sglc_worker_deaths", "Workers that died.", deaths)]


def free_place(workers: Iterable[AttendedWorker]) -> int:
    """The lowest place that none of them has."""
    taken = {each.place for each in workers}
    return next(place for place in range(len(taken) + 1) if place not in taken)


def most_alike(waiting: Sequence[Call]) -> Call:
    """Of the calls that wait the longest to come, the last one of those whose beginning most of them have:
    whoever reads it can then take the others, too."""
    seen = [*itertools.islice(reversed(waiting), MOST_LOOKED_AT)]
    often = Counter(each.beginning.mark for each in seen)
    return max(seen, key=lambda each: often[each.beginning.mark])


def add_figures(total: dict[str, int], more: Mapping[str, int]) -> None:
    """Add what one worker has done to what all have done."""
    for name, each in more.items():
        total[name] = total.get(name, 0) + each
