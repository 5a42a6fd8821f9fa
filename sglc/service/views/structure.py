"""What folds, and what leads to other files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from sglc.immutable import value
from sglc.library import LibraryError
from sglc.service.core.snapshot import Snapshot
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.syntax.tree.spans import walk


@value
class Fold:
    """Lines from 1 that fold below the first."""

    first: int
    last: int
    kind: Literal["region", "comment", "imports"]


@value
class Link:
    """A place in a text, and the file that it leads to."""

    span: Span
    path: Path


_FOLDED = (
    ast.RecordDeclaration,
    ast.EnumDeclaration,
    ast.UnionDeclaration,
    ast.GrammarDeclaration,
    ast.FunctionDeclaration,
    ast.TestDeclaration,
    ast.Role,
    ast.If,
    ast.For,
    ast.While,
    ast.Match,
    ast.Case,
    ast.Try,
    ast.Except,
    ast.Fork,
    ast.Parallel,
    ast.Using,
    ast.Forget,
    ast.StreamFor,
    ast.Fuzz,
    ast.Variant,
)


def folds(snapshot: Snapshot) -> list[Fold]:
    """Declarations, messages, blocks, runs of comments and of `use` lines."""
    position = snapshot.source.position
    found: set[tuple[int, int, Literal["region", "comment", "imports"]]] = set()
    for node in walk(snapshot.tree.declarations):
        if isinstance(node, _FOLDED):
            text = node.span.text.rstrip()
            first, last = position(node.span.start)[0], position(node.span.start + len(text))[0]
            if last > first:
                found.add((first, last, "region"))
    found |= {(first, last, "comment") for first, last in _comments(snapshot.text)}
    uses = [position(node.span.start)[0] for node in snapshot.tree.declarations if isinstance(node, ast.Use)]
    if len(uses) > 1:
        found.add((uses[0], uses[-1], "imports"))
    return [Fold(*each) for each in sorted(found, key=lambda each: (each[0], -each[1], each[2]))]


def _comments(text: str) -> Iterator[tuple[int, int]]:
    first = 0
    lines = text.split("\n")
    for number, line in enumerate([*lines, ""], 1):
        if line.lstrip().startswith("#"):
            first = first or number
        else:
            if first and number - 1 > first:
                yield first, number - 1
            first = 0


def links(snapshot: Snapshot) -> list[Link]:
    """Modules of `use`, included texts, files of schemas, grammars and recorded runs."""
    return [Link(span, path) for span, path in _links(snapshot)]


def _links(snapshot: Snapshot) -> Iterator[tuple[Span, Path]]:
    folder = snapshot.path.parent
    for node in walk(snapshot.tree.declarations):
        match node:
            case ast.Use(path, _, span):
                try:
                    source = snapshot.library.find(path, snapshot.source)
                except LibraryError:
                    continue
                place = _written(span, path)
                if source is not None and place is not None:
                    yield place, snapshot.path_of(source)
            case ast.Include(path, span) | ast.Replay(path, span):
                yield from _file(folder, path, span)
            case ast.GrammarImport(path=path, library=False, span=span):
                yield from _file(folder, path, span)
            case ast.TypeJsonSchema(path, False, span):
                yield from _file(folder, path, span)
            case ast.TypeSource(source=path, place=span):
                yield from _file(folder, path, span)


def _file(folder: Path, path: str, span: Span) -> Iterator[tuple[Span, Path]]:
    place = _written(span, path)
    if place is None or "\0" in path or "\n" in path or len(path) > 1_000:
        return
    target = folder / path
    try:
        if target.is_file():
            yield place, target
    except OSError:
        return


def _written(span: Span, path: str) -> Span | None:
    """Where a path stands within a span."""
    start = span.source.text.find(path, span.start, span.end)
    return None if start < 0 or not path else Span(span.source, start, start + len(path))
