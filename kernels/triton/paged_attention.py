"""Attention over blocks of keys and values, as Triton kernels; `paged_reference.attend` defines it.

A program takes a tile of tokens of one sequence and one head of keys: the query heads that read it are rows
of one matrix, so keys and values are loaded once for all of them. It goes over the keys with the running
maximum and sum of FlashAttention (Dao 2023, https://arxiv.org/abs/2307.08691). Where there are few tiles, the
keys of each are split among several programs and a second kernel unites their parts, as in Flash-Decoding
(https://crfm.stanford.edu/2023/10/12/flashdecoding.html). Block tables are read on the device, so a launch of
one shape serves sequences of any length and can be part of a CUDA graph. Importing this file needs triton.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from sglc.kernels.triton.paged_reference import Tiles

LEAST_ROWS = 16
"""Rows of the smallest matrix that the tensor units take."""
TOGETHER = 64
"""Positions whose keys a program takes at once; half of it for wide heads."""
WIDE = 128


@triton.jit
def _attend(  # type: ignore[no-untyped-def]  # triton reads annotations itself
    query, keys, values, tables, tile_tables, tile_rows, tile_counts, tile_positions, out, parts, sums,
    scaling, softcap, window, q_head, q_row, k_head, v_head, table_row, out_row,
    SHARES: tl.constexpr, KEY_WIDTH: tl.constexpr, VALUE_WIDTH: tl.constexpr, KEY_ROOM: tl.constexpr,
    VALUE_ROOM: tl.constexpr, ROWS: tl.constexpr, PLACES: tl.constexpr, TOGETHER: tl.constexpr,
    SPLITS: tl.constexpr, CAPPED: tl.constexpr, WINDOWED: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    split = tl.program_id(2)
    table = tables + tl.load(tile_tables + tile).to(tl.int64) * table_row
    first_row = tl.load(tile_rows + tile).to(tl.int64)
    count = tl.load(tile_counts + tile)
    position = tl.load(tile_positions + tile)

    lane = tl.arange(0, ROWS)
    token = lane // SHARES
    query_head = head * SHARES + lane % SHARES
    real = token < count
    last = position + token
    wide = tl.arange(0, KEY_ROOM)
    across = tl.arange(0, VALUE_ROOM)
    places = query + query_head[:, None] * q_head + (first_row + token)[:, None] * q_row + wide[None, :]
    q = tl.load(places, mask=real[:, None] & (wide < KEY_WIDTH)[None, :], other=0.0)

    end = position + count
    first = 0
    if WINDOWED:
        first = tl.maximum(position - window + 1, 0) // TOGETHER * TOGETHER
    turns = tl.cdiv(tl.cdiv(end - first, TOGETHER), SPLITS)
    low = first + split * turns * TOGETHER
    high = tl.minimum(low + turns * TOGETHER, end)

    highest = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    result = tl.zeros([ROWS, VALUE_ROOM], tl.float32)
    for at in range(low, high, TOGETHER):
        now = at + tl.arange(0, TOGETHER)
        inside = now < high
        block = tl.load(table + now // PLACES, mask=inside, other=0).to(tl.int64)
        slot = block * PLACES + now % PLACES
        k = tl.load(
            keys + head * k_head + slot[None, :] * KEY_WIDTH + wide[:, None],
            mask=inside[None, :] & (wide < KEY_WIDTH)[:, None],
            other=0.0,
        )
        scores = tl.dot(q, k, input_precision="ieee") * scaling
        if CAPPED:
            scores = softcap * (2.0 * tl.sigmoid(2.0 * scores / softcap) - 1.0)
        seen = inside[None, :] & (now[None, :] <= last[:, None])
        if WINDOWED:
            seen = seen & (now[None, :] > last[:, None] - window)
        scores = tl.where(seen, scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, 1))
        # A row that has seen nothing yet has no maximum to subtract.
        base = tl.where(higher == float("-inf"), 0.0, higher)
        weights = tl.exp(scores - base[:, None])
        decay = tl.exp(highest - base)
        total = total * decay + tl.sum(weights, 1)
        v = tl.load(
            values + head * v_head + slot[:, None] * VALUE_WIDTH + across[None, :],
            mask=inside[:, None] & (across < VALUE_WIDTH)[None, :],
            other=0.0,
        )
        result = result * decay[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        highest = higher

    if SPLITS == 1:
        rows = out + (first_row + token)[:, None] * out_row + query_head[:, None] * VALUE_WIDTH
        some = real[:, None] & (across < VALUE_WIDTH)[None, :]
        total = tl.where(total == 0.0, 1.0, total)
        tl.store(rows + across[None, :], (result / total[:, None]).to(out.dtype.element_ty), mask=some)
    else:
        place = ((tile * tl.num_programs(1) + tl.program_id(1)) * SPLITS + split).to(tl.int64) * ROWS + lane
        tl.store(parts + place[:, None] * VALUE_ROOM + across[None, :], result, mask=real[:, None])
        tl.store(sums + place * 2, highest, mask=real)
        tl.store(sums + place * 2 + 1, total, mask=real)


@triton.jit
def _unite(  # type: ignore[no-untyped-def]  # triton reads annotations itself
    parts,
    sums,
    tile_rows,
    tile_counts,
    out,
    out_row,
    SHARES: tl.constexpr,
    VALUE_WIDTH: tl.constexpr,
    VALUE_ROOM: tl.constexpr,
    ROWS: tl.constexpr,
    SPLITS: tl.constexpr,
):
    tile = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    first_row = tl.load(tile_rows + tile).to(tl.int64)
    lane = tl.arange(0, ROWS)
    token = lane // SHARES
    real = token < tl.load(tile_counts + tile)
    across = tl.arange(0, VALUE_ROOM)
    begin = (tile * tl.num_programs(1) + tl.program_id(1)).to(tl.int64) * SPLITS * ROWS

    highest = tl.full([ROWS], float("-inf"), tl.float32)
    for split in range(SPLITS):
        place = begin + split * ROWS + lane
        highest = tl.maximum(highest, tl.load(sums + place * 2, mask=real, other=0.0))
    total = tl.zeros([ROWS], tl.float32)
    result = tl.zeros([ROWS, VALUE_ROOM], tl.float32)
    for split in range(SPLITS):
        place = begin + split * ROWS + lane
        weight = tl.exp(tl.load(sums + place * 2, mask=real, other=0.0) - highest)
        total += weight * tl.load(sums + place * 2 + 1, mask=real, other=1.0)
        part = tl.load(parts + place[:, None] * VALUE_ROOM + across[None, :], mask=real[:, None], other=0.0)
        result += weight[:, None] * part
    query_head = head * SHARES + lane % SHARES
    rows = out + (first_row + token)[:, None] * out_row + query_head[:, None] * VALUE_WIDTH
    some = real[:, None] & (across < VALUE_WIDTH)[None, :]
    tl.store(rows + across[None, :], (result / total[:, None]).to(out.dtype.element_ty), mask=some)


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
    splits: int = 1,
) -> torch.Tensor:
    """See `paged_reference.attend`. The keys of a tile are split among `splits` programs.

    The innermost dimension of every tensor is contiguous, and so are the last three of keys and values.
    Raises ValueError for tensors that do not fit together.
    """
    heads, _, places, key_width = keys.shape
    value_width = values.shape[3]
    if query.shape[0] % heads or query.shape[2] != key_width or values.shape[:3] != keys.shape[:3]:
        raise ValueError("queries, keys and values do not fit")
    if out.shape != (query.shape[1], query.shape[0], value_width) or not out.is_contiguous():
        raise ValueError("the result is [tokens, heads, width of values], contiguous")
    if query.stride(2) != 1 or not (keys[0].is_contiguous() and values[0].is_contiguous()):
        raise ValueError("keys, values and the numbers of a query must be contiguous")
    if tables.dtype != torch.int32 or tables.stride(1) != 1:
        raise ValueError("block tables are int32, and contiguous")
    count = len(tiles.rows)
    if not count:
        return out
    shares = query.shape[0] // heads
    rows = max(LEAST_ROWS, triton.next_power_of_2(tiles.most * shares))
    value_room = max(16, triton.next_power_of_2(value_width))
    # Without splits the two are not touched, but a kernel wants a pointer.
    parts = sums = out
    if splits > 1:
        shape = (count * heads * splits * rows,)
        parts = torch.empty((*shape, value_room), dtype=torch.float32, device=out.device)
        sums = torch.empty((*shape, 2), dtype=torch.float32, device=out.device)
    _attend[(count, heads, splits)](
        query, keys, values, tables, tiles.tables, tiles.rows, tiles.counts, tiles.positions, out,
        parts, sums, scaling, 1.0 if softcap is None else softcap, 0 if window is None else window,
        query.stride(0), query.stride(1), keys.stride(0), values.stride(0), tables.stride(0), out.stride(0),
        SHARES=shares, KEY_WIDTH=key_width, VALUE_WIDTH=value_width,
        KEY_ROOM=max(16, triton.next_power_of_2(key_width)), VALUE_ROOM=value_room, ROWS=rows, PLACES=places,
        TOGETHER=TOGETHER if max(key_width, value_width) <= WIDE else TOGETHER // 2, SPLITS=splits,
        CAPPED=softcap is not None, WINDOWED=window is not None,
    )  # fmt: skip
    if splits > 1:
        _unite[(count, heads)](
            parts,
            sums,
            tiles.rows,
            tiles.counts,
            out,
            out.stride(0),
            SHARES=shares,
            VALUE_WIDTH=value_width,
            VALUE_ROOM=value_room,
            ROWS=rows,
            SPLITS=splits,
        )
    return out
