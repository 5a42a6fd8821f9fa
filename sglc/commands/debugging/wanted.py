"""What is to be debugged, from the command line or from an editor, and the call that it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sglc.commands.running.run_options import DEFAULT_MODEL, LevelOptions, Models, Observation
from sglc.commands.shared.invocation import Invocation, fail
from sglc.runtime.backends.recording.options import AnswerOptions
from sglc.runtime.engine.core.options import EngineOptions

if TYPE_CHECKING:
    from sglc.bytecode.code import Code, Program
    from sglc.commands.running.execution import Call
    from sglc.targets.projection.core.capabilities import Level
    from sglc.types.values import Value


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be debugged. `pairs` and `arguments` are those of `sglc run`; `data` are arguments by name,
    which win over those of the file."""

    file: Path
    function: str | None = None
    pairs: tuple[str, ...] = ()
    arguments: Path | None = None
    models: Models = field(default_factory=lambda: Models(None, {}))
    seed: int = 0
    max_tokens: int | None = None
    decode: Literal["local"] | None = None
    required: Level | None = None
    engine: EngineOptions = field(default_factory=EngineOptions)
    answers: AnswerOptions = field(default_factory=AnswerOptions)
    data: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Debuggee:
    """A program, its function, the call, and its typed arguments."""

    path: Path
    program: Program
    code: Code
    call: Call
    bound: Mapping[str, Value]


def debuggee(invocation: Invocation, wanted: Wanted, *, settings: bool = True) -> Debuggee:
    """Compile a program and make the call of it. Raises CommandFailed, where all that is wrong was shown.

    With `settings` the `sgl.toml` of the program says what the command line does not.
    """
    from sglc.commands.running.arguments import bind, choose_function, read_file, read_pairs
    from sglc.commands.running.execution import Call
    from sglc.commands.running.settings import engine_of, models_of, project_for, setting
    from sglc.commands.shared.programs import load_program
    from sglc.externs.modules import access_for
    from sglc.runtime.mask.artifact.places import program_masks

    program = load_program(invocation, wanted.file)
    invocation.stage = "reading the arguments"
    code, problems = choose_function(program, wanted.function)
    texts, found = read_pairs(wanted.pairs)
    problems += found
    values: dict[str, Value] = {}
    if wanted.arguments is not None:
        values, found = read_file(wanted.arguments)
        problems += found
    if problems or code is None:
        raise fail(invocation, *problems)
    bound, problems = bind(program, code, texts, {**values, **wanted.data})
    if problems:
        raise fail(invocation, *problems)
    project = project_for(invocation, wanted.file)
    own, named = models_of(project, wanted.models, program)
    seed, most, decode, engine = wanted.seed, wanted.max_tokens, wanted.decode, wanted.engine
    if settings:
        engine = engine_of(project, engine)
        seed, most = setting(project.run, "seed", seed), setting(project.run, "max_tokens", most)
        decode = setting(project.run, "decode", decode)
    call = Call(
        program,
        code,
        own or DEFAULT_MODEL,
        named,
        engine,
        Observation(),
        seed,
        most,
        masks=program_masks(wanted.file),
        concurrency=0,
        decode=decode,
        access=access_for(wanted.file, invocation.python),
        known=tuple(project.settings.values()),
        answers=wanted.answers,
        levels=LevelOptions(wanted.required),
    )
    return Debuggee(wanted.file, program, code, call, bound)
