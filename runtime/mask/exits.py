"""The nodes at which tokens leave leaves, by what they have read there."""

from __future__ import annotations

import numpy as np


def runs_of(labels: np.ndarray) -> np.ndarray:
    """Where runs of equal labels begin."""
    return np.concatenate([[0], np.flatnonzero(labels[1:] != labels[:-1]) + 1])


def by_label(exits: np.ndarray, labels: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """(label, its exits) in the order of labels; exits in the order in which they are given."""
    if not len(exits):
        return []
    if labels[0] == labels[-1] and not np.count_nonzero(labels != labels[0]):
        return [(labels.item(0), exits)]
    order = labels.argsort(kind="stable")
    exits, labels = exits[order], labels[order]
    starts = runs_of(labels)
    return list(zip(labels[starts].tolist(), np.split(exits, starts[1:]), strict=True))
