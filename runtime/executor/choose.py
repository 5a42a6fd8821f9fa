"""Chooses the executor for a model on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from sglc.runtime.byte_level import TokenizerError
from sglc.runtime.executor.plan import Executor
from sglc.runtime.model.load import DEFAULT, THREAD_WAITS, require_torch, resolve
from sglc.runtime.model.weights.convert import Progress
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.model.weights.family import NotNativeError

Kind = Literal["auto", "torch", "native"]
KINDS: tuple[Kind, ...] = ("auto", "torch", "native")

QUANTISED = {"q8": 8, "q4": 4}
"""Number types of the native executor: bits of weights that are not quantised already."""


def load_executor(
    name: str = DEFAULT,
    *,
    kind: Kind = "auto",
    dtype: str | None = None,
    threads: int | None = None,
    device: str = "cpu",
    left_out: Sequence[int] = (),
    progress: Progress | None = None,
) -> Executor:
    """Load a model into an executor, without the layers `left_out`.

    `name`, `threads` and `device` are as for `load_model`, but there are no scripted models here. `dtype`
    None or `auto` leaves the numbers open, `q8` and `q4` quantise weights, which the native executor does;
    others are computed by torch. `auto` takes the native executor on a CPU for the models it knows, and torch
    otherwise. A process that torchrun started shares the model with the others of its group; on all but the
    first of them this does what the first one's executor asks until that is closed, and then ends the
    process. Raises ModelError, with the reason where `native` was asked for and cannot be had.
    """
    if kind not in KINDS:
        raise ModelError("unknown executor", kind, f"there are {', '.join(KINDS)}")
    exact = dtype not in (None, "auto", *QUANTISED)
    shared = int(os.environ.get("WORLD_SIZE", "1")) > 1
    if kind == "torch" or (kind == "auto" and (exact or shared or device != "cpu")):
        if dtype in QUANTISED:
            raise ModelError("unknown number type", str(dtype), "torch does not quantise weights here")
        require_torch(name, _asked_for(kind, dtype, shared, device))
        return _torch(resolve(name, progress), name, dtype, threads, device, shared, left_out)
    if device != "cpu" or shared:
        place = "several processes" if shared else device
        raise ModelError("executor not available", kind, f"it computes on one CPU, not on {place}")
    if exact:
        raise ModelError("unknown number type", str(dtype), f"native has {', '.join(QUANTISED)} and auto")
    folder = resolve(name, progress)
    try:
        return _native(folder, name, QUANTISED.get(dtype or "", 8), threads, left_out, progress)
    except NotNativeError as error:
        if kind == "native" or dtype in QUANTISED:
            raise ModelError(
                "the native executor does not compute this model", name, str(error), "use --executor torch"
            ) from error
        require_torch(name, f"the native executor does not compute this model: {error}")
    return _torch(folder, name, None, threads, device, shared, left_out)


def _asked_for(kind: Kind, dtype: str | None, shared: bool, device: str) -> str:
    """What asks for torch, where it is not the model."""
    if kind == "torch":
        return "the executor `torch` was asked for"
    if shared:
        return "several processes share a model through torch"
    return (
        f"{dtype} is computed by torch" if device == "cpu" else f"the device {device} is used through torch"
    )


def _native(
    folder: Path,
    name: str,
    bits: int,
    threads: int | None,
    left_out: Sequence[int],
    progress: Progress | None,
) -> Executor:
    from sglc.runtime.executor.native import NativeExecutor

    try:
        return NativeExecutor.from_directory(
            folder, name=name, threads=threads, bits=bits, left_out=left_out, progress=progress
        )
    except (TokenizerError, OSError) as error:
        raise ModelError("cannot use the model's tokenizer", str(folder), str(error)) from error


def _torch(
    folder: Path,
    name: str,
    dtype: str | None,
    threads: int | None,
    device: str,
    shared: bool,
    left_out: Sequence[int],
) -> Executor:
    for variable, value in THREAD_WAITS.items():
        os.environ.setdefault(variable, value)
    from sglc.runtime.executor.torch_executor import TorchExecutor

    try:
        if shared:
            from sglc.runtime.executor.parallel import ParallelExecutor

            executor = ParallelExecutor.from_directory(folder, name=name, dtype=dtype, device=device)
            if executor.rank:
                executor.follow()
                raise SystemExit(0)
            return executor
        return TorchExecutor.from_directory(
            folder, name=name, dtype=dtype, device=device, threads=threads, left_out=left_out
        )
    except (TokenizerError, OSError) as error:
        raise ModelError("cannot use the model's tokenizer", str(folder), str(error)) from error
