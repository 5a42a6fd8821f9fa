"""Programs coloured by tree-sitter: the parser compiled from `parser.c`, the captures of `highlights.scm`."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from checkout import ROOT

if TYPE_CHECKING:
    import tree_sitter

PACKAGE = ROOT / "grammar" / "editors" / "tree-sitter"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

Span = tuple[str, str | None]
"""Text and its class; None where the editor gives it none."""


def compiled(folder: Path) -> object:
    """The language of tree-sitter, its parser compiled into a folder."""
    import tree_sitter

    assert COMPILER is not None
    made = folder / "sgl.so"
    source = PACKAGE / "src"
    subprocess.run(
        [COMPILER, "-O0", "-w", "-shared", "-fPIC", f"-I{source}", "-o", str(made)]
        + [str(source / "parser.c"), str(source / "scanner.c")],
        check=True,
    )
    entry = ctypes.CDLL(str(made)).tree_sitter_sgl
    entry.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return tree_sitter.Language(capsule(entry(), b"tree_sitter.Language", None))


_KEPT: list[object] = []
"""Queries live as long as the process: py-tree-sitter 0.26 crashes where one with `#match?` is freed."""


def query_of(language: object, name: str) -> tree_sitter.Query:
    """A query of the package by its name."""
    import tree_sitter

    path = PACKAGE / "queries" / f"{name}.scm"
    made = tree_sitter.Query(language, path.read_text(encoding="utf-8"))
    _KEPT.append(made)
    return made


def colourer(language: object) -> Callable[[str], list[Span] | None]:
    """What colours a program; it gives None for one that tree-sitter finds faulty."""
    import tree_sitter

    parser = tree_sitter.Parser(language)
    query = query_of(language, "highlights")
    names = [query.capture_name(number) for number in range(query.capture_count)]
    order = {name: number for number, name in enumerate(names)}

    def coloured(text: str) -> list[Span] | None:
        data = text.encode()
        tree = parser.parse(data)
        if tree.root_node.has_error:
            return None
        found: list[str | None] = [None] * len(data)
        spans = []
        for pattern, captures in tree_sitter.QueryCursor(query).matches(tree.root_node):
            for name, nodes in captures.items():
                spans += [
                    (node.start_byte - node.end_byte, pattern, order[name], name, node) for node in nodes
                ]
        # An inner node goes before an outer one, a later pattern before an earlier one.
        for _, _, _, name, node in sorted(spans, key=lambda each: each[:3]):
            found[node.start_byte : node.end_byte] = [name] * (node.end_byte - node.start_byte)
        return _spans(text, found)

    return coloured


def _spans(text: str, found: list[str | None]) -> list[Span]:
    spans: list[Span] = []
    place = 0
    for char in text:
        spans.append((char, found[place]))
        place += len(char.encode())
    return spans
