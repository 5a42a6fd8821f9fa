"""Diagnostics of the compiler as those of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from lsprotocol import types

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.lsp.positions import Encoding, Lines
from sglc.service.core.snapshot import Snapshot
from sglc.source import Source, Span
from sglc.syntax.tree import ast

SOURCE = "sglc"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
_UNUSED = frozenset(("W0201", "W0203", "W0208", "W0211", "W0227"))
"""What is not used or never reached: editors show it faded."""
_MOST_TOLD = 3


class Findings:
    """Shows the findings of one snapshot."""

    def __init__(
        self, snapshot: Snapshot, lines: Callable[[Source], Lines], uri: Callable[[Path], str]
    ) -> None:
        self._snapshot = snapshot
        self._lines = lines
        self._uri = uri

    def shown(self, found: Iterable[Diagnostic]) -> list[types.Diagnostic]:
        """Those of the file itself, and for each module with errors one where it is used."""
        own: list[Diagnostic] = []
        others: list[Diagnostic] = []
        for diagnostic in found:
            inside = diagnostic.span is None or diagnostic.span.source is self._snapshot.source
            (own if inside else others).append(diagnostic)
        return [self.one(each) for each in own] + self._of_modules(others)

    def one(self, diagnostic: Diagnostic) -> types.Diagnostic:
        """One finding."""
        related = [
            types.DiagnosticRelatedInformation(self.location(label.span), label.text or "here")
            for label in diagnostic.secondary
        ]
        return shown_alone(diagnostic, self._lines, related)

    def range(self, span: Span) -> types.Range:
        """The range of a span in its own file."""
        return self._lines(span.source).range(span.start, span.end)

    def location(self, span: Span) -> types.Location:
        """The place of a span."""
        return types.Location(self._uri(self._snapshot.path_of(span.source)), self.range(span))

    def _of_modules(self, found: list[Diagnostic]) -> list[types.Diagnostic]:
        by_source: dict[Source, list[Diagnostic]] = {}
        for diagnostic in found:
            if diagnostic.severity == "error" and diagnostic.span is not None:
                by_source.setdefault(diagnostic.span.source, []).append(diagnostic)
        told_of = []
        for source, errors in by_source.items():
            name = self._snapshot.library.module_name(source)
            count = f"{len(errors)} error" + ("" if len(errors) == 1 else "s")
            span = self._use_of(source)
            told_of.append(
                types.Diagnostic(
                    range=self.range(span),
                    message=f"module `{name}` has {count}: {errors[0].message}",
                    severity=types.DiagnosticSeverity.Error,
                    code=errors[0].code,
                    source=SOURCE,
                    related_information=[
                        types.DiagnosticRelatedInformation(self.location(each.span), each.message)
                        for each in errors[:_MOST_TOLD]
                        if each.span is not None
                    ],
                )
            )
        return told_of

    def _use_of(self, source: Source) -> Span:
        """The `use` of a module; where another module uses it, the file's first one."""
        uses = [node for node in self._snapshot.tree.declarations if isinstance(node, ast.Use)]
        for node in uses:
            module = self._snapshot.module_of(node)
            if module is not None and module.module.source is source:
                return node.span
        return uses[0].span if uses else Span(self._snapshot.source, 0, 0)


def shown_alone(
    diagnostic: Diagnostic,
    lines: Callable[[Source], Lines],
    related: list[types.DiagnosticRelatedInformation] | None = None,
) -> types.Diagnostic:
    """A finding of one file; one without a place stands at its beginning."""
    span = diagnostic.span
    start = types.Position(0, 0)
    return types.Diagnostic(
        range=types.Range(start, start) if span is None else lines(span.source).range(span.start, span.end),
        message=told(diagnostic),
        severity=_SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if diagnostic.code in _UNUSED else None,
        related_information=related or None,
    )


def told(diagnostic: Diagnostic) -> str:
    """The message with what was said beside it, each part on a line."""
    lines = [diagnostic.message]
    if diagnostic.label and not diagnostic.reason:
        lines.append(diagnostic.label)
    lines += [diagnostic.reason] if diagnostic.reason else []
    lines += [f"example: {diagnostic.witness}"] if diagnostic.witness else []
    lines += [f"hint: {diagnostic.hint}"] if diagnostic.hint else []
    return "\n".join(lines)


class Numbered:
    """The lines of sources, kept for those that were asked for last."""

    def __init__(self, encoding: Encoding = "utf-16") -> None:
        self.encoding: Encoding = encoding
        self._known: dict[Source, Lines] = {}

    def __call__(self, source: Source) -> Lines:
        known = self._known.pop(source, None)
        if known is None:
            known = Lines(source.text, self.encoding)
            if len(self._known) >= 32:
                del self._known[next(iter(self._known))]
        self._known[source] = known
        return known
