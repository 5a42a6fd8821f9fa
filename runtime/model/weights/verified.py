"""Marks beside large files: that a file's content was verified by its digest, and need not be read again.

A mark names the file by device, inode, size and the times of its last change; copying, writing to or
replacing the file makes the mark void. It guards against accidents, as the digest does: who can write to the
folder can write both. What a disk loses without a change of the file is no longer noticed.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path

from sglc.cache_files import open_own, write_atomically

SUFFIX = ".verified"
RECENT = 1.0
"""Seconds after a change in which a file is not marked: a further one might leave its times as they are."""


def is_marked(path: Path, facts: os.stat_result, digest: str) -> bool:
    """Whether the file with these `facts` (of `fstat`) was verified to have the digest."""
    try:
        with open_own(_place(path)) as file:
            return bool(json.loads(file.read(4096)) == _content(facts, digest))
    except (OSError, ValueError, RecursionError):
        return False


def mark(path: Path, facts: os.stat_result, digest: str) -> None:
    """Say that the file with these facts has the digest. A folder that cannot be written to is no error."""
    if time.time() - max(facts.st_mtime, facts.st_ctime) < RECENT:
        return
    with suppress(OSError):
        write_atomically(_place(path), json.dumps(_content(facts, digest)).encode())


def _place(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)


def _content(facts: os.stat_result, digest: str) -> dict[str, int | str]:
    return {
        "device": facts.st_dev,
        "inode": facts.st_ino,
        "size": facts.st_size,
        "changed": facts.st_mtime_ns,
        "state": facts.st_ctime_ns,
        "sha256": digest,
    }
