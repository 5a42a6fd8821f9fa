"""The answer to one query, out of as many requests as it takes: no reader sees a text twice."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sglc.runtime.backends.exchange import BackendFault, Piece, Query
from sglc.targets.projection.core.capabilities import Capabilities

MOST_KEPT = 16_384
"""Characters of an answer that are kept until it is whole. A record has hundreds, a long text thousands. What
is longer is told as it comes: a server that does not keep to a grammar is closed soon, and none fills the
memory."""


@dataclass(slots=True)
class Answer:
    """What has come of an answer.

    `text` is what the present request and those that it continues have said. Pieces are told at once where
    the query is live, else they are kept until the answer is whole, or longer than `MOST_KEPT`. `told` is
    what the reader has: where a request begins the answer anew, its text must begin with that, and the reader
    gets only what follows.
    """

    query: Query
    text: str = ""
    told: str = ""
    pieces: int = 0
    is_lost: bool = False
    """Whether no request can save it: what the reader has is not how the answer begins."""
    _kept: list[Piece] = field(default_factory=list)

    @property
    def partial(self) -> str:
        """The longest text that came: what the reader has, or what was kept for him."""
        return self.told if self.is_lost else max(self.told, self.text, key=len)

    def request(self, query: Query, capabilities: Capabilities) -> Query:
        """The query to send next, `query` being that for a whole answer: for the rest of a text that broke
        off, where the backend continues texts, else for the whole."""
        if self.text and _resumes(query, self.text, capabilities):
            most = query.max_tokens
            # Each piece is a token at least, so the rest is never bounded too early.
            left = None if most is None else max(1, most - self.pieces)
            return replace(query, begun=query.begun + self.text, max_tokens=left)
        self._forget()
        return query

    def leave(self) -> None:
        """Another backend is asked, which has not written the text: it begins anew where no reader has it."""
        if not self.told:
            self._forget()

    def take(self, piece: Piece) -> list[Piece]:
        """What the reader gets now of a piece. Raises BackendFault where an answer that was begun anew is
        another one than what the reader has."""
        before = len(self.text)
        self.text += piece.text
        self.pieces += 1
        if not self.query.live and not self.told:
            self._kept.append(piece)
            return self.rest() if len(self.text) > MOST_KEPT else []
        known = len(self.told)
        if before >= known:
            self.told = self.text
            return [piece]
        if self.told[before : len(self.text)] != piece.text[: known - before]:
            raise self._lost("another one")
        if len(self.text) <= known:
            return []
        self.told = self.text
        return [Piece(piece.text[known - before :])]

    def rest(self) -> list[Piece]:
        """What the reader gets when the answer is whole. Raises BackendFault where it ends before what the
        reader has."""
        if len(self.text) < len(self.told):
            raise self._lost("shorter")
        kept, self._kept = self._kept, []
        if kept:
            self.told = self.text
        return kept

    def _forget(self) -> None:
        self.text, self.pieces = "", 0
        self._kept.clear()

    def _lost(self, how: str) -> BackendFault:
        self.is_lost = True
        told = f"the answer broke off, and was {how} when it was begun anew"
        return BackendFault("connection", told, differs=True)


def _resumes(query: Query, text: str, capabilities: Capabilities) -> bool:
    """Whether the rest can be asked for. What is enforced is enforced from where a request begins, so the
    rest of a text under a grammar would be read as its beginning; and of a stop text that may have begun the
    backend would see the end alone."""
    stops = (stop[:length] for stop in query.stops for length in range(1, len(stop)))
    return capabilities.continues and query.enforced is None and not any(map(text.endswith, stops))
