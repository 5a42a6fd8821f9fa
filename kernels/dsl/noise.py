"""The numbers of the Gumbel noise: one definition for the reference, the compiled kernel and the device.

Multipliers and shifts are those of `triple32` (C. Wellons, hash-prospector, 2018): a permutation of 32 bits
in which every bit of the input changes every bit of the output with a chance of one half, to 3e-5.
"""

from __future__ import annotations

GOLDEN = 0x9E3779B1
"""Spreads neighbouring tokens: an odd number near 2^32 divided by the golden ratio."""
ROUNDS = ((17, 0xED5AD4BB), (11, 0xAC4C1B51), (15, 0x31848BAB))
"""Shift and factor of each round; the second key comes in behind the first."""
LAST_SHIFT = 14
SMALL = 2.0**-11
"""Below this v, -log(1 - v) is v + v^2 / 2: the next term is less than float32 can tell."""
