"""How long it takes until a model can answer, part by part, in a fresh process.

    python -P tests/benchmarks/compiler/startup.py [MODEL]

The parts: importing numpy, torch and the model code, loading the tokenizer, making the vocabulary of the
mask engine, mapping the weights, and the first forward pass of one token. A first run converts the model
and is not counted. Bar: under 6 s in all.
"""

from __future__ import annotations

import subprocess
import sys

PARTS = """
import sys, time
clock = time.perf_counter
begin = last = clock()
def part(name):
    global last
    now = clock()
    print(f"{name:<44}{(now - last) * 1000:>9.0f} ms")
    last = clock()
import numpy
part("import numpy")
import torch
part("import torch")
import transformers.cache_utils
part("import transformers.cache_utils")
from transformers.models.llama.modeling_llama import LlamaForCausalLM
part("import transformers.models.llama.modeling_llama")
from sglc.runtime.model.load import resolve
from sglc.runtime.model.transformers_model import TransformersModel
part("import sglc.runtime.model")
folder = resolve(sys.argv[1])
part("find the model")
model = TransformersModel.from_directory(folder)
part("map weights, build the tokenizer")
model.tokenizer.vocabulary()
part("vocabulary of the mask engine")
model.forward(model.new_cache(), [1])
part("first forward pass")
print(f"{'all':<44}{(clock() - begin) * 1000:>9.0f} ms")
"""


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "smollm2"
    find = f"from sglc.runtime.model.load import resolve; resolve({name!r})"
    subprocess.run([sys.executable, "-P", "-c", find], check=True)
    subprocess.run([sys.executable, "-P", "-c", PARTS, name], check=True)


if __name__ == "__main__":
    main()
