"""What the pages say is true: programs compile and pass their tests, commands and Python run."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from readme_commands import README, blocks, commands
from sglc.cli import main
from sglc.diagnostics.render import render
from sglc.driver import compile_source
from sglc.source import Source

ROOT = README.parent
PAGES = [
    README,
    *(ROOT / "docs" / f"{page}.md" for page in ("tutorial", "reference", "types", "coming-from")),
]
PROGRAMS = [
    pytest.param(text, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, text in enumerate(blocks("sgl", page), start=1)
]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like a clone to the commands of the README."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_program_on_a_page_compiles(text: str) -> None:
    found = compile_source(Source("page.sgl", text)).diagnostics
    assert not found, "\n".join(render(diagnostic) for diagnostic in found)


@pytest.mark.slow
@pytest.mark.parametrize("text", [case for case in PROGRAMS if 'test "' in case.values[0]])
def test_the_tests_of_a_program_on_a_page_pass(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.sgl"
    path.write_text(text, encoding="utf-8")
    assert main(["test", str(path)]) == 0, capsys.readouterr()


def test_the_first_program_is_the_example() -> None:
    example = (ROOT / "examples" / "character.sgl").read_text(encoding="utf-8")
    for paragraph in blocks("sgl")[0].strip().split("\n\n"):
        assert paragraph in example


def test_the_first_two_commands_install_run_and_test() -> None:
    first, second = commands()[:2]
    assert first.startswith("python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/sglc run ")
    assert "examples/character.sgl --arg theme=" in first
    assert second == ".venv/bin/pip install -q -e '.[test]' && .venv/bin/python -P -m pytest -n auto"


@pytest.mark.slow
@pytest.mark.parametrize("line", commands()[2:])
def test_a_command_of_the_tour_runs(line: str, clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(line)
    assert words[0] == "sglc"
    if words[1] == "disasm":
        assert main(["build", "examples/character.sgl", "-o", words[2]]) == 0
    assert main(words[1:]) == 0, capsys.readouterr()


@pytest.mark.slow
@pytest.mark.parametrize("code", [*blocks("python"), *blocks("python", ROOT / "docs" / "python.md")])
def test_python_on_the_page_runs(code: str, clone: Path) -> None:
    page = clone / "page.py"
    page.write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, "-P", page], cwd=clone, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, *sorted((ROOT / "docs").rglob("*.md"))]:
        text = re.sub(r"```.*?```|`[^`\n]+`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_page_of_commands_names_every_command_and_option() -> None:
    import click

    from sglc.cli import COMMANDS, command_of

    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"sglc {name}" in page
        command = command_of(name)
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.opts[-1] in page, f"{name} {parameter.opts[-1]}"
