"""Programs that were compiled before: `sglc run` of the same source again starts without the compiler.

A program is kept under a digest of its text, its path, and the compiler's own files. Only programs of a
single file are kept, with modules of the standard library at most: others depend on files that may change.
What is read from the cache is verified like any compiled file, and anything wrong with it means that the
source is compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sglc.cache_files import make_private, read_own, write_atomically
from sglc.options import CompileOptions
from sglc.source import Source

if TYPE_CHECKING:
    from sglc.bytecode.code import Program

KEPT = 256
"""Most programs in the cache; those written longest ago go first."""
LARGEST = 64 * 1024 * 1024
COMPILER = (
    "sglc.automata",
    "sglc.bytecode",
    "sglc.cfg",
    "sglc.check",
    "sglc.emit",
    "sglc.grammar",
    "sglc.ir",
    "sglc.lalr",
    "sglc.lower",
    "sglc.passes",
    "sglc.schema",
    "sglc.importers",
    "sglc.stdlib",
    "sglc.syntax",
    "sglc.types",
)
"""Packages that a compiled program depends on."""


def find(source: Source, options: CompileOptions, folder: Path) -> Program | None:
    """The program of this source, if the cache has it whole."""
    from sglc.bytecode.serial import loads

    path = folder / name_of(source, options)
    try:
        return loads(read_own(path, LARGEST))[0]
    except OSError:
        return None


def keep(source: Source, options: CompileOptions, program: Program, folder: Path) -> None:
    """Put a program into the cache; nothing happens where it cannot be written."""
    from sglc.bytecode.serial import dumps

    with contextlib.suppress(OSError):
        make_private(folder)
        path = folder / name_of(source, options)
        write_atomically(path, dumps(program))
        entries = sorted(folder.glob("*.sglb"), key=lambda entry: entry.stat().st_mtime_ns)
        for old in entries[:-KEPT]:
            old.unlink(missing_ok=True)


def name_of(source: Source, options: CompileOptions) -> str:
    """File name of a source's program in the cache, as the options compile it."""
    state = hashlib.sha256(f"{_compiler()} -O{options.level}".encode())
    for part in (source.name, source.text):
        state.update(b"\0" + hashlib.sha256(part.encode("utf-8", "surrogatepass")).digest())
    return f"{state.hexdigest()[:40]}.sglb"


def _compiler() -> str:
    """Names, sizes and times of the compiler's files: another compiler may make another program."""
    return "\n".join(sorted(line for package in COMPILER for line in _files(package)))


def _files(package: str) -> Iterator[str]:
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    if entry.name != "__pycache__":
                        folders.append(entry.path)
                else:
                    state = entry.stat()
                    yield f"{package} {entry.name} {state.st_size} {state.st_mtime_ns}"
