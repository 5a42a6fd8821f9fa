"""Pages in a browser: the card under the pointer, keys, the filter, and that no network is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from golden_case import golden_cases
from hostile.traces import HOSTILE, lines_of, read, trace_of
from judges.browser import Tab, chromium, find_chromium
from sglc.viewer.page import page

PROGRAM = find_chromium()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium on PATH, and none in SGLC_CHROMIUM"),
]

TRACE = """
{"e": "start", "function": "feel", "program": "mood.sgl"}
{"e": "role", "role": "assistant"}
{"e": "text", "text": "It is "}
{"e": "hole_start", "hole": "feel.mood", "mode": "gen"}
{"e": "forced", "hole": "feel.mood", "text": "'"}
{"e": "token", "hole": "feel.mood", "text": "cal", "logprob": -2.302585, "pressure": 1.2, "mask": 1234, \
"top": [["gre</li>", -0.693147, false], ["cal", -2.302585, true]]}
{"e": "token", "hole": "feel.mood", "text": "m'", "logprob": -0.1, "pressure": 0.0, "mask": 3, \
"drafts": [1, 2]}
{"e": "hole_end", "hole": "feel.mood", "text": "'calm'", "ended": "complete"}
{"e": "retry", "hole": "feel.mood", "reason": "no"}
{"e": "hole_start", "hole": "feel.other", "mode": "gen"}
{"e": "token", "hole": "feel.other", "text": "x", "logprob": -1.0}
{"e": "hole_end", "hole": "feel.other", "text": "x", "ended": "complete"}
"""


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    assert PROGRAM is not None
    with chromium(PROGRAM) as opened:
        yield opened


@pytest.fixture
def shown(tab: Tab, tmp_path: Path) -> Iterator[Tab]:
    """A tab with the page of `TRACE`. In the end nothing was complained of, and nothing requested."""
    path = tmp_path / "run.html"
    path.write_text(page(*read(trace_of(TRACE))), encoding="utf-8")
    tab.open(path)
    yield tab
    assert tab.complaints == [] and tab.requests == [path.resolve().as_uri()]


CARD = "document.getElementById('card')"


def test_the_card_tells_of_the_token_under_the_pointer(shown: Tab) -> None:
    assert shown.evaluate(f"{CARD}.hidden")
    shown.point("#t1")
    assert not shown.evaluate(f"{CARD}.hidden")
    assert shown.evaluate(f"{CARD}.querySelector('h4').textContent") == "'cal'"
    told = shown.evaluate(f"[...{CARD}.querySelectorAll('dl div')].map(each => each.innerText)")
    assert [" ".join(each.split()) for each in told] == [
        *("probability 10.0 %", "legal tokens 1,234", "pressure 1.20 nats"),
    ]
    assert shown.evaluate(f"[...{CARD}.querySelectorAll('del')].map(each => each.textContent)") == [
        "'gre</li>'"
    ]
    best = shown.evaluate(
        f"[...{CARD}.querySelectorAll('li')].map(each => each.innerText.split('\\n').join(' '))"
    )
    assert [" ".join(each.split()) for each in best] == ["'gre</li>' 50.0 %", "'cal' 10.0 %"]
    box = shown.evaluate(f"(r => [r.left, r.right, innerWidth])({CARD}.getBoundingClientRect())")
    assert 0 <= box[0] < box[1] <= box[2]
    shown.point("h1")
    assert shown.evaluate(f"{CARD}.hidden")


def test_keys_reach_every_token(shown: Tab) -> None:
    shown.evaluate("document.querySelector('#f1').focus()")
    heads = []
    for _ in range(3):
        shown.press("ArrowRight")
        heads.append(shown.evaluate(f"{CARD}.querySelector('h4').textContent"))
    assert heads == ["'cal'", "'m''", "'m''"]
    assert "drafts [1, 2]" in shown.evaluate(f"{CARD}.textContent")
    shown.press("ArrowLeft")
    assert shown.evaluate(f"{CARD}.querySelector('h4').textContent") == "'cal'"
    shown.press("Escape")
    assert shown.evaluate(f"{CARD}.hidden")
    shown.press("Enter")
    assert shown.evaluate("document.querySelector('#h1').open")


def test_the_filter_shows_some_holes(shown: Tab) -> None:
    seen = "[...document.querySelectorAll('.hole')].filter(each => each.offsetHeight).map(each => each.id)"
    assert shown.evaluate(seen) == ["h1", "h2"]
    fill = (
        "(form => {{ form.elements.{0} = {1}; form.dispatchEvent(new Event('input')) }})(document.forms[0])"
    )
    shown.evaluate(fill.format("hole.value", "'OTHER'"))
    assert shown.evaluate(seen) == ["h2"]
    shown.evaluate(fill.format("hole.value", "''"))
    shown.evaluate(fill.format("rejected.checked", "false"))
    assert shown.evaluate(seen) == ["h2"]
    assert shown.evaluate("document.querySelector('.rejected').offsetHeight") == 0


def test_pages_fit_a_telephone(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    for case in golden_cases("show/runs"):
        path.write_text(page(*read(trace_of(case.input))), encoding="utf-8")
        tab.open(path, width=360, height=700)
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360, case.name
        assert tab.complaints == [] and len(tab.requests) == 1


def test_hostile_texts_do_nothing(tab: Tab, tmp_path: Path) -> None:
    rows = []
    for text in HOSTILE:
        rows += [
            {"e": "role", "role": text},
            {"e": "text", "text": text},
            {"e": "hole_start", "hole": text, "span": text},
            {"e": "token", "hole": text, "text": text, "top": [[text, -1.0, False]]},
            {"e": "hole_end", "hole": text, "text": text},
            {"e": "error", "name": text, "message": text},
        ]
    path = tmp_path / "run.html"
    path.write_text(page(*read(lines_of(rows))), encoding="utf-8")
    tab.open(path)
    for number in range(1, len(HOSTILE) + 1):
        over = "new PointerEvent('pointerover', {bubbles: true})"
        tab.evaluate(f"document.getElementById('t{number}')?.dispatchEvent({over})")
    assert tab.complaints == [] and len(tab.requests) == 1
    assert (
        tab.evaluate("document.querySelectorAll('img, iframe, object, #conversation svg, script').length")
        == 1
    )
    assert tab.evaluate("getComputedStyle(document.querySelector('.text')).unicodeBidi") == "isolate"


def test_without_scripts_all_is_there(tmp_path: Path) -> None:
    assert PROGRAM is not None
    path = tmp_path / "run.html"
    path.write_text(page(*read(trace_of(TRACE))), encoding="utf-8")
    with chromium(PROGRAM, scripts=False) as tab:
        tab.open(path)
        assert tab.evaluate("document.getElementById('filter').offsetHeight") == 0
        title = tab.evaluate("document.getElementById('t1').title")
        assert title == "'cal', probability 10.0 %, legal tokens 1,234, pressure 1.20 nats"
        assert tab.evaluate("document.querySelector('#h1 .tokens del').textContent") == "'gre</li>'"
