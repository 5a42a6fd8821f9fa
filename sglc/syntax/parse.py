"""The door of the syntax room: text in, syntax tree and diagnostics out. Bad input never raises."""

from __future__ import annotations

from typing import Any

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.source import Source, Span
from sglc.syntax import ast
from sglc.syntax.automaton import Machine
from sglc.syntax.build import Builder
from sglc.syntax.layout import Layout, words_of
from sglc.syntax.limits import LONG_LINE, too_deep, unreadable
from sglc.syntax.sound_edits import with_sound_edits
from sglc.syntax.tables import load

_machine: Machine | None = None
_words: dict[str, Any] = {}


def parse(source: Source) -> tuple[ast.Module, list[Diagnostic]]:
    """The module that could be read from a source, and everything to be said about its syntax, in order."""
    module, found = _read(source)
    if any(diagnostic.edits for diagnostic in found):
        found = with_sound_edits(found, source, lambda text: _read(Source(source.name, text))[1])
    return module, found


def _read(source: Source) -> tuple[ast.Module, list[Diagnostic]]:
    """The same, with edits that are not yet tried."""
    fault = unreadable(source)
    if fault is not None:
        return ast.Module(source, (), ""), [fault]
    machine = _ready()
    tokens = Layout(source.text, _words).module()
    builder = Builder(source, machine, _words)
    declarations = builder.parse(tokens, "module") or ()
    if tokens.longest > 100 or any(len(line) > LONG_LINE for line in source.text.splitlines()):
        declarations = too_deep(declarations, builder.diagnostics)
    doc = builder.module_doc(declarations)
    builder.stray_docs()
    return ast.Module(source, declarations, doc), in_order(builder.diagnostics)


def parse_expression(text: str, name: str = "<expression>") -> tuple[ast.Expression | None, list[Diagnostic]]:
    """One expression, as in `--arg`."""
    return _fragment(Source(name, text), "expression")


def parse_type(text: str, name: str = "<type>") -> tuple[ast.TypeExpression | None, list[Diagnostic]]:
    """One type expression."""
    return _fragment(Source(name, text), "type_only")


def tokens(source: Source) -> list[tuple[str, str, Span]]:
    """Kind, text and place of every token; indentation, line ends and the end of the file have no text."""
    _ready()
    found = Layout(source.text, _words).module()
    return [
        (kind.strip("_$"), source.text[start:end], Span(source, start, end))
        for kind, start, end in zip(found.kinds, found.starts, found.ends, strict=True)
    ]


def in_order(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics in the order of the text, each once."""
    seen: dict[tuple[str, int, int], Diagnostic] = {}
    for diagnostic in diagnostics:
        assert diagnostic.span is not None
        seen.setdefault((diagnostic.code, diagnostic.span.start, diagnostic.span.end), diagnostic)
    return sorted(seen.values(), key=lambda d: d.span.start if d.span else 0)


def _ready() -> Machine:
    """The machine, made at the first call and kept."""
    global _machine
    if _machine is None:
        tables = load()
        _words.update(words_of(tables.literals))
        _machine = Machine(tables, Builder)
    return _machine


def _fragment(source: Source, start: str) -> tuple[Any, list[Diagnostic]]:
    fault = unreadable(source)
    if fault is not None:
        return None, [fault]
    machine = _ready()
    found = Layout(source.text, _words).fragment()
    builder = Builder(source, machine, _words)
    builder.layout_faults(found.faults)
    node = builder.parse_inside(found, start, Span(source, 0, len(source.text)))
    if node is not None and start == "type_only":
        node = builder.settled(node)
    diagnostics = in_order(builder.diagnostics)
    return (None if any(d.severity == "error" for d in diagnostics) else node), diagnostics
