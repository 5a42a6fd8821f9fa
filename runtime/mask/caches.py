"""What the process keeps between constraints, and how to forget it."""

from __future__ import annotations

from sglc.automata import caches
from sglc.automata.caches import limit_caches as limit_caches
from sglc.runtime.mask import workspaces


def clear_caches() -> None:
    """Forget what no living constraint, matcher or vocabulary holds: the tables and masks that constraints
    have shared, and the automata of patterns, numbers and strings. Results are the same; what is needed again
    is found again.

    Memory that nothing refers to in a cycle is free at once; the rest when the garbage collector has looked
    (`gc.collect()`).
    """
    workspaces.clear()
    caches.clear_caches()
