"""The memory layout of quantised weights.

A weight tile holds 16 outputs (rows of the matrix) times 32 inputs, so that 16 lanes make 16 outputs. It is
64 * `bits` bytes of unsigned values, then 16 scales and 16 offsets, which are floats of 16 bits. A weight is
its value times the scale plus the offset. Values of 8 bits lie as [8][16][4]: 4 neighbouring inputs of each
output make the 32 bits of a lane. Values of 4 bits lie as [4][16][4] bytes: the low halves are the even of
these 8 rows, the high halves the odd ones. The tiles of a matrix are ordered [outputs / 16][inputs / 32].

GGUF's blocks Q4_0, Q4_1, Q5_0, Q5_1 and Q8_0 become weight tiles without loss: they have a scale, and an
offset that is kept or is a power of two times the scale.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sglc.kernels.dsl.language import F32, U8, kernel
from sglc.kernels.dsl.vectors import half_at

ROWS, GROUP = 16, 32
"""Outputs and inputs of a weight tile."""
KINDS = (4, 5, 8, 9)
"""4 or 8 bits with offsets, and 4 or 8 bits centred: one more."""


def weight_tile_bytes(kind: int) -> int:
    """Bytes of a weight tile of a kind, see `Blocks.kind`."""
    return 64 * (kind & 12) + 64 - 32 * (kind & 1)


def matrix_bytes(outputs: int, inputs: int, kind: int) -> int:
    """Bytes of a matrix; outputs are filled up to a multiple of 32."""
    return -(-outputs // (2 * ROWS)) * 2 * (inputs // GROUP) * weight_tile_bytes(kind)


def kinds_mask(kinds: Iterable[int]) -> int:
    """Kinds as bits of a number: what the code of a step is made for."""
    return sum(1 << KINDS.index(kind) for kind in set(kinds))


@dataclass(frozen=True, slots=True)
class Blocks:
    """Weights of a matrix in groups of 32 along the inputs.

    values   uint8[N, G, 32], below 2**bits
    scales   float16[N, G]
    offsets  float16[N, G]
    """

    values: np.ndarray
    scales: np.ndarray
    offsets: np.ndarray
    bits: int

    @property
    def kind(self) -> int:
        """One of `KINDS`. Centred weights have the offset -8 or -128 times the scale, which is not kept."""
        centred = self.scales.astype(np.float32) * -(1 << (self.bits - 1))
        return self.bits + bool((centred == self.offsets.astype(np.float32)).all())

    def by_turns(self) -> Blocks:
        """16 rows of the first half, 16 rows of the second, and so on; a half is a multiple of 16."""
        rows = np.arange(len(self.values)).reshape(2, -1, ROWS).swapaxes(0, 1).reshape(-1)
        return Blocks(self.values[rows], self.scales[rows], self.offsets[rows], self.bits)

    def floats(self) -> np.ndarray:
        """The weights as float32 [N, 32 G]."""
        wide = self.values.astype(np.float32) * self.scales.astype(np.float32)[..., None]
        return (wide + self.offsets.astype(np.float32)[..., None]).reshape(len(self.values), -1)


def joined(parts: list[Blocks]) -> Blocks:
    """Matrices one below the other; of 8 bits if one of them is."""
    bits = max(part.bits for part in parts)
    values = np.concatenate([part.values for part in parts])
    scales = np.concatenate([part.scales for part in parts])
    return Blocks(values, scales, np.concatenate([part.offsets for part in parts]), bits)


def quantised(weights: np.ndarray, bits: int = 8) -> Blocks:
    """Float32 [N, K] in groups of 32, K a multiple of that.

    8 bits: signed values, the largest magnitude of a group is 127 steps. 4 bits: the group's range is 15
    steps. Steps are rounded to 16 bits first, so that values fit the step that is kept.
    """
    groups = np.ascontiguousarray(weights, dtype=np.float32).reshape(len(weights), -1, GROUP)
    if bits == 8:
        scales = (np.abs(groups).max(-1) / 127).astype(np.float16)
        offsets = (scales.astype(np.float32) * -128).astype(np.float16)
        most, shift = 255, np.float32(128)
    else:
        low = np.minimum(groups.min(-1), 0)
        scales = ((groups.max(-1) - low) / 15).astype(np.float16)
        offsets = low.astype(np.float16)
        most, shift = 15, np.float32(0)
    step = scales.astype(np.float32)[..., None]
    inverse = np.divide(np.float32(1), step, out=np.zeros_like(step), where=step > 0)
    moved = groups if bits == 8 else groups - offsets.astype(np.float32)[..., None]
    values = np.clip(np.rint(moved * inverse) + shift, 0, most).astype(np.uint8)
    return Blocks(values, scales, offsets, bits)


def packed(blocks: Blocks) -> np.ndarray:
    """The weight tiles of a matrix as bytes, uint8 of `matrix_bytes`."""
    count = len(blocks.values)
    missing = -count % (2 * ROWS)
    values, scales, offsets = blocks.values, blocks.scales, blocks.offsets
    if missing:
        values = np.concatenate([values, np.zeros((missing, *values.shape[1:]), np.uint8)])
        scales, offsets = (
            np.concatenate([part, np.zeros((missing, part.shape[1]), np.float16)])
            for part in (scales, offsets)
        )
    rows, groups = len(values) // ROWS, values.shape[1]
    lanes = values.reshape(rows, ROWS, groups, 8, 4).transpose(0, 2, 3, 1, 4)
    if blocks.bits == 4:
        lanes = lanes[:, :, 0::2] | (lanes[:, :, 1::2] << 4)
    kind = blocks.kind
    found = np.empty((rows, groups, weight_tile_bytes(kind)), np.uint8)
    size = 64 * blocks.bits
    found[..., :size].reshape(rows, groups, -1, ROWS, 4)[...] = lanes
    for place, part in ((size, scales), (size + 32, offsets))[: 2 - (kind & 1)]:
        turned = np.ascontiguousarray(part.reshape(rows, ROWS, groups).transpose(0, 2, 1))
        found[..., place : place + 32] = turned.view(np.uint8).reshape(rows, groups, 32)
    return found.reshape(-1)


@kernel
def look_up(w: U8, base: int, groups: int, kind: int, output: int, x: F32, to: int) -> None:
    """The weights of one output of the matrix at byte `base`: a row of embeddings."""
    bits = kind & 12
    size = 64 * bits + 64 - 32 * (kind & 1)
    lane = output & 15
    for g in range(groups):
        at = base + ((output >> 4) * groups + g) * size
        scale = half_at(w, at + 64 * bits + 2 * lane)
        if kind & 1:
            offset = scale * (0 - (1 << (bits - 1)))
        else:
            offset = half_at(w, at + 64 * bits + 32 + 2 * lane)
        for i in range(32):
            if bits == 4:
                value = (w[at + 64 * (i >> 3) + 4 * lane + (i & 3)] >> (i & 4)) & 15
            else:
                value = w[at + 64 * (i >> 2) + 4 * lane + (i & 3)]
            x[to + 32 * g + i] = value * scale + offset
