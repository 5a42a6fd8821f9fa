"""Diagnostics: how they are drawn, the catalogue of syntax codes, and the nearest name."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_case import golden_cases, render_all
from sglc.diagnostics.catalogue import syntax as codes_syntax
from sglc.diagnostics.catalogue.codes import CATALOGUE
from sglc.diagnostics.diagnostic import Diagnostic, Label
from sglc.diagnostics.render import plain, render, to_json
from sglc.diagnostics.suggest import edit_distance, nearest
from sglc.source import Source, Span
from sglc.syntax.parse import parse

CASES = golden_cases("diagnostics/syntax")
MADE = {
    "a file of 5 Mi characters": "# " + "x" * (5 * 1024 * 1024),
    "a line of 200,000 characters": "part a():\n    | " + "x" * 200_000 + "\n",
    "a character that turns the direction of text": 'const NAME = "a\u202eb"\n',
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_syntax_diagnostics_are_drawn(case, golden):
    text = MADE.get(case.input, case.input + "\n")
    golden(case, render_all(parse(Source("program.sgl", text))[1]))


def test_every_syntax_code_is_drawn_somewhere():
    drawn = {code for case in CASES for code in re.findall(r"\[([EW]\d{4})\]:", case.expected or "")}
    assert drawn == {entry.code for entry in codes_syntax.ENTRIES}


@pytest.mark.parametrize("entry", codes_syntax.ENTRIES, ids=lambda entry: entry.code)
def test_examples_of_a_syntax_code_show_it(entry):
    bad = [d.code for d in parse(Source("bad.sgl", entry.bad))[1]]
    good = [d.code for d in parse(Source("good.sgl", entry.good))[1]]
    assert bad == ([entry.code] if entry.bad else [])
    assert good == []


def test_codes_of_the_catalogue_are_well_formed_and_explained():
    assert {code[:3] for code in (e.code for e in codes_syntax.ENTRIES)} == {"E01", "W01"}
    for code, entry in CATALOGUE.items():
        assert re.fullmatch(r"[EW]\d{4}", code)
        assert entry.title and not entry.title.endswith(".")
        assert entry.explanation.strip().endswith((".", "`", ")"))


def spanned(text: str, *places: tuple[int, int]) -> tuple[Source, list[Span]]:
    source = Source("a.sgl", text)
    return source, [Span(source, start, end) for start, end in places]


def test_all_parts_of_a_diagnostic_are_drawn_in_order():
    _, (first, second) = spanned("let x = 1\nlet y = 2\nlet x = 3\n", (24, 25), (4, 5))
    diagnostic = Diagnostic(
        "E0203",
        "`x` is declared twice",
        first,
        label="again here",
        reason="a name means one thing",
        witness="x",
        hint="rename one\nof the two",
        secondary=(Label(second, "first here"),),
    )
    assert render(diagnostic) == (
        "error[E0203]: `x` is declared twice\n"
        " --> a.sgl:3:5\n"
        "  |\n"
        "1 | let x = 1\n"
        "  |     - first here\n"
        "2 | let y = 2\n"
        "3 | let x = 3\n"
        "  |     ^ again here\n"
        "  = reason: a name means one thing\n"
        "  = example: x\n"
        "  = hint: rename one\n"
        "          of the two"
    )


def test_a_diagnostic_without_a_place_is_its_words():
    diagnostic = Diagnostic("E0130", "too large", None, hint="split it", severity="warning")
    assert render(diagnostic) == "warning[E0130]: too large\n = hint: split it"


def test_places_in_two_files_are_drawn_one_after_the_other():
    a, b = Source("a.sgl", "use x\n"), Source("b.sgl", "\n\nfn f()\n")
    diagnostic = Diagnostic("E0200", "m", Span(a, 4, 5), secondary=(Label(Span(b, 5, 6), "declared here"),))
    lines = render(diagnostic).split("\n")
    assert " --> a.sgl:1:5" in lines and " ::: b.sgl:3:4" in lines


def test_a_span_over_many_lines_shows_its_first_and_last():
    _, (span,) = spanned("fn f(\n    a,\n    b,\n    c,\n)\n", (3, 26))
    drawn = render(Diagnostic("E0200", "m", span, label="all of it")).split("\n")
    assert drawn[3:] == ["1 | fn f(", "  |    ^^", "  ...", "4 |     c,", "  |     ^^ all of it"]


def test_carets_stand_below_wide_and_combining_characters():
    text = "名e\u0301x!"
    _, (span,) = spanned(text, (4, 5))
    code, marks = render(Diagnostic("E0101", "m", span)).split("\n")[-2:]
    assert code == "1 | 名e\u0301x!"
    assert marks == "  |     ^"  # two columns, one, one


def test_a_place_at_the_end_of_the_text_has_a_caret():
    _, (span,) = spanned("ab", (2, 2))
    assert render(Diagnostic("E0101", "m", span)).split("\n")[-1] == "  |   ^"


def test_colour_only_adds_escapes():
    _, (span,) = spanned("let x\n", (4, 5))
    diagnostic = Diagnostic("E0101", "m", span, label="l", hint="h")
    coloured = render(diagnostic, color=True)
    assert "\x1b[1;31m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(diagnostic)


@given(st.text(), st.text(), st.data())
def test_drawing_never_fails_and_never_lets_controls_through(text, message, data):
    source = Source(data.draw(st.text(max_size=5)), text)
    start = data.draw(st.integers(0, len(text)))
    span = Span(source, start, data.draw(st.integers(start, len(text))))
    diagnostic = Diagnostic("E0101", message, span, label=message, secondary=(Label(span, "x"),))
    drawn = render(diagnostic)
    assert all(char == "\n" or plain(char) == char for char in drawn)
    json.dumps(to_json(diagnostic))


def test_json_has_lines_columns_and_offsets():
    _, (span, other) = spanned("let x\nlet y\n", (10, 11), (4, 5))
    diagnostic = Diagnostic("E0101", "m", span, secondary=(Label(other, "o"),))
    assert to_json(diagnostic) == {
        "code": "E0101",
        "severity": "error",
        "message": "m",
        "span": {
            "file": "a.sgl",
            "start": {"offset": 10, "line": 2, "column": 5},
            "end": {"offset": 11, "line": 2, "column": 6},
        },
        "label": "",
        "reason": "",
        "witness": "",
        "hint": "",
        "secondary": [
            {
                "span": {
                    "file": "a.sgl",
                    "start": {"offset": 4, "line": 1, "column": 5},
                    "end": {"offset": 5, "line": 1, "column": 6},
                },
                "text": "o",
            }
        ],
        "edits": [],
        "offered": [],
    }


# -- nearest names -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("retrun", "return"),  # neighbours swapped
        ("Crwe", "Crew"),
        ("crew", "Crew"),  # another case
        ("asistant", "assistant"),
        ("temprature", "temperature"),
        ("x", None),  # too short to guess
        ("banana", None),
        ("re", None),
    ],
)
def test_nearest_suggests_only_what_is_close(name, meant):
    assert nearest(name, ["return", "Crew", "assistant", "temperature", "y", "fork"]) == meant


def test_nearest_of_nothing_is_nothing():
    assert nearest("name", []) is None


WORDS = st.text(alphabet="abc", max_size=6)


@given(WORDS, WORDS)
def test_edit_distance_agrees_with_its_definition(left, right):
    def by_definition(a: str, b: str) -> int:
        if not a or not b:
            return len(a) + len(b)
        best = min(
            by_definition(a[1:], b) + 1,
            by_definition(a, b[1:]) + 1,
            by_definition(a[1:], b[1:]) + (a[0] != b[0]),
        )
        if len(a) > 1 and len(b) > 1 and a[0] == b[1] and a[1] == b[0]:
            best = min(best, by_definition(a[2:], b[2:]) + 1)
        return best

    left, right = left[:4], right[:4]
    assert edit_distance(left, right, 99) == by_definition(left, right)
    assert edit_distance(left, right, 2) == min(by_definition(left, right), 2)
