"""The page of runs where an editor has the source beside it: places are gone to, and marked again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from judges.browser import Tab, chromium, find_chromium
from serving.page_traces import lines
from sglc.runtime.serve.ui import assets
from sglc.runtime.serve.ui.assets import Trace, whole_page

PROGRAM = find_chromium()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium on PATH, and none in SGLC_CHROMIUM"),
]
START = "\nnew Page();"
HOST = (
    "\nwindow.went = []; window.page = new Page({ go: (run, span) => window.went.push([run.name, span]) });"
)
MARKED = "[...document.querySelectorAll('.of-place')].map(each => each.textContent)"


def run(*texts: str) -> str:
    """A run that fills one hole so often as there are texts, and then another one."""
    rows: list[dict[str, object]] = [{"event": "text", "text": "Say. ", "span": "a.sgl:2:5"}]
    for hole, text, line in [*(("f.x", text, 3) for text in texts), ("f.y", "end", 4)]:
        common = {"hole": hole, "span": f"a.sgl:{line}:7"}
        rows += [{"event": "hole_start", **common}, {"event": "token", "text": text, "logprob": -1, **common}]
        rows += [{"event": "hole_end", "text": text, **common}]
    return lines([*rows, {"event": "error", "name": "Late", "message": "over", "span": "a.sgl:5:1"}])


@pytest.fixture
def tab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tab]:
    assert PROGRAM is not None
    begun = assets.script()
    assert begun.count(START) == 1
    monkeypatch.setattr(assets, "script", lambda: begun.replace(START, HOST))
    path = tmp_path / "page.html"
    traces = [Trace("one", run("first", "second")), Trace("two", run("other"))]
    path.write_text(whole_page(traces), encoding="utf-8")
    with chromium(PROGRAM) as opened:
        opened.open(path)
        opened.until("document.querySelector('.conversation .it.token') !== null")
        yield opened
        assert opened.complaints == []


def went(tab: Tab) -> list[list[str]]:
    """The places that the editor was asked for since the last time."""
    found: list[list[str]] = tab.evaluate("window.went.splice(0)")
    return found


def click(tab: Tab, place: str) -> None:
    tab.evaluate(f"document.querySelector({place!r}).click()")


def test_a_click_goes_to_the_place_and_marks_what_is_of_it(tab: Tab) -> None:
    assert tab.evaluate("document.getElementById('open').hidden")
    click(tab, ".it.token")
    assert went(tab) == [["one", "a.sgl:3:7"]] and tab.evaluate(MARKED) == ["first", "second"]
    click(tab, ".it.text")
    assert went(tab) == [["one", "a.sgl:2:5"]] and tab.evaluate(MARKED) == []
    click(tab, ".note.error")
    assert went(tab) == [["one", "a.sgl:5:1"]]
    tab.evaluate("document.querySelectorAll('.it.token')[2].focus()")
    tab.press("Enter")
    assert went(tab) == [["one", "a.sgl:4:7"]] and tab.evaluate(MARKED) == ["end"]
    click(tab, ".conversation")
    assert went(tab) == []


def test_a_hole_of_the_list_is_gone_to_by_click_and_by_enter(tab: Tab) -> None:
    click(tab, "#tab-holes")
    assert went(tab) == []
    click(tab, "#lane-2")
    assert went(tab) == [["one", "a.sgl:4:7"]]
    tab.evaluate("document.querySelector('.timeline').focus()")
    tab.press("ArrowUp")
    assert went(tab) == []
    tab.press("Enter")
    assert went(tab) == [["one", "a.sgl:3:7"]] and tab.evaluate("page.tab.id") == "conversation"
    click(tab, "#tab-holes")
    second = "new MouseEvent('click', {bubbles: true, detail: 2})"
    tab.evaluate(f"document.querySelector('#lane-0').dispatchEvent({second})")
    assert went(tab) == [["one", "a.sgl:3:7"]] and tab.evaluate("page.tab.id") == "conversation"


def test_a_place_is_marked_in_the_run_that_has_it(tab: Tab) -> None:
    tab.evaluate("page.mark(page.runs[0], 'a.sgl:3:7')")
    assert tab.evaluate(MARKED) == ["first", "second"]
    tab.evaluate("page.mark(page.runs[1], 'a.sgl:4:7')")
    assert tab.evaluate(MARKED) == ["first", "second"] and tab.evaluate("page.run.name") == "one"
    tab.evaluate("page.pick(page.runs[1])")
    tab.until(f"{MARKED}.length > 0")
    assert tab.evaluate(MARKED) == ["end"]
    tab.evaluate("page.mark(page.runs[1], '')")
    assert tab.evaluate(MARKED) == [] and went(tab) == []
    assert tab.evaluate("document.activeElement === document.body")


def test_in_a_browser_nothing_is_gone_to(tmp_path: Path) -> None:
    assert PROGRAM is not None
    path = tmp_path / "page.html"
    path.write_text(whole_page([Trace("one", run("first"))]), encoding="utf-8")
    with chromium(PROGRAM) as opened:
        opened.open(path)
        opened.until("document.querySelector('.conversation .it.token') !== null")
        click(opened, ".it.token")
        click(opened, "#tab-holes")
        click(opened, "#lane-0")
        assert not opened.evaluate("document.querySelector('[data-placed]') !== null")
        assert opened.complaints == []
