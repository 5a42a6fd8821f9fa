"""Which errors leave functions, and which functions are pure: inferred over the graph of calls."""

from __future__ import annotations

import pytest

from sglc.check.program import check
from sglc.driver import compile_source, lowered
from sglc.library import Library
from sglc.options import CompileOptions
from sglc.source import Source
from sglc.testing import run_tests

HEAD = """\
error A
error B(n: int)
error C

pure fn one(x: int) -> int:
    if x == 1: raise A
    if x == 2: raise B(x)
    return x

fn odd(n: int) -> int:
    if n < 0: raise C
    return 0 if n == 0 else even(n - 1)

fn even(n: int) -> int:
    return one(n) if n == 7 else odd(n - 1)

pure fn same[T](x: T) -> T:
    if x != x: raise C
    return x

fn ask(n: int) -> int:
    | ?{x: int in 0..9}
    return one(x)

"""


def _function(body: str, kind: str = "fn") -> str:
    return HEAD + f"pub {kind} f(x: int) -> int:\n" + "".join(f"    {line}\n" for line in body.split("\n"))


def _raised(body: str, kind: str = "fn") -> tuple[tuple[str, ...], str]:
    module, found = lowered(Source("p.sgl", _function(body, kind)), CompileOptions(level=0))
    assert module is not None, [each.message for each in found]
    function = module.function("f")
    return tuple(sorted(function.raises)), function.kind


@pytest.mark.parametrize(
    ("body", "raises"),
    [
        ("return x", ""),
        ("return one(x)", "A B"),
        ("return odd(x)", "A B C"),
        ("return same(x)", "C"),
        ("return same[int](x)", "C"),
        ("return one(x) else 3", ""),
        ("return one(x) else one(x)", "A B"),
        ("return one(x) else raise C", "C"),
        ("return sum([x].map(one))", "A B"),
        ("return sum([x].map(y => one(y)))", "A B"),
        ("return [x].max(by = one)", "A B"),
        ("return sum([one(y) for y in [x]])", "A B"),
        ('ensure one(x) > 1 else "no"\nreturn x', "A B"),
        ("try: return one(x)\nexcept A: return 1", "B"),
        ("try: return one(x)\nexcept A, B: return 1", ""),
        ("try: return one(x)\nexcept: return 1", ""),
        ("try: return one(x)\nexcept: raise", "A B"),
        ("try: return one(x)\nexcept A: raise\nexcept B: return 2", "A"),
        ("try: return one(x)\nexcept A: return 1\nexcept: raise", "B"),
        ("try: return one(x)\nexcept A as e: raise C", "B C"),
        ("try:\n    try: return odd(x)\n    except A: raise\nexcept C: raise\nexcept B: return 1", "A C"),
        ("try:\n    try: return odd(x)\n    except A: raise B(1)\nexcept B: return 1", "C"),
        ('try: raise Failure("no")\nexcept Failure: return 1', ""),
        ("return f(x - 1) if x > 0 else one(x)", "A B"),
    ],
)
def test_what_leaves_a_function(body: str, raises: str) -> None:
    assert _raised(body) == (tuple(raises.split()), "pure")


def test_branches_that_are_left_out_raise_nothing() -> None:
    fork = "let a = fork i in 0..<2{}:\n    | ?{{n: int in 0..3}}\n    yield one(n)\nreturn len(a)"
    assert _raised(fork.format("")) == (("A", "B"), "fn")
    assert _raised(fork.format(" or skip")) == ((), "fn")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("return x", "pure"),
        ("return odd(x)", "pure"),
        ("return ask(x)", "fn"),
        ("return [x].map(ask)[0]", "fn"),
        ("return [x].map(y => ask(y))[0]", "fn"),
        ("| Hello.\nreturn x", "fn"),
        ("let n = gen int in 0..3\nreturn n", "fn"),
        ("return f(x - 1) if x > 0 else ask(x)", "fn"),
        ("return f(x - 1) if x > 0 else 0", "pure"),
    ],
)
def test_what_is_pure(body: str, kind: str) -> None:
    assert _raised(body)[1] == kind


def _found(text: str) -> list[tuple[str, str]]:
    found = check(Source("p.sgl", HEAD + text), Library())[1]
    return [
        (each.code, each.span.text) for each in found if each.code in ("E0418", "W0208", "E0402", "E0416")
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pub fn f(x: int) -> int raises A, B:\n    return one(x)\n", []),
        ("pub fn f(x: int) -> int raises A:\n    return one(x)\n", [("E0418", "f")]),
        ("pub fn f(x: int) -> int raises A, B, C:\n    return one(x)\n", [("W0208", "C")]),
        ("pub fn f(x: int) -> int raises A, B, Failure:\n    return one(x)\n", []),
        ("pub fn f(x: int) -> int raises A, B:\n    return f(x) + one(x)\n", []),
        ("pub fn f(x: int) -> int:\n    try: return one(x)\n    except C: return 1\n", [("W0208", "C")]),
        ("pub fn f(x: int) -> int:\n    try: return odd(x)\n    except C: return 1\n", []),
        ('test "t":\n    try: expect one(3) == 3\n    except C: expect true\n', [("W0208", "C")]),
        ("pub pure fn f(x: int) -> int:\n    return odd(x)\n", []),
        ("pub pure fn f(x: int) -> int:\n    return ask(x)\n", [("E0402", "ask(x)")]),
        ("pub fn f(x: int) -> int within 9 tok:\n    return x\n", []),
    ],
)
def test_promises_are_checked(text: str, found: list[tuple[str, str]]) -> None:
    assert _found(text) == found


def test_handlers_inside_each_other_cost_no_more_than_their_number() -> None:
    lines = ["return odd(x)"]
    for _ in range(30):
        lines = ["try:", *(f"    {line}" for line in lines), "except A: raise", "except B: raise"]
    assert _raised("\n".join(lines)) == (("A", "B", "C"), "pure")


def test_a_function_that_is_pure_stands_in_conditions() -> None:
    text = (
        "fn steps(prefix: str) -> alive | dead | final:\n"
        '    if len(prefix) > 4: return dead\n    return final if prefix.ends_with("a") else alive\n\n'
        "fn large(n: int) -> bool:\n    return n > 3\n\n"
        "fn ask() -> (str, int):\n"
        '    | ?{word: str max 9 chars until "." where steps(word)}.\n'
        "    | ?{n: int in 0..9 where large(n)}\n    return (word, n)\n\n"
        'test "conditions":\n    mock ask.word = "ba"\n    mock ask.n = 5\n    expect ask() == ("ba", 5)\n'
    )
    result = compile_source(Source("p.sgl", text))
    assert result.program is not None, [each.message for each in result.diagnostics]
    assert [report.passed for report in run_tests(result.program)] == [True]
