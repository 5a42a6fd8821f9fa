"""Files that commands write: there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from sglc.cache_files import sync_folder
from sglc.commands.shared.invocation import Invocation, fail, fault


def write_whole(invocation: Invocation, path: Path, data: bytes, *, private: bool = False) -> None:
    """Write a file so that it is there whole or not at all; a fault is told and ends the command.

    A file that was there keeps its permissions; a new one that is `private` is for its user alone. What has
    been written survives a power cut.
    """
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", suffix=".part", delete=False
        ) as file:
            temporary = file.name
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(path, private))
        os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as problem:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        reason = problem.strerror or str(problem)
        raise fail(invocation, fault("E0805", f"{path} cannot be written", reason=reason)) from None


def _mode(path: Path, private: bool) -> int:
    """The permissions of a file, or those that a new one gets."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    if private:
        return 0o600
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
