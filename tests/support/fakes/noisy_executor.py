"""A draft model for tests: the logits of a copying executor, moved by noise of a given size."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from fakes.copying_executor import CopyingExecutor


class NoisyExecutor(CopyingExecutor):
    """With noise 0 it is the copying executor of the same seed and bonus."""

    name = "noisy"

    def __init__(self, seed: int = 0, bonus: float = 12.0, noise: float = 0.0) -> None:
        super().__init__(seed, bonus)
        self.noise = noise
        self._moves: dict[tuple[int, ...], np.ndarray] = {}

    def row(self, seen: list[int]) -> np.ndarray:
        recent = tuple(seen[-8:])
        move = self._moves.get(recent)
        if move is None:
            random = np.random.default_rng(crc32(repr(("noise", recent)).encode()))
            move = self._moves[recent] = random.normal(0, 1, self.tokenizer.size).astype(np.float32)
        return super().row(seen) + np.float32(self.noise) * move
