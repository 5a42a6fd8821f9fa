"""What `sgl.toml` says in place of options that a command line does not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from sglc.commands.shared.invocation import Invocation, fail
from sglc.project.file import Project, project_of
from sglc.types.model_use import MAIN

if TYPE_CHECKING:
    from sglc.bytecode.code import Program
    from sglc.commands.running.run_options import Models
    from sglc.runtime.engine.core.options import EngineOptions

T = TypeVar("T")


def project_for(invocation: Invocation, program: Path, *, as_json: bool = False) -> Project:
    """The project of a program. What is wrong with its file ends the command."""
    project, faults = project_of(program)
    if faults:
        raise fail(invocation, *faults, as_json=as_json)
    return project


def is_given(name: str) -> bool:
    """Whether the command line, or a variable of the environment, has an option; else it has its default."""
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP)


def setting(values: Mapping[str, Any], name: str, current: T) -> T:
    """The value of an option: that of the command line, else that of the project, else its default."""
    found: T = values.get(name, current)
    return current if is_given(name) else found


def engine_of(project: Project, engine: EngineOptions) -> EngineOptions:
    """The options of an engine, those of the project where the command line has none."""
    known = {each.name for each in fields(engine)}
    given = {name: value for name, value in project.engine.items() if name in known and not is_given(name)}
    return replace(engine, **given)


def models_of(project: Project, models: Models, program: Program) -> tuple[str | None, dict[str, str]]:
    """The run's own model, None where none is said, and those that the program names. Of the project's models
    only these count; a name of the command line wins."""
    wanted = {name: model for name, model in project.models.items() if name in program.models}
    return models.own or project.models.get(MAIN), {**wanted, **models.named}
