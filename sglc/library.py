"""Finding modules: from a written path (`std.text`, `./crew`, `app.index`) to a source.

The same file always gives the same `Source` object, so modules can be compared by identity. `std.x` is
package data, `./x` and `../x` stand beside the importing file, any other dotted path is relative to the
project: the nearest folder upwards with an `sgl.toml`, else the folder of the main file.

Nothing outside of the main file's project is read, by `..`, an absolute path or a symbolic link, unless that
is allowed: a program that somebody sent may not take in what lies elsewhere on the machine. The folders that
a library is made with may be read too.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.immutable import value
from sglc.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from importlib.resources.abc import Traversable

SUFFIX = ".sgl"
MAX_BYTES = 4 * 1024 * 1024
"""Files larger than this are not read."""
_FILE = "file:"
_Answer = TypeVar("_Answer", Source | None, str | None)
_SHARED = re.compile(r"^pub (?:pure )?\w+ (\w+)", re.MULTILINE)


class LibraryError(Exception):
    """A file that cannot be used: `reason` is a sentence for people. Files `outside` were not looked at."""

    def __init__(self, reason: str, *, outside: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.outside = outside


@value
class Lookup:
    """What a program asked a library for, and what it was told: asked again, it is told the same or not.

    Files of the standard library are not among the lookups: they are part of the compiler.
    """

    path: str
    """As it is written in the program."""
    included: bool
    """Whether it names the text of an included file; else it names a module."""
    importer: int
    """Which file asked: 0 is the main one, others are counted in the order in which they were found."""
    answer: str
    """SHA-256, in hexadecimal, of what was found with its names, of the reason why it cannot be used, or of
    nothing."""


def read_source(path: str | Path) -> tuple[Source | None, list[Diagnostic]]:
    """A file as a source, or why it cannot be read (E0801, E0802)."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return None, [Diagnostic("E0801", f"there is no file {path}", None)]
    except OSError as error:
        reason = error.strerror or str(error)
        return None, [Diagnostic("E0802", f"{path} cannot be read", None, reason=reason)]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None, [Diagnostic("E0802", f"{path} is not UTF-8 text", None)]
    return Source(str(path), text), []


class Library:
    """Looks modules up and keeps what it read.

    `roots` are folders that dotted paths are looked up in, in this order; without any, the project root of
    the importing file is used. With `allow_outside` files outside of the project are read too. `known` are
    sources that stand for files that have their names and texts.
    """

    def __init__(self, *roots: Path | str, allow_outside: bool = False, known: Iterable[Source] = ()) -> None:
        self._known = {source.name: source for source in known}
        self._roots = tuple(Path(root) for root in roots)
        self._allow_outside = allow_outside
        self._home: Path | None = None
        self._projects: dict[Path, Path] = {}
        """Roots of projects by the folders of importing files."""
        self._sources: dict[str, Source] = {}
        self._names: dict[int, str] = {}
        self._asked: list[tuple[str, bool, Source, Source | str | LibraryError | None]] = []
        """Path, whether of an included file, importer and answer of each lookup, in order."""

    def add(self, source: Source) -> None:
        """Make a source known under its own file name, so that an import of that file finds this object, and
        an included text is its text.

        The first one is the main file: its project is the program's.
        """
        if self._home is None:
            self._home = project_root(source)
        self._sources.setdefault(_key(Path(source.name).resolve()), source)

    def path_of(self, source: Source) -> Path | None:
        """The file that a source was read from or added for; None for the standard library's."""
        found = next((key for key, known in self._sources.items() if known is source), None)
        return None if found is None else Path(found.removeprefix(_FILE))

    def find(self, path: str, importer: Source) -> Source | None:
        """The source of the module written as `path` in `importer`; None if there is none.

        Raises LibraryError where a file is there but cannot be read as text.
        """
        if path.startswith("std."):
            return self._standard(path)
        return self._noted(path, False, importer, self._module)

    def _module(self, path: str, importer: Source) -> Source | None:
        if not _plain(path):
            return None
        if path.startswith("."):
            return self._file(_folder(importer) / (path + SUFFIX), importer)
        relative = Path(*path.split(".")).with_suffix(SUFFIX) if "/" not in path else Path(path + SUFFIX)
        for root in self._roots or (self._project(importer),):
            found = self._file(root / relative, importer)
            if found is not None:
                return found
            if relative.parts[0] == "app" and len(relative.parts) > 1:
                found = self._file(root.joinpath(*relative.parts[1:]), importer)
                if found is not None:
                    return found
        return None

    def module_name(self, source: Source) -> str:
        """Dotted name of an imported module: `std.text`, `crew`, `parts.crew`."""
        return self._names.get(id(source), Path(source.name).stem)

    def read_text(self, path: str, importer: Source) -> str | None:
        """Text of an included file beside the importer, as it was added if it was; None if there is none.

        Raises LibraryError where it is there but cannot be read as text, or lies outside of the project.
        """
        return self._noted(path, True, importer, self._included)

    def texts_of(self, importer: Source) -> list[tuple[str, str | LibraryError | None]]:
        """The included files that a source asked for so far, with what was told of each."""
        return [
            (path, answer)
            for path, included, source, answer in self._asked
            if included and source is importer and not isinstance(answer, Source)
        ]

    def included_files(self) -> frozenset[Path]:
        """The files of the included texts that were asked for so far, whether they are there or not."""
        found = set()
        for path in {_folder(importer) / path for path, included, importer, _ in self._asked if included}:
            with suppress(OSError, RuntimeError, ValueError):  # names that no file can have
                found.add(path.resolve())
        return frozenset(found)

    def has_text(self, path: str, importer: Source, answer: str | LibraryError | None) -> bool:
        """Whether an included file, which is asked for now, is as it was told."""
        now: str | LibraryError | None
        try:
            now = self.read_text(path, importer)
        except LibraryError as error:
            now = error
        return self._digest(now) == self._digest(answer)

    def lookups(self) -> list[Lookup]:
        """What was asked of it so far, in order."""
        numbers: dict[int, int] = {}
        found = []
        for path, included, importer, answer in self._asked:
            number = numbers.setdefault(id(importer), len(numbers))
            if isinstance(answer, Source):
                numbers.setdefault(id(answer), len(numbers))
            found.append(Lookup(path, included, number, self._digest(answer)))
        return found

    def still_answers(self, main: Source, lookups: list[Lookup]) -> bool:
        """Whether it answers the lookups of an earlier compile of this main file as they were answered then.

        The library must be new.
        """
        self.add(main)
        sources = [main]
        for lookup in lookups:
            if not 0 <= lookup.importer < len(sources):
                return False
            ask = self.read_text if lookup.included else self.find
            answer: Source | str | LibraryError | None
            try:
                answer = ask(lookup.path, sources[lookup.importer])
            except LibraryError as error:
                answer = error
            if self._digest(answer) != lookup.answer:
                return False
            if isinstance(answer, Source) and not any(answer is known for known in sources):
                sources.append(answer)
        return True

    def _noted(
        self, path: str, included: bool, importer: Source, ask: Callable[[str, Source], _Answer]
    ) -> _Answer:
        """The answer to a lookup, which is kept for `lookups`."""
        try:
            answer = ask(path, importer)
        except LibraryError as error:
            self._asked.append((path, included, importer, error))
            raise
        self._asked.append((path, included, importer, answer))
        return answer

    def _digest(self, answer: Source | str | LibraryError | None) -> str:
        parts: tuple[str, ...]
        match answer:
            case None:
                parts = ("nothing",)
            case LibraryError():
                parts = ("unusable", answer.reason)
            case Source():
                parts = ("module", answer.name, self.module_name(answer), answer.text)
            case text:
                parts = ("text", text)
        state = sha256()
        for part in parts:
            state.update(sha256(part.encode("utf-8", "surrogatepass")).digest())
        return state.hexdigest()

    def _included(self, path: str, importer: Source) -> str | None:
        if "\0" in path:
            return None
        if Path(path).is_absolute() and not self._allow_outside:
            reason = "an absolute path is one of this machine, whatever the project"
            raise LibraryError(reason, outside=True)
        target = self._allowed(_folder(importer) / path, importer)
        known = self._sources.get(_key(target))
        if known is not None:
            return known.text.replace("\r\n", "\n").replace("\r", "\n")  # as a file is read
        return _read(target) if _is_file(target) else None

    def _allowed(self, path: Path, importer: Source) -> Path:
        """Where a path leads, symbolic links followed; raises LibraryError if that is outside."""
        try:
            target = path.resolve()
        except (OSError, RuntimeError) as error:
            raise LibraryError(f"{path} cannot be read: {error}") from None
        home = self._home if self._home is not None else self._project(importer)
        homes = (home, *(root.resolve() for root in self._roots))
        if self._allow_outside or any(target.is_relative_to(folder) for folder in homes):
            return target
        what = "the folder with its `sgl.toml`" if (home / "sgl.toml").is_file() else "its own folder"
        raise LibraryError(f"the program may read what lies in `{_shown(home, home)}`, {what}", outside=True)

    def standard_modules(self) -> list[str]:
        """Paths of the modules that come with the compiler, sorted."""
        folder = _standard_folder()
        names = [entry.name for entry in folder.iterdir() if entry.name.endswith(SUFFIX)]
        return sorted("std." + name.removesuffix(SUFFIX) for name in names)

    def shared_names(self) -> dict[str, frozenset[str]]:
        """What each standard module shares, by its path."""
        return _shared_names()

    def _standard(self, path: str) -> Source | None:
        name = path.removeprefix("std.")
        if not name.isidentifier():
            return None
        source = _standard_source(name)
        if source is not None:
            self._names[id(source)] = path
        return source

    def _file(self, path: Path, importer: Source) -> Source | None:
        target = self._allowed(path, importer)
        key = _key(target)
        if key not in self._sources:
            if not _is_file(path):
                return None
            name, text = _shown(path, target), _read(path, newline="")
            known = self._known.get(name)
            self._sources[key] = known if known is not None and known.text == text else Source(name, text)
        source = self._sources[key]
        if id(source) not in self._names:
            self._names[id(source)] = _dotted(target, self._project(importer))
        return source

    def _project(self, importer: Source) -> Path:
        """The root of the project that a file belongs to."""
        folder = _folder(importer)
        found = self._projects.get(folder)
        if found is None:
            found = self._projects[folder] = project_root(importer)
        return found


def _standard_folder() -> Traversable:
    from importlib.resources import files

    return files("sglc.stdlib")


@lru_cache(maxsize=256)
def _standard_source(name: str) -> Source | None:
    """A module of the standard library: package data, so one object serves every program."""
    entry = _standard_folder() / (name + SUFFIX)
    return Source(f"std/{name}{SUFFIX}", entry.read_text(encoding="utf-8")) if entry.is_file() else None


@lru_cache(maxsize=1)
def _shared_names() -> dict[str, frozenset[str]]:
    folder = _standard_folder()
    found: dict[str, frozenset[str]] = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(SUFFIX):
            text = entry.read_text(encoding="utf-8")
            found["std." + entry.name.removesuffix(SUFFIX)] = frozenset(_SHARED.findall(text))
    return found


def project_root(source: Source) -> Path:
    """The nearest folder at or above the file that holds `sgl.toml`, else the file's own folder."""
    folder = _folder(source).resolve()
    for candidate in (folder, *folder.parents):
        if (candidate / "sgl.toml").is_file():
            return candidate
    return folder


def _is_file(path: Path) -> bool:
    """Whether there is such a file; raises LibraryError for a path that the system cannot look at."""
    try:
        return path.is_file()
    except OSError as error:
        raise LibraryError(f"the system cannot look at it: {error.strerror}") from None


def _folder(source: Source) -> Path:
    return Path(source.name).parent


def _plain(path: str) -> bool:
    """Whether a path has only names, dots and slashes: nothing that a file system could read otherwise."""
    return bool(path) and all(char.isalnum() or char in "_-./" for char in path) and not path.startswith("/")


def _key(target: Path) -> str:
    return _FILE + str(target)


def _shown(path: Path, target: Path) -> str:
    """The path as it is shown: relative to the working folder where what it leads to lies below it."""
    working = Path.cwd()
    return str(target.relative_to(working)) if target.is_relative_to(working) else str(path)


def _dotted(target: Path, root: Path) -> str:
    relative = target.relative_to(root) if target.is_relative_to(root) else Path(target.name)
    return ".".join(relative.with_suffix("").parts)


def _read(path: Path, newline: str | None = None) -> str:
    """Text of a file; with `newline=""` its line ends are kept as they are, as in a main file."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise LibraryError(f"{path} is larger than {MAX_BYTES // 1024 // 1024} MiB")
        with path.open(encoding="utf-8-sig", newline=newline) as file:
            return file.read()
    except UnicodeDecodeError:
        raise LibraryError(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise LibraryError(f"{path} cannot be read: {error.strerror}") from None
