"""`sgl.toml`: what it says, where its mistakes stand, and that the command line wins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sglc.cli import main
from sglc.project import checks, file
from sglc.project.file import Project, find, project_of, read

WHOLE = """# a project
[project]
name = "crew"
[models]
main = "smollm2"
big = "models/big.gguf"
"small" = "/m/small"
told = "scripted:answers/a.json"
[run]
seed = 7
max_tokens = 800
timeout = 2.5
concurrency = 4
decode = "local"
[engine]
executor = "native"
dtype = "q8"
threads = 2
device = "cpu"
draft = "none"
max_queue = 9
"""


def test_all_keys_are_read(tmp_path: Path) -> None:
    (tmp_path / "sgl.toml").write_text(WHOLE)
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    found, faults = project_of(inner / "p.sgl")
    assert not faults and found.root == tmp_path.resolve() and found.name == "crew"
    root = tmp_path.resolve()
    assert found.models == {
        "main": "smollm2",
        "big": f"{root}/models/big.gguf",
        "small": "/m/small",
        "told": f"scripted:{root}/answers/a.json",
    }
    assert found.run["seed"] == 7 and found.engine["threads"] == 2
    assert {f"{table}.{key}" for table, keys in checks.KEYS.items() for key in keys} <= {
        f"{table}.{key}" for table in ("project", "run", "engine") for key in _keys(WHOLE, table)
    }


def _keys(text: str, table: str) -> list[str]:
    import tomllib

    return list(tomllib.loads(text)[table])


@pytest.mark.parametrize("text", ["", "# nothing\n", "[project]\n"])
def test_an_empty_file_is_a_good_one(text: str) -> None:
    found, faults = read(Path("/p/sgl.toml"), text)
    assert faults == [] and (found.models, found.run, found.engine) == ({}, {}, {})


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("[run]\nseed = ", "is no TOML", ""),
        ("[run]\nsed = 1", "`[run]` has no key `sed`", "sed"),
        ("[runs]\nseed = 1", "sgl.toml has no key `runs`", "runs"),
        ("[run]\nseed = -1", "`seed` of `[run]` is less than 0", "seed"),
        ("[run]\nseed = true", "is no whole number", "seed"),
        ("[run]\nmax_tokens = 0", "is less than 1", "max_tokens"),
        ("[run]\nconcurrency = 1025", "is not between 1 and 1024", "concurrency"),
        ("[run]\ntimeout = 0", "is not above 0", "timeout"),
        ("[run]\ntimeout = inf", "is no number", "timeout"),
        ("run.decode = 'exact'", "is none of local", "decode"),
        ("[engine]\nexecutor = 'gpu'", "is none of auto, torch, native", "executor"),
        ("[models]\n'a b' = 'x'", "cannot be the name of a model", "'a b'"),
        ("[models]\nbig = 3", "the model `big` is no text", "big"),
        ("[models]\nbig = ''", "the model `big` is no text", "big"),
        ("models = 3", "`models` is a table", "models"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, message: str, at: str) -> None:
    _, (fault,) = read(Path("/p/sgl.toml"), text)
    assert fault.code == "E0825" and message in fault.message
    assert fault.span is not None and (not at or fault.span.text == at)


def test_a_secret_is_refused() -> None:
    _, (fault,) = read(Path("/p/sgl.toml"), '[models]\nmain = "x"\n[engine]\napi_key = "sk-1"\n')
    assert "secrets do not belong" in fault.hint and "sk-1" not in fault.message + fault.reason


def test_the_file_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "LARGEST", 50)
    path = tmp_path / "sgl.toml"
    path.write_text("#" * 50)
    assert project_of(tmp_path / "p.sgl")[1] == []
    path.write_text("#" * 51)
    assert "larger" in project_of(tmp_path / "p.sgl")[1][0].message
    path.write_bytes(b"\xff")
    assert "UTF-8" in project_of(tmp_path / "p.sgl")[1][0].message


def test_what_nests_deeply_is_told() -> None:
    assert read(Path("/p/sgl.toml"), "a = " + "[" * 100_000)[1][0].code == "E0825"


PROGRAM = """pub fn f() -> str using big or main:
    user: | q
    assistant: | ?{a: line max 9 chars}
    return a
"""


def test_a_command_takes_the_file_and_its_own_options_win(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps([name]))
    (tmp_path / "sgl.toml").write_text(
        '[models]\nmain = "scripted:./one.json"\nother = "no/such"\n[run]\nseed = 5\n'
    )
    program = tmp_path / "p.sgl"
    program.write_text(PROGRAM)
    trace = tmp_path / "t.jsonl"
    assert main(["run", str(program), "--trace", str(trace)]) == 0
    assert capsys.readouterr().out.strip() == '"one"'
    assert json.loads(trace.read_text().splitlines()[0])["seed"] == 5
    own = f"scripted:{tmp_path}/two.json"
    assert main(["run", str(program), "--model", own, "--seed", "0", "--trace", str(trace)]) == 0
    assert capsys.readouterr().out.strip() == '"two"'
    assert json.loads(trace.read_text().splitlines()[0])["seed"] == 0
    (tmp_path / "sgl.toml").write_text("[run]\nsed = 5\n")
    assert main(["run", str(program)]) == 1
    shown = capsys.readouterr().err
    assert "E0825" in shown and "sgl.toml:2:1" in shown and "did you mean `seed`" in shown


def test_without_a_file_nothing_is_said(tmp_path: Path) -> None:
    assert project_of(tmp_path / "p.sgl")[0] == Project() or find(tmp_path / "p.sgl") is not None
