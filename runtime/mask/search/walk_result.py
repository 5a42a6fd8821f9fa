"""What walks of lexemes find."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sglc.runtime.mask.lexeme.table import LexemeDfa


@dataclass(slots=True, eq=False)
class WalkResult:
    """What a walk from one place of a lexeme finds: tokens, nodes at which tokens go beyond it, the states
    they have then, and the most characters on a path. The row is None where all of it is
    looked up. The table is kept as its identity is a part of the key."""

    table: LexemeDfa
    row: np.ndarray | None
    boundaries: np.ndarray
    ends: np.ndarray
    reach: int
    paths: list[bytes] | None = None
    """What is read before each boundary, once somebody has asked."""
    index: dict[str, list[int]] | None = None
    """Boundaries by the text before them, for `LexemeWalks._named`."""
    labels: np.ndarray | None = None
    """Labels of the boundaries where the table does not say them."""
    parts: list[tuple[int, np.ndarray]] | None = None
    """The same as labels with the places of their boundaries, in order."""
    rest: np.ndarray | None = None
    """The row without the tokens that are looked up, where only these are not walked."""
    later: np.ndarray | None = None
    """The boundaries behind some character, where others are among them as well."""
    of: WalkResult | None = None
    """The walk that it is a part of; kept as its identity is a part of the key."""

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays; those that it shares with another one as well."""
        parts = [array for _, array in self.parts or ()]
        every = (self.row, self.boundaries, self.ends, self.labels, self.rest, self.later, *parts)
        return sum([array.nbytes for array in every if array is not None])


def once(found: WalkResult) -> WalkResult:
    """The same where boundaries may have been met more than once, in any order."""
    labels = found.labels if found.labels is not None else found.table.labels_of(found.ends)
    if labels is None:
        boundaries, at = np.unique(found.boundaries, return_index=True)
    else:
        pairs = found.boundaries.astype(np.int64) << 32 | labels
        at = np.unique(pairs, return_index=True)[1]
        boundaries = found.boundaries[at]
    labels = None if found.labels is None else found.labels[at]
    return replace(found, boundaries=boundaries, ends=found.ends[at], labels=labels)
