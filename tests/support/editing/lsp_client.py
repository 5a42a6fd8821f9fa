"""A real client of the language server: pytest-lsp's, which starts `sglc lsp` as a process of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pytest_lsp import LanguageClient
from pytest_lsp.client import make_test_lsp_client

T = TypeVar("T")
PATIENCE = 60
"""Seconds after which a client gives up; nothing is decided by it."""
NEVER = [types.Diagnostic(types.Range(types.Position(0, 0), types.Position(0, 0)), "nothing was sent yet")]
MARK = "‸"
"""Where the cursor stands in texts of tests."""


class Editor:
    """A client with a folder, which asks about places in texts."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.root = root
        self._texts: dict[str, str] = {}
        self._versions: dict[str, int] = {}

    def uri(self, name: str) -> str:
        """The address of a file of the folder."""
        return name if ":" in name else (self.root / name).as_uri()

    def open(self, name: str, text: str) -> str:
        """Open a file, whose cursor mark is left out."""
        uri = self.uri(name)
        self._texts[uri] = text = text.replace(MARK, "")
        self._versions[uri] = 1
        language = "sgl" if ":" in name or name.endswith(".sgl") else "plaintext"
        item = types.TextDocumentItem(uri, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, name: str, *changes: types.TextDocumentContentChangeEvent) -> None:
        """Send changes of an open file."""
        uri = self.uri(name)
        self._versions[uri] += 1
        known = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(known, changes))

    def replace(self, name: str, text: str) -> None:
        """Replace the whole text of an open file."""
        self._texts[self.uri(name)] = text
        self.change(name, types.TextDocumentContentChangeWholeDocument(text))

    def close(self, name: str) -> None:
        """Close a file."""
        known = types.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(known))

    async def until(self, name: str, codes: list[str]) -> list[types.Diagnostic]:
        """Wait until the diagnostics of a file have these codes; what was sent before counts."""
        uri = self.uri(name)
        while [each.code for each in self.client.diagnostics.get(uri, NEVER)] != codes:
            await self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        return list(self.client.diagnostics[uri])

    def document(self, name: str) -> types.TextDocumentIdentifier:
        """A file, as parameters name it."""
        return types.TextDocumentIdentifier(self.uri(name))

    async def diagnostics(self, name: str, version: int | None = None) -> list[types.Diagnostic]:
        """The diagnostics that are sent next for a file."""
        uri = self.uri(name)
        self.client.diagnostics.pop(uri, None)
        while uri not in self.client.diagnostics:
            await self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        return list(self.client.diagnostics[uri])


def position(text: str, place: str | int) -> types.Position:
    """The position of a word of a text (its first character), or of an offset, in UTF-16."""
    offset = place if isinstance(place, int) else text.index(place)
    before = text[:offset]
    column = before[before.rfind("\n") + 1 :]
    return types.Position(before.count("\n"), len(column.encode("utf-16-le")) // 2)


class Talk:
    """A client and a server that serve several tests."""

    def __init__(self, root: Path, capabilities: types.ClientCapabilities, options: object = None) -> None:
        self._loop = asyncio.new_event_loop()
        self.client = make_test_lsp_client()
        self.editor = Editor(self.client, root)
        self.server = self.wait(self._start(root, capabilities, options)).capabilities

    async def _start(
        self, root: Path, capabilities: types.ClientCapabilities, options: object
    ) -> types.InitializeResult:
        await self.client.start_io(sys.executable, "-P", "-m", "sglc", "lsp")
        folders = [types.WorkspaceFolder(root.as_uri(), root.name)]
        return await self.client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities, workspace_folders=folders, initialization_options=options
            )
        )

    def wait(self, asked: Awaitable[T]) -> T:
        """The answer to a question."""
        return self._loop.run_until_complete(asyncio.wait_for(asked, PATIENCE))

    def close(self) -> None:
        """Take leave of the server."""
        with suppress(Exception):
            self.wait(self.client.shutdown_session())
        with suppress(Exception):
            self.wait(self.client.stop())
        self._loop.close()


def with_editor(
    root: Path,
    scenario: Callable[[Editor], Awaitable[T]],
    *,
    capabilities: types.ClientCapabilities | None = None,
    options: object = None,
    arguments: tuple[str, ...] = (),
    prepare: Callable[[LanguageClient], None] | None = None,
) -> T:
    """Run a scenario with a client and a server of its own, which are both gone afterwards. `prepare` gets
    the client before it begins."""

    async def run() -> T:
        client = make_test_lsp_client()
        if prepare is not None:
            prepare(client)
        await client.start_io(sys.executable, "-P", "-m", "sglc", "lsp", *arguments)
        try:
            await client.initialize_session(
                types.InitializeParams(
                    capabilities=capabilities or types.ClientCapabilities(),
                    workspace_folders=[types.WorkspaceFolder(root.as_uri(), root.name)],
                    initialization_options=options,
                )
            )
            return await scenario(Editor(client, root))
        finally:
            with suppress(Exception):
                await asyncio.wait_for(client.shutdown_session(), 5)
            with suppress(Exception):
                await asyncio.wait_for(client.stop(), 5)

    return asyncio.run(asyncio.wait_for(run(), PATIENCE))
