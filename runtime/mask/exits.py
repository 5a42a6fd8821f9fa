"""The nodes at which tokens leave leaves, by what they have read there."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

_FEW = 4
"""Of so many labels each is looked for by itself."""


def by_label(exits: np.ndarray, labels: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """(label, its exits) in the order of labels; exits in the order in which they are given."""
    found = sorted(set(labels.tolist()))
    if len(found) == 1:
        return [(found[0], exits)]
    if len(found) <= _FEW:
        return [(label, exits[labels == label]) for label in found]
    order = labels.argsort(kind="stable")
    exits, labels = exits[order], labels[order]
    bounds = [*labels.searchsorted(found).tolist(), len(labels)]
    return [(label, exits[start:stop]) for label, (start, stop) in zip(found, pairwise(bounds), strict=True)]
