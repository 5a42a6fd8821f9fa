"""From text to canonical tokens: with a cache, and for long texts without tokenising all of them again."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sglc.runtime.decoding.conversations.canonical import Canonical
from sglc.runtime.errors import SglError

if TYPE_CHECKING:
    from sglc.runtime.tokenizer import Tokenizer

WHOLE_CHARS = 4096
"""Stretches up to this many characters are always tokenised as a whole."""
WINDOW_CHARS = 512
"""Characters before a change that are tokenised again in a longer stretch."""
RESYNC_TOKENS = 8
"""Tokens at a window's start that must come out as before, else the window grows."""
CACHED_CHARS = 4_000_000
"""Characters of stretches whose tokens an encoder remembers."""


@dataclass(frozen=True, slots=True)
class Encoded:
    text: str
    tokens: tuple[int, ...]


class Encoder:
    """Canonical tokens of text, with a cache of the tokens of recent stretches."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.canonical = Canonical(tokenizer.encode, tokenizer.token_bytes)
        """Which tokens follow each other."""
        self._cache: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        self._chars = 0

    def encode(self, text: str) -> tuple[int, ...]:
        """Tokens of a whole stretch; special tokens never come out of it."""
        if not text:
            return ()
        known = self._cache.get(text)
        if known is not None:
            self._cache.move_to_end(text)
            return known
        tokens = self._encode(text)
        if len(text) <= CACHED_CHARS // 4:
            self._cache[text] = tokens
            self._chars += len(text)
            while self._chars > CACHED_CHARS:
                old, _ = self._cache.popitem(last=False)
                self._chars -= len(old)
        return tokens

    def _encode(self, text: str) -> tuple[int, ...]:
        try:
            return tuple(self.tokenizer.encode(text))
        except ValueError as fault:
            raise SglError("Unsupported", f"the model's tokenizer cannot write the text: {fault}") from None

    def extend(self, text: str, previous: Encoded | None) -> Encoded:
        """Tokens of a stretch of which `previous` is an earlier state.

        A long stretch is tokenised again only from a token boundary some hundred characters before the first
        change, and only if the tokens there come out as they were.
        """
        if previous is not None and previous.text == text:
            return previous
        if previous is None or len(text) <= WHOLE_CHARS or len(previous.text) <= WINDOW_CHARS:
            return Encoded(text, self.encode(text))
        same = len(previous.text) if text.startswith(previous.text) else _common(text, previous.text)
        token_bytes = self.tokenizer.token_bytes
        total = len(previous.text.encode())
        wanted = WINDOW_CHARS
        while same - wanted > 0:
            limit = len(text[: same - wanted].encode())
            index, start = len(previous.tokens), total
            while start > limit and index > 0:
                index -= 1
                start -= len(token_bytes[previous.tokens[index]] or b"")
            if start <= 0 or start > limit:
                break
            window = text.encode()[start:]
            if window[0] & 0xC0 != 0x80:
                tokens = self._encode(window.decode())
                held = previous.tokens[index : index + RESYNC_TOKENS]
                if tokens[: len(held)] == held:
                    return Encoded(text, previous.tokens[:index] + tokens)
            wanted *= 2
        return Encoded(text, self.encode(text))


def _common(a: str, b: str) -> int:
    """Length of the longest common prefix, by halving."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
