"""What `s += …` writes: texts, inserts and holes, as pipe lines."""

from __future__ import annotations

import ast as python
from collections.abc import Callable, Iterator, Sequence
from enum import Enum

from sglc.frontend.body.context import Context
from sglc.frontend.body.expressions import Expressions
from sglc.frontend.body.holes import Holes
from sglc.source import Span
from sglc.syntax.tree import ast


class Break(Enum):
    """Where a line of text ends."""

    NEWLINE = 0


Piece = ast.TextPart | Break
ROLES = ("system", "user", "assistant")


class Texts:
    """Translates the texts of one function."""

    def __init__(self, context: Context, expressions: Expressions, holes: Holes) -> None:
        self.context = context
        self.expressions = expressions
        self.holes = holes

    def pieces(self, node: python.expr) -> list[Piece]:
        """What an expression of text writes. Raises Untranslatable."""
        leaves = list(_leaves(node))
        if len(leaves) > 1 and not any(self._is_text(leaf) for leaf in leaves):
            return [self._insert(node)]
        return [piece for leaf in leaves for piece in self._leaf(leaf)]

    def _is_text(self, node: python.expr) -> bool:
        if isinstance(node, python.Call):
            return self.context.word(node) in ("gen", "choose", "select", "schema")
        return isinstance(node, python.JoinedStr) or (
            isinstance(node, python.Constant) and isinstance(node.value, str)
        )

    def _leaf(self, node: python.expr) -> Iterator[Piece]:
        match node:
            case python.Constant(value=str()):
                yield from self._written(node)
            case python.JoinedStr(values=parts):
                for part in parts:
                    yield from self._braced(part, node)
            case python.Call():
                word = self.context.word(node)
                if word in ROLES:
                    raise self.context.refuse(
                        "E0508",
                        f"a message stands alone, and not beside text: `{word}`",
                        node,
                        label="beside other text",
                        hint=f"write `s += {word}(…)` as a statement of its own",
                    )
                yield (
                    self.holes.hole(node, word) if word in ("gen", "choose", "select") else self._insert(node)
                )
            case _:
                yield self._insert(node)

    def _insert(self, node: python.expr) -> ast.Insert:
        return ast.Insert(self.expressions.of(node), self.context.span(node))

    def _braced(self, part: python.expr, whole: python.JoinedStr) -> Iterator[Piece]:
        if isinstance(part, python.FormattedValue):
            value = self.expressions.inserted(part)
            if isinstance(value, python.Call) and self.context.word(value) in ("gen", "choose", "select"):
                yield self.holes.hole(value, self.context.word(value))
            else:
                yield self._insert(value)
            return
        # The place of a text between braces is not told by all versions of Python; that of the whole is.
        start = self.context.span(whole).start
        span = Span(self.context.file.source, start, start + 1)
        yield from _lines(str(getattr(part, "value", "")), lambda begin, end: span)

    def _written(self, node: python.Constant) -> Iterator[Piece]:
        whole = self.context.span(node)
        places = self.context.file.characters(node)

        def span(begin: int, end: int) -> Span:
            return whole if places is None else Span(whole.source, places[begin], places[end])

        yield from _lines(str(node.value), span)


def _leaves(node: python.expr) -> Iterator[python.expr]:
    """The operands of a chain of `+`."""
    if isinstance(node, python.BinOp) and isinstance(node.op, python.Add):
        yield from _leaves(node.left)
        yield from _leaves(node.right)
    else:
        yield node


def _lines(text: str, span: Callable[[int, int], Span]) -> Iterator[Piece]:
    start = 0
    for number, line in enumerate(text.split("\n")):
        if number:
            yield Break.NEWLINE
        if line:
            yield ast.Text(line, span(start, start + len(line)))
        start += len(line) + 1


def pipe_lines(pieces: Sequence[Piece], span: Span, follows: bool) -> list[ast.PipeLine]:
    """The lines that some pieces are.

    A newline at the end ends the line, and is written when the next one starts; without it the last line is
    glued to what `follows` in the message.
    """
    lines: list[list[ast.TextPart]] = [[]]
    for piece in pieces:
        if isinstance(piece, Break):
            lines.append([])
        elif isinstance(piece, ast.Text) and lines[-1] and isinstance(lines[-1][-1], ast.Text):
            last = lines[-1][-1]
            lines[-1][-1] = ast.Text(last.text + piece.text, last.span)
        else:
            lines[-1].append(piece)
    if not lines[-1]:
        lines.pop()
        follows = False
    last_place = len(lines) - 1
    return [
        ast.PipeLine(
            tuple(parts),
            follows and place == last_place,
            parts[0].span.to(parts[-1].span) if parts else span,
        )
        for place, parts in enumerate(lines)
    ]
