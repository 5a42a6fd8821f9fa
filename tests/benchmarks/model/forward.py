"""Forward passes: tokens a second in decoding and in reading a prompt, and what the engine adds to them.

    python -P tests/benchmarks/model/forward.py [MODEL] [DTYPE]

The engine's share is the time of `Branch.logits` and sampling outside of the forward pass.
"""

from __future__ import annotations

import asyncio
import sys
from statistics import median
from time import perf_counter

from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import sample
from sglc.runtime.model.load import load_model

PROMPTS = (32, 128, 512)
DECODED = 64


async def measure(engine: ReferenceEngine) -> None:
    text = "The first half of a long story about a lighthouse and the sea, told slowly and with care. "
    tokens = engine.model.tokenizer.encode(text * 40)
    for size in PROMPTS:
        times = []
        for _ in range(3):
            branch = engine.branch()
            branch.append(tokens[:size])
            started = perf_counter()
            await branch.logits()
            times.append(perf_counter() - started)
        print(f"prompt of {size:>4} tokens: {size / min(times):8.0f} tokens/s")
    steps, samples, outside = [], [], []
    for position in range(DECODED):
        spent = branch.statistics.seconds
        started = perf_counter()
        row = await branch.logits()
        middle = perf_counter()
        branch.append([sample(row, None, Sampling(), (0, position)).token])
        samples.append(perf_counter() - middle)
        steps.append(middle - started)
        outside.append(perf_counter() - started - (branch.statistics.seconds - spent))
    print(f"decoding after {PROMPTS[-1]} tokens: {1 / median(steps):6.1f} tokens/s (median step)")
    print(f"outside of the forward pass: {median(outside) * 1000:.3f} ms a token (median)")
    print(f"of it sampling: {median(samples) * 1000:.3f} ms (median)")


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "smollm2"
    model = load_model(name, dtype=sys.argv[2] if len(sys.argv) > 2 else None)
    model.forward(model.new_cache(), [1])
    engine = ReferenceEngine(model)
    asyncio.run(measure(engine))
    engine.close()


if __name__ == "__main__":
    main()
