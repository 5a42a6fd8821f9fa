"""The programs of the repository are in the one layout, but for those that test others."""

from __future__ import annotations

import pytest

from checkout import ROOT
from sglc.cli import main

FOLDERS = ("examples", "stdlib", "tests/support", "tests/benchmarks")


@pytest.mark.parametrize("folder", FOLDERS)
def test_programs_are_formatted(folder, capsys):
    assert main(["fmt", "--check", str(ROOT / folder)]) == 0, capsys.readouterr()
