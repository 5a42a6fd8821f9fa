"""What was said in a conversation, as text that any model reads: another conversation can begin with it.

Prompts that are typed one after the other make one conversation so. Its tokens are those that the whole text
has, so keys and values that the engine holds of them are found again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sglc.runtime.decoding.conversations.conversation import Conversation


@dataclass(frozen=True, slots=True)
class Said:
    """`messages` are role and text of each; the role of text outside of messages is empty. `is_open` says
    that what follows goes on with the last one, `glued` that it does so on the same line."""

    messages: tuple[tuple[str, str], ...] = ()
    is_open: bool = False
    glued: bool = False


def resume(conversation: Conversation, said: Said) -> None:
    """Begin an empty conversation with what was said. Raises SglError for roles that the model refuses."""
    for role, text in said.messages:
        if role:
            conversation.role(role)
        if text:
            conversation.text(text)
        if role:
            conversation.end_role()
    state = conversation.state
    conversation.state = replace(state, is_open=said.is_open and bool(state.roles), glued=said.glued)


def said_in(conversation: Conversation) -> Said:
    """What was said until now."""
    state = conversation.state
    return Said(state.messages, state.is_open, state.glued)
