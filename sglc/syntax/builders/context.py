"""What building the nodes of one source needs."""

from __future__ import annotations

from sglc.source import Span
from sglc.syntax.builders.doc_comments import DocComments
from sglc.syntax.errors.reporter import Reporter


class Context:
    """The source, its doc comments, and the reporter of what is wrong in it."""

    def __init__(self, reporter: Reporter, docs: DocComments) -> None:
        self.source = reporter.source
        self.reporter = reporter
        self.docs = docs

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)
