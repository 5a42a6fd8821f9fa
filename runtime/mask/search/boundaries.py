"""The nodes at which tokens go beyond lexemes, by what they have read there."""

from __future__ import annotations

from itertools import pairwise
from operator import itemgetter

import numpy as np

from sglc.runtime.mask.lexeme.table import Names


def by_label(boundaries: np.ndarray, labels: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """(label, its boundaries) in the order of labels; boundaries in the order in which they are given."""
    found = sorted(set(labels.tolist()))
    if len(found) == 1:
        return [(found[0], boundaries)]
    order = labels.argsort(kind="stable")
    boundaries, labels = boundaries[order], labels[order]
    bounds = [*labels.searchsorted(found).tolist(), len(labels)]
    return [
        (label, boundaries[start:stop]) for label, (start, stop) in zip(found, pairwise(bounds), strict=True)
    ]


def named(names: Names, index: dict[str, list[int]], count: int) -> list[tuple[int, np.ndarray]]:
    """The same of the places of so many boundaries, of which `index` says what is read before them."""
    others = names.others
    if not isinstance(others, int):
        return by_label(np.arange(count), labels_of(names, index, count))
    known: dict[int, list[int]] = {}
    for name, label in names.labels.items():
        places = index.get(name)
        if places is not None and label != others:
            known.setdefault(label, []).extend(places)
    taken = np.zeros(count, bool)
    found = []
    for label, places in known.items():
        found.append((label, np.array(sorted(places))))
        taken[places] = True
    rest = (~taken).nonzero()[0]
    if len(rest):
        found.append((others, rest))
    found.sort(key=itemgetter(0))
    return found


def labels_of(names: Names, index: dict[str, list[int]], count: int) -> np.ndarray:
    """int32: the labels of the boundaries of a class, of which `index` says what is read before them."""
    others = names.others
    if isinstance(others, int):
        labels = np.full(count, others, np.int32)
        for name, label in names.labels.items():
            for number in index.get(name, ()):
                labels[number] = label
        return labels
    known = [0] * count
    for (text, numbers), other in zip(index.items(), others(index), strict=True):
        label = names.labels.get(text, other)
        for number in numbers:
            known[number] = label
    return np.array(known, np.int32)
