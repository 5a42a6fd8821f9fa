"""Attention over blocks of keys and values, in plain torch: it defines what the Triton kernels must do."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Tiles:
    """Tokens that attend, a few of one sequence together; all four are int32 [tiles].

    A tile of no tokens is skipped: a launch of a fixed size may be larger than what there is to do.
    """

    tables: torch.Tensor
    """Which row of the block tables is the sequence's."""
    rows: torch.Tensor
    """Row of the tile's first token among the queries; those of the others follow."""
    counts: torch.Tensor
    """Tokens of the tile."""
    positions: torch.Tensor
    """Position of its first token in the sequence."""
    most: int
    """No tile has more tokens."""


def attend(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    tables: torch.Tensor,
    tiles: Tiles,
    out: torch.Tensor,
    *,
    scaling: float,
    window: int | None = None,
    softcap: float | None = None,
) -> torch.Tensor:
    """Attention of the tiles' tokens to the positions up to their own.

    `query` is [H, T, D], `keys` [heads, blocks, places, D], `values` [heads, blocks, places, W], with H a
    multiple of heads; query head h reads head h // (H // heads). `tables` is int32 [sequences, n]: position
    p of sequence s lies in block `tables[s, p // places]` at place `p % places`. With a `window` a token sees
    so many positions, itself included; `softcap` c turns a score s into c * tanh(s / c). Writes the tokens'
    rows of `out` [T, H, W], and returns it.
    """
    heads, _, places, _ = keys.shape
    shares = query.shape[0] // heads
    arrays = (part.tolist() for part in (tiles.tables, tiles.rows, tiles.counts, tiles.positions))
    for table, row, count, position in zip(*arrays, strict=True):
        for token in range(count):
            last = position + token
            seen = torch.arange(0 if window is None else max(0, last - window + 1), last + 1)
            blocks = tables[table, (seen // places).to(tables.device)].long()
            own_keys = keys[:, blocks, seen % places].repeat_interleave(shares, 0).double()
            own_values = values[:, blocks, seen % places].repeat_interleave(shares, 0).double()
            scores = torch.einsum("hd,hnd->hn", query[:, row + token].double(), own_keys) * scaling
            if softcap is not None:
                scores = softcap * torch.tanh(scores / softcap)
            out[row + token] = torch.einsum("hn,hnw->hw", scores.softmax(1), own_values).to(out.dtype)
    return out
