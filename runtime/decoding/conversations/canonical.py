"""Canonical tokens: those that a model's own tokenizer writes.

Tokens are *canonical* if the tokenizer gives exactly them for the text that they write. The property is
local. By the merges, a list of tokens is canonical if each pair of neighbours is (Vieira et al. 2025,
"Language Models over Canonical Byte-Pair Encodings"). How a text is split into words depends on a little more
context. So a few tokens before a position decide, however long the text is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

CONTEXT = 4
"""Tokens before a place that are tokenised with what follows."""
COMPARED = 2
"""So many of these tokens must come out unchanged. Those before them serve to split the text into words."""
MOST_KNOWN = 1 << 15
"""Answers that are remembered; all go at once."""

MOST_OPEN = 1 << 13
"""Answers that are remembered of one constraint: some 3 MB. 200 records of six fields had 7,300 places."""

Tokens = tuple[int, ...]


class Canonical:
    """A tokenizer with a cache of its answers. Safe for threads: an answer is a plain value."""

    def __init__(self, encode: Callable[[str], Sequence[int]], token_bytes: Sequence[bytes | None]) -> None:
        self._encode = encode
        self._token_bytes = token_bytes
        self._known: dict[tuple[Tokens, bytes], Tokens | None] = {}
        self._open: WeakKeyDictionary[object, dict[object, bool]] = WeakKeyDictionary()

    def tokens(self, context: Tokens, data: bytes) -> Tokens | None:
        """The tokens of `data` behind those of `context`.

        None where the tokenizer would write the end of the context with other tokens, where it cannot write
        the text, and where `data` ends inside a character.
        """
        key = context, data
        known = self._known
        if key not in known:
            if len(known) >= MOST_KNOWN:
                known.clear()
            known[key] = self._found(context, data)
        return known.get(key)

    def keeps(self, context: Tokens, token: int, after: bytes) -> bool:
        """Whether the tokenizer writes `token` behind the context, with these bytes after it."""
        found = self.tokens(context, (self._token_bytes[token] or b"") + after)
        return found is not None and found[:1] == (token,)

    def known_open(self, constraint: object) -> dict[object, bool]:
        """Room for answers about one constraint, which go with it; emptied when it is full."""
        known = self._open.get(constraint)
        if known is None:
            known = self._open.setdefault(constraint, {})
        if len(known) >= MOST_OPEN:
            known.clear()
        return known

    def _found(self, context: Tokens, data: bytes) -> Tokens | None:
        token_bytes = self._token_bytes
        pieces = [token_bytes[token] or b"" for token in context]
        first = 0
        while first < len(pieces) and (not pieces[first] or pieces[first][0] & 0xC0 == 0x80):
            first += 1  # the window begins with a whole character
        try:
            found = tuple(self._encode((b"".join(pieces[first:]) + data).decode()))
        except ValueError:
            return None
        held = max(first, len(pieces) - COMPARED)
        start, index, at = sum(map(len, pieces[first:held])), 0, 0
        while at < start and index < len(found):
            at += len(token_bytes[found[index]] or b"")
            index += 1
        behind = index + len(pieces) - held
        return found[behind:] if at == start and found[index:behind] == context[held:] else None
