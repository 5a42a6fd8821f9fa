"""`a..b` includes b wherever it stands, `a..<b` leaves it out; slips of the end are warned of."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkout import ROOT
from sglc.automata.analysis.membership import is_word
from sglc.check.program import check
from sglc.diagnostics.edits import edited
from sglc.driver import compile_source
from sglc.library import Library
from sglc.source import Source
from sglc.testing import run_tests
from sglc.types.condition import bind
from sglc.types.language.language import language
from sglc.types.language.narrowing import narrowed_language

DOTS = ("..", "..=", "..<")


def found(text: str):
    return check(Source("p.sgl", text), Library())[1]


def codes(text: str) -> list[str]:
    return [d.code for d in found(text)]


def members(low: int, dots: str, high: int) -> list[int]:
    return list(range(low, high if dots == "..<" else high + 1))


def passes(program: str) -> None:
    result = compile_source(Source("p.sgl", program))
    assert result.program is not None, [d.message for d in result.diagnostics]
    for report in run_tests(result.program):
        assert report.passed, [(d.message, d.span.text if d.span else "") for d in report.failures]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(-4, 6), st.sampled_from(DOTS), st.integers(-4, 6))
def test_a_range_has_the_same_members_in_every_place_of_a_program(low, dots, high):
    written = f"{low}{dots}{high}" if high >= 0 else f"{low}{dots}({high})"
    inside = members(low, dots, high)
    passes(
        "pure fn gone() -> [int]:\n    var all = [0]\n"
        f"    for i in {written}: all = all + [i]\n    return all[1:]\n"
        f"pure fn listed() -> [int]:\n    return [i for i in {written}]\n"
        "pure fn held(lo: int, hi: int) -> [int]:\n"
        f"    return [i for i in -6..9 if i in lo{dots}hi]\n"
        f'test "t":\n    expect gone() == {inside}\n    expect listed() == {inside}\n'
        f"    expect held({low}, {high}) == {inside}\n"
    )


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(-4, 6), st.sampled_from(DOTS), st.integers(-4, 6))
def test_a_type_a_case_and_a_condition_agree_with_a_loop(low, dots, high):
    inside = members(low, dots, high)
    text = (
        f"type narrow = int in {low}{dots}{high}\n"
        "pub fn f(lo: int, hi: int) -> (int, int, int):\n"
        f"    | ?{{a: narrow}} ?{{b: int in -9..9 where b in {low}{dots}{f'({high})' if high < 0 else high}}}"
        f" ?{{c: int in -9..9 where c in lo{dots}hi}}\n"
        "    return (a, b, c)\n"
        "pub pure fn g(n: int) -> bool:\n    match n:\n"
        f"        case {low}{dots}{high}: return true\n        case _: return false\n"
    )
    if not inside:
        assert {"E0304", "E0335"} <= set(codes(text))
        return
    program, diagnostics = check(Source("p.sgl", text), Library())
    assert program is not None and [d.code for d in diagnostics] == []
    a, b, c = program.main.holes.values()
    for facts, given_values in ((a, []), (b, []), (c, [low, high])):
        legal = (
            language(facts.type, program.table)
            if facts.condition is None
            else narrowed_language(facts.type, program.table, bind(facts.condition, given_values))
        )
        assert [n for n in range(-9, 10) if is_word(legal, str(n))] == inside
    passes(text + f'test "t":\n    expect [n for n in -9..9 if g(n)] == {inside}\n')


def test_a_range_and_a_comparison_leave_what_both_leave():
    text = "fn f() -> int:\n    | ?{x: int where x in 1..5 and x > 4}\n    return x\n"
    program, diagnostics = check(Source("p.sgl", text), Library())
    assert program is not None and diagnostics == []
    (facts,) = program.main.holes.values()
    assert [n for n in range(10) if is_word(language(facts.type, program.table), str(n))] == [5]


def test_counts_of_lists_and_maps_have_half_open_bounds():
    for written, same in (("2..<5", "2..4"), ("..<3", "..2"), ("1..=2", "1..2"), ("..=2", "..2")):
        text = f"fn f() -> [int in 0..9; {same}]:\n    | ?{{x: [int in 0..9; {written}]}}\n    return x\n"
        assert codes(text) == []
    assert codes("pub type t = [int; ..<0]\n") == ["E0304"]
    assert codes("pub type t = [int; 3..<3]\n") == ["E0304"]


def test_numbers_without_a_last_value_below_a_bound_are_not_half_open_types():
    for type in ("decimal", "float"):
        (fault,) = found(f"pub type t = {type} in 0..<1\n")
        assert fault.code == "E0306" and "cannot be left out" in fault.message


def test_a_half_open_case_of_decimals_leaves_its_end_out():
    passes(
        'pure fn f(x: decimal) -> str:\n    match x:\n        case 0..<1.5: return "low"\n'
        '        case _: return "high"\n'
        "pub pure fn all_of_them(x: decimal in 0..9) -> int:\n    match x:\n"
        "        case ..<1.5: return 1\n        case 1.5..: return 2\n"
        'test "t":\n    expect f(1.4) == "low"\n    expect f(1.5) == "high"\n    expect f(0) == "low"\n'
        "    expect all_of_them(1.5) == 2\n    expect all_of_them(1.49) == 1\n"
    )


def test_a_half_open_case_of_integers_counts_for_what_is_missing():
    whole = (
        "pub pure fn f(x: int in 0..9) -> int:\n    match x:\n"
        "        case ..<5: return 1\n        case {}: return 2\n"
    )
    assert codes(whole.format("5..<10")) == []
    assert "E0338" in codes(whole.format("5..<9"))
    assert {"E0337", "E0338"} <= set(codes(whole.format("0..<5")))


def test_empty_ranges_of_constants_are_told():
    for written in ("0..<0", "5..1", "3..<2", "1..0"):
        assert codes(f"pub pure fn f() -> [int]:\n    return [n for n in {written}]\n") == ["W0204"]
    assert codes("pub pure fn f() -> [int]:\n    return [n for n in 2..2]\n") == []


# -- where a slip is likely ----------------------------------------------------------------------------

LIKELY = {
    "places": "for i in 0..len(xs): sum += xs[i]",
    "places that are only counted": "for i in 0..len(xs): sum += i",
    "places from a variable": "for i in n..len(xs): sum += i",
    "places from the second on": "for i in 1..len(xs): sum += xs[i]",
    "rounds": "for _ in 0..n: sum += 1",
    "rounds of a number": "for _ in 0..3: sum += 1",
    "rounds of a name that is not used": "for i in 0..3: sum += 1",
    "a number of places": "for i in 0..3: sum += xs[i]",
    "up to a value": "for i in 0..n: sum += i",
    "a comprehension": "sum += len([x * 2 for x in 0..n])",
    "rounds of a comprehension": "sum += len([1 for x in 0..3])",
    "a test of a place": "if n in 0..len(xs): sum += 1",
    "each": "ensure each i in 0..len(xs): i > sum",
}
ON_PURPOSE = {
    "from one": "for i in 1..n: sum += i",
    "from one to a length": "for i in 1..len(xs): sum += i",
    "to the last place": "for i in 0..len(xs) - 1: sum += xs[i]",
    "digits": "for i in 0..9: sum += i",
    "said with an equals sign": "for i in 0..=len(xs): sum += i",
    "said with an equals sign, rounds": "for _ in 0..=n: sum += 1",
    "half open": "for i in 0..<len(xs): sum += xs[i]",
    "a test of a number": "if n in 0..9: sum += 1",
    "a test of a bound": "if n in 0..sum: sum += 1",
}
AROUND = "pub pure fn f(xs: [int], n: int) -> int:\n    var sum = n - xs[n]\n    {}\n    return sum\n"


@pytest.mark.parametrize("line", LIKELY.values(), ids=LIKELY)
def test_a_likely_slip_is_warned_of_once_and_its_edit_ends_it(line):
    text = AROUND.format(line)
    slips = [d for d in found(text) if d.code == "W0217"]
    assert len(slips) == 1 and [d.code for d in found(text)] == ["W0217"]
    repaired = edited(text, slips[0].edits)
    assert repaired == text.replace("..", "..<") and found(repaired) == []


@pytest.mark.parametrize("line", ON_PURPOSE.values(), ids=ON_PURPOSE)
def test_what_is_meant_is_not_warned_of(line):
    assert found(AROUND.format(line)) == []


SHIPPED = sorted([*(ROOT / "examples").glob("*.sgl"), *(ROOT / "stdlib").glob("*.sgl")])


@pytest.mark.parametrize("path", [p for p in SHIPPED if "..<" in p.read_text()], ids=lambda path: path.name)
def test_edits_bring_programs_written_before_to_what_they_are_now(path):
    text = path.read_text(encoding="utf-8")
    before = text.replace("..<", "..")
    slips = [d for d in check(Source(str(path), before), Library())[1] if d.code == "W0217"]
    assert edited(before, [edit for slip in slips for edit in slip.edits]) == text


def test_branches_of_a_fork_from_zero_are_warned_of():
    text = (
        "pub fn f() -> int:\n    user: | q\n    let all = fork i in 0..3 seed i:\n"
        "        assistant: | ?{n: int in 0..9 temp 1}\n        yield n\n    return all.max(by = value).n\n"
    )
    assert codes(text) == ["W0217"]
    assert codes(text.replace("0..3", "1..3")) == codes(text.replace("0..3", "0..<3")) == []


def test_a_range_in_place_has_ends_and_no_items():
    passes(
        "pure fn f(d: decimal, x: float) -> [bool]:\n"
        "    return [d in 1..5, x in 1..5, d in 1..<5, d not in 1..5, (1..5) contains d, d in n..1]\n"
        "const n = 5\n"
        "pure fn g(n_: int) -> bool:\n    return n_ in 0..1_000_000_000\n"
        'test "t":\n    expect f(2.5, 2.5) == [true, true, true, false, true, false]\n'
        "    expect f(5, 5) == [true, true, false, false, true, false]\n"
        "    expect f(5.01, 0.99) == [false, false, false, true, false, false]\n"
        "    expect g(999_999_999)\n    expect not g(1_000_000_001)\n"
    )
    kept = "pub pure fn f(d: {}) -> bool:\n    let all = 1..5\n    return d in all\n"
    assert codes(kept.format("int")) == []
    assert codes(kept.format("decimal")) == ["E0319"]


def test_a_condition_and_an_expression_agree_about_decimals():
    for dots in DOTS:
        passes(
            "fn f(a: int, b: int) -> (decimal, bool):\n    user: | q\n"
            f"    assistant: | ?{{d: decimal in 0..9 multiple of 0.25 where d in a{dots}b}}\n"
            f"    return (d, d in a{dots}b)\n"
            'test "t":\n    fuzz f(2, 3) times 30:\n        expect it[1]\n'
        )


def test_a_range_that_is_kept_holds_as_many_items_as_a_list():
    text = 'pure fn f(n: int) -> bool:\n    let all = 0{}n\n    return 999999 in all\ntest "t":\n    {}\n'
    for dots, most in (("..<", 1_000_000), ("..=", 999_999)):
        passes(text.format(dots, f"expect f({most})\n    expect raises Failure: f({most + 1})"))
