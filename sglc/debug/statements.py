"""The statements of a program's files, so that a debugger stops at statements and not at lines."""

from __future__ import annotations

from sglc.bytecode.code import Program
from sglc.check.core.walk import statements
from sglc.source import Source
from sglc.syntax.parse import parse
from sglc.syntax.tree import ast

Rows = list[tuple[int, int, int]]


def statements_of(program: Program) -> dict[int, Rows]:
    """Offset, end and line of all statements of each file whose text the program keeps.

    A file that is no SGL, as a Python file with functions, has none.
    """
    found = {}
    for index, (name, text) in enumerate(zip(program.files, program.sources, strict=False)):
        rows = _rows(Source(name, text)) if text and name.endswith(".sgl") else []
        if rows:
            found[index] = rows
    return found


def _rows(source: Source) -> Rows:
    module, _ = parse(source)
    rows = []
    for declaration in module.declarations:
        if isinstance(declaration, ast.FunctionDeclaration | ast.TestDeclaration):
            for statement in statements(declaration.body):
                span = statement.span
                rows.append((span.start, span.end, source.position(span.start)[0]))
    return sorted(rows, key=lambda row: (row[0], -row[1]))
