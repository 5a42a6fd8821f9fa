"""Packed masks on tensors, in plain torch. This file defines what the Triton kernel must do."""

from __future__ import annotations

import torch


def unpack(masks: torch.Tensor, size: int) -> torch.Tensor:
    """bool[n, size] of int32[n, words]: bit t % 32 of word t // 32. Tokens beyond the words are not set."""
    lanes = torch.arange(32, dtype=torch.int32, device=masks.device)
    bits = (masks.unsqueeze(-1) >> lanes & 1).bool().flatten(1)
    return torch.nn.functional.pad(bits, (0, max(0, size - bits.shape[1])))[:, :size]


def apply_packed_mask(
    logits: torch.Tensor, masks: torch.Tensor, rows: torch.Tensor | None = None
) -> torch.Tensor:
    """Set logits [n, V] (any float dtype) to -inf, in place, where the token's bit is not set.

    `masks` is int32[m, words], row i for logits[i]; with `rows` (int32 or int64 [m], no two equal) row i for
    logits[rows[i]], and the other logits stay as they are. Returns `logits`.
    """
    check(logits, masks, rows)
    allowed = unpack(masks, logits.shape[1])
    if rows is None:
        return logits.masked_fill_(~allowed, -torch.inf)
    logits[rows.long()] = logits[rows.long()].masked_fill(~allowed, -torch.inf)
    return logits


def check(logits: torch.Tensor, masks: torch.Tensor, rows: torch.Tensor | None) -> None:
    """Raise ValueError for tensors that do not fit together."""
    if logits.ndim != 2 or not logits.is_floating_point():
        raise ValueError("logits are a float tensor [n, V]")
    if masks.ndim != 2 or masks.dtype != torch.int32:
        raise ValueError("masks are an int32 tensor [m, words]")
    if rows is None:
        if len(masks) != len(logits):
            raise ValueError(f"{len(masks)} masks do not fit {len(logits)} rows of logits")
    elif rows.shape != (len(masks),) or rows.dtype not in (torch.int32, torch.int64):
        raise ValueError("rows are an int32 or int64 tensor with one entry a mask")
    if any(t.device != logits.device for t in (masks, rows) if t is not None):
        raise ValueError("logits, masks and rows must be on one device")
