"""The hooks for pre-commit: what they run is a command that takes what they give it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from checkout import ROOT
from sglc.cli import COMMANDS, main

HOOKS = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")


def hooks() -> dict[str, dict[str, str]]:
    """The keys of each hook by its id; the file needs no more of YAML than this reads."""
    found: dict[str, dict[str, str]] = {}
    for line in HOOKS.splitlines():
        key, _, value = line.removeprefix("- ").strip().partition(": ")
        if line.startswith("- "):
            found[value] = {}
        elif value and not line.startswith("#"):
            found[list(found)[-1]][key] = value
    return found


def test_the_hooks_are_those_that_the_page_names() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert list(hooks()) == ["sglc-check", "sglc-test", "sglc-fmt"]
    assert all(f"`{name}`" in page for name in hooks())
    for hook in hooks().values():
        assert hook["language"] == "python" and re.search(hook["files"], "src/crew.sgl")
        assert not re.search(hook["files"], "crew.sglb")
        program, command = shlex.split(hook["entry"])[:2]
        assert program == "sglc" and command in COMMANDS


@pytest.mark.parametrize(
    ("text", "code"),
    [("expect 1 + 1 == 2", 0), ("expect 1 + 1 == 3", 1)],
)
def test_a_hook_fails_where_a_program_does(
    text: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.sgl").write_text(f'test "sums":\n    {text}\n', encoding="utf-8")
    for hook in hooks().values():
        given = [] if hook.get("pass_filenames") == "false" else ["a.sgl"]
        arguments = [*shlex.split(hook["entry"])[1:], *given]
        assert main(arguments) == (code if "test" in arguments else 0)
