"""The server: what it answers, and how it is run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from sglc import __version__
from sglc.lsp.asking import Asking
from sglc.lsp.doing import Actions, Doing
from sglc.lsp.findings import Numbered
from sglc.lsp.laying_out import LayingOut
from sglc.lsp.places import Places
from sglc.lsp.positions import Encoding
from sglc.lsp.registering import answers, plain
from sglc.lsp.session import MOST_CHECKS, Session
from sglc.lsp.settings import SECTION, Settings
from sglc.lsp.tokenizers import Tokenizers
from sglc.lsp.viewing import Viewing

NAME = "sglc"
TAKEN_IN = ("**/sgl.toml", "**/*.{md,txt,json,sql,ts,lark}")
"""Files that programs take in, and that of the project."""
WATCHED = ("**/*.sgl", *TAKEN_IN)
"""Files whose changes may change what is found in open ones."""


def make_server(settings: Settings, actions: Actions) -> LanguageServer:
    """A server with all it answers, which is not started yet. `actions` does what it is told to do."""
    server = LanguageServer(NAME, __version__)
    session = Session(server)
    session.settings = session.given = settings
    session.documents.allow_outside = settings.allow_outside
    Lifecycle(session).register()
    tokenizers = Tokenizers(session)
    Asking(session, tokenizers).register()
    Viewing(session, tokenizers).register()
    LayingOut(session).register()
    Doing(session, tokenizers, actions).register()
    return server


class Lifecycle:
    """Files, settings and diagnostics."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def register(self) -> None:
        """Enter what is answered."""
        server = self.session.server
        answers(server, types.INITIALIZE, self.initialize)
        answers(server, types.INITIALIZED, self.initialized)
        answers(server, types.TEXT_DOCUMENT_DID_OPEN, self.did_open)
        answers(server, types.TEXT_DOCUMENT_DID_CHANGE, self.did_change)
        answers(server, types.TEXT_DOCUMENT_DID_CLOSE, self.did_close)
        answers(server, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self.did_change_files)
        answers(server, types.WORKSPACE_DID_CHANGE_CONFIGURATION, self.did_change_configuration)
        pulled = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False)
        answers(server, types.TEXT_DOCUMENT_DIAGNOSTIC, self.diagnostic, pulled)

    def initialize(self, params: types.InitializeParams) -> None:
        """Agree on the encoding of positions, note the folder, take over options."""
        session = self.session
        agreed = session.server.workspace.position_encoding
        encoding = str(getattr(agreed, "value", agreed))
        known: Encoding = next((each for each in get_args(Encoding) if each == encoding), "utf-16")
        session.lines = Numbered(known)
        session.places = Places(_root_of(params))
        documents = params.capabilities.text_document
        session.pulls = documents is not None and documents.diagnostic is not None
        if params.initialization_options is not None:
            session.start(plain(params.initialization_options))

    async def initialized(self, params: types.InitializedParams) -> None:
        """Ask to be told of more than programs, where the client can tell; take over its settings."""
        server = self.session.server
        wanted = registrations(server.client_capabilities)
        if wanted:
            server.client_register_capability(types.RegistrationParams(wanted))
        await self._pull_settings()

    async def _pull_settings(self) -> bool:
        """Take over the settings of a client that can be asked for them; whether it can."""
        server = self.session.server
        workspace = server.client_capabilities.workspace
        if workspace is None or not workspace.configuration:
            return False
        asked = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        found = await server.workspace_configuration_async(asked)
        self.session.configure(plain(found[0]) if found else None)
        return True

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """A file was opened."""
        document = params.text_document
        self.session.open(document.uri, document.text, document.version, document.language_id)

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """A file was edited."""
        document = params.text_document
        self.session.change(document.uri, params.content_changes, document.version)

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """A file was closed."""
        self.session.close(params.text_document.uri)

    def did_change_files(self, params: types.DidChangeWatchedFilesParams) -> None:
        """Files were made, changed, renamed or deleted on the disk."""
        self.session.files_changed()

    async def did_change_configuration(self, params: types.DidChangeConfigurationParams) -> None:
        """The settings have changed: they come along, or are asked for."""
        settings = plain(params.settings)
        along = isinstance(settings, dict) and SECTION.partition(".")[0] in settings
        if along or not await self._pull_settings():
            self.session.configure(settings)

    def diagnostic(self, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        """All findings of a file, where the client asks for them."""
        session = self.session
        snapshot = session.snapshot(params.text_document.uri)
        found: Sequence[types.Diagnostic] = ()
        if snapshot is not None:
            advice = session.settings.advice
            every = session.documents.advice(snapshot) if advice else snapshot.findings
            found = session.findings(snapshot).shown(every)
            session.tidy(MOST_CHECKS)
        return types.RelatedFullDocumentDiagnosticReport(items=list(found))


def registrations(client: types.ClientCapabilities) -> list[types.Registration]:
    """What a client is asked to tell, of that which it can: files that change on the disk, its settings, and
    texts that programs take in as they are in the editor."""
    found = []
    workspace = client.workspace
    watching = workspace.did_change_watched_files if workspace is not None else None
    if watching is not None and watching.dynamic_registration:
        watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in WATCHED]
        options: object = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        found.append(types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    settings = workspace.did_change_configuration if workspace is not None else None
    if settings is not None and settings.dynamic_registration:
        options = types.DidChangeConfigurationRegistrationOptions(SECTION)
        found.append(types.Registration("settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options))
    documents = client.text_document
    syncing = documents.synchronization if documents is not None else None
    if syncing is not None and syncing.dynamic_registration:
        texts = [types.TextDocumentFilterPattern(scheme="file", pattern=pattern) for pattern in TAKEN_IN]
        plainly = types.TextDocumentRegistrationOptions(texts)
        changes = types.TextDocumentChangeRegistrationOptions(types.TextDocumentSyncKind.Incremental, texts)
        found += [
            types.Registration("opened", types.TEXT_DOCUMENT_DID_OPEN, plainly),
            types.Registration("changed", types.TEXT_DOCUMENT_DID_CHANGE, changes),
            types.Registration("closed", types.TEXT_DOCUMENT_DID_CLOSE, plainly),
        ]
    return found


def _root_of(params: types.InitializeParams) -> Path | None:
    """The first folder of the client's workspace."""
    folders = params.workspace_folders or []
    uri = folders[0].uri if folders else params.root_uri
    found = to_fs_path(uri) if uri else params.root_path
    return Path(found) if found else None
