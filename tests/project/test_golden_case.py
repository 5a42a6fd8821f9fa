"""The golden harness itself: it compares, it fails on a missing [out], it rewrites only what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden_case import check_golden, read_cases

TEXT = """-- a comment
[case one]
a
[out]
A

-- about two
[case two]
\\[out]
b

[case three]
c
[out]
C
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "x.test"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_reads_sections_and_escapes(file: Path) -> None:
    one, two, three = read_cases(file)
    assert (one.name, one.input, one.expected) == ("one", "a", "A")
    assert (two.input, two.expected) == ("[out]\nb", None)
    assert (three.input, three.expected) == ("c", "C")


def test_a_missing_out_fails_without_the_flag(file: Path) -> None:
    with pytest.raises(AssertionError, match="has no"):
        check_golden(read_cases(file)[1], "B", update=False)
    assert file.read_text(encoding="utf-8") == TEXT


def test_a_difference_fails(file: Path) -> None:
    with pytest.raises(AssertionError):
        check_golden(read_cases(file)[0], "other", update=False)


def test_update_rewrites_only_that_case_and_keeps_comments(file: Path) -> None:
    check_golden(read_cases(file)[0], "A\n-- dashes\n[case x]", update=True)
    check_golden(read_cases(file)[1], "B", update=True)
    check_golden(read_cases(file)[2], "", update=True)
    text = file.read_text(encoding="utf-8")
    assert text == (
        "-- a comment\n[case one]\na\n[out]\nA\n\\-- dashes\n\\[case x]\n\n-- about two\n"
        "[case two]\n\\[out]\nb\n[out]\nB\n\n[case three]\nc\n[out]\n"
    )
    assert [case.expected for case in read_cases(file)] == ["A\n-- dashes\n[case x]", "B", ""]
