"""`sglc view`: recorded runs on one page, in a browser."""

from __future__ import annotations

import io
import tempfile
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from sglc.commands.shared.invocation import Invocation, counted, fail, fault

if TYPE_CHECKING:
    from sglc.runtime.serve.ui.assets import Trace

MOST_BYTES = 256 * 1024 * 1024
"""Bytes of each trace that go into the page: a million tokens without candidates. Browsers open no page of
much more."""
LOOKED_AT = 64
"""Lines of which one must be an event, else the file is no trace."""


@click.command("view")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE.html", help="Where the page goes, to be kept."
)
@click.option("--no-browser", is_flag=True, help="Write the page and print its path, open nothing.")
@click.pass_obj
def command(invocation: Invocation, files: tuple[Path, ...], out: Path | None, no_browser: bool) -> None:
    """Look at runs that `sglc run --trace FILE.jsonl` has recorded, in a browser.

    Tokens by their probability, what retries took back, holes over time, forks, what conversations have in
    common, and two runs side by side. The page is one file that asks for nothing else; it holds the prompts
    and answers of the runs.

    \b
    Examples:
      sglc run examples/character.sgl --arg theme=salvage --trace run.jsonl --trace-top 5
      sglc view run.jsonl
      sglc view before.jsonl after.jsonl
      sglc view run.jsonl --out run.html --no-browser
    """
    from sglc.commands.shared.files import write_whole
    from sglc.runtime.serve.ui.assets import whole_page

    traces = [_read(invocation, file) for file in files]
    invocation.stage = "making the page"
    path = out or Path(tempfile.mkdtemp(prefix="sglc-view-")) / "view.html"
    write_whole(invocation, path, whole_page(traces).encode(), private=True)
    opened = not no_browser and webbrowser.open(path.resolve().as_uri())
    if opened:
        click.echo(f"{counted(len(traces), 'run')} in {path}", err=True)
    else:
        click.echo(path)


def _read(invocation: Invocation, file: Path) -> Trace:
    """A trace as the page has it. What is none ends the command."""
    from sglc.commands.shared.programs import unreadable
    from sglc.runtime.serve.ui.assets import Trace
    from sglc.viewer.reading import Reading

    invocation.stage = f"reading {file}"
    try:
        with file.open("rb") as opened:
            pieces, size = [], 0
            for line in _lines(opened):
                size += len(line)
                if size > MOST_BYTES:
                    break
                pieces.append(line)
    except OSError as problem:
        raise fail(invocation, unreadable(file, problem)) from None
    beginning = Reading()
    if not any(beginning.events(io.BytesIO(b"".join(pieces[:LOOKED_AT])))):
        reason = beginning.faults[0].reason if beginning.faults else "it is empty"
        hint = "`sglc run … --trace FILE.jsonl` writes one"
        raise fail(invocation, fault("E0804", f"{file} is no trace of a run", reason=reason, hint=hint))
    return Trace(file.name, b"".join(pieces).decode(errors="replace"), cut=size > MOST_BYTES)


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """Each line with its end. One that is too long is not held: a mark stands for it, told by the page."""
    from sglc.runtime.serve.ui.assets import TOO_LONG
    from sglc.viewer.reading import LONGEST_LINE

    while line := file.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE or line.endswith(b"\n"):
            yield line
            continue
        yield TOO_LONG.encode() + b"\n"
        while (more := file.readline(LONGEST_LINE)) and not more.endswith(b"\n"):
            pass
