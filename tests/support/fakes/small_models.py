"""A small byte-level BPE and a model of pseudo-random preferences over it, for tests that need no weights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np

from sglc.runtime.model.scripted import ScriptedCache
from sglc.runtime.tokenizer import Tokenizer

CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SENTENCES = [
    "the answer is there, the anthem of the theatre: another answer << there >>",
    'aaaa aa {"name": "the", "age": 12, "tags": ["a", "b"]} {"name": "an answer", "age": 7}',
    "été à Zürich, 12.50 and -3\n\n1. the\n2. answer\n",
]


@cache
def small_definition() -> str:
    """`tokenizer.json` of a BPE trained on a few sentences."""
    from tokenizers import Tokenizer as Backend
    from tokenizers import decoders, models, pre_tokenizers, trainers

    backend = Backend(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=["<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(SENTENCES, trainer)
    return str(backend.to_str())


@cache
def small_tokenizer() -> Tokenizer:
    """The BPE of `small_definition`, with a ChatML template."""
    return Tokenizer(json.loads(small_definition()), chat_template=CHAT)


class FickleModel:
    """Logits that are a pseudo-random function of the last tokens; `wanted` tokens may be made likelier.

    `spread` is the deviation of the logits; the larger, the more some tokens stand out.
    """

    name = "fickle"

    def __init__(
        self,
        seed: int = 0,
        context_length: int = 4096,
        wanted: dict[int, float] | None = None,
        tokenizer: Any = None,
        spread: float = 3.0,
    ) -> None:
        self.tokenizer = tokenizer or small_tokenizer()
        self._spread = spread
        self.context_length = context_length
        self._seed = seed
        self._wanted = wanted or {}

    def new_cache(self) -> ScriptedCache:
        return ScriptedCache()

    def forward(self, cache: ScriptedCache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        rows = []
        for token in tokens:
            cache.tokens.append(token)
            key = crc32(repr((self._seed, cache.tokens[-8:])).encode())
            row = np.random.default_rng(key).normal(0, self._spread, self.tokenizer.size).astype(np.float32)
            for wanted, bonus in self._wanted.items():
                row[wanted] += bonus
            rows.append(row)
        return np.stack(rows) if every else rows[-1]


class MadeUpModel:
    """Float32 logits over a real vocabulary that are a pseudo-random function of the last tokens."""

    def __init__(self, size: int, seed: int = 0) -> None:
        self._size, self._seed = size, seed
        self._rows: dict[tuple[int, ...], np.ndarray] = {}

    def __call__(self, tokens: tuple[int, ...]) -> np.ndarray:
        key = tokens[-8:]
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) > 400:
                self._rows.clear()
            random = np.random.default_rng(crc32(repr((self._seed, key)).encode()))
            row = self._rows[key] = random.standard_normal(self._size, np.float32) * np.float32(2)
            row.flags.writeable = False
        return row
