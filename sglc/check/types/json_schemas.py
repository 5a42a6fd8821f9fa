"""`json schema "file.json"` and `json schema {…}` as types."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.files import file_text
from sglc.check.core.result import ExpressionType, Unknown
from sglc.library import LibraryError
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.json_bundle import bundled_schema_text
from sglc.types.schema_language import SchemaTextError
from sglc.types.type import Json

MAX_CHARS = 4_000_000
"""Longest text of a schema: it becomes a part of the compiled module.program."""


def json_schema_type(module: ModuleContext, node: ast.TypeJsonSchema) -> ExpressionType:
    """The type of the values that satisfy a schema; what is wrong with the schema is reported."""
    known = module.program.memo.get(("json schema", id(node)))
    if known is None:
        known = module.program.memo["json schema", id(node)] = _read(module, node)
    return known


def _read(module: ModuleContext, node: ast.TypeJsonSchema) -> ExpressionType:
    text: str | None = node.source
    if not node.inline:
        text = file_text(module, node.source, node.span)
        if text is None:
            return Unknown()
    assert text is not None
    folder = "" if node.inline else node.source.rpartition("/")[0]

    def read(path: str) -> str | None:
        return module.program.library.read_text(f"{folder}/{path}" if folder else path, module.source)

    name = "this JSON Schema" if node.inline else f"`{node.source}`"
    if len(text) > MAX_CHARS:
        _refuse(module, name, node.span, f"it has more than {MAX_CHARS} characters", "")
        return Unknown()
    try:
        return Json(bundled_schema_text(text.removeprefix("\ufeff"), read, MAX_CHARS))
    except SchemaTextError as fault:
        _refuse(module, name, node.span, fault.reason, fault.path)
    except LibraryError as fault:
        _refuse(module, name, node.span, f"a file it refers to cannot be read: {fault.reason}", "")
    return Unknown()


def _refuse(module: ModuleContext, name: str, span: Span, reason: str, path: str) -> None:
    module.report(
        "E0354",
        f"{name} cannot be used as a type",
        span,
        label=f"at {path}" if path else "the schema",
        reason=reason,
    )
