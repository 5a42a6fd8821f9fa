"""Local models that write, and that draft words: what they draw, and what of it is computed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sglc
from example_budget import examples
from fakes.hashed_engine import HashedEngine
from fakes.small_models import FickleModel, small_tokenizer
from oracles.term_oracle import accepts
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.model import load
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.repair.local_model import LocalModel
from sglc.runtime.repair.loop import Draft, Drafted
from sglc.types.language.language import language
from strategies.sample_types import TABLE, TYPES
from strategies.typed_values import SEEDS

PAIRS_PROMPT = "Here is a really long JSON object, with 10 keys, using only string values:\n\n```json\n"
PAIRS = r"""start: "{" WS? (pair "," WS?)~9 pair WS? "}"
pair: STR ":" " "? STR
STR: /"[ !#-Z_-~]*"/
WS: /( |\n *)/
"""


async def read(stream: AsyncIterator[str]) -> str:
    return "".join([piece async for piece in stream])


def greedy(seed: int, text: str, count: int) -> tuple[bytes, int, str]:
    """What the fickle model writes behind a text, in the plainest way: bytes, tokens drawn, how it ended."""
    tokenizer, model = small_tokenizer(), FickleModel(seed)
    tokens = tokenizer.encode(text)
    start = tokenizer.bytes_of(tokens[-1:]) if len(tokens) > 1 else b""
    if sum((data or b"").startswith(start) for data in tokenizer.token_bytes) == 1:
        start = b""  # no longer token begins so
    if start[-1:] in (b'"', b":", b","):
        start = b""  # a mark
    tokens = tokens[:-1] if start else tokens
    written, drawn = b"", 0
    while drawn < count:
        logits = model.forward(model.new_cache(), tokens)
        fits = [(tokenizer.token_bytes[i] or b"").startswith(start) for i in range(tokenizer.size)]
        token = int(np.argmax(np.where(fits, logits, -np.inf)))
        drawn += 1
        if not tokenizer.token_bytes[token]:
            return written, drawn, "stop"
        written += (tokenizer.token_bytes[token] or b"")[len(start) :]
        tokens, start = [*tokens, token], b""
    return written, drawn, "length"


@given(
    SEEDS,
    st.sampled_from(["the ans", "the", "aaaa aa", '{"name": "th', "é", "1. the\n", "the answer:", '{"name"']),
)
@settings(max_examples=examples(20))
def test_the_last_token_is_given_back(seed: int, text: str) -> None:
    engine = ReferenceEngine(FickleModel(seed))
    stream = LocalModel(engine)("", text, 6)
    found = asyncio.run(read(stream)).encode("utf-8", "surrogateescape")
    written, drawn, ended = greedy(seed, text, 6)
    assert (found, stream.tokens, stream.ended) == (written[: len(found)], drawn, ended)
    assert len(written) - len(found) < 4, "only the beginning of a character waits for its end"
    engine.close()


@given(SEEDS, st.sampled_from(TYPES), st.booleans())
@settings(max_examples=examples(25))
def test_texts_of_models_without_sense(seed: int, type: Any, drafting: bool) -> None:
    """The model writes what it likes; with itself as the draft model it corrects what it has written."""
    constraint = compile_constraint(type=type, table=TABLE)
    model = LocalModel(ReferenceEngine(FickleModel(seed)))
    draft = model if drafting else None
    found = sglc.repair(
        model, "the answer: ", constraint=constraint, draft=draft, max_calls=8, max_tokens=80, complete=True
    )
    assert accepts(language(type, TABLE), found.text.encode())
    assert found.calls <= 8 and {each.by for each in found.corrections} <= {
        *("forced", "completion", "end"),
        *(["draft"] if drafting else []),
    }


def drafted(prompt: str, text: str, **constraint: Any) -> Drafted:
    """The word of a model that prefers to end, then closing marks, letters, digits; each byte is a token."""
    model = LocalModel(ReferenceEngine(ScriptedModel()))
    matcher = compile_constraint(**constraint).matcher(model.vocabulary)
    assert matcher.accept_bytes(text.encode())
    return asyncio.run(model.draft(Draft(prompt, text, matcher)))


def test_a_draft_is_a_word_in_whole_characters_and_more_than_blanks() -> None:
    assert drafted("p", "", regex="[a-e]x") == Drafted("e", 1)
    assert drafted("p", "", regex="\n\n[a-e]") == Drafted("\n\ne", 3)
    assert drafted("p", "", regex="[é-ü]").tokens == 2
    assert drafted("p", "e", regex="ee*") == Drafted("", 1, ended=True)
    endless = drafted("p", "", regex="\n*[a-e]")
    assert endless.text == "" and not endless.ended, "blanks without an end are no word"


def test_a_fault_of_the_draft_model_keeps_the_text() -> None:
    engine = HashedEngine(faults=1000)
    with pytest.raises(sglc.RunError, match="the hash of these tokens") as caught:
        sglc.repair(lambda prompt: "ab1", regex="[a-z]{3}!", draft=engine)
    assert (caught.value.name, caught.value.partial) == ("Backend", "ab")


def test_tokens_are_those_of_the_draft_model() -> None:
    draft = LocalModel(ReferenceEngine(FickleModel()))
    counted = draft.count("the answer")
    assert counted == len(small_tokenizer().encode("the answer")) < len("the answer")
    for generate in (lambda prompt: "the answer", lambda prompt: iter(["the answer"])):
        assert sglc.repair(generate, choices=["the answer", "no"], draft=draft).tokens == counted
    assert sglc.repair(lambda prompt: "the answer", choices=["the answer", "no"]).tokens == 10


def test_prompts_are_messages_where_the_model_chats() -> None:
    model = LocalModel(ReferenceEngine(FickleModel()), chat=True)
    shown = model.open("the question", "the ans").rendered()
    assert shown == "<|im_start|>user\nthe question<|im_end|>\n<|im_start|>assistant\nthe ans"


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (load.cached_folder(load.DEFAULT) or load.package_file()), reason="no SmolLM2 weights at hand"
)
def test_ten_pairs_of_smollm2() -> None:
    """As a black box and as the draft model. What was computed for one call, the next finds in the tree."""
    from sglc.runtime.engine.load import load_engine

    engine = load_engine("smollm2", executor="native", threads=1, memory=64 << 20)
    model = LocalModel(engine)
    first = sglc.repair(model, PAIRS_PROMPT, grammar=PAIRS, draft=model)
    assert re.fullmatch(r'\{(\s*"[^"]*": ?"[^"]*"[,\s]*){10}\}', first.text) and first.calls <= 10
    before = engine.statistics.tokens_fed
    second = sglc.repair(model, PAIRS_PROMPT, grammar=PAIRS, draft=model)
    assert (second.text, second.tokens) == (first.text, first.tokens)
    assert engine.statistics.tokens_fed - before <= second.tokens + second.calls, "only what is new"
    # of a model that is somewhere else: whole texts of 20 tokens
    calls = 0

    async def remote(prompt: str) -> str:
        nonlocal calls
        calls += 1
        return await read(model("", prompt, 20))

    whole = sglc.repair(remote, PAIRS_PROMPT, grammar=PAIRS, draft=model)
    assert re.fullmatch(r'\{(\s*"[^"]*": ?"[^"]*"[,\s]*){10}\}', whole.text) and calls == whole.calls <= 20
    engine.close()
