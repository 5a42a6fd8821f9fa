"""Sets of bytes: as numbers of 256 bits, which are joined quickest, and as rows of flags. Orders of words."""

from __future__ import annotations

import numpy as np

from sglc.automata.caches import small_cache


def length_first(data: bytes) -> tuple[int, bytes]:
    """Puts words in order: short ones first, equally long ones by their bytes."""
    return len(data), data


def packed(row: np.ndarray) -> int:
    """A bool[256] as a number."""
    return int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")


@small_cache(1024)
def unpacked(found: int) -> np.ndarray:
    """The bool[256] of a number; not to be written to."""
    bits = np.frombuffer(found.to_bytes(32, "little"), np.uint8)
    row = np.unpackbits(bits, bitorder="little").view(bool)
    row.flags.writeable = False
    return row


def members(found: int) -> frozenset[int]:
    """The bytes of a number."""
    return frozenset([byte for byte in range(found.bit_length()) if found >> byte & 1])
