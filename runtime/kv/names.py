"""Names of whole blocks that mean the same in every process: digests of all tokens up to the block's end.

A name says which tokens, and not what computed them: it is for processes that serve the same model. The files
of the tier on disk have names of their own (`disk.py`), which also say what computed them.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence

from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.kv.node import PrefixNode

NAME_BYTES = 8
ROOT = b""
"""What the first block of a conversation is behind."""


def block_name(above: bytes, tokens: Sequence[int]) -> bytes:
    """The name of the block that holds `tokens` behind the block named `above`."""
    return hashlib.blake2b(above + array("q", tokens).tobytes(), digest_size=NAME_BYTES).digest()


def names_of(tokens: Sequence[int]) -> list[bytes]:
    """The names of all whole blocks of some tokens, the first one first."""
    names: list[bytes] = []
    above = ROOT
    for start in range(0, len(tokens) - BLOCK_TOKENS + 1, BLOCK_TOKENS):
        above = block_name(above, tokens[start : start + BLOCK_TOKENS])
        names.append(above)
    return names


def node_name(node: PrefixNode) -> bytes:
    """The name of a node's block. Takes time in proportion to its depth."""
    keys: list[tuple[int, ...]] = []
    current: PrefixNode | None = node
    while current is not None and current.parent is not None:
        keys.append(current.key)
        current = current.parent
    name = ROOT
    for key in reversed(keys):
        name = block_name(name, key)
    return name
