"""Whole sessions as a person sees them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from golden_case import GoldenCase, golden_cases
from typed.at_prompts import session_of, typed

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
