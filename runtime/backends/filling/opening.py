"""Models elsewhere by their names, under the policies that a project has for them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from sglc.project.models import ModelSettings
from sglc.project.models import is_elsewhere as reads_as_elsewhere
from sglc.runtime.backends.exchange import Backend
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.targets.projection.core.candidate import Candidate

if TYPE_CHECKING:
    from sglc.runtime.backends.recording.options import AnswerOptions
    from sglc.runtime.backends.recording.wiring import Wiring
    from sglc.runtime.engine.base import Engine
    from sglc.targets.projection.core.capabilities import Capabilities


def is_elsewhere(model: str) -> bool:
    """Whether a name as `--model` has it is that of a model elsewhere: `openai:gpt-x`, `vllm:http://…`. A
    file or folder of that name comes first."""
    return reads_as_elsewhere(model) and not Path(model).exists()


def settings_for(model: str, known: Iterable[ModelSettings]) -> ModelSettings:
    """What a project says of a model, by its name; nothing but the name where it says nothing."""
    return next((each for each in known if each.use == model), ModelSettings(model))


def open_backend(model: str, settings: ModelSettings) -> Backend:
    """The backend of one name, with keys from the environment. It asks nothing yet. Raises ArgumentError."""
    from sglc.runtime.backends import registry
    from sglc.runtime.backends.policy.configured import backend_settings_of

    return registry.open_backend(model, backend_settings_of(settings, model), os.environ)


@dataclass(frozen=True, slots=True)
class Link:
    """A part of a chain of fallbacks: one model of this machine, or those elsewhere that stand side by side
    and are asked as one. `followed` says that another link stands behind it."""

    models: tuple[ModelSettings, ...]
    elsewhere: bool
    followed: bool

    @property
    def name(self) -> str:
        """The first model, as `--model` has it."""
        return self.models[0].use


def links_of(model: str, known: Iterable[ModelSettings] = ()) -> list[Link]:
    """The chain of a model: the model itself and its fallbacks, as `known` models of a project have them. A
    model that it has twice is asked once."""
    known = tuple(known)
    names = dict.fromkeys((model, *settings_for(model, known).fallback))
    groups = [
        (away, tuple(settings_for(name, known) for name in group))
        for away, group in groupby(names, key=is_elsewhere)
    ]
    return [Link(group, away, place < len(groups)) for place, (away, group) in enumerate(groups, 1)]


def candidates_of(model: str, known: Iterable[ModelSettings] = ()) -> list[Candidate]:
    """What a model and its fallbacks can do, by their names and what a project says of them. Nothing is asked
    of them, no key is read. Raises ArgumentError for a name that is none."""
    from sglc.runtime.backends.policy.configured import backend_settings_of
    from sglc.runtime.backends.policy.weakest import weakest
    from sglc.runtime.backends.registry import capabilities_of

    def able(settings: ModelSettings) -> Capabilities:
        return capabilities_of(settings.use, backend_settings_of(settings, settings.use))

    return [
        Candidate(link.name, weakest([*map(able, link.models)]) if link.elsewhere else None)
        for link in links_of(model, known)
    ]


def opened(link: Link, wiring: Wiring | None = None) -> RemoteModel:
    """The models elsewhere of a link, for a session, each under the policies of its settings; `wiring`
    records or replays what they are asked, or keeps answers. Raises ArgumentError."""
    from sglc.runtime.backends.policy.accounts import Accounts
    from sglc.runtime.backends.policy.clock import LoopClock
    from sglc.runtime.backends.policy.configured import policy_of
    from sglc.runtime.backends.policy.guarded import guarded

    accounts = Accounts()
    policies = [policy_of(each) for each in link.models]
    opener, clock = (open_backend, LoopClock()) if wiring is None else (wiring.open_backend, wiring.clock)
    if wiring is not None:
        policies = [wiring.policy(each) for each in policies]
    backends = [opener(each.use, each) for each in link.models]
    asked = guarded(backends, policies[0], clock, accounts, policies=policies, followed=link.followed)
    if wiring is not None:
        asked = wiring.around(asked, accounts)
    first = link.models[0]
    return RemoteModel(asked, accounts, first.at_once, first.complete)


def wired(
    options: AnswerOptions, models: Iterable[str], known: Iterable[ModelSettings] = ()
) -> Wiring | None:
    """What records, replays or keeps answers of the models elsewhere among `models`, with their fallbacks;
    None where nothing of that is asked for. Raises ArgumentError (E0736, E0737)."""
    if not options.wanted:
        return None
    from sglc.runtime.backends.recording.wiring import Wiring

    links = (link for model in models for link in links_of(model, tuple(known)) if link.elsewhere)
    return Wiring(options, os.environ, dict.fromkeys(each.use for link in links for each in link.models))


def is_local(model: Engine | RemoteModel | None) -> TypeGuard[Engine]:
    """Whether there is an engine of this process."""
    return model is not None and not isinstance(model, RemoteModel)
