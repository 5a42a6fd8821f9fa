"""`sglc lsp`: the language server, for editors."""

from __future__ import annotations

import gc
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from sglc.commands.shared.invocation import Invocation, fail, fault

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

_HOSTS = ("127.0.0.1", "localhost", "::1")


COLLECTED_AFTER = (1_000_000, 5, 5)
"""Objects after which Python looks for garbage by itself: seldom, as the session does when the user rests."""


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="Speak over stdin and stdout, as without any option.")
@click.option("--tcp", "address", metavar="HOST:PORT", help="Wait for one client at this address instead.")
@click.option("--model", metavar="NAME", help="Count tokens of this model; else that of sgl.toml.")
@click.option(
    "--log", type=click.Path(path_type=Path), metavar="FILE", help="Write what happens to a file, no texts."
)
@click.option("--allow-outside", is_flag=True, help="Let programs read files outside of their project.")
@click.pass_obj
def command(
    invocation: Invocation,
    stdio: bool,
    address: str | None,
    model: str | None,
    log: Path | None,
    allow_outside: bool,
) -> None:
    """Answer an editor about programs: a server of the Language Server Protocol.

    Editors start it themselves; docs/editors.md says how to set them up. It speaks over stdin and stdout, or
    with --tcp over a connection of this machine. Nothing that it is told leaves the machine. It needs the
    extra `lsp`: pip install 'sglc[lsp]'.

    \b
    Examples:
      sglc lsp
      sglc lsp --model smollm2
      sglc lsp --tcp 127.0.0.1:9257 --log lsp.log
    """
    if stdio and address is not None:
        raise click.UsageError("--stdio and --tcp are two ways to speak: give one of them")
    host, port = ("", 0) if address is None else _address(address)
    server = _server(invocation, model or "", allow_outside)
    _log_to(invocation, log)
    invocation.stage = "answering an editor"
    gc.freeze()
    gc.set_threshold(*COLLECTED_AFTER)
    if address is None:
        server.start_io(stdout=_own_stdout())
    else:
        click.echo(f"waiting for a client at {host}:{port}", err=True)
        try:
            server.start_tcp(host, port)
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise click.UsageError(f"nothing can wait at {address}: {reason}; take another port") from None


def _own_stdout() -> BinaryIO:
    """What stdout goes to, for the protocol alone: what else is written goes to stderr, also by functions of
    Python that tests call."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return out


def _address(text: str) -> tuple[str, int]:
    """Host and port. Whoever connects may read files, so other machines are refused."""
    host, colon, port = text.rpartition(":")
    host = host.strip("[]")
    if not colon or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise click.UsageError(f"--tcp {text} is no HOST:PORT, such as 127.0.0.1:9257")
    if host not in _HOSTS:
        raise click.UsageError(f"--tcp waits on this machine only ({', '.join(_HOSTS)}), not at {host}")
    return host, int(port)


def _server(invocation: Invocation, model: str, allow_outside: bool) -> LanguageServer:
    try:
        from sglc.lsp.server import make_server
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.split(".")[0] not in ("pygls", "lsprotocol"):
            raise
        told = fault("E0812", f"`sglc lsp` needs the package {missing.name}", hint="pip install 'sglc[lsp]'")
        raise fail(invocation, told) from None
    from sglc.commands.editing.actions import Actions
    from sglc.lsp.settings import Settings

    return make_server(Settings(model, allow_outside), Actions())


class _NoTexts(logging.Formatter):
    """Lines without the arguments of a message: these hold what the editor sent."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, who says it, how grave it is, the message before anything is put into it; of an exception its
        class alone."""
        what = record.exc_info[0] if record.exc_info else None
        told = f": {what.__name__}" if what is not None else ""
        return f"{self.formatTime(record)} {record.name} {record.levelname} {str(record.msg)[:200]}{told}"


def _log_to(invocation: Invocation, path: Path | None) -> None:
    """Write the log of the protocol to a file, or nowhere: stdout belongs to the editor."""
    handler: logging.Handler = logging.NullHandler()
    if path is not None:
        try:
            handler = logging.FileHandler(path, encoding="utf-8")
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise fail(invocation, fault("E0805", f"{path} cannot be written", reason=reason)) from None
        handler.setFormatter(_NoTexts())
    for name in ("pygls", "sglc.lsp"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if path is not None else logging.CRITICAL)
