"""Previews under other chat templates: other role marks, no special tokens, a system message of its own."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from example_budget import examples
from fakes.small_models import FickleModel, small_definition
from prompts_of_runs import check_equal, run_and_preview
from sglc.driver import compile_source
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.tokenizer import Tokenizer
from sglc.source import Source
from strategies.programs.source_programs import source_program

TEMPLATES = {
    "instructions in brackets": (
        "{% for m in messages %}{% if m['role'] == 'system' %}<<SYS>>\n{{ m['content'] }}\n<</SYS>>\n\n"
        "{% elif m['role'] == 'user' %}[INST] {{ m['content'].strip() }} [/INST]"
        "{% else %} {{ m['content'].strip() }} <|im_end|>{% endif %}{% endfor %}"
    ),
    "no special tokens": (
        "{% for m in messages %}{{ m['role'] | capitalize }}: {{ m['content'] }}\n{% endfor %}"
        "{% if add_generation_prompt %}Assistant: {% endif %}"
    ),
    "a system message of its own": (
        "{% if messages[0]['role'] != 'system' %}<|im_start|>system\nBe kind.<|im_end|>\n{% endif %}"
        "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TEMPLATES)
def test_a_preview_is_what_the_model_gets(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Token for token, for random programs."""
    asked = 0
    for number in range(examples(12)):
        made = source_program(Random(number))
        program = compile_source(Source("case.sgl", made.text)).program
        assert program is not None
        model = FickleModel(number, context_length=1 << 14)
        model.tokenizer = Tokenizer(json.loads(small_definition()), chat_template=TEMPLATES[name])
        engine = ReferenceEngine(model)
        try:
            found = run_and_preview(program, "main", made.arguments, engine, tmp_path, monkeypatch)
        finally:
            engine.close()
        check_equal(*found)
        asked += len(found[0])
    assert asked >= examples(12)
