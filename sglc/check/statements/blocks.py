"""Blocks of statements.

Role blocks are no scopes: a hole is bound in the block around its role. Bodies of `if`, loops, cases, `try`
and forks are scopes. A method that checks a statement tells whether the ones after it are cut off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sglc.check.core.callbacks import Callbacks
from sglc.check.core.context import ModuleContext
from sglc.check.core.function_state import Proved
from sglc.check.core.walk import Body
from sglc.check.names.scopes import Scopes
from sglc.immutable import node
from sglc.source import Span

_T = TypeVar("_T")


@node
class Blocks:
    """Statements in turn, in a scope of their own or in the one around them."""

    module: ModuleContext
    scopes: Scopes
    callbacks: Callbacks

    def body(self, statements: Body) -> bool:
        """Check statements in turn; whether their end can be reached."""
        open_ = True
        warned = False
        for place, statement in enumerate(statements):
            if not open_ and not warned:
                self.module.report(
                    "W0203",
                    "this is never run",
                    statement.span,
                    label="unreachable",
                    reason="the statement before always leaves the block",
                )
                warned = True
            after = statements[place + 1] if place + 1 < len(statements) else None
            ends = self.callbacks.statement(statement, after)
            open_ = open_ and not ends
        return open_

    def block(self, statements: Body, proved: Proved | None = None) -> bool:
        """A body with a scope of its own, whose holes are not met by every run."""
        self.scopes.open()
        if proved:
            self.scopes.function.scope.proved.add(proved)
        costs, self.scopes.function.costs = self.scopes.function.costs, None
        reached = self.body(statements)
        self.scopes.function.costs = costs
        self.scopes.close()
        return reached

    def bounded(self, marker: object, action: Callable[[], _T]) -> _T:
        """Do something inside a loop, fork or try: a retry from there cannot go back over its edge."""
        outer = self.scopes.function.boundary
        self.scopes.function.boundary = (*outer, id(marker))
        found = action()
        self.scopes.function.boundary = outer
        return found


def header(span: Span) -> Span:
    """The first line of a block: where to point when all of it is meant."""
    end = span.source.text.find("\n", span.start)
    return span if end < 0 or end >= span.end else Span(span.source, span.start, end)
