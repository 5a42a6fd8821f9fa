"""Where the name at an offset is declared, and every place where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sglc.library import LibraryError
from sglc.service.core.documents import Documents
from sglc.service.core.snapshot import Snapshot, standard_file
from sglc.service.names.occurrences import Occurrence, occurrences_of
from sglc.service.names.targets import Target
from sglc.source import Source, Span
from sglc.syntax.tree import ast

_WITHIN = ("variable", "alias", "rule", "type parameter")
"""What no other file can speak of."""


def name_at(snapshot: Snapshot, offset: int) -> Occurrence | None:
    """The name that an offset stands in, or right behind."""
    return occurrences_of(snapshot).at(offset)


def definition(snapshot: Snapshot, offset: int) -> Span | None:
    """Where the name at an offset is declared; of the path of a `use` the beginning of that module."""
    found = name_at(snapshot, offset)
    if found is not None:
        target = found.target
        return target.aim.place if target.aim is not None and target.aim.place else target.place
    for node in snapshot.tree.declarations:
        if isinstance(node, ast.Use) and node.span.start <= offset <= node.span.end:
            source = _used(snapshot, node)
            return None if source is None else Span(source, 0, 0)
    return None


def _used(snapshot: Snapshot, node: ast.Use) -> Source | None:
    try:
        return snapshot.library.find(node.path, snapshot.source)
    except LibraryError:
        return None


def references(
    documents: Documents, snapshot: Snapshot, target: Target
) -> Iterator[tuple[Snapshot, Occurrence]]:
    """Every place of a name, those of its declaration among them, in the files of the project."""
    key = _key(snapshot, target)
    programs = documents.programs_with(target.name, snapshot)
    for program in [snapshot] if target.kind in _WITHIN else programs:
        for each in occurrences_of(program).all:
            if each.target.name == target.name and _key(program, each.target) == key:
                yield program, each


def in_file(snapshot: Snapshot, target: Target) -> list[Occurrence]:
    """Every place of a name in its own file."""
    return [each for each in occurrences_of(snapshot).all if each.target == target]


def _key(snapshot: Snapshot, target: Target) -> tuple[object, ...]:
    """What two names have in common that mean the same, whichever program they are in."""
    if target.place is None:
        return (target.kind, target.name)
    return (file_of(snapshot, target.place.source), target.place.start)


def file_of(snapshot: Snapshot, source: Source) -> Path:
    """The file of a source of a program, with links followed."""
    if source is snapshot.source:
        return snapshot.path.resolve()
    found = snapshot.library.path_of(source)
    return standard_file(source) if found is None else found
