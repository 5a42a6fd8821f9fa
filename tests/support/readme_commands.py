"""The commands of the README, read from its text: `python readme_commands.py 1` prints the first.

The first installs and runs the main job, the second installs the test extras and runs the tests. Needs
nothing but Python, so that it works before anything is installed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from checkout import ROOT

README = ROOT / "README.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks(language: str, path: Path = README) -> list[str]:
    """Contents of the fenced blocks of a language, in order."""
    return [body for name, body in FENCE.findall(path.read_text(encoding="utf-8")) if name == language]


def commands() -> list[str]:
    """Every command line of the blocks that are marked as bash."""
    return [line for body in blocks("bash") for line in body.splitlines() if line.strip()]


if __name__ == "__main__":
    print(commands()[int(sys.argv[1]) - 1])
