"""What is asked about one place: hover, definitions, references, completion, signatures, renaming."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sglc.lsp.registering import answers
from sglc.lsp.session import At, Session
from sglc.lsp.tokenizers import Tokenizers
from sglc.service.core.snapshot import Snapshot
from sglc.service.holes.hover import hover
from sglc.service.names import places
from sglc.service.names.rename import CannotRename, renamable, renamed
from sglc.service.writing.completion import Item, complete
from sglc.service.writing.sight import type_definition
from sglc.service.writing.signature import signature
from sglc.source import Span

_KINDS = {
    "word": types.CompletionItemKind.Keyword,
    "variable": types.CompletionItemKind.Variable,
    "function": types.CompletionItemKind.Function,
    "type": types.CompletionItemKind.Class,
    "constant": types.CompletionItemKind.Constant,
    "member": types.CompletionItemKind.EnumMember,
    "field": types.CompletionItemKind.Field,
    "method": types.CompletionItemKind.Method,
    "module": types.CompletionItemKind.Module,
    "error": types.CompletionItemKind.Class,
    "file": types.CompletionItemKind.File,
    "model": types.CompletionItemKind.Value,
    "argument": types.CompletionItemKind.Property,
}
_TRIGGERS = [".", "{", ":", " ", "(", "/", '"']
_SIGNATURE_TRIGGERS = ["(", ","]
_REQUEST_FAILED = -32803


class Asking:
    """Answers about one place."""

    def __init__(self, session: Session, tokenizers: Tokenizers) -> None:
        self.session = session
        self.tokenizers = tokenizers

    def register(self) -> None:
        """Enter what is answered."""
        server = self.session.server
        answers(server, types.TEXT_DOCUMENT_HOVER, self.hover)
        answers(server, types.TEXT_DOCUMENT_DEFINITION, self.definition)
        answers(server, types.TEXT_DOCUMENT_TYPE_DEFINITION, self.type_definition)
        answers(server, types.TEXT_DOCUMENT_REFERENCES, self.references)
        answers(server, types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, self.highlight)
        answers(server, types.TEXT_DOCUMENT_PREPARE_RENAME, self.prepare_rename)
        answers(server, types.TEXT_DOCUMENT_RENAME, self.rename, types.RenameOptions(prepare_provider=True))
        completing = types.CompletionOptions(trigger_characters=_TRIGGERS)
        answers(server, types.TEXT_DOCUMENT_COMPLETION, self.completion, completing)
        helping = types.SignatureHelpOptions(trigger_characters=_SIGNATURE_TRIGGERS)
        answers(server, types.TEXT_DOCUMENT_SIGNATURE_HELP, self.signature, helping)

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """What is known of a place. It is found beside the loop: bounds and samples take a while."""
        found = self.session.at(params)
        shown = None if found is None else hover(*found)
        if found is None or shown is None:
            return None
        tokenizer = await self.tokenizers.of(found[0].path)
        text = await asyncio.to_thread(shown.text, tokenizer)
        return types.Hover(
            types.MarkupContent(types.MarkupKind.Markdown, text), self.session.range(shown.span)
        )

    def definition(self, params: types.DefinitionParams) -> types.Location | None:
        """Where a name is declared."""
        return self._location(params, places.definition)

    def type_definition(self, params: types.TypeDefinitionParams) -> types.Location | None:
        """Where the type of a value is declared."""
        return self._location(params, type_definition)

    def _location(
        self,
        params: At,
        ask: Callable[[Snapshot, int], Span | None],
    ) -> types.Location | None:
        found = self.session.at(params)
        span = None if found is None else ask(*found)
        return None if found is None or span is None else self.session.location(found[0], span)

    def references(self, params: types.ReferenceParams) -> list[types.Location]:
        """Every place of a name in the files of the project."""
        found = self.session.at(params)
        name = None if found is None else places.name_at(*found)
        if found is None or name is None:
            return []
        every = places.references(self.session.documents, found[0], name.target)
        declared = params.context.include_declaration
        return [
            self.session.location(program, each.span)
            for program, each in every
            if declared or not each.defines
        ]

    def highlight(self, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        """Every place of a name in its own file."""
        found = self.session.at(params)
        name = None if found is None else places.name_at(*found)
        if found is None or name is None:
            return []
        write, read = types.DocumentHighlightKind.Write, types.DocumentHighlightKind.Read
        return [
            types.DocumentHighlight(self.session.range(each.span), write if each.defines else read)
            for each in places.in_file(found[0], name.target)
        ]

    def prepare_rename(self, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        """The name at a place, if it can be another one."""
        found = self.session.at(params)
        if found is None:
            return None
        try:
            name = renamable(self.session.documents, *found)
        except CannotRename as why:
            raise JsonRpcException(str(why), _REQUEST_FAILED) from None
        return types.PrepareRenamePlaceholder(self.session.range(name.span), name.span.text)

    def rename(self, params: types.RenameParams) -> types.WorkspaceEdit | None:
        """The edits that give a name another one, in all files."""
        found = self.session.at(params)
        if found is None:
            return None
        try:
            edits = renamed(self.session.documents, *found, params.new_name)
        except CannotRename as why:
            raise JsonRpcException(str(why), _REQUEST_FAILED) from None
        uri, range_ = self.session.places.uri, self.session.range
        changes = {
            uri(path): [types.TextEdit(range_(edit.span), edit.text) for edit in known]
            for path, known in edits.items()
        }
        return types.WorkspaceEdit(changes=changes)

    def completion(self, params: types.CompletionParams) -> types.CompletionList:
        """What may be written at a place."""
        found = self.session.at(params)
        if found is None:
            return types.CompletionList(False, [])
        made = complete(*found)
        range_ = self.session.lines(found[0].source).range(made.start, found[1])
        return types.CompletionList(False, [self._item(each, range_) for each in made.items])

    def _item(self, item: Item, range_: types.Range) -> types.CompletionItem:
        document = self.session.server.client_capabilities.text_document
        completing = document.completion if document is not None else None
        wanted = completing.completion_item if completing is not None else None
        snippets = bool(wanted is not None and wanted.snippet_support)
        text = item.insert if snippets and item.insert else item.label
        return types.CompletionItem(
            label=item.label,
            kind=_KINDS[item.kind],
            detail=item.detail or None,
            documentation=item.doc or None,
            sort_text=f"{item.rank}{item.label}",
            filter_text=item.label,
            insert_text_format=types.InsertTextFormat.Snippet if text is not item.label else None,
            text_edit=types.TextEdit(range_, text),
        )

    def signature(self, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        """The call around a place."""
        found = self.session.at(params)
        shown = None if found is None else signature(*found)
        if shown is None:
            return None
        parameters = [types.ParameterInformation(each.text, each.doc or None) for each in shown.parameters]
        active = len(parameters) if shown.active is None else shown.active
        one = types.SignatureInformation(shown.label, shown.doc or None, parameters, active)
        return types.SignatureHelp([one], 0, active)
