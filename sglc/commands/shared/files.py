"""Files of commands: those that are named, and those that are written, whole or not at all."""

from __future__ import annotations

import contextlib
import difflib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from sglc.cache_files import sync_folder
from sglc.commands.shared.invocation import Invocation, fail, fault
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.library import SUFFIX

NONE_BELOW = f"no file below it ends in {SUFFIX}; hidden folders are not looked into"


def write_whole(invocation: Invocation, path: Path, data: bytes, *, private: bool = False) -> None:
    """Write a file so that it is there whole or not at all; a fault is told and ends the command.

    A file that was there keeps its permissions; a new one that is `private` is for its user alone. What has
    been written survives a power cut.
    """
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", suffix=".part", delete=False
        ) as file:
            temporary = file.name
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(path, private))
        os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as problem:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        reason = problem.strerror or str(problem)
        raise fail(invocation, fault("E0805", f"{path} cannot be written", reason=reason)) from None


def _mode(path: Path, private: bool) -> int:
    """The permissions of a file, or those that a new one gets."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    if private:
        return 0o600
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def unified(name: str, before: str, after: str) -> str:
    """The change of a file's text as a unified diff."""
    parts = []
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"):
        parts.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(parts)


def programs_below(paths: Iterable[Path]) -> tuple[list[Path], list[Diagnostic]]:
    """The files that are named, and for each folder the `.sgl` files below it in the order of their names.

    Each is there once. Hidden folders are left out, and links to folders are not followed. A folder without
    a program is told (E0801).
    """
    found: dict[Path, None] = {}
    problems = []
    for path in paths:
        if not path.is_dir():
            found[path] = None
            continue
        below = sorted(_sources(path))
        found.update(dict.fromkeys(below))
        if not below:
            problems.append(fault("E0801", f"there is no program in the folder {path}", reason=NONE_BELOW))
    return list(found), problems


def _sources(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(place, name) for name in names if name.endswith(SUFFIX))
