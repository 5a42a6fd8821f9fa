"""A step on a GPU: block tables and tiles on the device, Triton kernels, decoding by CUDA graphs.

Where a step has one token of each piece, the launches of the host take longer than the work of the GPU. So
it is captured as a CUDA graph, one for each of a few sizes, and padded to the next of them: what is padded
has no tokens to attend to, and writes its keys and values to a block that no table names.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import numpy as np
import torch

from sglc.kernels.triton.paged_attention import LEAST_ROWS, attend
from sglc.kernels.triton.paged_reference import Tiles
from sglc.runtime.executor.block_pool import TensorPool
from sglc.runtime.executor.paged_attention import AttentionLayer, Options
from sglc.runtime.executor.step import PieceSpan, Step
from sglc.runtime.kv.blocks import BLOCK_TOKENS

SIZES = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Pieces of the graphs. A larger step is launched kernel by kernel."""
TILE_ROWS = 64
"""Rows of queries in a tile of a prompt."""
MOST_SPLITS = 16
PROGRAMS = 2
"""Programs for each multiprocessor that splitting the keys aims at."""


class TritonStep:
    """A step whose arrays are on the device; takes the place of `PagedStep`."""

    def __init__(self, step: Step, pool: TensorPool) -> None:
        self.pool = pool
        self.slots = step.slots
        self._step = step
        width = max(len(span.table) for span in step.spans)
        tables = np.zeros((len(step.spans), width), dtype=np.int32)
        for row, span in zip(tables, step.spans, strict=True):
            row[: len(span.table)] = span.table
        self.tables = torch.from_numpy(tables).to(pool.device)
        self._launches: dict[int, list[Tiles]] = {}

    def attend(
        self,
        module: AttentionLayer,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        options: Options,
    ) -> torch.Tensor:
        """As `PagedStep.attend`."""
        layer = module.layer_idx
        keys, values = self.pool.keys[layer], self.pool.values[layer]
        for pool, new in ((keys, key), (values, value)):
            pool.view(pool.shape[0], -1, pool.shape[3]).index_copy_(1, self.slots, new[0])
        heads = keys.shape[0]
        out = query.new_empty((query.shape[2], query.shape[1], value.shape[3]))
        for tiles in self.launches(query.shape[1] // heads):
            attend(
                query[0],
                keys,
                values,
                self.tables,
                tiles,
                out,
                scaling=options.scaling,
                window=options.window,
                softcap=options.softcap,
                splits=self.splits(tiles, heads),
            )
        return out

    def launches(self, shares: int) -> list[Tiles]:
        """Tiles of few tokens and tiles of prompts; `shares` queries read a key."""
        found = self._launches.get(shares)
        if found is None:
            few = max(1, LEAST_ROWS // shares)
            many = max(few, TILE_ROWS // shares)
            short = [(i, span) for i, span in enumerate(self._step.spans) if span.count <= few]
            long = [(i, span) for i, span in enumerate(self._step.spans) if span.count > few]
            found = [self._tiles(part, most) for part, most in ((short, few), (long, many)) if part]
            self._launches[shares] = found
        return found

    def splits(self, tiles: Tiles, heads: int) -> int:
        """Among how many programs the keys of a tile are split, so that all multiprocessors work."""
        return splits_for(len(tiles.rows) * heads, self.pool.device)

    def _tiles(self, spans: list[tuple[int, PieceSpan]], most: int) -> Tiles:
        rows = [
            (index, span.first + at, min(most, span.count - at), span.start + at)
            for index, span in spans
            for at in range(0, span.count, most)
        ]
        array = torch.from_numpy(np.array(rows, dtype=np.int32).T.copy()).to(self.pool.device)
        longest = max(span.count for _, span in spans)
        return Tiles(array[0], array[1], array[2], array[3], most=min(most, longest))


class DecodeStep(TritonStep):
    """Buffers that a step of one token a piece is copied into: always the same addresses, so for a graph."""

    def __init__(self, size: int, pool: TensorPool, context: int) -> None:
        self.pool = pool
        self.size = size
        device = pool.device
        pinned = device.type == "cuda"
        # Rows: tokens, positions, slots, number of tokens (0 or 1).
        self._host = torch.zeros((4, size), dtype=torch.int64, pin_memory=pinned)
        self._device = torch.zeros((4, size), dtype=torch.int64, device=device)
        self.ids, self.positions = self._device[:1], self._device[1:2]
        self.slots = self._device[2]
        width = -(-context // BLOCK_TOKENS)
        self._host_tables = torch.zeros((size, width), dtype=torch.int32, pin_memory=pinned)
        self.tables = torch.zeros((size, width), dtype=torch.int32, device=device)
        numbers = torch.arange(size, dtype=torch.int32, device=device)
        self._tile = Tiles(numbers, numbers, torch.zeros_like(numbers), torch.zeros_like(numbers), most=1)

    def launches(self, shares: int) -> list[Tiles]:
        """One tile a piece."""
        return [self._tile]

    def fill(self, step: Step) -> None:
        """Copy a step of at most `size` pieces of one token into the buffers."""
        count = len(step.spans)
        host = self._host.numpy()
        host[:, count:] = 0
        host[2, count:] = self.pool.blocks * BLOCK_TOKENS  # the block that no table names
        host[0, :count] = step.host_ids
        host[1, :count] = step.host_positions
        host[2, :count] = step.host_slots
        host[3, :count] = 1
        self._device.copy_(self._host, non_blocking=True)
        width = max(len(span.table) for span in step.spans)
        tables = self._host_tables.numpy()
        for row, span in zip(tables, step.spans, strict=False):
            row[: len(span.table)] = span.table
        self.tables[:count, :width].copy_(self._host_tables[:count, :width], non_blocking=True)
        self._tile.counts.copy_(self._device[3])
        self._tile.positions.copy_(self._device[1])


class DecodeGraphs:
    """Steps of one token a piece, each size captured at its first use.

    Where nothing can be captured, on a CPU above all, the same buffers are computed kernel by kernel.
    """

    def __init__(self, pool: TensorPool, context: int, forward: Callable[[DecodeStep], torch.Tensor]) -> None:
        """`forward` computes the logits [size, V] of a filled step."""
        self._pool = pool
        self._context = context
        self._forward = forward
        self._steps: dict[int, tuple[DecodeStep, torch.cuda.CUDAGraph | None, torch.Tensor | None]] = {}
        self._blocks = pool.blocks
        self._memory: torch.cuda._POOL_HANDLE | None = None

    def fits(self, step: Step) -> bool:
        """Whether a step may be computed here: a token of each piece, and its logits wanted."""
        count = len(step.spans)
        return count == step.count == len(step.host_kept) and count <= SIZES[-1]

    def run(self, step: Step) -> torch.Tensor:
        """Logits [pieces, V], valid until the next call."""
        if self._blocks != self._pool.blocks:  # the pool lies elsewhere now
            self._steps.clear()
            self._blocks = self._pool.blocks
        count = len(step.spans)
        size = SIZES[bisect_left(SIZES, count)]
        found = self._steps.get(size)
        if found is None:
            buffers = DecodeStep(size, self._pool, self._context)
            buffers.fill(step)
            found = self._steps[size] = (buffers, *self._capture(buffers))
        buffers, graph, logits = found
        buffers.fill(step)
        if graph is None:
            return self._forward(buffers)[:count]
        graph.replay()
        assert logits is not None
        return logits[:count]

    def _capture(self, buffers: DecodeStep) -> tuple[torch.cuda.CUDAGraph | None, torch.Tensor | None]:
        """The graph and its result. Computing a step twice writes the same, so a warm-up changes nothing."""
        if self._pool.device.type != "cuda":
            return None, None
        if self._memory is None:
            self._memory = torch.cuda.graph_pool_handle()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):  # compiles kernels, and makes what libraries make at their first call
                self._forward(buffers)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=self._memory):
                logits = self._forward(buffers)
        except RuntimeError:  # model code that looks at values on the host, such as some mixtures of experts
            torch.cuda.synchronize()
            return None, None
        return graph, logits


def splits_for(programs: int, device: torch.device) -> int:
    """How many parts the keys of each of so many programs are split into; a power of two."""
    if device.type != "cuda":
        return 2 if programs < 8 else 1
    wanted = PROGRAMS * torch.cuda.get_device_properties(device).multi_processor_count
    splits = 1
    while splits < MOST_SPLITS and programs * splits < wanted:
        splits *= 2
    return splits
