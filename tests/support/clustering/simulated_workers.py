"""Workers in simulated time behind the real front: what they compute where calls have few beginnings.

A worker does some calls at a time (`width`), reads 1,000 tokens of a prompt a second, of a beginning once,
and answers within a drawn time of 0.1 to 0.5 seconds behind that.
"""

from __future__ import annotations

import asyncio
import random
import selectors
from dataclasses import dataclass, field

from sglc.runtime.cluster.links import Link
from sglc.runtime.cluster.messages import Asked, Reply, number_of, read, reply_line, written
from sglc.runtime.cluster.pool import Pool
from sglc.runtime.cluster.router import Beginning, Router, Rule
from sglc.runtime.cluster.scaling import Sizes
from sglc.runtime.kv.names import names_of
from sglc.runtime.vm.state.trace import Event

SHARED, QUESTION = 310, 20
"""Tokens of a beginning, and of what follows it."""
READ = 1000.0


class _Selector(selectors.SelectSelector):
    """Does not wait: time goes on by what would have been waited."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found and timeout:
            self.now += timeout
        return found


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.clock = _Selector()
        super().__init__(self.clock)

    def time(self) -> float:
        return self.clock.now


@dataclass(eq=False)
class Simulated:
    """A worker."""

    width: int
    pace: float
    draws: random.Random
    computed: int = 0
    busy: float = 0.0
    has: set[str] = field(default_factory=set)
    told: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    name: str = "simulated"

    def send(self, line: str) -> None:
        message = read(line)
        if "setup" in message:
            self.told.put_nowait(written(ready={"width": self.width, "shared": True}))
        elif "end" in message:
            self.told.put_nowait(None)
        elif "call" in message:
            house = str(message["arguments"])
            new = QUESTION + (SHARED if house not in self.has else 0)
            self.has.add(house)
            self.computed += new
            takes = self.pace * (new / READ + self.draws.uniform(0.1, 0.5))
            self.busy += takes
            number = number_of(message, "call")
            line = reply_line(number, Reply("1"))
            asyncio.get_running_loop().call_later(takes, self.told.put_nowait, line)

    async def receive(self) -> str | None:
        return await self.told.get()

    async def close(self, *, kill: bool = False) -> None:
        self.told.put_nowait(None)


@dataclass(frozen=True, slots=True)
class Traffic:
    """What is simulated: so many calls (`rows`) of each beginning, in random order; the second worker takes
    `slow` times as long as the others."""

    workers: int = 2
    rows: int = 12
    beginnings: int = 8
    width: int = 8
    slow: float = 1.0

    @property
    def least(self) -> int:
        """Tokens that one worker computes."""
        return self.beginnings * (SHARED + self.rows * QUESTION)


def simulated(traffic: Traffic, rule: Rule, seed: int) -> tuple[float, float]:
    """Tokens computed in relation to one worker, and the time in relation to that of work spread evenly."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        computed, seconds, best = runner.run(_measured(traffic, rule, seed))
    return computed / traffic.least, seconds / best


async def _measured(traffic: Traffic, rule: Rule, seed: int) -> tuple[int, float, float]:
    draws = random.Random(seed)
    workers, width = traffic.workers, traffic.width
    links: list[Simulated] = []

    async def start() -> Link:
        pace = traffic.slow if len(links) == 1 else 1.0
        links.append(Simulated(width, pace, random.Random(seed * 1000 + len(links))))
        return links[-1]

    pool = Pool(start, written(setup={}), Sizes(workers, workers), Router(seed, rule))
    await pool.open()
    houses = traffic.beginnings
    order = [house for house in range(houses) for _ in range(traffic.rows)]
    draws.shuffle(order)
    known = [Beginning(tuple(names_of([house] * SHARED)), SHARED) for house in range(houses)]
    loop = asyncio.get_running_loop()
    begun, waiting = loop.time(), iter(order)

    async def some() -> None:
        for house in waiting:
            await pool.call(Asked("f", str(house)), unheard, known[house])

    await asyncio.gather(*(some() for _ in range(workers * (width + 8))))
    seconds = loop.time() - begun
    await pool.close()
    busy = sum(each.busy for each in links)
    return sum(each.computed for each in links), seconds, busy / workers / width


def unheard(event: Event) -> None:
    """Nobody listens."""
