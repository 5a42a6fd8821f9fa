"""One client's session: its open files, what it may be told, and when it is told."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from sglc.library import SUFFIX
from sglc.lsp.findings import Findings, Numbered, shown_alone
from sglc.lsp.places import Places
from sglc.lsp.positions import Lines
from sglc.lsp.settings import Settings, settings_of
from sglc.project.file import FILE
from sglc.service.core.documents import Document, Documents
from sglc.service.core.snapshot import Snapshot
from sglc.source import Source, Span

DEBOUNCE = 0.03
"""Seconds. An edit after a longer rest is answered at once, one of a burst when it has ended."""
ADVICE = 0.4
"""Seconds of rest after which advice on a sound program is found, which takes longer."""
MOST_CHECKS = 200
"""Checks after which garbage is looked for even though the user goes on typing."""
RESTING_CHECKS = 20
"""The same where the user rests."""
OTHERS = 0.1
"""Seconds of rest after which programs that use an edited file are checked."""
LANGUAGE = "sgl"
"""What clients call the language of programs."""
LARGEST = 4 * 1024 * 1024
"""Characters of a text that is looked at."""


class At(Protocol):
    """Parameters that name a place."""

    text_document: types.TextDocumentIdentifier
    position: types.Position


class Session:
    """What the server knows of its client. All its methods run in the server's event loop."""

    def __init__(self, server: LanguageServer) -> None:
        self.server = server
        self.settings = Settings()
        self.given = Settings()
        """What holds where the client's configuration says nothing: what it was started with."""
        self.documents = Documents()
        self.places = Places()
        self.lines = Numbered()
        self.pulls = False
        """Whether the client asks for diagnostics, so that none are sent unasked."""
        self._timers: dict[tuple[Path, str], asyncio.TimerHandle] = {}
        self._edited: dict[Path, float] = {}
        self._versions: dict[Path, int | None] = {}
        self._checks = 0
        """Since garbage was looked for last."""
        self._projects: dict[Path, list[types.Diagnostic]] = {}
        """What was told of each `sgl.toml`."""

    # -- files ---------------------------------------------------------------------------------------

    def open(self, uri: str, text: str, version: int, language: str) -> None:
        """A file was opened: a program, or another one that programs may take in."""
        path = self.places.path(uri)
        program = language == LANGUAGE or path.suffix == SUFFIX
        others = self.documents.open(path, text[:LARGEST], program=program)
        self._versions[path] = version
        if program:
            self._soon(path, 0)
        self._tell_others(others)
        self._later(Path(), "projects", 0)

    def change(self, uri: str, changes: Iterable[types.TextDocumentContentChangeEvent], version: int) -> None:
        """An open file was edited; what the client sends of others is left out."""
        path = self.places.path(uri)
        document = self.documents.get(path)
        if document is None:
            return
        text = document.source.text
        for change in changes:
            text = Lines(text, self.lines.encoding).changed(change)
        self._versions[path] = version
        others = self.documents.change(path, text[:LARGEST])
        now = asyncio.get_running_loop().time()
        rested = now - self._edited.get(path, 0) > DEBOUNCE
        self._edited[path] = now
        if document.program:
            self._soon(path, 0 if rested else DEBOUNCE)
        elif path.name == FILE:
            self._later(Path(), "projects", 0 if rested else DEBOUNCE)
            self._later(Path(), "views", OTHERS)
        self._tell_others(others)

    def close(self, uri: str) -> None:
        """A file was closed: nothing is said of it any more."""
        path = self.places.path(uri)
        document = self.documents.get(path)
        others = self.documents.close(path)
        for key in [key for key in self._timers if key[0] == path]:
            self._timers.pop(key).cancel()
        self._versions.pop(path, None)
        self._edited.pop(path, None)
        if not self.pulls and document is not None and document.program:
            self._publish(uri, [], None)
        self.places.forget(uri)
        self._tell_others(others)
        self._later(Path(), "projects", 0)

    def files_changed(self) -> None:
        """Files have changed that the client does not hold open."""
        self.documents.forget_files()
        self._tell_others([document.path for document in self.documents])
        self._later(Path(), "projects", OTHERS)
        self._later(Path(), "views", OTHERS)

    def start(self, data: object) -> None:
        """Take over what the client starts the server with."""
        self.configure(data)
        self.given = self.settings

    def configure(self, data: object) -> None:
        """Take over settings of the client."""
        settings, problems = settings_of(data, self.given)
        for problem in problems:
            self.tell(problem, types.MessageType.Warning)
        if settings != self.settings:
            self.settings = settings
            self.documents.allow_outside = settings.allow_outside
            self.files_changed()

    def tell(self, text: str, kind: types.MessageType = types.MessageType.Info) -> None:
        """Show the user a message."""
        self.server.window_show_message(types.ShowMessageParams(kind, text))

    # -- questions -----------------------------------------------------------------------------------

    def document(self, uri: str) -> Document | None:
        """An open file."""
        return self.documents.get(self.places.path(uri))

    def snapshot(self, uri: str) -> Snapshot | None:
        """What is known of a file; None where it cannot be read."""
        return self.documents.snapshot(self.places.path(uri))

    def at(self, where: At) -> tuple[Snapshot, int] | None:
        """The snapshot and the offset of a place; None where the file cannot be read."""
        snapshot = self.snapshot(where.text_document.uri)
        if snapshot is None:
            return None
        return snapshot, self.lines(snapshot.source).offset(where.position)

    def range(self, span: Span) -> types.Range:
        """The range of a span in its own file."""
        return self.lines(span.source).range(span.start, span.end)

    def location(self, snapshot: Snapshot, span: Span) -> types.Location:
        """The place of a span."""
        return types.Location(self.address(snapshot, span.source), self.range(span))

    def address(self, snapshot: Snapshot, source: Source) -> str:
        """The address of a source of a program."""
        if source is snapshot.source:
            return self.places.uri(snapshot.path)
        return self.places.uri(snapshot.path_of(source))

    def findings(self, snapshot: Snapshot) -> Findings:
        """What shows the findings of a snapshot."""
        return Findings(snapshot, self.lines, self.places.uri)

    # -- diagnostics ---------------------------------------------------------------------------------

    def _soon(self, path: Path, delay: float) -> None:
        """Tell the diagnostics of a file, and of a sound program the advice when the user rests. A client
        that asks for them knows itself when it edits."""
        if self.pulls:
            return
        if self.settings.advice:
            self._later(path, "advice", ADVICE + delay)
        self._later(path, "check", delay)

    def _later(self, path: Path, what: str, delay: float) -> None:
        before = self._timers.pop((path, what), None)
        if before is not None:
            before.cancel()
        action = {
            "check": self._check,
            "advice": self._advise,
            "refresh": self._refresh,
            "projects": self._check_projects,
            "views": self._show_again,
        }[what]
        self._timers[path, what] = asyncio.get_running_loop().call_later(delay, action, path)

    def _check(self, path: Path) -> None:
        self._timers.pop((path, "check"), None)
        document = self.documents.get(path)
        if document is None:
            return
        snapshot = self.documents.snapshot(path)
        if snapshot is not None:
            shown = self.findings(snapshot).shown(snapshot.findings)
            self._publish(self.places.uri(path), shown, self._versions.get(path))
        self.tidy(MOST_CHECKS)

    def tidy(self, after: int) -> None:
        """Look for garbage, if so many checks have left some. Python does it at any moment, and takes longer
        than a check: so the server does it itself, when the user rests."""
        self._checks += 1
        if self._checks >= after:
            self._checks = 0
            gc.collect()

    def _advise(self, path: Path) -> None:
        self._timers.pop((path, "advice"), None)
        if self.documents.get(path) is None:
            return
        snapshot = self.documents.snapshot(path)
        if snapshot is not None and snapshot.sound:
            shown = self.findings(snapshot).shown(self.documents.advice(snapshot))
            self._publish(self.places.uri(path), shown, self._versions.get(path))
        self.tidy(RESTING_CHECKS)

    def _tell_others(self, paths: list[Path]) -> None:
        """Tell the diagnostics of files that were not edited themselves."""
        for path in paths:
            self._soon(path, OTHERS)
        if paths and self.pulls:
            self._later(Path(), "refresh", OTHERS)

    def _refresh(self, path: Path) -> None:
        """Have the client ask again."""
        self._timers.pop((path, "refresh"), None)
        capabilities = self.server.client_capabilities.workspace
        asked = capabilities.diagnostics if capabilities is not None else None
        if asked is not None and asked.refresh_support:
            self.server.workspace_diagnostic_refresh(None)

    def _check_projects(self, path: Path) -> None:
        """Tell what is wrong with each `sgl.toml` that counts, where that has changed. It is sent also to
        clients that ask for diagnostics: they ask about programs."""
        self._timers.pop((path, "projects"), None)
        found = {
            file: [shown_alone(each, self.lines) for each in faults]
            for file, faults in self.documents.project_files().items()
        }
        for file in (*found, *(each for each in self._projects if each not in found)):
            shown = found.get(file, [])
            if shown != self._projects.get(file, []):
                self._publish(self.places.uri(file), shown, self._versions.get(file))
        self._projects = found

    def _show_again(self, path: Path) -> None:
        """Have the client ask for hints and lenses again, where it can: they depend on settings, and on the
        model of the project."""
        self._timers.pop((path, "views"), None)
        capabilities = self.server.client_capabilities.workspace
        hints = capabilities.inlay_hint if capabilities is not None else None
        if hints is not None and hints.refresh_support:
            self.server.workspace_inlay_hint_refresh(None)
        lenses = capabilities.code_lens if capabilities is not None else None
        if lenses is not None and lenses.refresh_support:
            self.server.workspace_code_lens_refresh(None)

    def _publish(self, uri: str, shown: list[types.Diagnostic], version: int | None) -> None:
        self.server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=shown, version=version)
        )
