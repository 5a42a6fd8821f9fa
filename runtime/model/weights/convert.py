"""GGUF to a folder that loads in no time: safetensors, config.json, tokenizer.json, chat template.

The file's own quantised blocks are kept beside them in the form that the native step reads, where it can.
The folder is written beside its final place and renamed when it is whole, with a manifest of sizes and
SHA-256 digests. Quantised values become float32, which holds them exactly, so a model is the same before
and after.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path

import numpy as np

from sglc.cache_files import make_private
from sglc.runtime.model.weights import packed
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.model.weights.family import Config, NotNativeError, family_of
from sglc.runtime.model.weights.gguf import GgufFile, Metadata
from sglc.runtime.model.weights.gguf_tokenizer import adds_bos, end_ids, special_names, tokenizer_definition

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is (0 if not known)."""

MANIFEST = "manifest.json"
FORMAT = 1
"""Version of the folder's layout; another one is converted again."""
WIDE_LIMIT = 1_000_000_000
"""Parameters; a larger model's quantised values are rounded to bfloat16 to halve the file."""

_ARCHITECTURES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}
_LAYER_PARTS = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_norm": "input_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "ffn_norm": "post_attention_layernorm",
}
_TOP_PARTS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def convert_gguf(source: str | Path, target: str | Path, progress: Progress | None = None) -> Path:
    """Convert the GGUF file to the folder `target` and return it. Raises ModelError."""
    folder = Path(target)
    try:
        make_private(folder.parent)
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        work.chmod(0o755)  # a cache may be shared; the temporary folder is for its maker only
        with GgufFile(source) as file:
            _write_folder(file, work, progress or _silent)
        if not is_whole(folder):  # what another process has made meanwhile is in use, and the same
            with contextlib.suppress(OSError):
                shutil.rmtree(folder)
            try:
                work.rename(folder)
            except OSError:
                if not is_whole(folder):
                    raise
        return folder
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _unwritable(folder: Path, error: OSError) -> ModelError:
    hint = "SGLC_CACHE_DIR names another folder for the cache"
    return ModelError("cannot write the converted model", str(folder), str(error), hint)


def is_whole(folder: Path) -> bool:
    """Whether the folder has a manifest of this version and all its files in their full sizes."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT or manifest.get("native") != packed.FORMAT:
            return False
        return all(
            (folder / name).stat().st_size == entry["size"] for name, entry in manifest["files"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


def _silent(doing: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def _write_folder(file: GgufFile, folder: Path, progress: Progress) -> None:
    where, metadata = str(file.path), file.metadata
    config = model_config(file)
    definition = tokenizer_definition(metadata, where)
    files: dict[str, dict[str, object]] = {}

    def write(name: str, text: str) -> None:
        data = text.encode()
        (folder / name).write_bytes(data)
        files[name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    write("config.json", json.dumps(config, indent=1))
    write("tokenizer.json", json.dumps(definition, ensure_ascii=False))
    write(
        "tokenizer_config.json", json.dumps({**special_names(metadata), "add_bos_token": adds_bos(metadata)})
    )
    write("generation_config.json", json.dumps({"eos_token_id": end_ids(metadata)}))
    template = metadata.get("tokenizer.chat_template")
    if isinstance(template, str):
        write("chat_template.jinja", template)
    heads = config["num_attention_heads"], config["num_key_value_heads"]
    permuted = metadata["general.architecture"] == "llama"
    total = sum(int(np.prod(info.shape)) for info in file.tensors.values())
    narrow = total > WIDE_LIMIT
    layout = {
        tensor_name(name, where): (name, _stored_type(info.format, narrow), info.shape)
        for name, info in file.tensors.items()
    }

    def tensors() -> Iterator[np.ndarray]:
        done = 0
        for name, dtype, shape in layout.values():
            values = file.tensor(name)
            if permuted and name.endswith(("attn_q.weight", "attn_k.weight")):
                values = _unpermuted(values, heads[0] if "attn_q" in name else heads[1])
            yield _stored(values, dtype)
            done += int(np.prod(shape))
            progress("converting the model", done, total)

    written = write_safetensors(
        folder / "model.safetensors",
        {name: (dtype, shape) for name, (_, dtype, shape) in layout.items()},
        tensors(),
    )
    files["model.safetensors"] = written
    with contextlib.suppress(NotNativeError):
        family = family_of(config)
        names = {tensor_name(name, where): name for name in file.tensors}
        interleaved = {
            name: heads[0] if "q_proj" in name else heads[1]
            for name in names
            if permuted and name.endswith(("q_proj.weight", "k_proj.weight"))
        }
        source_blocks = packed.GgufSource(file, names, interleaved)
        place = folder / packed.NAME
        files[packed.NAME] = packed.pack(source_blocks, family, place, str(written["sha256"]), progress)
    source = {"name": file.path.name, "size": file.path.stat().st_size}
    manifest = {"format": FORMAT, "native": packed.FORMAT, "source": source, "files": files}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def tensor_name(name: str, where: str) -> str:
    """The name that transformers gives a tensor of the GGUF file."""
    parts = name.split(".")
    if len(parts) == 2 and parts[0] in _TOP_PARTS:
        return f"{_TOP_PARTS[parts[0]]}.{parts[1]}"
    if len(parts) == 4 and parts[0] == "blk" and parts[1].isdecimal() and parts[2] in _LAYER_PARTS:
        return f"model.layers.{int(parts[1])}.{_LAYER_PARTS[parts[2]]}.{parts[3]}"
    raise ModelError("model not supported", where, f"it has a tensor {name}, which has no place in its kind")


def model_config(file: GgufFile) -> Config:
    """The contents of config.json. Raises ModelError for an architecture or a variant that is not known."""
    metadata, where = file.metadata, str(file.path)
    kind = metadata.get("general.architecture")
    if not isinstance(kind, str) or kind not in _ARCHITECTURES:
        known = ", ".join(_ARCHITECTURES)
        raise ModelError("model architecture not supported", where, f"{kind!r}; known are {known}")
    scaling, experts = metadata.get(f"{kind}.rope.scaling.type"), metadata.get(f"{kind}.expert_count")
    if repr(scaling) not in ("None", "'none'") or "rope_freqs.weight" in file.tensors:
        raise ModelError(
            "model variant not supported",
            where,
            "its rotary positions are scaled, which a GGUF file does not describe fully",
            "use the model's folder with config.json and safetensors",
        )
    if repr(experts) not in ("None", "0"):
        raise ModelError("model variant not supported", where, "a mixture of experts")
    if "token_embd.weight" not in file.tensors:
        raise ModelError("the GGUF file is damaged", where, "it has no token_embd.weight")
    facts = _Facts(file, kind)
    width, heads = facts.whole("embedding_length"), facts.whole("attention.head_count")
    shared = facts.whole("attention.head_count_kv", heads)
    size = facts.whole("attention.key_length", width // heads or None)
    layers = facts.whole("block_count")
    if facts.whole("rope.dimension_count", size) != size:
        raise ModelError("model variant not supported", where, "only a part of each head is rotated")
    _check_shapes(file, layers, width, heads * size, shared * size)
    config = {
        "architectures": [_ARCHITECTURES[kind]],
        "model_type": kind,
        "vocab_size": file.tensors["token_embd.weight"].shape[0],
        "hidden_size": width,
        "intermediate_size": facts.whole("feed_forward_length"),
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": shared,
        "head_dim": size,
        "max_position_embeddings": facts.whole("context_length"),
        "rms_norm_eps": facts.positive("attention.layer_norm_rms_epsilon"),
        "rope_parameters": {"rope_type": "default", "rope_theta": facts.positive("rope.freq_base", 10000.0)},
        "hidden_act": "silu",
        "tie_word_embeddings": "output.weight" not in file.tensors,
        "bos_token_id": _token(metadata, "bos"),
        "eos_token_id": _token(metadata, "eos"),
    }
    if kind == "llama":
        biased = any(name.endswith("attn_q.bias") for name in file.tensors)
        config.update(attention_bias=biased, mlp_bias=False)
    return config


class _Facts:
    """Numbers of a file's metadata that belong to its architecture. Raises ModelError for other values."""

    def __init__(self, file: GgufFile, kind: str) -> None:
        self._metadata, self._where, self._kind = file.metadata, str(file.path), kind

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number from 1 on."""
        value = self._value(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self._damaged(key, value)
        return value

    def positive(self, key: str, default: float | None = None) -> float:
        """A finite number above 0."""
        value = self._value(key, default)
        if not isinstance(value, int | float) or not 0 < value < math.inf:
            raise self._damaged(key, value)
        return float(value)

    def _value(self, key: str, default: object) -> object:
        value = self._metadata.get(f"{self._kind}.{key}", default)
        if value is None:
            raise ModelError("the GGUF file is damaged", self._where, f"{self._kind}.{key} is missing")
        return value

    def _damaged(self, key: str, value: object) -> ModelError:
        return ModelError("the GGUF file is damaged", self._where, f"{self._kind}.{key} is {value!r}")


def _token(metadata: Metadata, name: str) -> int | None:
    """The id of a special token, None where the file has none."""
    found = metadata.get(f"tokenizer.ggml.{name}_token_id")
    return found if isinstance(found, int) and found >= 0 else None


def _check_shapes(file: GgufFile, layers: int, width: int, queries: int, keys: int) -> None:
    """Raise ModelError unless there are as many layers as said, of the widths that follow from the heads."""
    parts = {name: name.split(".") for name in file.tensors}
    found = {part[1] for part in parts.values() if part[0] == "blk" and len(part) > 1}
    if len(found) != layers:
        why = f"it has {len(found)} layers and promises {layers}"
        raise ModelError("the GGUF file is damaged", str(file.path), why)
    rows = {"attn_q": queries, "attn_k": keys, "attn_v": keys}
    for name, part in parts.items():
        shape = file.tensors[name].shape
        wanted = rows.get(part[2]) if len(part) == 4 and part[3] == "weight" else None
        if part[0] == "token_embd":
            wanted = shape[0]
        if wanted is not None and shape != (wanted, width):
            raise ModelError("the GGUF file is damaged", str(file.path), f"{name} has shape {shape}")


def _unpermuted(values: np.ndarray, heads: int) -> np.ndarray:
    """Rows of a query or key projection in the order of halves; GGUF interleaves them for its rotation."""
    found: np.ndarray = values[packed.interleaved_rows(len(values), heads)]
    return found


def _stored_type(form: str, narrow: bool) -> str:
    """The safetensors type that a tensor is written in."""
    if form == "BF16":
        return "BF16"
    if form == "F16":
        return "F16"
    return "BF16" if narrow and form != "F32" else "F32"


def _stored(values: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "F16":
        return values.astype(np.float16)
    if dtype == "BF16" and values.dtype != np.uint16:
        return rounded_bfloat16(values)
    return values


def rounded_bfloat16(values: np.ndarray) -> np.ndarray:
    """The bits of float32 values rounded to bfloat16, to nearest and to even: uint16 of the same shape."""
    bits = np.ascontiguousarray(values).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def write_safetensors(
    path: Path, layout: Mapping[str, tuple[str, tuple[int, ...]]], tensors: Iterator[np.ndarray]
) -> dict[str, object]:
    """Write tensors in the order of `layout` (name to type and shape); returns size and SHA-256."""
    width = {"F32": 4, "F16": 2, "BF16": 2}
    header: dict[str, object] = {}
    offset = 0
    for name, (dtype, shape) in layout.items():
        size = int(np.prod(shape)) * width[dtype]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-(len(head) + 8) % 64)  # tensors start at a multiple of 64 bytes
    digest = hashlib.sha256()
    written = 0
    start = (struct.pack("<Q", len(head)), head)
    data = (np.ascontiguousarray(values).reshape(-1).view(np.uint8).data for values in tensors)
    parts: Iterator[bytes | memoryview] = chain(start, data)
    with path.open("wb") as file:
        for part in parts:
            file.write(part)
            digest.update(part)
            written += len(part)
        file.flush()
        os.fsync(file.fileno())
    return {"size": written, "sha256": digest.hexdigest()}
