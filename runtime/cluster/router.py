"""Which worker gets a call: the one that has read most of its beginning, unless it has far too much to do.

The rule is that of routers of inference servers (SGLang's cache-aware router; Ray Serve's
`PrefixCacheAffinityRouter`), with three differences: beginnings are the call's own tokens, workers say what
has left their memory, and a worker that has read a beginning may have as many calls more than another as
write what that other one would first have to read. Else one of two workers that are drawn gets it
(Mitzenmacher, 2001): the less loaded one, or, where both have about as much to do, the one that has read
less: beginnings are divided evenly.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from sglc.runtime.cluster.prefix_tree import ReadPrefixes
from sglc.runtime.kv.blocks import BLOCK_TOKENS

LEAST_MATCH = 0.1
"""Least share of a beginning that a worker must have read to be preferred."""
TIMES = 1.5
"""A worker is overloaded that has more than so many times the calls of the one that has least, and more than
its leeway besides, while …"""
STARVING = 0.5
"""… that other one does less than this share of what it can do at a time. Else nothing is won: each of them
has enough to do, and one more beginning would be computed twice."""
ROUNDS = 2
"""The most leeway, in rounds of a worker's width: more calls than that are too many, whatever the other one
would have to read."""
WRITTEN = 16.0
"""Tokens that a call is taken to write before any has been answered."""
LEARNED = 1 / 16
"""The weight of a call in the mean of what calls write."""
Rule = Literal["affinity", "round robin"]
"""Round robin is there to be measured beside."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a call's first request begins with: names of its whole blocks, and how many tokens it has."""

    names: tuple[bytes, ...] = ()
    tokens: int = 0

    @property
    def enough(self) -> int:
        """The fewest blocks of it that a worker must have read to be preferred."""
        return max(1, ceil(LEAST_MATCH * self.tokens / BLOCK_TOKENS))

    @property
    def mark(self) -> bytes:
        """The block up to which a worker must have read it to be preferred; empty where nothing is known."""
        return self.names[min(self.enough, len(self.names)) - 1] if self.names else b""


NOTHING = Beginning()
"""Of a call of which nothing is known."""


def is_overloaded(load: int, least: int, width: int, leeway: float) -> bool:
    """Whether a worker with `load` calls has far more to do than one with `least`, which can do `width` at a
    time and could do with more. Up to `leeway` more calls are none too many."""
    return load > max(TIMES * least, least + leeway) and least < max(1.0, STARVING * width)


class Router:
    """Chooses workers for calls, and keeps account of what they have read."""

    def __init__(self, seed: int = 0, rule: Rule = "affinity") -> None:
        self.read = ReadPrefixes()
        self._draws = random.Random(seed)
        self._rule = rule
        self._turn = 0
        self._written = WRITTEN
        """The mean of the tokens that calls write, the latest weighing most."""

    def choose(self, beginning: Beginning, loads: Mapping[int, int], width: int) -> int:
        """The worker of a call, by how many calls each has (there must be one); it reads the beginning. Each
        does `width` calls at a time."""
        if self._rule == "round robin":
            self._turn += 1
            return sorted(loads)[self._turn % len(loads)]
        chosen = self._preferred(beginning, loads, width)
        if chosen is None:
            chosen = self._drawn(beginning, loads, width)
        self.read.note(chosen, beginning.names)
        return chosen

    def answered(self, tokens: int) -> None:
        """A call is answered, which has written some tokens."""
        self._written += LEARNED * (tokens - self._written)

    def leeway(self, tokens: int, width: int) -> float:
        """How many more calls than another a worker may have, if the other one would first have to read some
        tokens: so many calls write as much. Reading a token takes no longer than writing one."""
        return min(ROUNDS * width, max(1.0, tokens / max(1.0, self._written)))

    def knows(self, worker: int, beginning: Beginning) -> bool:
        """Whether a worker has read enough of a beginning to be preferred for it."""
        return worker in self.read.matches(beginning.names, beginning.enough)

    def _preferred(self, beginning: Beginning, loads: Mapping[int, int], width: int) -> int | None:
        """The worker that has read most, where that is worth it and it has time."""
        read = self.read.matches(beginning.names, beginning.enough)
        matched = {worker: blocks for worker, blocks in read.items() if worker in loads}
        if not matched:
            return None
        best = min(matched, key=lambda worker: (-matched[worker], loads[worker], worker))
        least = min(loads.values())
        idle = [worker for worker, load in loads.items() if load == least]
        other = min(idle, key=lambda worker: (-matched.get(worker, 0), worker))
        missing = (matched[best] - matched.get(other, 0)) * BLOCK_TOKENS
        if not is_overloaded(loads[best], least, width, self.leeway(missing, width)):
            return best
        return other if other in matched else None

    def _drawn(self, beginning: Beginning, loads: Mapping[int, int], width: int) -> int:
        """The less loaded of two, or the one that has read less where both have about as much to do."""
        workers: Sequence[int] = sorted(loads)
        if len(workers) == 1:
            return workers[0]
        first, second = self._draws.sample(workers, 2)
        leeway = self.leeway(beginning.tokens, width)
        if beginning.names and abs(loads[first] - loads[second]) <= leeway:
            held = self.read.held
            return min((first, second), key=lambda worker: (held[worker], loads[worker]))
        return second if loads[second] < loads[first] else first
