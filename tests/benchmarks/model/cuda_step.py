"""Steps of the torch executor on a GPU, for models of Llama's shape with random weights, beside the floor.

    python tests/benchmarks/model/cuda_step.py [--shapes 1b,7b] [--batches 1,8,32,128] [--markdown PAGE]

The floor of a step is the time in which the weights are read once, at the bandwidth that copying half a
gigabyte on the same device shows (bytes read and written). Steps decode one token of each of `batch`
sequences behind 512 positions, with logits brought to the host or with tokens picked on the device, by CUDA
graphs or kernel by kernel, by the Triton kernels or by products of torch. Figures are medians. The second
table is of whole programs through the engine: as many as `batch` at once, each writes a list of texts, with
temperature and top-p, under masks, by steps as the first table's first kind. Needs a CUDA device; with
`--device cpu --shapes tiny` the program itself can be tried.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fakes.small_models import small_definition
from report import surroundings, write_page
from sglc.driver import compile_source
from sglc.runtime.engine.open import open_engine
from sglc.runtime.executor.plan import Picking, Piece
from sglc.runtime.executor.torch_executor import TorchExecutor
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.session import Session
from sglc.runtime.tokenizer import Tokenizer
from sglc.source import Source

SHAPES: dict[str, dict[str, int]] = {
    "tiny": {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 512,
    },
    "1b": {
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
    },
    "7b": {
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
    },
}
BEHIND, DECODED, WARM, READ = 512, 40, 5, 2048
PROGRAM = """
fn texts(about: str) -> [str]:
    | Some texts about ${about}: ?{made: [str min 10 chars max 30 chars; 3..4] temp 0.8 top_p 0.95}
    return made
"""


def random_model(shape: str, device: str) -> Any:
    """A model with random weights in bfloat16."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(**SHAPES[shape], max_position_embeddings=8192, tie_word_embeddings=False)
    previous = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(device):
            return LlamaForCausalLM(config).eval()
    finally:
        torch.set_default_dtype(previous)


def median_time(work: Callable[[int], Any], times: int) -> float:
    """Median seconds of a call; whatever is measured ends with its result on the host."""
    for turn in range(WARM):
        work(turn)
    spent = []
    for turn in range(WARM, WARM + times):
        started = time.perf_counter()
        work(turn)
        spent.append(time.perf_counter() - started)
    return statistics.median(spent)


def copy_bandwidth(device: str) -> float:
    """Bytes a second, read and written, of copying half a gigabyte."""
    source = torch.ones(1 << 29, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)

    def copy(_: int) -> None:
        for _ in range(8):
            target.copy_(source)
        target[:1].cpu()

    return 2 * 8 * len(source) / median_time(copy, 10)


class Bench:
    """One executor with sequences that have `BEHIND` positions behind them."""

    def __init__(self, model: Any, shape: str, batch: int, **options: Any) -> None:
        size = SHAPES[shape]["vocab_size"]
        self.executor = TorchExecutor(model, SimpleNamespace(size=size), shape, **options)
        each = -(-(BEHIND + DECODED + WARM + 1) // BLOCK_TOKENS)
        self.executor.reserve(max(batch * each, READ // BLOCK_TOKENS))
        numbers = np.random.default_rng(0).permutation(batch * each).reshape(batch, each)
        self.tables = numbers.tolist()
        self.tokens = np.random.default_rng(1).integers(0, size, READ).tolist()
        self.masks = np.full((batch, -(-size // 32)), -1, dtype=np.int32)
        for table in self.tables:
            self.executor.run([Piece(table, 0, self.tokens[:BEHIND], 0)])

    def pieces(self, turn: int) -> list[Piece]:
        return [Piece(table, BEHIND + turn, [self.tokens[turn]]) for table in self.tables]

    def rows(self, turn: int) -> None:
        self.executor.run(self.pieces(turn))

    def picked(self, turn: int) -> None:
        batch = len(self.tables)
        launched = self.executor.launch(self.pieces(turn))
        self.executor.pick(launched, range(batch), self.masks, [Picking()] * batch)

    def prompt(self, turn: int) -> None:
        self.executor.run([Piece(list(range(READ // BLOCK_TOKENS)), 0, self.tokens)])


def measure(shape: str, batches: list[int], device: str, bandwidth: float) -> list[str]:
    """Lines of a table."""
    model = random_model(shape, device)
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    weights -= model.get_input_embeddings().weight.numel() * 2  # of which a step reads a few rows
    floor = weights / bandwidth
    lines = []
    kinds: dict[str, dict[str, Any]] = {"products of torch": {"attention": "torch"}}
    if device != "cpu":
        kinds = {
            "kernels, graphs": {"attention": "triton"},
            "kernels": {"attention": "triton", "graphs": False},
        } | kinds
    for batch in batches:
        for kind, options in kinds.items():
            model.set_attn_implementation("sdpa")
            bench = Bench(model, shape, batch, **options)
            rows, picked = (median_time(work, DECODED // 2) for work in (bench.rows, bench.picked))
            lines.append(
                f"| {shape}, batch {batch} | {kind} | {1e3 * rows:.2f} | {1e3 * picked:.2f} "
                f"| {batch / picked:,.0f} | {1e3 * floor:.2f} | {picked / floor:.2f} |"
            )
            print(lines[-1], flush=True)
            if batch == batches[-1]:
                lines.append(
                    f"| {shape}, prompt of {READ} | {kind} | "
                    f"{1e3 * (spent := median_time(bench.prompt, 5)):.1f} | | {READ / spent:,.0f} | | |"
                )
                print(lines[-1], flush=True)
    return lines


def programs(shape: str, batches: list[int], device: str) -> list[str]:
    """Lines of a table of whole programs, with tokens drawn on the device and on the host."""
    model = random_model(shape, device)
    program = compile_source(Source("texts.sgl", PROGRAM)).program
    assert program is not None
    tokenizer = Tokenizer(json.loads(small_definition()), size=SHAPES[shape]["vocab_size"])
    lines = []
    for batch in batches:
        for where, draws in (("on the device", True), ("on the host", False)):
            model.set_attn_implementation("sdpa")
            executor = TorchExecutor(model, tokenizer, shape, draws=draws)
            engine = open_engine(executor, memory=executor.block_bytes * batch * 20)
            session = Session(program, engine)

            async def together(session: Session = session, batch: int = batch) -> int:
                runs = (session.run("texts", {"about": f"{n}"}, seed=n) for n in range(batch))
                return sum(run.statistics.sampled_tokens for run in await asyncio.gather(*runs))

            asyncio.run(together())  # graphs are captured, masks are made
            steps, thread, started = engine.measure.steps, time.thread_time(), time.perf_counter()
            drawn = asyncio.run(together())
            seconds, thread = time.perf_counter() - started, time.thread_time() - thread
            lines.append(
                f"| {shape}, {batch} programs | {where} | {drawn:,} | {drawn / seconds:,.0f} "
                f"| {1e3 * seconds / (engine.measure.steps - steps):.2f} | {1e6 * thread / drawn:.0f} |"
            )
            print(lines[-1], flush=True)
            engine.close()
    return lines


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--shapes", default="1b,7b")
    parser.add_argument("--batches", default="1,8,32,128")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--markdown")
    given = parser.parse_args()
    if given.device != "cpu" and not torch.cuda.is_available():
        print("cuda_step.py needs a CUDA device, and torch finds none here", file=sys.stderr)
        return 2
    bandwidth = copy_bandwidth(given.device)
    device = "CPU" if given.device == "cpu" else torch.cuda.get_device_name()
    head = [
        f"{device}: copying {bandwidth / 1e9:,.0f} GB/s (read and written), torch {torch.__version__}.",
        "",
        "| step | by | logits to the host, ms | tokens picked, ms | tokens/s | floor, ms | of the floor |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    print("\n".join(head), flush=True)
    batches = [int(batch) for batch in given.batches.split(",")]
    lines = head + [
        line for shape in given.shapes.split(",") for line in measure(shape, batches, given.device, bandwidth)
    ]
    more = [
        "",
        "| programs | tokens drawn | tokens | tokens/s | ms a step | µs of the thread a token |",
        "|---|---|--:|--:|--:|--:|",
    ]
    print("\n".join(more), flush=True)
    lines += more
    for shape in given.shapes.split(","):
        lines += programs(shape, batches, given.device)
    if given.markdown:
        words = (__doc__ or "").split("\n\n", 2)[2]
        write_page(given.markdown, "Steps on a GPU", words, "\n".join(lines), surroundings())
    return 0


if __name__ == "__main__":
    sys.exit(main())
