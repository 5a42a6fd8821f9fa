"""Packed weights: GGUF's blocks as they are, files that are used for nothing but what they were made from."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from fakes.gguf_models import byte_level_metadata, random_blocks
from fakes.gguf_writer import floats, gguf_bytes
from oracles.llama_reference import config_of, logits, random_weights, write_model
from sglc.kernels.llama.weight_layout import quantised
from sglc.runtime.executor.native import NativeExecutor
from sglc.runtime.executor.plan import Piece
from sglc.runtime.model.weights import packed
from sglc.runtime.model.weights.convert import (
    MANIFEST,
    convert_gguf,
    is_whole,
    rounded_bfloat16,
    write_safetensors,
)
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.model.weights.family import family_of
from sglc.runtime.model.weights.gguf import GgufFile
from sglc.runtime.model.weights.packed import FolderSource, gguf_blocks, open_packed, pack
from sglc.runtime.model.weights.safetensors_file import SafetensorsFile, weight_files

Tensor = tuple[str, tuple[int, ...], bytes]


def opened(tmp_path: Path, tensors: dict[str, Tensor], facts: dict[str, object] | None = None) -> GgufFile:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_bytes(facts or {}, tensors))
    return GgufFile(path)


@pytest.mark.parametrize("form", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"])
def test_blocks_are_kept_exactly(form: str, tmp_path: Path) -> None:
    """Values, scales and offsets give the very numbers that decoding gives."""
    with opened(tmp_path, {"t": (form, (6, 64), random_blocks(form, 12, 3))}) as file:
        blocks = gguf_blocks(file, "t")
        assert blocks.bits == (4 if form.startswith("Q4") else 8)
        assert blocks.values.shape == (6, 2, 32) and blocks.values.max() < 1 << blocks.bits
        right = file.tensor("t")
        np.testing.assert_allclose(blocks.floats(), right, rtol=1e-6, atol=1e-6 * np.abs(right).max())


@pytest.mark.parametrize("form", ["Q4_K", "Q5_K", "Q6_K", "F16", "BF16", "F32"])
def test_other_formats_are_quantised_to_8_bits(form: str, tmp_path: Path) -> None:
    if form in ("F16", "BF16", "F32"):
        values = np.random.default_rng(1).normal(size=(6, 256)).astype(np.float32)
        data = {"F16": values.astype(np.float16), "BF16": rounded_bfloat16(values), "F32": values}[
            form
        ].tobytes()
    else:
        data = random_blocks(form, 6, 3)
    with opened(tmp_path, {"t": (form, (6, 256), data)}) as file:
        blocks = gguf_blocks(file, "t")
        right = file.tensor("t")
        if right.dtype == np.uint16:
            right = (right.astype(np.uint32) << 16).view(np.float32)
        most = np.abs(right.reshape(6, 8, 32)).max(-1, keepdims=True)
        away = np.abs(blocks.floats() - right).reshape(6, 8, 32)
        assert blocks.bits == 8 and (away <= most * (0.51 / 127 + 2e-3)).all()


def test_scales_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    data = np.float16(np.inf).tobytes() + bytes(32)
    with opened(tmp_path, {"t": ("Q8_0", (1, 32), data)}) as file, pytest.raises(ModelError, match="damaged"):
        gguf_blocks(file, "t")
    with (
        opened(tmp_path, {"t": floats(np.zeros((2, 40)))}) as file,
        pytest.raises(ModelError, match="damaged"),
    ):
        gguf_blocks(file, "t")


# -- a whole file -----------------------------------------------------------------------------------------


def as_blocks(weights: np.ndarray, form: str) -> Tensor:
    """Weights as blocks Q8_0 or Q4_1."""
    blocks = quantised(weights, 8 if form == "Q8_0" else 4)
    scales = np.ascontiguousarray(blocks.scales[..., None]).view(np.uint8)
    if form == "Q8_0":
        parts = [scales, blocks.values ^ 0x80]
    else:
        low, high = blocks.values[..., :16], blocks.values[..., 16:]
        parts = [scales, np.ascontiguousarray(blocks.offsets[..., None]).view(np.uint8), low | high << 4]
    return form, weights.shape, np.concatenate(parts, -1).tobytes()


def quantised_llama(path: Path, head: int = 32) -> Path:
    """A Llama of two layers whose matrices are Q4_1, but queries and embeddings Q8_0."""
    dice = np.random.default_rng(8)
    width, inner, heads, shared = 2 * head, 96, 2, 1
    shapes = {
        "attn_q": (heads * head, width),
        "attn_k": (shared * head, width),
        "attn_v": (shared * head, width),
        "attn_output": (width, heads * head),
        "ffn_gate": (inner, width),
        "ffn_up": (inner, width),
        "ffn_down": (width, inner),
    }
    tensors = {"token_embd.weight": as_blocks(dice.normal(0, 0.3, (259, width)), "Q8_0")}
    tensors["output_norm.weight"] = floats(dice.normal(1, 0.2, width))
    for layer in range(2):
        for name, shape in shapes.items():
            weights = dice.normal(0, 1.5 / shape[1] ** 0.5, shape)
            tensors[f"blk.{layer}.{name}.weight"] = as_blocks(weights, "Q8_0" if name == "attn_q" else "Q4_1")
        for name in ("attn_norm", "ffn_norm"):
            tensors[f"blk.{layer}.{name}.weight"] = floats(dice.normal(1, 0.2, width))
    facts = {
        "general.architecture": "llama",
        "llama.block_count": 2,
        "llama.context_length": 64,
        "llama.embedding_length": width,
        "llama.feed_forward_length": inner,
        "llama.attention.head_count": heads,
        "llama.attention.head_count_kv": shared,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.freq_base": 100.0,
        **{key: fact for key, fact in byte_level_metadata().items() if not isinstance(fact, np.ndarray)},
        "tokenizer.ggml.token_type": [1] * 258 + [3],
    }
    path.write_bytes(gguf_bytes(facts, tensors))
    return path


@pytest.mark.slow
def test_a_converted_file_is_computed_from_its_own_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal to the floats that the same conversion writes, rows of queries and keys in their order too."""
    pytest.importorskip("llvmlite")
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    # In the own cache: packed weights that lie elsewhere are not trusted.
    folder = convert_gguf(quantised_llama(tmp_path / "small.gguf"), tmp_path / "cache" / "models" / "small")
    assert is_whole(folder)
    executor = NativeExecutor.from_directory(folder, threads=1)
    assert not (tmp_path / "cache" / "native").exists()
    executor.reserve(4)
    tokens = np.random.default_rng(2).integers(0, 259, 40).tolist()
    rows = executor.run([Piece([0, 1, 2], 0, tokens, 40)])
    family = family_of(json.loads((folder / "config.json").read_text()))
    file = SafetensorsFile(folder / "model.safetensors")
    weights = {name: file.tensor(name) for name in file.shapes}
    right = logits(family, weights, tokens, quantise=True)
    away = np.abs(rows - right) / right.std()
    assert away.max() < 0.25 and away.mean() < 0.02
    exact = logits(family, weights, tokens)
    assert np.abs(rows - exact).mean() < 1.15 * np.abs(right - exact).mean()
    executor.close()

    # Without the file of packed weights the floats are quantised, and the folder is not whole.
    (folder / packed.NAME).unlink()
    assert not is_whole(folder)
    executor = NativeExecutor.from_directory(folder, threads=1)
    assert len(list((tmp_path / "cache" / "native").iterdir())) == 1
    executor.close()


def test_a_folder_of_an_earlier_version_is_not_whole(tmp_path: Path) -> None:
    folder = convert_gguf(quantised_llama(tmp_path / "small.gguf"), tmp_path / "out")
    manifest = json.loads((folder / MANIFEST).read_text())
    assert packed.NAME in manifest["files"]
    for native in (None, packed.FORMAT + 1):
        (folder / MANIFEST).write_text(json.dumps({**manifest, "native": native}))
        assert not is_whole(folder)


def test_a_model_that_is_not_native_is_converted_without_packed_weights(tmp_path: Path) -> None:
    folder = convert_gguf(quantised_llama(tmp_path / "small.gguf", head=16), tmp_path / "out")
    assert is_whole(folder) and not (folder / packed.NAME).exists()


def test_a_packed_file_is_used_for_its_model_only(tmp_path: Path) -> None:
    family = family_of(config_of("llama"))
    write_model(tmp_path, config_of("llama"), random_weights(family))
    path = tmp_path / "packed"
    facts = pack(FolderSource(tmp_path, 8), family, path, "one")
    whole = path.read_bytes()
    assert facts["size"] == len(whole)
    found = open_packed(path, family, "one")
    assert found is not None and found.places.shape == (4 * 2 + 2, 2)
    assert found.places[-1].tolist() == found.places[-2].tolist()  # tied
    assert len(found.vectors) == -(-family.shape.vector_numbers // 16) * 16
    assert open_packed(path, family, "another") is None
    assert open_packed(path, family_of({**config_of("llama"), "num_hidden_layers": 3}), "one") is None
    assert open_packed(tmp_path / "nowhere", family, "one") is None
    for damaged in (whole[:-1], whole[:1000], whole[:70000] + b"?" + whole[70001:], b"", b"?" + whole[1:]):
        path.write_bytes(damaged)
        assert open_packed(path, family, "one") is None
    for place in (25, 60, 70):  # in the head
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        assert open_packed(path, family, "one") is None


def test_weights_may_lie_in_several_files(tmp_path: Path) -> None:
    family = family_of(config_of("qwen3"))
    weights = random_weights(family)
    names = sorted(weights)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, members in parts.items():
        layout = {name: ("F32", weights[name].shape) for name in members}
        write_safetensors(tmp_path / file, layout, (weights[name] for name in members))
    where = {name: file for file, members in parts.items() for name in members}
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": where}))
    pack(FolderSource(tmp_path, 8), family, tmp_path / "several", "one")
    write_model(tmp_path / "single", config_of("qwen3"), weights)
    pack(FolderSource(tmp_path / "single", 8), family, tmp_path / "one", "one")
    assert (tmp_path / "several").read_bytes() == (tmp_path / "one").read_bytes()
    index.write_text(json.dumps({"weight_map": {"x": "../secret"}}))
    with pytest.raises(ModelError, match="damaged"):
        weight_files(tmp_path)


# -- safetensors ------------------------------------------------------------------------------------------


def test_safetensors_are_read_as_the_library_reads_them(tmp_path: Path) -> None:
    load_file = pytest.importorskip("safetensors.numpy").load_file
    dice = np.random.default_rng(4)
    values = {"a": dice.normal(size=(3, 5)).astype(np.float32), "b": dice.normal(size=7).astype(np.float16)}
    layout = {"a": ("F32", (3, 5)), "b": ("F16", (7,))}
    write_safetensors(tmp_path / "x.safetensors", layout, iter(values.values()))
    file = SafetensorsFile(tmp_path / "x.safetensors")
    for name, right in load_file(tmp_path / "x.safetensors").items():
        assert file.shapes[name] == right.shape
        np.testing.assert_array_equal(file.tensor(name), right.astype(np.float32))
    write_safetensors(
        tmp_path / "y.safetensors", {"a": ("BF16", (3, 5))}, iter([rounded_bfloat16(values["a"])])
    )
    np.testing.assert_allclose(
        SafetensorsFile(tmp_path / "y.safetensors").tensor("a"), values["a"], rtol=2**-8
    )


@pytest.mark.parametrize(
    "header",
    [
        b"[]",
        b"{",
        b'{"a": 3}',
        b'{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 12]}}',
        b'{"a": {"dtype": "F32", "shape": [2], "data_offsets": [60, 68]}}',
        b'{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [4, 0]}}',
        b'{"a": {"dtype": "F32", "shape": ["x"], "data_offsets": [0, 8]}}',
    ],
)
def test_hostile_safetensors_are_refused(header: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(16))
    with pytest.raises(ModelError):
        SafetensorsFile(path)
    path.write_bytes(struct.pack("<Q", 1 << 40) + header)
    with pytest.raises(ModelError):
        SafetensorsFile(path)


def test_other_kinds_of_numbers_are_refused(tmp_path: Path) -> None:
    header = b'{"a": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}}'
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    with pytest.raises(ModelError, match="not supported"):
        SafetensorsFile(path).tensor("a")
