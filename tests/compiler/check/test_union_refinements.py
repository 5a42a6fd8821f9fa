"""What stands behind a union refines all of it; parentheses make it the last arm's."""

from __future__ import annotations

import pytest

from sglc.check.program import check
from sglc.diagnostics.edits import edited
from sglc.driver import compile_source
from sglc.library import Library
from sglc.source import Source
from sglc.syntax.parse import parse
from sglc.syntax.tree import ast
from sglc.testing import run_tests
from sglc.types.language.membership import is_member

WORDS = ["a", "b", "ab", "abc", "none", "A", "AB", 0, 3, 5, 9, 12, True, False, None]


def found(text: str):
    return check(Source("p.sgl", text), Library())


def values_of(notation: str) -> list[object]:
    """Which of the words are values of a type, as its alias."""
    program, diagnostics = found(f"pub type t = {notation}\n")
    assert program is not None and diagnostics == [], (notation, [d.message for d in diagnostics])
    type = program.table["t"].type
    return [word for word in WORDS if is_member(word, type, program.table)]


SAME = {
    '"a" | "ab" | "abc" max 3 chars': '"a" | "ab" | "abc"',
    '"none" | int in 0..5': '"none" | (int in 0..5)',
    'int | "a" | bool in 3..9': '(int in 3..9) | "a" | bool',
    '"a" | "b" | "ab" where it != "b"': '"a" | "ab"',
    '("a" | "b") where it == "b"': '"b"',
    '3 | 5 | 9 | "a" multiple of 3 in 3..9': None,
    '3 | 9 | "a" multiple of 3 in 3..9': '3 | 9 | "a"',
    "int | null in 0..5": "(int in 0..5)?",
    '"none" | int? in 0..5': '"none" | (int in 0..5)?',
    "str matching /[a-z]+/ | int max 2 chars": "(str matching /[a-z]+/ max 2 chars) | int",
    "str matching /[a-z]+/ | int max 2 chars in 3..9": "(str matching /[a-z]+/ max 2 chars) | (int in 3..9)",
}


@pytest.mark.parametrize("written", SAME)
def test_a_refinement_behind_a_union_is_one_of_its_arms_of_that_kind(written):
    same = SAME[written]
    if same is None:
        assert [d.code for d in found(f"pub type t = {written}\n")[1]] == ["E0215"]
    else:
        assert values_of(written) == values_of(same)


def test_parentheses_make_it_the_last_arms():
    assert values_of('"none" | (str matching /[a-b]+/)') == ["a", "b", "ab", "none"]
    assert values_of("(int in 0..3) | (int in 9..12)") == [0, 3, 9, 12]
    assert [d.code for d in found("pub type t = int in 0..3 | int in 9..12\n")[1]] == ["E0215"]


PLACES = {
    "hole": "pub fn f(w: [str]) -> str:\n    | ?{{x: {}}}\n    return x\n",
    "hole with options": "pub fn f(w: [str]) -> str:\n    | ?{{x: {} temp 0.5 max 9 tok}}\n    return x\n",
    "gen": "pub fn f(w: [str]) -> str:\n    let x = gen {}\n    return x\n",
    "gen with options": "pub fn f(w: [str]) -> str:\n    let x = gen {} max 9 tok temp 1\n    return x\n",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("condition", ["it not in w", 'it not in w and it != "b"', "it in w or len(w) == 0"])
def test_a_condition_with_values_of_the_run_belongs_to_the_whole_hole(place, condition):
    for type in ('"a" | "b" | "c"', '"a" | "b" | null', '"a" | "b"?', '("a" | "b") | "c"'):
        text = PLACES[place].format(f"{type} where {condition}")
        text = text.replace("-> str", "-> str?")
        program, diagnostics = found(text)
        assert program is not None and [d for d in diagnostics if d.severity != "note"] == [], text
        (facts,) = program.main.holes.values()
        assert facts.condition is not None or facts.where


def test_conditions_speak_of_entries_and_pieces_beside_null_as_texts():
    for type in ("one of w | null", "span of t | null max 9 chars", "(one of w)?"):
        text = (
            f'pub fn f(w: [str], t: str) -> str?:\n    | ?{{x: {type} where x != "b" and x not in w}}\n'
            "    return x if len(t) + len(w) > 0 else null\n"
        )
        assert [d.message for d in found(text)[1] if d.severity == "error"] == [], type


def test_a_union_with_a_condition_is_drawn_and_mocked_by_it():
    text = (
        "fn f(w: [str]) -> str:\n    user: | q\n"
        '    assistant: | ?{x: "a" | "b" | "c" where x not in w}\n    return x\n'
        'test "drawn":\n    fuzz f(["a", "c"]) times 20:\n        expect it == "b"\n'
        'test "nothing is left":\n    expect raises Unsatisfiable: f(["a", "b", "c"])\n'
    )
    result = compile_source(Source("p.sgl", text))
    assert result.program is not None, [d.message for d in result.diagnostics]
    for report in run_tests(result.program):
        assert report.passed, [d.message for d in report.failures]


@pytest.mark.parametrize(
    "place",
    [
        "pub type t = {}\n",
        "pub record R:\n    a: {}\n    b?: {}\n    c: {} = 3\n",
        "pub union U:\n    A(a: {})\n    B:\n        c: {}\n",
        "pub pure fn f(a: {}, b: {} = 3) -> bool:\n    return a == b\n",
        "pub fn f() -> {}:\n    | ?{{x: {}}}\n    return x\n",
        "pub pure fn f(xs: [{}; 1..3], m: {{str: {}}}, p: ({}, {})) -> int:\n"
        "    return len(xs) + len(m) + len(p)\n",
        "error E(a: {})\n\npub pure fn f(a: {}) -> int raises E:\n    raise E(a)\n",
    ],
)
def test_types_are_read_alike_in_every_place(place):
    for type in ('"none" | int in 0..5', "1 | 3 | 5 where it != 5", "3 | 5 | 6 where it in 1..5"):
        program, diagnostics = found(place.replace("{}", type).replace("{{", "{").replace("}}", "}"))
        assert program is not None and [d.message for d in diagnostics if d.severity == "error"] == []


def test_options_behind_a_union_are_the_holes_in_any_order():
    for options in ("temp 0.5 max 3 tok seed 2", "max 3 tok temp 0.5 seed 2"):
        for refinements in ("", "max 3 chars", 'until "."'):
            text = f'| ?{{x: "a" | "b" {refinements} {options}}}.'
            module, diagnostics = parse(Source("p.sgl", f"fn f():\n    {text}\n"))
            assert diagnostics == []
            (function,) = module.declarations
            hole = next(part for part in function.body[0].parts if isinstance(part, ast.Hole))
            assert {option.kind for option in hole.content.options} == {"temp", "max_tokens", "seed"}
            union = hole.content.type
            assert isinstance(union, ast.TypeRefined if refinements else ast.TypeUnion)


def test_places_of_unions_leave_out_what_stands_behind():
    module, _ = parse(Source("p.sgl", 'type t = "a" | ("b") max 3 chars where it != "a"\n'))
    whole = module.declarations[0].type
    assert whole.span.text == '"a" | ("b") max 3 chars where it != "a"'
    assert whole.base.span.text == '"a" | ("b")'


def test_the_edit_gives_a_program_written_before_what_it_said():
    text = 'pub type code = "none" | str matching /[0-9]{4}/ max 4 chars\n'
    (fault,) = found(text)[1]
    assert edited(text, fault.edits) == 'pub type code = "none" | (str matching /[0-9]{4}/ max 4 chars)\n'
    assert found(edited(text, fault.edits))[1] == []


def test_one_faulty_refinement_gives_one_finding():
    for written, code in (
        ('"a" | bool in 0..3', "E0306"),
        ('int | "a" in 9..3', "E0304"),
        ('int | "a" multiple of 0', "E0304"),
        ("str | int matching /(/", "E0307"),
        ('int | "x" in 0.5..3', "E0306"),
    ):
        assert [d.code for d in found(f"pub type t = {written}\n")[1]] == [code], written
