"""An executor with the logits of `FakeExecutor` that picks tokens by itself, as one on a device does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fakes.fake_executor import FakeExecutor
from late import Late
from sglc.runtime.executor.plan import ExecutorError, Picked, Picking, Piece
from sglc.runtime.tokenizer import Tokenizer

torch = Late("torch")
picking = Late("sglc.runtime.executor.pick")


class DrawingFake(FakeExecutor):
    """Implements `DrawingExecutor`. Counts what comes to the host."""

    draws = True

    def __init__(self, tokenizer: Tokenizer | None = None, context_length: int = 4096) -> None:
        super().__init__(tokenizer, context_length)
        self.to_host = 0
        """Rows of logits that came to the host."""
        self.picked: list[int] = []
        """How many tokens were picked in each step."""
        self.before_pick: Callable[[Sequence[Picking]], object] = lambda pickings: None
        """Called in the middle of a step; it may raise."""

    def run(self, pieces: Sequence[Piece]) -> np.ndarray:
        rows = super().run(pieces)
        self.to_host += len(rows)
        return rows

    def mask_rows(self, count: int) -> np.ndarray:
        return np.full((count, -(-self.size // 32)), 0x5A5A5A5A, np.int32)

    def launch(self, pieces: Sequence[Piece]) -> torch.Tensor:
        return torch.from_numpy(super().run(pieces))

    def pick(
        self, launched: torch.Tensor, rows: Sequence[int], masks: np.ndarray, pickings: Sequence[Picking]
    ) -> Picked:
        self.before_pick(pickings)
        if not len(rows) == len(masks) == len(pickings) > 0:
            raise ExecutorError("a row, a mask and a setting each")
        self.picked.append(len(rows))
        others = launched.numpy()[np.delete(np.arange(len(launched)), rows)]
        self.to_host += len(others)
        return Picked(*picking.pick(launched[list(rows)], masks, pickings), others)
