"""Argmax of rows of logits."""

from __future__ import annotations

from sglc.kernels.dsl.language import F32, I32, parallel_kernel
from sglc.kernels.dsl.vectors import fma, greater, load_floats, max_floats, spread, sum_floats

CHUNK = 1024
"""Logits of a chunk. Only the maximum of a chunk is kept; the best chunk is searched for its index."""


@parallel_kernel
def argmax(logits: F32, rows: int, width: int, stride: int, best: I32, thread: int, threads: int) -> None:
    """best[row] becomes the index of the largest of `width` floats of each row, the first of equals.

    Row r begins at logits[r * stride]. The index is -1 where no float is above -3.4e38, or where one is
    infinite or NaN. Each thread takes the rows r with r % threads == thread.
    """
    row = thread
    while row < rows:
        at = row * stride
        top = -3.4e38
        start = 0
        place = -1
        odd = spread(0.0)  # stays 0 but for what is infinite or NaN
        while start + CHUNK <= width:
            most = spread(-3.4e38)
            for i in range(CHUNK // 16):
                lanes = load_floats(logits, at + start + 16 * i)
                most = greater(most, lanes)
                odd = fma(lanes, spread(0.0), odd)
            here = max_floats(most)
            if here > top:
                top = here
                place = start
            start += CHUNK
        rest = -1
        left = sum_floats(odd)
        while start < width:
            left += logits[at + start] * 0.0
            if logits[at + start] > top:
                top = logits[at + start]
                rest = start
            start += 1
        if left != 0.0:
            place = -1
        elif rest >= 0:
            place = rest
        elif place >= 0:
            while logits[at + place] < top:
                place += 1
        best[row] = place
        row += threads
