"""Constructs of Python that have no counterpart in the language, and what to write instead."""

from __future__ import annotations

import ast as python

from sglc.frontend.body.context import Context, Untranslatable

STATEMENTS: dict[type[python.AST], tuple[str, str]] = {
    python.FunctionDef: ("a function inside a function", "move it to the module, under its own decorator"),
    python.AsyncFunctionDef: (
        "a function inside a function",
        "move it to the module, under its own decorator",
    ),
    python.ClassDef: ("a class inside the function", "move it to the module"),
    python.Import: ("an import inside the function", "move it to the top of the file"),
    python.ImportFrom: ("an import inside the function", "move it to the top of the file"),
    python.Global: ("`global`", "a program changes nothing outside of it: give the value back by `return`"),
    python.Nonlocal: (
        "`nonlocal`",
        "a program changes nothing outside of it: give the value back by `return`",
    ),
    python.Delete: ("`del`", "leave it out: a variable lives as long as its block"),
    python.AsyncFor: ("`async for`", "write `for`: calls that can run at the same time do so by themselves"),
    python.AsyncWith: (
        "`async with`",
        "write `with s.par():`, or nothing: calls run at the same time by themselves",
    ),
}
"""Statements by their class: what they are called, and what to write."""
if hasattr(python, "TryStar"):
    STATEMENTS[python.TryStar] = ("`except*`", "write `except`: there is one error at a time")

EXPRESSIONS: dict[type[python.AST], tuple[str, str]] = {
    python.Await: ("`await`", "call the function without it: calls run at the same time by themselves"),
    python.Yield: (
        "`yield`",
        "give all values back by `return`; a branch of `s.fork` ends by `finish(value)`",
    ),
    python.YieldFrom: ("`yield from`", "give all values back by `return`"),
    python.Lambda: (
        "a function without a name",
        "write a comprehension; `key=` of `min`, `max`, `sorted` takes one",
    ),
    python.NamedExpr: ("`:=`", "write the assignment on a line of its own"),
    python.Set: ("a set", "write a list: `[a, b]`"),
    python.SetComp: ("a set comprehension", "write a list comprehension: `[… for x in xs]`"),
    python.DictComp: ("a dict comprehension", "build a list, or write the entries out"),
    python.GeneratorExp: ("a generator", "write a list comprehension: `[… for x in xs]`"),
    python.Starred: ("`*`", "write the arguments or items out, or join lists by `+`"),
}
"""Expressions by their class."""

OPERATORS: dict[type[python.AST], str] = {
    python.MatMult: "@",
    python.LShift: "<<",
    python.RShift: ">>",
    python.BitOr: "|",
    python.BitAnd: "&",
    python.BitXor: "^",
    python.Invert: "~",
}
"""Operators that work on bits or matrices."""


def statement(context: Context, node: python.stmt) -> Untranslatable:
    """The error of a statement that is not translated."""
    what, hint = STATEMENTS.get(type(node), (f"this statement (`{type(node).__name__}`)", ""))
    return context.refuse(
        "E0501", f"{what} has no counterpart in the language", node, label="not translated", hint=hint
    )


def expression(context: Context, node: python.expr) -> Untranslatable:
    """The error of an expression that is not translated."""
    what, hint = EXPRESSIONS.get(type(node), (f"this expression (`{type(node).__name__}`)", ""))
    return context.refuse(
        "E0502", f"{what} has no counterpart in the language", node, label="not translated", hint=hint
    )


def operator(context: Context, node: python.expr, op: python.AST) -> Untranslatable:
    """The error of an operator that is not translated."""
    written = OPERATORS.get(type(op), type(op).__name__)
    return context.refuse(
        "E0502",
        f"`{written}` has no counterpart in the language",
        node,
        label="not translated",
        hint="operators are + - * / // % **, comparisons, `in`, `and`, `or`, `not`",
    )
