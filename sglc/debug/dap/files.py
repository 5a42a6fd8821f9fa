"""The files of a program as editors name them: paths on disk, or numbers of sources that have none."""

from __future__ import annotations

from pathlib import Path

from sglc.bytecode.code import Program
from sglc.debug.dap.messages import BadRequest, Request
from sglc.debug.paths import has_text, paths_of


class Files:
    """Finds files of a program by what a client says of a source, and the other way round."""

    def __init__(self, program: Program, main: Path) -> None:
        """`main` is where the main file lies; others lie beside it, or are modules of the library."""
        self.program = program
        self._paths = paths_of(program, main)
        self._seen: dict[int, tuple[tuple[int, int], bool]] = {}
        """Of files that were looked at: time and size, and whether they had changed."""

    def changed(self, file: int) -> bool:
        """Whether a file has another text than the one that runs: it was edited since."""
        path = self._paths[file]
        if path is None:
            return False
        try:
            stat = path.stat()
        except OSError:
            return True
        mark = (stat.st_mtime_ns, stat.st_size)
        known = self._seen.get(file)
        if known is None or known[0] != mark:
            known = self._seen[file] = (mark, not has_text(path, self.program.sources[file]))
        return known[1]

    def source(self, file: int) -> dict[str, object]:
        """A file as the protocol has it."""
        name = Path(self.program.files[file]).name
        path = self._paths[file]
        if path is not None and self.changed(file):
            shown = f"{name} (as it runs)"
            return {"name": shown, "sourceReference": file + 1, "origin": "the file was changed since"}
        if path is not None:
            return {"name": name, "path": str(path)}
        return {
            "name": self.program.files[file],
            "sourceReference": file + 1,
            "presentationHint": "deemphasize",
        }

    def sources(self) -> list[dict[str, object]]:
        """All files."""
        return [self.source(file) for file in range(len(self.program.files))]

    def file(self, source: Request) -> int | None:
        """The file that a client means; None for one that is not of the program. Raises BadRequest."""
        number = source.number_of("sourceReference", 0)
        if number:
            return number - 1 if number <= len(self.program.files) else None
        path = Path(source.text("path", "") or source.text("name", ""))
        try:
            path = path.resolve()
        except (OSError, ValueError, RuntimeError):
            return None
        return self._paths.index(path) if path in self._paths else None

    def text(self, number: int) -> str:
        """The text of a source by its number. Raises BadRequest."""
        if not 1 <= number <= len(self.program.sources) or not self.program.sources[number - 1]:
            raise BadRequest(f"there is no source {number}")
        return self.program.sources[number - 1]
