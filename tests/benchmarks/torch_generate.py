"""Greedy generation by the torch executor beside `generate` of transformers, on a CPU.

    python tests/benchmarks/torch_generate.py MODEL_FOLDER [--batches 1,8,32] [--threads 1] [--rounds 3]

MODEL_FOLDER has config.json and safetensors. Both sides read `batch` prompts of 48 tokens and write 16 tokens
for each, in float32, and take turns; the figures are the least of the rounds. With one thread they are
seconds of the processor, so that a busy machine does not count.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sglc.runtime.executor.plan import BLOCK_TOKENS, Piece
from sglc.runtime.executor.torch_executor import TorchExecutor
from sglc.runtime.model.pretrained import load_decoder

READ, WRITTEN = 48, 16


def ours(executor: TorchExecutor, tables: list[list[int]], prompts: np.ndarray) -> np.ndarray:
    """Tokens [batch, WRITTEN]."""
    pairs = list(zip(tables, prompts.tolist(), strict=True))
    parts = [
        executor.run([Piece(table, 0, prompt) for table, prompt in pairs[start : start + 8]]).argmax(1)
        for start in range(0, len(pairs), 8)
    ]
    written = [np.concatenate(parts)]
    for turn in range(WRITTEN - 1):
        pieces = [
            Piece(table, READ + turn, [int(token)]) for table, token in zip(tables, written[-1], strict=True)
        ]
        written.append(executor.run(pieces).argmax(1))
    return np.stack(written, 1)


def theirs(model: Any, prompts: np.ndarray) -> np.ndarray:
    """Tokens [batch, WRITTEN]."""
    given = torch.from_numpy(prompts)
    found = model.generate(
        given, attention_mask=torch.ones_like(given), max_new_tokens=WRITTEN, min_new_tokens=WRITTEN,
        do_sample=False, pad_token_id=0,
    )  # fmt: skip
    tokens: np.ndarray = found[:, READ:].numpy()
    return tokens


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--batches", default="1,8,32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    clock = time.thread_time if given.threads == 1 else time.perf_counter
    executor = TorchExecutor.from_directory(given.model, dtype="float32", threads=given.threads)
    model = load_decoder(given.model, "float32")
    random = np.random.default_rng(0)
    each = -(-(READ + WRITTEN) // BLOCK_TOKENS)
    for batch in map(int, given.batches.split(",")):
        executor.reserve(batch * each)
        tables = random.permutation(batch * each).reshape(batch, each).tolist()
        prompts = random.integers(5, executor.tokenizer.size, (batch, READ))
        spent: tuple[list[float], list[float]] = ([], [])
        for _ in range(given.rounds):
            started = clock()
            mine = ours(executor, tables, prompts)
            middle = clock()
            other = theirs(model, prompts)
            spent[0].append(middle - started)
            spent[1].append(clock() - middle)
        seconds = [min(times) for times in spent]
        print(
            f"batch {batch:>3}: {seconds[0]:.2f} s, generate {seconds[1]:.2f} s, "
            f"{seconds[1] / seconds[0]:.2f} times as fast; equal tokens {np.mean(mine == other):.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
