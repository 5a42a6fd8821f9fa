"""API of the sampling kernels: checks the arrays and dispatches to machine code, or to the reference.

Signatures (all arrays contiguous):
  masked_argmax(logits: float32[V], mask: int32[ceil(V/32)] | None) -> (index, value)
  masked_top(logits: float32[V], mask: int32[ceil(V/32)] | None, k) -> (ids, values)
  masked_log_sum_exp(logits: float32[V], mask: int32[ceil(V/32)] | None, scale=1.0) -> float
  noisiest(logits: float32[V], mask: int32[ceil(V/32)] | None, top, scale, key) -> index
  count_bits(mask: int32[n]) -> int

The compiled kernels are made at first use. Where LLVM cannot make code for this machine, or after
`jit_library.use_reference(True)`, the reference runs; results are the same.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from sglc.kernels.bitmask import sampling_reference
from sglc.kernels.dsl.addresses import address
from sglc.kernels.dsl.array_layouts import LayoutError, expect
from sglc.kernels.jit_library import COUNT, DOUBLE, FLOAT, POINTER, Library, Signature


def _sampling_ir() -> str:
    from sglc.kernels.llvm import sampling

    return sampling.build()


def _top_ir() -> str:
    from sglc.kernels.llvm import top_k

    return top_k.build()


def _forms(signatures: dict[str, Signature]) -> dict[str, Signature]:
    """A function for legal logits and one for all logits, by the name behind that."""
    return {f"sglc_{form}_{name}": found for name, found in signatures.items() for form in ("masked", "all")}


_ROW = (POINTER, POINTER, COUNT)
"""Logits, their mask, their number."""
_LOGITS = Library(
    _sampling_ir,
    _forms(
        {
            "max": (COUNT, *_ROW, POINTER),
            "sum": (DOUBLE, *_ROW, FLOAT, FLOAT),
            "noisiest": (COUNT, *_ROW, FLOAT, FLOAT, COUNT),
        }
    )
    | {"sglc_count": (COUNT, POINTER, COUNT), "sglc_both_sums": (None, *_ROW, FLOAT, FLOAT, POINTER)},
    brief=True,
)
_TOP = Library(_top_ir, _forms({"top": (COUNT, *_ROW, COUNT, POINTER, POINTER)}), brief=True)


def _reduced(
    kernels: SimpleNamespace, name: str, logits: np.ndarray, mask: np.ndarray | None, *more: float
) -> float:
    """Run the form of a function that a row takes."""
    function: Callable[..., float] = getattr(kernels, f"all_{name}" if mask is None else f"masked_{name}")
    return function(address(logits), 0 if mask is None else address(mask), len(logits), *more)


def compiled() -> SimpleNamespace | None:
    """The compiled reductions over logits, or None where the reference has to do."""
    return _LOGITS.functions()


def _check_logits(logits: np.ndarray, mask: np.ndarray | None) -> None:
    expect(logits, "logits", np.float32)
    if mask is not None:
        expect(mask, "mask", np.int32)
        if 32 * len(mask) < len(logits):
            raise LayoutError("the mask is shorter than the logits")


def masked_argmax(logits: np.ndarray, mask: np.ndarray | None) -> tuple[int, float]:
    """(index, value) of the largest logit whose bit is set, the lowest index of equals; (-1, -inf) if none.

    NaN logits are never chosen. Without a mask all logits count.
    """
    _check_logits(logits, mask)
    kernels = compiled()
    if kernels is None:
        return sampling_reference.masked_argmax(logits, mask)
    out = ctypes.c_float()
    return int(_reduced(kernels, "max", logits, mask, ctypes.addressof(out))), out.value


def masked_top(logits: np.ndarray, mask: np.ndarray | None, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(ids int32[m], values float32[m]) of the k largest logits whose bit is set, m ≤ k, the largest first.

    Among equals lower ids come first and are preferred. NaN and -inf are left out. One pass, no copy.
    """
    _check_logits(logits, mask)
    if k < 1:
        raise ValueError("k must be at least 1")
    k = min(k, len(logits))
    kernels = _TOP.functions()
    if kernels is None:
        return sampling_reference.masked_top(logits, mask, k)
    values, ids = np.empty(k, np.float32), np.empty(k, np.int32)
    found = int(_reduced(kernels, "top", logits, mask, k, address(values), address(ids)))
    return ids[:found], values[:found]


def masked_log_sum_exp(logits: np.ndarray, mask: np.ndarray | None, scale: float = 1.0) -> float:
    """log of the sum of exp(scale * logit) over the set bits, or over all logits without a mask.

    `scale` (1 / temperature) must be positive and finite. -inf if nothing counts; relative error of the sum
    about 1e-7.
    """
    _check_logits(logits, mask)
    if not 0 < scale < math.inf:
        raise ValueError("the scale must be positive and finite")
    kernels = compiled()
    if kernels is None:
        return sampling_reference.masked_log_sum_exp(logits, mask, scale)
    index, top = masked_argmax(logits, mask)
    if index < 0 or top == math.inf:
        return top
    return top * scale + math.log(_reduced(kernels, "sum", logits, mask, top, scale))


def masked_log_share(logits: np.ndarray, mask: np.ndarray, scale: float = 1.0) -> float:
    """log of the share of the set bits in the sum of exp(scale * logit) over all logits, at most 0.

    The difference of two `masked_log_sum_exp`, mostly from one pass; -inf if nothing counts. Shares within
    1e-6 of the whole may count as all of it.
    """
    _check_logits(logits, mask)
    kernels = compiled()
    index, top = masked_argmax(logits, None)
    if kernels is not None and 0 < scale < math.inf and index >= 0 and top < math.inf:
        out = np.empty(2)
        kernels.both_sums(address(logits), address(mask), len(logits), top, scale, address(out))
        whole, share = out.tolist()
        if share > 0.0:
            return min(0.0, math.log(share / whole))
    # All that is legal is far below the largest logit, or nothing is.
    whole, share = masked_log_sum_exp(logits, None, scale), masked_log_sum_exp(logits, mask, scale)
    return min(0.0, share - whole) if share != whole else 0.0


def noisiest(logits: np.ndarray, mask: np.ndarray | None, top: float, scale: float, key: int) -> int:
    """The token with the largest scale * (logit - top) + Gumbel noise among the set bits, or among all; -1:
    none.

    It is a draw from the distribution of scale * logit over them (Gumbel 1954; Maddison et al. 2014). The
    noise of a token is a function of `key` (64 bits) and the token alone. `top` is finite and best about the
    largest logit. Among equals the lowest token wins; NaN and -inf are never drawn.
    """
    _check_logits(logits, mask)
    kernels = compiled()
    if kernels is None:
        return sampling_reference.noisiest(logits, mask, top, scale, key)
    signed = key - (1 << 64) if key >> 63 else key
    return int(_reduced(kernels, "noisiest", logits, mask, top, scale, signed))


def count_bits(mask: np.ndarray) -> int:
    """The number of set bits of a row."""
    expect(mask, "mask", np.int32)
    kernels = compiled()
    return sampling_reference.count_bits(mask) if kernels is None else kernels.count(address(mask), len(mask))
