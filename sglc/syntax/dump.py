"""The syntax tree as text: one node a line, indented, the same for the same tree.

Function fn crew
  Parameter theme
    TypeName str
  …
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from sglc.source import Source, Span
from sglc.syntax.tree import ast


def dump(module: object, *, spans: bool = False) -> str:
    """A module, or any node. A node's line has its class and its plain values; below stand its nodes.

    With `spans` a line ends in `@line:column-line:column`.
    """
    lines: list[str] = []
    waiting: list[tuple[int, str, object]] = [(0, "", module)]
    while waiting:
        level, label, node = waiting.pop()
        head, below = _describe(node, label, spans)
        lines.append("  " * level + head)
        waiting += [(level + 1, name, child) for name, child in reversed(below)]
    return "\n".join(lines) + "\n"


def _describe(node: object, label: str, spans: bool) -> tuple[str, list[tuple[str, object]]]:
    """A node's own line and the labelled nodes below it."""
    lead = f"{label}: " if label else ""
    if isinstance(node, tuple):
        return lead.rstrip(" ") or "-", [("", item) for item in node]
    if not is_dataclass(node) or isinstance(node, type):
        return lead + _plain(node), []
    words = [type(node).__name__]
    below: list[tuple[str, object]] = []
    place = ""
    for field in fields(node):
        name, value = field.name, getattr(node, field.name)
        if isinstance(value, Span):
            if spans and name == "span":
                place = f" @{_place(value)}"
        elif name == "value" and isinstance(node, ast.Boolean | ast.LiteralPattern | ast.TypeLiteral):
            words.append(_plain(value))
        elif isinstance(value, Source) or value is None or value == () or value is False:
            continue
        elif isinstance(value, ast.Name):
            words.append(value.text if name == "name" else f"{name}={value.text}")
        elif isinstance(value, tuple):
            if all(isinstance(item, ast.Name) for item in value):
                words.append(f"{name}={','.join(item.text for item in value)}")
            elif all(isinstance(item, str) for item in value) and type(node) is not ast.String:
                words.append(f"{name}={','.join(value)}")
            elif name in _QUIET and not any(isinstance(item, tuple) for item in value):
                below += [("", item) for item in value]
            else:
                below.append((name, value))
        elif is_dataclass(value):
            below.append(("" if name in _QUIET else name, value))
        elif value is True and name != "value":
            words.append(name)
        elif name == "doc":
            if value:
                words.append(f"doc={value!r}")
        elif name in ("name", "operator", "kind", "role", "text", "pattern", "path", "title", "value"):
            words.append(_plain(value) if name not in _WORDS else str(value))
        else:
            words.append(f"{name}={_plain(value)}")
    return lead + " ".join(words) + place, below


_WORDS = frozenset(("name", "operator", "kind", "role"))
_QUIET = frozenset(
    "value body statements declarations items parts arguments fields members variants parameters "
    "type left right operand options arms item cases branches handlers rules content call names base "
    "refinements".split()
)
"""Parts whose name adds nothing to what is below."""


def _plain(value: object) -> str:
    if isinstance(value, str):
        return '"' + value.encode("unicode_escape").decode("ascii").replace('"', '\\"') + '"'
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)


def _place(span: Span) -> str:
    start, end = span.source.position(span.start), span.source.position(span.end)
    return f"{start[0]}:{start[1]}-{end[0]}:{end[1]}"
