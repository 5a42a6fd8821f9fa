"""What `sglc test` says: the values behind an expectation that fails, mocks and tests that test nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sglc.bytecode.serial import dumps, loads
from sglc.cli import main
from sglc.driver import compile_source
from sglc.options import CompileOptions
from sglc.source import Source
from sglc.testing import Report, run_tests

HEAD = """\
record R:
    a: int

fn f(x: int = 1) -> R:
    | ?{r: R}
    return r

fn g() -> int:
    return f(2).a

enum Mood: calm, wild

const C = 3

fn mood() -> Mood:
    return wild

fn big() -> str:
    return ["x" for i in 0..<999].join("")

"""


def reports(body: str, rounds: int = 1) -> list[Report]:
    found = compile_source(Source("t.sgl", HEAD + body), CompileOptions())
    assert found.program is not None, found.diagnostics
    program, faults = loads(dumps(found.program))
    assert program is not None, faults
    return list(run_tests(program, rounds=rounds))


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        ("f().a == 4", 'f() = {"a": 3}; f().a = 3'),
        ("4 != 1 + g()", "g() = 3; 1 + g() = 4"),
        ("f() == R(4)", 'f() = {"a": 3}; R(4) = {"a": 4}'),
        ("g() > 3 or f().a < 1", 'g() = 3; f() = {"a": 3}; f().a = 3'),
        ("g() > 3 and f().a < 1", "g() = 3"),
        ("not f(g()).a == 3", 'g() = 3; f(g()) = {"a": 3}; f(g()).a = 3'),
        ('"a${g()}" in ["b"]', '"a${g()}" = "a3"; ["b"] = ["b"]'),
        ("[g(), 1].contains(7)", "[g(), 1] = [3, 1]"),
        ("all([x > g() for x in [1]])", "x = 1"),
        ("C == 2", ""),
        ("mood() == calm", "mood() = wild"),
        ("[1, 2][g() - 2] == 1", "g() = 3; [1, 2][g() - 2] = 2"),
        ("(g() else 3) == 4", "g() else 3 = 3"),
        ('big() == ""', 'big() = "' + "x" * 198 + "…"),
        ("n == 2", "n = 1"),
    ],
)
def test_both_sides_and_the_calls_are_shown(condition: str, shown: str) -> None:
    mock = "mock f.r = R(3) always"
    (report,) = reports(f'test "t":\n    {mock}\n    let n = 1\n    expect n > 0\n    expect {condition}\n')
    (failure,) = report.failures
    said = "; ".join(part for part in (shown, "n = 1") if part)
    assert failure.code == "E0808" and failure.reason.split("\nthey differ:")[0] in (shown, said)
    assert failure.span is not None and failure.span.text == f"expect {condition}"


def test_an_expectation_that_holds_leaves_nothing_for_the_next() -> None:
    (report,) = reports('test "t":\n    mock f.r = R(3)\n    expect f().a == 3\n    expect 1 == 2\n')
    assert report.failures[0].reason == ""


def test_witnesses_are_computed_once() -> None:
    body = 'test "t":\n    mock f.r = R(3)\n    mock f.r = R(4)\n    expect f().a + f().a == 7\n'
    (report,) = reports(body)
    assert report.passed and report.warnings == ()


def test_mocks_that_no_hole_asks_for_are_told() -> None:
    mocks = "    mock f.r = R(3)\n    mock f.r = R(4)\n    mock f.r = R(5) always\n"
    (report,) = reports(f'test "t":\n{mocks}    expect g() == 3\n')
    assert report.passed
    assert [d.code for d in report.warnings] == ["W0222", "W0222"]
    assert {d.severity for d in report.warnings} == {"warning"}
    assert [d.span.text for d in report.warnings if d.span] == ["mock f.r = R(4)", "mock f.r = R(5) always"]


def test_a_mock_that_some_round_uses_is_used() -> None:
    fuzz = "    fuzz g() times 2:\n        expect it > -99999\n"
    body = f'test "t":\n    mock f.r = R(3) always\n{fuzz}    expect f().a == 3\n'
    assert [r.warnings for r in reports(body, rounds=3)] == [()]


def test_a_test_that_expects_nothing_is_told() -> None:
    quiet, loop = reports(
        'test "quiet":\n    mock f.r = R(3)\n    let x = g()\n\n'
        'test "loop":\n    let xs = [1]\n    for x in xs:\n        if x > 1: expect x == 2\n'
    )
    assert [d.code for d in quiet.warnings] == [d.code for d in loop.warnings] == ["W0223"]
    assert quiet.passed and loop.passed


def test_the_command_tells_warnings_and_succeeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.sgl"
    path.write_text(HEAD + 'test "quiet":\n    mock f.r = R(3)\n    let x = 1\n')
    assert main(["test", str(path)]) == 0
    assert capsys.readouterr().err.count("warning[W022") == 2
    assert main(["test", str(path), "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["tests"]
    assert [d["code"] for d in told["diagnostics"]] == ["W0222", "W0223"]


@pytest.mark.parametrize(
    ("program", "ran"),
    [
        ("fn a() -> int:\n    return 1\n\npub fn b() -> int:\n    return 2\n", "2"),
        ("pure fn a() -> int:\n    return 1\n\nfn b() -> int:\n    | Two.\n    return 2\n", "2"),
        ("pure fn a() -> int:\n    return 1\n", "1"),
        ("fn a() -> int:\n    return 1\n\nfn b() -> int:\n    return 2\n", ""),
        (
            "pub fn a() -> int:\n    return 1\n\npub fn b(x: int) -> int:\n    return 2\n\n"
            "fn c() -> int:\n    return 3\n",
            "",
        ),
    ],
)
def test_no_function_is_chosen_silently(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], program: str, ran: str
) -> None:
    path = tmp_path / "t.sgl"
    path.write_text(program)
    script = tmp_path / "s.json"
    script.write_text("{}")
    code = main(["run", str(path), "--model", f"scripted:{script}"])
    captured = capsys.readouterr()
    if ran:
        assert (code, captured.out.strip()) == (0, ran)
        return
    assert code == 1 and "E0717" in captured.err
    assert "a() -> int" in captured.err and "b(" in captured.err and "c()" not in captured.err


def test_a_folder_stands_for_the_programs_below_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("b.sgl", "a.sgl", "deep/c.sgl", ".hidden/d.sgl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'test "of {name}":\n    expect 1 == 1\n', encoding="utf-8")
    assert main(["test", str(tmp_path), str(tmp_path / "a.sgl"), "--json"]) == 0
    titles = [test["title"] for test in json.loads(capsys.readouterr().out)["tests"]]
    assert titles == ["of a.sgl", "of b.sgl", "of deep/c.sgl"]
    (tmp_path / "empty").mkdir()
    assert main(["test", str(tmp_path / "empty")]) == 1
    assert "E0801" in capsys.readouterr().err
