"""Seeds that are derived from other seeds."""

from __future__ import annotations

from hashlib import blake2b


def mix(*parts: object) -> int:
    """A 63-bit seed that depends on all parts and on nothing else."""
    digest = blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
