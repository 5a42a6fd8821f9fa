"""Looks at what an input would do: the conversation that a model sees, its plan, the mask of a hole."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from sglc.commands.shared.invocation import Invocation, fail
from sglc.repl.compiling import Compiled, Unsound
from sglc.repl.session import ReplSession

if TYPE_CHECKING:
    from sglc.runtime.tokenizer import Tokenizer


def preview_text(invocation: Invocation, session: ReplSession, text: str, *, color: bool) -> str | Unsound:
    """The conversation so far as the session's model reads it, with what an input would write behind it."""
    from sglc.commands.prompting.drawing import Drawing
    from sglc.runtime.decoding.conversations.conversation import Conversation, PlainChat
    from sglc.runtime.decoding.conversations.encoder import Encoder
    from sglc.runtime.decoding.conversations.said import resume
    from sglc.runtime.errors import SglError, diagnostic_of
    from sglc.runtime.preview import preview
    from sglc.runtime.vm.preview.record import RecordedConversation

    made = session.compiled(text) if text else None
    if isinstance(made, Unsound):
        return made
    tokenizer = _tokenizer(invocation, session)
    if made is None:
        encoder = None if tokenizer is None else Encoder(tokenizer)
        conversation = Conversation(
            encoder=encoder, chat=PlainChat() if tokenizer is None else tokenizer.chat
        )
        program, _ = session.program()
        try:
            resume(conversation, session.state.said)
        except SglError as error:
            raise fail(invocation, diagnostic_of(error, program)) from None
        if not conversation.rendered():
            return "nothing was said yet"
        recorded = RecordedConversation(conversation, ("session",), "", None)
        return Drawing(program, tokenizer, color=color).text(recorded)
    shown = asyncio.run(preview(made.program, made.name, made.arguments, tokenizer=tokenizer, said=made.said))
    drawing = Drawing(made.program, tokenizer, color=color)
    parts = [drawing.text(each) for each in shown.conversations]
    if shown.error is not None:
        from sglc.diagnostics.render import render

        found = made.composed.told(diagnostic_of(shown.error, made.program), made.source)
        parts.append(render(found, color=color))
    return "\n\n".join(parts) or "it writes nothing into a conversation"


def plan_text(invocation: Invocation, session: ReplSession, text: str, *, color: bool) -> str | Unsound:
    """What an input costs before it runs, with the functions that it calls."""
    from sglc.plan.collect import plan_program
    from sglc.plan.text import Picture

    made = session.compiled(text)
    if isinstance(made, Unsound):
        return made
    if made.code.kind == "pure":
        return "it asks no model"
    tokenizer = _tokenizer(invocation, session)
    model = "" if tokenizer is None else session.models.name
    plan = plan_program(made.program, [made.name], model=model, tokenizer=tokenizer, callees=True)
    return Picture(plan, None, color).text()


def mask_text(invocation: Invocation, session: ReplSession, asking: str, hole: str, text: str) -> str:
    """What a hole of the session, or of the input `asking`, allows behind a text."""
    from sglc.commands.explain_mask import described

    made = session.compiled(asking) if asking else None
    program = made.program if isinstance(made, Compiled) else session.program()[0]
    tokenizer = _tokenizer(invocation, session)
    vocabulary = None if tokenizer is None else tokenizer.vocabulary()
    return described(invocation, program, Path("the session"), hole, text, vocabulary)


def _tokenizer(invocation: Invocation, session: ReplSession) -> Tokenizer | None:
    """The tokenizer of the session's model; None for a model elsewhere. Weights are not read."""
    from sglc.commands.building.masks import read_tokenizer
    from sglc.project.models import is_elsewhere

    name = session.models.name
    return None if is_elsewhere(name) else read_tokenizer(invocation, name)
