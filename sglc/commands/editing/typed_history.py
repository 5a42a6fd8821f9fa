"""Where what is typed at prompts is kept between sessions: a file of the user's own, without secrets."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

MOST_LINES = 5000
LONGEST = 10_000
"""Most characters of an input that is kept."""
_SECRET = re.compile(
    r"(?i)(\b|_)(pass(word|wd|phrase)|secret|token|api[_-]?key|authorization|bearer|private[_-]?key)\b\W{0,5}[:=]"
    r"|\b(sk|pk|ghp|gho|hf|xox[a-z]|glpat)[-_][A-Za-z0-9_-]{8,}|AKIA[0-9A-Z]{12,}|bearer\s+\S{12,}"
    r"|-----BEGIN|://[^/\s:@]+:[^/\s@]+@"
)


def is_secret(text: str) -> bool:
    """Whether a text looks as if a key or password stands in it. Such inputs are not kept."""
    return _SECRET.search(text) is not None


def history_file() -> Path | None:
    """The file, which its user alone may read; None where it cannot be had, or others may write it."""
    from platformdirs import user_state_dir

    path = Path(user_state_dir("sglc")) / "typed"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            facts = os.fstat(handle)
            if not stat.S_ISREG(facts.st_mode) or (hasattr(os, "getuid") and facts.st_uid != os.getuid()):
                return None
            if facts.st_mode & 0o077:
                os.fchmod(handle, 0o600)
        finally:
            os.close(handle)
    except OSError:
        return None
    return path
