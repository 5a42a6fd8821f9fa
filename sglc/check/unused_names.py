"""Imports and private declarations that nothing uses."""

from __future__ import annotations

from sglc.check.core.context import Entity, ModuleContext
from sglc.syntax.tree import ast


def report_unused_names(module: ModuleContext) -> None:
    """Imports and private helpers of the main module that nothing uses."""
    for label, entity in module.names.items():
        if entity.used or entity.kind == "broken" or label.startswith("_"):
            continue
        if entity.imported:
            module.report(
                "W0201",
                f"`{label}` is imported and never used",
                entity.span,
                label="not used",
                hint="remove it from the `use`",
            )
        elif not entity.public and _is_helper(module, entity):
            what = {"const": "constant", "type": "type", "error": "error"}.get(entity.kind, "helper")
            module.report(
                "W0201",
                f"{what} `{label}` is never used",
                entity.span,
                label="not used",
                hint="remove it, or share it with `pub`",
            )


def _is_helper(module: ModuleContext, entity: Entity) -> bool:
    node = entity.declaration
    if isinstance(node, ast.FunctionDeclaration):
        return node.kind in ("part", "pure", "aside")
    if entity.kind == "type":
        return entity.name in module.table
    return True
