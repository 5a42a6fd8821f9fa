"""Runs the highlighters of editors, and compares what they give with what the parser takes a text for.

TextMate (VS Code's engine), CodeMirror and highlight.js come from npm, in a folder that `SGLC_HIGHLIGHTERS`
names: `npm install vscode-textmate@9 vscode-oniguruma@2 @codemirror/language highlight.js`. Vim and Emacs are
Debian's.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from checkout import ROOT
from judges.colours import letters
from sglc.highlight.core.classes import CLASSES, KEYWORDS, TextClass

FOLDER = os.environ.get("SGLC_HIGHLIGHTERS", "")
EDITORS = ROOT / "grammar" / "editors"
JUDGES = Path(__file__).parent

needs_npm = pytest.mark.skipif(
    not FOLDER or shutil.which("node") is None, reason="no packages of highlighters (SGLC_HIGHLIGHTERS)"
)
needs_vim = pytest.mark.skipif(shutil.which("vim") is None, reason="no vim on PATH")
needs_emacs = pytest.mark.skipif(shutil.which("emacs") is None, reason="no emacs on PATH")

Span = tuple[str, str | None]
"""Text and what the editor calls its class; None for none."""
_LETTERS = {
    "string": "S",
    "escape": "SP",
    "prompt": "P",
    "pipe": "",
    "hole": "H",
    "insert": "I",
    "comment": "C",
    "documentation": "C",
    "regex": "X",
    "path": "X",
}


def meanings(name_of: Callable[[TextClass, str], str]) -> dict[str, str]:
    """The letters that each name of a class of an editor can stand for."""
    found: dict[str, str] = {}
    for kind, each in CLASSES.items():
        letter = "K" if kind in KEYWORDS else _LETTERS.get(kind, ".")
        name = name_of(each, kind)
        found[name] = found.get(name, "") + letter
    return found


def disagreement(text: str, spans: Iterable[Span], known: dict[str, str]) -> str | None:
    """The first place at which an editor differs from the parser; None where they agree."""
    wanted = letters(text)
    assert wanted is not None
    found: list[str | None] = []
    for part, name in spans:
        found += [name] * len(part)
    assert len(found) == len(text), (len(found), len(text))
    for place, (letter, name) in enumerate(zip(wanted, found, strict=True)):
        given = "." if name is None else known.get(name, ".")
        if letter not in "WJ" and letter not in given and text[place] not in "\r\n":
            start = text.rfind("\n", 0, place) + 1
            line = text[start : (text.find("\n", place) + len(text) + 1) % (len(text) + 1)]
            return f"{letter} expected, {name} given at {text[place : place + 12]!r} in {line!r}"
    return None


def by_node(judge: str, written: str, programs: list[str]) -> list[list[Span]]:
    """Programs coloured by a package of npm."""
    done = subprocess.run(
        ["node", str(JUDGES / judge), FOLDER, str(EDITORS / written)],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[list[Span]] = json.loads(done.stdout)
    return found


def by_vim(programs: list[str], folder: Path) -> list[list[Span]]:
    """Programs coloured by Vim."""
    command = ["vim", "-es", "-u", "NONE", "-N", "-c", f"set rtp^={EDITORS / 'vim'}", "-c", "filetype on"]
    return _by_editor([*command, "-S", str(JUDGES / "vim_colours.vim")], programs, folder, bytes_count=True)


def by_emacs(programs: list[str], folder: Path) -> list[list[Span]]:
    """Programs coloured by Emacs, its mode compiled without a warning."""
    shutil.copy(EDITORS / "emacs" / "sgl-mode.el", folder)
    compiled = ["emacs", "-Q", "--batch", "-f", "batch-byte-compile", str(folder / "sgl-mode.el")]
    done = subprocess.run(compiled, capture_output=True, text=True, check=True)
    assert "Warning" not in done.stderr, done.stderr
    command = ["emacs", "-Q", "--batch", "-L", str(folder), "-l", "sgl-mode"]
    return _by_editor([*command, "-l", str(JUDGES / "emacs_colours.el")], programs, folder, bytes_count=False)


def _by_editor(command: list[str], programs: list[str], folder: Path, bytes_count: bool) -> list[list[Span]]:
    paths = [folder / f"{number}.sgl" for number in range(len(programs))]
    for path, text in zip(paths, programs, strict=True):
        path.write_text(text, encoding="utf-8", newline="\n")
    (folder / "list").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
    places = {"SGL_LIST": str(folder / "list"), "SGL_OUT": str(folder / "out")}
    done = subprocess.run(command, env={**os.environ, **places}, capture_output=True, text=True, check=False)
    assert (folder / "out").exists(), done.stderr
    runs: dict[str, dict[int, dict[int, str]]] = {}
    file: dict[int, dict[int, str]] = {}
    for line in (folder / "out").read_text(encoding="utf-8").splitlines():
        if line.startswith("/"):
            file = runs.setdefault(line, {})
        else:
            row, column, *name = line.split(" ", 2)
            file.setdefault(int(row), {})[int(column)] = name[0] if name else ""
    return [_spans(text, runs[str(path)], bytes_count) for path, text in zip(paths, programs, strict=True)]


def _spans(text: str, rows: dict[int, dict[int, str]], bytes_count: bool) -> list[Span]:
    spans: list[Span] = []
    for number, line in enumerate(text.split("\n"), 1):
        column, name = 1, ""
        for char in line:
            name = rows.get(number, {}).get(column, name)
            spans.append((char, name or None))
            column += len(char.encode()) if bytes_count else 1
        spans.append(("\n", None))
    return spans[:-1]
