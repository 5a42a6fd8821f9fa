"""Reading GGUF files: metadata in one pass, tensors from the mapped file, quantised blocks with numpy.

The layout follows the GGUF specification (version 2 and 3) and the block formats of ggml. A file may be
hostile: every count, length and offset is checked against what is left of the file before it is used.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sglc.runtime.model.weights.errors import ModelError

Blocks = NDArray[np.uint8]
"""Quantised blocks as bytes, or small integers of them: uint8 [blocks, k]."""
Floats = NDArray[np.float32]

Metadata = dict[str, Any]
"""The metadata of a file by its keys: numbers, texts, lists, arrays. Who reads a value checks its kind."""

MAGIC = 0x46554747
MAX_KEYS = 1 << 16
MAX_TENSORS = 1 << 18
MAX_NESTING = 3
"""Arrays within arrays."""
MAX_NAME = 1 << 12
"""Bytes of a key or a tensor's name."""

_SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """A tensor of the file: its shape (outermost dimension first), format, and place in the file."""

    name: str
    shape: tuple[int, ...]
    format: str
    offset: int
    size: int


class GgufFile:
    """An open GGUF file: `metadata` by key, `tensors` by name. Raises ModelError for a damaged one.

    Arrays of numbers are numpy arrays that view the mapped file; they live as long as the file is open.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            with self.path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError as error:
            raise ModelError("no such model file", str(path)) from error
        except (OSError, ValueError) as error:
            raise ModelError("cannot read the model file", str(path), str(error)) from error
        self.metadata: Metadata = {}
        self.tensors: dict[str, TensorInfo] = {}
        self._position = 0
        try:
            self._read()
        except (struct.error, OverflowError, UnicodeDecodeError) as error:
            raise self._damaged(f"it ends early or holds what it must not: {error}") from error

    def __enter__(self) -> GgufFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.metadata = {}
        try:
            self._data.close()
        except BufferError:
            pass  # a caller still holds a view; the map goes with the last of them

    def tensor(self, name: str) -> np.ndarray:
        """The tensor's values: float32, or uint16 holding the bits of bfloat16 where the file has these."""
        info = self.tensors[name]
        return FORMATS[info.format].decode(self.blocks(name)).reshape(info.shape)

    def blocks(self, name: str) -> np.ndarray:
        """The tensor's blocks as they lie in the file: uint8 [blocks, bytes of a block]."""
        info = self.tensors[name]
        raw = np.frombuffer(self._data, np.uint8, info.size, info.offset)
        return raw.reshape(-1, FORMATS[info.format].block_bytes)

    # -- reading -------------------------------------------------------------------------------------

    def _damaged(self, why: str) -> ModelError:
        return ModelError("the GGUF file is damaged", str(self.path), why, "fetch or convert it again")

    def _take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._data, self._position)
        self._position += struct.calcsize(form)
        return values

    def _need(self, size: int) -> None:
        if size > len(self._data) - self._position:
            raise self._damaged(f"it promises {size} bytes at {self._position}, but is shorter")

    def _string(self, limit: int | None = None) -> str:
        (size,) = self._take("<Q")
        if limit is not None and size > limit:
            raise self._damaged(f"a name of {size} bytes")
        self._need(size)
        start = self._position
        self._position += size
        return self._data[start : self._position].decode("utf-8", "replace")

    def _value(self, kind: int, depth: int = 0) -> object:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            return self._array(depth)
        if kind not in _SCALARS:
            raise self._damaged(f"a metadata value of unknown kind {kind}")
        return self._take(_SCALARS[kind])[0]

    def _array(self, depth: int) -> object:
        kind, count = self._take("<IQ")
        if kind in _SCALARS:
            dtype = np.dtype(_SCALARS[kind] if kind != 7 else "?")
            self._need(count * dtype.itemsize)
            values = np.frombuffer(self._data, dtype, count, self._position)
            self._position += values.nbytes
            return values
        if kind not in (_STRING, _ARRAY) or depth >= MAX_NESTING:
            raise self._damaged(f"an array of kind {kind} at depth {depth}")
        self._need(count * (8 if kind == _STRING else 12))
        if kind == _ARRAY:
            return [self._array(depth + 1) for _ in range(count)]
        return self._strings(count)

    def _strings(self, count: int) -> list[str]:
        """Many strings at once; vocabularies have a hundred thousand of them."""
        data, position, length = self._data, self._position, struct.Struct("<Q").unpack_from
        found = []
        for _ in range(count):
            (size,) = length(data, position)
            start = position + 8
            position = start + size
            found.append(data[start:position])
        if position > len(data):
            raise self._damaged("a string reaches beyond its end")
        self._position = position
        return [item.decode("utf-8", "replace") for item in found]

    def _read(self) -> None:
        magic, version = self._take("<II")
        if magic != MAGIC:
            raise ModelError("not a GGUF file", str(self.path), "it does not begin with GGUF")
        if version not in (2, 3):
            raise ModelError(
                "GGUF version not supported", str(self.path), f"version {version}; 2 and 3 are known"
            )
        tensors, keys = self._take("<QQ")
        if tensors > MAX_TENSORS or keys > MAX_KEYS:
            raise self._damaged(f"{tensors} tensors and {keys} keys")
        for _ in range(keys):
            key = self._string(MAX_NAME)
            (kind,) = self._take("<I")
            self.metadata[key] = self._value(kind)
        entries = [self._tensor_entry() for _ in range(tensors)]
        alignment = self.metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 1 <= alignment <= 1 << 20 or alignment & (alignment - 1):
            raise self._damaged(f"alignment {alignment!r}")
        base = -(-self._position // alignment) * alignment
        for name, shape, number, offset in entries:
            if name in self.tensors:
                raise self._damaged(f"tensor {name} stands there twice")
            self.tensors[name] = self._place(name, shape, number, base + offset)

    def _tensor_entry(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._string(MAX_NAME)
        (rank,) = self._take("<I")
        if not 1 <= rank <= 4:
            raise self._damaged(f"tensor {name} has {rank} dimensions")
        shape = tuple(reversed(self._take(f"<{rank}Q")))
        number, offset = self._take("<IQ")
        return name, shape, number, offset

    def _place(self, name: str, shape: tuple[int, ...], number: int, offset: int) -> TensorInfo:
        form = _FORMAT_NUMBERS.get(number)
        if form is None:
            known = ", ".join(FORMATS)
            raise ModelError(
                "quantisation format not supported",
                str(self.path),
                f"tensor {name} has format number {number}; known are {known}",
                "convert the model to one of these formats",
            )
        kind = FORMATS[form]
        values = math.prod(shape)
        if values == 0 or shape[-1] % kind.block_values:
            raise self._damaged(f"tensor {name} of shape {shape} does not fit blocks of {kind.block_values}")
        size = values // kind.block_values * kind.block_bytes
        if offset + size > len(self._data):
            raise self._damaged(f"tensor {name} reaches beyond its end")
        return TensorInfo(name, shape, form, offset, size)


# -- block formats ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BlockFormat:
    """How values lie in a block: `decode` takes uint8 [blocks, block_bytes] to [blocks, block_values]."""

    block_values: int
    block_bytes: int
    decode: Callable[[Blocks], np.ndarray]


def _half(blocks: Blocks, at: int) -> Floats:
    """The 16-bit float at byte `at` of each block, as a float32 column."""
    return np.ascontiguousarray(blocks[:, at : at + 2]).view(np.float16).astype(np.float32)


def nibbles(packed: Blocks) -> Blocks:
    """Low halves of all bytes, then the high ones: [n, k] to [n, 2k]."""
    return np.concatenate([packed & 15, packed >> 4], axis=1)


def fifth_bits(blocks: Blocks, at: int) -> Blocks:
    """The 32 single bits at byte `at`, moved to the place of value 16: uint8 [n, 32]."""
    return np.unpackbits(blocks[:, at : at + 4], axis=1, bitorder="little") << np.uint8(4)


def _f32(blocks: Blocks) -> Floats:
    return blocks.view(np.float32)


def _f16(blocks: Blocks) -> Floats:
    return blocks.view(np.float16).astype(np.float32)


def _bf16(blocks: Blocks) -> NDArray[np.uint16]:
    return blocks.view(np.uint16)


def _q4_0(blocks: Blocks) -> Floats:
    return (nibbles(blocks[:, 2:]).astype(np.float32) - 8) * _half(blocks, 0)


def _q4_1(blocks: Blocks) -> Floats:
    return nibbles(blocks[:, 4:]).astype(np.float32) * _half(blocks, 0) + _half(blocks, 2)


def _q5_0(blocks: Blocks) -> Floats:
    values = nibbles(blocks[:, 6:]) | fifth_bits(blocks, 2)
    return (values.astype(np.float32) - 16) * _half(blocks, 0)


def _q5_1(blocks: Blocks) -> Floats:
    values = nibbles(blocks[:, 8:]) | fifth_bits(blocks, 4)
    return values.astype(np.float32) * _half(blocks, 0) + _half(blocks, 2)


def _q8_0(blocks: Blocks) -> Floats:
    return blocks[:, 2:].view(np.int8).astype(np.float32) * _half(blocks, 0)


def _k_scales(packed: Blocks) -> tuple[Floats, Floats]:
    """Eight 6-bit scales and eight 6-bit minimums from 12 bytes: float32 [n, 8] each.

    The first four of each are the low 6 bits of bytes 0-3 and 4-7; the last four are split into 4 bits in
    bytes 8-11 and the top 2 bits of the bytes before.
    """
    first, second, third = packed[:, 0:4], packed[:, 4:8], packed[:, 8:12]
    scales = np.concatenate([first & 63, (third & 15) | (first >> 6 << 4)], axis=1)
    minimums = np.concatenate([second & 63, (third >> 4) | (second >> 6 << 4)], axis=1)
    return scales.astype(np.float32), minimums.astype(np.float32)


def _k_values(blocks: Blocks, values: Blocks) -> Floats:
    """Values [n, 8, 32] with the scales of a Q4_K or Q5_K block."""
    scales, minimums = _k_scales(blocks[:, 4:16])
    scales, minimums = scales * _half(blocks, 0), minimums * _half(blocks, 2)
    result = values.astype(np.float32) * scales[:, :, None] - minimums[:, :, None]
    return result.reshape(len(blocks), 256)


def _q4_k(blocks: Blocks) -> Floats:
    packed = blocks[:, 16:].reshape(-1, 4, 1, 32)
    values = np.concatenate([packed & 15, packed >> 4], axis=2)
    return _k_values(blocks, values.reshape(-1, 8, 32))


def _q5_k(blocks: Blocks) -> Floats:
    packed = blocks[:, 48:].reshape(-1, 4, 1, 32)
    values = np.concatenate([packed & 15, packed >> 4], axis=2).reshape(-1, 8, 32)
    high = blocks[:, None, 16:48] >> np.arange(8, dtype=np.uint8)[:, None] & 1
    return _k_values(blocks, values | high << 4)


def _q6_k(blocks: Blocks) -> Floats:
    low = blocks[:, :128].reshape(-1, 2, 1, 64)
    low = np.concatenate([low & 15, low >> 4], axis=2).reshape(-1, 2, 4, 32)
    high = blocks[:, 128:192].reshape(-1, 2, 1, 32) >> np.array([0, 2, 4, 6], np.uint8)[:, None] & 3
    values = (low | high << 4).astype(np.float32) - 32
    scales = blocks[:, 192:208].view(np.int8).astype(np.float32) * _half(blocks, 208)
    return (values.reshape(-1, 16, 16) * scales[:, :, None]).reshape(-1, 256)


FORMATS: dict[str, BlockFormat] = {
    "F32": BlockFormat(1, 4, _f32),
    "F16": BlockFormat(1, 2, _f16),
    "BF16": BlockFormat(1, 2, _bf16),
    "Q4_0": BlockFormat(32, 18, _q4_0),
    "Q4_1": BlockFormat(32, 20, _q4_1),
    "Q5_0": BlockFormat(32, 22, _q5_0),
    "Q5_1": BlockFormat(32, 24, _q5_1),
    "Q8_0": BlockFormat(32, 34, _q8_0),
    "Q4_K": BlockFormat(256, 144, _q4_k),
    "Q5_K": BlockFormat(256, 176, _q5_k),
    "Q6_K": BlockFormat(256, 210, _q6_k),
}
_FORMAT_NUMBERS = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    6: "Q5_0",
    7: "Q5_1",
    8: "Q8_0",
    12: "Q4_K",
    13: "Q5_K",
    14: "Q6_K",
    30: "BF16",
}
