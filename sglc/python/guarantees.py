"""What modules say of the guarantees of models elsewhere: what is required when they are loaded, and what is
logged at the first call of a function."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sglc.diagnostics.render import render
from sglc.python.errors import CompileError

if TYPE_CHECKING:
    from sglc.bytecode.code import Code, Program
    from sglc.project.file import Project
    from sglc.runtime.backends.filling.guarantees import Guarantees
    from sglc.runtime.backends.filling.remote_model import RemoteModel
    from sglc.runtime.engine.base import Engine

LOGGER = logging.getLogger("sglc")
"""Unless the user sets it otherwise, Python writes its warnings to stderr."""


def require_levels(
    program: Program,
    models: Mapping[str, str | Engine | RemoteModel],
    project: Project,
    required: str,
) -> None:
    """Raise CompileError where less is guaranteed of a hole of a program than is required. No model is opened
    for it, and no key is read. `models` are those of the program by its names for them. Raises ValueError
    for what is no level, and for a name that is none."""
    from sglc.runtime.backends.filling.opening import candidates_of
    from sglc.runtime.backends.filling.remote_model import RemoteModel
    from sglc.runtime.errors import ArgumentError
    from sglc.targets.projection.core.candidate import Candidate
    from sglc.targets.projection.core.capabilities import LEVELS
    from sglc.targets.projection.level_findings import shortfalls
    from sglc.targets.projection.levels import levels_of
    from sglc.targets.projection.refusals import RunOptions

    level = next((each for each in LEVELS[:-1] if each == required), None)
    if level is None:
        raise ValueError(f"`require` is one of {', '.join(LEVELS[:-1])}, not {required!r}")

    def candidates(model: str | Engine | RemoteModel) -> list[Candidate]:
        if isinstance(model, str):
            return candidates_of(model, tuple(project.settings.values()))
        if isinstance(model, RemoteModel):
            return [Candidate(model.name, model.backend.capabilities)]
        return [Candidate(model.model.name)]

    try:
        able = {name: candidates(each) for name, each in models.items()}
    except ArgumentError as problem:
        raise ValueError(render(problem.diagnostic())) from None
    options = RunOptions(local=project.run.get("decode") == "local")
    if found := shortfalls(levels_of(program, able, options=options), level):
        raise CompileError(found)


def log_levels(guarantees: Guarantees, code: Code, options: Mapping[str, object]) -> None:
    """Log a warning where less than the values of its types is guaranteed of a function's holes."""
    from sglc.targets.projection.level_findings import summary

    local, unscored = options.get("decode") == "local", options.get("select") == "choose"
    if LOGGER.isEnabledFor(logging.WARNING):
        line = summary(guarantees.levels(code, local=local, unscored=unscored))
        if line:
            LOGGER.warning("%s: %s", code.name, line)
