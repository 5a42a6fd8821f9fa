"""Types that there are not, and built-in types with arguments: what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

from sglc.check.core.context import ModuleContext
from sglc.diagnostics.diagnostic import Edit
from sglc.syntax.tree import ast

_BOUNDS = {
    "int": "write `int in 1..5`",
    "decimal": "write `decimal in 0..1`",
    "float": "write `float in 0..1`",
    "str": "write `str max 80 chars`",
}
"""How the bounds of a built-in type are written."""

_PIECES = ("span", "substring", "quote", "excerpt")
"""What a piece of a text is called elsewhere."""

IN_THE_LIBRARY = {
    "date": "std.time",
    "time": "std.time",
    "datetime": "std.time",
    "duration": "std.time",
    "email": "std.text",
    "uri": "std.text",
    "url": "std.text",
    "uuid": "std.text",
    "ipv4": "std.text",
    "ipv6": "std.text",
    "hostname": "std.text",
    "slug": "std.text",
    "identifier": "std.text",
}


def report_unknown_type(module: ModuleContext, node: ast.TypeName, known: Iterable[str]) -> None:
    """Say that there is no such type; `known` are the names of those that there are."""
    from sglc.syntax.errors.foreign.types import SEVERAL, TYPE_NAMES

    close = module.nearest(node.name, known)
    meant = TYPE_NAMES.get(node.name) or (close if close and close.lower() == node.name.lower() else None)
    copied = meant is None and node.name in _PIECES
    of = node.arguments[0].span.text if copied and len(node.arguments) == 1 else ""
    meant = f"span of {of}" if of else meant
    home = IN_THE_LIBRARY.get(node.name)
    hint = f"write `{meant}`" if meant else SEVERAL.get(node.name, "")
    if copied and not of:
        hint = "a piece of a text is `span of x`"
    if node.name == "untrusted":
        hint = "the type stands behind it: `untrusted str`"
    if not hint and home is not None:
        hint = f"add `use {home} ({node.name})` at the top of the file"
    if not hint and close:
        hint = f"did you mean `{close}`?"
    module.report(
        "E0202",
        f"there is no type `{node.name}`",
        node.span,
        label="unknown type",
        hint=hint,
        edits=(Edit(node.span, meant),) if meant else (),
    )


def report_arguments(module: ModuleContext, node: ast.TypeName) -> None:
    """Say that a built-in type takes no arguments."""
    module.report(
        "E0221",
        f"`{node.name}` takes no arguments",
        node.span,
        label="bounds stand behind the type",
        hint=_BOUNDS.get(node.name, f"write `{node.name}`"),
        edits=_as_range(node),
    )


def _as_range(node: ast.TypeName) -> tuple[Edit, ...]:
    """`int(1, 5)` as `int in 1..5`."""
    values = node.arguments
    if len(values) != 2 or not all(isinstance(value, ast.Number) for value in values) or node.name == "str":
        return ()
    low, high = values
    return (Edit(node.span, f"{node.name} in {low.span.text}..{high.span.text}"),)
