"""Draft models: tokens that a step of the target yields, beside assisted generation of transformers.

    python -P tests/benchmarks/drafting/assisted.py [--noise 10] [--themes 4] [--markdown FILE]

Both have the same pair of models in float32 by torch: SmolLM2-135M as the draft model, and as the target the
same with one layer more, whose output projections are noise. Both write behind the same prompts: transformers
64 tokens by `generate(assistant_model=…)` with its own settings and without a constraint, sglc a text of 220
to 280 characters, with look-up and history besides. Counts do not depend on the machine. sglc decides by
prices: in *free* rows and drafts cost nothing, as in the settings of transformers, which know no price; in
*0.15* a drafted token costs 0.15 of a step and a row 0.05. *Trees* may branch, the others are chains, as on
executors that compute no trees; either has at most 24 tokens.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from report import surroundings, write_page
from sglc.driver import compile_source
from sglc.runtime.engine.core.cost import StepCost
from sglc.runtime.engine.drafting.draft_model import DraftModel
from sglc.runtime.engine.open import open_engine
from sglc.runtime.executor.torch_executor import TorchExecutor
from sglc.runtime.model.load import resolve
from sglc.runtime.model.pretrained import load_decoder
from sglc.runtime.session import Session
from sglc.runtime.tokenizer import Tokenizer
from sglc.source import Source

PROGRAM = """
pub fn write(theme: str, warmth: float) -> str:
    user: | Write a short story about ${theme}.
    assistant: | ?{text: str min 220 chars max 280 chars temp warmth}
    return text
"""
THEMES = ["a lighthouse", "a lost dog", "two brothers", "the last train", "a garden", "an old map"]
TOKENS = 64
FREE = 1e-6
"""What a drafted token costs where it is said to cost nothing: a cost of 0 counts as not measured."""
SETTINGS = (
    ("sglc, free", False, (FREE, 0.0)),
    ("sglc, free, trees", True, (FREE, 0.0)),
    ("sglc, 0.15", False, (0.15, 0.05)),
    ("sglc, 0.15, trees", True, (0.15, 0.05)),
)
"""Name, whether drafts may branch, and the prices of a drafted token and of a row more."""
MEMORY = 256 << 20


class Priced(StepCost):
    """A step costs 1, and a row more so much."""

    def __init__(self, step: float, row: float) -> None:
        super().__init__()
        self.step, self.row = step, row
        for rows in (1, 2, 4, 8, 16, 32):  # known from the start: nothing is to be learned here
            self.record(rows, 1.0)

    def record(self, rows: int, seconds: float, sequences: int = 1) -> None:
        super().record(rows, self.step + self.row * (rows - 1), 1)


def deeper(model: Any, noise: float) -> Any:
    """A copy with one layer more, which adds noise of that deviation to inputs of deviation 1."""
    made = copy.deepcopy(model)
    layer = copy.deepcopy(made.model.layers[-1])
    torch.manual_seed(7)
    with torch.no_grad():
        for end in (layer.self_attn.o_proj, layer.mlp.down_proj):
            end.weight.normal_(0.0, noise / (2 * end.in_features) ** 0.5)
    layer.self_attn.layer_idx, layer.self_attn.config = len(made.model.layers), made.config
    made.model.layers.append(layer)
    made.config.num_hidden_layers += 1
    return made


def ours(
    target: Any,
    draft: Any,
    tokenizer: Tokenizer,
    prices: tuple[float, float],
    trees: bool,
    warmth: float,
    themes: Sequence[str],
) -> tuple[int, int, list[list[int]]]:
    """Tokens drawn, steps of the target, and the prompts."""
    executors = [TorchExecutor(copy.deepcopy(each), tokenizer, "pair") for each in (target, draft)]
    engine, drafts = (open_engine(each, memory=MEMORY, speculate=True) for each in executors)
    engine.cost, drafts.cost, engine.draft = Priced(1.0, prices[1]), Priced(prices[0], 0.0), drafts
    engine.trees = trees
    program = compile_source(Source("write.sgl", PROGRAM)).program
    assert program is not None
    session = Session(program, engine)
    prompts: list[list[int]] = []
    opened = engine.open

    def noted(tokens: Sequence[int], owner: str = "") -> Any:
        prompts.append(list(tokens))
        return opened(tokens, owner)

    engine.open = noted  # type: ignore[method-assign]
    drawn = 0
    for seed, theme in enumerate(themes):
        run = session.run("write", {"theme": theme, "warmth": warmth}, seed=seed)
        drawn += asyncio.run(run).holes[0].sampled
    steps = engine.statistics.forwards
    engine.close()
    return drawn, steps, prompts


def theirs(target: Any, draft: Any, warmth: float, prompts: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Tokens written and forward passes of the target, by transformers."""
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    hook = target.register_forward_pre_hook(count)
    written = 0
    for seed, prompt in enumerate(prompts):
        torch.manual_seed(seed)
        ids = torch.tensor([list(prompt)])
        sampling = {"do_sample": True, "temperature": warmth, "top_k": 0} if warmth else {"do_sample": False}
        found = target.generate(
            ids, attention_mask=torch.ones_like(ids), assistant_model=draft, max_new_tokens=TOKENS, **sampling
        )
        written += found.shape[1] - ids.shape[1]
    hook.remove()
    return written, steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", type=float, default=10.0)
    parser.add_argument("--themes", type=int, default=4)
    parser.add_argument("--markdown")
    options = parser.parse_args()
    about = surroundings()
    DraftModel.record = lambda self, *_: None  # type: ignore[method-assign]
    torch.set_num_threads(1)
    folder = resolve("smollm2")
    draft = load_decoder(folder, "float32")
    target = deeper(draft, options.noise)
    tokenizer = Tokenizer.from_directory(folder, size=int(draft.config.vocab_size))
    lines = [
        "| temp | who | tokens | steps of the target | tokens a step |",
        "| --: | --- | --: | --: | --: |",
    ]
    print("\n".join(lines), flush=True)
    for warmth in (0.0, 0.8):
        prompts: list[list[int]] = []
        for name, trees, prices in SETTINGS:
            drawn, steps, prompts = ours(
                target, draft, tokenizer, prices, trees, warmth, THEMES[: options.themes]
            )
            lines.append(f"| {warmth:g} | {name} | {drawn} | {steps} | {drawn / steps:.2f} |")
            print(lines[-1], flush=True)
        written, steps = theirs(target, draft, warmth, prompts)
        lines.append(f"| {warmth:g} | transformers | {written} | {steps} | {written / steps:.2f} |")
        print(lines[-1], flush=True)
    if options.markdown:
        write_page(options.markdown, "Assisted generation", str(__doc__), "\n".join(lines), about)


if __name__ == "__main__":
    main()
