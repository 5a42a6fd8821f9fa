"""The command line as tests call it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sglc.cli import main

GOOD = """\
enum Mood: calm, furious

fn feel(text: str, times: int in 1..3 = 1) -> Mood:
    user: | How does the writer feel? ${text} ${times}
    assistant: | ?{mood: Mood}
    return mood

test "a mood is a mood":
    fuzz feel("Hello.") times 20:
        expect it in [calm, furious]
"""


Cli = Callable[..., tuple[int, str, str]]
LOGGERS = ("sglc.serve", "sglc.serve.access", "uvicorn.error", "mcp")


@contextmanager
def logs_as_they_were() -> Iterator[None]:
    """Behind the block, loggers that `sglc serve` sets up are as before: its handler holds a captured stderr,
    which is closed when the test ends."""
    before = [
        (each, each.handlers, each.propagate, each.level, each.disabled)
        for each in map(logging.getLogger, LOGGERS)
    ]
    try:
        yield
    finally:
        for each, handlers, propagate, level, disabled in before:
            each.handlers, each.propagate, each.disabled = handlers, propagate, disabled
            each.setLevel(level)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """`cli("check", path)`: exit code, stdout, stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        with logs_as_they_were():
            code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.sgl"
    path.write_text(GOOD, encoding="utf-8")
    return path


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.json"
    path.write_text('{"feel.mood": "furious"}', encoding="utf-8")
    return f"scripted:{path}"
