"""Pieces of pages as tests read them: well formed, without scripts and addresses."""

from __future__ import annotations

import re
from html.parser import HTMLParser

TAGS = frozenset("div style p b span i del ins details summary input label section".split())
ATTRIBUTES = frozenset(
    "class role aria-label title tabindex dir type name id for checked open".split(),
)
VOID = frozenset(("input",))


class Piece(HTMLParser):
    """What a piece of a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: dict[str, list[str]] = {}
        self.text = ""
        self.plain = ""
        """The text without what is seen under the pointer only."""
        self._card = 0
        self.style = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value or "")
        self._card += (self._card > 0 or ("class", "card") in attrs) and tag not in VOID
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        self._card -= self._card > 0

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["style"]:
            self.style += data
        else:
            self.text += data
            self.plain += "" if self._card else data


def sound(text: str) -> Piece:
    """A piece that is well formed, runs nothing and asks for nothing."""
    piece = Piece(text)
    assert piece.tags <= TAGS, piece.tags - TAGS
    assert set(piece.attributes) <= ATTRIBUTES, set(piece.attributes) - ATTRIBUTES
    assert not re.search(r"url\(|@import|expression|javascript:|https?:|//", piece.style)
    names = piece.attributes.get("id", [])
    assert len(names) == len(set(names))
    assert set(piece.attributes.get("for", [])) == set(names)
    return piece
