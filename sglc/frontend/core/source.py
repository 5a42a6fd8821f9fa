"""The source of Python functions and classes: read, parsed, never run."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from sglc.frontend.core.literals import offsets
from sglc.source import Source, Span

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
NOWHERE = Source("<python>", "")
"""Where something stands that has no source."""


class NoSource(Exception):
    """The source of an object cannot be had; the text says why."""


@dataclass(frozen=True, eq=False)
class PythonFile:
    """One file, or cell of a notebook, of Python text."""

    source: Source
    tree: ast.Module

    def span(self, node: ast.AST) -> Span:
        """Where a node of the Python tree stands."""
        start = self._offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        end = self._offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        return Span(self.source, start, end)

    def header(self, node: FunctionNode | ast.ClassDef) -> Span:
        """The first line of a function or class, from its word on, without decorators."""
        start = self._offset(node.lineno, node.col_offset)
        end = self.source.text.find("\n", start)
        return Span(self.source, start, len(self.source.text) if end < 0 else end)

    def word(self, node: ast.AST, word: str) -> Span:
        """The first place of a word in a node; the whole node where it is not there."""
        span = self.span(node)
        at = self.source.text.find(word, span.start, span.end)
        return span if at < 0 else Span(self.source, at, at + len(word))

    def characters(self, node: ast.Constant) -> list[int] | None:
        """Offsets of the characters of a text in quotes (see `literals.offsets`)."""
        span = self.span(node)
        return offsets(self.source.text, span.start, span.end, str(node.value))

    def _offset(self, line: int, column: int) -> int:
        """The offset of a line from 1 and a column in bytes of UTF-8."""
        start = self.source.line_starts[line - 1]
        text = self.source.line(line)
        return start + (column if text.isascii() else len(text.encode()[:column].decode(errors="ignore")))

    @cached_property
    def functions(self) -> list[FunctionNode]:
        """All functions, those inside others too."""
        return [node for node in ast.walk(self.tree) if isinstance(node, FunctionNode)]

    @cached_property
    def classes(self) -> list[ast.ClassDef]:
        """All classes, those inside others too."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]


@lru_cache(maxsize=64)
def _parsed(name: str, text: str) -> PythonFile:
    source = Source(name, text)
    if len(text) != len(text.replace("\r", "")):
        raise NoSource(f"{name} has line ends that are no newlines")
    try:
        return PythonFile(source, ast.parse(text))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NoSource(f"{name} cannot be read as Python: {error}") from None


def file_of(name: str, names: dict[str, object]) -> PythonFile:
    """The file that code says it is from; `names` are the globals of the module. Raises NoSource."""
    linecache.checkcache(name)
    lines = linecache.getlines(name, names)
    if not lines:
        raise NoSource(
            "Python keeps no source for it" if name.startswith("<") else f"{_shown(name)} cannot be read"
        )
    return _parsed(_shown(name), "".join(lines))


def function_node(function: Any) -> tuple[PythonFile, FunctionNode]:
    """The file and node of a function. Raises NoSource."""
    code = getattr(function, "__code__", None)
    if code is None:
        raise NoSource("it is no function that is written in Python")
    file = file_of(code.co_filename, function.__globals__)
    for node in file.functions:
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        if node.name == function.__name__ and first == code.co_firstlineno:
            return file, node
    if code.co_name == "<lambda>":
        raise NoSource("a lambda has no statements")
    raise NoSource(f"{file.source.name} has changed since it was imported")


def class_node(cls: type) -> tuple[PythonFile, ast.ClassDef] | None:
    """The file and node of a class; None where they are not found."""
    try:
        file = file_of(inspect.getfile(cls), {})
    except (NoSource, TypeError, OSError):
        return None
    last = cls.__qualname__.rpartition(".")[2]
    found = [node for node in file.classes if node.name == last]
    return (file, found[0]) if len(found) == 1 else None


def _shown(name: str) -> str:
    """A path as it is shown: relative to the working folder where it lies below it."""
    path = Path(name)
    if name.startswith("<") or not path.is_absolute():
        return name
    folder = Path(os.getcwd())
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else name
