"""The page of `sglc view` in a browser: what is shown, keys, hostile and long traces, and that nothing is
asked of anybody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from hostile.traces import HOSTILE, lines_of, traces
from judges.browser import Tab, chromium, find_chromium
from serving.page_traces import eventful, lines, long_trace
from sglc.runtime.serve.ui.assets import TOO_LONG, Trace, whole_page

PROGRAM = find_chromium()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium on PATH, and none in SGLC_CHROMIUM"),
]
FOCUS = "document.activeElement"
MARKUP = "document.querySelectorAll('img, iframe, object, embed, #panels svg, script[src]').length"


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    assert PROGRAM is not None
    with chromium(PROGRAM) as opened:
        yield opened


@pytest.fixture
def show(tab: Tab, tmp_path: Path) -> Iterator[Any]:
    """Shows traces. In the end nothing was complained of, and nothing requested but the page itself."""
    path = tmp_path / "page.html"

    def shown(*texts: str, **look: Any) -> Tab:
        traces = [Trace(f"run{number}.jsonl", text) for number, text in enumerate(texts, 1)]
        path.write_text(whole_page(traces), encoding="utf-8", errors="replace")
        tab.open(path, **look)
        tab.until("document.documentElement.dataset.ready")
        return tab

    yield shown
    assert tab.complaints == [] and tab.requests == [path.resolve().as_uri()]


def pieces(tab: Tab, kinds: str) -> list[str]:
    """The texts of pieces of some kinds."""
    found: list[str] = tab.evaluate(
        f"[...document.querySelectorAll('{kinds}')].map(each => each.textContent)"
    )
    return found


def go(tab: Tab, name: str) -> None:
    tab.evaluate(f"document.getElementById('tab-{name}').click()")


def test_tokens_have_their_probability_and_origin(show: Any) -> None:
    tab = show(eventful())
    tab.until("document.querySelector('.conversation .it.token') !== null")
    assert pieces(tab, ".conversation > .rows > .chunk > .line .it.token") == ["calm", "'"]
    assert pieces(tab, ".conversation > .rows > .chunk > .line .it.forced") == ["'"]
    assert pieces(tab, ".conversation .it.inserted") == ["hello"]
    assert pieces(tab, ".it.token.p0.drafted") == ["calm"] and pieces(tab, ".it.p5.drafted.refused") == ["'"]
    assert tab.evaluate("document.querySelector('.it.token.p0').dataset.legal") == "3"
    tab.point(".it.token.p0")
    told = tab.until("document.querySelector('#inspector del')?.closest('#inspector').innerText")
    assert "98.0 %" in told and "history" in told and "gre</li>" in told and "reused" not in told
    assert tab.evaluate("document.querySelector('#inspector .taken code').textContent") == "“calm”"


def test_what_was_rejected_is_folded_where_it_happened(show: Any) -> None:
    tab = show(eventful())
    fold = "document.querySelector('.fold.rejected')"
    summary = tab.until(f"{fold}?.querySelector('summary').textContent")
    assert "feel.mood was rejected" in summary and "too gloomy" in summary
    assert not tab.evaluate(f"{fold}.open || {fold}.querySelector('.it') !== null")
    tab.evaluate(f"{fold}.open = true")
    tab.until(f"{fold}.querySelector('.it') !== null")
    assert pieces(tab, ".fold.rejected .it") == ["'", "wrong'"]
    order = "[...document.querySelectorAll('.conversation > .rows > .chunk > *')].map(each => each.className)"
    assert [name.split()[0] for name in tab.evaluate(order)] == [
        *("role", "line", "role", "line", "fold", "line", "note", "fold", "note", "note"),
    ]


def test_holes_over_time(show: Any) -> None:
    tab = show(eventful())
    go(tab, "holes")
    rows = tab.until("[...document.querySelectorAll('.lane')].map(each => each.textContent)")
    assert rows[0] == "feel.mood2 rejected tokens, 400 ms: 100 ms queue, 200 ms until the first token"
    assert len(rows) == 5 and "1.0 · feel.deep" in tab.evaluate(
        "document.querySelector('.lanes').textContent"
    )
    parts = tab.evaluate("[...document.querySelectorAll('#lane-0 i')].map(each => each.className)")
    assert parts == ["queue", "prompt", "tokens"]


def test_forks_have_values_and_the_adopted_branch(show: Any) -> None:
    tab = show(eventful())
    go(tab, "forks")
    items = "[...document.querySelectorAll('[role=treeitem] > .node')].map(each => each.innerText)"
    texts = [" ".join(text.split()) for text in tab.until(items)]
    assert texts[1:] == ["0because 0 1 token, 30.1 %", "1✓ adopted because 1 1 token, 30.1 %"]


def test_memory_tells_beginnings_in_common(show: Any) -> None:
    tab = show(eventful(), eventful(mood="cross"))
    go(tab, "memory")
    assert tab.until("document.querySelector('#panel-memory tbody').innerText").split() == [
        *("mood.sgl", "2", "10", "200", "128", "(64.0", "%)")
    ]
    nodes = tab.evaluate("[...document.querySelectorAll('#panel-memory .index')].map(each => each.innerText)")
    assert nodes[0] == "10×" and nodes.count("3×") == 2


def test_calls_have_conversations_of_their_own(show: Any) -> None:
    def call(**more: Any) -> list[dict[str, Any]]:
        hole = {"hole": "f.x"}
        return [
            {"event": "call", "function": "f", **more},
            *({"event": "text", "text": "Shared beginning. "}, {"event": "hole_start", **hole}),
            *({"event": "hole_end", **hole, "text": "x"}, {"event": "return", "function": "f"}),
        ]

    tab = show(lines([{"event": "text", "text": "Outer."}, *call(), *call(), *call(part=True)]))
    go(tab, "memory")
    tab.until("document.querySelector('#panel-memory .tree') !== null")
    nodes = tab.evaluate(
        "[...document.querySelectorAll('#panel-memory .node')].map(each => each.textContent)"
    )
    assert [text.split(". ")[0] for text in nodes] == ["1×Outer", "2×Shared beginning"]


def test_the_first_difference_is_marked(show: Any) -> None:
    tab = show(eventful(), eventful(mood="cross"))
    go(tab, "compare")
    tab.until("document.querySelectorAll('.differs').length === 2")
    assert pieces(tab, ".differs") == ["calm", "cross"]
    assert "“calm” of feel.mood and “cross” of feel.mood" in tab.evaluate(
        "document.querySelector('.verdict').textContent"
    )
    tab.evaluate(
        "(pick => { pick.value = '0'; pick.dispatchEvent(new Event('change')) })"
        "(document.querySelectorAll('.side select')[1])"
    )
    assert "same run" in tab.evaluate("document.querySelector('.verdict').textContent")


def test_equal_texts_in_other_tokens_are_no_difference(show: Any) -> None:
    one, other = (
        [{"event": "token", "hole": "f.x", "text": text} for text in texts] for texts in ("ab", ["ab"])
    )
    tab = show(lines(one), lines(other))
    go(tab, "compare")
    assert "No difference" in tab.until("document.querySelector('.verdict').textContent")


def test_keys_reach_everything(show: Any) -> None:
    tab = show(eventful(), eventful(mood="cross"))
    tab.until("document.querySelector('.conversation .it.token') !== null")
    tab.press("Tab")
    seen = [tab.evaluate(f"{FOCUS}.className || {FOCUS}.id")]
    for _ in range(12):
        tab.press("Tab")
        seen.append(tab.evaluate(f"{FOCUS}.id || {FOCUS}.className || {FOCUS}.tagName"))
        if "conversation by-p" in seen:
            break
    assert seen[0] == "skip"
    assert {"runs", "open", "tab-conversation", "colour", "legal", "find"} <= set(seen)
    assert tab.evaluate(f"getComputedStyle({FOCUS}).outlineStyle") == "solid"
    texts = []
    for _ in range(3):
        tab.press("ArrowRight")
        texts.append(tab.evaluate(f"{FOCUS}.textContent"))
    assert texts == ["'", "calm", "'"]
    tab.press("ArrowLeft")
    assert tab.evaluate("document.querySelector('#inspector h2').textContent") == "“calm”"
    tab.press("Escape")
    assert tab.evaluate(f"{FOCUS}.classList.contains('conversation')")


def test_keys_in_tabs_timeline_and_tree(show: Any) -> None:
    tab = show(eventful())
    tab.evaluate("document.getElementById('tab-conversation').focus()")
    tab.press("ArrowRight")
    assert tab.evaluate(f"{FOCUS}.id") == "tab-holes"
    assert tab.evaluate("getComputedStyle(document.getElementById('panel-holes')).display") != "none"
    tab.evaluate("document.querySelector('.timeline').focus()")
    tab.press("End")
    chosen = "document.querySelector('.lane[aria-selected=true]').id"
    assert tab.evaluate(chosen) == "lane-4"
    tab.press("ArrowUp")
    assert tab.evaluate(chosen) == "lane-3"
    tab.press("Enter")
    tab.until(f"{FOCUS}.textContent === 'because 1'")
    assert tab.evaluate(f"{FOCUS}.closest('details').open")
    go(tab, "forks")
    tab.evaluate("document.querySelector('[role=treeitem]').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        tab.press(key)
    assert "feel.why" in tab.evaluate(f"{FOCUS}.textContent")
    tab.press("ArrowLeft")
    assert "adopted" in tab.evaluate(f"{FOCUS}.textContent")


def test_text_is_found_and_folds_open(show: Any) -> None:
    tab = show(eventful())
    tab.evaluate("document.getElementById('find').focus()")
    tab.write("very deep")
    assert "1 row" in tab.until("document.querySelector('.tools output').textContent")
    tab.press("Enter")
    assert tab.until("document.querySelector('.found')?.textContent") == "very deep"


def test_a_hundred_thousand_tokens(show: Any) -> None:
    """All are there, few are made; the last one can be reached."""
    tab = show(long_trace(100_000))
    assert "100,000 tokens" in tab.evaluate("document.querySelector('.facts').textContent")
    assert tab.evaluate("document.querySelectorAll('.it').length") < 8000
    tab.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    tab.until("[...document.querySelectorAll('.it')].some(each => each.item?.event?.token === 99999)")
    go(tab, "holes")
    tab.until("document.querySelectorAll('.lane').length > 5")
    assert tab.evaluate("document.querySelectorAll('.lane').length") < 80


HOSTILE_KEYS = (
    "role",
    "text",
    "hole",
    "span",
    "name",
    "message",
    "reason",
    "function",
    "program",
    "model",
    "ended",
)


def test_hostile_texts_do_nothing(show: Any) -> None:
    rows: list[dict[str, Any]] = [
        {"event": "start", "function": each, "arguments": {each: each}} for each in HOSTILE
    ]
    for text in HOSTILE:
        everything = dict.fromkeys(HOSTILE_KEYS, text)
        for kind in ("role", "text", "hole_start", "token", "hole_end", "retry", "error", "check", "call"):
            rows.append({"event": kind, **everything, "top": [[text, -1.0, False]], "scores": {text: 1.0}})
        rows.append({"event": "fork", "branches": 2, **everything})
        rows.append({"event": "text", "branch": "0", "text": text})
    tab = show(lines(rows), lines(rows[::-1]))
    for name in ("conversation", "holes", "forks", "memory", "compare", "conversation"):
        go(tab, name)
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        over = "new PointerEvent('pointerover', {bubbles: true})"
        tab.evaluate(f"document.querySelectorAll('.it').forEach(each => each.dispatchEvent({over}))")
    assert tab.evaluate(MARKUP) == 0
    assert "\u202e" not in tab.evaluate("document.body.innerText")


TOKEN = '{"v": 1, "event": "token", "hole": "f.x", "text": "a"'
END = '{"v": 1, "event": "hole_end", "hole": "f.x", "text": 5'
STRANGE = [
    TOKEN + ', "logprob": 1e999, "mask": 1e308, "pressure": -1e999, "t": 1e300}',
    TOKEN + ', "logprob": "NaN", "mask": -5, "t": "x", "top": [null, 3, ["x"]]}',
    END + ', "tokens": 1e99, "seconds": -3, "queue": 1e9, "scores": [1]}',
    '{"v": 1, "event": "text", "text": "__proto__", "__proto__": {"polluted": true}, "constructor": 1}',
    '{"v": 1, "event": "start", "arguments": {"__proto__": [1]}, "seed": 1e400}',
    '{"v": 1, "event": "fork", "branches": 1e12}',
    '{"v": 1, "event": "text", "branch": "' + "0." * 3000 + '0", "text": "deep"}',
    '{"v": 1, "event": "adopt", "index": {}}',
    '{"v": 1, "event": "moon"}',
    '{"v": 2, "event": "text", "text": "another version"}',
    "[" * 100_000,
    "no json",
    "null",
    TOO_LONG,
    '{"v": 1, "event": "text", "text": "cut',
]


def test_broken_lines_are_told(show: Any) -> None:
    tab = show("\n".join(STRANGE))
    told = tab.until("document.querySelector('.damage').innerText")
    assert "Line 10 was left out: it is of another version" in told
    assert "Line 11 was left out: it is n" in told and "Line 12 was left out: it is not JSON" in told
    assert "Line 14 was left out: it has more than 32 MiB" in told
    assert "Line 15 was left out: it is unfinished" in told
    assert "1 event of kinds that this page does not know" in told
    for name in ("holes", "forks", "memory", "compare"):
        go(tab, name)
    assert tab.evaluate("({}).polluted === undefined")


def test_what_is_no_trace_is_told(show: Any) -> None:
    tab = show("nothing of it\nis a trace\n")
    assert "This is no trace of a run" in tab.until("document.querySelector('.damage').innerText")


def test_lines_are_bounded_while_they_are_read(show: Any) -> None:
    """A file that is opened in the page: a line over the limit is skipped, those around it are read."""
    tab = show(eventful())
    tab.evaluate(
        '(() => { const long = \'x\'.repeat(1 << 20), good = \'{"v":1,"event":"text","text":"good"}\\n\';'
        "const parts = [good, ...Array(40).fill(long), '\\n', good];"
        "const given = new DataTransfer(); given.items.add(new File(parts, 'long.jsonl'));"
        "document.getElementById('files').files = given.files;"
        "document.getElementById('files').dispatchEvent(new Event('change')) })()"
    )
    told = tab.until("document.querySelector('.damage')?.innerText")
    assert told == "Line 2 was left out: it has more than 32 MiB."
    assert tab.until("document.querySelector('.conversation .line')?.textContent") == "goodgood"
    assert tab.evaluate("document.getElementById('runs').selectedOptions[0].textContent") == "long.jsonl"


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=traces)
def test_any_events_make_a_page(show: Any, rows: list[dict[str, Any]]) -> None:
    tab = show(lines_of(rows).decode(), eventful())
    for name in ("holes", "forks", "memory", "compare", "conversation"):
        go(tab, name)
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert tab.evaluate(MARKUP) == 0 and tab.complaints == []


CONTRASTS = """
(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const colour = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const part = (v) => (v / 255 <= .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => .2126 * part(r) + .7152 * part(g) + .0722 * part(b);
  const over = ([r, g, b, a], under) =>
    [r, g, b].map((v, at) => (v * a) / 255 + under[at] * (1 - a / 255));
  const found = {seen: 0, worst: []};
  for (const each of document.querySelectorAll('body *')) {
    const own = [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!each.offsetParent || !own) continue;
    const layers = [];
    for (let at = each; at; at = at.parentElement)
      layers.unshift(colour(getComputedStyle(at).backgroundColor));
    const back = layers.reduce((under, layer) => over(layer, under), [255, 255, 255]);
    const ink = over(colour(getComputedStyle(each).color), back);
    const [high, low] = [light(ink), light(back)].sort((one, two) => two - one);
    const ratio = (high + .05) / (low + .05);
    found.seen += 1;
    if (ratio < 4.5) found.worst.push(`${ratio.toFixed(2)} ${each.className}: ${each.textContent}`);
  }
  return found;
})()
"""


@pytest.mark.parametrize("dark", [False, True])
def test_contrast(show: Any, dark: bool) -> None:
    """WCAG 2.2, 1.4.3: at least 4.5 for every text, in both themes and on every level of probability."""
    tokens = [
        {"event": "token", "hole": "f.x", "text": "word ", "logprob": -value / 2, "mask": 5}
        for value in range(12)
    ]
    tab = show(eventful(), eventful(mood="cross") + lines(tokens), dark=dark)
    tab.evaluate("document.getElementById('legal').click()")
    for name in ("conversation", "holes", "forks", "memory", "compare"):
        go(tab, name)
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found = tab.evaluate(CONTRASTS)
        assert found["worst"] == [] and found["seen"] > 10, name


def test_it_fits_a_telephone(show: Any) -> None:
    tab = show(eventful(), eventful(mood="cross"), width=360, height=700)
    for name in ("conversation", "holes", "forks", "memory", "compare"):
        go(tab, name)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360, name


def test_keys_in_both_sides_of_a_comparison(show: Any) -> None:
    tab = show(eventful(), eventful(mood="cross"))
    go(tab, "compare")
    tab.until("document.querySelectorAll('.differs').length === 2")
    for side, text in enumerate(("calm", "cross")):
        tab.evaluate(f"document.querySelectorAll('.side-rows')[{side}].focus()")
        tab.press("ArrowRight")
        tab.press("ArrowRight")
        assert tab.evaluate(f"{FOCUS}.textContent") == text


def test_bytes_of_a_character_are_shown_as_it(show: Any) -> None:
    texts = ("a", "\\xf0\\x9f", "\\x98", "\\x80", "b", "\\xc3", "c")
    tab = show(lines([{"event": "token", "hole": "f.x", "text": text} for text in texts]))
    tab.until("document.querySelector('.conversation .it.token') !== null")
    assert pieces(tab, ".conversation .it") == ["a", "", "", "\U0001f600", "b", "\\xc3", "c"]


def test_a_repair_shows_what_was_struck_and_put(show: Any) -> None:
    hole = {"hole": "repair.text"}
    rows: list[dict[str, Any]] = [
        {"event": "hole_start", **hole, "mode": "repair"},
        {"event": "correction", **hole, "at": 3, "wrong": ";", "put": ",", "by": "closest"},
        {"event": "hole_end", **hole, "text": "[é1, 2]", "ended": "complete"},
    ]
    tab = show(lines(rows))
    tab.until("document.querySelector('.conversation .it') !== null")
    assert pieces(tab, ".conversation .it.drawn") == ["[é1", " 2]"]
    assert pieces(tab, ".conversation .it.gone") == [";"] and pieces(tab, ".conversation .it.put") == [","]


def test_deep_and_wide_traces(show: Any) -> None:
    """Folds in each other, forks behind each other and texts beside each other without end."""
    hole = {"hole": "f.x"}
    deep = [{"event": "hole_start", **hole}, *[{"event": "retry", **hole, "reason": "no"}] * 5_000]
    wide: list[dict[str, Any]] = []
    for number in range(5_000):
        wide.append({"event": "fork", "branches": 1})
        wide.append({"event": "hole_start", "branch": "0", **hole})
        wide.append({"event": "hole_end", "branch": "0", **hole, "text": str(number)})
    calls = [{"event": "call", "function": "f"}, {"event": "text"}, {"event": "hole_start", **hole}]
    apart = [{**row, "text": str(number)} for number in range(5_000) for row in calls]
    tab = show(lines(deep), lines(wide), lines(apart))
    for run in range(3):
        tab.evaluate(
            f"(pick => {{ pick.value = '{run}'; pick.dispatchEvent(new Event('change')) }})"
            "(document.getElementById('runs'))"
        )
        for name in ("conversation", "holes", "forks", "memory", "compare"):
            go(tab, name)
            assert tab.evaluate("document.querySelectorAll('*').length") < 12_000
