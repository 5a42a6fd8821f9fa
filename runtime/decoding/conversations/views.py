"""A conversation as another model reads it, and without a text that a model is not to see.

A conversation is text. Each model that fills a hole in it has a *view*: a conversation of its own with the
same messages, in its own chat template and its own tokens. A view is brought up to date when a hole needs it,
and keeps its branch between holes, so that only what is new is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from sglc.runtime.decoding.conversations.conversation import Conversation, Transcript
from sglc.runtime.errors import SglError

Messages = tuple[tuple[str, str], ...]
SHOWN = 60
"""Most characters of a text that is left out which a message shows."""


def view_of(
    conversation: Conversation, key: Hashable, make: Callable[[], Conversation], without: str = ""
) -> Conversation:
    """The view of a conversation under a key, with its text as it is now; `make` gives an empty one.

    `without` is left out wherever it stands in a message. Raises Failure where it stands in none, and what
    writing a message raises.
    """
    messages = conversation.state.messages
    if without:
        messages = _left_out(messages, without)
    view = conversation.views.get(key)
    if view is None:
        view = conversation.views[key] = make()
        if conversation.tools:
            view.offer(conversation.tools)
    hold(view, messages)
    return view


def hold(view: Conversation, messages: Messages) -> None:
    """Make these messages the whole text of a conversation. What it has of them already stays as it is."""
    state = view.state
    known = len(state.said)
    role = state.roles[-1] if state.roles else ""
    if messages[:known] != state.said or len(messages) == known or messages[known][0] != role:
        view.state, known, role = Transcript(), 0, ""
    if messages and known < len(messages) and messages[known][0] == role:
        state, text = view.state, messages[known][1]
        view.state = Transcript(
            state.closed, state.stretch[: state.content], state.content, state.roles, state.said, bool(role)
        )
        view.text(text)
        known += 1
    for role, text in messages[known:]:
        view.role(role)
        view.text(text)


def _left_out(messages: Messages, text: str) -> Messages:
    if not any(text in said for _, said in messages):
        shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
        raise SglError(
            "Failure",
            f"the conversation has no text {shown!r} to leave out",
            hint="`without` takes a text as it stands in one message, blanks and line breaks included",
        )
    return tuple((role, said.replace(text, "")) for role, said in messages)
