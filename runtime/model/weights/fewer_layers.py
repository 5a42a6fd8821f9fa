"""A model without some of its layers: as a draft model for tests, and for nothing that is to write well.

A layer adds to what goes through it, so a model goes on without one. Layers cost the same wherever they
stand, so what is saved is their share of a step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.model.weights.family import Family
from sglc.runtime.model.weights.packed import MATRICES, PackedModel, vector_names


def kept_layers(layers: int, left_out: Iterable[int], name: str) -> list[int]:
    """The layers of a model of so many that are kept, ascending. Raises ModelError."""
    out = set(left_out)
    wrong = sorted(layer for layer in out if not 0 <= layer < layers)
    if wrong:
        why = f"the model has layers 0 to {layers - 1}, and no {wrong[0]}"
        raise ModelError("no such layer", name, why, "name others")
    if len(out) == layers:
        why = f"all {layers} layers of the model are left out"
        raise ModelError("no layer is left", name, why, "leave out fewer")
    return [layer for layer in range(layers) if layer not in out]


def without_layers(
    family: Family, model: PackedModel, left_out: Iterable[int], name: str
) -> tuple[Family, PackedModel]:
    """The same model without layers; matrices stay where they are in mapped memory. Raises ModelError."""
    layers = family.shape.layers
    kept = kept_layers(layers, left_out, name)
    fewer = replace(
        family,
        shape=replace(family.shape, layers=len(kept)),
        windows=tuple(family.windows[layer] for layer in kept),
    )
    rows = [MATRICES * layer + matrix for layer in kept for matrix in range(MATRICES)]
    places = np.concatenate([model.places[rows], model.places[MATRICES * layers :]])
    beginnings = tuple(f"model.layers.{layer}." for layer in kept)
    parts, at = [], 0
    for vector, length in vector_names(family):
        if vector.startswith(beginnings) or not vector.startswith("model.layers."):
            parts.append(model.vectors[at : at + length])
        at += length
    digest = f"{model.digest} layers {','.join(map(str, kept))}"
    return fewer, PackedModel(model.weights, places, np.concatenate(parts), digest)
