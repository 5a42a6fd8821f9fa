"""Drawing whole texts by their scores: one, or several different ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import sample


def drawn_texts(scores: Sequence[float], sampling: Sampling, seed: int, count: int = 1) -> list[int]:
    """Places of `count` different texts in the order of the draw; fewer where fewer have any probability.

    `scores` are logarithms of their probabilities, up to a constant. A text is drawn as a token is, with
    Gumbel noise by its place; `sampling` shapes the distribution over those that are left. The noise of a
    text is the same in each draw. So without limits the places are those of the largest sums of score and
    noise, which are draws without replacement (Gumbel-top-k: Vieira 2014; Kool et al. 2019).
    """
    top = max(scores, default=-math.inf)
    if not top > -math.inf:
        return []
    left = np.array([score - top for score in scores], np.float32)
    found: list[int] = []
    while len(found) < count and left.max() > -np.inf:
        place = sample(left, None, sampling, (seed, 0), scored=False).token
        found.append(place)
        left[place] = -np.inf
    return found
