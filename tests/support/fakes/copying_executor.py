"""An executor without a model, whose texts repeat themselves: for tests of drafts."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from fakes.small_models import small_tokenizer
from sglc.runtime.executor.plan import Piece
from sglc.runtime.kv.blocks import BLOCK_TOKENS


class CopyingExecutor:
    """Logits that are pseudo-random after the last eight tokens, and mostly go on as the text went on where
    its last two tokens, or else its last one, stood before. Tokens lie where keys and values would lie."""

    name = "copying"
    kind = "copying"
    block_bytes = 8 * BLOCK_TOKENS
    invariant = True
    prompt_tokens = 256
    best = None
    context_length = 4096

    def __init__(self, seed: int = 0, bonus: float = 12.0, trees: bool = False) -> None:
        self.trees = trees
        self.tokenizer = small_tokenizer()
        self.seed = seed
        self.bonus = bonus
        self.tokens = np.full((0, BLOCK_TOKENS), -1, np.int64)
        self._rows: dict[tuple[int, ...], np.ndarray] = {}

    def reserve(self, blocks: int) -> None:
        grown = np.full((blocks, BLOCK_TOKENS), -1, np.int64)
        grown[: len(self.tokens)] = self.tokens
        self.tokens = grown

    def run(self, pieces: Sequence[Piece]) -> np.ndarray:
        rows = []
        for piece in pieces:
            places = self.tokens[list(piece.table)].reshape(-1)
            end = piece.start + len(piece.tokens)
            places[piece.start : end] = piece.tokens
            for block in range(piece.start // BLOCK_TOKENS, -(-end // BLOCK_TOKENS)):
                start = block * BLOCK_TOKENS
                self.tokens[piece.table[block]] = places[start : start + BLOCK_TOKENS]
            seen = places[:end].tolist()
            assert -1 not in seen
            begin = end - len(piece.parents)
            assert self.trees or not piece.parents
            paths = [seen[: place + 1] for place in range(piece.start, begin)]
            for token, parent in zip(seen[begin:], piece.parents, strict=True):
                paths.append([*paths[begin - piece.start + parent], token])
            rows += [self.row(path) for path in paths[len(paths) - piece.wanted :]]
        made = np.stack(rows) if rows else np.empty((0, self.tokenizer.size), np.float32)
        self.best = made.argmax(1).astype(np.int32)
        return made

    def row(self, seen: list[int]) -> np.ndarray:
        recent = tuple(seen[-8:])
        row = self._rows.get(recent)
        if row is None:
            random = np.random.default_rng(crc32(repr((self.seed, recent)).encode()))
            row = self._rows[recent] = random.normal(0, 3, self.tokenizer.size).astype(np.float32)
        place = _last(seen, 2) or _last(seen, 1)
        if place:
            row = row.copy()
            row[seen[place]] += self.bonus
        return row

    def copy_block(self, source: int, target: int) -> None:
        self.tokens[target] = self.tokens[source]

    def read_places(self, places: Sequence[int]) -> np.ndarray:
        return self.tokens.reshape(-1)[list(places)]

    def write_places(self, places: Sequence[int], held: object) -> None:
        self.tokens.reshape(-1)[list(places)] = held

    def read_block(self, block: int) -> bytes:
        return self.tokens[block].tobytes()

    def write_block(self, block: int, data: bytes) -> None:
        self.tokens[block] = np.frombuffer(data, np.int64)

    def close(self) -> None:
        pass


def _last(tokens: list[int], count: int) -> int:
    """Where the last `count` tokens ended before; 0 for nowhere."""
    for place in range(len(tokens) - 1, count - 1, -1):
        if tokens[place - count : place] == tokens[-count:]:
            return place
    return 0
