"""The compiler: the stages in their order, and nothing else.

    source → check → lower → passes → emit → verify → program

Faults of the program come back as diagnostics; a fault of the compiler itself is a `CompilerFault`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sglc.advice.candidates import reaches_outside
from sglc.bytecode.code import Program
from sglc.bytecode.disasm import disassemble
from sglc.bytecode.verify import verified
from sglc.check.core.result import CheckedProgram
from sglc.check.program import Reader, check
from sglc.check.show_types import show_tokens, show_types
from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.emit.program import emit
from sglc.ir.module import Module
from sglc.ir.print import print_module
from sglc.ir.verify import verify
from sglc.library import Library, read_source
from sglc.lower.program import lower
from sglc.options import CompileOptions
from sglc.passes import pipeline
from sglc.source import Source, Span
from sglc.syntax.dump import dump
from sglc.syntax.parse import parse

if TYPE_CHECKING:
    from sglc.targets.projection.core.loss import Loss

STAGES = ("tokens", "ast", "types", "ir", "bytecode")
DEFAULT = CompileOptions()


class CompilerFault(Exception):
    """The compiler made something unsound: our bug. `stage` says where, `faults` what."""

    def __init__(self, stage: str, faults: list[str]) -> None:
        super().__init__(f"{stage}: {'; '.join(faults[:5])}")
        self.stage = stage
        self.faults = faults


@dataclass(frozen=True, slots=True)
class CompileResult:
    """`program` is None if there were errors."""

    program: Program | None
    diagnostics: list[Diagnostic] = field(default_factory=list)


def compile_source(
    source: Source,
    options: CompileOptions = DEFAULT,
    library: Library | None = None,
    observe: pipeline.Observer | None = None,
    read: Reader = parse,
) -> CompileResult:
    """One program, with the modules that it uses, from text to verified bytecode.

    `observe` is told of every pass that ran. `read` makes the tree of the main file.
    """
    module, diagnostics = lowered(source, options, library, observe, read)
    if module is None:
        return CompileResult(None, diagnostics)
    program, faults = verified(emit(module))
    if faults:
        raise CompilerFault("emit", [fault.reason for fault in faults])
    return CompileResult(program, diagnostics)


def lowered(
    source: Source,
    options: CompileOptions = DEFAULT,
    library: Library | None = None,
    observe: pipeline.Observer | None = None,
    read: Reader = parse,
) -> tuple[Module | None, list[Diagnostic]]:
    """A program as IR behind the passes, and what was found; None where there are errors."""
    if library is None:
        library = Library(allow_outside=options.allow_outside)
    checked, diagnostics = check(source, library, read)
    module, diagnostics = _lowered(checked, diagnostics)
    return (None if module is None else _optimised(module, options, observe)), diagnostics


def _lowered(
    checked: CheckedProgram | None, diagnostics: list[Diagnostic]
) -> tuple[Module | None, list[Diagnostic]]:
    """The code of a checked program before any pass, and what was found; None where there are errors."""
    if checked is None or has_errors(diagnostics):
        return None, diagnostics
    module = lower(checked)
    if not reaches_outside(checked):
        return module, diagnostics
    from sglc.advice.outside import outside
    from sglc.analysis.trust import flows

    found = outside(module, flows(module))
    return (None if found else module), [*diagnostics, *found]


def compile_file(path: str | Path, options: CompileOptions = DEFAULT) -> CompileResult:
    """`compile_source` for a file. A file that cannot be read gives a diagnostic (E0801, E0802)."""
    source, problems = read_source(path)
    return CompileResult(None, problems) if source is None else compile_source(source, options)


def compile_type(written: str, source: Source | None = None) -> tuple[Program | None, str, list[Diagnostic]]:
    """A type as it is written in a program, which may name what `source` declares.

    Gives the program with its declarations and the name of an alias of the type among them; None where the
    type, or the source, has errors.
    """
    text = "" if source is None else source.text.rstrip("\n") + "\n\n"
    name = "Asked"
    while name in text or name in written:
        name += "_"
    path = "type" if source is None else source.name
    result = compile_source(Source(path, f"{text}type {name} = {written}\n"))
    return result.program, name, result.diagnostics


def emit_stage(
    source: Source,
    stage: str,
    options: CompileOptions = DEFAULT,
    observe: pipeline.Observer | None = None,
    read: Reader = parse,
) -> tuple[str, list[Diagnostic]]:
    """The text of one stage of a program (see STAGES), and what was found until then.

    The text is empty if errors keep the program from getting that far.
    """
    if stage == "tokens":
        return show_tokens(source), []
    if stage == "ast":
        tree, diagnostics = read(source)
        return dump(tree), diagnostics
    if stage not in STAGES:
        raise ValueError(f"there is no stage {stage!r}; stages are {', '.join(STAGES)}")
    checked, diagnostics = check(source, Library(allow_outside=options.allow_outside), read)
    if checked is None:
        return "", diagnostics
    if stage == "types":
        return show_types(checked), diagnostics
    module, diagnostics = _lowered(checked, diagnostics)
    if module is None:
        return "", diagnostics
    module = _optimised(module, options, observe)
    if stage == "ir":
        return print_module(module), diagnostics
    program, faults = verified(emit(module))
    if faults:
        raise CompilerFault("emit", [fault.reason for fault in faults])
    return disassemble(program, sources=True), diagnostics


def write_target(
    source: Source, name: str, options: CompileOptions = DEFAULT, allow_wider: bool = False, hole: str = ""
) -> tuple[str, list[Diagnostic]]:
    """A program in the notation of a target (see `sglc.targets.registry`), and what was found.

    The text is empty where there are errors. What the target cannot say is an error (E0817), or, with
    `allow_wider`, a warning (W0224) where the target accepts more instead. `hole` names the hole to write,
    for targets that write one.
    """
    from sglc.targets.core.places import span_at, spans_of
    from sglc.targets.core.target import Subject
    from sglc.targets.registry import writer_of

    checked, diagnostics = check(source, Library(allow_outside=options.allow_outside))
    module, diagnostics = _lowered(checked, diagnostics)
    if checked is None or module is None:
        return "", diagnostics
    subject = Subject(checked, _optimised(module, options, None), hole)
    written = writer_of(name)(subject)
    spans = spans_of(subject) if written.losses else {}
    diagnostics = [
        *diagnostics,
        *(_told(loss, name, span_at(loss.place, spans), allow_wider) for loss in written.losses),
    ]
    return "" if has_errors(diagnostics) else written.text, diagnostics


def _told(loss: Loss, target: str, span: Span, allow_wider: bool) -> Diagnostic:
    message = f"{target} cannot say {loss.construct}, at {loss.place}"
    if allow_wider and loss.instead:
        reason = f"it has {loss.instead} instead"
        return Diagnostic("W0224", message, span, reason=reason, severity="warning")
    hint = f"--allow-wider writes {loss.instead} instead" if loss.instead else ""
    return Diagnostic("E0817", message, span, hint=hint)


def _optimised(module: Module, options: CompileOptions, observe: pipeline.Observer | None) -> Module:
    """The module after the passes of the level; with `verify`, each of them is held to what it promises."""
    if not options.verify:
        return pipeline.run(module, options.level, observe)
    _verify("lower", module)

    def verifying(step: pipeline.Step) -> None:
        if observe is not None:
            observe(step)
        _verify(step.name, step.after)

    return pipeline.run(module, options.level, verifying)


def _verify(stage: str, module: Module) -> None:
    faults = verify(module)
    if faults:
        raise CompilerFault(stage, faults)
