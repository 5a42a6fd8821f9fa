"""The prompt on a terminal, as somebody types at it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from command_line_files import hear_interrupts

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
pytest.importorskip("prompt_toolkit", reason="the extra repl is not installed")
pytestmark = pytest.mark.slow

PATIENCE = 60.0
"""Seconds after which something that does not come is missing, on the busiest machine."""
PROMPT = "\x1b[?2004h"
"""What is written when a prompt is ready for keys."""
RUNS = "\x1b[?2004l"
"""What is written when an input is taken."""
PLAIN = "sgl> "


class Terminal:
    """A prompt in a terminal of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        script = folder / "script.json"
        script.write_text(json.dumps({"session.it": "calm", "session.x": "4"}), encoding="utf-8")
        self.master, slave = pty.openpty()
        environment = {
            **os.environ,
            "TERM": "xterm",
            "NO_COLOR": "1",
            "PROMPT_TOOLKIT_NO_CPR": "1",
            "XDG_STATE_HOME": str(folder / "state"),
            "LINES": "40",
            "COLUMNS": "100",
        }
        command = [sys.executable, "-P", "-m", "sglc", "repl", "--model", f"scripted:{script}", *options]
        if "--model" in options:
            command[5:7] = []
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            cwd=folder,
            start_new_session=True,
            preexec_fn=_at_a_terminal,
        )
        os.close(slave)
        self.text = ""

    def read(self, seconds: float = 0.2) -> None:
        """Take in what comes."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return
        try:
            self.text += os.read(self.master, 65536).decode("utf-8", "replace")
        except OSError as gone:
            if gone.errno != errno.EIO:
                raise
            time.sleep(seconds)

    def wait(self, what: str) -> str:
        """What comes up to a text, which is taken out of what is to be read."""
        end = time.monotonic() + PATIENCE
        while what not in self.text:
            assert time.monotonic() < end and self.process.poll() is None, f"no {what!r} in {self.text!r}"
            self.read()
        before, _, self.text = self.text.partition(what)
        return before

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self.master, text.encode())

    def ended(self) -> int:
        """The exit code, when it has ended."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, self.text
            self.read()
        return self.process.returncode


def _at_a_terminal() -> None:
    """In the new process: Ctrl-C is a signal, and heard."""
    hear_interrupts()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def terminal(folder: Path, *options: str) -> Iterator[Terminal]:
    found = Terminal(folder, *options)
    try:
        yield found
    finally:
        if found.process.poll() is None:
            os.killpg(found.process.pid, signal.SIGKILL)
            found.process.wait()
        os.close(found.master)


def test_what_is_typed_is_answered_and_kept_until_ctrl_d(tmp_path: Path) -> None:
    with terminal(tmp_path) as prompt:
        prompt.wait(PROMPT)
        prompt.type("let answer = 6 * 7\r")
        prompt.wait(PROMPT)
        prompt.type("ans\t + 1\r")
        prompt.wait("43 : int")
        prompt.wait(PROMPT)
        prompt.type("if answer == 42:\r")
        prompt.type("| yes ?{x: int in 0..9}\r\r")  # indented by itself; the blank line ends it
        prompt.wait("yes 4")
        prompt.wait(PROMPT)
        prompt.type("nonsense\x03")  # given up
        prompt.wait(PROMPT)
        prompt.type("answer\r")
        prompt.wait("42 : int")
        prompt.wait(PROMPT)
        prompt.type("while answer > 0 limit 1000000000: answer + 1\r")
        prompt.wait(RUNS)
        time.sleep(0.5)
        prompt.type("\x03")  # ends what runs
        prompt.wait("interrupted: the session is as it was before")
        prompt.wait(PROMPT)
        prompt.type('let token = "hf_abcdefghijklmnop"\r')
        prompt.wait(PROMPT)
        prompt.type("\x04")
        assert prompt.ended() == 0
    (kept,) = (tmp_path / "state").rglob("typed")
    history = kept.read_text(encoding="utf-8")
    assert kept.stat().st_mode & 0o077 == 0
    assert "answer + 1" in history and "hf_" not in history and "nonsense" not in history


@pytest.mark.model
def test_ctrl_c_ends_a_hole_that_is_being_filled(tmp_path: Path) -> None:
    with terminal(tmp_path, "--model", "smollm2") as prompt:
        prompt.wait(PROMPT)
        prompt.type("user: | Tell me a long story.\r")
        prompt.wait(PROMPT)
        prompt.type("| Once upon ?{story: str min 2900 chars max 3000 chars}\r")
        prompt.wait(RUNS)
        prompt.wait("Once upon")
        time.sleep(0.5)
        prompt.type("\x03")
        prompt.wait("interrupted: the session is as it was before")
        prompt.wait(PROMPT)
        prompt.type("| One word: ?{word: str max 9 chars}\r")
        prompt.wait(RUNS + "One word:")
        prompt.wait(PROMPT)
        prompt.type(":preview\r")
        shown = prompt.wait("One word:")
        assert "Tell me a long story." in shown and "Once upon" not in shown.partition("== session")[2]
        prompt.wait(PROMPT)
        prompt.type("\x04")


def test_lines_are_read_without_editing_where_that_is_asked_for(tmp_path: Path) -> None:
    with terminal(tmp_path, "--plain") as prompt:
        prompt.wait(PLAIN)
        prompt.type("fn f() -> int:\n")
        prompt.wait("...")
        prompt.type("    return 3\n\n")
        prompt.wait(PLAIN)
        prompt.type("f()\n")
        prompt.wait("3 : int")
        prompt.type("\x04")
        assert prompt.ended() == 0
