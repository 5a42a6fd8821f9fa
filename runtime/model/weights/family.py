"""What the native step can compute, read from a model's config.json: Llama and its next of kin.

Everything in a configuration that would change results is either understood here or refused with its reason;
refused models run on torch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sglc.kernels.llama.model_shape import ModelShape, ShapeError

Config = Mapping[str, Any]
"""The contents of a config.json, or a part of them. Whoever reads a value checks its kind, or catches what
a wrong one leads to."""

KINDS = ("llama", "mistral", "qwen2", "qwen3")
UNBOUNDED = 1 << 40
"""The window of a layer that looks back at everything."""


class NotNativeError(ValueError):
    """A model that the native step does not compute; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Family:
    """A model as the native step sees it."""

    shape: ModelShape
    epsilon: float
    windows: tuple[int, ...]
    """For each layer how many positions it looks back at, itself included."""
    frequencies: np.ndarray
    """float32[turned / 2]: the angle of each pair of a head at position 1."""
    context_length: int
    tied: bool
    """Whether the head is the matrix of embeddings."""

    def angles(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Cosines and sines of some positions, float32 [stop - start, turned / 2]."""
        angles = np.arange(start, stop, dtype=np.float32)[:, None] * self.frequencies
        return np.cos(angles), np.sin(angles)


def family_of(config: Config) -> Family:
    """The model of a config.json. Raises NotNativeError."""
    kind = config.get("model_type")
    if kind not in KINDS:
        raise NotNativeError(f"its architecture is {kind}; known are {', '.join(KINDS)}")
    if config.get("quantization_config"):
        raise NotNativeError("its weights are quantised in a way of their own")
    activation = config.get("hidden_act", "silu")
    if activation != "silu":
        raise NotNativeError(f"its activation function is {activation}")
    if config.get("mlp_bias") or (kind != "qwen2" and config.get("attention_bias")):
        raise NotNativeError("its output layers have biases")
    try:
        return _family(kind, config)
    except ShapeError as error:
        raise NotNativeError(f"its shape is not known: {error}") from error
    except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
        if isinstance(error, NotNativeError):
            raise
        raise NotNativeError(f"its config.json is not understood: {error!r}") from error


def _family(kind: str, config: Config) -> Family:
    width, heads = int(config["hidden_size"]), int(config["num_attention_heads"])
    layers = int(config["num_hidden_layers"])
    size = int(config.get("head_dim") or (128 if kind == "qwen3" else width // heads))
    rotary = _rotary(config)
    turned = int(
        size * float(rotary.get("partial_rotary_factor", config.get("partial_rotary_factor")) or 1.0)
    )
    shared = config.get("num_key_value_heads")
    shape = ModelShape(
        layers=layers,
        heads=heads,
        shared=heads if shared is None else int(shared),
        size=size,
        turned=turned,
        width=width,
        inner=int(config["intermediate_size"]),
        vocabulary=int(config["vocab_size"]),
        biased=kind == "qwen2",
        normed=kind == "qwen3",
    )
    context = int(config.get("max_position_embeddings") or 2048)
    return Family(
        shape=shape,
        epsilon=float(config.get("rms_norm_eps", 1e-6)),
        windows=_windows(kind, config, layers),
        frequencies=_frequencies(rotary, turned, config, context),
        context_length=context,
        tied=bool(config.get("tie_word_embeddings", False)),
    )


def _windows(kind: str, config: Config, layers: int) -> tuple[int, ...]:
    types = config.get("layer_types")
    if kind in ("llama", "mistral"):
        if types is not None and set(types) != {"full_attention"}:
            raise NotNativeError("its layers are of different kinds")
        window = config.get("sliding_window", 4096) if kind == "mistral" else None
        return (UNBOUNDED if window is None else _window(window),) * layers
    window = config.get("sliding_window", 4096) if config.get("use_sliding_window") else None
    if types is None:
        first = int(config.get("max_window_layers", 28))
        slides = [window is not None and layer >= first for layer in range(layers)]
    else:
        if len(types) < layers or not set(types) <= {"full_attention", "sliding_attention"}:
            raise NotNativeError("its layers are of kinds that are not known")
        slides = [each == "sliding_attention" for each in types[:layers]]
    if not any(slides):
        return (UNBOUNDED,) * layers
    if window is None:
        raise NotNativeError("layers look back over a window of no size")
    behind = _window(window)
    return tuple(behind if each else UNBOUNDED for each in slides)


def _window(value: str | float) -> int:
    window = int(value)
    if window < 1:
        raise NotNativeError(f"a window of {window} positions")
    return min(window, UNBOUNDED)


def _rotary(config: Config) -> Config:
    """The settings of the rotation in one form: older files keep theta outside of them."""
    found = dict(config.get("rope_parameters") or config.get("rope_scaling") or {})
    if any(isinstance(value, Mapping) for value in found.values()):
        raise NotNativeError("its layers rotate in different ways")
    found.setdefault("rope_theta", config.get("rope_theta", 10000.0))
    found["rope_type"] = found.get("rope_type") or found.get("type") or "default"
    return found


def _frequencies(rotary: Config, turned: int, config: Config, context: int) -> np.ndarray:
    """In float32, as transformers computes them."""
    exponents = np.arange(0, turned, 2).astype(np.float32) / np.float32(turned)
    plain = np.float32(1.0) / np.float32(rotary["rope_theta"]) ** exponents
    match rotary["rope_type"]:
        case "default":
            return plain
        case "linear":
            return plain / np.float32(rotary["factor"])
        case "llama3":
            return _stretched(plain, rotary, context)
        case other:
            raise NotNativeError(f"its rotary positions are scaled as {other}")


def _stretched(plain: np.ndarray, rotary: Config, context: int) -> np.ndarray:
    """Llama 3.1: slow waves are stretched by a factor, fast ones stay, those between are mixed."""
    factor = float(rotary["factor"])
    low, high = float(rotary["low_freq_factor"]), float(rotary["high_freq_factor"])
    before = float(rotary.get("original_max_position_embeddings") or context)
    waves = 2 * math.pi / plain
    part = (before / waves - low) / (high - low)
    mixed = (1 - part) * plain / factor + part * plain
    found = np.where(waves > before / low, plain / factor, np.where(waves < before / high, plain, mixed))
    return found.astype(np.float32)
