"""Prompts as tests type at them."""

from __future__ import annotations

import io
import json
from pathlib import Path

from sglc.commands.editing.console import Console
from sglc.commands.editing.repl import read_lines
from sglc.commands.shared.invocation import Invocation
from sglc.repl.models import SessionModels
from sglc.repl.session import ReplSession


def session_of(folder: Path, answers: dict[str, object]) -> ReplSession:
    """A session whose model answers what is said, by hole."""
    script = folder / "script.json"
    script.write_text(json.dumps(answers), encoding="utf-8")
    return ReplSession(models=SessionModels(name=f"scripted:{script}"))


def console_of(session: ReplSession, out: io.StringIO) -> Console:
    """A console that writes to a text."""
    return Console(Invocation(), session, out, columns=100)


def typed(session: ReplSession, text: str) -> str:
    """What a person sees who types lines: prompts, the lines, and what came of them."""
    out = io.StringIO()
    read_lines(console_of(session, out), _Echo(text, out), out)
    return out.getvalue()


class _Echo(io.StringIO):
    """Lines that are written to another file as they are read, as a terminal shows them."""

    def __init__(self, text: str, out: io.StringIO) -> None:
        super().__init__(text)
        self._out = out

    def readline(self, size: int | None = -1, /) -> str:
        """The next line."""
        line = super().readline()
        self._out.write(line if line.endswith("\n") or not line else line + "\n")
        return line
