"""`sglc check --format`: SARIF and GitHub's commands, folders, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from command_line import Cli
from judges.sarif import judge
from sglc import __version__
from sglc.check.program import check
from sglc.diagnostics.catalogue.codes import CATALOGUE
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.github import github_command
from sglc.diagnostics.sarif import sarif_log
from sglc.driver import compile_source
from sglc.library import Library
from sglc.source import Source, Span

BAD = """\
fn f(x: int) -> Moood:
    if x > 3
        return 1
    return "é, b"
"""


def edited(text: str, fix: dict[str, Any]) -> str:
    """The text after a fix of a log, made by lines and columns alone."""
    lines = text.split("\n")
    (change,) = fix["artifactChanges"]
    for replacement in reversed(change["replacements"]):
        region = replacement["deletedRegion"]
        assert region["startLine"] == region["endLine"]
        line = lines[region["startLine"] - 1]
        before, after = line[: region["startColumn"] - 1], line[region["endColumn"] - 1 :]
        lines[region["startLine"] - 1] = before + replacement["insertedContent"]["text"] + after
    return "\n".join(lines)


def test_a_log_has_findings_places_rules_and_fixes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b#.sgl").write_text(BAD, encoding="utf-8")
    code, out, err = cli("check", "a b#.sgl", "--format", "sarif")
    assert (code, err) == (1, "")
    log = json.loads(out)
    judge(log)
    (run,) = log["runs"]
    assert run["tool"]["driver"]["semanticVersion"] == __version__
    found = {result["ruleId"]: result for result in run["results"]}
    place = found["E0202"]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b%23.sgl"}
    assert place["region"] == {
        **{"startLine": 1, "startColumn": 17, "endLine": 1, "endColumn": 22},
        **{"charOffset": 16, "charLength": 5},
    }
    (fix,) = found["E0102"]["fixes"]
    assert edited(BAD, fix) == BAD.replace("x > 3", "x > 3:")


def test_the_log_of_all_codes_that_programs_show_is_one() -> None:
    """But for one whose program is as large as any may be."""
    found: list[Diagnostic] = []
    for entry in CATALOGUE.values():
        if entry.bad and entry.code != "E0344":
            found += check(Source(f"{entry.code}.sgl", entry.bad), Library())[1]
    log = sarif_log(found, "1.2.3")
    judge(log)
    results = log["runs"][0]["results"]  # type: ignore[index]
    assert len(results) == len(found) > 150
    assert any("relatedLocations" in each for each in results) and any("fixes" in each for each in results)


@pytest.mark.parametrize("broken", ["level", "ruleIndex", "locations"])
def test_the_judge_refuses_what_is_no_log(broken: str) -> None:
    log = sarif_log(compile_source(Source("a.sgl", BAD)).diagnostics, "1.2.3")
    judge(log)
    result = log["runs"][0]["results"][0]  # type: ignore[index]
    result[broken] = {"level": "fatal", "ruleIndex": -1, "locations": []}[broken]
    with pytest.raises(jsonschema.ValidationError):
        judge(log)


def test_the_log_of_nothing_and_of_a_file_that_is_not_there(good: Path, tmp_path: Path, cli: Cli) -> None:
    code, out, _ = cli("check", good, "--format", "sarif")
    judge(json.loads(out))
    assert code == 0 and json.loads(out)["runs"][0]["results"] == []
    code, out, _ = cli("check", tmp_path / "none.sgl", "--format", "sarif")
    judge(json.loads(out))
    (result,) = json.loads(out)["runs"][0]["results"]
    assert code == 1 and result["ruleId"] == "E0801" and "locations" not in result


def test_github_reads_one_line_for_each_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a,b.sgl").write_text(BAD, encoding="utf-8")
    code, out, err = cli("check", "a,b.sgl", "--format", "github")
    assert code == 1 and err.startswith("1 file: ")
    lines = out.splitlines()
    assert lines[0].startswith(
        "::error file=a%2Cb.sgl,line=1,endLine=1,col=17,endColumn=22,title=E0202::there is no"
    )
    assert all(line.startswith("::error ") for line in lines)
    assert any("%0Ahint: " in line for line in lines)


def test_a_program_cannot_write_a_command_of_its_own() -> None:
    source = Source("x::error.sgl", "x\n")
    hostile = Diagnostic("E0201", "50%\n::set-output name=a::b\r", Span(source, 0, 2), severity="note")
    line = github_command(hostile)
    assert "\n" not in line and "\r" not in line
    assert line.startswith(
        "::notice file=x%3A%3Aerror.sgl,line=1,endLine=2,col=1,title=E0201::50%25%0A::set-output"
    )


def test_formats_exclude_each_other(good: Path, cli: Cli) -> None:
    assert cli("check", good, "--json", "--format", "json")[0] == 0
    assert cli("check", good, "--json") == cli("check", good, "--format", "json")
    for wrong in (("--json", "--format", "sarif"), ("--diff", "--format", "github"), ("--format", "xml")):
        assert cli("check", good, *wrong)[0] == 2


def test_files_and_folders_are_checked_once_each(tmp_path: Path, good: Path, cli: Cli) -> None:
    folder = tmp_path / "src"
    for name in ("b.sgl", "deep/a.sgl", ".venv/c.sgl", "notes.txt"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("pub const X = 1\n", encoding="utf-8")
    code, out, _ = cli("check", folder, good, folder / "b.sgl", "--json")
    assert code == 0
    assert json.loads(out)["files"] == [str(folder / "b.sgl"), str(folder / "deep" / "a.sgl"), str(good)]
    (tmp_path / "empty").mkdir()
    code, _, err = cli("check", tmp_path / "empty", good)
    assert code == 1 and "E0801" in err and "there is no program in the folder" in err


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_warnings_fail_with_strict_in_every_format(form: str, tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "w.sgl"
    path.write_text("pub pure fn f(x: int) -> int:\n    return 1\n", encoding="utf-8")
    assert cli("check", path, "--format", form)[0] == 0
    assert cli("check", path, "--format", form, "--strict")[0] == 1
