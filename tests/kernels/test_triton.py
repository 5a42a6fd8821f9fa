"""Packed masks on tensors: the torch reference by the definition, the Triton kernel by the reference.

Without a GPU the kernel runs in Triton's interpreter, in a process of its own because the interpreter must be
chosen before triton is imported.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import SUPPORT
from late import Late

torch = Late("torch")

CASES = [
    # rows, tokens, words beyond them, dtype
    (1, 1, 0, "float32"),
    (3, 31, 0, "float32"),
    (2, 32, 2, "float16"),
    (2, 33, 0, "bfloat16"),
    (4, 4096, 0, "float32"),
    (3, 4100, 1, "bfloat16"),
    (2, 9000, 0, "float64"),
    (0, 64, 0, "float32"),
]


def case(rows: int, tokens: int, more: int, kind: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits with special values and masks: random, full, empty."""
    generator = torch.Generator().manual_seed(rows * 10_007 + tokens)
    logits = torch.randn((rows, tokens), generator=generator).to(getattr(torch, kind))
    for value in (float("nan"), float("inf"), float("-inf")):
        if logits.numel():
            place = torch.randint(logits.numel(), (1,), generator=generator)
            logits.view(-1)[place] = value
    words = (tokens + 31) // 32 + more
    masks = torch.randint(-(2**31), 2**31, (rows, words), generator=generator).to(torch.int32)
    for row, value in zip(masks[1:], (-1, 0), strict=False):
        row[:] = value
    return logits, masks


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.dtype == b.dtype and torch.equal(
        torch.nan_to_num(a.double(), 1e300), torch.nan_to_num(b.double(), 1e300)
    )


@pytest.mark.parametrize("numbers", CASES, ids=str)
def test_the_reference_is_the_definition(numbers: tuple[int, int, int, str]) -> None:
    from sglc.kernels.triton.packed_mask_reference import apply_packed_mask

    logits, masks = case(*numbers)
    expected = logits.clone()
    for i in range(len(logits)):
        for token in range(logits.shape[1]):
            if not int(masks[i, token // 32]) >> (token % 32) & 1:
                expected[i, token] = float("-inf")
    out = logits.clone()
    assert apply_packed_mask(out, masks) is out
    assert same(out, expected)


def test_rows_may_be_named() -> None:
    from sglc.kernels.triton.packed_mask_reference import apply_packed_mask

    logits = torch.zeros((4, 40))
    masks = torch.tensor([[1, 0], [2, 0]], dtype=torch.int32)
    apply_packed_mask(logits, masks, torch.tensor([3, 1]))
    assert [row.isfinite().nonzero().view(-1).tolist() for row in logits] == [
        list(range(40)),
        [1],
        list(range(40)),
        [0],
    ]


def test_tensors_that_do_not_fit_are_refused() -> None:
    from sglc.kernels.triton.packed_mask_reference import apply_packed_mask

    logits, masks = torch.zeros((2, 40)), torch.zeros((2, 2), dtype=torch.int32)
    for wrong in [
        (logits[0], masks),
        (logits.int(), masks),
        (logits, masks.long()),
        (logits, masks[:1]),
        (logits, masks, torch.tensor([0])),
        (logits, masks, torch.tensor([0.0, 1.0])),
    ]:
        with pytest.raises(ValueError, match=r"logits|masks|rows"):
            apply_packed_mask(*wrong)


CHECK = """
import sys
sys.path.insert(0, sys.argv[1])
import torch
from sglc.kernels.triton import packed_mask, reference
from test_triton import CASES, case, same

for numbers in CASES:
    logits, masks = case(*numbers)
    expected = reference.apply_packed_mask(logits.clone(), masks)
    assert same(packed_mask.apply_packed_mask(logits.clone(), masks), expected), numbers
    wide = torch.zeros((2 * len(logits) + 1, logits.shape[1] + 3), dtype=logits.dtype)
    for kind in (torch.int32, torch.int64):
        rows = torch.randperm(len(wide))[: len(masks)].to(kind)
        part = wide.clone()[:, : logits.shape[1]]
        expected = reference.apply_packed_mask(part.clone(), masks, rows)
        assert same(packed_mask.apply_packed_mask(part, masks, rows), expected), (numbers, kind)
try:
    packed_mask.apply_packed_mask(torch.zeros((40, 2)).T, torch.zeros((2, 2), dtype=torch.int32))
except ValueError as fault:
    assert "contiguous" in str(fault)
else:
    raise AssertionError("a strided row was taken")
print("all", len(CASES), "cases agree")
"""


def test_the_kernel_does_what_the_reference_says() -> None:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("triton is not installed: the kernel for GPUs cannot be interpreted here")
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(SUPPORT)}
    folder = str(Path(__file__).parent)
    run = subprocess.run(
        [sys.executable, "-c", CHECK, folder], env=environment, capture_output=True, text=True, cwd=folder
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"all {len(CASES)} cases agree\n"


def test_kernels_import_neither_torch_nor_triton() -> None:
    code = (
        "import sys, sglc.kernels.bitmask.sampling, sglc.kernels.bitmask.operations, sglc.kernels.triton\n"
        "print(sorted({'torch', 'triton'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
