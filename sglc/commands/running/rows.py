"""Results of many rows in a file of JSON lines that can be continued after any kind of end.

Every finished row is one line, handed to the system at once, and to the disk `SYNC_SECONDS` later at most: a
power cut takes the rows of that time, which are run again, and none that a command has called kept. A row is
finished if the file has a line with its number and the digest of its arguments. A last line that was cut off
(a full disk, a power cut) does not count and is removed before writing goes on. A file with anything else in
it is not touched. One run at a time writes to a file.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO, TypedDict

from sglc.cache_files import sync_folder
from sglc.commands.running.locking import NoLocks, is_named, lock
from sglc.types.language.membership import MemberError
from sglc.types.text.plain_json import parse_json

if TYPE_CHECKING:
    from sglc.types.values import Value

SYNC_SECONDS = 0.25
"""A disk takes up to some 20 ms to keep what it is given; this much of a run's time is not noticed."""
UNSYNCED = (errno.EINVAL, errno.ENOTSUP, errno.EROFS)
"""What pipes and terminals answer, which keep nothing."""
LONGEST_ROW = 64 * 1024 * 1024
BEGINNING = b'{"row": '
"""What the line of a finished row begins with."""


class BadRows(Exception):
    """The file of rows cannot be used; the message says which line and why."""


class NoResults(Exception):
    """A file has lines that are no results; the message says which."""


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    """Counted from 0 over the rows of the file, blank lines left out."""
    line: int
    arguments: Mapping[str, Value]
    digest: str


def digest_of(function: str, arguments: Mapping[str, Value]) -> str:
    """What tells one call from another: a digest of the function's name and its arguments, in any order."""

    def plain(value: object) -> dict[str, str]:
        if isinstance(value, Decimal):
            return {"decimal": str(value)}
        raise TypeError(type(value).__name__)

    text = json.dumps([function, arguments], sort_keys=True, ensure_ascii=True, default=plain)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def read_rows(path: Path, function: str, common: Mapping[str, Value] | None = None) -> list[Row]:
    """All rows of a file of JSON lines; raises BadRows, naming the line, and OSError.

    `common` are arguments of all rows that have no others of that name; digests are of them too.
    """
    rows: list[Row] = []
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), start=1):
            if not line.strip():
                continue
            try:
                arguments = parse_json(line.decode("utf-8-sig"))
            except UnicodeDecodeError:
                raise BadRows(f"line {number} is not UTF-8 text") from None
            except MemberError as problem:
                raise BadRows(f"line {number}: {problem.reason}") from None
            if not isinstance(arguments, dict):
                raise BadRows(f"line {number} is not a JSON object with the arguments by name")
            try:
                digest = digest_of(function, {**(common or {}), **arguments})
            except RecursionError:
                raise BadRows(f"line {number} is nested too deeply") from None
            rows.append(Row(len(rows), number, arguments, digest))
    return rows


def _lines(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(LONGEST_ROW + 1):
        if len(line) > LONGEST_ROW:
            raise BadRows(f"a line is longer than {LONGEST_ROW // 1024 // 1024} MiB")
        yield line


class Results:
    """The file of results. Rows that it held when opened are in `finished` (number, digest), and those of
    them that had failed in `failed` too."""

    def __init__(self, path: Path, *, retry_errors: bool = False) -> None:
        """Open for appending, locked; raises OSError, InUse where another run writes to it, and NoResults for
        a file that has other things in it.

        With `retry_errors` rows that failed are not finished.
        """
        self.path = path
        self.finished: set[tuple[int, str]] = set()
        self.failed: set[tuple[int, str]] = set()
        self.unlocked = ""
        """Why the file could not be locked; empty where it is."""
        self.kept = 0
        """Rows written that a power cut cannot take any more."""
        self._written = 0
        self._synced = time.monotonic()
        real = path.resolve() if path.is_file() or not path.exists() else path
        self._file = self._opened(real)
        try:
            if real.is_file():
                self._read(real, retry_errors)
                sync_folder(real.parent)
        except BaseException:
            self._file.close()
            raise

    def _opened(self, path: Path) -> TextIO:
        """The file of this name, locked. A run that ends may put another file in its place meanwhile."""
        while True:
            file = _appended(path)
            if not path.is_file():  # a pipe or a terminal
                return file
            try:
                lock(file)
            except NoLocks as why:
                self.unlocked = str(why)
                return file
            except BaseException:
                file.close()
                raise
            if is_named(file, path):
                return file
            file.close()

    def _read(self, path: Path, retry_errors: bool) -> None:
        kept: list[bytes] = []
        whole = 0
        dropped = False
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                entry = _entry(line)
                if entry is None:
                    if _is_cut(line):
                        break
                    raise NoResults(f"line {number} is no result of a row")
                whole += len(line)
                if retry_errors and not entry["ok"]:
                    dropped = True
                    continue
                if retry_errors:
                    kept.append(line)
                key = (entry["row"], entry["digest"])
                self.finished.add(key)
                if not entry["ok"]:
                    self.failed.add(key)
        if dropped:
            self._put_in_place(path, b"".join(kept))
        elif whole < path.stat().st_size:
            os.truncate(path, whole)

    def add(self, row: Row, entry: Mapping[str, object], value: str | None = None) -> None:
        """Write one finished row; raises OSError. `value` is JSON text that is put in as it is."""
        head = json.dumps({"row": row.number, "digest": row.digest, **entry}, ensure_ascii=False)
        line = head if value is None else f'{head[:-1]}, "value": {value}}}'
        self._file.write(line + "\n")
        self._file.flush()
        self._written += 1
        self.finished.add((row.number, row.digest))
        self.sync_in_time()

    def sync_in_time(self) -> None:
        """As `sync`, where rows have been waiting for `SYNC_SECONDS`. Raises OSError."""
        if self.kept < self._written and time.monotonic() - self._synced >= SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Have the disk keep all rows that were written, through a power cut too. Raises OSError."""
        try:
            os.fsync(self._file.fileno())
        except OSError as problem:
            if problem.errno not in UNSYNCED:
                raise
        self.kept = self._written
        self._synced = time.monotonic()

    def close(self) -> None:
        """Keep all rows, and let others write to the file. Raises OSError."""
        if not self._file.closed:
            try:
                self._file.flush()
                self.sync()
            finally:
                with contextlib.suppress(OSError):
                    self._file.close()

    def _put_in_place(self, path: Path, data: bytes) -> None:
        """Replace the file by one with these lines: it has the old or the new ones at any time, locked."""
        temporary = path.with_name(f".{path.name}.part")
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, temporary)
        if self.unlocked:
            self._file.close()
            os.replace(temporary, path)
            self._file = _appended(path)
            return
        new = _appended(temporary)
        try:
            lock(new)
            os.replace(temporary, path)
        except BaseException:
            new.close()
            raise
        old, self._file = self._file, new
        old.close()


def _appended(path: Path) -> TextIO:
    """A file opened for lines at its end.

    Of half a surrogate pair, which has no UTF-8, the escape is written; in JSON it is the same text.
    """
    return path.open("a", encoding="utf-8", errors="backslashreplace", newline="\n")


class _Entry(TypedDict):
    """What is read of the line of a finished row."""

    row: int
    digest: str
    ok: bool


def _entry(line: bytes) -> _Entry | None:
    """A finished row's line, or None for a line that is cut off or is none of ours."""
    if not line.endswith(b"\n"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict):
        return None
    row, digest = entry.get("row"), entry.get("digest")
    if not isinstance(row, int) or not isinstance(digest, str):
        return None
    return {"row": row, "digest": digest, "ok": bool(entry.get("ok"))}


def _is_cut(line: bytes) -> bool:
    """Whether a line is the beginning of a finished row's; zeros are what a power cut may leave of it."""
    written = line.rstrip(b"\0")
    cut = written[: len(BEGINNING)] == BEGINNING[: len(written)]
    return cut and not written.endswith(b"\n")
