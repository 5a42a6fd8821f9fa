"""Gumbel noise by its definition, with Python's own integers and floats."""

from __future__ import annotations

import math

WORD = 2**32


def noise(token: int, key: int) -> float:
    """The noise of a token under a key of 64 bits: `triple32` of the token, its key let in twice."""
    x = (token * 0x9E3779B1 + key) % WORD
    x = (x ^ x >> 17) * 0xED5AD4BB % WORD ^ key >> 32
    x = (x ^ x >> 11) * 0xAC4C1B51 % WORD
    x = (x ^ x >> 15) * 0x31848BAB % WORD
    x ^= x >> 14
    return -math.log(-math.log1p(-((x >> 1) + 0.5) / 2**31))


def score(logit: float, top: float, temperature: float, token: int, key: int) -> float:
    """What the largest of is drawn: the logit below `top`, by the temperature, with noise."""
    return (0.0 if logit == top else (logit - top) / temperature) + noise(token, key)
