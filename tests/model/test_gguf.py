"""GGUF files: block formats by their definition, tokenizers, conversion, and files that lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from fakes.gguf_models import byte_level_metadata, random_blocks, tiny_llama
from fakes.gguf_writer import NUMBERS, floats, gguf_bytes
from sglc.runtime.model.weights.convert import convert_gguf, is_whole, rounded_bfloat16
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.model.weights.gguf import FORMATS, GgufFile
from sglc.runtime.model.weights.gguf_tokenizer import merges_by_score, tokenizer_definition
from sglc.runtime.tokenizer import Tokenizer

QUANTISED = [name for name in FORMATS if name.startswith("Q")]


def half(data: bytes) -> float:
    return float(np.frombuffer(data, np.float16)[0])


def signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def decoded_block(form: str, block: bytes) -> list[float]:
    """One block, value by value, after the definitions of ggml."""
    if form == "Q8_0":
        return [signed(byte) * half(block[:2]) for byte in block[2:]]
    if form in ("Q4_0", "Q4_1", "Q5_0", "Q5_1"):
        with_minimum, five = form.endswith("1"), form.startswith("Q5")
        start = 4 if with_minimum else 2
        high = int.from_bytes(block[start : start + 4], "little") if five else 0
        packed = block[start + 4 :] if five else block[start:]
        result = []
        for index in range(32):
            byte = packed[index % 16]
            number = (byte & 15 if index < 16 else byte >> 4) | (high >> index & 1) << 4
            if with_minimum:
                result.append(number * half(block[:2]) + half(block[2:4]))
            else:
                result.append((number - (16 if five else 8)) * half(block[:2]))
        return result
    if form in ("Q4_K", "Q5_K"):
        scale, minimum, packed_scales = half(block[:2]), half(block[2:4]), block[4:16]
        high, packed = (block[16:48], block[48:]) if form == "Q5_K" else (b"", block[16:])
        result = []
        for index in range(256):
            group, place = divmod(index, 32)
            byte = packed[group // 2 * 32 + place]
            number = byte >> 4 if group % 2 else byte & 15
            if high:
                number |= (high[place] >> group & 1) << 4
            if group < 4:
                factor, least = packed_scales[group] & 63, packed_scales[group + 4] & 63
            else:
                factor = packed_scales[group + 4] & 15 | packed_scales[group - 4] >> 6 << 4
                least = packed_scales[group + 4] >> 4 | packed_scales[group] >> 6 << 4
            result.append(scale * factor * number - minimum * least)
        return result
    assert form == "Q6_K"
    result = []
    for index in range(256):
        part, place = divmod(index, 128)
        quarter, column = divmod(place, 32)
        low = block[part * 64 + column + 32 * (quarter % 2)]
        low = low & 15 if quarter < 2 else low >> 4
        high = block[128 + part * 32 + column] >> 2 * quarter & 3
        result.append((low + 16 * high - 32) * signed(block[192 + index // 16]) * half(block[208:]))
    return result


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("form", QUANTISED)
def test_blocks_decode_by_their_definition(form: str, seed: int) -> None:
    kind = FORMATS[form]
    data = random_blocks(form, 2, seed)
    values = kind.decode(np.frombuffer(data, np.uint8).reshape(2, -1))
    size = kind.block_bytes
    expected = [decoded_block(form, data[:size]), decoded_block(form, data[size:])]
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("form", QUANTISED)
def test_blocks_decode_as_the_gguf_package_decodes_them(form: str) -> None:
    quants = pytest.importorskip("gguf.quants", reason="the gguf package is not installed")
    kind = FORMATS[form]
    data = np.frombuffer(random_blocks(form, 64, 5), np.uint8).reshape(64, -1)
    expected = quants.dequantize(data, quants.GGMLQuantizationType(NUMBERS[form]))
    np.testing.assert_array_equal(kind.decode(data), expected)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_bfloat16_rounds_to_the_nearest(numbers: list[float]) -> None:
    values = np.array(numbers, np.float32)
    near = (rounded_bfloat16(values).astype(np.uint32) << 16).view(np.float32)
    step = np.abs(values) * 2.0**-8
    finite = np.isfinite(near)
    assert (np.abs(near - values)[finite] <= step[finite] + 1e-40).all()


# -- the container ---------------------------------------------------------------------------------------


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    return path


def test_metadata_and_tensors_are_read(tmp_path: Path) -> None:
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    facts = {"a": 1, "b": 2.5, "c": "é", "d": True, "e": [1, 2], "f": ["x", "yz"], "g": [[1, 2], [3]]}
    with GgufFile(written(tmp_path, gguf_bytes(facts, {"t": floats(values)}))) as file:
        assert file.metadata["e"].tolist() == [1, 2]
        assert [part.tolist() for part in file.metadata["g"]] == [[1, 2], [3]]
        assert {key: file.metadata[key] for key in "abcdf"} == {key: facts[key] for key in "abcdf"}
        np.testing.assert_array_equal(file.tensor("t"), values)


GOOD = gguf_bytes({"key": ["a", "b"], "number": 3}, {"t": floats(np.ones((2, 32), np.float32))})


DAMAGED = {
    "empty": b"",
    "short": b"GGUF",
    "magic": gguf_bytes({}, {}, magic=b"GGML"),
    "version": gguf_bytes({}, {}, version=99),
    "tensors": gguf_bytes({}, {}, tensor_count=2**60),
    "keys": gguf_bytes({"a": 1}, {}, key_count=2**40),
    "kind": gguf_bytes({"key": 1}, {}).replace(b"\x05\0\0\0", b"\x63\0\0\0"),
    "offset": gguf_bytes({}, {"t": floats(np.ones(32, np.float32))}, offset=2**62),
    "huge": gguf_bytes({}, {"t": ("Q4_0", (2**32, 2**32), b"")}),
    "uneven": gguf_bytes({}, {"t": ("Q4_0", (3, 7), b"\0" * 64)}),
    "zero alignment": gguf_bytes({"general.alignment": 0}, {}),
    "text alignment": gguf_bytes({"general.alignment": "x"}, {}),
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_a_model_error(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ModelError):
        GgufFile(written(tmp_path, data))


@given(st.integers(0, len(GOOD) - 1), st.integers(0, 255))
def test_a_file_with_any_byte_changed_reads_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int
) -> None:
    changed = bytearray(GOOD)
    changed[place] = byte
    path = written(tmp_path_factory.mktemp("gguf"), bytes(changed))
    try:
        with GgufFile(path) as file:
            for name in file.tensors:
                file.tensor(name)
    except ModelError:
        pass


@given(st.integers(0, len(GOOD) - 1))
def test_a_file_that_ends_early_is_refused(tmp_path_factory: pytest.TempPathFactory, size: int) -> None:
    with pytest.raises(ModelError):
        GgufFile(written(tmp_path_factory.mktemp("gguf"), GOOD[:size]))


def test_a_missing_file_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such model file"):
        GgufFile(tmp_path / "none.gguf")


# -- tokenizers ------------------------------------------------------------------------------------------


def test_a_byte_level_tokenizer_is_taken_over() -> None:
    tokenizer = Tokenizer(tokenizer_definition(byte_level_metadata(), "here"))
    assert [tokenizer.token_bytes[id] for id in tokenizer.encode("the 12")] == [b"the", b" ", b"1", b"2"]
    assert tokenizer.special == {"<|end|>": 258}
    assert tokenizer.bytes_of(tokenizer.encode("<|end|>")) == b"<|end|>"


@pytest.mark.parametrize(
    ("rule", "parts"),
    [
        ("gpt-2", ["it", "'s", " 1234", " ok", "  ", " x"]),
        ("smollm", ["it", "'s", " ", "1", "2", "3", "4", " ok", "  ", " x"]),
        ("llama-bpe", ["it", "'s", " ", "123", "4", " ok", "  ", " x"]),
        ("qwen2", ["it", "'s", " ", "1", "2", "3", "4", " ok", "  ", " x"]),
    ],
)
def test_each_rule_splits_text_its_own_way(rule: str, parts: list[str]) -> None:
    from tokenizers import Tokenizer as Backend

    definition = tokenizer_definition(byte_level_metadata(**{"tokenizer.ggml.pre": rule}), "here")
    splitter = Backend.from_str(json.dumps(definition)).pre_tokenizer
    assert splitter is not None
    found = [part.replace("Ġ", " ") for part, _ in splitter.pre_tokenize_str("it's 1234 ok   x")]
    assert found == parts


@pytest.mark.parametrize(
    "changes",
    [
        {"tokenizer.ggml.pre": "brand-new"},
        {"tokenizer.ggml.model": "bert"},
        {"tokenizer.ggml.tokens": []},
        {"tokenizer.ggml.merges": ["abc"]},
        {"tokenizer.ggml.merges": None},
        {"tokenizer.ggml.token_type": np.array([1])},
    ],
    ids=["rule", "model", "tokens", "merges", "no merges", "kinds"],
)
def test_an_unknown_or_damaged_tokenizer_is_refused_loudly(changes: dict[str, Any]) -> None:
    with pytest.raises(ModelError):
        tokenizer_definition(byte_level_metadata(**changes), "here")


def test_a_sentencepiece_tokenizer_merges_by_score() -> None:
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [2, 3, 3, *[6] * 256]
    words = {"▁": -9.0, "a": -9.0, "b": -9.0, "ab": -2.0, "▁a": -1.0, "▁ab": -3.0}
    metadata = {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": [*pieces, *words],
        "tokenizer.ggml.token_type": np.array([*kinds, *[1] * len(words)]),
        "tokenizer.ggml.scores": np.array([*[0.0] * len(pieces), *words.values()], np.float32),
        "tokenizer.ggml.unknown_token_id": 0,
    }
    tokenizer = Tokenizer(tokenizer_definition(metadata, "here"))
    cut = [tokenizer.token_bytes[id] for id in tokenizer.encode(" abab é")]
    assert cut == [b" ab", b"ab", b" ", b"\xc3", b"\xa9"]
    assert merges_by_score({"a": 0, "b": 1, "ab": 2, "aab": 3}, [0, 0, -5, -1]) == [["a", "ab"], ["a", "b"]]


# -- conversion ------------------------------------------------------------------------------------------


def test_a_file_becomes_a_folder_with_its_exact_values(tmp_path: Path) -> None:
    source = written(tmp_path, tiny_llama())
    seen: list[tuple[int, int]] = []
    folder = convert_gguf(source, tmp_path / "out", lambda doing, done, total: seen.append((done, total)))
    weights = load_file(folder / "model.safetensors")
    with GgufFile(source) as file:
        np.testing.assert_array_equal(weights["model.embed_tokens.weight"], file.tensor("token_embd.weight"))
        interleaved = file.tensor("blk.0.attn_q.weight")
    rows = weights["model.layers.0.self_attn.q_proj.weight"]
    order = [head * 16 + pair + part * 8 for head in range(2) for pair in range(8) for part in range(2)]
    np.testing.assert_array_equal(interleaved, rows[order])
    assert seen[-1][0] == seen[-1][1] > 0
    assert is_whole(folder)
    tokenizer = Tokenizer.from_directory(folder)
    assert tokenizer.end_ids == {258}
    assert tokenizer.chat is not None
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_folder_that_lacks_something_is_not_whole(tmp_path: Path) -> None:
    folder = convert_gguf(written(tmp_path, tiny_llama()), tmp_path / "out")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert not is_whole(folder)
    (folder / "manifest.json").write_text("[]")
    assert not is_whole(folder)


@pytest.mark.parametrize(
    ("key", "fact"),
    [
        ("general.architecture", [1]),
        *(("llama.block_count", count) for count in (0, -1, 2, 1.0, 10**9)),
        *(("llama.context_length", length) for length in (0, -5)),
        *(("llama.embedding_length", width) for width in (0, -32, 33, 64)),
        *(("llama.feed_forward_length", width) for width in (0, -1, 1.5)),
        *(("llama.attention.head_count", heads) for heads in (0, 3, 64, 2.0, -2)),
        *(("llama.attention.head_count_kv", heads) for heads in (0, 2, -1, [1])),
        *(("llama.attention.key_length", size) for size in (0, 8, 32)),
        *(("llama.attention.layer_norm_rms_epsilon", number) for number in (float("nan"), -1.0, 0.0, "x")),
        *(("llama.rope.freq_base", number) for number in (float("inf"), 0.0, "x", [1.0])),
        ("llama.rope.dimension_count", 8),
        ("llama.rope.scaling.type", "linear"),
        ("llama.rope.scaling.type", [1]),
        ("llama.expert_count", 4),
        ("llama.expert_count", [0]),
        ("tokenizer.ggml.model", [1]),
        ("tokenizer.ggml.pre", [1]),
        ("tokenizer.ggml.pre", 5),
        ("tokenizer.ggml.merges", [1]),
        ("tokenizer.ggml.tokens", 5),
        ("tokenizer.ggml.token_type", ["a"] * 259),
        ("tokenizer.ggml.token_type", 7),
    ],
)
def test_a_file_whose_facts_do_not_fit_is_refused(tmp_path: Path, key: str, fact: object) -> None:
    source = written(tmp_path, tiny_llama(changes={key: fact}))
    with pytest.raises(ModelError) as refused:
        convert_gguf(source, tmp_path / "out")
    assert refused.value.why
    assert [path.name for path in tmp_path.iterdir()] == ["model.gguf"]


@given(
    key=st.sampled_from(
        [
            "general.architecture",
            "llama.rope.freq_base",
            "llama.rope.scaling.type",
            "llama.rope.dimension_count",
            "llama.attention.key_length",
            "llama.context_length",
            "llama.expert_count",
            "tokenizer.ggml.model",
            "tokenizer.ggml.pre",
            "tokenizer.ggml.tokens",
            "tokenizer.ggml.token_type",
            "tokenizer.ggml.merges",
            "tokenizer.ggml.bos_token_id",
            "tokenizer.ggml.eos_token_id",
            "tokenizer.ggml.add_bos_token",
            "tokenizer.ggml.unknown_token_id",
            "tokenizer.chat_template",
        ]
    ),
    fact=st.none()
    | st.booleans()
    | st.integers(-5, 300)
    | st.floats(width=32)
    | st.text(max_size=5)
    | st.lists(st.integers(-1, 300), min_size=1, max_size=3)
    | st.lists(st.text(max_size=3), min_size=1),
)
def test_facts_of_any_kind_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, key: str, fact: object
) -> None:
    folder = tmp_path_factory.mktemp("facts")
    try:
        out = convert_gguf(written(folder, tiny_llama(changes={key: fact})), folder / "out")
    except ModelError:
        return
    assert is_whole(out)


def test_what_another_process_has_made_meanwhile_stays(tmp_path: Path) -> None:
    source = written(tmp_path, tiny_llama())
    made: list[int] = []

    def other_first(doing: str, done: int, total: int) -> None:
        if not made:
            made.append(0)
            made.append(convert_gguf(source, tmp_path / "out").stat().st_ino)

    assert convert_gguf(source, tmp_path / "out", other_first).stat().st_ino == made[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.gguf", "out"]


def test_a_cache_that_cannot_be_written_is_a_model_error(tmp_path: Path) -> None:
    source = written(tmp_path, tiny_llama())
    with pytest.raises(ModelError, match="SGLC_CACHE_DIR"):
        convert_gguf(source, source / "models" / "out")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"llama.block_count", b"llama.block_cound"),
        (b"blk.0.attn_v", b"blk.0.attn_z"),
        (b"smollm", b"smellm"),
    ],
    ids=["key", "tensor", "rule"],
)
def test_a_model_of_an_unknown_kind_leaves_nothing_behind(tmp_path: Path, old: bytes, new: bytes) -> None:
    source = written(tmp_path, tiny_llama().replace(old, new))
    with pytest.raises(ModelError):
        convert_gguf(source, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["model.gguf"]
