"""`sglc proto`: a program as protocol buffers, its numbers kept in a lock beside it."""

from __future__ import annotations

from pathlib import Path

import click

from sglc.commands.shared.files import write_whole
from sglc.commands.shared.invocation import Invocation, fail, fault, outside_option
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.targets.proto.numbers import Changed


@click.command("proto")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where to write; stdout by default.")
@click.option("--check", is_flag=True, help="Write nothing; fail where numbers would have to be kept.")
@outside_option
@click.pass_obj
def command(invocation: Invocation, file: Path, output: Path | None, check: bool) -> None:
    """Write the public functions of a program as a `.proto` file: a service with their types.

    Numbers of fields are kept in FILE.proto.lock, `crew.proto.lock` beside `crew.sgl`: commit it. The gRPC of
    `sglc serve --grpc` has the same messages, and reads the same lock.

    \b
    Examples:
      sglc proto examples/triage.sgl
      sglc proto examples/triage.sgl -o triage.proto
      sglc proto examples/triage.sgl --check
    """
    from sglc.commands.shared.programs import load_program
    from sglc.targets.proto.described import described
    from sglc.targets.proto.numbers import LockError, lock_path, numbered, read_lock
    from sglc.targets.proto.text import text_of

    program = load_program(invocation, file)
    invocation.stage = f"writing {file} as protocol buffers"
    path = lock_path(file)
    found = described(program)
    if not found.methods:
        told = fault("E0828", f"{file} has no public function to serve", hint="write `pub fn` before one")
        raise fail(invocation, told)
    try:
        lock = read_lock(path)
        found, after, changed = numbered(found, lock)
    except LockError as wrong:
        raise fail(invocation, unreadable(path, wrong)) from None
    if changed:
        raise fail(invocation, *(told_of(each, path) for each in changed))
    if check:
        if after != lock:
            hint = f"sglc proto {file}, and commit {path.name}"
            raise fail(invocation, fault("E0836", f"{path} does not have all numbers of {file}", hint=hint))
        return
    if after != lock:
        write_whole(invocation, path, after.text().encode())
    if output is None:
        click.echo(text_of(found), nl=False)
    else:
        write_whole(invocation, output, text_of(found).encode())


def unreadable(path: Path, wrong: Exception) -> Diagnostic:
    """That a lock cannot be read."""
    hint = "it is written by `sglc proto`; take an earlier version of it"
    return fault("E0836", f"{path} cannot be read as a lock of numbers", reason=str(wrong), hint=hint)


def told_of(changed: Changed, lock: Path) -> Diagnostic:
    """That a field cannot keep its number."""
    hint = f"give it, or its function, another name; or delete its line in {lock}, where no client has it"
    return fault("E0836", changed.message_text, reason=changed.reason, hint=hint)
