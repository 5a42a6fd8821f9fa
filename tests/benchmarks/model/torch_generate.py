"""Greedy generation by the engine on the torch executor beside `generate` of transformers, on a CPU.

    python tests/benchmarks/model/torch_generate.py MODEL_FOLDER [--dtype bfloat16] [--threads 2] [--batches
    1,8,32]

MODEL_FOLDER has config.json and safetensors. Both sides read `batch` prompts of 128 tokens at once and write
32 tokens for each. They take turns, each in a process of its own: threads that one of them leaves behind
would slow the other down. Figures are the least of the rounds: seconds of reading (until the first token of
all) and of a token of all after that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

READ, WRITTEN = 128, 32
REPEATED = 3
"""Times that each process does its work; the first warms up."""


def ours(folder: Path, dtype: str, threads: int, batch: int) -> Callable[[int], np.ndarray]:
    """Writes so many tokens for each prompt: tokens [batch, n]."""
    from sglc.runtime.engine.open import open_engine
    from sglc.runtime.executor.torch_executor import TorchExecutor

    executor = TorchExecutor.from_directory(folder, dtype=dtype, threads=threads)
    given = prompts(batch, executor.tokenizer.size)
    engine = open_engine(executor, memory=executor.block_bytes * 20_000)
    turn = 0

    async def one(prompt: list[int], count: int) -> list[int]:
        branch = engine.branch()
        branch.append([turn, *prompt[1:]])  # another first token each time, so that nothing is found again
        written = []
        for _ in range(count):
            written.append(int((await branch.logits()).argmax()))
            branch.append([written[-1]])
        branch.close()
        return written

    async def all_of(count: int) -> np.ndarray:
        return np.array(await asyncio.gather(*(one(prompt, count) for prompt in given.tolist())))

    def write(count: int) -> np.ndarray:
        nonlocal turn
        turn += 1
        return asyncio.run(all_of(count))

    return write


def theirs(folder: Path, dtype: str, threads: int, batch: int) -> Callable[[int], np.ndarray]:
    """As `ours`."""
    import torch

    from sglc.runtime.model.pretrained import load_decoder

    torch.set_num_threads(threads)
    model: Any = load_decoder(folder, dtype)
    given = torch.from_numpy(prompts(batch, int(model.config.vocab_size)))

    def write(count: int) -> np.ndarray:
        found = model.generate(
            given,
            attention_mask=torch.ones_like(given),
            max_new_tokens=count,
            min_new_tokens=count,
            do_sample=False,
            pad_token_id=0,
        )
        tokens: np.ndarray = found[:, READ:].numpy()
        return tokens

    return write


def prompts(batch: int, size: int) -> np.ndarray:
    return np.random.default_rng(0).integers(5, size, (batch, READ))


def measure(write: Callable[[int], np.ndarray]) -> dict[str, float]:
    """Seconds of reading and of a token."""
    read, whole = [], []
    for _ in range(REPEATED):
        started = time.perf_counter()
        write(1)
        read.append(time.perf_counter() - started)
        started = time.perf_counter()
        write(WRITTEN)
        whole.append(time.perf_counter() - started)
    return {"read": min(read), "token": (min(whole) - min(read)) / (WRITTEN - 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batches", default="1,8,32")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--side", choices=["ours", "theirs"])
    given = parser.parse_args()
    if given.side:
        side = ours if given.side == "ours" else theirs
        print(json.dumps(measure(side(given.model, given.dtype, given.threads, int(given.batches)))))
        return
    for batch in given.batches.split(","):
        best: dict[str, dict[str, float]] = {"ours": {}, "theirs": {}}
        for _ in range(given.rounds):
            for side, figures in best.items():
                command = [sys.executable, "-P", __file__, str(given.model), "--dtype", given.dtype]
                command += ["--threads", str(given.threads), "--batches", batch, "--side", side]
                printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                for name, seconds in json.loads(printed.splitlines()[-1]).items():
                    figures[name] = min(seconds, figures.get(name, seconds))
        mine, other = best["ours"], best["theirs"]
        print(f"batch {batch:>3}: reading {show(mine['read'], other['read'])}", end="; ")
        print(f"a token of all {show(mine['token'], other['token'])}", flush=True)


def show(mine: float, other: float) -> str:
    return f"{1e3 * mine:.1f} ms, generate {1e3 * other:.1f} ms ({other / mine:.2f} times as fast)"


if __name__ == "__main__":
    main()
