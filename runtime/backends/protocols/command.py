"""Commands as models: `repair:COMMAND`. A prompt on the standard input, text on the standard output.

Nothing is enforced; what is written is checked and repaired. The prompt is the text of the conversation, and
behind it the answer as far as it is there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from sglc.runtime.backends.event_stream import closed_after
from sglc.runtime.backends.exchange import (
    Backend,
    BackendFault,
    Ending,
    Event,
    Message,
    Piece,
    Query,
    TextScore,
)
from sglc.runtime.backends.protocols.core.protocol_backend import ProtocolBackend
from sglc.runtime.backends.registry import Opening
from sglc.runtime.repair.commands import Command, CommandFault

_SPEAKERS = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}


def open_backend(opening: Opening) -> Backend:
    """A backend of a command. It is run once for each answer."""
    words = opening.name.command
    endpoint = f"repair:{words[0]}"
    return ProtocolBackend(
        opening.name.text, endpoint, opening.capabilities, CommandModel(words), hidden=opening.hidden
    )


@dataclass(slots=True)
class CommandModel:
    """The protocol."""

    words: tuple[str, ...]

    async def answer(self, query: Query) -> AsyncIterator[Event]:
        """What the program writes, then an ending; bytes that are no UTF-8 become U+FFFD. Raises BackendFault
        where the program cannot be run or fails."""
        program = self.words[0]
        try:
            async with closed_after(Command(self.words)(prompt_of(query))) as pieces:
                async for piece in pieces:
                    yield Piece(piece.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
        except CommandFault as problem:
            raise BackendFault("overloaded", str(problem), again=True) from None
        except OSError as problem:
            reason = problem.strerror or type(problem).__name__
            raise BackendFault("connection", f"`{program}` cannot be run: {reason}") from None
        yield Ending("stop")

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """Raises BackendFault: a program only writes."""
        raise BackendFault("request", "a command does not score texts")

    async def context_length(self) -> int | None:
        """None: a program does not say how much it reads."""
        return None

    async def close(self) -> None:
        """Each command has ended with its answer."""


def prompt_of(query: Query) -> str:
    """A conversation as one text. Before the first answer of an assistant its messages stand one below the
    other as they are; a longer conversation says who speaks."""
    messages = query.messages
    if any(each.role == "assistant" for each in messages):
        turns = [f"{_said(each)}\n\n" for each in messages]
        return "".join(turns) + f"Assistant: {query.begun}"
    texts = [each.text if not each.role else f"{each.text}\n\n" for each in messages]
    return "".join(texts) + query.begun


def _said(message: Message) -> str:
    speaker = _SPEAKERS.get(message.role)
    return f"{speaker}: {message.text}" if speaker else message.text
