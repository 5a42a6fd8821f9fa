"""`sglc build`: source to one `.sglb` file, or any stage on the way as text."""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglc.commands.shared.files import write_whole
from sglc.commands.shared.invocation import (
    CommandFailed,
    Invocation,
    fail,
    level_option,
    outside_option,
    print_json,
    show,
    summary,
)
from sglc.commands.shared.sizes import size
from sglc.targets.registry import OF_HOLES, TARGETS

if TYPE_CHECKING:
    from sglc.commands.building.pass_reports import PassReports

STAGES = ("tokens", "ast", "types", "ir", "bytecode", "constraint")
WRITTEN = tuple(TARGETS)


@click.command("build")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Where to write; default FILE.sglb beside it."
)
@click.option(
    "--emit",
    type=click.Choice([*STAGES, *WRITTEN]),
    metavar="NAME",
    help=f"Print a stage ({', '.join(STAGES)}) or the program for a target ({', '.join(WRITTEN)}) instead.",
)
@click.option("--allow-wider", is_flag=True, help="Let a target accept more where it lacks words.")
@click.option(
    "--hole", default="", metavar="NAME", help="The hole that a target writes, where there are several."
)
@click.option("--model", metavar="NAME", help="Make the masks for this model too, in FILE.sglm beside it.")
@click.option(
    "--pack", "packed", is_flag=True, help="With --model: put the masks into the compiled file itself."
)
@click.option(
    "--mask-bytes", type=size, metavar="SIZE", help="With --model: most bytes of masks, such as 500K."
)
@click.option(
    "--prefill",
    "prefilled",
    is_flag=True,
    help="With --model: compute what conversations begin with, and keep its keys and values for runs.",
)
@click.option("--json", "as_json", is_flag=True, help="Say what was written as JSON.")
@level_option
@click.option(
    "--print-passes",
    "printed",
    is_flag=False,
    flag_value="all",
    default="",
    metavar="[=NAME]",
    help="Show on stderr what each pass changed; of the pass NAME, before and after.",
)
@click.option("--time-passes", "timed", is_flag=True, help="Show on stderr how long each pass took.")
@click.option("--verify-each", "verified", is_flag=True, help="Verify the intermediate code after each pass.")
@outside_option
@click.pass_obj
def command(
    invocation: Invocation,
    file: Path,
    output: Path | None,
    emit: str | None,
    allow_wider: bool,
    hole: str,
    model: str | None,
    packed: bool,
    mask_bytes: int | None,
    prefilled: bool,
    as_json: bool,
    printed: str,
    timed: bool,
    verified: bool,
) -> None:
    """Compile a program into one file, or print a stage of it.

    The file holds everything that running needs: code, types, prompts, the modules it uses. It has a
    version and a checksum, and the same source always gives the same bytes.

    With --model the constraints of its holes are expanded for the model's vocabulary, so that runs on this
    model start with masks at hand. Only the model's tokenizer is read.

    \b
    Examples:
      sglc build examples/character.sgl                 writes examples/character.sglb
      sglc build examples/character.sgl -o crew.sglb
      sglc build examples/triage.sgl --model smollm2    masks too, in examples/triage.sglm
      sglc build examples/triage.sgl --model smollm2 --pack --prefill
      sglc build examples/character.sgl --emit ir       prints the intermediate code
      sglc build examples/character.sgl --emit ir -O0   … as it is before any pass
      sglc build examples/character.sgl --print-passes=fold
      sglc build examples/orders.sgl --emit constraint  prints what each hole may be filled with
      sglc build examples/orders.sgl --emit json-schema prints its types for other programs
    """
    from sglc.commands.shared.programs import ARTEFACT

    if file.suffix == ARTEFACT:
        read = "" if emit is None else f", and --emit {emit} reads a source"
        raise click.UsageError(f"{file} is compiled already{read}; `sglc disasm {file}` shows what is in it")
    invocation.options = replace(invocation.options, verify=verified)
    reports = _reports(printed, timed, invocation.options.level)
    asked = {"--pack": packed, "--mask-bytes": mask_bytes is not None, "--prefill": prefilled}
    if model is None and any(asked.values()):
        option = next(name for name, given in asked.items() if given)
        raise click.UsageError(f"{option} goes with --model: it is about what is made for a model")
    _refuse_beside(emit, model, allow_wider, hole, as_json)
    if emit is not None:
        _emit(invocation, file, output, emit, reports, allow_wider, hole)
        return
    from sglc.commands.shared.programs import build_path

    invocation.stage = f"compiling {file}"
    built, diagnostics = build_path(file, invocation.options, reports, runs=model is not None)
    if reports is not None:
        reports.finish()
    if built is None:
        if as_json:
            raise fail(invocation, *diagnostics, as_json=True)
        show(invocation, diagnostics)
        click.echo(summary(diagnostics), err=True)
        raise CommandFailed(1)
    tokenizer = None
    if model is not None and built.program is not None:
        from sglc.commands.building.dead_ends import dead_ends
        from sglc.commands.building.masks import read_tokenizer

        tokenizer = read_tokenizer(invocation, model)
        diagnostics = [*diagnostics, *dead_ends(built.program, tokenizer.vocabulary(), model)]
    if not as_json:
        show(invocation, diagnostics)
    data, functions = built.data, built.functions
    target = output or file.with_suffix(ARTEFACT)
    masks = None
    place = target
    written = data
    if tokenizer is not None and built.program is not None:
        from sglc.commands.building.masks import build_masks, pack_beside, packed_before

        masks = build_masks(invocation, built.program, tokenizer, mask_bytes)
        place = target if packed else pack_beside(target)
        content = masks.pack(packed_before(place))
        if packed:
            written = data + content
        else:
            write_whole(invocation, place, content)
    _write_changed(invocation, target, written)
    kept = None
    if prefilled and model is not None and built.program is not None:
        from sglc.commands.building.prefill import prefill

        kept = prefill(invocation, built.program, model)
    if as_json:
        found: dict[str, object] = {
            "ok": True,
            "output": str(target),
            "bytes": len(written),
            "sha256": hashlib.sha256(written).hexdigest(),
            "functions": functions,
            **(
                {"python_modules": list(built.program.python_modules)}
                if built.program and built.program.python_modules
                else {}
            ),
            **({"models": list(built.program.models)} if built.program and built.program.models else {}),
        }
        if masks is not None:
            found["masks"] = {"output": str(place), "model": model, **masks.figures()}
        if kept is not None:
            found["prefill"] = kept.figures()
        print_json(found)
        return
    modules = ", ".join(built.program.python_modules) if built.program else ""
    models = f", models: {', '.join(built.program.models)}" if built.program and built.program.models else ""
    click.echo(f"{target}: {len(written):,} bytes, functions: {', '.join(functions) or 'none'}{models}")
    if modules:
        click.echo(f"it calls Python: running it imports {modules} (see --allow-py of sglc run)")
    for line in masks.lines(place, model or "") if masks is not None else ():
        click.echo(line)
    if kept is not None:
        click.echo(kept.line())


def _refuse_beside(emit: str | None, model: str | None, allow_wider: bool, hole: str, as_json: bool) -> None:
    """Refuse options that would do nothing beside what is written."""
    if emit is not None and model is not None:
        raise click.UsageError("--model makes masks for a compiled program, --emit compiles none")
    if emit is not None and as_json:
        raise click.UsageError("--json tells what was compiled, --emit compiles nothing")
    if allow_wider and emit not in WRITTEN:
        raise click.UsageError(f"--allow-wider goes with --emit of a target: {', '.join(WRITTEN)}")
    if hole and emit not in OF_HOLES:
        raise click.UsageError(f"--hole goes with --emit of a target that writes one: {', '.join(OF_HOLES)}")


def _write_changed(invocation: Invocation, target: Path, data: bytes) -> None:
    """Write a file. One that holds these bytes only gets the time of now, for tools that compare times."""
    with contextlib.suppress(OSError):
        if target.stat().st_size == len(data) and target.read_bytes() == data:
            os.utime(target)
            return
    write_whole(invocation, target, data)


def _reports(printed: str, timed: bool, level: int) -> PassReports | None:
    """What tells about passes, or None where nothing is to be told."""
    if not printed and not timed:
        return None
    from sglc.commands.building.pass_reports import ALL, PassReports
    from sglc.passes.pipeline import NAMES, of_level

    if printed not in ("", ALL, *NAMES):
        raise click.UsageError(f"--print-passes: there is no pass {printed!r}; passes are {', '.join(NAMES)}")
    if printed and printed not in (ALL, *(step.name for step in of_level(level))):
        raise click.UsageError(f"--print-passes: -O{level} does not run {printed!r}; leave -O{level} out")
    return PassReports(printed, timed)


def _emit(
    invocation: Invocation,
    file: Path,
    output: Path | None,
    stage: str,
    reports: PassReports | None,
    allow_wider: bool,
    hole: str,
) -> None:
    from sglc.commands.shared.programs import read_source
    from sglc.diagnostics.diagnostic import has_errors
    from sglc.driver import emit_stage

    source, problem = read_source(file)
    if source is None:
        raise fail(invocation, *([problem] if problem else []))
    invocation.stage = f"printing {stage} of {file}"
    options = invocation.options
    if stage in WRITTEN:
        from sglc.driver import write_target

        text, diagnostics = write_target(source, stage, options, allow_wider, hole)
    elif stage == "constraint":
        from sglc.driver import compile_source

        result = compile_source(source, options, observe=reports)
        text, diagnostics = "", result.diagnostics
        if result.program is not None:
            from sglc.commands.building.constraints import show_constraints

            text = show_constraints(result.program)
    else:
        text, diagnostics = emit_stage(source, stage, options, reports)
    if reports is not None:
        reports.finish()
    show(invocation, diagnostics)
    if has_errors(diagnostics) and stage in WRITTEN:
        raise CommandFailed(1)
    text = text.rstrip("\n") + "\n" if text else ""
    if output is None or output == Path("-"):
        click.echo(text, nl=False)
    else:
        write_whole(invocation, output, text.encode("utf-8"))
    if has_errors(diagnostics):
        raise CommandFailed(1)
