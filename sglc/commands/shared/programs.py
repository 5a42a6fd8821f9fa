"""From a file name on the command line to a program: source is compiled, `.sglb` files are verified."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sglc import compiled
from sglc.commands.shared.invocation import Invocation, fail, fault, show, summary
from sglc.compiled import Compiled
from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.options import CompileOptions
from sglc.source import Source

if TYPE_CHECKING:
    from sglc.bytecode.code import Program
    from sglc.check.program import Workspace
    from sglc.passes.pipeline import Observer

DEFAULT = CompileOptions()

ARTEFACT = ".sglb"
LARGEST_SOURCE = 4 * 1024 * 1024
LARGEST_ARTEFACT = 64 * 1024 * 1024
COLLECTED_AFTER = (100_000, 20, 50)
"""Objects after which Python looks for cycles while a program is compiled. What a compile makes, it keeps:
looking for garbage as often as usual takes a third of the time of a large program."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """While this is open, Python looks for cycles after more objects than usual."""
    before = gc.get_threshold()
    gc.set_threshold(*COLLECTED_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def read_bytes(path: Path, limit: int) -> tuple[bytes, Diagnostic | None]:
    """A whole file, or why it cannot be had. Never reads more than the limit."""
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as problem:
        return b"", unreadable(path, problem)
    if len(data) > limit:
        return b"", fault("E0802", f"{path} is larger than {limit // 1024 // 1024} MiB")
    return data, None


def unreadable(path: Path, problem: OSError) -> Diagnostic:
    """Why a file cannot be read, as a diagnostic."""
    if isinstance(problem, FileNotFoundError):
        return fault("E0801", f"there is no file {path}", hint=_neighbour(path))
    if isinstance(problem, IsADirectoryError):
        return fault("E0801", f"{path} is a folder", hint="name a file in it")
    return fault("E0802", f"{path} cannot be read", reason=problem.strerror or str(problem))


def read_text(path: Path, limit: int = LARGEST_SOURCE) -> tuple[str, Diagnostic | None]:
    """The text of a UTF-8 file without its byte order mark, or a diagnostic (E0801, E0802) that says why not.

    `limit` is the most bytes that the file may have.
    """
    data, problem = read_bytes(path, limit)
    return ("", problem) if problem is not None else as_text(str(path), data)


def as_text(name: str, data: bytes) -> tuple[str, Diagnostic | None]:
    """UTF-8 as text without its byte order mark, or a diagnostic (E0802) that calls it by a name."""
    try:
        return data.decode("utf-8-sig"), None
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        return "", fault(
            "E0802",
            f"{name} is not UTF-8 text",
            reason=f"byte {data[wrong.start]:#04x} in line {line} cannot stand there",
            hint="is it a compiled program? those end in .sglb"
            if b"\0" in data[:4096]
            else "save it as UTF-8",
        )


def read_source(path: Path) -> tuple[Source | None, Diagnostic | None]:
    """A file as a source of the compiler, or the diagnostic of `read_text`."""
    text, problem = read_text(path)
    return (None, problem) if problem else (Source(str(path), text), None)


@seldom_collected()
def compile_path(path: Path, options: CompileOptions = DEFAULT) -> tuple[Program | None, list[Diagnostic]]:
    """The program in a file, whatever of the two kinds it is, and all that was found. No cache is asked."""
    if path.suffix == ARTEFACT:
        from sglc.bytecode.serial import loads

        data, problem = read_bytes(path, LARGEST_ARTEFACT)
        return (None, [problem]) if problem else loads(data)
    source, problem = read_source(path)
    if source is None:
        return None, [problem] if problem else []
    from sglc.driver import compile_source

    result = compile_source(source, options)
    return (None if has_errors(result.diagnostics) else result.program), result.diagnostics


@seldom_collected()
def build_path(
    path: Path,
    options: CompileOptions = DEFAULT,
    observe: Observer | None = None,
    *,
    told: bool = True,
    runs: bool = False,
) -> tuple[Compiled | None, list[Diagnostic]]:
    """The program of a source file and all that was found; see `compiled.build`."""
    source, problem = read_source(path)
    if source is None:
        return None, [problem] if problem else []
    return compiled.build(source, options, observe, told=told, runs=runs)


@seldom_collected()
def check_path(
    path: Path,
    allow_outside: bool = False,
    measure: Callable[[str], int] | None = None,
    workspace: Workspace | None = None,
) -> list[Diagnostic]:
    """All that is found in a file without making a program of it; see `examine` for `measure`. A workspace
    keeps what is found about modules for the files that are checked after this one."""
    if path.suffix == ARTEFACT:
        return compile_path(path)[1]
    source, problem = read_source(path)
    if source is None:
        return [problem] if problem else []
    from sglc.advice.examine import examine
    from sglc.check.program import Workspace

    workspace = Workspace(keeps=False) if workspace is None else workspace
    library = workspace.library(allow_outside=allow_outside)
    return examine(workspace.known(source), library, measure, workspace.check)


def load_program(invocation: Invocation, path: Path) -> Program:
    """The program in a file; raises CommandFailed, with all errors shown, where there is none.

    A source that was compiled before is taken from the cache.
    """
    invocation.stage = f"compiling {path}"
    program, diagnostics = _load(path, invocation.options)
    if program is None:
        import click

        show(invocation, diagnostics)
        if len(diagnostics) > 1:
            click.echo(summary(diagnostics), err=True)
        raise fail(invocation)
    return program


def _load(path: Path, options: CompileOptions) -> tuple[Program | None, list[Diagnostic]]:
    if path.suffix == ARTEFACT:
        return compile_path(path, options)
    built, diagnostics = build_path(path, options, told=False, runs=True)
    return (None if built is None else built.program), diagnostics


def _neighbour(path: Path) -> str:
    """A hint that names a similar file beside the missing one."""
    from sglc.diagnostics.suggest import nearest

    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    for ending in (".sgl", ARTEFACT):
        if path.name + ending in names:
            return f"did you mean {path.parent / (path.name + ending)}?"
    close = nearest(path.name, names)
    return f"did you mean {path.parent / close}?" if close else ""
