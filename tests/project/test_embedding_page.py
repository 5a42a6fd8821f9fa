"""The examples of docs/embedding.md run as they stand, in order."""

from __future__ import annotations

from typing import Any

from checkout import DOCS
from late import Late
from readme_commands import blocks

torch = Late("torch")
transformers = Late("transformers")

PAGE = DOCS / "embedding.md"


def stage() -> dict[str, Any]:
    """A trained tokenizer and a random model of its size, under the names that the page uses."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator(["the answer is there: yes, because it is no other"], trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>")
    torch.manual_seed(5)
    config = transformers.LlamaConfig(
        vocab_size=320,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=200,
        initializer_range=0.4,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.eos_token_id,
    )
    return {"tokenizer": tokenizer, "model": transformers.LlamaForCausalLM(config).eval()}


def test_the_examples_run() -> None:
    names = stage()
    examples = blocks("python", PAGE)
    assert len(examples) == 12
    for example in examples:
        exec(compile(example, PAGE.name, "exec"), names)
