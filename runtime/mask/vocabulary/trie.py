"""The token trie as flat preorder arrays, the form that the walk kernel reads.

Node `i` stands for a byte string: the bytes on the path to it. Its descendants are the nodes
`i + 1 .. end[i] - 1`, so that a subtree is skipped by one assignment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

NO_TOKEN = -1
"""Value of `token` for nodes that are only prefixes."""


@dataclass(frozen=True, slots=True, eq=False)
class Trie:
    """Preorder arrays over `n` nodes, children in byte order. There is no node for the empty string.

    byte  uint8[n]   last byte of the node's string
    depth int32[n]   length of the node's string (1 for the first byte)
    end   int32[n]   first node after the subtree
    token int32[n]   id of the token with these bytes; -1 none; -2 - k: the ids at `duplicates[k:]` up to -1
    duplicates int32[m]  runs of ids that share their bytes, each closed by -1
    deepest          largest depth
    """

    byte: np.ndarray
    depth: np.ndarray
    end: np.ndarray
    token: np.ndarray
    duplicates: np.ndarray
    deepest: int

    @property
    def size(self) -> int:
        """Number of nodes, `n`."""
        return len(self.byte)

    def extends(self, prefix: bytes) -> bool:
        """Is there a token that begins with these bytes and is longer?"""
        node, stop = 0, self.size
        for wanted in prefix:
            while node < stop and self.byte[node] != wanted:
                node = int(self.end[node])
            if node >= stop:
                return False
            node, stop = node + 1, int(self.end[node])
        return node < stop

    def longest(self, data: bytes) -> tuple[int, int]:
        """(a token, its size): the longest that is a beginning of `data`; (-1, 0) if there is none."""
        return max(self.beginnings(data), key=lambda found: found[1], default=(NO_TOKEN, 0))

    def beginnings(self, data: bytes) -> Iterator[tuple[int, int]]:
        """(a token, its size) for each beginning of `data` that is one, the shortest first."""
        node, stop = 0, self.size
        for depth, wanted in enumerate(data, 1):
            while node < stop and self.byte[node] != wanted:
                node = int(self.end[node])
            if node >= stop:
                break
            if ids := self.ids(node):
                yield ids[0], depth
            node, stop = node + 1, int(self.end[node])

    def ids(self, node: int) -> list[int]:
        """All token ids at a node."""
        token = int(self.token[node])
        if token >= 0:
            return [token]
        if token == NO_TOKEN:
            return []
        found: list[int] = []
        place = -2 - token
        while self.duplicates[place] >= 0:
            found.append(int(self.duplicates[place]))
            place += 1
        return found

    def path(self, node: int) -> bytes:
        """The bytes of a node, found by going down to it."""
        end = self.end
        out = bytearray()
        at = 0
        while True:
            while (following := int(end[at])) <= node:
                at = following
            out.append(int(self.byte[at]))
            if at == node:
                return bytes(out)
            at += 1


def build_trie(token_bytes: Sequence[bytes | None]) -> Trie:
    """The trie over all tokens that have bytes; tokens without (None or empty) are left out."""
    ids: dict[bytes, list[int]] = {}
    for index, data in enumerate(token_bytes):
        if data:
            ids.setdefault(data, []).append(index)
    byte = bytearray()
    depth: list[int] = []
    end: list[int] = []
    token: list[int] = []
    duplicates: list[int] = []
    path: list[int] = []
    previous = b""
    for data in sorted(ids):
        shared = 0
        limit = min(len(previous), len(data))
        while shared < limit and previous[shared] == data[shared]:
            shared += 1
        for node in path[shared:]:
            end[node] = len(depth)
        del path[shared:]
        for position in range(shared, len(data)):
            path.append(len(depth))
            byte.append(data[position])
            depth.append(position + 1)
            end.append(0)
            token.append(NO_TOKEN)
        same = ids[data]
        if len(same) == 1:
            token[-1] = same[0]
        else:
            token[-1] = -2 - len(duplicates)
            duplicates += [*same, -1]
        previous = data
    for node in path:
        end[node] = len(depth)
    return Trie(
        np.frombuffer(bytes(byte), np.uint8).copy(),
        np.array(depth, np.int32),
        np.array(end, np.int32),
        np.array(token, np.int32),
        np.array(duplicates or [-1], np.int32),
        max(depth, default=0),
    )
