"""`sglc models`: what models are at hand, and fetching one before it is needed."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from sglc.commands.shared.invocation import Invocation, fail, fault, print_json


@click.group("models", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the models at hand, or fetch one.

    A model is named by one of the known names, a folder, a GGUF file or a name at the model hub. The first
    use fetches it, if need be, and converts it once; later runs start from the converted copy.

    \b
    Examples:
      sglc models
      sglc models fetch smollm2
    """
    if context.invoked_subcommand is None:
        _list(as_json)


def _list(as_json: bool) -> None:
    from sglc.runtime.model.catalogue import list_models

    entries = [_plain(asdict(entry)) for entry in list_models()]
    if as_json:
        print_json(entries)
        return
    for entry in entries:
        size = f" ({entry['size'] / 1e6:.0f} MB)" if entry["size"] else ""
        place = f"  {entry['path']}" if entry["path"] and entry["path"] != entry["name"] else ""
        click.echo(f"{entry['name']}: {entry['state']}{size}{place}")


def _plain(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: str(value) if isinstance(value, Path) else value for key, value in entry.items()}


@command.command("fetch")
@click.argument("name")
@click.pass_obj
def fetch(invocation: Invocation, name: str) -> None:
    """Fetch a model and convert it, so that the next run starts at once.

    \b
    Example:
      sglc models fetch smollm2
    """
    from sglc.commands.shared.progress import progress_bar
    from sglc.runtime.model.catalogue import fetch as fetch_model
    from sglc.runtime.model.weights.errors import ModelError

    invocation.stage = f"fetching {name}"
    try:
        with progress_bar(sys.stderr, f"fetching {name}") as progress:
            path = fetch_model(name, progress)
    except ModelError as problem:
        raise fail(
            invocation,
            fault("E0807", f"{problem.what}: {problem.where}", reason=problem.why, hint=problem.hint),
        ) from None
    click.echo(f"{name}: ready at {path}")
