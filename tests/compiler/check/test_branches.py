"""What leaves forks and `except` arms: values that branches yield, errors that are raised again."""

from __future__ import annotations

import pytest

from sglc.check.program import check
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.edits import edited
from sglc.driver import compile_source
from sglc.library import Library
from sglc.source import Source
from sglc.testing import run_tests

ERRORS = (
    "error A(n: int)\nerror B(n: int)\npub error Z\n\n"
    "pure fn h(i: int) -> int raises A, B:\n"
    "    if i == 0: raise A(1)\n    if i == 1: raise B(2)\n    return i\n\n"
)


def findings(text: str) -> list[Diagnostic]:
    return check(Source("p.sgl", text), Library())[1]


def passes(text: str) -> None:
    result = compile_source(Source("p.sgl", text))
    assert result.program is not None, [d.message for d in result.diagnostics]
    for report in run_tests(result.program):
        assert report.passed, [(d.message, d.span.text if d.span else "") for d in report.failures]


FORK = (
    "pub fn f() -> int:\n    user: | q\n    let all = fork i in 1..3{skip}:\n"
    "        assistant: | ?{{n: int in 0..9}}\n{end}    return len(all)\n"
)


@pytest.mark.parametrize("skip", ["", " or skip"])
def test_a_fork_yields_in_every_branch(skip):
    (fault,) = findings(FORK.format(skip=skip, end=""))
    assert (fault.code, fault.label) == ("E0414", "its body never yields") and "yield" in fault.hint
    (fault,) = findings(FORK.format(skip=skip, end="        if n > 3: yield n\n"))
    assert fault.code == "E0414" and fault.secondary
    assert findings(FORK.format(skip=skip, end="        yield n\n")) == []


def test_a_fork_whose_branches_all_fail_needs_no_value():
    text = FORK.format(skip=" or skip", end='        raise Refused("no")\n')
    assert "E0414" not in [d.code for d in findings(text)]


def test_what_a_fork_skips_is_not_raised():
    text = ERRORS + (
        "fn f(xs: [int]) -> int{raises}:\n    user: | q\n    let all = fork x in xs{skip}:\n"
        "        assistant: | ?{{n: int in 0..9}}\n        yield h(x) + n\n    return len(all)\n"
        'test "two are dropped":\n    mock f.n = 3 always\n    expect f([0, 1, 2, 3]) == 2\n'
    )
    passes(text.format(raises="", skip=" or skip"))
    assert [d.code for d in findings(text.format(raises=" raises Z", skip=""))] == ["E0418", "E0418"]
    assert [d.code for d in findings(text.format(raises=" raises A", skip=" or skip"))] == ["W0208"]


def test_what_a_fork_goes_over_is_raised():
    text = ERRORS + (
        "pure fn several(i: int) -> [int] raises A, B:\n    return [h(i)]\n\n"
        "pub fn f(i: int) -> int raises Z:\n    user: | q\n    let all = fork x in several(i) or skip:\n"
        "        assistant: | ?{n: int in 0..9}\n        yield n + x\n    return len(all)\n"
    )
    assert [d.code for d in findings(text)] == ["E0418", "E0418"]


def test_an_arm_around_a_fork_that_skips_catches_nothing():
    text = ERRORS + (
        "pub fn f(xs: [int]) -> int:\n    user: | q\n    try:\n        let all = fork x in xs or skip:\n"
        "            assistant: | ?{n: int in 0..9}\n            yield h(x) + n\n        return len(all)\n"
        "    except A:\n        return 0\n"
    )
    assert [d.code for d in findings(text)] == ["W0208"]


AGAIN = {
    "one of two": ("except A:\n        raise\n    except B as b:\n        return b.n", "A"),
    "both": ("except A, B:\n        raise", "A, B"),
    "all": ("except:\n        raise", "A, B"),
    "in a loop": (
        "except A as a:\n        for k in 1..3:\n            if a.n == k: raise\n        return 9",
        "A, B",
    ),
    "as a fallback": ("except A, B:\n        return h(i) else raise", "A, B"),
    "of a condition": (
        'except A, B:\n        ensure i > 3 else "small" else raise\n        return 1',
        "A, B",
    ),
    "caught inside": (
        "except A:\n        try:\n            raise\n        except A as again:\n            return again.n\n"
        "    except B:\n        return 0",
        "",
    ),
}


@pytest.mark.parametrize("name", AGAIN)
def test_a_bare_raise_raises_what_its_arm_catches(name):
    arms, raised = AGAIN[name]
    text = ERRORS + "pub pure fn f(i: int) -> int{}:\n    try:\n        return h(i)\n    " + arms + "\n"
    assert findings(text.format(f" raises {raised}" if raised else "")) == []
    if raised:
        missing = [d for d in findings(text.format(" raises Z")) if d.code == "E0418"]
        assert len(missing) == len(raised.split(", "))
    else:
        assert [d.code for d in findings(text.format(" raises A"))] == ["W0208"]


def test_an_error_that_is_raised_again_keeps_its_fields():
    passes(
        ERRORS + "pure fn f(i: int) -> int raises A, B:\n    try:\n        return h(i)\n    except A, B:\n"
        "        let other = h(i + 5)\n        if other > 0: raise\n        return other\n\n"
        "pure fn g(i: int) -> str:\n    try:\n        return str(f(i))\n    except A as a:\n"
        '        return "A ${a.n}"\n    except B as b:\n        return "B ${b.n}"\n'
        'test "t":\n    expect g(0) == "A 1"\n    expect g(1) == "B 2"\n    expect g(2) == "2"\n'
    )


def test_an_arm_that_raises_in_a_branch_raises_in_the_fork():
    passes(
        ERRORS + "fn f(i: int) -> int raises A, B:\n    user: | q\n    try:\n        return h(i)\n"
        "    except A, B:\n        let all = fork k in 1..2:\n            assistant: | ?{n: int in 0..9}\n"
        "            if k == 1: raise\n            yield n\n        return len(all)\n\n"
        'test "t":\n    mock f.n = 3 always\n    expect raises A: f(0)\n    expect raises B: f(1)\n'
    )


def test_raising_a_caught_error_by_its_name_is_told_with_an_edit():
    text = ERRORS + (
        "pub pure fn f(i: int) -> int raises A, B:\n    try:\n        return h(i)\n"
        "    except A, B as problem:\n        raise problem\n"
    )
    (fault,) = [d for d in findings(text) if d.severity == "error"]
    assert fault.code == "E0207" and "was caught" in fault.message
    repaired = edited(text, fault.edits)
    assert repaired == text.replace("raise problem", "raise")
    assert [d.code for d in findings(repaired) if d.severity == "error"] == []


def test_a_bare_raise_outside_of_arms_is_refused():
    assert [d.code for d in findings("pub pure fn f() -> int:\n    raise\n")] == ["E0403"]
