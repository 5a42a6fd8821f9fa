"""Folders of models that are damaged or do not fit: each is refused with its reason, none is run wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from fakes.small_models import CHAT, small_definition
from fakes.tiny_decoders import tiny_decoder
from sglc.runtime.executor.choose import load_executor
from sglc.runtime.model.weights.errors import ModelError

Damage = Callable[[Path], object]
NATIVE: dict[str, Any] = {
    "hidden_size": 64,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 32,
}


@pytest.fixture(scope="module", params=["llama", "qwen2", "gpt2"])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as `save_pretrained` writes it, with a tokenizer."""
    folder = tmp_path_factory.mktemp(request.param) / "model"
    tiny_decoder(request.param, **NATIVE if request.param != "gpt2" else {}).save_pretrained(folder)
    (folder / "tokenizer.json").write_text(small_definition(), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": CHAT}), encoding="utf-8")
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of its own to damage."""
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    return Path(shutil.copytree(whole, tmp_path / "model"))


def refusal(folder: Path, kind: Any = "auto", **options: Any) -> str:
    """Why the folder is refused, by the first executor that is tried and by torch."""
    with pytest.raises(ModelError) as raised:
        load_executor(str(folder), kind=kind, threads=1, **options).close()
    assert raised.value.what and raised.value.why
    return f"{raised.value.what}: {raised.value.why}"


def configured(**changes: object) -> Damage:
    """Changes settings in config.json; names that a kind does not have do no harm."""

    def damage(folder: Path) -> None:
        path = folder / "config.json"
        config = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**config, **changes}), encoding="utf-8")

    return damage


def written(name: str, data: str | bytes) -> Damage:
    """Another content for one of the files."""
    return lambda folder: (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)


def without(part: str) -> Damage:
    """Leaves out the first tensor with this in its name."""

    def damage(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        del weights[next(name for name in weights if part in name)]
        save_file(weights, folder / "model.safetensors", {"format": "pt"})

    return damage


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["auto", "torch"])
@pytest.mark.parametrize("part", ["mlp", "attn", "norm"])
def test_missing_weights_are_not_made_up(folder: Path, part: str, kind: str) -> None:
    if part == "norm" and "gpt2" in str(json.loads((folder / "config.json").read_text())["model_type"]):
        part = "ln_1"
    without(part)(folder)
    assert "its weights have no " in refusal(folder, kind)


@pytest.mark.parametrize("kind", ["auto", "torch"])
def test_a_configuration_with_more_layers_than_weights_is_refused(folder: Path, kind: str) -> None:
    configured(num_hidden_layers=4, n_layer=4, layer_types=None)(folder)
    assert "layer" in refusal(folder, kind) or "transformer.h.3" in refusal(folder, kind)


@pytest.mark.parametrize("kind", ["auto", "torch"])
def test_weights_that_are_no_numbers_are_told(folder: Path, kind: str) -> None:
    weights = load_file(folder / "model.safetensors")
    name = next(name for name in weights if weights[name].ndim == 2 and "mlp" in name)
    weights[name] = np.full_like(weights[name], np.nan)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    assert "no numbers" in refusal(folder, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["auto", "torch"])
@pytest.mark.parametrize(
    "damage",
    [
        configured(num_attention_heads=0, n_head=0),
        configured(vocab_size="many"),
        configured(layer_types=5),
        configured(model_type=7),
        configured(model_type="unheard-of"),
        written("config.json", "[]"),
        written("config.json", b"\xff\xfe"),
        written(
            "tokenizer.json", '{"added_tokens": [1], "model": {"type": "BPE", "vocab": {}, "merges": []}}'
        ),
        written("tokenizer.json", '{"model": {"type": "BPE", "vocab": {"a": "x"}, "merges": 5}}'),
        written("tokenizer.json", '{"model": 5}'),
        written("tokenizer_config.json", '{"chat_template": [5]}'),
        written("tokenizer_config.json", b"\xff"),
        written("generation_config.json", '{"eos_token_id": [[1]]}'),
        written("chat_template.jinja", b"\xff\xfe"),
        written("model.safetensors", b""),
        written("model.safetensors", b"\xff" * 100),
    ],
)
def test_damage_is_told_and_ends_in_no_other_error(folder: Path, kind: str, damage: Damage) -> None:
    damage(folder)
    refusal(folder, kind)


@pytest.mark.slow
def test_a_single_file_counts_before_an_index_that_was_left_behind(folder: Path) -> None:
    written("model.safetensors.index.json", '{"weight_map": {"a": "gone.safetensors"}}')(folder)
    for kind in ("auto", "torch"):
        load_executor(str(folder), kind=kind, threads=1).close()  # type: ignore[arg-type]


def test_loading_writes_nothing(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load_executor(str(folder), kind="torch", threads=1).close()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("device", ["cuda", "cuda:7", "cuda:x", "nowhere"])
def test_a_device_that_is_not_there_is_told(folder: Path, device: str) -> None:
    import torch

    if torch.cuda.is_available() and device == "cuda":
        pytest.skip("it is there")
    assert "device" in refusal(folder, device=device)


def test_a_model_whose_own_code_fails_is_told(tmp_path: Path) -> None:
    """Heads of a size that the code of GPT-J does not work out for itself."""
    tiny_decoder("gptj", rotary_dim=64).save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").write_text(small_definition(), encoding="utf-8")
    assert "its own code fails" in refusal(tmp_path)
