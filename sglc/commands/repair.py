"""`sglc repair`: a legal text from any command that writes text."""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click

from sglc.commands.shared.invocation import Invocation, fail, fault, print_json, show

if TYPE_CHECKING:
    from sglc.diagnostics.diagnostic import Diagnostic
    from sglc.runtime.mask.constraint import Constraint
    from sglc.runtime.repair.local_model import LocalModel
    from sglc.runtime.repair.loop import Options
    from sglc.runtime.repair.result import Correction, RepairResult
    from sglc.runtime.vm.state.trace import TraceWriter

KEPT, WRONG, PUT, PLAIN = "\x1b[2m", "\x1b[9;31m", "\x1b[32m", "\x1b[0m"
SHOWN = 60
"""Characters of a refused rest that are drawn: it may be all that a model has written to its end."""
LARGEST = 16 * 1024 * 1024
"""Bytes of a schema or a grammar that is read, as of grammars in programs."""


class _Given(TypedDict):
    file: Path | None
    schema: Path | None
    regex: str | None
    grammar: Path | None
    written: str | None
    line: str
    shell: bool
    prompt: str
    draft: str | None
    stops: tuple[str, ...]
    max_calls: int
    max_corrections: int
    max_tokens: int
    timeout: float | None
    complete: bool
    trace: Path | None
    as_json: bool
    verbose: bool


@dataclass(frozen=True, slots=True)
class Legal:
    """Which texts are legal, and from a legal text to its value as JSON; None where it has none."""

    constraint: Constraint
    value: Callable[[str], object] | None


@click.command("repair")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--schema", type=click.Path(path_type=Path), metavar="FILE", help="Legal is this JSON Schema.")
@click.option("--regex", metavar="RE", help="Legal is this pattern, of the whole text.")
@click.option(
    "--grammar", type=click.Path(path_type=Path), metavar="FILE", help="Legal is this grammar of Lark."
)
@click.option("--type", "written", metavar="T", help="Legal is this type, which may name types of FILE.")
@click.option("--command", "line", required=True, metavar="CMD", help="Reads a prompt, writes text.")
@click.option("--shell", is_flag=True, help="Let a shell run the command, with pipes and variables.")
@click.option("--prompt", required=True, metavar="TEXT", help="The prompt; - reads it from stdin.")
@click.option("--draft", metavar="MODEL", help="A local model that corrects.")
@click.option("--stop", "stops", multiple=True, metavar="TEXT", help="A text that ends an answer.")
@click.option("--max-calls", type=click.IntRange(min=1), default=64, show_default=True, metavar="N")
@click.option("--max-corrections", type=click.IntRange(min=1), default=64, show_default=True, metavar="N")
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    default=65_536,
    show_default=True,
    metavar="N",
    help="Tokens of the draft model; without one, bytes.",
)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Most time.")
@click.option("--complete", is_flag=True, help="At a bound, end the text in the shortest way.")
@click.option(
    "--trace", type=click.Path(path_type=Path), metavar="FILE.jsonl", help="Write what happened: `sglc show`."
)
@click.option("--json", "as_json", is_flag=True, help="Print text, value and corrections as JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Draw the corrections on stderr.")
@click.pass_obj
def command(invocation: Invocation, /, **given: Unpack[_Given]) -> None:
    """Get a legal text from a command that writes text.

    CMD reads a prompt on stdin and writes on stdout. It is killed at the first byte that is not legal; one
    word is put there, and it is asked again with the prompt and the text so far.

    \b
    Examples:
      sglc repair --type "int in 1..50" --command "llm -m small" --prompt "A number: "
      sglc repair --schema order.json --command "ollama run llama3" --prompt - --draft smollm2 -v
      sglc repair orders.sgl --type Order --command "cat answer.txt" --prompt "" --json
    """
    legal = _legal(invocation, given)
    arguments = _arguments(given["line"], given["shell"])
    prompt = sys.stdin.read() if given["prompt"] == "-" else given["prompt"]
    invocation.stage = "repairing a text"
    _repaired(invocation, legal, arguments, prompt, given)


# -- what is legal -------------------------------------------------------------------------------------


def _legal(invocation: Invocation, given: _Given) -> Legal:
    from sglc.runtime.mask.core.errors import ConstraintError

    asked = {
        "schema": given["schema"],
        "regex": given["regex"],
        "grammar": given["grammar"],
        "written": given["written"],
    }
    names = [name for name, value in asked.items() if value is not None]
    if len(names) != 1:
        raise click.UsageError("give exactly one of --schema, --regex, --grammar and --type")
    if given["file"] is not None and names != ["written"]:
        raise click.UsageError("FILE declares types: it goes with --type")
    try:
        return _compiled(invocation, names[0], asked[names[0]], given["file"])
    except ConstraintError as problem:
        option = "type" if names[0] == "written" else names[0]
        raise click.UsageError(f"--{option}: {problem}") from None


def _compiled(invocation: Invocation, name: str, given: Any, file: Path | None) -> Legal:
    from sglc.runtime.mask.constraint import compile_constraint
    from sglc.runtime.repair.spelling import FREE

    if name == "schema":
        text = _read(invocation, given)
        try:
            schema = json.loads(text)
        except (ValueError, RecursionError) as problem:
            raise fail(invocation, fault("E0804", f"{given} is no JSON: {problem}")) from None
        return Legal(compile_constraint(json_schema=schema, schema_options=FREE), json.loads)
    if name == "regex":
        return Legal(compile_constraint(regex=given), None)
    if name == "grammar":
        return Legal(compile_constraint(grammar=_read(invocation, given)), None)
    return _of_type(invocation, given, file)


def _read(invocation: Invocation, path: Path) -> str:
    from sglc.commands.shared.programs import read_text

    text, problem = read_text(path, LARGEST)
    if problem is not None:
        raise fail(invocation, problem)
    return text


def _of_type(invocation: Invocation, written: str, file: Path | None) -> Legal:
    from sglc.commands.shared.programs import read_source
    from sglc.diagnostics.diagnostic import has_errors
    from sglc.driver import compile_type
    from sglc.runtime.mask.constraint import compile_constraint
    from sglc.types.text.decode import decode
    from sglc.types.text.plain_json import to_json
    from sglc.types.type import Named

    source, problem = (None, None) if file is None else read_source(file)
    if problem is not None:
        raise fail(invocation, problem)
    program, name, diagnostics = compile_type(written, source)
    if program is None or has_errors(diagnostics):
        raise fail(invocation, *(found for found in diagnostics if found.severity == "error"))
    type, table = Named(name), program.table

    def value(text: str) -> object:
        return to_json(decode(text, type, table), type, table)

    return Legal(compile_constraint(type=type, table=table), value)


# -- who writes ----------------------------------------------------------------------------------------


def _arguments(line: str, shell: bool) -> list[str]:
    if shell:
        return ["/bin/sh", "-c", line]
    try:
        arguments = shlex.split(line)
    except ValueError as problem:
        raise click.UsageError(f"--command: {problem}") from None
    if not arguments or shutil.which(arguments[0]) is None:
        raise click.UsageError(f"--command: there is no program `{arguments[0] if arguments else ''}`")
    return arguments


def _draft(invocation: Invocation, model: str) -> LocalModel:
    from sglc.runtime.engine.load import load_engine
    from sglc.runtime.model.weights.errors import ModelError
    from sglc.runtime.repair.local_model import LocalModel

    invocation.stage = f"loading {model}"
    try:
        return LocalModel(load_engine(model))
    except ModelError as problem:
        what = f"{problem.what}: {problem.where}"
        raise fail(invocation, fault("E0807", what, reason=problem.why, hint=problem.hint)) from None


def _writer(invocation: Invocation, path: Path) -> TraceWriter:
    from sglc.runtime.vm.state.trace import TraceWriter

    try:
        return TraceWriter.open(path)
    except OSError as problem:
        raise fail(invocation, _unwritable(path, problem)) from None


def _unwritable(path: Path, problem: OSError) -> Diagnostic:
    return fault("E0805", f"{path} cannot be written", reason=problem.strerror or str(problem))


def _options(given: _Given, draft: LocalModel | None, writer: TraceWriter | None) -> Options:
    from sglc.runtime.repair.loop import Options
    from sglc.runtime.repair.result import Bounds
    from sglc.runtime.vm.state.trace import Event

    bounds = Bounds(given["max_calls"], given["max_corrections"], given["timeout"], given["max_tokens"])
    made = Options(
        bounds,
        stops=tuple(filter(None, given["stops"])),
        drafts=draft is not None,
        complete=given["complete"],
        on_event=None if writer is None else lambda kind, data: writer(Event(kind, data)),
    )
    return made if draft is None else replace(made, count=draft.count)


def _repaired(invocation: Invocation, legal: Legal, arguments: list[str], prompt: str, given: _Given) -> None:
    from sglc.runtime.errors import SglError
    from sglc.runtime.mask.explanation import byte_vocabulary
    from sglc.runtime.repair.calling import Writes
    from sglc.runtime.repair.commands import Command
    from sglc.runtime.repair.drivers import InLoop, Models
    from sglc.runtime.repair.loop import Repair

    writer = None if given["trace"] is None else _writer(invocation, given["trace"])
    draft = None if given["draft"] is None else _draft(invocation, given["draft"])
    vocabulary = byte_vocabulary() if draft is None else draft.vocabulary
    options = _options(given, draft, writer)
    repair = Repair(legal.constraint.matcher(vocabulary), prompt, options, time.monotonic)
    models = Models(Writes.of(Command(arguments)), None if draft is None else draft.draft)
    try:
        found = asyncio.run(InLoop(models).run(repair))
    except SglError as error:
        raise _failed(invocation, error, given) from None
    finally:
        if writer is not None:
            writer.close()
        if draft is not None:
            draft.engine.close()
    _print(invocation, found, legal, given)


# -- what is told --------------------------------------------------------------------------------------


def _print(invocation: Invocation, found: RepairResult, legal: Legal, given: _Given) -> None:
    if given["verbose"]:
        click.echo(drawn(found.text, found.corrections, color=invocation.color_stderr), err=True)
    if given["as_json"]:
        value = None if legal.value is None else legal.value(found.text)
        print_json({"ok": True, **asdict(found), "value": value})
    else:
        click.echo(found.text)


def _failed(invocation: Invocation, error: Any, given: _Given) -> Exception:
    message = f"{error.name}: {error.message}"
    found: Diagnostic = replace(fault(error.code, message, hint=error.hint), witness=error.partial or "")
    corrections: tuple[Correction, ...] = error.fields.get("corrections", ())
    if given["verbose"]:
        text = drawn(error.partial or "", corrections, color=invocation.color_stderr)
        click.echo(text, err=True)
    if not given["as_json"]:
        return fail(invocation, found)
    from sglc.commands.shared.invocation import CommandFailed
    from sglc.diagnostics.render import to_json

    show(invocation, [found])
    fields = {**error.fields, "corrections": [asdict(each) for each in corrections]}
    print_json({"ok": False, "partial": error.partial, **fields, "diagnostics": [to_json(found)]})
    return CommandFailed(1)


def drawn(text: str, corrections: tuple[Correction, ...], *, color: bool) -> str:
    """A text with its corrections: what was kept, what was refused, what was put.

    Without colours what was refused stands in `[-…-]`, and what was put in `{+…+}`.
    """
    from sglc.commands.running.live import visible

    wrong_marks, put_marks = (WRONG, PLAIN), (PUT, PLAIN)
    if not color:
        wrong_marks, put_marks = ("[-", "-]"), ("{+", "+}")
    parts, at = [], 0

    def kept(upto: int) -> None:
        if piece := text[at:upto]:
            parts.append(f"{KEPT}{visible(piece)}{PLAIN}" if color else visible(piece))

    for each in corrections:
        kept(each.at)
        wrong = each.wrong if len(each.wrong) <= SHOWN else each.wrong[:SHOWN] + "…"
        if wrong:
            parts.append(visible(wrong).join(wrong_marks))
        if each.put:
            parts.append(visible(each.put).join(put_marks))
        at = each.at + len(each.put)
    kept(len(text))
    return "".join(parts)
