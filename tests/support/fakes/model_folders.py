"""Model folders."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from sglc.runtime.byte_level import byte_alphabet
from sglc.runtime.tokenizer import byte_level

VOCABULARY = 300


def random_model(family: str) -> Any:
    """A tiny transformers model with random weights."""
    import torch
    import transformers

    torch.manual_seed(3)
    common = {"vocab_size": VOCABULARY, "bos_token_id": None, "eos_token_id": 257}
    layers = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 600,
        "initializer_range": 0.4,
    }
    if family == "llama":
        config = transformers.LlamaConfig(**common, **layers, tie_word_embeddings=True)
        return transformers.LlamaForCausalLM(config).eval()
    if family == "qwen2":
        return transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**common, **layers)).eval()
    config = transformers.GPT2Config(**common, n_embd=32, n_layer=2, n_head=4, n_positions=600)
    return transformers.GPT2LMHeadModel(config).eval()


@cache
def folder_of(family: str) -> Path:
    """The random model saved as a folder, with a tokenizer of bytes."""
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix=f"sglc-{family}-"))
    random_model(family).save_pretrained(folder)
    definition = {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": byte_level(),
        "decoder": byte_level(),
        "model": {"type": "BPE", "vocab": byte_alphabet(), "merges": []},
    }
    (folder / "tokenizer.json").write_text(json.dumps(definition))
    return folder
