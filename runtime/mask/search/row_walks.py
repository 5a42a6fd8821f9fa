"""Masks walked by rows of configurations: of lexemes without a table, and of rests of few tokens.

A lexeme that remembers what was read is no automaton whose rows could be shared. Its masks are walked from a
configuration without the bytes read (`Machine.history_free`), and where those would matter, the subtree is
stepped byte by byte from the configuration that has them.
"""

from __future__ import annotations

import numpy as np

from sglc.kernels.trie.api import SubtreeWalk
from sglc.runtime.mask.automaton.limits import LimitTracker
from sglc.runtime.mask.automaton.machine import NO_ROW, Machine
from sglc.runtime.mask.automaton.protocol import DEAD


class RowMasks:
    """Adds the tokens of such configurations to mask rows."""

    def __init__(self, machine: Machine, walk: SubtreeWalk) -> None:
        self.machine = machine
        self.walk = walk

    def add(self, config: int, entries: np.ndarray, row: np.ndarray, account: LimitTracker) -> list[int]:
        """Set the bits of the legal tokens below the entries, which are read from `config` on.

        Returns the nodes below which the bytes read so far matter.
        """
        machine = self.machine
        unknown: list[int] = []

        def fill(missing: int, entry: int, node: int) -> bool:
            if machine.needs_history[missing]:
                unknown.append(node)
                return False
            if machine.row_of[missing] == NO_ROW:
                machine.fill_row(missing)
                account.check()
            return True

        start = machine.history_free(config)
        self.walk.rows(entries, start, row, lambda: (machine.rows, machine.row_of), fill)
        return unknown

    def step_through(self, tops: list[int], root: int, row: np.ndarray) -> None:
        """Set the bits of the legal tokens at and below nodes, stepped byte by byte.

        `root` is the configuration before the first byte of all tokens, with all that has been read.
        """
        legal = [node for top in tops for node in self._alive(top, root)]
        if legal:
            self.walk.set_tokens(np.array(legal, np.int32), row)

    def _alive(self, top: int, root: int) -> list[int]:
        trie, machine = self.walk.trie, self.machine
        stack, legal = [root], []
        for byte in self.walk.path(top)[:-1]:
            stack.append(machine.step(stack[-1], byte))
        node = top
        while node < trie.end[top]:
            depth = int(trie.depth[node])
            del stack[depth:]
            following = machine.step(stack[depth - 1], int(trie.byte[node]))
            stack.append(following)
            if following == DEAD:
                node = int(trie.end[node])
                continue
            legal.append(node)
            node += 1
        return legal
