"""Writes small GGUF files for tests: metadata, and tensors as float32 or as ready-made blocks."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

NUMBERS = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q5_0": 6, "Q5_1": 7, "Q8_0": 8, "BF16": 30}
NUMBERS |= {"Q4_K": 12, "Q5_K": 13, "Q6_K": 14}


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(item: Any) -> bytes:
    """A metadata value with its kind in front."""
    if isinstance(item, bool):
        return struct.pack("<I?", 7, item)
    if isinstance(item, int):
        return struct.pack("<Ii", 5, item)
    if isinstance(item, float):
        return struct.pack("<If", 6, item)
    if isinstance(item, str):
        return struct.pack("<I", 8) + string(item)
    parts = [value(part) for part in item]
    head = struct.pack("<I", 9) + parts[0][:4] + struct.pack("<Q", len(parts))
    return head + b"".join(part[4:] for part in parts)


def gguf_bytes(
    metadata: Mapping[str, Any],
    tensors: Mapping[str, tuple[str, tuple[int, ...], bytes]],
    *,
    magic: bytes = b"GGUF",
    version: int = 3,
    tensor_count: int | None = None,
    key_count: int | None = None,
    offset: int = 0,
) -> bytes:
    """A file of these tensors (format, shape, data); the counts and the offsets may be made to lie."""
    counts = (
        len(tensors) if tensor_count is None else tensor_count,
        len(metadata) if key_count is None else key_count,
    )
    head = magic + struct.pack("<IQQ", version, *counts)
    head += b"".join(string(key) + value(item) for key, item in metadata.items())
    body = b""
    for name, (form, shape, data) in tensors.items():
        body += b"\0" * (-len(body) % 32)
        head += string(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        head += struct.pack("<IQ", NUMBERS[form], len(body) + offset)
        body += data
    return head + b"\0" * (-len(head) % 32) + body


def floats(values: np.ndarray) -> tuple[str, tuple[int, ...], bytes]:
    """A float32 tensor."""
    return "F32", values.shape, np.ascontiguousarray(values, np.float32).tobytes()
