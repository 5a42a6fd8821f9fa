"""Loads the draft model of an engine, and says what does not fit together.

A draft model is named as any model is. `layers:4,9` is the model itself without the layers 4 and 9, counted
from 0: it costs nearly as much as the whole, so it is for tests and comparisons. `none` is no draft model.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from time import perf_counter

from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.scheduling.schedule import StepLimits
from sglc.runtime.executor.plan import Executor, ExecutorError, Piece
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.tokenizer import Tokenizer

NO_DRAFT = "none"
LAYERS = "layers:"
MEASURED = (1, 1, 1, BLOCK_TOKENS)
"""Rows of the steps that a draft model makes when it is loaded, so that its price is known. The first also
brings its weights into memory."""
MEASURED_TARGET = (1, 1, 2, 2, 3, 3, 4, 4, 6, 6, 8, 8)
"""Rows of the steps that the target makes then, for the price of rows: on processors where a step of four
rows takes as long as three of one, guesses about it cost more than these steps."""

Load = Callable[..., Executor]
"""`load_executor` with the options of the target: given a name, and `left_out`."""


def check_draft(name: str, draft: str, speculate: bool | None) -> None:
    """Raise ModelError where no draft model can be used, before anything is loaded."""
    for each in (name, draft):
        if each.startswith("scripted:"):
            why = "a scripted model writes its answers without steps"
            raise ModelError("a draft model cannot be used", each, why, "leave --draft out")
    if speculate is False:
        why = "drafts are switched off"
        raise ModelError("a draft model cannot be used", draft, why, "leave --no-speculation or --draft out")
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        why = "the model is divided among processes"
        raise ModelError("a draft model cannot be used", draft, why, "leave --draft out")
    if draft.startswith(LAYERS):
        _layers(draft)


def load_draft(
    engine: BatchingEngine, name: str, draft: str, load: Load, limits: StepLimits | None = None
) -> BatchingEngine:
    """The engine of the draft model of an engine that serves the model `name`, its steps measured.

    It has as many blocks of keys and values as the target. Raises ModelError: also where the engine drafts
    nothing, where the layers are not there, and where the two models differ in the bytes of a token or in a
    special token.
    """
    if engine.cost is None:
        why = "on this executor texts may differ by rounding where tokens are drafted, so drafts are off"
        raise ModelError("a draft model cannot be used", draft, why, "add --speculation")
    model = load(name, left_out=_layers(draft)) if draft.startswith(LAYERS) else load(draft)
    try:
        ours, theirs = engine.model.tokenizer, model.tokenizer
        if token_digest(ours) != token_digest(theirs):
            why = f"its vocabulary is not that of {name}: {_difference(ours, theirs)}"
            raise ModelError("a draft model cannot be used", draft, why, "take a model of the same family")
        memory = engine.cache.pool.size * model.block_bytes
        made = open_engine(model, memory=memory, limits=limits, speculate=True)
        measure_steps(made, MEASURED)
        measure_steps(engine, MEASURED_TARGET)
    except (MemoryError, ExecutorError) as error:
        model.close()
        raise ModelError(
            "the draft model has no room", draft, str(error) or "the system gives none"
        ) from error
    except BaseException:
        model.close()
        raise
    return made


def token_digest(tokenizer: Tokenizer) -> str:
    """SHA-256 over the bytes of all tokens and the names and ids of special ones."""
    state = hashlib.sha256()
    for data in tokenizer.token_bytes:
        state.update(b"-" if data is None else b"%d:%b" % (len(data), data))
    state.update(json.dumps(sorted(tokenizer.special.items())).encode())
    return state.hexdigest()


def _difference(ours: Tokenizer, theirs: Tokenizer) -> str:
    if ours.size != theirs.size:
        return f"{theirs.size} tokens, not {ours.size}"
    for token, (mine, other) in enumerate(zip(ours.token_bytes, theirs.token_bytes, strict=True)):
        if mine != other:
            return f"token {token} is {_shown(other)}, not {_shown(mine)}"
    changed = sorted(set(ours.special.items()) ^ set(theirs.special.items()))
    return f"special token {changed[0][0]}"


def _shown(data: bytes | None) -> str:
    return "special" if data is None else repr(data.decode("utf-8", "backslashreplace"))


def _layers(draft: str) -> Sequence[int]:
    """The numbers of `layers:4,9`. Raises ModelError."""
    numbers = draft.removeprefix(LAYERS).split(",")
    if not all(number.strip().isdecimal() for number in numbers):
        raise ModelError("no layers are named", draft, "numbers from 0 on, with commas, are", "layers:4,9")
    return [int(number) for number in numbers]


def measure_steps(engine: BatchingEngine, sizes: Sequence[int]) -> None:
    """Enter what steps of so many rows cost. They write to a block that nobody uses yet."""
    for rows in sizes:
        begun = perf_counter()
        engine.model.run([Piece([0], 0, [0] * rows)])
        if engine.cost is not None:
            engine.cost.record(rows, perf_counter() - begun)
