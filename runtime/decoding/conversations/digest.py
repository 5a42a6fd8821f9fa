"""A digest of what a conversation says: roles and text of its messages, however they were put together.

Holes draw from it, so that behind other texts one seed gives other draws. It knows no tokens and no
templates, and is the same on every machine.
"""

from __future__ import annotations

from hashlib import blake2b

SIZE = 16
"""Bytes of a digest."""


class TextDigest:
    """Digests of a conversation that grows, and seldom goes back.

    The digest of a conversation is that of its messages' digests, one behind the other; that of a message is
    of the length of its role, its role and its text, as UTF-8. So no two conversations have the same bytes.
    What was read is not read again: messages before the open one are kept by their number, and of the open
    one the text that has been read. Going back within the open message reads that message again.
    """

    def __init__(self) -> None:
        self._said: tuple[tuple[str, str], ...] = ()
        self._digests: list[bytes] = []
        self._role, self._text = "", ""
        self._hash = _opened("")
        self.read = 0
        """Bytes of text that were read; for tests."""

    def copy(self) -> TextDigest:
        """The same, for a copy of the conversation."""
        made = TextDigest()
        made._said, made._digests = self._said, list(self._digests)
        made._role, made._text, made._hash = self._role, self._text, self._hash.copy()
        return made

    def of(self, messages: tuple[tuple[str, str], ...]) -> bytes:
        """The digest of these messages, the open one last; SIZE bytes."""
        said = messages[:-1]
        kept = _same(self._said, said)
        del self._digests[kept:]
        for role, text in said[kept:]:
            self._digests.append(self._message(role, text))
        self._said = said
        last = self._message(*messages[-1]) if messages else b""
        return blake2b(b"".join((*self._digests, last)), digest_size=SIZE).digest()

    def _message(self, role: str, text: str) -> bytes:
        """The digest of a message, read on from where the one that was read last ends, if that is its
        beginning."""
        if role != self._role or not text.startswith(self._text):
            self._role, self._text, self._hash = role, "", _opened(role)
        more = text[len(self._text) :].encode("utf-8", "surrogatepass")
        self._hash.update(more)
        self.read += len(more)
        self._text = text
        return self._hash.digest()


def _opened(role: str) -> blake2b:
    name = role.encode()
    made = blake2b(len(name).to_bytes(4, "little"), digest_size=SIZE)
    made.update(name)
    return made


def _same(known: tuple[object, ...], now: tuple[object, ...]) -> int:
    """How many messages two conversations begin with alike."""
    if known is now or known == now[: len(known)]:
        return len(known)
    return next((i for i, pair in enumerate(zip(known, now, strict=False)) if pair[0] != pair[1]), len(now))
