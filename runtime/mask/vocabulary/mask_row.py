"""The row of one mask: a bit for each token id."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sglc.kernels.bitmask.operations import RowDelta
from sglc.kernels.bitmask.sampling import count_bits
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary


@dataclass(slots=True, eq=False)
class Mask:
    """A mask row (int32[words], not to be written to)."""

    row: np.ndarray
    data: bytes = field(init=False)
    """The bytes of the row, which is a view of them: what is copied quickest, and no object that the garbage
    collector looks at."""
    _count: int = -1
    source: RowDelta | None = field(default=None, init=False)
    """How batches write the row, once one has (see `bases`)."""
    _longest: int = field(default=-1, init=False)

    def __post_init__(self) -> None:
        self.data = self.row.tobytes()
        self.row = np.frombuffer(self.data, np.int32)

    @property
    def count(self) -> int:
        """The number of its tokens."""
        if self._count < 0:
            self._count = count_bits(self.row)
        return self._count

    def longest(self, vocabulary: Vocabulary) -> int:
        """Bytes of its longest token, 0 if it has none."""
        if self._longest < 0:
            self._longest = int(vocabulary.lengths[vocabulary.unpack(self.row)].max(initial=0))
        return self._longest
