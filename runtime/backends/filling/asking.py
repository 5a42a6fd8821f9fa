"""From a conversation to what a backend is sent: messages, what is begun, what the answer has to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sglc.runtime.backends.exchange import Message
from sglc.runtime.backends.filling.together import Gaps
from sglc.targets.projection.core.enforcement import Projection


@dataclass(frozen=True, slots=True)
class Turns:
    """Whole messages, and what the assistant's message begins with."""

    messages: tuple[Message, ...]
    begun: str = ""


def turns_of(
    said: Sequence[tuple[str, str]],
    projection: Projection,
    *,
    continues: bool,
    gaps: Gaps | None = None,
) -> Turns:
    """The turns that ask for a hole behind what was said, the open message last.

    A backend that does not continue messages is told what stands there already. Where it enforces nothing,
    the last turn shows what is wanted. With `gaps` the answer is an object and stands for itself, so that
    nothing is begun.
    """
    *whole, (role, begun) = said or [("", "")]
    messages = [Message("user" if each == "tool" else each, text) for each, text in whole]
    notes = []
    if not role:
        messages += [Message("", begun)] if begun else []
        begun = ""
    elif role != "assistant":
        notes.append(f"Now write the {role}'s next message in full, and nothing else.")
    if gaps is not None:
        notes.append(gaps.shown(begun))
        begun = ""
    if begun and not (continues and role == "assistant"):
        notes.append(
            "Your answer is put behind this text, which stands there already. Write only what follows it:\n"
            + begun
        )
        begun = ""
    if projection.enforced is None and projection.shown and (role or not continues):
        notes.append(f"Write nothing but {projection.shown}")
    _note(messages, notes)
    return Turns(tuple(messages), begun)


def _note(messages: list[Message], notes: list[str]) -> None:
    """Put notes at the end of the last turn of the user; in one of their own behind others."""
    if not notes:
        return
    text = "\n\n".join(notes)
    if messages and messages[-1].role in ("user", ""):
        last = messages.pop()
        messages.append(Message(last.role, f"{last.text}\n\n{text}"))
    else:
        messages.append(Message("user", text))
