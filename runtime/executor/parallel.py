"""One model on several devices: tensor parallelism by transformers' own plan, one process a device.

Started with `torchrun --nproc-per-node N`, or as a worker of `--tensor-parallel N`. Each process holds its
share of every layer's weights and heads, so its pool holds its share of keys and values. Rank 0 has the
engine: each call of its executor is first sent to the other ranks, and then all of them compute the same step
and synchronise inside its layers. The block tables are the same everywhere.

Orders are arrays of whole numbers, sent over gloo whatever carries the sums inside of the layers. A process
that fails in the middle of a step leaves the others waiting until torch's time limit ends them: a failed
group is started again, not repaired.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from enum import IntEnum
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.distributed as dist

from sglc.runtime.executor.plan import ExecutorError, Piece
from sglc.runtime.executor.torch_executor import TorchExecutor
from sglc.runtime.model.pretrained import load_decoder
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.tokenizer import Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

PATIENCE = timedelta(days=365)
"""How long a rank waits for an order: as long as nobody asks for anything."""


class Order(IntEnum):
    """A call of rank 0 that all ranks execute."""

    RESERVE = 0
    RUN = 1
    COPY = 2
    READ = 3
    WRITE = 4
    CLOSE = 5


_following: list[str] = []
"""The model that the other processes follow this one in; none before it is loaded, and when it is closed."""


class ParallelExecutor:
    """Implements `Executor` on rank 0; the other ranks call `follow`.

    The contract is that of `TorchExecutor`. A block's bytes are those of all ranks, rank by rank.
    """

    kind = "torch"
    invariant = False
    trees = False
    best: np.ndarray | None = None

    def __init__(self, model: PreTrainedModel, tokenizer: Tokenizer, name: str) -> None:
        """To be called on every rank of an initialised process group, with the rank's share of the model."""
        self._local = TorchExecutor(model, tokenizer, name, graphs=False)
        self._orders = dist.new_group(backend="gloo", timeout=PATIENCE)
        self.rank = dist.get_rank()
        self.ranks = dist.get_world_size()
        self.name = name
        self.tokenizer = tokenizer
        self.context_length = self._local.context_length
        sizes = self._gathered(torch.tensor([self._local.block_bytes]))
        self._shares = [int(size) for size in sizes]
        self.block_bytes = sum(self._shares)
        self.prompt_tokens = self._local.prompt_tokens
        self.identity = f"{self._local.identity} of {self.ranks}"

    def reserve(self, blocks: int) -> None:
        """See `Executor.reserve`; MemoryError where any rank has no room."""
        self._send(Order.RESERVE, [blocks])
        self._reserve(blocks)

    def run(self, pieces: Sequence[Piece]) -> np.ndarray:
        """See `Executor.run`. Pieces that do not fit are refused before any other rank hears of them."""
        step = self._local.step(pieces)
        self._send(Order.RUN, encode(pieces))
        return self._local.rows(step)

    def copy_block(self, source: int, target: int) -> None:
        """See `Executor.copy_block`."""
        self._send(Order.COPY, [source, target])
        self._local.copy_block(source, target)

    def read_block(self, block: int) -> bytes:
        """See `Executor.read_block`."""
        self._send(Order.READ, [block])
        return b"".join(part.numpy().tobytes() for part in self._collect(block))

    def write_block(self, block: int, data: bytes) -> None:
        """See `Executor.write_block`."""
        if len(data) != self.block_bytes:
            raise ValueError(f"a block has {self.block_bytes} bytes, not {len(data)}")
        self._send(Order.WRITE, [block])
        self._distribute(block, data)

    def close(self) -> None:
        """Release memory on all ranks; `follow` returns there."""
        self._send(Order.CLOSE, [])
        self._local.close()
        _following.clear()

    def follow(self) -> None:
        """Do what rank 0 does until it closes its executor, or its process ends. For every rank but 0."""
        header = torch.zeros(2, dtype=torch.int64)
        while True:
            try:
                dist.broadcast(header, 0, group=self._orders)
            except RuntimeError:  # nobody is there any more
                header[0] = Order.CLOSE
            order, length = Order(int(header[0])), int(header[1])
            if order == Order.CLOSE:
                self._local.close()
                return
            payload = torch.zeros(length, dtype=torch.int64)
            dist.broadcast(payload, 0, group=self._orders)
            self._obey(order, payload.tolist())

    @classmethod
    def from_directory(
        cls, directory: str | Path, *, name: str | None = None, dtype: str | None = None, device: str = "cpu"
    ) -> ParallelExecutor:
        """Load this rank's share of a model, as `TorchExecutor.from_directory`; to be called on every rank.

        `device` is `cpu` or `cuda`, where rank n of a machine takes device n. Raises ModelError, also for
        models whose heads cannot be divided among the ranks.
        """
        folder = Path(directory)
        if _following:
            why = f"the other processes compute {_following[0]} and follow no other model"
            hint = "blend two contexts of one model (`main without …`), or run one process"
            raise ModelError("a second model cannot be divided", name or folder.name, why, hint)
        if not dist.is_initialized():
            if "RANK" not in os.environ:
                raise ModelError("one process cannot share a model", str(folder), hint="start it by torchrun")
            if device != "cpu":
                torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
            backend, found = "gloo" if device == "cpu" else "nccl", os.environ.get("SGLC_RENDEZVOUS")
            if found is None:
                dist.init_process_group(backend)
            else:  # a group of `--tensor-parallel`, which meets at a file in place of a port
                rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
                dist.init_process_group(backend, init_method=found, rank=rank, world_size=size)
        model = load_decoder(folder, dtype, device, shared=True)
        tokenizer = Tokenizer.from_directory(folder, size=int(model.config.vocab_size))
        made = cls(model, tokenizer, name or folder.name)
        _following.append(made.name)
        return made

    def _obey(self, order: Order, numbers: list[int]) -> None:
        if order == Order.RESERVE:
            try:
                self._reserve(numbers[0])
            except MemoryError:
                pass  # rank 0 raises it
        elif order == Order.RUN:
            self._local.rows(self._local.step(decode(numbers)))
        elif order == Order.COPY:
            self._local.copy_block(*numbers)
        elif order == Order.READ:
            self._collect(numbers[0])
        else:
            self._distribute(numbers[0], b"")

    def _send(self, order: Order, numbers: list[int]) -> None:
        if self.rank:
            raise ExecutorError("only rank 0 gives orders; the others follow")
        dist.broadcast(torch.tensor([order, len(numbers)]), 0, group=self._orders)
        if numbers:
            dist.broadcast(torch.tensor(numbers), 0, group=self._orders)

    def _reserve(self, blocks: int) -> None:
        room = torch.ones(1, dtype=torch.int64)
        try:
            self._local.reserve(blocks)
        except MemoryError:
            room.zero_()
        dist.all_reduce(room, dist.ReduceOp.MIN, group=self._orders)
        if not room:
            raise MemoryError(f"no room for {blocks} blocks on some rank")

    def _gathered(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """A tensor of the same shape from each rank."""
        parts = [torch.empty_like(tensor) for _ in range(self.ranks)]
        dist.all_gather(parts, tensor, group=self._orders)
        return parts

    def _collect(self, block: int) -> list[torch.Tensor]:
        """uint8: each rank's part of a block; on all ranks."""
        data = torch.frombuffer(bytearray(self._local.read_block(block)), dtype=torch.uint8)
        padded = torch.zeros(max(self._shares), dtype=torch.uint8)
        padded[: len(data)] = data
        parts = self._gathered(padded)
        return [part[:share] for part, share in zip(parts, self._shares, strict=True)]

    def _distribute(self, block: int, data: bytes) -> None:
        """Give each rank its part of a block; `data` counts on rank 0 only."""
        whole = torch.zeros(self.block_bytes, dtype=torch.uint8)
        if not self.rank:
            whole = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        dist.broadcast(whole, 0, group=self._orders)
        start = sum(self._shares[: self.rank])
        self._local.write_block(block, whole[start : start + self._shares[self.rank]].numpy().tobytes())


def encode(pieces: Sequence[Piece]) -> list[int]:
    """Pieces as numbers: for each its start, rows wanted, two lengths, and then its table and its tokens."""
    numbers: list[int] = []
    for piece in pieces:
        numbers += (piece.start, piece.wanted, len(piece.table), len(piece.tokens))
        numbers += map(int, piece.table)
        numbers += map(int, piece.tokens)
    return numbers


def decode(numbers: Sequence[int]) -> list[Piece]:
    """The pieces that `encode` was given."""
    pieces = []
    at = 0
    while at < len(numbers):
        start, wanted, *lengths = numbers[at : at + 4]
        first, second, third = accumulate(lengths, initial=at + 4)
        pieces.append(Piece(list(numbers[first:second]), start, list(numbers[second:third]), wanted))
        at = third
    return pieces
