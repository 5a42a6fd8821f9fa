"""Edits of diagnostics: they repair what they claim to repair, are drawn, and are made by `check --fix`."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_case import golden_cases
from oracles.edits import assert_edits_hold
from sglc.check.program import Workspace
from sglc.cli import main
from sglc.diagnostics.catalogue.codes import CATALOGUE
from sglc.diagnostics.diagnostic import Diagnostic, Edit
from sglc.diagnostics.edits import compatible, edited
from sglc.diagnostics.render import render, to_json
from sglc.library import Library
from sglc.source import Source, Span

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


# -- what the edits claim ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("code", [code for code, entry in CATALOGUE.items() if entry.bad])
def test_edits_of_the_catalogue_repair_its_programs(code):
    assert_edits_hold(CATALOGUE[code].bad)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", golden_cases("diagnostics/syntax") + golden_cases("diagnostics/check"), ids=str
)
def test_edits_of_the_drawn_programs_repair_them(case):
    assert_edits_hold(case.input + "\n")


# -- making them ---------------------------------------------------------------------------------------


def spans(text: str, *places: tuple[int, int]) -> list[Span]:
    source = Source("a.sgl", text)
    return [Span(source, *place) for place in places]


def test_edits_are_made_from_left_to_right_whatever_their_order():
    first, second, third = spans("abcdef", (0, 1), (2, 2), (4, 6))
    assert edited("abcdef", [Edit(third, ""), Edit(second, "--"), Edit(first, "A")]) == "Ab--cd"


def test_overlapping_edits_are_refused():
    one, other, outside = spans("abcdef", (0, 3), (2, 4), (5, 9))
    with pytest.raises(ValueError, match="overlap"):
        edited("abcdef", [Edit(one, "x"), Edit(other, "y")])
    with pytest.raises(ValueError, match="outside"):
        edited("abcdef", [Edit(outside, "x")])


def found_at(*groups: list[Edit]) -> list[Diagnostic]:
    return [Diagnostic("E0101", str(i), group[0].span, edits=tuple(group)) for i, group in enumerate(groups)]


def test_of_overlapping_findings_the_first_is_repaired_whole_and_the_other_waits():
    a, b, c, d = spans("abcdef", (0, 2), (4, 5), (1, 3), (5, 6))
    groups = [Edit(a, "1"), Edit(b, "2")], [Edit(c, "3"), Edit(d, "4")], [Edit(d, "5")]
    assert compatible(found_at(*groups), lambda _: True) == [tuple(groups[0]), tuple(groups[2])]


def test_two_texts_for_one_place_are_not_both_inserted():
    (here,) = spans("ab", (1, 1))
    assert compatible(found_at([Edit(here, "x")], [Edit(here, "y")]), lambda _: True) == [(Edit(here, "x"),)]


def test_findings_that_would_change_another_file_are_left():
    (here,), (there,) = spans("ab", (0, 1)), spans("cd", (0, 1))
    found = found_at([Edit(here, "x"), Edit(there, "y")])
    assert compatible(found, lambda source: source is here.source) == []


@given(st.text(alphabet="ab\n", max_size=12), st.data())
def test_edits_do_what_slices_do_and_are_drawn(text, data):
    source = Source("a.sgl", text)
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pairs = list(zip(places[::2], places[1::2], strict=False))
    edits = [Edit(Span(source, a, b), data.draw(st.text(alphabet="xy\n", max_size=3))) for a, b in pairs]
    by_slices = text
    for edit in reversed(edits):
        by_slices = by_slices[: edit.span.start] + edit.text + by_slices[edit.span.end :]
    if len({pair for pair in pairs}) == len(pairs):
        assert edited(text, edits) == by_slices
        render(Diagnostic("E0101", "m", None, edits=tuple(edits)))


# -- drawing them --------------------------------------------------------------------------------------


def drawn(text: str, *edits: tuple[int, int, str]) -> list[str]:
    source = Source("a.sgl", text)
    made = tuple(Edit(Span(source, start, end), new) for start, end, new in edits)
    place = made[0].span
    lines = render(Diagnostic("E0101", "m", place, hint="h", edits=made)).split("\n")
    return lines[lines.index("  = hint: h") + 1 :]


def test_what_is_inserted_is_marked_below_the_line():
    assert drawn("if x\n", (4, 4, ":")) == ["  |", "1 | if x:", "  |     +"]
    assert drawn("if x = 1 = 2\n", (5, 6, "=="), (9, 10, "==")) == [
        "  |",
        "1 | if x == 1 == 2",
        "  |       +    +",
    ]


def test_what_is_replaced_is_shown_before_and_after():
    assert drawn("a\nlet x\n", (2, 5, "var")) == ["  |", "2 - let x", "2 + var x"]


def test_a_line_that_goes_away_is_shown_alone():
    assert drawn("a\nb\nc\n", (2, 4, "")) == ["  |", "2 - b"]


def test_a_line_that_becomes_two_is_shown_as_two():
    assert drawn("    a; b\n", (5, 7, "\n    ")) == ["  |", "1 -     a; b", "1 +     a", "2 +     b"]


def test_edits_at_two_places_are_shown_apart():
    assert drawn("a\nb\nc\n", (0, 0, "x"), (4, 4, "y")) == [
        "  |",
        "1 | xa",
        "  | +",
        "  |",
        "3 | yc",
        "  | +",
    ]


def test_edits_are_data_for_tools():
    (place,) = spans("let x\n", (0, 3))
    assert to_json(Diagnostic("E0101", "m", place, edits=(Edit(place, "var"),)))["edits"] == [
        {
            "span": {
                "file": "a.sgl",
                "start": {"offset": 0, "line": 1, "column": 1},
                "end": {"offset": 3, "line": 1, "column": 4},
            },
            "text": "var",
        }
    ]


def test_explain_shows_the_edit_of_its_example(cli: Cli) -> None:
    out = cli("explain", "E0110")[1]
    refused, made = out.index("Refused:"), out.index("What `sglc check --fix` does:")
    assert refused < made < out.index("Accepted:")
    assert "    2 |     if x == 1:\n      |           +\n" in out
    (edit,) = json.loads(cli("explain", "E0110", "--json")[1])["edits"]
    assert edit["text"] == "==" and edit["span"]["start"]["line"] == 2
    assert "--fix" not in cli("explain", "E0114")[1]


# -- check --fix ---------------------------------------------------------------------------------------

SLIPS = """\
pub pure fn pick(a: int) -> int:
    if a = 3
        return 1
    else if a == 4:
        return 2
    return 5
"""
RIGHT = """\
pub pure fn pick(a: int) -> int:
    if a == 3:
        return 1
    elif a == 4:
        return 2
    return 5
"""


@pytest.fixture
def slips(tmp_path: Path) -> Path:
    path = tmp_path / "slips.sgl"
    path.write_text(SLIPS, encoding="utf-8")
    return path


def test_fix_makes_the_edits_in_rounds_and_says_how_many(slips: Path, cli: Cli) -> None:
    assert cli("check", slips)[0] == 1
    code, out, err = cli("check", "--fix", slips)
    assert slips.read_text(encoding="utf-8") == RIGHT
    assert (code, err) == (0, "")
    assert out == "fixed 2 findings in 1 file\n1 file: all is well\n"
    assert cli("check", "--fix", slips)[1] == "fixed 0 findings in 0 files\n1 file: all is well\n"


def test_fix_tells_what_is_left(slips: Path, cli: Cli) -> None:
    slips.write_text(SLIPS.replace("return 5", "return missing"), encoding="utf-8")
    code, out, err = cli("check", "--fix", slips)
    assert code == 1 and out == ""
    assert "E0201" in err and "fixed 2 findings in 1 file" in err and "1 error" in err
    assert "`missing`" in err and ":6:" in err
    code, out, _ = cli("check", "--fix", "--json", slips)
    assert code == 1 and json.loads(out)["fixed"] == 0 and json.loads(out)["errors"] == 1


def test_diff_changes_nothing_and_applies(slips: Path, cli: Cli) -> None:
    code, out, err = cli("check", "--diff", slips)
    assert slips.read_text(encoding="utf-8") == SLIPS
    assert code == 1 and "2 findings would be fixed, nothing is written" in err
    body = out.split("\n", 2)
    assert body[0] == f"--- a/{slips}" and body[1] == f"+++ b/{slips}"
    assert "-    if a = 3\n+    if a == 3:\n" in out and "-    else if a == 4:\n+    elif a == 4:\n" in out
    slips.write_text(RIGHT, encoding="utf-8")
    assert cli("check", "--diff", slips) == (0, "", "0 findings would be fixed, nothing is written\n")


def test_diff_and_json_exclude_each_other(slips: Path, cli: Cli) -> None:
    assert cli("check", "--diff", "--json", slips)[0] == 2


def test_line_ends_byte_order_mark_and_permissions_are_kept(slips: Path, cli: Cli) -> None:
    slips.write_bytes(b"\xef\xbb\xbf" + SLIPS.replace("\n", "\r\n").encode())
    os.chmod(slips, 0o640)
    assert cli("check", "--fix", slips)[0] == 0
    assert slips.read_bytes() == b"\xef\xbb\xbf" + RIGHT.replace("\n", "\r\n").encode()
    assert stat.S_IMODE(slips.stat().st_mode) == 0o640
    assert [path.name for path in slips.parent.iterdir()] == ["slips.sgl"]


def test_a_module_of_the_project_is_fixed_and_one_outside_is_not(tmp_path: Path, cli: Cli) -> None:
    outside, project = tmp_path / "outside.sgl", tmp_path / "project"
    project.mkdir()
    inside, program = project / "inside.sgl", project / "program.sgl"
    text = "pub const READY = True\n"
    outside.write_text(text, encoding="utf-8")
    inside.write_text(text, encoding="utf-8")
    program.write_text(
        "use ../outside (READY as FAR)\nuse ./inside (READY)\n\n"
        "pub pure fn f() -> bool:\n    return READY == True and FAR\n",
        encoding="utf-8",
    )
    code, _, err = cli("check", "--fix", "--allow-outside", program)
    assert outside.read_text(encoding="utf-8") == text
    assert inside.read_text(encoding="utf-8") == "pub const READY = true\n"
    assert "READY == true" in program.read_text(encoding="utf-8")
    assert code == 1 and "fixed 2 findings in 2 files" in err and "outside.sgl" in err


def test_a_shared_module_is_fixed_once(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "shared.sgl").write_text("pub const READY = True\n", encoding="utf-8")
    for name in ("one", "two"):
        text = "use ./shared (READY)\n\npub pure fn f() -> bool:\n    return READY\n"
        (tmp_path / f"{name}.sgl").write_text(text, encoding="utf-8")
    code, out, _ = cli("check", "--fix", tmp_path / "one.sgl", tmp_path / "two.sgl")
    assert (code, out) == (0, "fixed 1 finding in 1 file\n2 files: all is well\n")


def test_a_file_that_another_writes_meanwhile_is_left(
    slips: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = Workspace.check

    def check_and_disturb(workspace: Workspace, source: Source, library: Library):
        slips.write_text("# another's\n", encoding="utf-8")
        return undisturbed(workspace, source, library)

    monkeypatch.setattr(Workspace, "check", check_and_disturb)
    code, _, err = cli("check", "--fix", slips)
    assert code == 1 and "was changed while it was checked" in err
    assert slips.read_text(encoding="utf-8") == "# another's\n"


def test_edits_that_undo_each_other_come_to_an_end(
    slips: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def turning(workspace: Workspace, source: Source, library: Library):
        new = "b" if source.text.startswith("a") else "a"
        span = Span(source, 0, 1)
        return None, [
            Diagnostic("W0101", "turn", span, hint="h", severity="warning", edits=(Edit(span, new),))
        ]

    monkeypatch.setattr(Workspace, "check", turning)
    slips.write_text("a", encoding="utf-8")
    assert cli("check", "--fix", slips)[0] == 0
