"""Which tests `sglc test` runs, and the files that tell how they came out."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest

from sglc.cli import main
from sglc.commands.testing.selection import DEEPEST, SelectionFault, as_words, read_words

TITLES = ["a quick one", "black and white", "slow (really)", "not now"]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("quick", [0]),
        ("QUICK one", [0]),
        ("one quick", []),
        ("quick or really", [0, 2]),
        ("not quick", [1, 2, 3]),
        ("not (quick or slow)", [1, 3]),
        ("a and not quick", [1, 2]),
        ('"black and white"', [1]),
        ("'not now' or quick", [0, 3]),
        ('"(really)"', [2]),
        ("not not quick", [0]),
        ("quick or slow and really", [0, 2]),
        ("(quick or slow) and really", [2]),
    ],
)
def test_words_choose_titles(words: str, meant: list[int]) -> None:
    chosen = read_words(words)
    assert [number for number, title in enumerate(TITLES) if chosen(title)] == meant


@pytest.mark.parametrize(
    "words", ["and", "a and", "a or or b", "(a", "a)", "not", '"a', "()", "a (b)", "'a\" b"]
)
def test_words_that_cannot_be_read_are_told(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SelectionFault):
        read_words(words)
    path = tmp_path / "t.sgl"
    path.write_text('test "t":\n    expect 1 == 1\n')
    assert main(["test", str(path), "-k", words]) == 1
    assert "E0823" in capsys.readouterr().err


def test_parentheses_have_a_bound() -> None:
    assert read_words("(" * DEEPEST + "a" + ")" * DEEPEST)("a")
    with pytest.raises(SelectionFault, match="deep"):
        read_words("(" * (DEEPEST + 1) + "a" + ")" * (DEEPEST + 1))


@pytest.mark.parametrize("title", [*TITLES, 'say "hi"', "it's", "a  b", "$HOME `x`"])
def test_the_words_of_a_title_choose_it(title: str) -> None:
    import shlex

    (words,) = shlex.split(as_words(title))
    assert read_words(words)(title)


PROGRAM = """\
pure fn f(n: int) -> int:
    return n

test "one" tags quick:
    expect f(1) == 1

test "two" tags slow, model:
    expect f(2) == 3

test "three":
    expect f(3) == 3
"""


@pytest.mark.parametrize(
    ("options", "ran", "code"),
    [
        ([], ["one", "two", "three"], 1),
        (["--tag", "quick"], ["one"], 0),
        (["--tag", "quick", "--tag", "model"], ["one", "two"], 1),
        (["--not-tag", "slow"], ["one", "three"], 0),
        (["-k", "one or three", "--not-tag", "quick"], ["three"], 0),
    ],
)
def test_tags_choose_tests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], ran: list[str], code: int
) -> None:
    path = tmp_path / "t.sgl"
    path.write_text(PROGRAM)
    assert main(["test", str(path), "--json", *options]) == code
    out = capsys.readouterr().out
    assert [test["title"] for test in (json.loads(out)["tests"] if ran else [])] == ran


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ["--tag", "quick", "--not-tag", "quick"],
            "there is no test with the tag quick without the tag quick",
        ),
        (["--tag", "quik"], "there is no test with the tag quik"),
        (["-k", "four"], 'there is no test with "four" in its title'),
        (["--json", "--tag", "quik"], "there is no test with the tag quik"),
    ],
)
def test_a_choice_that_no_test_meets_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    path = tmp_path / "t.sgl"
    path.write_text(PROGRAM)
    assert main(["test", str(path), *options]) == 1
    out, err = capsys.readouterr()
    assert told in (out if "--json" in options else err) and "E0809" in out + err


def test_results_are_written_for_junit(tmp_path: Path) -> None:
    path, report = tmp_path / "t.sgl", tmp_path / "report.xml"
    path.write_text(PROGRAM.replace('"three"', '"three \\u0001 <&>"'))
    assert main(["test", str(path), "--junit", str(report)]) == 1
    root = xml.parse(report).getroot()
    assert (root.get("tests"), root.get("failures")) == ("3", "1")
    cases = list(root.iter("testcase"))
    assert [case.get("name") for case in cases][:2] == ["one", "two"]
    (failure,) = root.iter("failure")
    assert failure.get("type") == "E0808" and "f(2) = 2" in (failure.text or "")
    assert main(["test", str(path), "--junit", str(tmp_path / "none" / "report.xml")]) == 1
