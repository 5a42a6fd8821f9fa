"""Attention over blocks: the torch reference by torch's own attention, the Triton kernels by the reference.

Without a GPU the kernels run in Triton's interpreter, in a process of its own because the interpreter must be
chosen before triton is imported.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from checkout import SUPPORT
from late import Late

torch = Late("torch")
reference = Late("sglc.kernels.triton.paged_reference")

PLACES = 16


@dataclass(frozen=True)
class Case:
    heads: int
    shares: int
    key_width: int
    value_width: int
    tiles: tuple[tuple[int, int, int], ...]
    """Sequence, tokens, position of the first; rows of queries are in this order."""
    window: int | None = None
    softcap: float | None = None
    dtype: str = "float32"


ONE_EACH = ((0, 1, 40), (1, 1, 0), (2, 1, 77))
CHUNKS = ((0, 5, 60), (0, 3, 65), (1, 5, 0), (2, 0, 0), (3, 4, 14))
CASES = [
    Case(2, 3, 32, 32, ONE_EACH),
    Case(1, 1, 16, 16, ONE_EACH),
    Case(2, 4, 24, 40, CHUNKS),
    Case(2, 2, 32, 32, CHUNKS, window=20),
    Case(1, 8, 64, 64, ONE_EACH, window=7, softcap=3.0),
    Case(2, 1, 144, 144, CHUNKS, softcap=20.0),
    Case(2, 3, 32, 32, CHUNKS, dtype="float16"),
]


def arguments(case: Case) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What `attend` is called with; blocks of the tables lie scattered in the pool."""
    generator = torch.Generator().manual_seed(len(repr(case)))
    dtype = getattr(torch, case.dtype)
    blocks = 40
    keys = torch.randn((case.heads, blocks, PLACES, case.key_width), generator=generator).to(dtype)
    values = torch.randn((case.heads, blocks, PLACES, case.value_width), generator=generator).to(dtype)
    tables = torch.randperm(blocks, generator=generator)[:32].view(4, 8).to(torch.int32)
    count = sum(tokens for _, tokens, _ in case.tiles)
    # A view of [T, H, D], as projections give it.
    query = torch.randn((count, case.heads * case.shares, case.key_width), generator=generator)
    query = query.to(dtype).transpose(0, 1)
    rows, start = [], 0
    for _, tokens, _ in case.tiles:
        rows.append(start)
        start += tokens
    columns = [[t[0] for t in case.tiles], rows, [t[1] for t in case.tiles], [t[2] for t in case.tiles]]
    tiles = reference.Tiles(*(torch.tensor(column, dtype=torch.int32) for column in columns), most=5)
    out = torch.full((count, case.heads * case.shares, case.value_width), float("nan"), dtype=dtype)
    options = {"scaling": case.key_width**-0.5, "window": case.window, "softcap": case.softcap}
    return (query, keys, values, tables, tiles, out), options


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if case.softcap is None], ids=str)
def test_the_reference_is_attention(case: Case) -> None:
    given, options = arguments(case)
    out = reference.attend(*given, **options)
    query, keys, values, tables, _, _ = given
    start = 0
    for sequence, count, position in case.tiles:
        if not count:
            continue
        length = position + count
        own = [pool[:, tables[sequence].long()].flatten(1, 2)[:, :length].float() for pool in (keys, values)]
        own = [part.repeat_interleave(case.shares, 0) for part in own]
        seen = torch.ones((length, length), dtype=torch.bool).tril()
        if case.window is not None:
            seen &= torch.ones((length, length), dtype=torch.bool).triu(1 - case.window)
        expected = torch.nn.functional.scaled_dot_product_attention(
            query[:, start : start + count].float(), *own, attn_mask=seen[position:]
        )
        tolerance = 1e-5 if case.dtype == "float32" else 2e-3
        assert torch.allclose(
            out[start : start + count].float(), expected.transpose(0, 1), atol=tolerance, rtol=tolerance
        )
        start += count


CHECK = """
import sys
sys.path.insert(0, sys.argv[1])
import torch
from sglc.kernels.triton import paged_attention, paged_reference
from test_triton_attention import CASES, arguments

for case in CASES:
    given, options = arguments(case)
    expected = paged_reference.attend(*given, **options).clone()
    tolerance = 2e-5 if case.dtype == "float32" else 4e-3
    for splits in (1, 3):
        given[-1].fill_(float("nan"))
        assert paged_attention.attend(*given, **options, splits=splits) is given[-1]
        error = (given[-1] - expected).abs().max()
        assert error <= tolerance, (case, splits, float(error))
given, options = arguments(CASES[0])
wrong_ones = ((0, given[0][:, :, 1:]), (3, given[3].long()), (5, given[5][1:]), (1, given[1][:, :, ::2]))
for place, wrong in wrong_ones:
    faulty = [*given]
    faulty[place] = wrong
    try:
        paged_attention.attend(*faulty, **options)
    except ValueError:
        pass
    else:
        raise AssertionError(f"argument {place} was taken")
print("all", len(CASES), "cases agree")
"""


def interpreted(code: str, *more: str) -> str:
    """What a program prints that runs Triton's kernels in the interpreter."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("triton is not installed: kernels for GPUs cannot be interpreted here")
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(SUPPORT)}
    folder = str(Path(__file__).parent)
    run = subprocess.run(
        [sys.executable, "-P", "-c", code, folder, *more],
        env=environment,
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_kernels_do_what_the_reference_says() -> None:
    assert interpreted(CHECK) == f"all {len(CASES)} cases agree\n"


EXECUTOR = """
import sys
from checkout import TESTS
sys.path.insert(0, str(TESTS / "executor"))
import torch
torch.set_num_threads(1)
import test_torch as here
from fakes.small_models import small_tokenizer
from sglc.runtime.executor import triton_step
from sglc.runtime.executor.torch_executor import TorchExecutor

def by_kernels(kind):
    model = here.copy.deepcopy(here.plain(kind))
    executor = TorchExecutor(model, small_tokenizer(), kind, attention="triton")
    executor.reserve(here.BLOCKS)
    return executor

sizes = set()
fill = triton_step.DecodeStep.fill

def seen(buffers, step):
    sizes.add((buffers.size, len(step.spans)))
    fill(buffers, step)

triton_step.DecodeStep.fill = seen
here.executor_of = by_kernels
here.test_logits_are_those_of_the_plain_model("gemma2")
assert sizes == {(24, 17)}, sizes
print("equal")
"""


@pytest.mark.slow
def test_an_executor_on_the_kernels_computes_what_the_plain_model_does() -> None:
    assert interpreted(EXECUTOR) == "equal\n"
