"""The models that `sglc test` asks: only with `--record`, `--replay` or `--cache-answers`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglc.commands.running.run_options import DEFAULT_MODEL, Models
from sglc.commands.shared.invocation import Invocation, fail

if TYPE_CHECKING:
    from sglc.bytecode.code import Program
    from sglc.runtime.backends.filling.loaded import LoadedModels
    from sglc.runtime.backends.recording.options import AnswerOptions


def check_use(models: Models, answers: AnswerOptions, files: int) -> None:
    """Raise UsageError where options do not go together."""
    if not answers.wanted and (models.own is not None or models.named):
        raise click.UsageError(
            "tests ask no model but with --record, --replay or --cache-answers: mocks answer their holes"
        )
    if answers.wanted and files != 1:
        raise click.UsageError("--record, --replay and --cache-answers are of the tests of one program")


@contextmanager
def asked_models(
    invocation: Invocation, path: Path, program: Program, models: Models, answers: AnswerOptions
) -> Iterator[LoadedModels | None]:
    """The models that fill holes which no mock answers; None where tests ask none. One that cannot be had
    ends the command."""
    if not answers.wanted:
        yield None
        return
    from sglc.commands.running.loading import load_models
    from sglc.commands.running.settings import engine_of, models_of, project_for
    from sglc.runtime.backends.filling.loaded import LoadedModels
    from sglc.runtime.backends.filling.opening import wired
    from sglc.runtime.engine.core.options import EngineOptions
    from sglc.runtime.errors import ArgumentError
    from sglc.runtime.served_models import check_names, check_unknown
    from sglc.types.model_use import MAIN

    project = project_for(invocation, path)
    own, named = models_of(project, models, program)
    names = {MAIN: own or DEFAULT_MODEL, **named}
    known = tuple(project.settings.values())
    loaded = LoadedModels()
    try:
        check_names(program, named)
        check_unknown(program, named)
        wiring = wired(answers, names.values(), known)
        engine = engine_of(project, EngineOptions())
        load_models(invocation, names, known, engine, wiring, loaded)
        yield loaded
    except ArgumentError as problem:
        raise fail(invocation, problem.diagnostic()) from None
    finally:
        loaded.close()
