"""Tokens that stay where they are: they lead from a configuration back to it."""

from __future__ import annotations

import numpy as np

from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import ACCEPT
from sglc.runtime.mask.search.merge_lexemes import SearchGroup
from sglc.runtime.mask.vocabulary.token_classes import Columns


def staying(machine: Machine, columns: Columns, config: int, group: SearchGroup) -> np.ndarray | None:
    """Which tokens (a mask row) lead from a configuration back to it, if a character of a group does."""
    place = group.leaf
    if place is None or place.least or place.most is not None:
        return None
    still = place.table.still(place, columns.longest)
    if still is None or not place.table.stays(place, still) or group.node.barred(machine, group.state):
        return None
    # Groups of all threads are made with the next step: few tokens are known to stay.
    for thread in machine.configs[config]:
        if thread != ACCEPT:
            node, state, _ = machine.place(thread)
            if node is not group.node or state != group.state:
                run = node.forced_run(state)
                if not run or still.bytes[run[0]]:
                    return None
    # Of whole characters: others are legal, but end inside of one.
    return columns.inside(still.groups, None) if still.bytes[:128].any() else None
