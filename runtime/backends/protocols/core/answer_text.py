"""The text of an answer as it comes: whole characters only, and nothing from a stop on."""

from __future__ import annotations

from collections.abc import Sequence

from sglc.runtime.backends.protocols.core.fields import garbled


class AnswerText:
    """Joins pieces and holds back what is not certain: half a character, or what may begin a stop.

    Services differ in how many stops they take and which (OpenAI four, Anthropic none of blanks), so stops
    are found here in any case. What a service finds itself is one token less to wait for.
    """

    def __init__(self, stops: Sequence[str] = ()) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self.told = ""
        """What was given out."""
        self.stopped = False
        """Whether a stop came. Nothing behind it is given out."""

    def take(self, piece: str) -> str:
        """What is certain now that a piece has come. Raises BackendFault for half a character."""
        if self.stopped:
            return ""
        text = self._held + piece
        found = [at for stop in self._stops if (at := text.find(stop)) >= 0]
        if found:
            self.stopped = True
            return self._give(text[: min(found)], "")
        return self._give(*self._cut(text))

    def end(self) -> str:
        """What was held back, at the end of the answer."""
        return "" if self.stopped else self._give(self._held, "")

    def _cut(self, text: str) -> tuple[str, str]:
        """What is certain of a text, and the rest."""
        held = 1 if text and "\ud800" <= text[-1] <= "\udbff" else 0
        for stop in self._stops:
            for size in range(min(len(stop) - 1, len(text)), held, -1):
                if text.endswith(stop[:size]):
                    held = size
                    break
        return text[: len(text) - held], text[len(text) - held :]

    def _give(self, text: str, held: str) -> str:
        try:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise garbled("there is half a character in the text") from None
        self._held = held
        self.told += text
        return text
