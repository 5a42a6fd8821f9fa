"""A language model run by transformers' own model code, with a cache of ours that can be cut and copied."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import torch
from transformers.cache_utils import Cache as LayerCache
from transformers.cache_utils import DynamicLayer

from sglc.runtime.model.base import Cache
from sglc.runtime.model.pretrained import context_length, load_decoder
from sglc.runtime.model.step_time_model import StepTimeModel
from sglc.runtime.tokenizer import Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

FIRST_ROOM = 256
"""Positions that a layer's cache has room for at first; it doubles when it is full."""


class GrowingLayer(DynamicLayer):
    """Keys and values of one layer in buffers with room to grow; appending a token copies that token only."""

    def __init__(self) -> None:
        DynamicLayer.__init__(self)
        self._room: tuple[torch.Tensor, torch.Tensor] | None = None
        """Buffers of keys and values, [1, heads, room, width]; positions before `get_seq_length()` count."""

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: object, **__: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append [1, heads, n, width] and return all keys and values so far."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        held = self.get_seq_length()
        length = held + key_states.shape[-2]
        if self._room is None or self._room[0].shape[-2] < length:
            self._grow(held, length, key_states, value_states)
        assert self._room is not None
        keys, values = self._room
        keys[:, :, held:length] = key_states
        values[:, :, held:length] = value_states
        self.keys, self.values = keys[:, :, :length], values[:, :, :length]
        return self.keys, self.values

    def keep(self, length: int) -> None:
        """Forget all positions from `length` on."""
        if self._room is not None:
            self.keys, self.values = (buffer[:, :, :length] for buffer in self._room)

    def copy(self) -> GrowingLayer:
        """A layer with the same keys and values in buffers of its own."""
        layer = GrowingLayer()
        if self._room is not None:
            length = self.get_seq_length()
            layer.update(self._room[0][:, :, :length], self._room[1][:, :, :length])
        return layer

    def _grow(self, held: int, length: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        room = max(FIRST_ROOM, length, 2 * held)
        old = self._room
        self._room = (
            keys.new_empty((*keys.shape[:2], room, keys.shape[-1])),
            values.new_empty((*values.shape[:2], room, values.shape[-1])),
        )
        if old is not None:
            for source, target in zip(old, self._room, strict=True):
                target[:, :, :held] = source[:, :, :held]


class BranchCache:
    """The cache of one branch: one GrowingLayer a layer of the model."""

    def __init__(self, layers: list[GrowingLayer] | None = None, length: int = 0) -> None:
        if layers:
            self.layers = LayerCache(layers=list(layers))
        else:
            self.layers = LayerCache(layer_class_to_replicate=GrowingLayer)
        self._length = length

    @property
    def length(self) -> int:
        """See `Cache.length`."""
        return self._length

    def _growing(self) -> list[GrowingLayer]:
        return [layer for layer in self.layers.layers if isinstance(layer, GrowingLayer)]

    def advance(self, tokens: int) -> None:
        """Count tokens that a forward pass has added."""
        self._length += tokens

    def clone(self) -> BranchCache:
        """See `Cache.clone`; copies all keys and values."""
        with torch.inference_mode():
            return BranchCache([layer.copy() for layer in self._growing()], self._length)

    def truncate(self, length: int) -> None:
        """See `Cache.truncate`."""
        # Also when the count says so already: a pass that failed midway has filled some layers only.
        with torch.inference_mode():
            for layer in self._growing():
                if layer.get_seq_length() > length:
                    layer.keep(length)
        self._length = min(self._length, length)


class TransformersModel:
    """Implements `LanguageModel` over a transformers model for one sequence at a time."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: Tokenizer,
        name: str,
        context_length: int,
        step_time_model: StepTimeModel | None = None,
    ) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.context_length = context_length
        self.model = model
        self._device = next(model.parameters()).device
        self._step_time_model = step_time_model

    def new_cache(self) -> BranchCache:
        """See `LanguageModel.new_cache`."""
        return BranchCache()

    @torch.inference_mode()
    def forward(self, cache: Cache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        """See `LanguageModel.forward`; the cache must be one of `new_cache`."""
        if not isinstance(cache, BranchCache):
            raise TypeError("the cache belongs to another model")
        if self._step_time_model is None:
            return self._forward(cache, tokens, every)
        if len(tokens) > 1:
            torch.set_num_threads(self._step_time_model.settled)
            return self._forward(cache, tokens, every)
        torch.set_num_threads(self._step_time_model.threads())
        started = perf_counter()
        rows = self._forward(cache, tokens, every)
        self._step_time_model.record(perf_counter() - started)
        return rows

    def _forward(self, cache: BranchCache, tokens: Sequence[int], every: bool) -> np.ndarray:
        ids = torch.tensor([list(tokens)], dtype=torch.long, device=self._device)
        positions = torch.arange(cache.length, cache.length + len(tokens), device=self._device)[None]
        output = self.model(
            input_ids=ids,
            position_ids=positions,
            past_key_values=cache.layers,
            use_cache=True,
            logits_to_keep=0 if every else 1,
        )
        cache.advance(len(tokens))
        rows: np.ndarray = output.logits[0].to(device="cpu", dtype=torch.float32).numpy()
        return rows if every else rows[-1]

    @classmethod
    def from_directory(
        cls,
        directory: str | Path,
        *,
        name: str | None = None,
        dtype: str | None = None,
        threads: int | None = None,
        device: str = "cpu",
    ) -> TransformersModel:
        """Load a folder with config.json, safetensors and tokenizer.json. Raises ModelError.

        `threads` fixes the number of CPU threads; None lets `StepTimeModel` choose it.
        """
        folder = Path(directory)
        if threads is not None:
            torch.set_num_threads(threads)
        model = load_decoder(folder, dtype, device)
        size = int(model.config.vocab_size)
        tokenizer = Tokenizer.from_directory(folder, size=size)
        step_time_model = (
            StepTimeModel(torch.get_num_threads()) if threads is None and device == "cpu" else None
        )
        return cls(model, tokenizer, name or folder.name, context_length(model.config), step_time_model)
