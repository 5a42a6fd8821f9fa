"""The files that are open in an editor, and snapshots of their programs.

What is open hides the file of the same path, saved or not, also where another program uses it. One workspace
of the checker serves all: a module is checked again only where something that it depends on has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sglc.advice.examine import examine
from sglc.check.core.result import CheckedProgram
from sglc.check.program import Reader, Workspace
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.library import MAX_BYTES, SUFFIX, Library, project_root, read_source
from sglc.project.file import FILE, Project, find, project_of
from sglc.service.core.snapshot import Snapshot, snapshot_of
from sglc.source import Source
from sglc.syntax.parse import parse
from sglc.syntax.pieces import PieceReader

MOST_FILES = 2_000
"""Files of a project that are looked through for a name."""
_SKIPPED = frozenset(("node_modules", "__pycache__", "build", "dist"))


class Document:
    """An open file: a program, or a text that programs may take in."""

    def __init__(self, path: Path, text: str, *, program: bool = True) -> None:
        self.path = path
        self.program = program
        self.source = Source(str(path), text)
        self.snapshot: Snapshot | None = None
        self.reader = PieceReader()
        """Reads the text's versions; the nodes of an older one are moved into the next."""

    def put(self, text: str) -> None:
        """Replace the whole text."""
        if text != self.source.text:
            self.source = Source(self.source.name, text)
            self.snapshot = None


class Documents:
    """All open files. Of one thread at a time."""

    def __init__(self, *, allow_outside: bool = False) -> None:
        self.allow_outside = allow_outside
        self._workspace = Workspace()
        self._open: dict[Path, Document] = {}
        """By the paths as they are called."""

    # -- what is open --------------------------------------------------------------------------------

    def open(self, path: Path, text: str, *, program: bool = True) -> list[Path]:
        """Open a file with the text that the editor shows; the other open programs that take it in. What is
        no `program` is never checked itself."""
        self._open[path] = Document(path, text, program=program)
        return self._outdate(path)

    def change(self, path: Path, text: str) -> list[Path]:
        """Replace the text of an open file; the other open programs that take it in."""
        self._open[path].put(text)
        return self._outdate(path)

    def close(self, path: Path) -> list[Path]:
        """Close a file; from now on what is saved counts. The open programs that take it in."""
        self._open.pop(path, None)
        return self._outdate(path)

    def forget_files(self) -> None:
        """Files have changed that are not open: what was read of them does not hold any more."""
        for document in self._open.values():
            document.snapshot = None

    def get(self, path: Path) -> Document | None:
        """An open file; None if it is not open."""
        return self._open.get(path)

    def __iter__(self) -> Iterator[Document]:
        """The programs."""
        return iter([each for each in self._open.values() if each.program])

    def _outdate(self, path: Path) -> list[Path]:
        """Drop the snapshots that a file has a part in, or might have if it were there; what has none now."""
        target = path.resolve()
        for document in self:
            snapshot = document.snapshot
            if snapshot is not None and document.path != path and _takes_in(snapshot, target):
                document.snapshot = None
        return [each.path for each in self if each.snapshot is None and each.path != path]

    # -- snapshots -----------------------------------------------------------------------------------

    def snapshot(self, path: Path) -> Snapshot | None:
        """What is known of a program now, as it is open or else saved; None where it cannot be read, or the
        file is open as another text."""
        document = self._open.get(path)
        if document is not None and not document.program:
            return None
        if document is None:
            source, _ = read_source(path)
            return None if source is None else self._checked(path, self._workspace.known(source), parse)
        if document.snapshot is None:
            document.snapshot = self._checked(path, document.source, document.reader)
        return document.snapshot

    def _checked(self, path: Path, source: Source, read: Reader) -> Snapshot:
        library = self._workspace.library(allow_outside=self.allow_outside)
        library.add(source)
        for document in self._open.values():
            library.add(document.source)
        return snapshot_of(self._workspace, path, source, library, read, lambda of: self.project(of)[0])

    def source(self, path: Path) -> Source | None:
        """The text of a file as it is open, or else saved."""
        document = self._open.get(path)
        return read_source(path)[0] if document is None else document.source

    def fresh_library(self, source: Source) -> Library:
        """A library for one compile of a source, which finds the open files as they are."""
        library = Library(allow_outside=self.allow_outside)
        library.add(source)
        for document in self._open.values():
            library.add(document.source)
        return library

    def advice(self, snapshot: Snapshot) -> list[Diagnostic]:
        """All findings, those of the code among them: they take longer, and are there only where the program
        has no errors."""

        def known(source: Source, library: Library) -> tuple[CheckedProgram | None, list[Diagnostic]]:
            return snapshot.checked, snapshot.findings

        return examine(snapshot.source, snapshot.library, None, known)

    # -- the project ---------------------------------------------------------------------------------

    def project(self, program: Path) -> tuple[Project, list[Diagnostic]]:
        """What the `sgl.toml` of a program says, as it is open or else saved, and what is wrong with it."""
        return project_of(program, self._text_of_project)

    def project_files(self) -> dict[Path, list[Diagnostic]]:
        """What is wrong with each `sgl.toml` that is open or counts for an open program."""
        opened = (each.path for each in self._open.values() if not each.program and each.path.name == FILE)
        counting = (find(each.path) for each in self)
        paths = dict.fromkeys(path.resolve() for path in (*opened, *counting) if path is not None)
        return {path: self.project(path)[1] for path in paths}

    def _text_of_project(self, path: Path) -> str | None:
        opened = (each.source.text for each in self._open.values() if each.path.resolve() == path)
        return next(opened, None)

    def programs_with(self, word: str, around: Snapshot) -> Iterator[Snapshot]:
        """The programs of a file's project whose texts have a word in them, as main files: first the file
        itself, then those that are open, then those that are saved."""
        root = project_root(around.source)
        yield around
        seen = {around.path.resolve()}
        opened = [each.path for each in self if each.path.resolve().is_relative_to(root)]
        for path in [*opened, *_programs_below(root)]:
            target = path.resolve()
            if target in seen:
                continue
            seen.add(target)
            document = self._open.get(path)
            if word in (document.source.text if document is not None else _text_of(path)):
                snapshot = self.snapshot(path)
                if snapshot is not None:
                    yield snapshot


def _takes_in(snapshot: Snapshot, path: Path) -> bool:
    """Whether a file is a module or an included text of a program, or may be one that was not found."""
    lost = any(each.code in ("E0213", "E0214") for each in snapshot.findings)
    return path in snapshot.paths or path in snapshot.included or (lost and path.suffix == SUFFIX)


def _programs_below(root: Path) -> Iterator[Path]:
    """The programs in a folder and below it, hidden folders and those of tools aside."""
    count = 0
    waiting = [root]
    while waiting and count < MOST_FILES:
        folder = waiting.pop()
        try:
            entries = sorted(folder.iterdir())
        except OSError:
            continue
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _SKIPPED:
                continue
            if entry.is_dir() and not entry.is_symlink():
                waiting.append(entry)
            elif entry.suffix == SUFFIX:
                count += 1
                yield entry


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8") if path.stat().st_size <= MAX_BYTES else ""
    except (OSError, UnicodeDecodeError):
        return ""
