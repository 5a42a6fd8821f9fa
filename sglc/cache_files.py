"""Files of caches: there whole or not at all, private, and believed only where nobody else could write them.

Whose a file is decides what may be done with it. What this user (or the administrator) alone can write is
taken as what sglc itself has written, once its checksum is right. Everything else is input: it is bounded
before use where its format allows, and not read from a cache at all.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO, TextIO

PART = ".part"
"""Ends the names of files that are being written; one that is left behind may be removed."""
PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class Untrusted(PermissionError):
    """A file that somebody else may have written; the message says which and why."""


def cache_folder() -> Path:
    """Where all caches live: SGLC_CACHE_DIR, else the platform's folder for the caches of its user."""
    chosen = os.environ.get("SGLC_CACHE_DIR")
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("sglc"))


# -- writing -----------------------------------------------------------------------------------------


def write_atomically(path: Path, *parts: bytes, mode: int | None = None) -> None:
    """Write a file of these parts, which only its user may read, or with the permissions `mode`.

    Whoever reads at the same time sees the file that was there before or all of the new one; nothing is left
    behind where this fails. The folder must exist. Raises OSError.
    """
    import tempfile

    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=PART)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
        if mode is not None:
            os.chmod(draft, mode)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def keep(path: Path, *parts: bytes) -> None:
    """The same for what can be made again: makes folders, and a cache that cannot be written is no error."""
    with suppress(OSError):
        make_private(path.parent)
        write_atomically(path, *parts)


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are not there, for this user alone. Raises OSError.

    A folder of this user's in the cache that others could write to (a wide umask has made it) is taken from
    them; whatever lay in it is believed no more than its own owner and mode allow.
    """
    missing = []
    place = folder
    while not place.exists():
        missing.append(place)
        place = place.parent
    for each in reversed(missing):
        with suppress(FileExistsError):  # another process has made it in the meantime
            each.mkdir(mode=PRIVATE_FOLDER)
    if os.name == "posix" and folder.is_relative_to(cache_folder()):
        facts = folder.stat()
        if facts.st_uid == os.getuid() and facts.st_mode & _OTHERS:
            folder.chmod(stat.S_IMODE(facts.st_mode) & ~_OTHERS)


def open_private(path: str | Path) -> TextIO:
    """Open a text file for writing from its beginning; a new one is for this user alone. Raises OSError."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, PRIVATE_FILE)

    return open(path, "w", encoding="utf-8", newline="\n", opener=opener)


def sync_folder(folder: Path) -> None:
    """Have the disk keep the names of a folder's files through a power cut, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# -- reading -----------------------------------------------------------------------------------------


def open_own(path: Path) -> IO[bytes]:
    """Open a file that this user alone could have written, in a folder of which the same is true.

    Raises OSError, which is Untrusted where somebody else could have written it.
    """
    file = path.open("rb")
    try:
        if not is_trusted(file):
            raise Untrusted(f"{path}: it belongs to another user, or others can write to it")
        if not is_own_folder(path.parent):
            raise Untrusted(f"{path.parent}: it belongs to another user, or others can write to it")
    except BaseException:
        file.close()
        raise
    return file


def read_own(path: Path, limit: int = 1 << 30) -> bytes:
    """What `open_own` opens, whole. Raises OSError, also for more bytes than the limit."""
    with open_own(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(f"{path} has more than {limit} bytes")
    return data


def is_trusted(file: IO[bytes] | IO[str]) -> bool:
    """Whether this user or the administrator owns an open file and nobody else can write to it.

    Where the system does not tell (anything but POSIX) all files count as trusted: there a user's own cache
    folder is protected by the rights that it inherits.
    """
    return os.name != "posix" or _is_own(os.fstat(file.fileno()))


def is_own_folder(folder: Path) -> bool:
    """Whether the same is true of a folder: what is in it was put there by this user."""
    try:
        return os.name != "posix" or _is_own(os.stat(folder))
    except OSError:
        return False


def _is_own(facts: os.stat_result) -> bool:
    return facts.st_uid in (os.getuid(), 0) and not facts.st_mode & _OTHERS
