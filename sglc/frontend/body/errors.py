"""Errors: `raise` and `except`."""

from __future__ import annotations

import ast as python
import builtins

from sglc.frontend.body.context import Context
from sglc.frontend.body.expressions import Expressions
from sglc.frontend.core.outside import MISSING
from sglc.frontend.types.constraints import NoType
from sglc.syntax.tree import ast


class Errors:
    """Translates the errors of one function."""

    def __init__(self, context: Context, expressions: Expressions) -> None:
        self.context = context
        self.expressions = expressions

    def raised(self, node: python.Raise) -> ast.Raise:
        """`raise Stuck(step)`, or a bare `raise`. Raises Untranslatable."""
        context, span = self.context, self.context.span(node)
        if node.cause is not None:
            raise context.refuse(
                "E0501",
                "an error has no cause in the language",
                node.cause,
                label="not translated",
                hint="leave `from …` out",
            )
        if node.exc is None:
            return ast.Raise(None, (), span)
        error = node.exc.func if isinstance(node.exc, python.Call) else node.exc
        name = self.name(error)
        if name is None:
            raise context.refuse(
                "E0501", "errors have a class of their own", error, label="any error", hint=_HINT
            )
        arguments: tuple[ast.Argument, ...] = ()
        if isinstance(node.exc, python.Call):
            arguments = self.expressions.calls.arguments(node.exc)
        return ast.Raise(name, arguments, span)

    def caught(self, handler: python.ExceptHandler) -> tuple[ast.Name, ...]:
        """The errors that an arm catches; none for all. Raises Untranslatable."""
        if handler.type is None:
            return ()
        named = handler.type.elts if isinstance(handler.type, python.Tuple) else [handler.type]
        names = [self.name(each) for each in named]
        return () if None in names else tuple(name for name in names if name is not None)

    def name(self, node: python.expr) -> ast.Name | None:
        """The error that a name of Python stands for; None for `Exception`. Raises Untranslatable."""
        context, span = self.context, self.context.span(node)
        found = context.meaning(node)
        if found is MISSING and isinstance(node, python.Name):
            return ast.Name(node.id, span)
        if found is Exception:
            return None
        if isinstance(found, type) and issubclass(found, BaseException):
            if hasattr(found, "__sgl_error__"):
                return ast.Name(found.__name__, span)
            if getattr(builtins, found.__name__, None) is not found:
                try:
                    return ast.Name(context.declared.error(found, context.annotations, span), span)
                except NoType as fault:
                    raise context.refuse(
                        "E0506", fault.what, node, label="no type", hint=fault.hint
                    ) from None
        raise context.refuse(
            "E0501",
            f"`{python.unparse(node)}` is no error of the language",
            node,
            label="not translated",
            hint=_HINT,
        )


_HINT = (
    "write a class with annotated fields (`class Stuck(Exception): step: int`), or `Truncated`, `Rejected`, "
    "`Unsatisfiable`, `Budget` or `Failure` of sglc"
)
