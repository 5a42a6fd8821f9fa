"""From a conversation to what a backend is sent: messages, what is begun, what the answer has to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sglc.runtime.backends.exchange import Message
from sglc.runtime.backends.filling.together import Gaps
from sglc.targets.projection.core.enforcement import Projection

WORDS = 12
"""Legal continuations that a wrong answer is told of: as many as one reads at a glance."""
SHOWN = 200
"""Most characters of the legal beginning that it is told of: its end, where the fault is."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """An answer that was not accepted, and why."""

    answer: str
    reason: str


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
    wrong: Sequence[Wrong] = (),
    gaps: Gaps | None = None,
) -> Turns:
    """The turns that ask for a hole behind what was said, the open message last.

    A backend that does not continue messages is told what stands there already. Where it enforces nothing,
    the last turn shows what is wanted. Wrong answers stand behind, each with its reason. With `gaps` the
    answer is an object and stands for itself, so that nothing is begun.
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
    for each in wrong:
        messages.append(Message("assistant", begun + each.answer))
        messages.append(Message("user", f"That is not accepted: {each.reason}\nAnswer again, in full."))
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


def fault_of(legal: str, words: Sequence[bytes], may_end: bool) -> str:
    """What is wrong with an answer of which `legal` is the longest legal beginning."""
    begun = legal if len(legal) <= SHOWN else "…" + legal[-SHOWN:]
    place = f"behind {begun!r}" if legal else "at its beginning"
    options = [repr(word.decode("utf-8", "replace")) for word in words[:WORDS]]
    options += ["nothing more"] if may_end else []
    return f"{place} may stand {', '.join(options)}" if options else f"{place} nothing else may stand"
