"""Methods of lists that do something with each element."""

from __future__ import annotations

from sglc.check.core.result import BuiltinSymbol, CheckedModule, DefaultArgument
from sglc.syntax.tree import ast

LOOPS = frozenset({"map", "filter", "any", "all"})
"""Those that are compiled to loops."""
OF_ELEMENTS = LOOPS | {"max", "min", "sort", "group"}
"""All of them. Their only argument says what is done with an element; the last four get the list of what is
given for each."""


def of_element(checked: CheckedModule, node: ast.Call) -> ast.Expression | None:
    """What a method of lists does with each element; None for other calls."""
    symbol = checked.symbols.get(id(node))
    if not isinstance(symbol, BuiltinSymbol) or symbol.name[:1] != "." or symbol.name[1:] not in OF_ELEMENTS:
        return None
    arguments = checked.arguments[id(node)]
    return next((each for each in arguments if not isinstance(each, DefaultArgument)), None)
