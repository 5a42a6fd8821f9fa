"""Calls against the order of the rooms.

A room knows those below it. Where the language is recursive (a type has a condition, a condition is an
expression, an expression has a hole, a hole has a type), the lower room asks through one of these fields.
`sglc.check.wiring` sets each once, when it makes the checkers of a module.
"""

from __future__ import annotations

from collections.abc import Callable

from sglc.check.core.context import OpenedType, OpenGrammar
from sglc.check.core.result import Conditions, ExpressionType, HoleNode
from sglc.syntax.tree import ast


class Callbacks:
    """One for each module. All fields are set before anything is checked."""

    condition_of_type: Callable[
        [ExpressionType, ast.TypeRefined, ast.Expression], tuple[ExpressionType, Conditions]
    ]
    """A type with a `where` taken in, and the conditions that stay beside it. Types ask holes."""
    dependent_type: Callable[[ast.TypeSpanOf | ast.TypeOneOf], ExpressionType]
    """A type that depends on a value of the run. Types ask holes."""
    given_grammar: Callable[[ast.TypeName, OpenGrammar], ExpressionType]
    """The type of a grammar with values for its parameters. Types ask holes."""
    applied_type: Callable[[ast.TypeName, str, OpenedType], ExpressionType]
    """The declared type of that name with values for its parameters. Types ask holes."""
    form: Callable[[ast.Expression, ExpressionType | None], ExpressionType]
    """The type of an expression by its form. All expressions ask for those inside them."""
    decided: Callable[[ast.Expression, str, int], None]
    """Says where a condition always has the same answer. All conditions ask proofs."""
    hole: Callable[[HoleNode], ExpressionType]
    """The type of a hole that is an expression. Expressions ask holes."""
    fork: Callable[[ast.Fork], ExpressionType]
    """The type of the branches of a fork. Expressions ask statements."""
    statement: Callable[[ast.Statement, ast.Statement | None], bool]
    """Checks a statement, given the one after it; whether the ones after it are cut off. All statements with
    blocks ask for those inside them."""
