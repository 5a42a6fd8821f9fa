"""Programs that were compiled before: the same files again start without the compiler.

A program is kept under a digest of its main file's text and path, the options, and the compiler's own files.
Beside it stand the lookups of the compiler, for modules and included texts, with digests of what it got (a
verifying trace; Mokhov, Mitchell and Peyton Jones, *Build Systems à la Carte*, 2018). The program is taken
where a new library gives the same answers. An entry that is damaged, that another user could have written, or
that is of other files means that the source is compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sglc.cache_files import cache_folder, make_private, read_own, write_atomically
from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.library import Library, Lookup
from sglc.options import CompileOptions
from sglc.source import Source

if TYPE_CHECKING:
    from sglc.bytecode.code import Program
    from sglc.passes.pipeline import Observer

KEPT = 256
"""Most programs in the cache; those written longest ago go first."""
KEPT_BYTES = 256 * 1024 * 1024
"""Most bytes of all of them. A program of a hundred lines takes some 30 kB, the largest 64 MiB."""
LARGEST = 65 * 1024 * 1024
COMPILER = (
    "sglc.advice",
    "sglc.analysis",
    "sglc.automata",
    "sglc.bytecode",
    "sglc.callables",
    "sglc.cfg",
    "sglc.check",
    "sglc.diagnostics",
    "sglc.emit",
    "sglc.format",
    "sglc.grammar",
    "sglc.immutable",
    "sglc.importers",
    "sglc.ir",
    "sglc.lalr",
    "sglc.lower",
    "sglc.passes",
    "sglc.schema",
    "sglc.stdlib",
    "sglc.syntax",
    "sglc.types",
    "sglc.values",
    "sglc.driver",
    "sglc.library",
    "sglc.options",
    "sglc.source",
)
"""Packages and modules that a compiled program depends on."""
_DIGEST = 32


@dataclass(slots=True)
class Compiled:
    """A program as the bytes of its file, and what a build tells of it."""

    data: bytes
    functions: tuple[str, ...]
    """Those that may be called from outside."""
    warned: bool
    """Whether the compiler had something to say of it, which is not kept."""
    made: Program | None = None

    @classmethod
    def of(cls, program: Program, *, warned: bool) -> Compiled:
        """What a compile has made."""
        from sglc.bytecode.serial import dumps

        functions = tuple(code.name for code in program.codes if code.name in program.entry)
        return cls(dumps(program), functions, warned, program)

    @property
    def program(self) -> Program | None:
        """The program, verified like that of any compiled file; None if it is not sound."""
        if self.made is None:
            from sglc.bytecode.serial import loads

            self.made = loads(self.data)[0]
        return self.made


def build(
    source: Source,
    options: CompileOptions,
    observe: Observer | None = None,
    *,
    told: bool = True,
    runs: bool = False,
) -> tuple[Compiled | None, list[Diagnostic]]:
    """The program of a source, from the cache if it was compiled before, and all that was found.

    `observe` is told of every pass that ran; then, and where passes are to be verified, the cache is not
    asked. Where findings are to be `told`, a program with warnings is compiled again. One that `runs` is
    verified.
    """
    folder = cache_folder() / "programs"
    if observe is None and not options.verify:
        known = find(source, options, folder)
        if known is not None and not (told and known.warned) and not (runs and known.program is None):
            return known, []
    from sglc.driver import compile_source

    library = Library(allow_outside=options.allow_outside)
    result = compile_source(source, options, library, observe)
    if result.program is None or has_errors(result.diagnostics):
        return None, result.diagnostics
    made = Compiled.of(result.program, warned=bool(result.diagnostics))
    keep(source, options, made, library, folder)
    return made, result.diagnostics


def find(source: Source, options: CompileOptions, folder: Path) -> Compiled | None:
    """The program of this source and of the files that it uses now, if the cache has it whole."""
    try:
        data = read_own(folder / name_of(source, options), LARGEST)
        if hashlib.sha256(data[_DIGEST:]).digest() != data[:_DIGEST]:
            return None
        head, _, program = data[_DIGEST:].partition(b"\n")
        lookups, functions, warned = json.loads(head)
        asked = [Lookup(*lookup) for lookup in lookups]
        if not Library(allow_outside=options.allow_outside).still_answers(source, asked):
            return None
        return Compiled(program, tuple(functions), bool(warned))
    except (OSError, ValueError, TypeError):
        return None


def keep(source: Source, options: CompileOptions, made: Compiled, library: Library, folder: Path) -> None:
    """Put a program into the cache; nothing happens where it cannot be written.

    `library` is the one that it was compiled with.
    """
    lookups = [[one.path, one.included, one.importer, one.answer] for one in library.lookups()]
    head = json.dumps([lookups, made.functions, made.warned]).encode() + b"\n"
    digest = hashlib.sha256(head + made.data).digest()
    with contextlib.suppress(OSError):
        make_private(folder)
        write_atomically(folder / name_of(source, options), digest, head, made.data)
        _bound(folder)


def _bound(folder: Path) -> None:
    """Remove what is too much, the oldest first."""
    entries = sorted(((entry.stat(), entry) for entry in folder.glob("*.sglb")), key=_age)
    size = 0
    for place, (facts, entry) in enumerate(entries):
        size += facts.st_size
        if place >= KEPT or size > KEPT_BYTES:
            entry.unlink(missing_ok=True)


def _age(entry: tuple[os.stat_result, Path]) -> int:
    return -entry[0].st_mtime_ns


def name_of(source: Source, options: CompileOptions) -> str:
    """File name of a source's program in the cache, as the options compile it."""
    chosen = f"-O{options.level} outside={options.allow_outside}"
    state = hashlib.sha256(f"{_compiler()} {chosen}".encode())
    for part in (source.name, source.text):
        state.update(b"\0" + hashlib.sha256(part.encode("utf-8", "surrogatepass")).digest())
    return f"{state.hexdigest()[:40]}.sglb"


def _compiler() -> str:
    """Names, sizes and times of the compiler's files: another compiler may make another program."""
    return "\n".join(sorted(line for package in COMPILER for line in _files(package)))


def _files(name: str) -> Iterator[str]:
    """A line for each file of a package, or for the one of a module."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        return
    if spec.submodule_search_locations is None and spec.origin is not None:
        yield _line(name, os.stat(spec.origin))
    folders = list(spec.submodule_search_locations or ())
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    if entry.name != "__pycache__":
                        folders.append(entry.path)
                else:
                    yield _line(f"{name} {entry.name}", entry.stat())


def _line(name: str, state: os.stat_result) -> str:
    return f"{name} {state.st_size} {state.st_mtime_ns}"
