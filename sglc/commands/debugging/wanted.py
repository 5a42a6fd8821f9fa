"""What is to be debugged, from the command line or from an editor, and the call that it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sglc.commands.running.run_options import DEFAULT_MODEL, LevelOptions, Models, Observation
from sglc.commands.shared.invocation import Invocation, fail, fault
from sglc.runtime.backends.recording.options import AnswerOptions
from sglc.runtime.engine.core.options import EngineOptions

if TYPE_CHECKING:
    from sglc.bytecode.code import Code, Program
    from sglc.commands.running.execution import Call
    from sglc.diagnostics.diagnostic import Diagnostic
    from sglc.targets.projection.core.capabilities import Level
    from sglc.types.values import Value


MOST_TITLES = 20
"""Most tests that a message names."""


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
    test: str | None = None
    """The title of a `test` block that is debugged in place of a function, or words of it."""


@dataclass(frozen=True, slots=True)
class Debuggee:
    """A program, its function, the call, and its typed arguments."""

    path: Path
    program: Program
    code: Code
    call: Call
    bound: Mapping[str, Value]
    models: Models
    """The models as they were named."""


def debuggee(invocation: Invocation, wanted: Wanted, *, settings: bool = True) -> Debuggee:
    """Compile a program and make the call of it. Raises CommandFailed, where all that is wrong was shown, and
    UsageError for a test with models that it does not ask.

    With `settings` the `sgl.toml` of the program says what the command line does not.
    """
    from sglc.commands.running.arguments import bind, choose_function, read_file, read_pairs
    from sglc.commands.running.execution import Call
    from sglc.commands.running.settings import engine_of, models_of, project_for, setting
    from sglc.commands.shared.programs import load_program
    from sglc.externs.modules import access_for
    from sglc.runtime.mask.artifact.places import program_masks

    if wanted.test is not None:
        from sglc.commands.testing.asked_models import check_use

        check_use(wanted.models, wanted.answers, 1)
    program = load_program(invocation, wanted.file)
    invocation.stage = "reading the arguments"
    chosen = choose_function(program, wanted.function) if wanted.test is None else None
    code, problems = choose_test(program, wanted.test or "") if chosen is None else chosen
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
    return Debuggee(wanted.file, program, code, call, bound, wanted.models)


def choose_test(program: Program, words: str) -> tuple[Code | None, list[Diagnostic]]:
    """The test of that title, else the only one whose title contains the words, in any case of letters."""
    from sglc.diagnostics.suggest import nearest

    tests = [code for code in program.codes if code.kind == "test"]
    found = [code for code in tests if code.name == words]
    found = found or [code for code in tests if words.casefold() in code.name.casefold()]
    if len(found) == 1:
        return found[0], []
    titles = [code.name for code in found or tests]
    listed = "\n".join(f"  {title}" for title in titles[:MOST_TITLES])
    if found:
        said = f'several tests of {program.name} have "{words}" in their title'
        return None, [fault("E0809", said, reason=f"they are\n{listed}", hint="name one by its whole title")]
    close = nearest(words, titles)
    hint = f'did you mean "{close}"?' if close else ""
    reason = f"its tests are\n{listed}" if titles else "it has no tests"
    said = f'{program.name} has no test with "{words}" in its title'
    return None, [fault("E0809", said, reason=reason, hint=hint)]
