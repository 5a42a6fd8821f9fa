"""Runs as data: limits, and what becomes of events that do not fit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from example_budget import examples
from hostile.traces import lines_of, read, traces
from sglc.viewer.building import DEEPEST, build
from sglc.viewer.filling import repaired
from sglc.viewer.model import Beam, Call, Correction, Item, Mark, Rejected, Walk, height_of
from sglc.viewer.page import page
from sglc.viewer.reading import Event
from sglc.viewer.segments import LEVELS, level, segments, spark
from sglc.viewer.trees import MOST_TEXTS, beam_tree, walk_tree


def events(*rows: dict[str, Any]) -> list[Event]:
    return [Event(row["e"], row, at) for at, row in enumerate(rows, 1)]


def test_calls_deeper_than_the_limit_are_told_where_they_are() -> None:
    for deep in (DEEPEST, DEEPEST + 3):
        rows = [{"e": "call", "function": "g"}] * deep
        rows += [{"e": "text", "text": "here"}, *([{"e": "return", "function": "g"}] * deep)]
        run = build(events(*rows, {"e": "text", "text": "end"}))
        assert height_of(run.items) == DEEPEST
        assert "here" in page(run) and len(run.items) == 2, "every return leaves its own call"


def test_branches_deeper_than_the_limit_are_told_where_they_are() -> None:
    for deep in (DEEPEST, DEEPEST + 3, 100_000):
        path = ".".join("0" * deep)
        run = build(events({"e": "text", "text": "here", "branch": path}))
        assert height_of(run.items) == min(deep, DEEPEST) and "here" in page(run)


def test_what_is_rejected_again_and_again_stays_shallow() -> None:
    """Holes that begin one after the other and are taken back from the last to the first."""
    for many in (DEEPEST - 1, DEEPEST + 5):
        names = [f"f.x{number}" for number in range(many)]
        rows = [
            row
            for name in names
            for row in ({"e": "hole_start", "hole": name}, {"e": "hole_end", "text": name})
        ]
        rows += [{"e": "retry", "hole": name} for name in reversed(names)]
        run = build(events(*rows))
        assert height_of(run.items) == min(many, DEEPEST)
        made = page(run)
        assert all(name in made for name in names)


def test_an_answer_that_was_asked_again_is_told_beside_its_hole() -> None:
    again = {"e": "again", "hole": "f.x", "reason": "behind 'a' may stand 'b'"}
    run = build(events({"e": "hole_start", "hole": "f.x"}, again, {"e": "hole_end", "text": "ab"}))
    assert [fill.value for fill in run.fills] == ["ab"] and not run.skipped
    assert Mark("f.x was asked again: behind 'a' may stand 'b'") in run.items


def test_tokens_behind_the_limit_keep_their_text() -> None:
    rows = [{"e": "token", "hole": "f.x", "text": letter, "logprob": -1.0} for letter in "abcde"]
    for most in (4, 5, 6):
        run = build(events({"e": "hole_start", "hole": "f.x"}, *rows), most_detailed=most)
        [fill] = run.fills
        assert "".join(each.text for each in segments(fill)) == "abcde"
        assert [token.number > 0 for token in fill.tokens] == [at < most for at in range(5)]
        assert (run.detailed, run.left_out) == (min(most, 5), max(0, 5 - most))


def test_stretches_without_details_are_drawn_as_one() -> None:
    rows = [{"e": "token", "text": letter, "pressure": 0.0} for letter in "abcd"]
    rows += [{"e": "token", "text": letter, "pressure": 9.0} for letter in "ef"]
    run = build(events({"e": "hole_start", "hole": "f.x"}, *rows), most_detailed=2)
    [fill] = run.fills
    assert [(each.text, each.level) for each in segments(fill)] == [("a", 0), ("b", 0), ("cd", 0), ("ef", 4)]


def contained(items: list[Item]) -> int:
    """Fillings in some items and below."""
    total = 0
    for item in items:
        if isinstance(item, Call | Rejected):
            total += contained(item.items)
        elif hasattr(item, "branches"):
            total += sum(contained(branch.items) for branch in item.branches)
        else:
            total += hasattr(item, "pieces")
    return total


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(traces)
def test_no_filling_is_lost(rows: list[dict[str, Any]]) -> None:
    run, _ = read(lines_of(rows))
    assert contained(run.items) == len(run.fills)
    assert sum(run.skipped.values()) == sum(row["e"] == "moon" for row in rows)


def test_levels_of_pressure() -> None:
    for number, border in enumerate(LEVELS):
        assert (level(border - 0.01), level(border)) == (number, number + 1)
    assert level(None) == 0


def test_a_repair_in_order() -> None:
    value = '{"a": "b"}'
    found = repaired(value, [Correction(6, "'b'", '"b"', "shortest"), Correction(9, "]", "}", "model")])
    assert "".join(part.text for part in found if part.kind != "wrong") == value
    assert [(part.kind, part.text) for part in found] == [
        ("kept", '{"a": '),
        ("wrong", "'b'"),
        ("put", '"b"'),
        ("wrong", "]"),
        ("put", "}"),
    ]


def test_a_repair_that_was_repaired_again_ends_in_the_value() -> None:
    value = "abcd"
    found = repaired(
        value, [Correction(2, "x", "cd", ""), Correction(1, "y", "bc", ""), Correction(0, "z", "q", "")]
    )
    assert "".join(part.text for part in found if part.kind != "wrong") == value
    assert [part.text for part in found if part.kind == "wrong"] == ["y", "x", "z"]


def test_trees_share_what_texts_begin_with() -> None:
    rows = walk_tree([Walk(1, "ab", None, "kept"), Walk(2, "a", 0.5, "illegal"), Walk(3, "", None, "")])
    assert [(row.level, row.text, row.note) for row in rows] == [
        (0, "", "walk 3"),
        (1, "a", "walk 2 weight 0.5 illegal"),
        (2, "b", "walk 1 kept"),
    ]
    for many in (MOST_TEXTS, MOST_TEXTS + 1):
        assert len(walk_tree([Walk(n, chr(0x4E00 + n), None, "") for n in range(many)])) == MOST_TEXTS


def test_beams_that_go_on_are_told_once() -> None:
    rows = beam_tree([Beam(0, ["a", "b"], [1.0]), Beam(1, ["ab", "ac"], [2.0, 3.0])])
    assert [(row.text, row.note, row.kept) for row in rows] == [
        ("b", "dropped after step 0", False),
        ("a", "", True),
        ("b", "score 2", True),
        ("c", "score 3", True),
    ]


def test_lines_of_blocks() -> None:
    assert spark([], 5) == "" and spark([2.0, 2.0], 5) == "▁▁" and spark([0.0, 1.0], 5) == "▁█"
    assert spark([0.0, 0.0, 7.0, 7.0], 2) == "▁█", "more values than columns: means"
    assert json.dumps(spark([1.0], 0))
