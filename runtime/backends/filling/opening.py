"""Models elsewhere by their names, under the policies that a project has for them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from sglc.project.models import ModelSettings
from sglc.project.models import is_elsewhere as reads_as_elsewhere
from sglc.runtime.backends.exchange import Backend
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.errors import ArgumentError

if TYPE_CHECKING:
    from sglc.runtime.backends.recording.options import AnswerOptions
    from sglc.runtime.backends.recording.wiring import Wiring
    from sglc.runtime.engine.base import Engine


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


def opened(model: str, known: Iterable[ModelSettings] = (), wiring: Wiring | None = None) -> RemoteModel:
    """The model of a name with its fallbacks, for a session. `known` are the models of a project, which say
    under what policies each is asked; `wiring` records or replays what they are asked, or keeps answers.
    Raises ArgumentError."""
    from sglc.runtime.backends.policy.accounts import Accounts
    from sglc.runtime.backends.policy.clock import LoopClock
    from sglc.runtime.backends.policy.configured import policy_of
    from sglc.runtime.backends.policy.guarded import guarded

    known = tuple(known)
    settings = settings_for(model, known)
    chain = [settings, *(settings_for(name, known) for name in settings.fallback)]
    for each in chain[1:]:
        if not is_elsewhere(each.use):
            raise ArgumentError(
                "E0735",
                f"`{each.use}` cannot stand behind `{model}` as a fallback",
                reason="it is a model of this machine, which fills holes in another way",
                hint="write `using main or local` in the program, and give both models",
            )
    accounts = Accounts()
    policies = [policy_of(each) for each in chain]
    if wiring is None:
        backends = [open_backend(each.use, each) for each in chain]
        asked = guarded(backends, policies[0], LoopClock(), accounts, policies=policies)
    else:
        backends = [wiring.open_backend(each.use, each) for each in chain]
        policies = [wiring.policy(each) for each in policies]
        asked = guarded(backends, policies[0], wiring.clock, accounts, policies=policies)
        asked = wiring.around(asked, accounts)
    return RemoteModel(asked, accounts, settings.at_once)


def wired(
    options: AnswerOptions, models: Iterable[str], known: Iterable[ModelSettings] = ()
) -> Wiring | None:
    """What records, replays or keeps answers of the models elsewhere among `models`, with their fallbacks;
    None where nothing of that is asked for. Raises ArgumentError (E0736, E0737)."""
    if not options.wanted:
        return None
    from sglc.runtime.backends.recording.wiring import Wiring

    known = tuple(known)
    asked = [model for model in models if is_elsewhere(model)]
    chain = dict.fromkeys(each for model in asked for each in (model, *settings_for(model, known).fallback))
    return Wiring(options, os.environ, chain)


def is_local(model: Engine | RemoteModel | None) -> TypeGuard[Engine]:
    """Whether there is an engine of this process."""
    return model is not None and not isinstance(model, RemoteModel)
