"""Formatting of open programs, as edits that leave the rest of the file and the cursors in it alone."""

from __future__ import annotations

import logging

from lsprotocol import types

from sglc.format.edits import formatted_range
from sglc.format.same import Unfaithful
from sglc.lsp.registering import answers
from sglc.lsp.session import Session

LOG = logging.getLogger("sglc.lsp")


class LayingOut:
    """Answers about the layout of files."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def register(self) -> None:
        """Enter what is answered."""
        server = self.session.server
        answers(server, types.TEXT_DOCUMENT_FORMATTING, self.whole)
        answers(server, types.TEXT_DOCUMENT_RANGE_FORMATTING, self.part)

    def whole(self, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        """The edits of a file; None where it has errors of syntax."""
        return self._edits(params.text_document.uri, None)

    def part(self, params: types.DocumentRangeFormattingParams) -> list[types.TextEdit] | None:
        """The edits of the declarations that a range touches; None where the file has errors of syntax."""
        return self._edits(params.text_document.uri, params.range)

    def _edits(self, uri: str, range: types.Range | None) -> list[types.TextEdit] | None:
        document = self.session.document(uri)
        if document is None:
            return None
        source, lines = document.source, self.session.lines(document.source)
        start, end = 0, len(source.text)
        if range is not None:
            start, end = lines.offset(range.start), lines.offset(range.end)
        try:
            edits, found = formatted_range(source, start, end)
        except Unfaithful as fault:
            LOG.error("a file is not formatted: %s", fault)
            return None
        if found:
            return None
        return [types.TextEdit(lines.range(each.span.start, each.span.end), each.text) for each in edits]
