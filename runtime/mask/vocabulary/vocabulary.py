"""The vocabulary of a tokenizer as bytes: what every token writes, as a trie that masks are walked over."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Hashable, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from sglc.automata.caches import BoundedCache
from sglc.automata.charset import Ranges
from sglc.kernels.trie.api import subtrees_of
from sglc.kernels.trie.arrays import Subtrees, TrieArrays
from sglc.runtime.mask.vocabulary import disk_cache as vocabulary_cache
from sglc.runtime.mask.vocabulary.row_deltas import BaseRows
from sglc.runtime.mask.vocabulary.token_classes import BegunTokens, Columns
from sglc.runtime.mask.vocabulary.tokenizer_bytes import token_bytes_of_json, token_bytes_of_pretrained
from sglc.runtime.mask.vocabulary.trie import Trie, build_trie

_CACHED_FROM = 8192
"""Vocabularies of at least this size keep their trie on disk."""


class Vocabulary:
    """Tokens by id with their bytes; None for special and unused ids, which no mask ever allows.

    `end_ids` are the ids that end a turn; masks never contain them, the caller adds them where it wishes.
    """

    def __init__(self, token_bytes: Sequence[bytes | None], end_ids: frozenset[int] = frozenset()) -> None:
        self.end_ids = frozenset(end_ids)
        self.size = len(token_bytes)
        if any(not 0 <= i < self.size for i in self.end_ids):
            raise ValueError("an end token is outside of the vocabulary")
        texts = list(token_bytes)
        for token in self.end_ids:
            texts[token] = None
        self.token_bytes: tuple[bytes | None, ...] = tuple(texts)
        self.words = (self.size + 31) // 32
        """Length of a mask row in int32 words; token t is bit t % 32 of word t // 32."""

        self.classes: BoundedCache[Hashable, Any] = BoundedCache(size=attrgetter("nbytes"))
        """Walks over all words of a class of characters, by class and encoding; kept by mask stores."""
        self.facts: dict[type, Any] = {}
        """What others have found out about it, by kind, as long as it lives."""
        self._class_numbers: BoundedCache[Ranges, int] = BoundedCache()
        self._numbers = itertools.count()
        self.bases = BaseRows(self.words)
        """The rows to which batches write most masks as differences."""

    @classmethod
    def from_tokenizer_json(cls, path: str | os.PathLike[str]) -> Vocabulary:
        """Read a `tokenizer.json` (byte-level BPE, or SentencePiece style with byte fallback)."""
        return cls(*token_bytes_of_json(Path(path)))

    @classmethod
    def from_pretrained(cls, tokenizer: object) -> Vocabulary:
        """From a transformers tokenizer object."""
        return cls(*token_bytes_of_pretrained(tokenizer))

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all token bytes and end ids."""
        state = hashlib.sha256(b"sglc vocabulary 1\0")
        state.update(self.lengths.astype("<i4").tobytes())
        state.update(b"".join(b for b in self.token_bytes if b))
        state.update(np.array(sorted(self.end_ids), "<i4").tobytes())
        return state.hexdigest()

    @cached_property
    def trie(self) -> Trie:
        """The bytes of all tokens as a trie; of a large vocabulary it is kept in a file."""
        if self.size < _CACHED_FROM:
            return build_trie(self.token_bytes)
        found = vocabulary_cache.load(self.digest, self.size)
        if found is None:
            found = build_trie(self.token_bytes)
            vocabulary_cache.save(self.digest, found)
        return found

    @cached_property
    def lengths(self) -> np.ndarray:
        """Bytes of each token, int32[V]; -1 for those that have none."""
        return np.array([-1 if b is None else len(b) for b in self.token_bytes], np.int32)

    def class_number(self, characters: Ranges) -> int:
        """A number that only equal classes of characters have, mostly the same each time."""
        found = self._class_numbers.get(characters)
        return self._class_numbers.keep(characters, next(self._numbers)) if found is None else found

    @cached_property
    def arrays(self) -> TrieArrays:
        """The trie as walks read it."""
        trie = self.trie
        return TrieArrays(
            byte=trie.byte,
            depth=trie.depth,
            end=trie.end,
            token=trie.token,
            duplicates=trie.duplicates,
            deepest=trie.deepest,
            words=self.words,
        )

    @cached_property
    def subtrees(self) -> Subtrees:
        """What lies below the nodes of the trie."""
        return subtrees_of(self.arrays)

    @cached_property
    def columns(self) -> Columns:
        """The tokens column by column: facts, bytes, and those that begin with a byte."""
        trie, subtrees = self.trie, self.subtrees
        roots = np.flatnonzero(trie.depth == 1)
        starts, stops = subtrees.begins[roots], subtrees.begins[trie.end[roots]]
        spans = dict(
            zip(trie.byte[roots].tolist(), zip(starts.tolist(), stops.tolist(), strict=True), strict=True)
        )
        begun = BegunTokens(subtrees.order, spans, self.words)
        return Columns(subtrees.facts[subtrees.places, 2:], self.token_bytes, begun)

    @cached_property
    def writable(self) -> np.ndarray:
        """The mask of all tokens that have bytes, int32[words]."""
        return self.pack(np.array([bool(b) for b in self.token_bytes], bool))

    def tokens_of(self, data: bytes) -> list[int] | None:
        """Tokens that write some bytes, each the longest that fits; None where no token does."""
        found: list[int] = []
        while data:
            token, size = self.trie.longest(data)
            if token < 0:
                return None
            found.append(token)
            data = data[size:]
        return found

    def missing_bytes(self) -> frozenset[int]:
        """Byte values that no token contains: a constraint that needs one of them cannot be met."""
        seen: set[int] = set()
        for data in self.token_bytes:
            if data:
                seen.update(data)
                if len(seen) == 256:
                    break
        return frozenset(range(256)) - seen

    def pack(self, flags: np.ndarray) -> np.ndarray:
        """bool[V] as a mask row."""
        padded = np.zeros(self.words * 32, np.uint8)
        padded[: self.size] = flags
        return np.packbits(padded, bitorder="little").view("<i4").astype(np.int32, copy=False)

    def unpack(self, row: np.ndarray) -> np.ndarray:
        """The ids set in a mask row, ascending."""
        # Rows are mostly looked at where they have few bits.
        words = (row != 0).nonzero()[0]
        bits = np.unpackbits(row[words].view(np.uint8), bitorder="little")
        places = np.flatnonzero(bits)
        ids: np.ndarray = (words[places >> 5] << 5) + (places & 31)
        return ids


BYTES = Vocabulary(tuple(bytes((byte,)) for byte in range(256)), frozenset())
"""Every byte a token: for texts that no model of this process writes."""
