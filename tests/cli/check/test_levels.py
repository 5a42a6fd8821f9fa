"""`sglc check --model BACKEND`: what a backend guarantees of each hole."""

from __future__ import annotations

import json
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
