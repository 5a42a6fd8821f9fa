"""`sglc debug` for people: the prompt at stdin and stdout, and the face for terminals."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from sglc.commands.debugging.running import Came, opened
from sglc.commands.debugging.wanted import Wanted, debuggee
from sglc.commands.running.live import visible
from sglc.commands.shared.invocation import CommandFailed, Invocation, fail, fault
from sglc.debug.plain import PlainFace, set_limit
from sglc.runtime.debug.debugger import Debugger
from sglc.runtime.errors import SglError


def armed(
    invocation: Invocation, debugger: Debugger, breaks: tuple[str, ...], stops: tuple[str, ...]
) -> None:
    """Set what `--break` and `--stop` say. Raises CommandFailed for what is no place."""
    from sglc.debug.places import read, set_breakpoint

    for text in breaks:
        try:
            set_breakpoint(debugger.breakpoints, read(text), 0)
        except SglError as problem:
            raise fail(invocation, fault("E0803", f"--break {text}: {problem.message}")) from None
    for text in stops:
        try:
            set_limit(debugger, text)
        except SglError as problem:
            raise fail(invocation, fault("E0803", f"--stop {text}: {problem.message}")) from None


@contextmanager
def interrupts(debugger: Debugger) -> Iterator[None]:
    """Ctrl-C pauses the run; where it does not come to a stop, the second one ends it."""
    asked = False

    def pause(*_: object) -> None:
        nonlocal asked
        if debugger.stop is not None:
            asked = False
        if asked:
            raise KeyboardInterrupt
        asked = True
        debugger.pause()

    try:
        before = signal.signal(signal.SIGINT, pause)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _line(prompt: str) -> str | None:
    """The next line of stdin, None behind the last one."""
    sys.stdout.write(prompt)
    sys.stdout.flush()
    text = sys.stdin.readline()
    if not text:
        click.echo()
        return None
    if not sys.stdin.isatty():
        click.echo(text.rstrip("\n"))
    return text


def _write(line: str) -> None:
    """A line on stdout, in which nothing that a model wrote can steer the terminal."""
    click.echo(visible(line))


def at_prompt(
    invocation: Invocation, wanted: Wanted, breaks: tuple[str, ...], stops: tuple[str, ...]
) -> None:
    """Debug a call at a prompt, and print its value."""
    program = debuggee(invocation, wanted)
    face = PlainFace(program.program, _line, _write)
    with opened(invocation, program, face) as running:
        face.attach(running.debugger, running.expressions)
        armed(invocation, running.debugger, breaks, stops)
        with interrupts(running.debugger), contextlib.suppress(BrokenPipeError):
            running.finish()
    if running.failed:
        raise CommandFailed(1)


def at_terminal(
    invocation: Invocation, wanted: Wanted, breaks: tuple[str, ...], stops: tuple[str, ...]
) -> None:
    """Debug a call in a terminal, and print its value behind it. Without the extra this is E0812."""
    try:
        from sglc.debug.terminal import TerminalFace
    except ImportError as missing:
        found = fault(
            "E0812",
            f"the face of `sglc debug` for terminals needs the package {missing.name}",
            hint="pip install 'sglc[debug]', or use --plain",
        )
        raise fail(invocation, found) from None
    program = debuggee(invocation, wanted)
    results: list[Came] = []

    async def run() -> str:
        results.append(await running.whole(running.unseen()))
        return results[-1].told

    face = TerminalFace(program.program, run, visible)
    with opened(invocation, program, face) as running:
        face.plain.attach(running.debugger, running.expressions)
        armed(invocation, running.debugger, breaks, stops)
        face.run()
        for came in results:
            running.show(came)
    if running.failed:
        raise CommandFailed(1)
