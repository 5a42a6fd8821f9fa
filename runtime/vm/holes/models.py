"""Who fills a hole: one model or two together, each with the conversation as it reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from sglc.runtime.decoding.blend import Shares
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.conversation_pair import ConversationPair
from sglc.runtime.decoding.conversations.views import view_of
from sglc.runtime.decoding.filling.filler import Filler
from sglc.runtime.decoding.filling.local import LocalFiller
from sglc.runtime.decoding.requests import RemoteWork
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.models import RunModel
from sglc.runtime.vm.state.run import Run
from sglc.types.model_use import MAIN_USE, MAIN_VIEW, ModelUse, ModelView


@dataclass(frozen=True, slots=True)
class Asked:
    """A model, who fills the hole, and the conversation as they read it. Of two models: the first one, with
    the room that both have and without drafts, whose worth is measured for one; and both conversations.

    `itself` says that the conversation is the one of the program, so that what is written there stays.
    """

    model: RunModel
    filler: Filler
    conversation: Conversation | ConversationPair
    itself: bool


def asked(run: Run, conversation: Conversation, use: ModelUse | None) -> Asked:
    """What is to fill a hole behind a conversation as it is now. Raises SglError where the conversation
    cannot be had in a model's form, or has no text that is to be left out."""
    use = use or MAIN_USE
    model = run.models[use.base.name]
    base = viewed(run, conversation, use.base)
    if use.teacher is None:
        return Asked(model, filler_of(model), base, base is conversation)
    teacher = viewed(run, conversation, use.teacher)
    first, second = filler_of(model), filler_of(run.models[use.teacher.name])
    assert isinstance(first, LocalFiller) and isinstance(second, LocalFiller)
    # The teacher's window holds what it reads before, which may be longer; what comes is the same for both.
    window = second.context_length - len(teacher.tokens()) + len(base.tokens())
    together = replace(first, drafting=None, context_length=min(first.context_length, window))
    return Asked(model, together, ConversationPair(base, teacher), conversation in (base, teacher))


def filler_of(model: RunModel) -> Filler:
    """Who fills holes for a model that can be asked."""
    assert model.filler is not None
    return model.filler


def viewed(run: Run, conversation: Conversation, view: ModelView) -> Conversation:
    """A conversation as one model reads it; the run's own model reads it as it is."""
    if view == MAIN_VIEW:
        return conversation
    return view_of(conversation, view, run.models[view.name].conversation, view.without)


def model_shown(use: ModelUse | None) -> dict[str, object]:
    """What events say of the model of a hole, where it is not the run's."""
    return {} if use is None else {"model": use.shown()}


def shares_shown(shares: Shares | None) -> dict[str, object]:
    """What events say of how two models shared a hole's tokens."""
    if shares is None:
        return {}
    return share_figures(
        {"alpha": shares.alpha, "chernoff": shares.chernoff, "ess": shares.ess, "held": shares.held}
    )


def remote_shown(work: RemoteWork | None) -> dict[str, object]:
    """What events say of a model elsewhere that filled a hole."""
    return {} if work is None else work.shown()


def share_figures(figures: Mapping[str, float]) -> dict[str, object]:
    """Figures as events tell them; what was not measured (NaN) is left out."""
    return {name: round(value, 4) for name, value in figures.items() if value == value}


async def warm(run: Run, conversation: Conversation, uses: Iterable[ModelUse | None]) -> None:
    """Have the models that are about to fill holes in copies of a conversation read it first, and its digest.

    A text that is to be left out may come in the copies only: then there is nothing to read yet.
    """
    conversation.digest()
    views = {view: None for use in uses for view in (use or MAIN_USE).views}
    for view in views or {MAIN_VIEW: None}:
        if view.name not in run.models:
            continue  # of a chain, one that the run does not have
        if not run.model.can_be_asked:
            return
        seen = None
        with suppress(SglError):
            seen = viewed(run, conversation, view)
        if seen is not None:
            await run.warm(seen)
