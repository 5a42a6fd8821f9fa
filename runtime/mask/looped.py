"""Masks of leaves without a table of their own, walked by rows of configurations.

Leaves that remember what was read (distinct keys, excluded words) are not automata whose rows could be
shared. Their configurations have rows; string interiors are still looked up, by the loop that a leaf reports.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from sglc.kernels.contract import NO_ROW
from sglc.kernels.subtrees import SubtreeWalk
from sglc.runtime.mask.account import Account
from sglc.runtime.mask.machine import ACCEPT, DEAD, Loop, Machine
from sglc.runtime.mask.slices import Slice, SliceStore
from sglc.runtime.mask.utf8 import Class
from sglc.runtime.mask.vocabulary import Vocabulary

_MOST_RESTS = 1024


class LoopedMasks:
    """Adds the tokens of such configurations to mask rows."""

    def __init__(self, machine: Machine, vocabulary: Vocabulary, slices: SliceStore) -> None:
        self.machine = machine
        self.vocabulary = vocabulary
        self.slices = slices
        self._rests: OrderedDict[tuple[int, Class], tuple[np.ndarray, bool]] = OrderedDict()
        """By blurred configuration and class: tokens near the class, and whether far ones may be legal."""

    def add(self, config: int, row: np.ndarray, account: Account) -> bool:
        """Set the bits of all legal tokens; True if that holds only for the bytes read so far."""
        machine = self.machine
        shared = machine.untraced(config)
        whole = self.slices.whole
        place = self._sliced(shared)
        if place is None:
            return self._walk(whole, whole.roots, config, shared, row, account)
        part, loop, closed = place
        # Tokens inside the class are looked up; for others counts only decide when they are near (`blur`).
        blurred = machine.blur(shared, part.reach)
        key = (blurred, loop.ranges)
        rest = self._rests.get(key)
        lost = False
        if rest is None:
            near = np.zeros_like(row)
            lost = self._walk(part.near, part.near.roots, config, blurred, near, account)
            # Further than that, a blurred walk allows too much, but where it allows nothing nothing is legal.
            far = np.zeros_like(row)
            doubtful = self._walk(part.far, part.far.roots, config, blurred, far, account) or bool(far.any())
            rest = (near, doubtful)
            if not lost:
                self._rests[key] = rest
                if len(self._rests) > _MOST_RESTS:
                    self._rests.popitem(last=False)
        row |= rest[0]
        row |= part.certain(loop.certain)
        if rest[1]:
            lost |= self._walk(part.far, part.far.roots, config, shared, row, account)
        beyond = None if closed else part.beyond(loop.certain)
        if beyond is not None:
            lost |= self._walk(beyond, beyond.roots, config, shared, row, account)
        return lost

    def walk(
        self, walk: SubtreeWalk, entries: np.ndarray, config: int, row: np.ndarray, account: Account
    ) -> bool:
        """The same for the subtrees of `entries` only."""
        return self._walk(walk, entries, config, self.machine.untraced(config), row, account)

    def _sliced(self, config: int) -> tuple[Slice, Loop, bool] | None:
        """A slice that fits a configuration, and whether longer tokens of its class are not legal."""
        machine = self.machine
        threads = machine.configs[config]
        for thread in threads:
            if thread != ACCEPT:
                node, state, cont = machine.threads[thread]
                loop = node.loop(machine, state, cont)
                if loop is not None:
                    part = self.slices.find(loop.ranges)
                    if part is not None:
                        others = machine.config(other for other in threads if other != thread)
                        return part, loop, loop.closed and machine.avoids(others, loop.ranges)
        return None

    def _walk(
        self, walk: SubtreeWalk, entries: np.ndarray, config: int, shared: int, row: np.ndarray,
        account: Account,
    ) -> bool:  # fmt: skip
        """Walk subtrees, making rows as they are needed; True if some node needed the bytes read so far.

        `shared` is `config`, perhaps without the bytes read.
        """
        machine = self.machine
        lost = False

        def fill(missing: int, entry: int, node: int) -> bool:
            nonlocal lost
            if machine.lost[missing]:
                lost = True
                self._walk_traced(walk, entry, node, config, row)
                return False
            if machine.row_of[missing] == NO_ROW:
                machine.fill_row(missing)
                account.check()
            return True

        walk.rows(entries, shared, row, lambda: (machine.rows, machine.row_of), fill)
        return lost

    def _walk_traced(self, walk: SubtreeWalk, entry: int, top: int, config: int, row: np.ndarray) -> None:
        """The subtree of one node, stepped byte by byte from the configuration that knows its bytes."""
        trie, machine = walk.trie, self.machine
        bits = row.view(np.uint32)
        base = int(trie.depth[entry]) - 1
        path = self._path(trie.byte, trie.depth, top)[base:]
        stack = [config]
        for byte in path[:-1]:
            stack.append(machine.step(stack[-1], byte))
        node = top
        while node < trie.end[top]:
            depth = int(trie.depth[node]) - base
            del stack[depth:]
            following = machine.step(stack[depth - 1], int(trie.byte[node]))
            stack.append(following)
            if following == DEAD:
                node = int(trie.end[node])
                continue
            index = int(trie.token[node])
            ids = [index] if index >= 0 else []
            if index < -1:
                place = -2 - index
                while trie.duplicates[place] >= 0:
                    ids.append(int(trie.duplicates[place]))
                    place += 1
            for index in ids:
                bits[index >> 5] |= np.uint32(1 << (index & 31))
            node += 1

    @staticmethod
    def _path(byte: np.ndarray, depth: np.ndarray, node: int) -> bytes:
        out = bytearray()
        want = int(depth[node])
        while want:
            if int(depth[node]) == want:
                out.append(int(byte[node]))
                want -= 1
            node -= 1
        return bytes(reversed(out))
