"""The largest logit of each row: mostly the token that is taken."""

from __future__ import annotations

from sglc.kernels.dsl.language import F32, I32, parallel_kernel
from sglc.kernels.dsl.vectors import fma, greater, load_floats, max_floats, spread, sum_floats

CHUNK = 1024
"""Logits whose largest is kept while a row is read; only the best chunk is looked through for the place."""


@parallel_kernel
def likeliest(logits: F32, rows: int, width: int, stride: int, best: I32, thread: int, threads: int) -> None:
    """For each of `rows` rows of `width` floats the place of the largest, the first of equals.

    Rows begin `stride` floats apart. -1 where none is above -3.4e38, or one is infinite or NaN. Each thread
    takes the rows whose number leaves `thread` when divided by `threads`.
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
