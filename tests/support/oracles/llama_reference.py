"""A forward pass of the Llama family in plain numpy, and tiny models of it: the oracle of the native step.

With `quantise` it rounds what goes into linear layers as the native step does; without, it is the model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sglc.kernels.llama.kv_layout import LEAST_SCALE
from sglc.kernels.llama.kv_layout import STEP as REMEMBERED
from sglc.kernels.llama.quantize_activations import SMALLEST, SPAN, STEP
from sglc.kernels.llama.weight_layout import quantised
from sglc.runtime.model.weights.convert import write_safetensors
from sglc.runtime.model.weights.family import Family
from sglc.runtime.model.weights.packed import matrix_names, vector_names

VOCABULARY = 420
"""Of the small tokenizer; no multiple of 16."""
BASE: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "vocab_size": VOCABULARY,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 512,
    "hidden_act": "silu",
}
CONFIGS: dict[str, dict[str, Any]] = {
    "llama": {
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "tie_word_embeddings": True,
        "hidden_size": 96,
        "rope_parameters": {"rope_type": "linear", "rope_theta": 500.0, "factor": 2.0},
    },
    "mistral": {
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "sliding_window": 21,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
    },
    "qwen2": {
        "num_attention_heads": 7,
        "num_key_value_heads": 1,
        "tie_word_embeddings": False,
        "hidden_size": 224,
        "use_sliding_window": True,
        "sliding_window": 37,
        "max_window_layers": 1,
        "layer_types": ["full_attention", "sliding_attention"],
    },
    "qwen3": {
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 96,
        "tie_word_embeddings": True,
        "attention_bias": False,
    },
}


def config_of(kind: str) -> dict[str, Any]:
    names = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3"}
    architecture = {"model_type": kind, "architectures": [f"{names[kind]}ForCausalLM"]}
    return {**architecture, **BASE, **CONFIGS[kind]}


def random_weights(family: Family, seed: int = 0) -> dict[str, np.ndarray]:
    """Weights that quantising keeps as they are, up to the rounding of a product."""
    dice = np.random.default_rng(seed)
    shape = family.shape
    parts = {"q_proj": shape.heads, "k_proj": shape.shared, "v_proj": shape.shared}
    found = {}
    for names, outputs, inputs in matrix_names(family):
        for name in names:
            heads = next((count for part, count in parts.items() if part in name), None)
            rows = outputs // len(names) if heads is None else heads * shape.size
            scale = 0.25 if "embed" in name or "lm_head" in name else 2.0 / inputs**0.5
            weights = (dice.normal(size=(rows, inputs)) * scale).astype(np.float32)
            found[name] = quantised(weights, 8).floats()
    for name, length in vector_names(family):
        around = 0.0 if name.endswith("bias") else 1.0
        found[name] = (around + 0.3 * dice.normal(size=length)).astype(np.float32)
    return found


def write_model(folder: Path, config: Mapping[str, Any], weights: Mapping[str, np.ndarray]) -> None:
    """A model folder without a tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    layout = {name: ("F32", value.shape) for name, value in weights.items()}
    write_safetensors(folder / "model.safetensors", layout, iter(weights.values()))


def rounded_to_bytes(x: np.ndarray) -> np.ndarray:
    """What the native step makes of the inputs of a linear layer: bytes with a unit for each 16.

    The second half of a group of 32 has at least a quarter of the unit of the first, and a unit of 21 bits.
    """
    halves = x.astype(np.float32).reshape(*x.shape[:-1], -1, 2, 16)
    most = np.abs(halves).max(-1) * np.float32(STEP)
    second = np.maximum(np.maximum(most[..., 1], most[..., 0] / np.float32(SPAN)), np.float32(SMALLEST))
    unit = (second.view(np.uint32) >> np.uint32(3) << np.uint32(3)).view(np.float32)
    first = np.maximum(most[..., 0], second / np.float32(1024))
    inverses = np.float32(1) / np.stack([first, unit], -1)
    units = np.stack([first * inverses[..., 1] * unit.astype(np.float64), unit], -1)
    return (np.rint(halves * inverses[..., None].astype(np.float64)) * units[..., None]).reshape(x.shape)


def rounded_finely(x: np.ndarray) -> np.ndarray:
    """As `rounded_to_bytes` with a unit for each 8, which is what the head gets."""
    quarters = x.astype(np.float32).reshape(*x.shape[:-1], -1, 4, 8)
    units = np.abs(quarters).max(-1).astype(np.float64) * STEP
    units[..., 0] = np.maximum(units[..., 0], SMALLEST)
    for part in (1, 2, 3):
        units[..., part] = np.maximum(units[..., part], units[..., :part].max(-1) / SPAN)
    cut = units[..., 3].astype(np.float32).view(np.uint32) >> np.uint32(3) << np.uint32(3)
    units[..., 3] = cut.view(np.float32)
    for part in (2, 1, 0):
        units[..., part] = np.maximum(units[..., part], units[..., part + 1] / 1024)
    inverses = (1 / units).astype(np.float32)
    return (np.rint(quarters * inverses[..., None]) * units[..., None]).reshape(x.shape)


def made_even(x: np.ndarray) -> np.ndarray:
    """A head times the orthogonal matrix that queries and keys are multiplied by; a product of it with itself
    is one."""
    found = np.array(x, np.float64)
    for start in range(0, x.shape[-1], 64):
        part = x[..., start : start + 64].reshape(*x.shape[:-1], -1, 16)
        signs = np.array([[1.0]])
        while len(signs) < part.shape[-2]:
            signs = np.block([[signs, signs], [signs, -signs]])
        mixed = signs / len(signs) ** 0.5 @ part
        found[..., start : start + 64] = mixed.reshape(*x.shape[:-1], -1)
    return found


def remembered(x: np.ndarray, together: int) -> np.ndarray:
    """What keys and values become: bytes with a unit of 11 bits for so many numbers."""
    groups = x.astype(np.float32).reshape(*x.shape[:-1], -1, together)
    wanted = np.abs(groups).max(-1) * REMEMBERED + LEAST_SCALE
    units = (wanted.astype(np.float32).view(np.uint32) >> np.uint32(13) << np.uint32(13)).view(np.float32)
    units = units[..., None].astype(np.float64)
    return (np.rint(groups / units) * units).reshape(x.shape)


def _same(x: np.ndarray) -> np.ndarray:
    return x


def logits(
    family: Family, weights: Mapping[str, np.ndarray], tokens: list[int], quantise: bool = False
) -> np.ndarray:
    """Float64 [tokens, V]."""
    shape = family.shape
    given: Callable[[np.ndarray], np.ndarray] = rounded_to_bytes if quantise else _same
    given_last: Callable[[np.ndarray], np.ndarray] = rounded_finely if quantise else _same
    kept_key: Callable[[np.ndarray], np.ndarray] = (
        (lambda x: made_even(remembered(made_even(x), 8))) if quantise else _same
    )
    kept_value: Callable[[np.ndarray], np.ndarray] = (
        (lambda x: remembered(x, shape.size)) if quantise else _same
    )

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        found = given(x) @ weights[f"{name}.weight"].astype(np.float64).T
        return found + weights[f"{name}.bias"] if f"{name}.bias" in weights else found

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + family.epsilon) * weights[f"{name}.weight"]

    count = len(tokens)
    cosines, sines = family.angles(0, count)
    half = shape.turned // 2

    def turn(x: np.ndarray) -> np.ndarray:
        a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
        c, s = cosines[:, None], sines[:, None]
        return np.concatenate([a * c - b * s, b * c + a * s, rest], -1)

    x = weights["model.embed_tokens.weight"][tokens].astype(np.float64)
    distance = np.arange(count)[:, None] - np.arange(count)[None, :]
    for layer in range(shape.layers):
        name = f"model.layers.{layer}."
        h = norm(x, f"{name}input_layernorm")
        q, k, v = (linear(h, f"{name}self_attn.{part}_proj").reshape(count, -1, shape.size) for part in "qkv")
        if shape.normed:
            q, k = norm(q, f"{name}self_attn.q_norm"), norm(k, f"{name}self_attn.k_norm")
        q, k, v = turn(q), kept_key(turn(k)), kept_value(v)
        k, v = (np.repeat(part, shape.heads // shape.shared, 1) for part in (k, v))
        scores = np.einsum("qhd,khd->hqk", q, k) * shape.size**-0.5
        scores = np.where((distance >= 0) & (distance < family.windows[layer]), scores, -np.inf)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = np.einsum("hqk,khd->qhd", scores / scores.sum(-1, keepdims=True), v)
        x = x + linear(mixed.reshape(count, -1), f"{name}self_attn.o_proj")
        h = norm(x, f"{name}post_attention_layernorm")
        gate = linear(h, f"{name}mlp.gate_proj")
        h = gate / (1 + np.exp(-gate)) * linear(h, f"{name}mlp.up_proj")
        x = x + linear(h, f"{name}mlp.down_proj")
    head = "model.embed_tokens" if family.tied else "lm_head"
    return given_last(norm(x, "model.norm")) @ weights[f"{head}.weight"].astype(np.float64).T
