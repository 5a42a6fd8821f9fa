"""Biases and penalties: OpenAI's formula, within the mask; what is told of probabilities has none of it."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.sampling.shaping import Shaped, Shaping

SIZE = 40
ROWS = st.lists(st.floats(-20, 20, width=32), min_size=SIZE, max_size=SIZE)
BIASES = st.dictionaries(st.integers(0, SIZE + 3), st.floats(-100, 100, width=32), max_size=5)
PENALTIES = st.floats(-2, 2, width=32)
WRITTEN = st.lists(st.integers(0, SIZE + 3), max_size=30)


@given(row=ROWS, bias=BIASES, frequency=PENALTIES, presence=PENALTIES, written=WRITTEN)
def test_logits_are_those_of_the_formula(
    row: list[float], bias: dict[int, float], frequency: float, presence: float, written: list[int]
) -> None:
    logits = np.array(row, np.float32)
    counts = Counter(written)
    wanted = [
        value + bias.get(at, 0.0) - counts[at] * frequency - (presence if counts[at] else 0.0)
        for at, value in enumerate(row)
    ]
    found = Shaping(tuple(bias.items()), frequency, presence).adjusted(logits, written)
    assert np.allclose(found, wanted, atol=1e-3) and found.dtype == np.float32
    assert logits.tolist() == row  # a row of logits belongs to its step


def mask_of(*tokens: int) -> np.ndarray:
    words = np.zeros((SIZE + 31) // 32, np.uint32)
    for token in tokens:
        words[token // 32] |= np.uint32(1 << token % 32)
    return words.view(np.int32)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_bias_decides_among_legal_tokens_only(temperature: float) -> None:
    logits = np.zeros(SIZE, np.float32)
    shaped = Shaped(Shaping(((3, 100.0), (5, 90.0))), list)
    request = SamplingRequest(Sampling(temperature), 1, mask_of(4, 5), scored=True, top=2, shaped=shaped)
    drawn = request.sample(logits)
    assert drawn.token == 5
    assert math.isclose(drawn.logprob, -math.log(SIZE), rel_tol=1e-5)  # of the model's own logits
    assert [each.token for each in drawn.top] == [0, 1]
    banned = Shaped(Shaping(((5, -100.0),)), list)
    assert SamplingRequest(Sampling(temperature), 1, mask_of(5), shaped=banned).sample(logits).token == 5


def test_penalties_follow_the_text() -> None:
    written: list[int] = []
    shaped = Shaped(Shaping(frequency=1.0), lambda: written)
    request = SamplingRequest(Sampling(), 0, mask_of(7, 9), shaped=shaped)
    logits = np.zeros(SIZE, np.float32)
    logits[7] = 1.5
    for _ in range(6):
        written.append(request.sample(logits).token)
    assert written == [7, 7, 9, 7, 9, 7]


@pytest.mark.parametrize("number", [math.inf, math.nan])
def test_numbers_are_finite(number: float) -> None:
    for bias in (((1, number),), ()):
        with pytest.raises(ValueError, match="finite"):
            Shaping(bias, number)
