"""Renaming: all places of a name at once, or the reason why not.

A new name is tried before it is given out: where the programs were sound, they are checked with it.
"""

from __future__ import annotations

from pathlib import Path

from sglc.diagnostics.diagnostic import Edit
from sglc.diagnostics.edits import edited
from sglc.service.core.documents import Documents
from sglc.service.core.snapshot import Snapshot
from sglc.service.names.occurrences import Occurrence
from sglc.service.names.places import file_of, name_at, references
from sglc.source import Span
from sglc.syntax.lexer.keywords import HARD

_FIXED = ("builtin", "model", "module", "test")


class CannotRename(Exception):
    """Why a name stays as it is, a sentence for people."""


def renamable(documents: Documents, snapshot: Snapshot, offset: int) -> Occurrence:
    """The name at an offset, if it can be another one. Raises CannotRename."""
    found = name_at(snapshot, offset)
    if found is None:
        raise CannotRename("there is no name here")
    target = found.target
    if target.kind in _FIXED or target.place is None:
        raise CannotRename(f"`{target.name}` is not declared in a program")
    if target.place.source.name.startswith("std/") and snapshot.library.path_of(target.place.source) is None:
        raise CannotRename(f"`{target.name}` belongs to the standard library")
    return found


def renamed(documents: Documents, snapshot: Snapshot, offset: int, name: str) -> dict[Path, list[Edit]]:
    """The edits of each file that give the name at an offset another one. Raises CannotRename."""
    found = renamable(documents, snapshot, offset)
    if not name.isidentifier() or name in HARD:
        raise CannotRename(f"`{name}` cannot be a name")
    if name == found.target.name:
        return {}
    edits: dict[Path, dict[int, Edit]] = {}
    programs: dict[Path, Snapshot] = {}
    for program, each in references(documents, snapshot, found.target):
        path = program.path
        programs[path] = program
        edits.setdefault(path, {})[each.span.start] = Edit(each.span, name)
    changed = {path: list(known.values()) for path, known in edits.items()}
    _try(documents, programs, changed, name)
    return changed


def _try(
    documents: Documents, programs: dict[Path, Snapshot], edits: dict[Path, list[Edit]], name: str
) -> None:
    """Check the programs with the new name; raises CannotRename where a sound one is not sound with it."""
    trial = Documents(allow_outside=documents.allow_outside)
    for document in documents:
        trial.open(document.path, document.source.text)
    for path, program in programs.items():
        trial.open(path, edited(program.text, edits[path]))
    for path, program in programs.items():
        after = trial.snapshot(path)
        if not program.sound or after is None or after.sound:
            continue
        wrong = next(each for each in after.findings if each.severity == "error")
        raise CannotRename(f"with the name `{name}` {_where(wrong.span, after)}{wrong.message}")


def _where(span: Span | None, snapshot: Snapshot) -> str:
    if span is None:
        return ""
    return f"{file_of(snapshot, span.source).name}, line {span.source.position(span.start)[0]}: "
