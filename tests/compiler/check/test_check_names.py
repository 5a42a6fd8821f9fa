"""Variables, members of enums and functions of one name in one file."""

from __future__ import annotations

import pytest

import sglc
from checkout import GOLDEN
from sglc.check.program import check
from sglc.cli import main
from sglc.library import Library
from sglc.source import Source

GOLDEN = GOLDEN / "check" / "members.sgl"


def codes(text: str) -> list[str]:
    return [d.code for d in check(Source("program.sgl", text), Library())[1]]


def test_the_program_of_many_meanings_does_what_it_says(tmp_path, capsys):
    """Its holes are mocked by name, a hole of the function's own name among them."""
    text = GOLDEN.read_text(encoding="utf-8").split("enum Mood")[0]
    path = tmp_path / "members.sgl"
    path.write_text(text, encoding="utf-8")
    assert main(["test", str(path)]) == 0
    assert "1 passed" in capsys.readouterr().out


@pytest.mark.parametrize("use", ["{}: int", '_n: int, {}: str = "x"'], ids=["parameter", "second parameter"])
@pytest.mark.parametrize("name", ["calm", "f", "helper"])
def test_parameters_are_called_as_one_likes(name, use):
    parameters = use.format(name)
    text = f"""\
enum Mood: calm, annoyed
pure fn helper(n: int) -> int:
    return n
pub pure fn f({parameters}) -> str:
    return "${{{name}}} ${{helper(1)}} ${{Mood.calm}} ${{annoyed}}"
"""
    assert codes(text) == []


def test_calls_find_functions_whatever_is_bound():
    text = """\
pub pure fn double(n: int) -> int:
    return n * 2

pub pure fn f(double: int) -> int:
    let len = 3
    return double(double) + len("four") + len
"""
    assert codes(text) == []
    assert sglc.loads(text).f(5) == 17


def test_a_variable_hides_the_member_only_where_it_is_in_sight():
    text = """\
enum Mood: calm, annoyed

pub pure fn f(n: int) -> Mood:
    for calm in 1..n:
        if calm > 2: return annoyed
    return calm
"""
    assert codes(text) == []
    module = sglc.loads(text)
    assert module.f(1) == module.Mood.calm and module.f(5) == module.Mood.annoyed


def test_a_member_of_two_enums_is_found_by_the_other_side():
    both = "enum A: red, blue\npub enum B: red, green\n"
    for condition in ("red == a", "a == red", "a in [red, blue]", "red in [a]", "a != red"):
        assert codes(f"{both}pub pure fn f(a: A) -> bool:\n    return {condition}\n") == [], condition
    assert codes(f"{both}pub pure fn f() -> bool:\n    let a = red\n    return a == blue\n") == ["E0208"]


def test_functions_are_no_values_though_a_member_is_called_alike():
    enum = "enum A: red, blue\npub pure fn red() -> A:\n    return red\n"
    assert codes(enum + "pub pure fn f() -> A:\n    let x = red\n    return x\n") == []
    assert codes("pub pure fn red() -> int:\n    return 1\npub pure fn f() -> int:\n    return red\n") == [
        "E0315"
    ]


def test_what_to_write_for_a_hidden_member_is_an_edit():
    text = "enum Mood: calm, annoyed\npub pure fn f(calm: str) -> Mood:\n    return calm\n"
    (found,) = check(Source("program.sgl", text), Library())[1]
    assert found.code == "E0301" and [(e.span.text, e.text) for e in found.edits] == [("calm", "Mood.calm")]


@pytest.mark.parametrize(
    "body",
    [
        "pure fn f(n: int) -> int:\n    return n\n",
        "pure fn f() -> int:\n    let n = 3\n    return n\n",
        "pure fn f(xs: [int]) -> [int]:\n    return [n for n in xs]\n",
        "pure fn f(x: int) -> int:\n    match x:\n        case n: return n\n",
        "pure fn f() -> int:\n    return n + n(3)\n",
        "fn f() -> int:\n    try:\n        raise n(3)\n    except n:\n        return 4\n",
        "fn f() -> int:\n    user: | Say.\n    assistant: | ?{n: int}\n    return n\n",
    ],
)
def test_a_name_that_a_module_lacks_is_told_once_whatever_is_called_so(body):
    assert codes(f"use std.math (n)\n\n{body}") == ["E0205"]
