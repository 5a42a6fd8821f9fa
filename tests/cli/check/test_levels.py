"""`sglc check --model BACKEND`: what a backend guarantees of each hole."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from command_line import Cli
from sglc.runtime.backends import registry
from sglc.targets.projection.core.capabilities import Capabilities

OPENAI = Capabilities(frozenset({"json_schema"}), "openai")
PROGRAM = """\
fn f(names: [str]) -> int:
    user: | Hi.
    assistant: | ?{age: int in 1..9}
    user: | And?
    assistant: | ?{counts: {str max 3 chars: int in 0..9; ..3}}
    user: | Who?
    assistant: | ?{who: one of names}
    return age
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(registry, "capabilities_of", lambda name, settings: OPENAI)
    path = tmp_path / "p.sgl"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def test_the_table(cli: Cli, program: Path) -> None:
    code, out, _ = cli("check", program, "--model", "openai:gpt-x")
    lines = out.splitlines()
    assert code == 0 and len(lines) == 5
    assert lines[0].startswith("f.age     value   by a JSON Schema, around the value; written again")
    assert lines[1].startswith("f.counts  asked  ") and "a list of records in place of the map" in out
    assert lines[-1].endswith("1 request; values of the run may lower it")


def test_a_level_that_is_required(cli: Cli, program: Path) -> None:
    code, _, err = cli("check", program, "--model", "openai:gpt-x", "--require", "value")
    assert code == 1 and err.count("E0827") == 1
    assert "hole f.counts is `asked` at openai:gpt-x, and `value` is required" in err
    assert cli("check", program, "--model", "openai:gpt-x", "--require", "asked")[0] == 0


def test_as_json(cli: Cli, program: Path) -> None:
    code, out, _ = cli("check", program, "--model", "openai:gpt-x", "--require", "value", "--json")
    found = json.loads(out)
    assert code == 1 and not found["ok"] and found["diagnostics"][0]["code"] == "E0827"
    table = found["levels"][str(program)]
    assert [(each["hole"], each["level"], each["certain"]) for each in table] == [
        ("f.age", "value", True),
        ("f.counts", "asked", True),
        ("f.who", "value", False),
    ]


def test_what_does_not_go_together(cli: Cli, program: Path) -> None:
    assert cli("check", program, "--require", "value")[0] == 2
    assert cli("check", program, "--model", "openai:gpt-x", "--fix")[0] == 2


def other(opening: object) -> object:
    """What an entry point of another package leads to. Nothing is opened for a table."""
    raise AssertionError


other.capabilities = Capabilities(frozenset({"gbnf"}))  # type: ignore[attr-defined]


def test_kinds_of_other_packages(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("mine", f"{__name__}:other", registry.GROUP)]
    points += [EntryPoint("silent", f"{__name__}:silent", registry.GROUP)]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    monkeypatch.setattr(sys.modules[__name__], "silent", lambda opening: None, raising=False)
    path = tmp_path / "p.sgl"
    path.write_text(PROGRAM, encoding="utf-8")
    code, out, _ = cli("check", path, "--model", "mine:thing")
    assert code == 0 and out.startswith("f.age     exact   by a grammar (GBNF)")
    code, _, err = cli("check", path, "--model", "silent:thing")
    assert code == 1 and "E0735" in err and "has no attribute `capabilities`" in err
    code, _, err = cli("check", path, "--model", "mien:thing")
    assert code == 1 and "E0731" in err and "mine" in err


def test_what_a_project_says_of_models_counts(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "p.sgl"
    named = PROGRAM.replace("fn f(names: [str]) -> int:", "fn f(names: [str]) -> int using fast or main:")
    path.write_text(named, encoding="utf-8")
    use = '"chat:http://h/v1#m"'
    (tmp_path / "sgl.toml").write_text(f"[models.fast]\nuse = {use}\nnotations = []\n")
    code, out, _ = cli("check", path, "--model", "vllm:http://h")
    assert code == 0 and out.startswith("f.age     asked  ; asked for in the prompt")
    (tmp_path / "sgl.toml").write_text(f"[models.fast]\nuse = {use}\n")
    assert cli("check", path, "--model", "vllm:http://h")[1].startswith("f.age     value ")
