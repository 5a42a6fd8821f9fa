"""A text of a hole, token by token, under its budget: what is certain is written, what is taken may end it.

Where a budget holds, this is kept true before every token: what was used and the shortest completion fit into
it. A token that would break it is not taken; the completion ends the text instead.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

from sglc.runtime.decoding.hole_text import HoleText
from sglc.runtime.decoding.room import Room
from sglc.runtime.engine.sampling.legal import NextTokens


class Ended(NamedTuple):
    """A text that has ended.

    `data` are its bytes, those before the value that were written anew (`HoleText.prefix`) included. The
    first `certain` of them were there before a completion was written; the rest is that.
    """

    data: bytes
    how: str
    """`complete`, `end`, `stop` or `budget`, as in `HoleResult`."""
    tokens: int
    certain: int


class Writing:
    """One text under way. It alternates: `forced` until that gives False, then a token is due for `take`."""

    def __init__(self, text: HoleText, room: Room) -> None:
        """Raises Truncated where not even the shortest value fits."""
        vocabulary = text.vocabulary
        self.text = text
        self.room = room
        self.end_ids = frozenset(i for i in vocabulary.end_ids if i < vocabulary.size)
        self.legal = NextTokens(text.masks, self.end_ids)
        """The tokens that may come next, once `forced` has given False."""
        self._hold_forced = False
        self._closing = b""
        if room.limit is not None:
            self._closing = text.tracker.value.shortest_completion()
            if not room.fits(0, self._closing[len(text.prefix) :], room.limit):
                raise room.truncated(room.limit)

    def fork(self) -> Writing:
        """Another text that begins as this one does."""
        twin = copy(self)
        twin.text = self.text.fork()
        twin.legal = NextTokens(twin.text.masks, self.end_ids)
        twin.legal.may_end = self.legal.may_end
        return twin

    def forced(self) -> Ended | bool:
        """Write certain text. True if there was some and there may be more, False if a token is due."""
        text, tracker, limit = self.text, self.text.tracker, self.room.limit
        settled = not tracker.candidates
        if settled and tracker.value.is_complete():
            return Ended(bytes(tracker.data), "complete", text.used(), len(tracker.data))
        if settled and not self._hold_forced:
            run = tracker.value.forced()
            if run:
                known, certain, used = bytes(tracker.data), tracker.certain(), text.used()
                appended, self._hold_forced = text.append_forced(run)
                if appended:
                    if limit is not None:
                        rest = self._closing[appended:]
                        if not self.room.fits(text.used(), text.own(tracker, rest), limit):
                            return self._closed_out(known, certain, used)
                        self._closing = rest
                    return True
        self._hold_forced = False
        if limit is not None and not self.room.has(text.used() + 1, limit):
            return self._closed_out(bytes(tracker.data), tracker.certain(), text.used())
        self.legal.may_end = text.ends_freely and settled and tracker.value.is_accepting()
        return False

    def take(self, token: int) -> Ended | None:
        """Go on with a legal token; what the text has become if it ends the value. The budget may not let it
        in, and then ends the text without it."""
        text, limit = self.text, self.room.limit
        tracker, used = text.tracker, text.used()
        known, certain = len(tracker.data), tracker.certain()
        if token in self.end_ids:
            return Ended(bytes(tracker.data), "end", used, known)
        end_at = tracker.feed(text.vocabulary.token_bytes[token] or b"", token)
        if end_at is not None:
            return Ended(bytes(tracker.data[:end_at]), "stop", used + (end_at > known), end_at)
        if limit is not None:
            closing = tracker.value.shortest_completion()
            more = len(tracker.data) > len(text.prefix)
            if not self.room.fits(used + more, text.own(tracker, closing), limit):
                return self._closed_out(bytes(tracker.data[:known]), certain, used)
            self._closing = closing
        text.conversation.branch.append([token])
        text.pass_prefix()
        if not text.same:
            text.masks.accept(token)
        return None

    def _closed_out(self, known: bytes, certain: int, used: int) -> Ended:
        """The value completed along its shortest completion: the budget is nearly spent."""
        text = self.text
        price = text.price(self._closing[max(0, len(text.prefix) - len(known)) :])
        text.forced += price
        return Ended(known + self._closing, "budget", used + price, certain)
