"""Pieces of a page for notebooks: well formed, without scripts and addresses, and all texts as texts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings

from example_budget import examples
from hostile.traces import HOSTILE, lines_of, read, trace_of, traces
from judges.viewer_pieces import Piece, sound
from sglc.viewer.fragment import MOST_CARDS, fragment

RETRY = """
{"e": "start", "function": "feel", "program": "mood.sgl", "seed": 3}
{"e": "role", "role": "assistant"}
{"e": "text", "text": "It is "}
{"e": "hole_start", "hole": "feel.mood", "mode": "gen"}
{"e": "forced", "hole": "feel.mood", "text": "'"}
{"e": "token", "hole": "feel.mood", "text": "cal", "logprob": -2.302585, "pressure": 1.2, "mask": 1234, \
"top": [["gre</li>", -0.693147, false], ["cal", -2.302585, true]]}
{"e": "token", "hole": "feel.mood", "text": "m'", "logprob": -0.01, "pressure": 0.0, "mask": 3}
{"e": "hole_end", "hole": "feel.mood", "text": "'calm'", "ended": "complete"}
{"e": "retry", "hole": "feel.mood", "reason": "not <b>so</b>", "strategy": "resample", "rejected": "'calm'"}
{"e": "hole_start", "hole": "feel.mood", "mode": "gen"}
{"e": "token", "hole": "feel.mood", "text": "'sad'", "logprob": -0.5}
{"e": "hole_end", "hole": "feel.mood", "text": "'sad'", "ended": "complete"}
{"e": "hole_start", "hole": "feel.c", "mode": "choose"}
{"e": "hole_end", "hole": "feel.c", "text": "red", "ended": "choose", "scores": {"red": 0.75, "b<i>": 0.25}}
{"e": "fork", "branches": 2}
{"e": "text", "text": "left", "branch": "0"}
{"e": "text", "text": "right", "branch": "1"}
{"e": "adopt", "index": 1}
{"e": "finish", "function": "feel", "tokens": 3, "forced": 1, "forwards": 2, "seconds": 0.5}
"""


def test_tokens_are_tinted_and_tell_what_else_could_stand_there() -> None:
    made = fragment(*read(trace_of(RETRY)), mark="m")
    piece = sound(made)
    for told in ("probability 10.0 %", "legal tokens 1,234", "'gre</li>'", "50.0 %"):
        assert told in piece.text
    assert 'class="t p1" tabindex="0">cal' in made
    assert 'class="t " tabindex="0">m' in made or 'class="t" tabindex="0">m' in made
    assert '<span class="forced">' in made
    assert "'b<i>'25.0 %" in piece.text and "red" in piece.plain and "25.0" not in piece.plain


def test_tries_and_branches_are_tabs() -> None:
    made = fragment(*read(trace_of(RETRY)), mark="m")
    piece = sound(made)
    assert "try 1: rejected, not <b>so</b>" in piece.text and "try 2" in piece.text
    assert "branch 0" in piece.text and "branch 1, taken" in piece.text
    assert piece.attributes["type"] == ["radio"] * 4
    assert len(piece.attributes["checked"]) == 2


def test_two_pieces_of_a_page_share_no_names() -> None:
    run, reading = read(trace_of(RETRY))
    one, two = (set(Piece(fragment(run, reading, mark=mark)).attributes["id"]) for mark in ("a", "b"))
    assert not one & two


def test_very_many_tokens_have_titles_in_place_of_cards() -> None:
    rows: list[dict[str, Any]] = [{"e": "start", "function": "f"}, {"e": "hole_start", "hole": "f.x"}]
    rows += [{"e": "token", "hole": "f.x", "text": "ab", "logprob": -3.0} for _ in range(MOST_CARDS + 50)]
    made = fragment(*read(lines_of(rows)), mark="m")
    piece = sound(made)
    assert made.count('class="card"') == MOST_CARDS
    assert len([each for each in piece.attributes["title"] if each.startswith("'ab'")]) == 50


def test_style_sheets_speak_of_the_piece_alone() -> None:
    style = Piece(fragment(*read(trace_of(RETRY)), mark="m")).style
    for rule in re.findall(r"([^{}]+)\{", style):
        for selector in rule.split(","):
            assert ".sglc-run" in selector or "@media" in selector, selector
    assert "prefers-color-scheme: dark" in style and 'data-jp-theme-light="false"' in style


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_text(text: str) -> None:
    rows = [
        {"e": "start", "function": text, "program": text},
        {"e": "role", "role": text},
        {"e": "text", "text": text},
        {"e": "hole_start", "hole": text, "mode": text},
        {"e": "token", "hole": text, "text": text, "logprob": -1.0, "top": [[text, -1.0, False]]},
        {"e": "hole_end", "hole": text, "text": text, "ended": text},
        {"e": "retry", "hole": text, "reason": text, "strategy": text},
        {"e": "error", "name": text, "message": text},
    ]
    sound(fragment(*read(lines_of(rows)), mark="m"))


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(traces)
def test_any_events_make_a_sound_piece(rows: list[dict[str, Any]]) -> None:
    sound(fragment(*read(lines_of(rows)), mark="m"))
