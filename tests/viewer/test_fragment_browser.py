"""Pieces of a page in a browser: cards and tabs work without a script, and nothing is requested."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hostile.traces import read, trace_of
from judges.browser import Tab, chromium, find_chromium
from sglc.viewer.fragment import fragment

PROGRAM = find_chromium()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium on PATH, and none in SGLC_CHROMIUM"),
]

TRACE = """
{"e": "start", "function": "feel"}
{"e": "hole_start", "hole": "feel.mood", "mode": "gen"}
{"e": "token", "hole": "feel.mood", "text": "calm", "logprob": -2.3, "mask": 12, "top": [["sad", -0.7, true]]}
{"e": "hole_end", "hole": "feel.mood", "text": "calm", "ended": "complete"}
{"e": "fork", "branches": 2}
{"e": "text", "text": "left", "branch": "0"}
{"e": "text", "text": "right", "branch": "1"}
"""


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[Tab]:
    assert PROGRAM is not None
    piece = fragment(*read(trace_of(TRACE)), mark="m")
    path = tmp_path / "notebook.html"
    body = '<body data-jp-theme-light="false">'
    path.write_text(f"<!DOCTYPE html><meta charset=utf-8>{body}{piece}</body>", encoding="utf-8")
    with chromium(PROGRAM) as tab:
        tab.open(path)
        yield tab
        assert tab.complaints == [] and tab.requests == [path.resolve().as_uri()]


def test_cards_and_tabs_need_no_script(shown: Tab) -> None:
    style = "getComputedStyle(document.querySelector('{}')).{}"
    assert shown.evaluate(style.format(".sglc-run .card", "display")) == "none"
    shown.evaluate("document.querySelector('.sglc-run .t').focus()")
    assert shown.evaluate(style.format(".sglc-run .card", "display")) == "block"
    sections = (
        "[...document.querySelectorAll('.sglc-run section')].map(e => getComputedStyle(e).display).join()"
    )
    assert shown.evaluate(sections) == "block,none"
    shown.evaluate("document.querySelectorAll('.sglc-run label')[1].click()")
    assert shown.evaluate(sections) == "none,block"
    assert shown.evaluate(style.format(".sglc-run", "color")) == "rgb(222, 219, 212)", "the dark theme"
