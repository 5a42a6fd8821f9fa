"""Models elsewhere by their names: on the command line, in Python, in `sgl.toml`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sglc
from backends.fake_backend import FakeBackend
from command_line import Cli
from command_line import cli as cli
from sglc.project.file import project_of
from sglc.project.models import ModelSettings
from sglc.runtime.backends.exchange import BackendFault
from sglc.runtime.backends.filling import opening

PROGRAM = """fn one(text: str) -> str using fast:
    user: | Shorten ${text}
    assistant: | ?{short: line max 9 chars}
    return short

pub fn f(text: str) -> str:
    user: | Greet ${text}
    assistant: | ?{hello: line max 9 chars}
    return "${hello} ${one(text)}"
"""


@pytest.fixture
def backends(monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeBackend]:
    """Those that were opened, by name. Each answers with the last word of its name."""
    found: dict[str, FakeBackend] = {}

    def open_backend(name: str, settings: ModelSettings) -> FakeBackend:
        answer = name.rpartition("-")[2]
        found[name] = FakeBackend(lambda query: answer, name=name)
        return found[name]

    monkeypatch.setattr(opening, "open_backend", open_backend)
    return found


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "p.sgl"
    path.write_text(PROGRAM)
    return path


def test_a_command_runs_on_models_elsewhere(cli: Cli, program: Path, backends: Any, tmp_path: Path) -> None:
    trace = tmp_path / "run.jsonl"
    names = ("--model", "openai:gpt-Hi", "--model", "fast=vllm:http://h:8000/v1-Ho")
    code, out, err = cli(
        "run", program, "f", "--arg", "text=x", *names, "--json", "--trace", trace, "--stats"
    )
    assert code == 0, err
    found = json.loads(out)
    assert found["value"] == "Hi Ho" and found["statistics"]["reproducible"] is False
    assert found["statistics"]["remote"]["requests"] == 2
    assert all(backend.closed for backend in backends.values()) and len(backends) == 2
    ends = [json.loads(line) for line in trace.read_text().splitlines() if '"hole_end"' in line]
    assert [end["answered_by"] for end in ends] == ["openai:gpt-Hi", "vllm:http://h:8000/v1-Ho"]


def test_statistics_and_metrics_tell_what_was_asked(
    cli: Cli, program: Path, backends: Any, tmp_path: Path
) -> None:
    call = (
        "run",
        program,
        "f",
        "--arg",
        "text=x",
        "--model",
        "openai:gpt-Hi",
        "--model",
        "fast=openai:gpt-Hi",
    )
    code, _, err = cli(*call, "--stats")
    line = "elsewhere: 2 requests, 20 prompt tokens, 8 of them cached, 2 output tokens"
    assert code == 0 and f"{line}; answered by openai:gpt-Hi 2" in err.splitlines()
    metrics = tmp_path / "m.txt"
    code, _, err = cli(*call, "--stats=json", "--metrics", metrics)
    found = json.loads(err)
    assert found["process"]["remote"]["requests"] == 2
    assert found["holes"]["one.short"]["answered_by"] == {"openai:gpt-Hi": 1}
    assert 'sglc_hole_charged_prompt_tokens_total{function="one",hole="short"} 10.0' in metrics.read_text()


def test_local_and_remote_models_mix(cli: Cli, program: Path, backends: Any, tmp_path: Path) -> None:
    script = tmp_path / "s.json"
    script.write_text('{"f.hello": "Hey", "one.short": "no"}')
    call = ("run", program, "f", "--arg", "text=x")
    code, out, err = cli(*call, "--model", f"scripted:{script}", "--model", "fast=chat:http://x#m-Ho")
    assert (code, json.loads(out)) == (0, "Hey Ho"), err
    code, out, err = cli(*call, "--model", "chat:http://x#m-Ho", "--model", f"fast=scripted:{script}")
    assert (code, json.loads(out)) == (0, "Ho no"), err


def test_rows_run_on_models_elsewhere(cli: Cli, program: Path, backends: Any, tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    rows.write_text("".join(json.dumps({"text": str(i)}) + "\n" for i in range(30)))
    names = ("--model", "openai:x-Hi", "--model", "fast=openai:x-Hi")
    code, _, err = cli("run", program, "f", "--data", rows, "--out", out, *names)
    assert code == 0, err
    assert [json.loads(line)["value"] for line in out.read_text().splitlines()] == ["Hi Hi"] * 30
    (backend,) = backends.values()
    assert backend.most > 10 and backend.closed


def test_python_loads_programs_on_models_elsewhere(program: Path, backends: Any) -> None:
    module = sglc.load(program, "openai:y-Hi", models={"fast": "openai:y-Ho"})
    assert module.f("x") == "Hi Ho"
    assert module.cache_stats() is None and module.f.run("x").holes[0].answered_by == "openai:y-Hi"
    backends["openai:y-Ho"].answers = lambda query: BackendFault("rate", "slow down", retry_after=3.0)
    with pytest.raises(sglc.RunError) as caught:
        module.f("x")
    assert caught.value.name == "Backend" and caught.value.fields["retry_after"] == 3.0
    pieces = list(sglc.load(program, "openai:y-Hi", models={"fast": "openai:z-Ho"}).f.stream("x"))
    assert [piece.partial for piece in pieces if piece.kind == "generated"] == ["Hi", "Ho"]


def test_a_plan_is_not_run_elsewhere(cli: Cli, program: Path) -> None:
    code, _, err = cli("plan", program, "f", "--run", "--arg", "text=x", "--model", "openai:x")
    assert code == 1 and "E0807" in err and "--stats" in err


def test_names_of_a_project_are_no_paths(tmp_path: Path) -> None:
    (tmp_path / "sgl.toml").write_text('[models]\nmain = "vllm:http://h/v1"\nbig = "a/b"\n')
    project, faults = project_of(tmp_path / "p.sgl")
    assert not faults and project.models == {"main": "vllm:http://h/v1", "big": str(tmp_path / "a/b")}


def test_what_is_a_name_of_a_model_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd:file").touch()
    assert all(map(opening.is_elsewhere, ("openai:gpt-x", "chat:http://localhost:8000/v1#m", "my_own:x")))
    assert not any(
        map(opening.is_elsewhere, ("smollm2", "scripted:x.json", "C:\\m.gguf", "a/b:c", "odd:file"))
    )
