"""`hf:NAME`: transformers' own generate, with our masks, on a tiny model with random weights."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.model_folders import random_model
from late import Late
from sglc.runtime.backends.exchange import Backend, BackendFault, Ending, Message, Piece, Query, TextScore
from sglc.runtime.backends.registry import open_backend
from sglc.runtime.byte_level import byte_alphabet
from sglc.runtime.engine.sampling.options import Sampling
from sglc.targets.projection.core.enforcement import Enforcement

transformers = Late("transformers")
END = 256


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of bytes and an end token."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    backend = Tokenizer(models.BPE(vocab=byte_alphabet(), merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    found = tmp_path_factory.mktemp("model")
    transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>").save_pretrained(found)
    model = random_model("llama")
    model.config.eos_token_id = model.generation_config.eos_token_id = END
    model.save_pretrained(found)
    return found


def answered(backend: Backend, query: Query) -> tuple[str, Ending]:
    async def job() -> list[Any]:
        return [event async for event in backend.stream(query)]

    *pieces, end = asyncio.run(job())
    return "".join(piece.text for piece in pieces), end


@pytest.mark.slow
def test_generate_writes_what_is_enforced_and_nothing_else(folder: Path) -> None:
    backend = open_backend(f"hf:{folder}")
    plain = Query((Message("", "Once upon "),), "a time", max_tokens=40)
    for notation, text in (("gbnf", 'root ::= "(" root ")" | "x"'), ("regex", "[a-c]{2,5}!")):
        enforced = Enforcement(notation, text)  # type: ignore[arg-type]
        for seed in range(3):
            query = replace(plain, enforced=enforced, seed=seed, sampling=Sampling(1.5, top_p=0.9))
            found, end = answered(backend, query)
            assert answered(backend, query) == (found, end), "a seed repeats an answer"
            if end.reason == "stop":
                pattern = r"\(*x\)*" if notation == "gbnf" else text
                assert re.fullmatch(pattern, found)
                assert found.count("(") == found.count(")")
            assert end.usage is not None and 0 < end.usage.output <= 40
    choice = replace(plain, enforced=Enforcement("choice", options=("red", "blaugrün")))
    assert answered(backend, choice)[0] in ("red", "blaugrün")
    asyncio.run(backend.close())


@pytest.mark.slow
def test_scores_of_generate_are_those_of_the_model(folder: Path) -> None:
    backend = open_backend(f"hf:{folder}")
    plain = Query((Message("", "Once upon "),), "a time", top_logprobs=3, max_tokens=2)

    async def job() -> tuple[TextScore, list[Any]]:
        score = (await backend.score(plain, [" x"]))[0]
        events = [event async for event in backend.stream(plain)]
        await backend.prepare()  # type: ignore[attr-defined]
        return score, events

    score, events = asyncio.run(job())
    assert "".join(score.tokens) == " x"
    pieces = [event for event in events if isinstance(event, Piece)]
    best = pieces[0].top[0]
    assert [chance.logprob for chance in best] == sorted((c.logprob for c in best), reverse=True)
    greedy = asyncio.run(backend.score(plain, [best[0].text]))[0]
    assert abs(greedy.logprobs[0] - best[0].logprob) < 1e-3
    assert backend.capabilities.context_length == 600
    asyncio.run(backend.close())


@pytest.mark.slow
def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    assert transformers.AutoTokenizer
    with pytest.raises(BackendFault, match="the model cannot be loaded"):
        answered(open_backend(f"hf:{tmp_path}"), Query((Message("", "x"),)))


@pytest.mark.slow
def test_special_tokens_come_from_no_text(folder: Path) -> None:
    with pytest.raises(BackendFault, match="has the special token '<end>' in it"):
        answered(open_backend(f"hf:{folder}"), Query((Message("", "a <end> b"),)))
    with pytest.raises(BackendFault, match="has no chat template"):
        answered(open_backend(f"hf:{folder}"), Query((Message("user", "a"),)))
