"""Packed masks applied to a batch of logits, as a Triton kernel; `reference.apply_packed_mask` defines it.

Each program takes a block of one row: it loads the block's mask words once, spreads each over its 32 tokens,
and writes -inf where a bit is not set. Logits are never read, so a step moves the masks (V / 8 bytes a row)
and the forbidden logits, and nothing else. Importing this file needs triton.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from sglc.kernels.triton.packed_mask_reference import check

BLOCK = 4096
"""Tokens a program takes."""


@triton.jit
def _kernel(  # type: ignore[no-untyped-def]  # triton reads annotations itself
    logits, masks, rows, size, words, stride, mask_stride, HAS_ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    which = tl.program_id(0).to(tl.int64)
    row = which
    if HAS_ROWS:
        row = tl.load(rows + which).to(tl.int64)
    index = tl.program_id(1) * (BLOCK // 32) + tl.arange(0, BLOCK // 32)
    packed = tl.load(masks + which * mask_stride + index, mask=index < words, other=0)
    lanes = tl.arange(0, 32)
    forbidden = ((packed[:, None] >> lanes[None, :]) & 1) == 0
    token = index[:, None] * 32 + lanes[None, :]
    places = logits + row * stride + token
    infinite = tl.full(token.shape, float("-inf"), tl.float32).to(logits.dtype.element_ty)
    tl.store(places, infinite, mask=forbidden & (token < size))


def apply_packed_mask(
    logits: torch.Tensor, masks: torch.Tensor, rows: torch.Tensor | None = None
) -> torch.Tensor:
    """Set logits [n, V] (any float dtype) to -inf, in place, where the token's bit is not set.

    `masks` is int32[m, words], row i for logits[i]; with `rows` (int32 or int64 [m], no two equal) row i for
    logits[rows[i]], and the other logits stay as they are. Returns `logits`. Rows may be strided, the tokens
    of a row must be contiguous.
    """
    check(logits, masks, rows)
    if logits.stride(1) != 1 or masks.stride(1) != 1:
        raise ValueError("the tokens of a row must be contiguous")
    n, size = len(masks), logits.shape[1]
    if n and size:
        grid = (n, triton.cdiv(size, BLOCK))
        _kernel[grid](
            logits,
            masks,
            masks if rows is None else rows,
            size,
            masks.shape[1],
            logits.stride(0),
            masks.stride(0),
            HAS_ROWS=rows is not None,
            BLOCK=BLOCK,
        )
    return logits
