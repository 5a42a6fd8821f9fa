"""One function whose own statements are the program: `@sgl_function`."""

from __future__ import annotations

from sglc.frontend.body.bindings import find_bindings, find_branches, find_holes, find_lists
from sglc.frontend.body.calls import Calls
from sglc.frontend.body.context import Context
from sglc.frontend.body.expressions import Expressions
from sglc.frontend.body.holes import Holes
from sglc.frontend.body.statements import Statements
from sglc.frontend.body.text import Texts
from sglc.syntax.tree import ast


def read_body(context: Context, follows: bool) -> tuple[ast.Statement, ...]:
    """The statements of a function; what cannot be translated is reported.

    `follows` tells whether the text of the caller's message goes on behind it, as it does behind a part.
    """
    find_branches(context)
    main = set(context.states)
    context.states |= context.branches
    find_bindings(context)
    find_holes(context)
    find_lists(context)
    context.states = main
    expressions = Expressions(context)
    expressions.calls = Calls(context, expressions)
    expressions.holes = Holes(context, expressions)
    texts = Texts(context, expressions, expressions.holes)
    return Statements(context, expressions, texts).block(context.node.body, follows)


def read_default(context: Context, node: object) -> ast.Expression:
    """The default of a parameter. Raises Untranslatable."""
    expressions = Expressions(context)
    expressions.calls = Calls(context, expressions)
    expressions.holes = Holes(context, expressions)
    return expressions.of(node)  # type: ignore[arg-type]
