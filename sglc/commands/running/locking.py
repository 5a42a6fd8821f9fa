"""A file that one run at a time writes to.

The lock is the system's own (`flock`), on the file itself: it ends with the process that holds it, however
that ends, so none is ever left behind. Where the system or the file system has no locks, that is said and
nothing is locked.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # not POSIX
    fcntl = None  # type: ignore[assignment]

NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)
"""What file systems without locks answer."""


class InUse(Exception):
    """Another process has locked the file; the message says which one."""


class NoLocks(Exception):
    """Files cannot be locked here; the message says why."""


def lock(file: IO[str] | IO[bytes]) -> None:
    """Lock an open file until it is closed. Raises InUse, and NoLocks where there is no such thing."""
    if fcntl is None:
        raise NoLocks("this system has no locks of files")
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InUse(_holder(os.fstat(file.fileno()))) from None
    except OSError as problem:
        if problem.errno in NO_LOCKS:
            raise NoLocks(f"its file system has no locks: {problem.strerror}") from None
        raise


def is_named(file: IO[str] | IO[bytes], path: Path) -> bool:
    """Whether an open file is still the one of that name: who comes late may lock one that was replaced."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    return False


def _holder(facts: os.stat_result) -> str:
    """Who has locked a file, as far as the system tells."""
    place = f"{os.major(facts.st_dev):02x}:{os.minor(facts.st_dev):02x}:{facts.st_ino}"
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            parts = line.split()
            if len(parts) >= 8 and parts[1] == "FLOCK" and parts[5] == place and int(parts[4]) > 0:
                return f"process {parts[4]}{_command(parts[4])}"
    return "another process"


def _command(process: str) -> str:
    with suppress(OSError):
        line = Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace")
        shown = " ".join(line.split("\0")).strip()
        if shown:
            return f" ({shown[:120]}{'…' if len(shown) > 120 else ''})"
    return ""
