"""Draws at seams against exact masked decoding over canonical tokens, in float32.

    python tests/benchmarks/engine/canonical_draws.py [--sets 500] [--draws 2000] [--seed 0] [--real]

Each set of words is a hole of some kind behind and before some text
(`tests/support/strategies/seam_cases.py`); its exact probabilities are found by brute force
(`tests/support/oracles/token_oracle.py`). The vocabulary is SmolLM2's. Logits are pseudo-random, or with
`--real` those of SmolLM2 in float32 (transformers), computed once for each text. What the engine draws from
at each place is found once, by trying all tokens there; values are drawn from that. A set fails if its draws
are less likely than 0.01 / sets by chi-square, or if greedy decoding does not end at the likelier branch of
each fork.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

from fakes.small_models import MadeUpModel
from oracles.token_oracle import Tokens, chi_square_tail
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.model.load import DEFAULT, load_tokenizer, resolve
from strategies.seam_cases import SeamBench, seam_cases


class RealModel:
    """Float32 logits of the small model, each text computed once."""

    def __init__(self) -> None:
        import torch
        from transformers import AutoModelForCausalLM

        self._torch = torch
        self._model = AutoModelForCausalLM.from_pretrained(resolve(DEFAULT), dtype=torch.float32).eval()
        self._rows: dict[Tokens, np.ndarray] = {}

    def __call__(self, tokens: Tokens) -> np.ndarray:
        row = self._rows.get(tokens)
        if row is None:
            if len(self._rows) > 400:
                self._rows.clear()
            with self._torch.no_grad():
                found = self._model(self._torch.tensor([list(tokens)])).logits[0, -1]
            row = self._rows[tokens] = found.numpy().astype(np.float32)
        return row


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--real", action="store_true")
    given = parser.parse_args()
    tokenizer = load_tokenizer()
    logits: Any = RealModel() if given.real else MadeUpModel(tokenizer.size, given.seed)
    begun, failed, other = time.perf_counter(), [], []
    tails: list[float] = []
    apart: list[float] = []
    for number, case in enumerate(seam_cases(given.sets, given.seed)):
        bench = SeamBench(tokenizer, logits, case)
        greedy = bench.fill(Sampling()).text
        found = bench.distribution()
        apart.append(max(abs(found.get(v, 0.0) - bench.exact.get(v, 0.0)) for v in {*found, *bench.exact}))
        values = list(found)
        drawn = np.random.default_rng(number).multinomial(given.draws, list(found.values())).tolist()
        counts = {value: count for value, count in zip(values, drawn, strict=True) if count}
        tail = chi_square_tail(counts, bench.exact)
        tails.append(tail)
        if tail < 0.01 / given.sets:
            failed.append((number, case.kind, case.prompt, case.values, case.follow, tail))
        if greedy != bench.likeliest:
            other.append((number, case.kind, case.prompt, case.values, case.follow, greedy, bench.likeliest))
    spread = np.histogram(tails, 10, (0.0, 1.0))[0].tolist()
    print(f"{given.sets} sets of {given.draws} draws in {time.perf_counter() - begun:.0f} s")
    print(f"chi-square: {len(failed)} fail, least p {min(tails):.2g}, p by tenths {spread}")
    print(f"probabilities: at most {max(apart):.2g} from the exact ones")
    print(f"greedy: {given.sets - len(other)} of {given.sets} agree")
    for each in (*failed, *other):
        print(*each)


if __name__ == "__main__":
    main()
