"""An input cut into its declarations and its statements.

A piece begins at a line at the left margin. Whether it declares something is tried, not guessed:
`part f(x: T):` declares, `part f("x")` is a statement, and many words are keywords in some places only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.source import Source, Span
from sglc.syntax.parse import parse_part, tokens
from sglc.syntax.tree import ast

FOLLOWERS = frozenset(("elif", "else", "except"))
"""Words at the margin that go on with the statement above."""
DECLARING = frozenset(
    "use import test const type error record enum union grammar fn pure part aside extern pub".split()
)
"""Words that declarations begin with."""
OPEN = frozenset(("E0106", "E0123"))
"""Findings of a text that ends within a bracket or a block of text."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration: its text, with the comments before it, and the names that it gives a meaning.

    `kind` is a word for messages. A test is known by its title, in quotes.
    """

    span: Span
    names: tuple[str, ...]
    kind: str
    function: bool = False
    """Whether it can be called from outside."""


@dataclass(frozen=True, slots=True)
class Cut:
    """An input in parts. `found` are errors of syntax and warnings; with errors the parts do not count."""

    declarations: tuple[Declared, ...]
    statements: tuple[Span, ...]
    found: tuple[Diagnostic, ...]

    @property
    def sound(self) -> bool:
        """Whether all of it could be read."""
        return not has_errors(list(self.found))


def cut(source: Source) -> Cut:
    """The declarations and statements of an input."""
    whole = Span(source, 0, len(source.text))
    pieces = list(_pieces(source))
    nodes, found = _read(whole, "module")
    if not pieces:
        return Cut((), (), tuple(found))
    if nodes and not has_errors(found):
        return Cut(tuple(_declared(pieces, nodes)), (), tuple(found))
    nodes, found = _read(whole, "block")
    if nodes and not has_errors(found):
        return Cut((), tuple(pieces), tuple(found))
    declarations: list[Declared] = []
    statements: list[Span] = []
    told: list[Diagnostic] = []
    for piece in pieces:
        nodes, found = _read(piece, "module")
        if nodes and not has_errors(found):
            declarations += _declared([piece], nodes)
        else:
            as_statements = _read(piece, "block")[1]
            if not has_errors(as_statements) or not _declares(piece):
                found = as_statements
                statements.append(piece)
        told += found
    return Cut(tuple(declarations), tuple(statements), tuple(told))


def is_open(text: str) -> bool:
    """Whether an input that is being typed goes on: within a bracket, a block of text or an indented block,
    which a blank line ends, or behind a colon or a line that is glued to the next one."""
    if not text.strip():
        return False
    source = Source("", text)
    if any(each.code in OPEN for each in _read(Span(source, 0, len(text)), "block")[1]):
        return True
    lines = text.split("\n")
    if not lines[-1].strip():
        return False
    depth, inside, last = 0, 0, ""
    for kind, _, _ in tokens(source):
        depth += (kind == "INDENT") - (kind == "DEDENT")
        if kind not in ("NEWLINE", "INDENT", "DEDENT", "END"):
            inside, last = depth, kind
    return inside > 0 or last == ":" or (last == "PIPE" and lines[-1].endswith("\\"))


def goes_on(line: str) -> bool:
    """Whether a line at the margin can belong to the block above it."""
    word = line.split(":")[0].split(" ")[0].strip()
    return not line.strip() or line[:1].isspace() or word in FOLLOWERS or line[:1] in ")]}#|"


def _read(span: Span, goal: str) -> tuple[tuple[ast.Declaration | ast.Statement, ...], list[Diagnostic]]:
    return parse_part(span.source, span.start, span.end, "module" if goal == "module" else "block")


def _pieces(source: Source) -> Iterator[Span]:
    """The pieces of a text: from one line at the margin up to the next, comments before it in it."""
    starts: list[int] = []
    depth, fresh = 0, True
    for kind, text, span in tokens(source):
        if kind == "INDENT":
            depth += 1
        elif kind == "DEDENT":
            depth -= 1
        elif kind == "NEWLINE":
            fresh = True
        elif kind != "END":
            if fresh and depth == 0 and (text not in FOLLOWERS or not starts):
                starts.append(span.start)
            fresh = False
    ends = [*starts[1:], len(source.text)][: len(starts)]
    before = 0
    for start, following in zip(starts, ends, strict=True):
        end = _without_comments(source.text, start, following)
        yield Span(source, before, end)
        before = end


def _without_comments(text: str, start: int, end: int) -> int:
    """The end of a piece without the comments and blank lines that stand before the next one."""
    lines = text[start:end].split("\n")
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].startswith("#")):
        lines.pop()
    return min(end, start + len("\n".join(lines)) + 1)


def _declares(piece: Span) -> bool:
    """Whether a piece that is neither sound as a declaration nor as a statement is meant as a declaration."""
    lines = [line for line in piece.text.split("\n") if line.strip() and not line.startswith("#")]
    first = lines[0].split() if lines else []
    if not first or first[0] not in DECLARING:
        return False
    return len(first) > 1 and (first[1][:1].isalpha() or first[1][:1] in '_"./')


def _declared(pieces: list[Span], nodes: tuple[object, ...]) -> Iterator[Declared]:
    ends = [piece.end for piece in pieces]
    for node in nodes:
        span: Span = node.span  # type: ignore[attr-defined]
        yield _known(pieces[min(bisect_right(ends, span.start), len(pieces) - 1)], node)


def _known(piece: Span, node: object) -> Declared:
    match node:
        case ast.Use(names=names, path=path):
            local = tuple(name.text for _, name in names)
            return Declared(piece, local or (path.rpartition(".")[2].rpartition("/")[2],), "import")
        case ast.TestDeclaration(title=title):
            return Declared(piece, (f'"{title}"',), "test")
        case ast.GrammarImport(name=name, path=path):
            stem = path.rpartition("/")[2].partition(".")[0] if name is None else name.text
            return Declared(piece, (stem,), "grammar")
        case ast.FunctionDeclaration(kind=kind, name=name, type_parameters=parameters):
            return Declared(piece, (name.text,), kind, kind in ("fn", "pure") and not parameters)
        case ast.ExternDeclaration(name=name):
            return Declared(piece, (name.text,), "extern")
    word = type(node).__name__.removesuffix("Declaration").lower()
    named = getattr(node, "name", None)
    return Declared(piece, () if named is None else (named.text,), word)
