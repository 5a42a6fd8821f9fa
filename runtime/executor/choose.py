"""From a model's name to the executor that serves it best on this machine."""

from __future__ import annotations

import os
from typing import Literal

from sglc.runtime.executor.plan import Executor
from sglc.runtime.model.convert import Progress
from sglc.runtime.model.errors import ModelError
from sglc.runtime.model.load import DEFAULT, THREAD_WAITS, resolve
from sglc.runtime.tokenizer import TokenizerError

Kind = Literal["auto", "torch", "native"]
KINDS: tuple[Kind, ...] = ("auto", "torch", "native")


def load_executor(
    name: str = DEFAULT,
    *,
    kind: Kind = "auto",
    dtype: str | None = None,
    threads: int | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
) -> Executor:
    """Load a model into an executor.

    `name`, `dtype`, `threads` and `device` are as for `load_model`, but there are no scripted models here.
    A process that torchrun started shares the model with the others of its group; on all but the first of
    them this does what the first one's executor asks until that is closed, and then ends the process. Raises
    ModelError.
    """
    if kind not in KINDS:
        raise ModelError("unknown executor", kind, f"there are {', '.join(KINDS)}")
    if kind == "native":
        raise ModelError("executor not available", kind, "steps in native code are not there yet")
    folder = resolve(name, progress)
    for variable, value in THREAD_WAITS.items():
        os.environ.setdefault(variable, value)
    from sglc.runtime.executor.torch_executor import TorchExecutor

    try:
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            from sglc.runtime.executor.parallel import ParallelExecutor

            shared = ParallelExecutor.from_directory(folder, name=name, dtype=dtype, device=device)
            if shared.rank:
                shared.follow()
                raise SystemExit(0)
            return shared
        return TorchExecutor.from_directory(folder, name=name, dtype=dtype, device=device, threads=threads)
    except TokenizerError as error:
        raise ModelError("cannot use the model's tokenizer", str(folder), str(error)) from error
