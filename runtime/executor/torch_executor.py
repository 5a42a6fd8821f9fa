"""Steps computed by the model code of transformers, for any decoder whose layers all attend.

The code of the model is not changed: its attention becomes the paged one by a name in its configuration (see
`paged_attention`). On a CPU and on CUDA.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch

from sglc.runtime.executor.block_pool import LayerShape, TensorPool
from sglc.runtime.executor.freed_memory import keep_freed_memory
from sglc.runtime.executor.paged_attention import NAME, PagedStep, Probe, register, unsupported
from sglc.runtime.executor.pick import host_masks, pick, to_device
from sglc.runtime.executor.plan import ExecutorError, Picked, Picking, Piece
from sglc.runtime.executor.step import Step
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.model.pretrained import (
    context_length,
    fingerprint,
    first_line,
    leave_out,
    load_decoder,
)
from sglc.runtime.model.step_time_model import StepTimeModel
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.tokenizer import Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

    from sglc.runtime.executor.triton_step import DecodeGraphs, DecodeStep, TritonStep

Attention = Literal["torch", "triton"]
LEAST_PROMPT_TOKENS, MOST_PROMPT_TOKENS = 256, 4096
"""Tokens of a step of prompts: with fewer, products in bfloat16 take up to half as long again a token; more
gain nothing."""
ACTIVATION_BYTES = 256 << 20
"""Memory that the activations of such a step may take, about."""
PROBE_TOKENS = 5
AGREEMENT = {torch.float32: 1e-3, torch.float16: 3e-2, torch.bfloat16: 2e-1}
"""How far logits of the probe may be from those of the model's own attention, relative to their spread."""
_LAYER_TYPES = {"full_attention", "sliding_attention"}
_BY_LENGTH = {"dynamic", "longrope"}
"""Rotations that change for all positions when a sequence becomes longer than the model was made for."""


class TorchExecutor:
    """Implements `Executor` over a transformers model.

    In float32 logits are equal to those of the plain model up to rounding (1e-4 of their spread or less),
    whatever the batch and the cut into pieces; not bit-equal, as products of other shapes round otherwise.
    In bfloat16 the differences are those of the number type.
    """

    kind = "torch"
    invariant = False
    trees = True
    best: np.ndarray | None = None

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: Tokenizer,
        name: str,
        step_time_model: StepTimeModel | None = None,
        attention: Attention | None = None,
        graphs: bool = True,
        draws: bool | None = None,
    ) -> None:
        """Takes over `model`: its attention is replaced. Raises ModelError for what cannot be computed so.

        `attention` is by products of torch or by Triton kernels; None takes what suits the device. `graphs`
        lets steps of one token a piece be captured as CUDA graphs. `draws` says whether the engine is to have
        tokens picked here instead of bringing logits to the host; None takes what suits the device.
        """
        self.name = name
        self.tokenizer = tokenizer
        self.model: PreTrainedModel | None = model
        self.context_length = positions_of(model.config)
        self._step_time_model = step_time_model
        self._device = next(model.parameters()).device
        self.draws = self._device.type == "cuda" if draws is None else draws
        self._vocabulary = int(model.config.vocab_size)
        if tokenizer.size != self._vocabulary:
            raise ModelError(
                "the model and its tokenizer do not fit",
                name,
                f"{self._vocabulary} logits for {tokenizer.size} tokens",
            )
        self._selects = "logits_to_keep" in inspect.signature(model.forward).parameters
        register()
        try:
            shapes = self._probe(model)
        except ModelError as error:
            raise ModelError(error.what, name, error.why, error.hint) from error
        dtype = next(model.parameters()).dtype
        if attention is None:
            on_gpu = self._device.type == "cuda" and importlib.util.find_spec("triton") is not None
            attention = "triton" if on_gpu else "torch"
        self.attention: Attention = attention
        self.pool = TensorPool(shapes, dtype, self._device, spare=attention == "triton")
        self._graphs: DecodeGraphs | None = None
        if attention == "triton" and graphs:
            from sglc.runtime.executor.triton_step import DecodeGraphs

            self._graphs = DecodeGraphs(self.pool, self.context_length, self._decode)
        self.block_bytes = self.pool.block_bytes
        self.prompt_tokens = prompt_tokens(model.config, dtype)
        arithmetic = f"torch {torch.__version__} {self._device.type} {dtype}"
        self.identity = f"{arithmetic} {BLOCK_TOKENS} {fingerprint(model)}"

    def reserve(self, blocks: int) -> None:
        """See `Executor.reserve`."""
        with torch.inference_mode():
            self.pool.reserve(blocks)

    def run(self, pieces: Sequence[Piece]) -> np.ndarray:
        """See `Executor.run`."""
        return self.rows(self.step(pieces))

    def step(self, pieces: Sequence[Piece]) -> Step:
        """The pieces checked and packed. Raises ExecutorError."""
        return Step(
            pieces,
            blocks=self.pool.blocks,
            vocabulary=self._vocabulary,
            context=self.context_length,
            device=self._device,
        )

    @torch.inference_mode()
    def rows(self, step: Step) -> np.ndarray:
        """Logits of a step, as `run`. Raises ExecutorError."""
        try:
            return self._host(self._timed(step))
        except (RuntimeError, MemoryError) as error:
            raise _failed(error) from error

    def mask_rows(self, count: int) -> np.ndarray:
        """See `DrawingExecutor.mask_rows`."""
        return host_masks(count, self._vocabulary, self._device)

    @torch.inference_mode()
    def launch(self, pieces: Sequence[Piece]) -> torch.Tensor:
        """See `DrawingExecutor.launch`: logits [sum of wanted, V], which CUDA may still be computing."""
        step = self.step(pieces)
        try:
            return self._timed(step)
        except (RuntimeError, MemoryError) as error:
            raise _failed(error) from error

    @torch.inference_mode()
    def pick(
        self,
        launched: object,
        rows: Sequence[int],
        masks: np.ndarray | None,
        pickings: Sequence[Picking],
    ) -> Picked:
        """See `DrawingExecutor.pick`; without masks every token may be picked."""
        assert isinstance(launched, torch.Tensor)
        try:
            if len(rows) == len(launched):
                chosen = launched.float()
                others = np.empty((0, self._vocabulary), np.float32)
            else:
                left = np.delete(np.arange(len(launched)), rows).tolist()
                chosen = launched[to_device(list(rows), torch.int64, self._device)].float()
                others = self._host(launched[to_device(left, torch.int64, self._device)])
            return Picked(*pick(chosen, masks, pickings), others)
        except (RuntimeError, MemoryError) as error:
            raise _failed(error) from error

    @torch.inference_mode()
    def copy_block(self, source: int, target: int) -> None:
        """See `Executor.copy_block`."""
        self.pool.copy(source, target)

    @torch.inference_mode()
    def read_block(self, block: int) -> bytes:
        """See `Executor.read_block`."""
        return self.pool.read(block)

    @torch.inference_mode()
    def write_block(self, block: int, data: bytes) -> None:
        """See `Executor.write_block`."""
        self.pool.write(block, data)

    @torch.inference_mode()
    def read_places(self, places: Sequence[int]) -> object:
        """See `TreeExecutor.read_places`."""
        return self.pool.read_places(to_device(list(places), torch.int64, self._device))

    @torch.inference_mode()
    def write_places(self, places: Sequence[int], held: object) -> None:
        """See `TreeExecutor.write_places`."""
        assert isinstance(held, list)
        self.pool.write_places(to_device(list(places), torch.int64, self._device), held)

    def close(self) -> None:
        """Release the pool and the model; the executor cannot be used after it."""
        self.pool = TensorPool((), self.pool.dtype, self._device)
        self._graphs = None
        self.model = None

    @classmethod
    def from_directory(
        cls,
        directory: str | Path,
        *,
        name: str | None = None,
        dtype: str | None = None,
        device: str = "cpu",
        threads: int | None = None,
        draws: bool | None = None,
        left_out: Sequence[int] = (),
    ) -> TorchExecutor:
        """Load a folder with config.json, safetensors and tokenizer.json. Raises ModelError, TokenizerError.

        `dtype` as for `load_model`; it is the pool's type too. `threads` fixes the number of CPU threads;
        None lets `StepTimeModel` choose it. `draws` is as for the executor itself, `left_out` are layers to
        go without.
        """
        folder = Path(directory)
        if device == "cpu":
            keep_freed_memory()

        def load() -> TorchExecutor:
            if threads is not None:
                torch.set_num_threads(threads)
            model = load_decoder(folder, dtype, device)
            if left_out:
                leave_out(model, left_out, name or folder.name)
            tokenizer = Tokenizer.from_directory(folder, size=int(model.config.vocab_size))
            step_time_model = (
                StepTimeModel(torch.get_num_threads()) if threads is None and device == "cpu" else None
            )
            return cls(model, tokenizer, name or folder.name, step_time_model, draws=draws)

        # Every thread that computes gets a team of threads by OpenMP, which lives as long as it does. With
        # two teams there are more threads than processors, and OpenMP then lets a team sleep between two of
        # the hundreds of parallel loops of a step. So loading, which computes too, has a thread that ends.
        with ThreadPoolExecutor(1, thread_name_prefix="sglc-load") as loader:
            return loader.submit(load).result()

    def _timed(self, step: Step) -> torch.Tensor:
        """As `_compute`, with as many CPU threads as suit."""
        if self._step_time_model is None:
            return self._compute(step)
        # Only steps of one kind tell which number of threads is better.
        alike = step.count == 1
        torch.set_num_threads(self._step_time_model.threads() if alike else self._step_time_model.settled)
        started = perf_counter()
        logits = self._compute(step)
        if alike:
            self._step_time_model.record(perf_counter() - started)
        return logits

    def _compute(self, step: Step) -> torch.Tensor:
        """Logits [sum of wanted, V] on the device."""
        if self.attention == "torch" or step.branches:  # the Triton kernels know chains only
            return self._forward(step.ids, step.positions, PagedStep(step, self.pool), step.kept)
        if self._graphs is not None and self._graphs.fits(step):
            return self._graphs.run(step)
        from sglc.runtime.executor.triton_step import TritonStep

        return self._forward(step.ids, step.positions, TritonStep(step, self.pool), step.kept)

    def _decode(self, step: DecodeStep) -> torch.Tensor:
        """Logits [size, V]: of every row, as an index of rows would be looked at on the host."""
        return self._forward(step.ids, step.positions, step, None)

    def _forward(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        paged: Probe | PagedStep | TritonStep | None,
        kept: torch.Tensor | None,
    ) -> torch.Tensor:
        """Logits of the rows `kept`, or of all."""
        options: dict[str, object] = {} if paged is None else {"paged": paged}
        if self._selects and kept is not None:
            options["logits_to_keep"] = kept
        if self.model is None:
            raise ExecutorError("the executor is closed")
        output = self.model(input_ids=ids, position_ids=positions, use_cache=False, **options)
        logits: torch.Tensor = output.logits[0]
        return logits if self._selects or kept is None else logits[kept]

    @staticmethod
    def _host(logits: torch.Tensor) -> np.ndarray:
        rows: np.ndarray = logits.to(device="cpu", dtype=torch.float32).numpy()
        return rows

    @torch.inference_mode()
    def _probe(self, model: PreTrainedModel) -> list[LayerShape]:
        """What each layer keeps, found by a short call that must agree with the model's own attention."""
        config = model.config
        plain_type = next(model.parameters()).dtype
        check_config(config)
        probe = Probe(layer_windows(config))
        spread = torch.linspace(0, self._vocabulary - 1, PROBE_TOKENS, device=self._device)
        ids = spread.round().long()[None]
        positions = torch.arange(PROBE_TOKENS, device=self._device)[None]
        try:
            plain = self._forward(ids, positions, None, positions[0]).float()
        except Exception as error:  # a configuration that its code does not expect
            raise unsupported(f"its own code fails: {first_line(error)}") from error
        if plain.isnan().any():
            why = f"with numbers of type {str(plain_type).removeprefix('torch.')} its logits are no numbers"
            raise ModelError("the model cannot be used", "", why)
        if getattr(model, "_supports_attention_backend", False):
            model.set_attn_implementation(NAME)
        if config._attn_implementation != NAME:
            raise unsupported("its code does not let attention be replaced")
        try:
            paged = self._forward(ids, positions, probe, positions[0]).float()
        except (TypeError, RuntimeError) as error:
            raise unsupported(f"its code fails with another attention: {first_line(error)}") from error
        if any(shape is None for shape in probe.shapes):
            raise unsupported("layers without attention")
        apart = float((paged - plain).abs().max() / plain.std())
        if not apart < AGREEMENT[plain_type]:
            raise unsupported(f"its attention does more than it says: logits differ by {apart:.2g}")
        return [shape for shape in probe.shapes if shape is not None]


def _failed(error: Exception) -> ExecutorError:
    return ExecutorError(f"the model failed: {first_line(error)}")


def prompt_tokens(config: PreTrainedConfig, dtype: torch.dtype) -> int:
    """Tokens of a step of prompts alone, bounded by the memory that its activations take."""
    hidden = int(getattr(config, "hidden_size", 0) or 4096)
    inner = int(getattr(config, "intermediate_size", 0) or 4 * hidden)
    token_bytes = dtype.itemsize * (8 * hidden + 3 * inner)
    return max(LEAST_PROMPT_TOKENS, min(MOST_PROMPT_TOKENS, ACTIVATION_BYTES // token_bytes))


def check_config(config: PreTrainedConfig) -> None:
    """Raises ModelError for what is known to be no plain attention over all or the last positions."""
    other = sorted(set(getattr(config, "layer_types", None) or ()) - _LAYER_TYPES)
    if other:
        raise unsupported(f"layers of type {', '.join(other)}")
    if getattr(config, "num_kv_shared_layers", 0):
        raise unsupported("layers that use the keys and values of other layers")
    if getattr(config, "is_encoder_decoder", False):
        raise unsupported("an encoder")


def layer_windows(config: PreTrainedConfig) -> list[int | None]:
    """The sliding window of each layer by the configuration."""
    window = getattr(config, "sliding_window", None)
    types = getattr(config, "layer_types", None) or ["sliding_attention"] * int(config.num_hidden_layers)
    return [window if kind == "sliding_attention" else None for kind in types]


def positions_of(config: PreTrainedConfig) -> int:
    """Most positions of a sequence whose keys stay as they are when it grows."""
    rotation = getattr(config, "rope_parameters", None) or {}
    limit = context_length(config)
    for settings in (rotation, *(part for part in rotation.values() if isinstance(part, dict))):
        if settings.get("rope_type") in _BY_LENGTH:
            first = settings.get("original_max_position_embeddings")
            first = first or getattr(config, "original_max_position_embeddings", None) or limit
            limit = min(limit, int(first))
    return limit
