"""Whole sessions as a person sees them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from checkout import DOCS
from golden_case import GoldenCase, golden_cases
from typed.at_prompts import session_of, typed

PAGE = (DOCS / "repl.md").read_text(encoding="utf-8")
ANSWERS: dict[str, object] = {
    "mood.m": "furious",
    "session.it": "calm",
    "session.why": "you asked",
    "session.color": "red",
    "session.other": "blue",
    "session.guess": "4",
    "session.best": "blue",
    "session.gen1": "7",
}


@pytest.mark.parametrize("case", golden_cases("repl/transcripts"), ids=str)
def test_transcripts(case: GoldenCase, golden: Callable[[GoldenCase, str], None], tmp_path: Path) -> None:
    shown = typed(session_of(tmp_path, ANSWERS), case.input + "\n")
    golden(case, re.sub(r"scripted:\S+", "scripted:…", shown))


BLOCKS = [each for each in re.findall(r"```console\n(.*?)```", PAGE, re.S) if "sgl> " in each]


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_page_shows_what_is_seen(block: str, tmp_path: Path) -> None:
    lines = [line for line in block.splitlines() if not line.startswith("$")]
    given = [line[5:] for line in lines if line.startswith(("sgl> ", "...  ", "..."))]
    session = session_of(tmp_path, {"session.it": "annoyed"})
    session.take("fn twice(n: int) -> int:\n    return n * 2")
    shown = typed(session, "\n".join(given) + "\n").removesuffix("sgl> \n")
    assert [line.rstrip() for line in shown.splitlines()] == lines
