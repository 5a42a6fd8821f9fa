"""Decoders of transformers with a few small random layers, one for each way that attention is done."""

from __future__ import annotations

from typing import Any

from fakes.small_models import small_tokenizer
from late import Late

torch = Late("torch")

SIZES: dict[str, Any] = {
    "vocab_size": 0,
    "hidden_size": 48,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 512,
    "initializer_range": 0.3,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}
KINDS: dict[str, dict[str, Any]] = {
    "llama": {},
    "mistral": {"sliding_window": 24},
    "qwen2": {},
    "qwen3": {"use_sliding_window": True, "sliding_window": 40, "max_window_layers": 1},
    "gemma2": {"sliding_window": 20, "attn_logit_softcapping": 5.0, "query_pre_attn_scalar": 30},
    "gemma3_text": {"sliding_window": 20, "sliding_window_pattern": 2},
    "gpt_neox": {"rotary_pct": 0.5},
    "gpt2": {"n_embd": 48, "n_layer": 3, "n_head": 6, "n_positions": 512},
    "mixtral": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "phi3": {},
    "opt": {"ffn_dim": 64, "word_embed_proj_dim": 48},
    "gpt_bigcode": {"n_embd": 48, "n_layer": 3, "n_head": 6, "n_positions": 512},
}
"""Kind of the model to what its configuration has besides `SIZES`."""


def tiny_decoder(kind: str, **more: Any) -> Any:
    """A model with weights that depend on its kind only; float32, on the CPU, ready to run."""
    from transformers import AutoConfig, AutoModelForCausalLM

    settings = {**SIZES, **KINDS.get(kind, {}), **more, "vocab_size": small_tokenizer().size}
    config = AutoConfig.for_model(kind, **settings)
    torch.manual_seed(7)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 1 and "norm" not in name:
                weight.normal_(0, 0.3)  # biases, which start as zeros
    return model.eval()
