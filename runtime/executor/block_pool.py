"""The memory of a torch executor: keys and values of every layer, in blocks of positions.

The physical layout is head, block, place, width: what one head needs of a block lies together. A block table
is gathered by few long copies, and blocks that follow each other are read in place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sglc.runtime.kv.blocks import BLOCK_TOKENS


@dataclass(frozen=True, slots=True)
class LayerShape:
    """What one layer keeps of a position."""

    heads: int
    """Heads of keys and values on this device."""
    key_width: int
    value_width: int

    def elements(self) -> int:
        """Numbers of one block."""
        return BLOCK_TOKENS * self.heads * (self.key_width + self.value_width)


class TensorPool:
    """`keys[layer]` and `values[layer]` are tensors [heads, blocks + spare, BLOCK_TOKENS, width]."""

    def __init__(
        self, shapes: Sequence[LayerShape], dtype: torch.dtype, device: torch.device, spare: int = 0
    ) -> None:
        """`spare` blocks follow those that can be used by number; they hold nothing that counts."""
        self.spare = spare
        self.shapes = tuple(shapes)
        self.dtype = dtype
        self.device = device
        self.blocks = 0
        self.block_bytes = sum(shape.elements() for shape in shapes) * dtype.itemsize
        self._room: dict[str, torch.Tensor] = {}
        self.keys = [self._empty(shape.heads, 0, shape.key_width) for shape in shapes]
        self.values = [self._empty(shape.heads, 0, shape.value_width) for shape in shapes]

    def reserve(self, blocks: int) -> None:
        """Have room for `blocks` blocks; what they hold is kept. Raises MemoryError, and nothing is lost.

        Layers grow one after the other, so growing takes the old and the new of one layer at most.
        """
        if blocks <= self.blocks:
            return
        for tensors in (self.keys, self.values):
            for index, old in enumerate(tensors):
                if old.shape[1] < blocks + self.spare:
                    new = self._empty(old.shape[0], blocks + self.spare, old.shape[3])
                    new[:, : self.blocks] = old[:, : self.blocks]
                    tensors[index] = new
        self.blocks = blocks

    def read_places(self, places: torch.Tensor) -> list[torch.Tensor]:
        """Keys of every layer and then values, [heads, n, width], at places int64 [n]: a block's number times
        BLOCK_TOKENS and a place in it."""
        return [
            pool.view(pool.shape[0], -1, pool.shape[3]).index_select(1, places)
            for pool in (*self.keys, *self.values)
        ]

    def write_places(self, places: torch.Tensor, held: Sequence[torch.Tensor]) -> None:
        """Put what `read_places` gave to other places."""
        for pool, part in zip((*self.keys, *self.values), held, strict=True):
            pool.view(pool.shape[0], -1, pool.shape[3]).index_copy_(1, places, part)

    def gather(self, pool: torch.Tensor, blocks: torch.Tensor | slice, room: str) -> torch.Tensor:
        """Blocks of one of the tensors side by side: [heads, blocks * BLOCK_TOKENS, width].

        Nothing is copied where the blocks follow each other. Otherwise they are copied to a buffer called
        `room`, and stay there until the next call with that name: new memory for each call would cost more
        than the copy, as the system must clear its pages.
        """
        heads, _, places, width = pool.shape
        if isinstance(blocks, slice):
            return pool[:, blocks].reshape(heads, -1, width)
        shape = (heads, blocks.numel(), places, width)
        needed = math.prod(shape)
        held = self._room.get(room)
        if held is None or held.numel() < needed:
            held = self._room[room] = torch.empty(needed, dtype=self.dtype, device=self.device)
        out = held[:needed].view(shape)
        torch.index_select(pool, 1, blocks, out=out)
        return out.view(heads, -1, width)

    def copy(self, source: int, target: int) -> None:
        """Copy all of a block."""
        for tensor in (*self.keys, *self.values):
            tensor[:, target] = tensor[:, source]

    def read(self, block: int) -> bytes:
        """The numbers of a block as they are in memory, keys of all layers and then values of all layers."""
        parts = [tensor[:, block].reshape(-1) for tensor in (*self.keys, *self.values)]
        return torch.cat(parts).cpu().view(torch.uint8).numpy().tobytes()

    def write(self, block: int, data: bytes) -> None:
        """Put back what `read` gave. Raises ValueError for another number of bytes."""
        if len(data) != self.block_bytes:
            raise ValueError(f"a block has {self.block_bytes} bytes, not {len(data)}")
        numbers = torch.frombuffer(bytearray(data), dtype=self.dtype).to(self.device)
        start = 0
        for tensor in (*self.keys, *self.values):
            part = tensor[:, block]
            part.copy_(numbers[start : start + part.numel()].view(part.shape))
            start += part.numel()

    def _empty(self, heads: int, blocks: int, width: int) -> torch.Tensor:
        shape = (heads, blocks, BLOCK_TOKENS, width)
        if self.device.type != "cpu":
            try:
                # Zeros: what a block holds beyond its sequence is multiplied by a weight of zero.
                return torch.zeros(shape, dtype=self.dtype, device=self.device)
            except torch.OutOfMemoryError as error:
                raise MemoryError(f"no room for {blocks} blocks on {self.device}") from error
        # Pages of zeros that the system gives on the first write only.
        pages = np.zeros(shape, np.dtype(f"i{self.dtype.itemsize}"))
        return torch.from_numpy(pages).view(self.dtype)
