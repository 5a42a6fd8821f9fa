"""config.json of a model folder: read once, with its numbers held against the weights that are there.

A folder may come from anywhere. Sizes in a configuration decide how much memory is taken, how many parts of
a model are made and how far arrays are read, so none is used before it is known to be plausible: a size that
the model's own tensors do not have is a mistake or an attack, and is refused with its name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.model.weights.family import Config
from sglc.runtime.model.weights.safetensors_file import SafetensorsFile, weight_files

LARGEST_FILE = 16 << 20
"""Bytes of a config.json; those of published models have a few thousand."""
LARGEST_NUMBER = 1 << 40
"""Of integers anywhere in it. Rotations reach 10**11 as floats; nothing counts so many of anything."""
LONGEST_CONTEXT = 1 << 26
"""Positions; models of today have up to 10 million."""

_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_DIMENSIONS = ("vocab_size", "hidden_size", "n_embd", "d_model", "num_attention_heads", "n_head")
_OPTIONAL = ("head_dim", "num_key_value_heads", "num_experts", "num_local_experts", "n_routed_experts")
"""Dimensions that are 0 where a model has nothing of the kind."""
_CONTEXT = ("max_position_embeddings", "n_positions")
_COUNTS = frozenset((*_LAYERS, *_DIMENSIONS, *_OPTIONAL, *_CONTEXT))


def read_config(folder: Path) -> Config:
    """The configuration of a folder with weights, which it fits in its sizes. Raises ModelError."""
    config = read_object(folder / "config.json")
    files = [SafetensorsFile(path) for path in weight_files(folder)]
    shapes = [shape for file in files for shape in file.shapes.values()]
    largest = max((length for shape in shapes for length in shape), default=0)
    for name, value in _leaves(config):
        fault = _fault(name.rpartition(".")[2], value, len(shapes), largest)
        if fault:
            why = f"config.json: {name} is {str(value)[:40]}, {fault}"
            raise ModelError("the model is damaged", str(folder), why)
    return config


def read_object(path: Path) -> Config:
    """The JSON object in a file. Raises ModelError."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ModelError("the model is damaged", str(path), f"it has more than {LARGEST_FILE >> 20} MiB")
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError("the model is damaged", str(path), f"it cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ModelError("the model is damaged", str(path), f"{path.name} does not hold an object")
    return found


def _fault(name: str, value: object, tensors: int, largest: int) -> str:
    """Why a value cannot be; empty where it can."""
    if isinstance(value, bool) or not isinstance(value, int):
        return "which is no whole number" if name in _COUNTS and value is not None else ""
    if name in _LAYERS and not 0 < value <= tensors:
        return f"and its weights have {tensors} tensors"
    if name in (*_DIMENSIONS, *_OPTIONAL) and not (name in _DIMENSIONS) <= value <= largest:
        return f"and the longest side of its tensors is {largest}"
    if name in _CONTEXT and not 0 < value <= LONGEST_CONTEXT:
        return f"and no model has more than {LONGEST_CONTEXT} positions"
    return "" if abs(value) <= LARGEST_NUMBER else "which counts nothing"


def _leaves(config: Config) -> Iterator[tuple[str, object]]:
    """All plain values of a configuration by the names that lead to them, those of lists included."""
    work: list[tuple[str, object]] = [("", config)]
    while work:
        name, found = work.pop()
        if isinstance(found, Mapping):
            work += [(f"{name}.{key}" if name else str(key), part) for key, part in found.items()]
        elif isinstance(found, list):
            work += [(name, part) for part in found]
        else:
            yield name, found
