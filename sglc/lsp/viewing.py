"""What is asked about whole files: classes of words, hints, symbols, folds, links, lenses, repairs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from lsprotocol import types

from sglc.diagnostics.diagnostic import Edit
from sglc.lsp.registering import answers
from sglc.lsp.session import Session
from sglc.lsp.tokenizers import Tokenizers
from sglc.service.core.snapshot import Snapshot
from sglc.service.views.hints import Hint, counts_of, types_of
from sglc.service.views.lenses import lenses
from sglc.service.views.repairs import Repair, every_repair, repairs
from sglc.service.views.structure import folds, links
from sglc.service.views.symbols import FileSymbol, matching, symbols
from sglc.service.views.tokens import CLASSES, classified
from sglc.source import Span

_SYMBOLS = {
    "function": types.SymbolKind.Function,
    "record": types.SymbolKind.Struct,
    "enum": types.SymbolKind.Enum,
    "union": types.SymbolKind.Class,
    "type": types.SymbolKind.TypeParameter,
    "error": types.SymbolKind.Event,
    "constant": types.SymbolKind.Constant,
    "grammar": types.SymbolKind.Namespace,
    "test": types.SymbolKind.Method,
    "field": types.SymbolKind.Field,
    "member": types.SymbolKind.EnumMember,
    "variant": types.SymbolKind.Constructor,
    "rule": types.SymbolKind.Property,
    "hole": types.SymbolKind.Variable,
}
MOST_SYMBOLS = 500
"""Symbols of a project that are told at once."""
LEGEND = types.SemanticTokensLegend(list(CLASSES), ["declaration"])


class Viewing:
    """Answers about whole files."""

    def __init__(self, session: Session, tokenizers: Tokenizers) -> None:
        self.session = session
        self.tokenizers = tokenizers

    def register(self) -> None:
        """Enter what is answered."""
        server = self.session.server
        answers(server, types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, self.tokens, LEGEND)
        answers(server, types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, self.tokens_in, LEGEND)
        answers(server, types.TEXT_DOCUMENT_INLAY_HINT, self.hints)
        answers(server, types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, self.symbols)
        answers(server, types.WORKSPACE_SYMBOL, self.project_symbols)
        answers(server, types.TEXT_DOCUMENT_FOLDING_RANGE, self.folds)
        answers(server, types.TEXT_DOCUMENT_DOCUMENT_LINK, self.links)
        answers(server, types.TEXT_DOCUMENT_CODE_LENS, self.lenses)
        kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]
        answers(server, types.TEXT_DOCUMENT_CODE_ACTION, self.repairs, types.CodeActionOptions(kinds))

    def _of(self, document: types.TextDocumentIdentifier) -> Snapshot | None:
        return self.session.snapshot(document.uri)

    # -- words ---------------------------------------------------------------------------------------

    def tokens(self, params: types.SemanticTokensParams) -> types.SemanticTokens:
        """The classes of all words."""
        return self._tokens(params.text_document, lambda line: True)

    def tokens_in(self, params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
        """The classes of the words of some lines."""
        first, last = params.range.start.line, params.range.end.line
        return self._tokens(params.text_document, lambda line: first <= line <= last)

    def _tokens(
        self, document: types.TextDocumentIdentifier, wanted: Callable[[int], bool]
    ) -> types.SemanticTokens:
        """Five numbers a word, its place relative to the one before (protocol 3.17, Semantic Tokens)."""
        snapshot = self._of(document)
        if snapshot is None:
            return types.SemanticTokens([])
        lines = self.session.lines(snapshot.source)
        data: list[int] = []
        before = types.Position(0, 0)
        for word in classified(snapshot):
            start, end = lines.position(word.start), lines.position(word.end)
            if not wanted(start.line) or start.line != end.line:
                continue
            down = start.line - before.line
            right = start.character - (0 if down else before.character)
            length = end.character - start.character
            data += (down, right, length, CLASSES.index(word.word_class), int(word.declares))
            before = start
        return types.SemanticTokens(data)

    async def hints(self, params: types.InlayHintParams) -> list[types.InlayHint]:
        """What is written between the words of some lines."""
        snapshot = self._of(params.text_document)
        if snapshot is None or not self.session.settings.hints:
            return []
        lines = self.session.lines(snapshot.source)
        start, end = lines.offset(params.range.start), lines.offset(params.range.end)
        found = list(types_of(snapshot, start, end))
        pending = list(counts_of(snapshot, start, end))
        tokenizer = await self.tokenizers.of(snapshot.path)
        texts = await asyncio.to_thread(lambda: [each.made(tokenizer) for each in pending])
        found += [Hint(each.offset, text, "count") for each, text in zip(pending, texts, strict=True) if text]
        return [
            types.InlayHint(
                position=lines.position(each.offset),
                label=each.text,
                kind=types.InlayHintKind.Type if each.kind == "type" else None,
                padding_left=each.kind == "count",
            )
            for each in sorted(found, key=lambda hint: hint.offset)
        ]

    # -- structure -----------------------------------------------------------------------------------

    def symbols(self, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        """The declarations of a file as a tree."""
        snapshot = self._of(params.text_document)
        return [] if snapshot is None else [self._symbol(each) for each in symbols(snapshot)]

    def _symbol(self, found: FileSymbol) -> types.DocumentSymbol:
        span, name = found.span, found.name_span
        whole = Span(span.source, min(span.start, name.start), max(span.end, name.end))
        return types.DocumentSymbol(
            name=found.name,
            kind=_SYMBOLS[found.kind],
            range=self.session.range(whole),
            selection_range=self.session.range(name),
            detail=found.detail or None,
            children=[self._symbol(each) for each in found.inside],
        )

    def project_symbols(self, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        """The declarations of the open files and their projects whose names are like a query."""
        found: list[types.WorkspaceSymbol] = []
        seen = set()
        for document in self.session.documents:
            opened = self.session.documents.snapshot(document.path)
            for snapshot in [] if opened is None else self.session.documents.programs_with("", opened):
                if snapshot.path.resolve() in seen:
                    continue
                seen.add(snapshot.path.resolve())
                for each in matching(symbols(snapshot), params.query):
                    place = self.session.location(snapshot, each.name_span)
                    found.append(types.WorkspaceSymbol(place, each.name, _SYMBOLS[each.kind]))
                    if len(found) >= MOST_SYMBOLS:
                        return found
        return found

    def folds(self, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        """What folds."""
        snapshot = self._of(params.text_document)
        kinds = {"comment": types.FoldingRangeKind.Comment, "imports": types.FoldingRangeKind.Imports}
        return [
            types.FoldingRange(each.first - 1, each.last - 1, kind=kinds.get(each.kind))
            for each in ([] if snapshot is None else folds(snapshot))
        ]

    def links(self, params: types.DocumentLinkParams) -> list[types.DocumentLink]:
        """What leads to other files."""
        snapshot = self._of(params.text_document)
        return [
            types.DocumentLink(self.session.range(each.span), self.session.places.uri(each.path))
            for each in ([] if snapshot is None else links(snapshot))
        ]

    def lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        """What can be done with declarations. The commands are the client's: `sgl.run` and its like, each
        with one object, `uri` and `function` or `test`."""
        snapshot = self._of(params.text_document)
        wanted = snapshot is not None and self.session.settings.lenses
        found = []
        for each in lenses(snapshot) if snapshot is not None and wanted else []:
            argument = {"uri": params.text_document.uri, each.subject: each.name}
            name = f"{self.session.settings.commands}.{each.action}"
            command = types.Command(each.title, name, arguments=[argument])
            found.append(types.CodeLens(self.session.range(each.span), command))
        return found

    # -- repairs -------------------------------------------------------------------------------------

    def repairs(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The repairs of what is found at a place, and all certain ones of the file."""
        snapshot = self._of(params.text_document)
        if snapshot is None:
            return []
        found = self.session.documents.advice(snapshot)
        lines = self.session.lines(snapshot.source)
        start, end = lines.offset(params.range.start), lines.offset(params.range.end)
        only = params.context.only
        actions = []
        if only is None or types.CodeActionKind.QuickFix in only:
            actions = [self._action(snapshot, params, each) for each in repairs(snapshot, found, start, end)]
        every = every_repair(snapshot, found)
        if every and (only is None or any(str(kind).startswith("source") for kind in only)):
            actions.append(
                types.CodeAction(
                    "make all certain repairs",
                    kind=types.CodeActionKind.SourceFixAll,
                    edit=self._edit(params.text_document.uri, every),
                )
            )
        return actions

    def _action(self, snapshot: Snapshot, params: types.CodeActionParams, repair: Repair) -> types.CodeAction:
        return types.CodeAction(
            repair.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[self.session.findings(snapshot).one(repair.finding)],
            is_preferred=repair.certain,
            edit=self._edit(params.text_document.uri, repair.edits),
        )

    def _edit(self, uri: str, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        changed = [types.TextEdit(self.session.range(each.span), each.text) for each in edits]
        return types.WorkspaceEdit(changes={uri: changed})
