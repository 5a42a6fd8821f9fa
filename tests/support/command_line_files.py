"""Files and signals for tests of the command line."""

from __future__ import annotations

import signal
from pathlib import Path


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def hear_interrupts() -> None:
    """In the new process: Ctrl-C works even where the tests were started with it switched off."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


SLOW = """\
fn slow() -> str:
    user: | x
    var all = ""
    assistant:
        for i in 1..2000:
            | ?{word: str min 30 chars max 40 chars}
            all = all + word
    return all
"""
