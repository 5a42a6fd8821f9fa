"""The grammars of editors are what `python -m sglc.highlight` writes, byte for byte."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

from checkout import ROOT
from sglc.highlight.__main__ import main
from sglc.highlight.files import written_files

EDITORS = ROOT / "grammar" / "editors"
WRITTEN = written_files()


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_bytes(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == WRITTEN[name], "run `python -m sglc.highlight`"


def test_check_in_a_process_of_its_own() -> None:
    """Sets in another order change nothing."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "sglc.highlight", "--check"],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_unknown_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--wrong"]) == 2
    assert "--check" in capsys.readouterr().err


def test_the_parser_of_tree_sitter_is_made_of_this_grammar() -> None:
    source = EDITORS / "tree-sitter" / "src"
    digest = hashlib.sha256((source / "grammar.json").read_bytes()).hexdigest()
    said = (source / "parser.sha256").read_text(encoding="utf-8").split()
    assert said == [digest, "grammar.json"], (
        "the grammar has changed: run `tree-sitter generate --abi 14 src/grammar.json` in "
        "grammar/editors/tree-sitter, then `sha256sum grammar.json >parser.sha256` in src"
    )


def test_every_editor_says_how_it_is_installed() -> None:
    for folder in sorted(path for path in EDITORS.iterdir() if path.is_dir()):
        readme = folder / ("syntaxes/README.md" if folder.name == "vscode" else "README.md")
        assert readme.is_file(), readme
