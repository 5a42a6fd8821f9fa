"""Tries on disk, by vocabulary digest: plain npz arrays with a checksum, rebuilt when anything is off."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np

from sglc.cache_files import cache_folder, keep, read_own
from sglc.runtime.mask.vocabulary.trie import Trie

_FORMAT = "2"
_ARRAYS = {"byte": np.uint8, "depth": np.int32, "end": np.int32, "token": np.int32, "duplicates": np.int32}


def _path(digest: str) -> Path:
    return cache_folder() / "tries" / f"{digest[:32]}-{_FORMAT}.npz"


def load(digest: str, size: int) -> Trie | None:
    """The stored trie, or None if there is none or it is damaged."""
    try:
        data = read_own(_path(digest))
        checksum, payload = data[:32], data[32:]
        if _checksum(digest, payload) != checksum:
            return None
        with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
            arrays = {name: np.ascontiguousarray(archive[name], kind) for name, kind in _ARRAYS.items()}
    except (OSError, ValueError, KeyError, EOFError):
        return None
    trie = Trie(**arrays, deepest=int(arrays["depth"].max(initial=0)))
    return trie if _sound(trie, size) else None


def save(digest: str, trie: Trie) -> None:
    """Store a trie; a cache that cannot be written is no error."""
    buffer = io.BytesIO()
    np.savez(buffer, **{name: getattr(trie, name) for name in _ARRAYS})
    payload = buffer.getvalue()
    keep(_path(digest), _checksum(digest, payload) + payload)


def _checksum(digest: str, payload: bytes) -> bytes:
    """Of a trie and the vocabulary that it is of: the name of the file says the same, but may be changed."""
    return hashlib.sha256(f"{_FORMAT} {digest}\0".encode() + payload).digest()


def _sound(trie: Trie, size: int) -> bool:
    """Whether the arrays are a preorder trie over ids below `size`: what the kernel relies on."""
    n = trie.size
    if any(len(array) != n for array in (trie.depth, trie.end, trie.token)) or not n:
        return False
    here = np.arange(n, dtype=np.int32)
    if trie.depth[0] != 1 or (np.diff(trie.depth) > 1).any() or (trie.depth < 1).any():
        return False
    if (trie.end <= here).any() or (trie.end > n).any():
        return False
    inside = trie.end < n
    if (trie.depth[trie.end[inside]] > trie.depth[inside]).any():
        return False
    # No subtree ends too early now. Their sizes count a node once for each node above it and for itself.
    if int((trie.end.astype(np.int64) - here).sum()) != int(trie.depth.sum(dtype=np.int64)):
        return False
    if trie.token.max() >= size or trie.duplicates.max(initial=-1) >= size or trie.duplicates[-1] != -1:
        return False
    return bool((-2 - trie.token[trie.token < -1] < len(trie.duplicates)).all())
