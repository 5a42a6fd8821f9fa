"""Files of caches: there whole or not at all, and believed only where nobody else could have written them."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

PART = ".part"
"""Ends the names of files that are being written; one that is left behind may be removed."""


def cache_folder() -> Path:
    """Where all caches live: SGLC_CACHE_DIR, else the platform's folder for the caches of its user."""
    chosen = os.environ.get("SGLC_CACHE_DIR")
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("sglc"))


def write_atomically(path: Path, *parts: bytes) -> None:
    """Write a file of these parts, which only its user may read.

    Whoever reads at the same time sees the file that was there before or all of the new one; nothing is left
    behind where this fails. The folder must exist. Raises OSError.
    """
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=PART)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def keep(path: Path, *parts: bytes) -> None:
    """The same for what can be made again: makes folders, and a cache that cannot be written is no error."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, *parts)


def is_trusted(file: IO[Any]) -> bool:
    """Whether an open file belongs to this user and cannot be written by others, where the system tells."""
    if os.name != "posix":
        return True
    facts = os.fstat(file.fileno())
    return facts.st_uid == os.getuid() and not facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
