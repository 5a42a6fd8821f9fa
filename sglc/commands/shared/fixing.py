"""Making the edits that findings carry: `sglc check --fix` and `--diff`.

A round checks a program, makes every edit that does not overlap another one, and the next round reads the
result; what is repaired often lets more be seen. Everything happens in memory, files are written at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from sglc.advice.examine import examine
from sglc.check.program import Workspace
from sglc.commands.shared.files import unified, write_whole
from sglc.commands.shared.invocation import Invocation, fail, fault
from sglc.commands.shared.programs import ARTEFACT, LARGEST_SOURCE, check_path, read_bytes, read_source
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.edits import by_source, compatible, edited
from sglc.library import Library, project_root
from sglc.source import Source

ROUNDS = 10
"""Rounds of one program: one for what the parser says and a few for the checker are usual; the bound is for
two edits that undo each other."""


@dataclass(slots=True)
class Changed:
    """A file whose text is edited: how it is called, what was read from it, what it becomes."""

    name: str
    before: str
    after: str


@dataclass(slots=True)
class Fixer:
    """The edits of all programs of one call; a module that two programs share is edited once."""

    allow_outside: bool = False
    """Whether the programs may read files outside of their projects; only those inside are edited."""
    accepted: frozenset[str] = frozenset()
    """Codes of findings whose offered edits are made too."""
    measure: Callable[[str], int] | None = None
    """How many tokens a text has; see `examine`."""
    files: dict[Path, Changed] = field(default_factory=dict)
    workspace: Workspace = field(default_factory=Workspace)
    fixed: int = 0
    """Findings whose edits were made."""

    def fix(self, path: Path) -> list[Diagnostic]:
        """Edit the program whose main file this is; what is still found in it afterwards."""
        if path.suffix == ARTEFACT:
            return check_path(path)
        source, problem = read_source(path)
        if source is None:
            return [problem] if problem else []
        source = self._current(path.resolve(), source)
        for _ in range(ROUNDS):
            library = self.workspace.library(allow_outside=self.allow_outside)
            source = self.workspace.known(source)
            library.add(source)
            for changed in self.files.values():
                library.add(self.workspace.known(Source(changed.name, changed.after)))
            told = examine(source, library, self.measure, self.workspace.check)
            found = [self._with_accepted(diagnostic) for diagnostic in told]
            if not self._round(found, source, library):
                return found
            source = self._current(path.resolve(), source)
        return found

    def _with_accepted(self, diagnostic: Diagnostic) -> Diagnostic:
        """The finding, with what it offers as its edits if its code is accepted."""
        if diagnostic.code not in self.accepted:
            return diagnostic
        return replace(diagnostic, edits=diagnostic.edits or diagnostic.offered)

    def _round(self, found: list[Diagnostic], main: Source, library: Library) -> bool:
        """Make the edits that go together; False if there are none.

        Only files of the program are changed: its main file, and modules within its project.
        """
        root = project_root(main)

        def may_change(source: Source) -> bool:
            file = library.path_of(source)
            return source is main or (file is not None and file.is_relative_to(root))

        chosen = compatible(found, may_change)
        for source, edits in by_source([edit for group in chosen for edit in group]).items():
            file = library.path_of(source)
            assert file is not None, "what may be changed was read from a file"
            known = self.files.setdefault(file, Changed(source.name, source.text, source.text))
            known.after = edited(source.text, edits)
        self.fixed += len(chosen)
        return bool(chosen)

    def _current(self, file: Path, source: Source) -> Source:
        """The source as it is after the edits so far."""
        changed = self.files.get(file)
        return source if changed is None else Source(source.name, changed.after)

    def changed_files(self) -> dict[Path, Changed]:
        """The files whose text the edits have changed."""
        return {file: changed for file, changed in self.files.items() if changed.before != changed.after}

    def diff(self) -> str:
        """All changes as a unified diff."""
        changed_files = self.changed_files().values()
        return "".join(unified(changed.name, changed.before, changed.after) for changed in changed_files)

    def write(self, invocation: Invocation) -> None:
        """Write the files, each whole or not at all; one that has changed meanwhile is left and told."""
        for file, changed in self.changed_files().items():
            data, problem = read_bytes(file, LARGEST_SOURCE)
            if problem is not None:
                raise fail(invocation, problem)
            mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
            if data[len(mark) :] != changed.before.encode():
                raise fail(
                    invocation,
                    fault(
                        "E0805",
                        f"{changed.name} was changed while it was checked",
                        reason="somebody else has written it",
                        hint="run the command again",
                    ),
                )
            write_whole(invocation, file, mark + changed.after.encode())
