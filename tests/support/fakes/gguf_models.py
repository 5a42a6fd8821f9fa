"""Small models as GGUF files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fakes.gguf_writer import floats, gguf_bytes
from sglc.runtime.byte_level import byte_alphabet
from sglc.runtime.model.weights.gguf import FORMATS


def random_blocks(form: str, count: int, seed: int) -> bytes:
    """Random blocks whose half-precision scales are finite."""
    kind = FORMATS[form]
    random = np.random.default_rng(seed)
    blocks = random.integers(0, 256, (count, kind.block_bytes), dtype=np.uint8)
    places = {"Q6_K": (208,), "Q4_0": (0,), "Q5_0": (0,), "Q8_0": (0,)}.get(form, (0, 2))
    for place in places:
        scales = random.normal(0, 0.1, count).astype(np.float16)
        blocks[:, place : place + 2] = scales.view(np.uint8).reshape(count, 2)
    return blocks.tobytes()


def byte_level_metadata(**changes: Any) -> dict[str, Any]:
    tokens = [*byte_alphabet(), "th", "the", "<|end|>"]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": np.array([1] * (len(tokens) - 1) + [3]),
        "tokenizer.ggml.merges": ["t h", "th e"],
        "tokenizer.ggml.eos_token_id": len(tokens) - 1,
        **changes,
    }


def tiny_llama(
    width: int = 32, heads: int = 2, kv_heads: int = 1, changes: Mapping[str, Any] | None = None
) -> bytes:
    """A Llama of one layer with random weights, rows of query and key interleaved as GGUF has them.

    `changes` are of its metadata; None leaves a key out.
    """
    random = np.random.default_rng(1)
    size, head = 259, width // heads
    shapes = {
        "token_embd": (size, width),
        "output_norm": (width,),
        "blk.0.attn_norm": (width,),
        "blk.0.attn_q": (width, width),
        "blk.0.attn_k": (head * kv_heads, width),
        "blk.0.attn_v": (head * kv_heads, width),
        "blk.0.attn_output": (width, width),
        "blk.0.ffn_norm": (width,),
        "blk.0.ffn_gate": (64, width),
        "blk.0.ffn_up": (64, width),
        "blk.0.ffn_down": (width, 64),
    }
    facts = {
        "general.architecture": "llama",
        "llama.block_count": 1,
        "llama.context_length": 64,
        "llama.embedding_length": width,
        "llama.feed_forward_length": 64,
        "llama.attention.head_count": heads,
        "llama.attention.head_count_kv": kv_heads,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.freq_base": 10000.0,
        **{key: fact for key, fact in byte_level_metadata().items() if not isinstance(fact, np.ndarray)},
        "tokenizer.ggml.token_type": [1] * 258 + [3],
        "tokenizer.chat_template": "{% for m in messages %}{{ m.content }}<|end|>{% endfor %}",
    }
    facts = {key: fact for key, fact in {**facts, **(changes or {})}.items() if fact is not None}
    tensors = {f"{name}.weight": floats(random.normal(0, 0.3, shape)) for name, shape in shapes.items()}
    return gguf_bytes(facts, tensors)
