"""The text of an answer while it comes, as far as it is legal: what readers of streams are told."""

from __future__ import annotations

from codecs import utf_8_decode

from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.repair.spelling import BLANKS, Spacing


class _Track:
    """One reading of the answer: its longest legal beginning."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._open = b""
        """The beginning of a character."""
        self.text = ""
        self.alive = True

    def feed(self, text: str) -> None:
        """Take as much of a piece as is legal."""
        if not self.alive:
            return
        data = text.encode("utf-8", "replace")
        count = self._matcher.accept_prefix(data)
        self.alive = count == len(data)
        found, size = utf_8_decode(self._open + data[:count], "strict", False)
        self._open = (self._open + data[:count])[size:]
        self.text += found


def _first(piece: str, rest: str) -> bytes:
    """The blanks before an answer, and its first character."""
    return piece[: len(piece) - len(rest) + 1].encode("utf-8", "replace")


class LegalPieces:
    """Follows an answer as it is and as JSON in our own spacing. `feed` gives what is new of its legal
    beginning: of the answer as it is, or, where that is not legal, of the JSON."""

    def __init__(self, matcher: Matcher) -> None:
        self._plain = _Track(matcher.clone())
        self._json = _Track(matcher.clone())
        self._spacing = Spacing()
        self._matcher = matcher
        self._blanks = ""
        self._begun = False
        self.told = ""
        """What was given so far."""

    @property
    def legal(self) -> str:
        """The longest legal beginning of either reading."""
        return max(self._plain.text, self._json.text, key=len)

    def feed(self, piece: str) -> str:
        """The legal text that a piece of the answer adds; blanks before it are left out where they are not
        legal."""
        if not self._begun:
            piece = self._blanks + piece
            rest = piece.lstrip(BLANKS)
            if not rest:
                self._blanks = piece
                return ""
            self._begun, self._json.alive = True, rest[0] in "{["
            piece = piece if self._matcher.clone().accept_bytes(_first(piece, rest)) else rest
        self._plain.feed(piece)
        self._json.feed(self._spacing.written(piece) if self._json.alive else "")
        best = self._plain.text if self._plain.alive or not self._json.text else self._json.text
        if len(best) <= len(self.told) or not best.startswith(self.told):
            return ""
        new = best[len(self.told) :]
        self.told = best
        return new
