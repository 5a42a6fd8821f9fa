"""The test blocks of programs under pytest: collected, chosen, failed with a reason; no burden elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from checkout import ROOT
from sglc import compiled, driver, testing
from sglc.cache_files import cache_folder

USED = (compiled, driver, testing)
"""Imported before a run inside of this process, which forgets what it has imported; numpy loads once."""
CACHE = str(cache_folder())
"""Taken before `pytester` gives tests another home."""
pytest_plugins = ["pytester"]

PROGRAM = """\
enum Mood: calm, wild

fn mood() -> Mood:
    user: | How?
    assistant: | ?{mood: Mood}
    return mood

test "a mood is a mood" [tags quick, moods]:
    fuzz mood() times 3:
        expect it in [calm, wild]

test "always calm":
    fuzz mood() times 1:
        expect it == calm
"""
STRICT = "[pytest]\naddopts = --strict-markers --strict-config\n"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """An empty project whose pytest loads this plugin alone, whether or not it is installed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("SGLC_CACHE_DIR", CACHE)
    pytester.makeini(STRICT)
    return pytester


def write(project: pytest.Pytester, name: str, text: str = PROGRAM) -> Path:
    path = project.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return project.runpytest_inprocess("-p", "sglc.pytest_plugin", "-p", "no:cacheprovider", *arguments)


def test_titles_are_names_and_a_failure_shows_line_values_and_seed(project: pytest.Pytester) -> None:
    write(project, "moods.sgl")
    result = run(project, "--sgl-rounds", "20", "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "moods.sgl::a mood is a mood PASSED*",
            "moods.sgl::always calm FAILED*",
            "error[[]E0808[]]: *",
            "*--> moods.sgl:14:*",
            "*expect it == calm",
            "*reason: it = wild*",
            'to repeat it: pytest "moods.sgl::always calm" --sgl-seed *',
        ]
    )
    command = next(line for line in result.stdout.lines if line.startswith("to repeat it"))
    seed = command.rpartition(" ")[2]
    run(project, "moods.sgl::always calm", "--sgl-seed", seed).assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("option", "words", "passed"),
    [("-k", "always", 0), ("-k", "mood and not always", 1), ("-m", "moods", 1), ("-m", "not quick", 0)],
)
def test_words_and_tags_choose(project: pytest.Pytester, option: str, words: str, passed: int) -> None:
    write(project, "moods.sgl")
    result = run(project, option, words, "--collect-only", "-q")
    chosen = [line for line in result.stdout.lines if "::" in line]
    assert chosen == [f"moods.sgl::{'a mood is a mood' if passed else 'always calm'}"]


def test_modules_of_the_program_are_found_from_any_folder(project: pytest.Pytester) -> None:
    write(project, "sgl.toml", "")
    write(project, "parts/names.sgl", "pub pure fn twice(x: int) -> int:\n    return 2 * x\n")
    text = 'use ./names (twice)\n\ntest "twice":\n    expect twice(2) == 4\n'
    write(project, "parts/use.sgl", text)
    run(project, "parts").assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_program_that_does_not_compile_is_an_error_of_collection(project: pytest.Pytester) -> None:
    write(project, "bad.sgl", 'test "x":\n    expect nowhere == 1\n')
    result = run(project)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["error[[]E0201[]]: *", "*bad.sgl:2:12"])
    assert not [line for line in result.stdout.lines if "Traceback" in line]


def test_what_a_test_does_not_test_is_a_warning(project: pytest.Pytester) -> None:
    write(project, "moods.sgl", PROGRAM + '\ntest "idle":\n    mock mood.mood = calm\n')
    result = run(project, "-k", "idle")
    result.assert_outcomes(passed=1, warnings=2)
    result.stdout.fnmatch_lines(["*SglWarning: W0222: no hole asked for this mock*"])


def test_files_without_tests_and_files_that_are_not_meant_are_left_alone(project: pytest.Pytester) -> None:
    write(project, "broken.sgl", "fn broken(\n")
    write(project, "other.sgl")
    write(project, "moods_test.sgl")
    project.makeini(STRICT + "sgl_files = *_test.sgl\n")
    result = run(project, "--collect-only", "-q")
    assert {line.partition("::")[0] for line in result.stdout.lines if "::" in line} == {"moods_test.sgl"}


@pytest.mark.parametrize("given", ["0", "x", "-1"])
def test_rounds_are_a_number_from_one_on(project: pytest.Pytester, given: str) -> None:
    result = run(project, f"--sgl-rounds={given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*a whole number from 1 on*"])


SEEN = """\
import json, sys

def pytest_sessionfinish(session):
    ours = sorted(name for name in sys.modules if name.split(".")[0] in ("sglc", "numpy"))
    print("SEEN " + json.dumps(ours))
"""


def test_a_project_without_tests_in_programs_imports_nothing_of_sglc(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(SEEN, encoding="utf-8")
    (tmp_path / "test_x.py").write_text("def test_x():\n    pass\n", encoding="utf-8")
    (tmp_path / "module.sgl").write_text("pub const X = 1\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "sglc.pytest_plugin", "-q", "-s"],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    seen = next(line for line in done.stdout.splitlines() if "SEEN " in line).partition("SEEN ")[2]
    assert json.loads(seen) == ["sglc", "sglc.pytest_plugin"]


def test_it_is_off_in_the_suite_of_sglc_itself(request: pytest.FixtureRequest) -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]
    assert options["ini_options"]["addopts"][:2] == ["-p", "no:sgl"]
    assert request.config.pluginmanager.is_blocked("sgl")
