"""Reading safetensors without a framework: numpy has no bfloat16, and torch takes a second to import.

The format: 8 bytes with the length of a JSON header, the header, then the tensors' bytes. A file may be
hostile: every offset is checked before it is used.
"""

from __future__ import annotations

import json
import math
import mmap
from pathlib import Path
from typing import Any

import numpy as np

from sglc.runtime.model.weights.errors import ModelError

MAX_HEADER = 100 << 20
"""Bytes; the limit of the format."""
_WIDTHS = {"F32": 4, "F16": 2, "BF16": 2}
INDEX = "model.safetensors.index.json"


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a model: one, or else those of its index. Raises ModelError."""
    index, single = folder / INDEX, folder / "model.safetensors"
    if single.is_file() or not index.is_file():
        return [single]
    try:
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        if any(Path(name).name != name for name in names):
            raise ModelError("the model is damaged", str(index), "it names files outside of its folder")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError("the model is damaged", str(index), str(error)) from error
    return [folder / name for name in names]


class SafetensorsFile:
    """An open file; `shapes` by name. Raises ModelError for a damaged one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if not path.is_file():  # what is opened may wait for a writer otherwise
                raise FileNotFoundError(f"{path.name} is no file")
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise ModelError("cannot read the model's weights", str(path), str(error)) from error
        size = int.from_bytes(self._data[:8], "little")
        if size > min(MAX_HEADER, len(self._data) - 8):
            raise self._damaged(f"a header of {size} bytes")
        try:
            header = json.loads(self._data[8 : 8 + size])
            entries = {name: self._entry(entry) for name, entry in header.items() if name != "__metadata__"}
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise self._damaged(str(error)) from error
        self._base = 8 + size
        self._entries = entries
        for name, (kind, shape, start, stop) in entries.items():
            inside = 0 <= start <= stop <= len(self._data) - self._base
            if not inside or (kind in _WIDTHS and math.prod(shape) * _WIDTHS[kind] != stop - start):
                raise self._damaged(f"tensor {name} has no place")
        self.shapes = {name: shape for name, (_, shape, _, _) in entries.items()}

    def _damaged(self, why: str) -> ModelError:
        return ModelError("the model's weights are damaged", str(self.path), why)

    def _entry(self, entry: Any) -> tuple[str, tuple[int, ...], int, int]:
        start, stop = entry["data_offsets"]
        shape = tuple(int(length) for length in entry["shape"])
        if any(length < 0 for length in shape):
            raise ValueError("a shape below zero")
        return str(entry["dtype"]), shape, int(start), int(stop)

    def tensor(self, name: str) -> np.ndarray:
        """A tensor's values as float32. Raises KeyError, and ModelError for another kind of number."""
        kind, shape, start, stop = self._entries[name]
        if kind not in _WIDTHS:
            raise ModelError("the model's weights are not supported", str(self.path), f"{name} is {kind}")
        raw = np.frombuffer(self._data, np.uint8, stop - start, self._base + start)
        if start % _WIDTHS[kind]:
            raw = raw.copy()
        if kind == "BF16":
            return widened(raw.view(np.uint16)).reshape(shape)
        values = raw.view(np.float32 if kind == "F32" else np.float16)
        return values.astype(np.float32, copy=False).reshape(shape)


def widened(bits: np.ndarray) -> np.ndarray:
    """Bits of bfloat16 as float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)
