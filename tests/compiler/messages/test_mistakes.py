"""Mistakes of people who come from other languages, or write SGL for the first time, and what is said.

A case of `golden/mistakes` is a program with one mistake, the messages as they are drawn, and a rating of
them: 3 points where the caret stands at the mistake, the message says in the user's words what is wrong, and
what to do about it, with an edit where only one repair is possible. A rating below 3 gives its reason. The
ratings are a person's; that there is one for each case, and that the messages are still those that were
rated, is tested.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from golden_case import GOLDEN, golden_cases, render_all
from hostile.inner_words import INNER
from sglc.check.program import check
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.edits import compatible, edited
from sglc.diagnostics.render import render
from sglc.library import Library
from sglc.source import Source

CASES = golden_cases("mistakes")
GOAL = 2.8
FOLLOWING = 2
"""Messages that a mistake may give; most of the programs with two of them have the mistake twice."""

_RATING = re.compile(r"-- rating ([0-3])(?:: (\S.*))?")


def ratings() -> dict[str, tuple[int, str]]:
    """Points and reason of each case, by its name."""
    found: dict[str, tuple[int, str]] = {}
    for path in sorted((GOLDEN / "mistakes").glob("*.test")):
        name = ""
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line.startswith("[case "):
                name = line[len("[case ") :].rstrip("]")
            match = _RATING.fullmatch(line)
            if match is not None:
                assert name not in found, f"{path.name}: {name} is rated twice"
                found[name] = int(match[1]), match[2] or ""
    return found


RATINGS = ratings()


def findings(text: str) -> list[Diagnostic]:
    return check(Source("program.sgl", text), Library())[1]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_mistake_is_told(case, golden):
    found = findings(case.input + "\n")
    golden(case, render_all(found))
    assert 0 < len(found) <= FOLLOWING, "told once, with nothing that follows from it"
    assert not any(INNER.search(render(d)) for d in found)


def test_every_mistake_is_rated_and_what_is_missing_said():
    assert RATINGS.keys() == {case.name for case in CASES}
    for name, (points, reason) in RATINGS.items():
        assert (points == 3) == (reason == ""), f"{name}: {points} points, reason {reason!r}"


def test_the_ratings_reach_the_goal():
    points = [points for points, _ in RATINGS.values()]
    assert len(points) >= 150
    assert min(points) > 0
    assert sum(points) / len(points) >= GOAL


def test_names_of_cases_are_unique():
    assert all(count == 1 for count in Counter(case.name for case in CASES).values())


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_edits_lead_to_a_program_that_says_less(case, tmp_path: Path):
    """Edits made in rounds, as `check --fix` makes them: every finding that carries one is gone."""
    text = case.input + "\n"
    first = findings(text)
    found = first
    for _ in range(5):
        chosen = compatible(found, lambda _: True)
        if not chosen:
            break
        text = edited(text, [edit for edits in chosen for edit in edits])
        found = findings(text)
    assert not any(d.edits for d in found)
    if all(d.edits for d in first):
        left = [d for d in found if d.severity == "error"]
        assert not left, f"{text}\n\n{render_all(left)}"
