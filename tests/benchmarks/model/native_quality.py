"""How far the native executor is from exact arithmetic on the same weights.

    python tests/benchmarks/model/native_quality.py GGUF [--tokens 704] [--markdown PAGE] [--text FILE …]

The reference is `tests/support/oracles/llama_reference.py` in float64 on the weights that the file's blocks
stand for. Each text is read by the native executor in pieces of several lengths, single tokens among them; a
second time in others, which must give the same logits to the last bit. By default the texts are the licence
and the first decisions of this project.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from report import surroundings, write_page

ROOT = Path(__file__).parents[3]
CUTS = (200, 97, 1, 2, 63, 1, 1, 128, 5, 31)
"""Lengths of pieces, by turns."""
BARS = "at most 5e-3", "at least 97 %", "within 0.5 %"


def texts(paths: list[str]) -> dict[str, str]:
    if paths:
        return {Path(path).name: Path(path).read_text(encoding="utf-8") for path in paths}
    decisions = sorted((ROOT / "docs" / "decisions").glob("0*.md"))[:12]
    return {
        "licence": (ROOT / "LICENSE").read_text(encoding="utf-8"),
        "decisions": "\n".join(path.read_text(encoding="utf-8") for path in decisions),
    }


def exact_weights(path: Path, folder: Path) -> dict[str, np.ndarray]:
    """Float32 weights by the names of transformers."""
    from sglc.runtime.model.weights.convert import tensor_name
    from sglc.runtime.model.weights.family import family_of
    from sglc.runtime.model.weights.gguf import GgufFile
    from sglc.runtime.model.weights.packed import GgufSource, matrix_names, vector_names

    family = family_of(json.loads((folder / "config.json").read_text(encoding="utf-8")))
    with GgufFile(path) as file:
        names = {tensor_name(name, str(path)): name for name in file.tensors}
        heads = {"q_proj": family.shape.heads, "k_proj": family.shape.shared}
        interleaved = {
            name: count for name in names for part, count in heads.items() if name.endswith(f"{part}.weight")
        }
        source = GgufSource(file, names, interleaved)
        found = {name: source.matrix(name).floats() for parts, _, _ in matrix_names(family) for name in parts}
        return found | {name: source.vector(name) for name, _ in vector_names(family)}


def read(executor: object, tokens: list[int], cuts: tuple[int, ...]) -> np.ndarray:
    """Logits of all tokens, read in pieces."""
    from sglc.runtime.executor.plan import Piece
    from sglc.runtime.kv.blocks import BLOCK_TOKENS

    table = list(range(-(-len(tokens) // BLOCK_TOKENS)))
    executor.reserve(len(table))  # type: ignore[attr-defined]
    rows, start, turn = [], 0, 0
    while start < len(tokens):
        piece = tokens[start : start + cuts[turn % len(cuts)]]
        rows.append(executor.run([Piece(table, start, piece, len(piece))]).copy())  # type: ignore[attr-defined]
        start, turn = start + len(piece), turn + 1
    return np.concatenate(rows)


def normed(logits: np.ndarray) -> np.ndarray:
    """Logarithms of probabilities."""
    wide = logits.astype(np.float64)
    wide -= wide.max(-1, keepdims=True)
    return wide - np.log(np.exp(wide).sum(-1, keepdims=True))


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    given.add_argument("gguf")
    given.add_argument("--tokens", type=int, default=704)
    given.add_argument("--text", action="append", default=[])
    given.add_argument("--markdown")
    options = given.parse_args()

    from oracles.llama_reference import logits as reference
    from sglc.runtime.executor.choose import load_executor
    from sglc.runtime.model.load import resolve
    from sglc.runtime.model.weights.family import family_of

    executor = load_executor(options.gguf, kind="native")
    folder = resolve(options.gguf)
    family = family_of(json.loads((folder / "config.json").read_text(encoding="utf-8")))
    weights = exact_weights(Path(options.gguf), folder)
    lines = [
        "| text | tokens | KL divergence | same likeliest | perplexity | exact | difference | same bits |"
    ]
    lines.append("|---|--:|--:|--:|--:|--:|--:|---|")
    for name, text in texts(options.text).items():
        tokens = list(executor.tokenizer.encode(text))[: options.tokens]
        right = normed(reference(family, weights, tokens))
        rows = read(executor, tokens, CUTS)
        same = np.array_equal(rows, read(executor, tokens, CUTS[3:]))
        found = normed(rows)
        divergence = (np.exp(right) * (right - found)).sum(-1).mean()
        agree = (right.argmax(-1) == found.argmax(-1)).mean()
        after = np.arange(len(tokens) - 1), np.array(tokens[1:])
        perplexity, exact = (np.exp(-each[after].mean()) for each in (found, right))
        lines.append(
            f"| {name} | {len(tokens)} | {divergence:.2e} | {100 * agree:.1f} % | {perplexity:.3f} "
            f"| {exact:.3f} | {100 * (perplexity / exact - 1):+.2f} % | {'yes' if same else 'NO'} |"
        )
        print(lines[-1], flush=True)
    lines.append(f"| wanted | | {BARS[0]} | {BARS[1]} | | | {BARS[2]} | yes |")
    if options.markdown:
        words = (
            "The native executor beside float64 arithmetic on the same weights; `same bits`: in other pieces."
        )
        write_page(options.markdown, "Quality of native steps", words, "\n".join(lines), surroundings())


if __name__ == "__main__":
    main()
