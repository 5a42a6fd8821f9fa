"""Weights as the native step reads them, in one file that is mapped into memory.

The file is made once, from a GGUF file's own blocks or from floats that are quantised on the way. It begins
with 64 KiB for magic bytes, a SHA-256 digest of the rest of the head, the length of a JSON header and the
header; the data follow. The header says what the weights were made from: they are used for nothing else.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sglc.cache_files import open_own
from sglc.kernels.llama.weight_layout import KINDS, Blocks, joined, matrix_bytes, packed, quantised
from sglc.runtime.model.weights import verified
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.model.weights.family import Family
from sglc.runtime.model.weights.gguf import GgufFile, fifth_bits, nibbles
from sglc.runtime.model.weights.safetensors_file import SafetensorsFile, weight_files, widened

Header = dict[str, Any]
"""The JSON header of a file: the shape of the model, what its weights were made from, where they lie."""
Progress = Callable[[str, int, int], None]
NAME = "native.bin"
"""Of the file in a converted model's folder."""
FORMAT = 2
"""Version of the layout, of records too; another one is made again."""
HEAD = 1 << 16
_MAGIC = b"sglc native weights\0"
_LINE = 64
"""Matrices begin at a multiple of these bytes."""
MATRICES = 4
"""Of a layer: queries, keys and values; output; gate and up by turns; down. Embeddings and head follow."""


class WeightSource(Protocol):
    """Where weights come from, by the names that transformers gives them. Both raise ModelError."""

    def matrix(self, name: str) -> Blocks:
        """A matrix [rows, columns] in quantised groups of 32 numbers of a row."""
        ...

    def vector(self, name: str) -> np.ndarray:
        """Float32, flat."""
        ...


@dataclass(frozen=True, slots=True)
class PackedModel:
    """Weights in mapped memory.

    weights  uint8[…]       weight tiles of all matrices, see `sglc.kernels.llama.weight_layout`
    places   int64[n, 2]    first byte and kind of each matrix, in the order of `MATRICES`
    vectors  float32[…]     see `sglc.kernels.llama.step`
    digest                  SHA-256 of all of these
    """

    weights: np.ndarray
    places: np.ndarray
    vectors: np.ndarray
    digest: str


class GgufSource:
    """A GGUF file's own blocks; formats without a scale for each 32 values are quantised again to 8 bits."""

    def __init__(self, file: GgufFile, names: Mapping[str, str], heads: Mapping[str, int]) -> None:
        """`names` are the file's by those of transformers; `heads` of those whose rows are interleaved."""
        self._file, self._names, self._heads = file, names, heads

    def matrix(self, name: str) -> Blocks:
        """The file's blocks of a matrix; rows that it interleaves for its own rotation are put back in
        order."""
        known = self._known(name)
        found = gguf_blocks(self._file, known)
        if name not in self._heads:
            return found
        rows = interleaved_rows(len(found.values), self._heads[name])
        return Blocks(found.values[rows], found.scales[rows], found.offsets[rows], found.bits)

    def vector(self, name: str) -> np.ndarray:
        """The file's values, whatever format they have there."""
        return _floats(self._file.tensor(self._known(name))).reshape(-1)

    def _known(self, name: str) -> str:
        if name not in self._names:
            raise ModelError("the GGUF file is damaged", str(self._file.path), f"it has no {name}")
        return self._names[name]


class FolderSource:
    """The safetensors of a folder, quantised to `bits`."""

    def __init__(self, folder: Path, bits: int) -> None:
        self._bits, self._folder = bits, folder
        files = [SafetensorsFile(path) for path in weight_files(folder)]
        self._files = {name: file for file in files for name in file.shapes}

    def matrix(self, name: str) -> Blocks:
        """A matrix quantised here. Raises ModelError where rows are no multiple of 32 long."""
        weights = self._tensor(name)
        if weights.ndim != 2 or weights.shape[1] % 32:
            raise ModelError("the model is damaged", str(self._folder), f"{name} has shape {weights.shape}")
        return quantised(weights, self._bits)

    def vector(self, name: str) -> np.ndarray:
        """The file's values, widened to 32 bits."""
        return self._tensor(name).reshape(-1)

    def _tensor(self, name: str) -> np.ndarray:
        if name not in self._files:
            raise ModelError("the model is damaged", str(self._folder), f"its weights have no {name}")
        return self._files[name].tensor(name)


def interleaved_rows(count: int, heads: int) -> np.ndarray:
    """The order that brings rows which GGUF interleaves for its rotation into that of halves."""
    return np.arange(count).reshape(heads, count // heads // 2, 2).swapaxes(1, 2).reshape(-1)


def gguf_blocks(file: GgufFile, name: str) -> Blocks:
    """A matrix of the file in groups of 32: exactly its own blocks where the format has them."""
    info = file.tensors[name]
    if len(info.shape) != 2 or info.shape[1] % 32:
        raise ModelError("the GGUF file is damaged", str(file.path), f"{name} has shape {info.shape}")
    if info.format not in _VALUES:
        return quantised(_floats(file.tensor(name)), 8)
    blocks = file.blocks(name)
    values, offset, bits = _VALUES[info.format]
    shape = info.shape[0], info.shape[1] // 32

    def half(at: int) -> np.ndarray:
        return np.ascontiguousarray(blocks[:, at : at + 2]).view(np.float16).reshape(shape)

    scales = half(0)
    # A power of two times a float of 16 bits is exact.
    offsets = half(2) if offset is None else (scales.astype(np.float32) * offset).astype(np.float16)
    if not (np.isfinite(scales).all() and np.isfinite(offsets).all()):
        raise ModelError("the GGUF file is damaged", str(file.path), f"{name} has scales that are no numbers")
    return Blocks(values(blocks).reshape(*shape, 32), scales, offsets, bits)


_VALUES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int | None, int]] = {
    "Q4_0": (lambda b: nibbles(b[:, 2:]), -8, 4),
    "Q4_1": (lambda b: nibbles(b[:, 4:]), None, 4),
    "Q5_0": (lambda b: nibbles(b[:, 6:]) | fifth_bits(b, 2), -16, 8),
    "Q5_1": (lambda b: nibbles(b[:, 8:]) | fifth_bits(b, 4), None, 8),
    "Q8_0": (lambda b: b[:, 2:] ^ 0x80, -128, 8),
}
"""By format: unsigned values, the offset as a multiple of the scale (None: it is in the block), and bits."""


def _floats(values: np.ndarray) -> np.ndarray:
    return widened(values) if values.dtype == np.uint16 else values


def matrix_names(family: Family) -> list[tuple[list[str], int, int]]:
    """In the order of the file: the parts of each matrix, its outputs and its inputs."""
    shape = family.shape
    found = []
    for layer in range(shape.layers):
        attention, mlp = f"model.layers.{layer}.self_attn.", f"model.layers.{layer}.mlp."
        found += [
            ([f"{attention}{part}_proj.weight" for part in "qkv"], shape.all_heads, shape.width),
            ([f"{attention}o_proj.weight"], shape.width, shape.heads * shape.size),
            ([f"{mlp}{part}_proj.weight" for part in ("gate", "up")], 2 * shape.inner, shape.width),
            ([f"{mlp}down_proj.weight"], shape.width, shape.inner),
        ]
    found.append((["model.embed_tokens.weight"], shape.vocabulary, shape.width))
    head = "model.embed_tokens.weight" if family.tied else "lm_head.weight"
    return [*found, ([head], shape.vocabulary, shape.width)]


def vector_names(family: Family) -> Iterator[tuple[str, int]]:
    """Names and lengths of all vectors in the order of the file."""
    shape = family.shape
    layers = [f"model.layers.{layer}." for layer in range(shape.layers)]
    for layer in layers:
        yield f"{layer}input_layernorm.weight", shape.width
        yield f"{layer}post_attention_layernorm.weight", shape.width
    yield "model.norm.weight", shape.width
    if shape.biased:
        for layer in layers:
            for part, heads in (("q", shape.heads), ("k", shape.shared), ("v", shape.shared)):
                yield f"{layer}self_attn.{part}_proj.bias", heads * shape.size
    if shape.normed:
        for layer in layers:
            for part in "qk":
                yield f"{layer}self_attn.{part}_norm.weight", shape.size


def pack(
    source: WeightSource, family: Family, path: Path, identity: str, progress: Progress | None = None
) -> Header:
    """Write the file of a model; `identity` says what it was made from. Returns size and SHA-256.

    Raises ModelError, for weights that do not fit the configuration too, and OSError.
    """
    names = matrix_names(family)
    places: list[list[int]] = []
    state, offset = hashlib.sha256(), 0
    handle, draft = tempfile.mkstemp(prefix=".native-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(bytes(HEAD))

            def write(data: np.ndarray) -> None:
                nonlocal offset
                view = np.ascontiguousarray(data).data.cast("B")
                gap = bytes(-len(view) % _LINE)
                for part in (view, gap):
                    file.write(part)
                    state.update(part)
                offset += len(view) + len(gap)

            for number, (parts, outputs, inputs) in enumerate(names):
                if progress is not None:
                    progress("packing the weights", number, len(names))
                if number == len(names) - 1 and family.tied:
                    places.append(places[-1])
                    continue
                with np.errstate(invalid="ignore"):  # what is no number is told below
                    matrix = joined([source.matrix(name) for name in parts])
                if matrix.values.shape != (outputs, inputs // 32, 32):
                    raise ModelError(
                        "the model is damaged", parts[0], "its weights do not fit its configuration"
                    )
                if not (np.isfinite(matrix.scales).all() and np.isfinite(matrix.offsets).all()):
                    raise _no_numbers(parts[0])
                if "gate_proj" in parts[0]:
                    matrix = matrix.by_turns()
                places.append([offset, matrix.kind])
                write(packed(matrix))
            vectors = []
            for name, length in vector_names(family):
                vectors.append(source.vector(name))
                if len(vectors[-1]) != length:
                    raise ModelError(
                        "the model is damaged", name, f"{len(vectors[-1])} numbers, not {length}"
                    )
                if not np.isfinite(vectors[-1]).all():
                    raise _no_numbers(name)
            place = offset
            write(np.concatenate(vectors).astype(np.float32))
            header = {
                "format": FORMAT,
                "identity": identity,
                "shape": asdict(family.shape),
                "places": places,
                "vectors": place,
                "size": offset,
                "sha256": state.hexdigest(),
            }
            file.seek(0)
            file.write(_head(header))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, 0o644)
        os.replace(draft, path)
    finally:
        with suppress(OSError):
            os.unlink(draft)
    with path.open("rb") as whole:
        return {"size": path.stat().st_size, "sha256": hashlib.file_digest(whole, "sha256").hexdigest()}


def _no_numbers(name: str) -> ModelError:
    return ModelError("the model is damaged", name, "it has values that are no numbers, or too large ones")


def _head(header: Header) -> bytes:
    text = json.dumps(header).encode()
    body = len(text).to_bytes(8, "little") + text
    head = _MAGIC + hashlib.sha256(body).digest() + body
    if len(head) > HEAD:
        raise ModelError("model not supported", "native weights", "too many matrices")
    return head + bytes(HEAD - len(head))


def open_packed(path: Path, family: Family, identity: str) -> PackedModel | None:
    """Map a file into memory; None if it is not there, damaged, of another version or of another model, or if
    anybody else could have written it.

    Its content is verified by the digest before it is used for the first time. A mark beside the file says
    that it was, and is believed as long as the file is the same one and has not been changed since. Machine
    code reads the weights where the head says they are, so a head that says anything else than `pack` would
    have written for this family is refused too, whatever its digest.
    """
    try:
        with open_own(path) as file:
            facts = os.fstat(file.fileno())
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    start = len(_MAGIC) + 32
    size = int.from_bytes(data[start : start + 8], "little")
    body = data[start : start + 8 + size] if size < HEAD else b""
    if data[: len(_MAGIC)] != _MAGIC or data[len(_MAGIC) : start] != hashlib.sha256(body).digest():
        return None
    header = _header(body[8:], family)
    if header is None or header.get("identity") != identity or len(data) != HEAD + header["size"]:
        return None
    if not verified.is_marked(path, facts, header["sha256"]):
        if hashlib.sha256(memoryview(data)[HEAD:]).hexdigest() != header["sha256"]:
            return None
        verified.mark(path, facts, header["sha256"])
    whole = np.frombuffer(data, np.uint8, header["size"], HEAD)
    numbers = family.shape.vector_numbers
    vectors = whole[header["vectors"] : header["vectors"] + 4 * numbers].view(np.float32)
    return PackedModel(whole, np.array(header["places"], np.int64), vectors, header["sha256"])


def _header(text: bytes, family: Family) -> Header | None:
    """The head of a file, if `pack` writes such a one for this family: only kinds of matrices are free."""
    try:
        header = json.loads(text)
        kinds = [kind for _, kind in header["places"]]
        known = all(type(kind) is int and kind in KINDS for kind in kinds)
        if not known or header["format"] != FORMAT or header["shape"] != asdict(family.shape):
            return None
        places, vectors, size = layout(family, kinds)
        sound = (header["places"], header["vectors"], header["size"]) == (places, vectors, size)
        return header if sound and isinstance(header["sha256"], str) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def layout(family: Family, kinds: Sequence[int]) -> tuple[list[list[int]], int, int]:
    """Where `pack` puts the matrices of these kinds, the vectors, and how many bytes there are.

    Raises ValueError for another number of matrices than the family has.
    """
    places: list[list[int]] = []
    offset = 0
    names = matrix_names(family)
    for number, ((_, outputs, inputs), kind) in enumerate(zip(names, kinds, strict=True)):
        if number == len(names) - 1 and family.tied:
            places.append(places[-1])
            continue
        places.append([offset, kind])
        offset += _whole_lines(matrix_bytes(outputs, inputs, kind))
    return places, offset, offset + _whole_lines(4 * family.shape.vector_numbers)


def _whole_lines(size: int) -> int:
    return -(-size // _LINE) * _LINE
