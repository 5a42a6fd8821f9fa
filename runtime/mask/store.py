"""Masks and transitions of one machine under one vocabulary: computed once, then looked up by integer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sglc.kernels.contract import NO_ROW
from sglc.kernels.select import TrieWalk, count_bits
from sglc.runtime.mask.account import Account
from sglc.runtime.mask.machine import ACCEPT, DEAD, Loop, Machine
from sglc.runtime.mask.slices import Slice, SliceStore, slice_store
from sglc.runtime.mask.utf8 import Class
from sglc.runtime.mask.vocabulary import Vocabulary

_MOST_TRANSITIONS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """A mask row (int32[words], not to be written to) and the number of its tokens."""

    row: np.ndarray
    count: int


class MaskStore:
    """Masks by configuration, configurations by (configuration, token); bounded, the oldest masks go first.

    New states are put on the account of the constraint that asks; it raises when there are too many.
    """

    def __init__(self, machine: Machine, vocabulary: Vocabulary, max_bytes: int) -> None:
        self.machine = machine
        self.vocabulary = vocabulary
        self.slices: SliceStore = slice_store(vocabulary)
        self.masks: dict[int, Mask] = {}
        self.transitions: dict[int, int] = {}
        self._rests: dict[tuple[int, Class], tuple[np.ndarray, bool]] = {}
        """By blurred configuration and class: tokens near the class, and whether far ones may be legal."""
        self._most_masks = max(16, max_bytes // max(4 * vocabulary.words, 1))

    def mask(self, config: int, account: Account) -> Mask:
        """The mask of a configuration."""
        found = self.masks.get(config)
        if found is None:
            with self.machine.lock, account:
                shared = self.machine.untraced(config)
                lost = False
                if shared != config and shared in self.masks:
                    return self.masks[shared]
                row, lost = self._compute(config, shared, account)
                found = Mask(row, count_bits(row))
                row.flags.writeable = False
                while len(self.masks) >= self._most_masks:
                    del self.masks[next(iter(self.masks))]
                self.masks[config if lost else shared] = found
        return found

    def next(self, config: int, token: int, account: Account) -> int:
        """The configuration after a token (DEAD if it is not legal)."""
        if not 0 <= token < self.vocabulary.size:
            return DEAD
        key = config * self.vocabulary.size + token
        found = self.transitions.get(key)
        if found is None:
            data = self.vocabulary.token_bytes[token]
            found = self.advance(config, data, account) if data else DEAD
            if len(self.transitions) >= _MOST_TRANSITIONS:
                self.transitions.clear()
            self.transitions[key] = found
        return found

    def advance(self, config: int, data: bytes, account: Account) -> int:
        """The configuration after bytes (DEAD if they are not legal)."""
        with self.machine.lock, account:
            for byte in data:
                config = self.machine.step(config, byte)
                if config == DEAD:
                    break
                account.check()
        return config

    def _compute(self, config: int, shared: int, account: Account) -> tuple[np.ndarray, bool]:
        """(mask row, whether it holds only for the bytes read so far)."""
        machine, vocabulary = self.machine, self.vocabulary
        if machine.universal >= 0 and machine.configs[shared] == (ACCEPT, machine.universal):
            return vocabulary.writable.copy(), False
        row = np.zeros(vocabulary.words, np.int32)
        place = self._sliced(shared)
        if place is None:
            return row, self._walk(self.slices.whole, config, shared, row, account)
        part, loop, closed = place
        # Tokens inside the class are looked up; for others counts only decide when they are near (`blur`).
        blurred = machine.blur(shared, part.reach)
        key = (blurred, loop.ranges)
        rest = self._rests.get(key)
        lost = False
        if rest is None:
            lost = self._walk(part.near, config, blurred, row, account)
            # Further than that, a blurred walk allows too much, but where it allows nothing nothing is legal.
            far = np.zeros(vocabulary.words, np.int32)
            doubtful = self._walk(part.far, config, blurred, far, account) or bool(far.any())
            rest = (row.copy(), doubtful)
            if not lost:
                if len(self._rests) >= self._most_masks:
                    del self._rests[next(iter(self._rests))]
                self._rests[key] = rest
        else:
            row |= rest[0]
        row |= part.certain(loop.certain)
        if rest[1]:
            lost |= self._walk(part.far, config, shared, row, account)
        beyond = None if closed else part.beyond(loop.certain)
        if beyond is not None:
            lost |= self._walk(beyond, config, shared, row, account)
        return row, lost

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

    def _walk(self, walk: TrieWalk, config: int, shared: int, row: np.ndarray, account: Account) -> bool:
        """Walk a trie, making rows as they are needed; True if some node needed the bytes read so far."""
        machine, trie = self.machine, walk.trie
        stack = np.zeros(trie.deepest + 1, np.int32)
        stack[0] = shared
        size = len(trie.byte)
        node = 0
        lost = False
        while True:
            node = walk.run(machine.rows, machine.row_of, stack, node, row)
            if node >= size:
                return lost
            missing = int(stack[trie.depth[node] - 1])
            if machine.lost[missing]:
                lost = True
                self._walk_traced(node, walk, config, row)
                node = int(trie.end[node])
            elif machine.row_of[missing] == NO_ROW:
                machine.fill_row(missing)
                account.check()

    def _walk_traced(self, top: int, walk: TrieWalk, config: int, row: np.ndarray) -> None:
        """The subtree of one node, stepped byte by byte from the configuration that knows its bytes."""
        trie, machine = walk.trie, self.machine
        bits = row.view(np.uint32)
        level = int(trie.depth[top])
        path = self._path(trie.byte, trie.depth, top)
        stack = [config]
        for byte in path[:-1]:
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
        assert level == len(path)

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
