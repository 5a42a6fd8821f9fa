"""Pages: all text is there, nothing of it is code, and nothing is asked of the network."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings

from example_budget import examples
from golden_case import GoldenCase, golden_cases
from hostile.traces import HOSTILE, lines_of, read, trace_of, traces
from sglc.diagnostics.render import plain
from sglc.viewer.model import Correction
from sglc.viewer.page import page

TAGS = frozenset(
    (
        "html head meta title style body a header h1 h2 h3 dl div dt dd ul ol li span form label input main "
        "section p b i details summary del ins table thead tbody tr th td figure figcaption svg rect "
        "polyline script"
    ).split()
)
VOID = frozenset(("meta", "input"))


class Reader(HTMLParser):
    """What a page is made of: tags, attributes, and the text of the conversation."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.conversation = ""
        self._open: list[str] = []
        self._inside = 0
        self.feed(text)
        self.close()
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.add(tag)
        self.attributes |= set(values)
        self.links += [
            value or "" for name, value in attrs if name in ("href", "src", "action", "xlink:href")
        ]
        self.ids += [values["id"] or ""] if "id" in values else []
        if self._inside or values.get("id") == "conversation":
            self._inside += tag not in VOID
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        self._inside -= self._inside > 0

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.conversation += data


def texts_of(rows: list[dict[str, Any]]) -> list[str]:
    """Texts that the program wrote, of events in any order."""
    return [row["text"] for row in rows if row["e"] == "text" and "text" in row]


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(traces)
def test_any_events_make_a_page_that_has_all_text_and_no_code_of_it(rows: list[dict[str, Any]]) -> None:
    run, reading = read(lines_of(rows))
    made = page(run, reading)
    made.encode()
    found = Reader(made)
    assert found.tags <= TAGS
    assert not any(name.startswith("on") or name == "style" for name in found.attributes)
    assert all(re.fullmatch(r"#[fh]\d+|#holes", link) for link in found.links)
    assert len(found.ids) == len(set(found.ids))
    for text in texts_of(rows):
        assert plain(text) in found.conversation
    for fill in run.fills:
        # What a correction has struck stands inside the value.
        if not any(isinstance(piece, Correction) for piece in fill.pieces):
            assert plain(fill.value or "") in found.conversation


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda text: ascii(text[:20]))
def test_hostile_texts_everywhere(hostile: str) -> None:
    """In every key that is text, of every kind of event."""
    keys = ("text", "hole", "role", "function", "program", "reason", "message", "name", "error", "rejected")
    keys += ("span", "strategy", "mode", "ended", "dead", "wrong", "put", "by", "outcome", "odd")
    keys += ("kept", "partial")
    every = dict.fromkeys(keys, hostile)
    more = {
        "top": [[hostile, -1.0, False]],
        "scores": {hostile: 0.5},
        "texts": [hostile],
        "at": 0,
        "alpha": 1,
    }
    kinds = (
        "start role text hole_start forced token pruned stepped_back walk beam correction answer hole_end "
        "check again retry hole_start token hole_end call fork error return moon"
    ).split()
    rows = [{"e": kind, **every, **more} for kind in kinds]
    made = page(*read(lines_of(rows)))
    plain_rows = [
        {
            "e": kind,
            **dict.fromkeys(keys, "x"),
            **more,
            "top": [["x", -1.0, False]],
            "scores": {"x": 0.5},
            "texts": ["x"],
        }
        for kind in kinds
    ]
    expected = Reader(page(*read(lines_of(plain_rows))))
    found = Reader(made)
    assert found.tags == expected.tags and found.attributes == expected.attributes
    assert made.count("<script>") == 1 and "<img" not in made and "<svg/" not in made
    controls = [char for char in made if (ord(char) < 32 and char != "\n") or 0x7F <= ord(char) < 0xA0]
    assert not controls
    assert not set(made) & set(
        "\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
    )


@pytest.mark.parametrize("case", golden_cases("show/runs"), ids=str)
def test_pages_of_the_golden_runs_are_well_formed(case: GoldenCase) -> None:
    run, reading = read(trace_of(case.input))
    found = Reader(page(run, reading))
    assert found.tags <= TAGS
    for fill in run.fills:
        assert f"f{fill.number}" in found.ids and f"h{fill.number}" in found.ids


def test_the_policy_lets_in_the_page_s_own_style_and_script_alone() -> None:
    made = page(*read(trace_of('{"e": "role", "role": "user"}')))
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', made)
    for tag in ("style", "script"):
        [text] = re.findall(f"<{tag}>(.*?)</{tag}>", made, re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in policy
    assert policy.startswith("default-src &#39;none&#39;") and "unsafe" not in policy
    assert "http:" not in made and "https:" not in made and "@import" not in made and "url(" not in made
