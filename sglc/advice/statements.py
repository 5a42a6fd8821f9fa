"""Where in the lists of statements a place of the source stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sglc.source import Span
from sglc.syntax.tree import ast

Body = tuple[ast.Statement, ...]


@dataclass(frozen=True, slots=True)
class Spot:
    """Statement number `index` of a list."""

    body: Body
    index: int

    @property
    def statement(self) -> ast.Statement:
        """The statement itself."""
        return self.body[self.index]


def spots_of(bodies: Sequence[Body], place: Span) -> list[Spot]:
    """The statements around a place, the outermost first, each with the list that it stands in."""
    for body in bodies:
        for index, statement in enumerate(body):
            span = statement.span
            if span.source is place.source and span.start <= place.start and place.end <= span.end:
                return [Spot(body, index), *spots_of(list(_inner(statement)), place)]
    return []


def _inner(statement: ast.Statement) -> Iterator[Body]:
    """The lists of statements directly in a statement."""
    match statement:
        case ast.If(branches, otherwise):
            yield from (body for _, body in branches)
            yield otherwise
        case ast.Match(_, cases):
            yield from (case.body for case in cases)
        case ast.Try(body, handlers):
            yield body
            yield from (handler.body for handler in handlers)
        case (
            ast.For()
            | ast.StreamFor()
            | ast.While()
            | ast.Role()
            | ast.Using()
            | ast.Parallel()
            | ast.Forget()
        ):
            yield statement.body
