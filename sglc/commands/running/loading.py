"""The models of a run: loaded or opened by their names, and what is told of what they guarantee."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from sglc.commands.shared.invocation import Invocation, fail, fault
from sglc.commands.shared.progress import progress_bar
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.runtime.backends.filling.loaded import LoadedModels
from sglc.runtime.backends.filling.opening import links_of, opened
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.load import load_engine
from sglc.runtime.model.weights.errors import ModelError

if TYPE_CHECKING:
    from sglc.commands.running.execution import Call
    from sglc.project.models import ModelSettings
    from sglc.runtime.backends.recording.wiring import Wiring
    from sglc.runtime.engine.core.options import EngineOptions
    from sglc.runtime.session import Session


def load_models(
    invocation: Invocation,
    names: Mapping[str, str],
    known: Sequence[ModelSettings],
    engine: EngineOptions,
    wiring: Wiring | None,
    models: LoadedModels,
    *,
    as_json: bool = False,
    made: dict[object, Engine | RemoteModel] | None = None,
) -> None:
    """Load or open models into `models`, each once; `made` are those that are there already.

    `names` are those of `--model`, by the names that the program has for them; `known` are the models of a
    project. One that cannot be had ends the command. Raises ArgumentError.
    """
    made = {} if made is None else made
    for name, path in names.items():
        for link in links_of(path, known):
            key = (tuple(each.use for each in link.models), link.followed and link.elsewhere)
            if key not in made:
                invocation.stage = f"loading the model {link.name}"
                made[key] = (
                    opened(link, wiring)
                    if link.elsewhere
                    else _engine(invocation, link.name, engine, as_json)
                )
            models.chains[name] = (*models.chains.get(name, ()), made[key])


def _engine(invocation: Invocation, model: str, options: EngineOptions, as_json: bool) -> Engine:
    try:
        with progress_bar(sys.stderr, f"preparing {model}") as progress:
            return load_engine(model, progress=progress, **options.keywords())
    except ModelError as problem:
        raise fail(invocation, model_fault(problem), as_json=as_json) from None


def model_fault(problem: ModelError) -> Diagnostic:
    """A model that cannot be had, as a diagnostic."""
    return fault("E0807", f"{problem.what}: {problem.where}", reason=problem.why, hint=problem.hint)


def tell_levels(invocation: Invocation, call: Call, session: Session) -> None:
    """Say what the models of a run guarantee of its holes, where some are elsewhere: all of it with
    `--verbose`, else a line about what is below `value`. Less than is required, and a hole that cannot be
    filled at all, end the command before anything is asked."""
    guarantees = session.guarantees
    if guarantees is None:
        return
    from sglc.commands.shared.levels import shown
    from sglc.targets.projection.level_findings import refusals, shortfalls, summary

    options: Mapping[str, bool] = {
        "local": call.decode == "local",
        "unscored": call.select == "choose",
    }
    levels = guarantees.levels(call.code, **options)
    found = [] if call.levels.required is None else shortfalls(levels, call.levels.required)
    found = found or refusals(guarantees.refused(call.code, **options))
    if call.levels.verbose:
        click.echo(shown(levels), nl=False, err=True)
    if found:
        raise fail(invocation, *found, as_json=call.levels.as_json)
    plain = not call.levels.verbose and call.observation.stats != "json"  # what stands alone on stderr
    if plain and (line := summary(levels)):
        click.echo(f"{line}. --verbose shows all", err=True)
