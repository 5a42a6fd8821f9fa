"""Where the files of a program lie: a compiled program has their names and texts, and no paths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sglc.bytecode.code import Program

LARGEST = 4 * 1024 * 1024
"""Most bytes of a file that is looked into."""
MOST_PARENTS = 4
"""Folders above the main file's in which modules are looked for."""


def paths_of(program: Program, main: Path) -> list[Path | None]:
    """The path of each file, None for modules of the library and what cannot be found.

    `main` is where the main file lies. A file is one that has the name and the text of the program's.
    """
    found: list[Path | None] = []
    for index, name in enumerate(program.files):
        if index == 0:
            found.append(main.resolve() if main.is_file() else None)
            continue
        text = program.sources[index] if index < len(program.sources) else ""
        found.append(next((each for each in _candidates(name, main) if has_text(each, text)), None))
    return found


def _candidates(name: str, main: Path) -> Iterator[Path]:
    folder = main.resolve().parent
    yield Path.cwd() / name
    for parent in [folder, *list(folder.parents)[:MOST_PARENTS]]:
        yield parent / name


def has_text(path: Path, text: str) -> bool:
    """Whether a file has this text, however its lines end."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return False
        return path.read_text(encoding="utf-8-sig") == text.replace("\r\n", "\n")
    except (OSError, ValueError):
        return False
