"""Holes that nothing reads, with nothing asked behind them: which are told of, and which are not."""

from __future__ import annotations

import pytest

from sglc.advice.examine import examine
from sglc.analysis.unread import unread_holes
from sglc.check.program import check
from sglc.library import Library
from sglc.lower.program import lower
from sglc.source import Source


def unread(text: str) -> list[str]:
    """The names of the unread holes, by the analysis; the warnings are the same."""
    source = Source("p.sgl", text)
    checked, diagnostics = check(source, Library())
    assert checked is not None, diagnostics
    module = lower(checked)
    found = [module.holes[each.hole].name for each in unread_holes(module)]
    told = [each.message for each in examine(source, Library()) if each.code == "W0227"]
    assert told == [f"`{name.rpartition('.')[2]}` is never read" for name in found]
    return found


LOOP = "    for i in 0..n:\n        | ?{x: int}\n        | ?{y: int}\n"
FIELD = "tries[0].x"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("    | ?{x: int}\n    | ?{y: int}\n    return x\n", ["f.y"]),
        ("    | ?{x: int}\n    | ?{y: int}\n    return y\n", []),
        ("    | ?{x: int}\n    | ?{y: int}\n    return 0\n", ["f.x", "f.y"]),
        ("    | ?{x: int}\n    | ?{_y: int}\n    return x\n", []),
        ("    | ?{x: int}\n    | ?{y: int}\n    ensure y > x\n    return x\n", []),
        ("    | ?{x: int}\n    | ?{y: int}\n    part p()\n    return x\n", []),
        (f"{LOOP}    return 1\n", ["f.x", "f.y"]),
        (
            f"    var s = 0\n{LOOP}        s += x\n    return s\n",
            [],
        ),
        ("    if n > 1:\n        | ?{x: int}\n    | ?{y: int}\n    return y\n", []),
        ("    if n > 1:\n        | ?{x: int}\n        return 0\n    | ?{y: int}\n    return y\n", ["f.x"]),
        (
            "    let tries = fork i in 0..<2:\n        | ?{x: int}\n        yield i\n    return tries[0].x\n",
            [],
        ),
        ("    | ?{x: select [1, 2]}\n    return 1\n", ["f.x"]),
    ],
)
def test_a_hole_is_unread_if_nothing_reads_it_nor_what_it_wrote(body: str, found: list[str]) -> None:
    part = "part p():\n    | ?{z: int}\n    | ${z}\n\n"
    assert unread(f"{part}pub fn f(n: int) -> int:\n{body}") == found


def test_a_function_without_a_result_is_called_for_its_text() -> None:
    assert unread("pub fn f(n: int):\n    | ${n} ?{x: int}\n") == []


def test_holes_of_one_name_in_two_functions_are_two() -> None:
    two = "pub fn f(n: int) -> int:\n    | ${n} ?{x: int}\n    return x\n\n"
    two += "pub fn g(n: int) -> int:\n    | ${n} ?{x: int}\n    return n\n"
    assert unread(two) == ["g.x"]
