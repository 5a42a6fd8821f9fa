"""`--record`, `--replay` and `--cache-answers` of `sglc run`, and the same of `sglc.load`."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

import sglc
from backends.in_process import App, InProcess, StubReply, as_json
from backends.stub_servers import StubAnthropic, StubLlama, StubOpenAI, StubSGLang, StubVllm
from command_line import Cli
from command_line import cli as cli
from sglc.runtime.backends.recording import wiring
from sglc.runtime.backends.recording.traffic import read_traffic

PROGRAM = """record Person: name: line max 12 chars, age: int in 0..150

pub fn f(text: str) -> Person:
    user: | Who? ${text}
    assistant: | ?{person: Person}
    user: | Where?
    assistant: | ?{place: choose ["here", "there"]}
    return person

pub pure fn g() -> int:
    return 1
"""
CANARY = "canary-9d1f-key/+="
SAID = "canary-3b77-token"
VARIABLES = ("OPENAI", "VLLM", "SGLANG", "LLAMA", "ANTHROPIC")
SERVERS: dict[str, Any] = {
    "openai:gpt-5.2": StubOpenAI,
    "vllm:http://localhost:8000": StubVllm,
    "sglang:http://localhost:30000": StubSGLang,
    "llama:http://localhost:8080": StubLlama,
    "anthropic:claude-x": StubAnthropic,
}
_TIMES = re.compile(r'"(?:time|at|t|\w*seconds|outside_median_ms)": [0-9.e-]+')


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "p.sgl"
    path.write_text(PROGRAM)
    return path


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(f"{name}_API_KEY", CANARY)
    monkeypatch.setenv("MY_TOKEN", SAID)


def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No keys any more, and no network."""
    for name in VARIABLES:
        monkeypatch.delenv(f"{name}_API_KEY")
    monkeypatch.setattr(wiring, "network", lambda: pytest.fail("a replay opened the network"))


def served(monkeypatch: pytest.MonkeyPatch, app: App) -> InProcess:
    transport = InProcess(app)
    monkeypatch.setattr(wiring, "network", lambda: transport)
    return transport


def without_times(text: str) -> str:
    return _TIMES.sub("", text)


@pytest.mark.parametrize("model", SERVERS)
@pytest.mark.usefixtures("keys")
def test_a_replayed_run_is_the_recorded_one(
    cli: Cli, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    stub, faults = SERVERS[model](), [StubReply(b"{}", 503, {"retry-after": "0.01"})]
    sent = served(monkeypatch, lambda *call: faults.pop() if faults else stub._app(*call))
    traffic = tmp_path / "run.traffic"
    call = ("run", program, "f", "--arg", f"text=say {SAID}", "--model", model, "--seed", "7")
    outs = []
    for option in ("--record", "--replay"):
        trace = tmp_path / f"{option}.jsonl"
        plain = cli(*call, option, traffic, "--json", "--trace", trace, "--stats=json")
        assert plain[0] == 0, plain
        outs.append((plain[1], trace.read_text()))
        assert CANARY not in plain[1] + plain[2] + trace.read_text()
        if option == "--record":
            no_keys(monkeypatch)
    assert [without_times(text) for text in outs[0]] == [without_times(text) for text in outs[1]]
    assert len(read_traffic(traffic)) == len(sent.requests) >= 3
    assert traffic.stat().st_mode & 0o77 == 0
    assert any(CANARY in "".join(each.secrets.values()) for each in sent.requests)
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or CANARY.encode() not in file.read_bytes(), file
    assert SAID not in traffic.read_text()


@pytest.mark.usefixtures("keys")
def test_a_replay_waits_for_nothing_and_sends_nothing_else(
    cli: Cli, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sgl.toml").write_text(
        '[models]\nm = { use = "vllm:http://localhost:8000", hedge = 0.001, retries = 2 }\n'
    )
    traffic = tmp_path / "run.traffic"
    call = (
        "run",
        program,
        "f",
        "--arg",
        "text=a",
        "--model",
        "vllm:http://localhost:8000",
        "--timeout",
        "60",
    )
    fault = {"status": 503, "headers": {"retry-after": "50"}, "pieces": [[0.1, "{}"]], "whole": True}
    stub = StubVllm()
    served(monkeypatch, stub._app)
    assert cli(*call, "--record", traffic)[0] == 0
    head, *lines = traffic.read_text().splitlines()
    written = next(line for line in lines if json.loads(line)["url"].endswith("/completions"))
    again = [{**json.loads(written), **fault, "number": number} for number in (-2, -1)]
    traffic.write_text("\n".join([head, *map(json.dumps, again), *lines]) + "\n")
    no_keys(monkeypatch)
    began = time.monotonic()
    code, _, err = cli(*call, "--replay", traffic)
    assert code == 0, err
    assert time.monotonic() - began < 40, "it waited as long as the server asked for"


@pytest.mark.usefixtures("keys")
def test_a_request_that_was_not_recorded_ends_the_run(
    cli: Cli, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served(monkeypatch, StubOpenAI()._app)
    traffic = tmp_path / "run.traffic"
    call = ("run", program, "f", "--model", "openai:gpt-5.2", "--arg")
    assert cli(*call, "text=a", "--record", traffic)[0] == 0
    no_keys(monkeypatch)
    code, out, err = cli(*call, "text=b", "--replay", traffic)
    assert (code, out) == (1, "") and "E0707" in err and "was not recorded" in err
    assert "Who? b" in err


def test_files_that_do_not_do_are_told(
    cli: Cli, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    served(monkeypatch, StubOpenAI()._app)
    call = ("run", program, "f", "--arg", "text=a", "--model", "openai:gpt-5.2")
    there, other = tmp_path / "there", tmp_path / "other"
    there.write_text("mine")
    other.write_text('{"sglc-traffic": 99}\n')
    for option, path, said in (
        ("--record", there, "is there already"),
        ("--record", tmp_path / "no" / "folder", "cannot be written"),
        ("--record", tmp_path, "cannot be written"),
        ("--replay", tmp_path / "none", "cannot be read"),
        ("--replay", there, "not recorded by `--record`|no JSON"),
        ("--replay", other, "version 99"),
    ):
        code, out, err = cli(*call, option, path)
        assert (code, out) == (1, "") and "E0736" in err and re.search(said, err), err
    assert there.read_text() == "mine"
    monkeypatch.delenv("OPENAI_API_KEY")
    fresh = tmp_path / "fresh"
    assert "E0732" in cli(*call, "--record", fresh)[2]
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    code, _, err = cli(*call, "--record", fresh)
    assert code == 0, err


def test_options_that_do_not_fit_are_refused(cli: Cli, program: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    call = ("run", program, "f", "--arg", "text=a", "--model")
    for pair in (
        ("--record", file, "--replay", file),
        ("--record", file, "--cache-answers"),
        ("--replay", file, "--cache-answers"),
    ):
        code, _, err = cli(*call, "openai:gpt-5.2", *pair)
        assert code == 2 and "exclude each other" in err
    for option in (("--record", file), ("--replay", file), ("--cache-answers",)):
        code, _, err = cli(*call, "smollm2", *option)
        assert code == 1 and "E0737" in err and "no model elsewhere" in err
        code, _, err = cli("run", program, "g", "--model", "openai:x", *option)
        assert code == 1 and "E0737" in err
    for model in ("repair:cat", "litellm:groq/x", "hf:x"):
        code, _, err = cli(*call, model, "--record", file)
        assert code == 1 and "E0737" in err and model in err
    assert not file.exists()


def test_a_recording_that_cannot_go_on_ends_the_run(
    cli: Cli, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    served(monkeypatch, StubOpenAI()._app)
    monkeypatch.setattr("sglc.runtime.backends.recording.traffic.MOST_LINE", 100)
    code, out, err = cli(
        *("run", program, "f", "--arg", "text=a", "--model", "openai:gpt-5.2", "--record", tmp_path / "r")
    )
    assert (code, out) == (1, "") and "E0707" in err and "the recording cannot be written" in err


@pytest.mark.usefixtures("keys")
def test_kept_answers_take_no_request_and_no_budget(
    cli: Cli, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sglc.runtime.backends import http_transport

    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    sent = InProcess(StubOpenAI()._app)
    monkeypatch.setattr(http_transport, "HttpTransport", lambda: sent)
    model = "chat:http://localhost:8000/v1#m"
    call = ("run", program, "f", "--arg", "text=a", "--model", model, "--cache-answers", "--json")
    code, first, err = cli(*call)
    assert code == 0, err
    asked = len([each for each in sent.requests if each.method == "POST"])
    assert "kept" not in json.loads(first)["statistics"]
    (tmp_path / "sgl.toml").write_text(f'[models.m]\nuse = "{model}"\nbudget = {{ tokens = 1 }}\n')
    code, second, err = cli(*call, "--stats")
    assert code == 0, second + err
    assert len([each for each in sent.requests if each.method == "POST"]) == asked
    told = json.loads(second)
    assert told["value"] == json.loads(first)["value"] and told["statistics"]["kept"] >= 1
    assert f"{told['statistics']['kept']} answer" in err and "kept from before" in err
    for file in (tmp_path / "cache").rglob("*"):
        assert not file.is_file() or CANARY.encode() not in file.read_bytes()


@pytest.mark.usefixtures("keys")
def test_python_records_replays_and_keeps(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served(monkeypatch, StubOpenAI()._app)
    model, traffic = "openai:gpt-5.2", tmp_path / "run.traffic"
    first = sglc.load(program, model, record=traffic).f.run("a", seed_=3)
    with pytest.raises(ValueError, match="E0736"):
        sglc.load(program, model, record=str(traffic))
    no_keys(monkeypatch)
    again = sglc.load(program, model, replay=traffic).f.run("a", seed_=3)
    assert (again.text, sglc.to_json(again.value)) == (first.text, sglc.to_json(first.value))
    for options in ({"record": traffic, "replay": traffic}, {"replay": traffic, "cache_answers": True}):
        with pytest.raises(ValueError, match="exclude each other"):
            sglc.load(program, model, **options)
    with pytest.raises(ValueError, match="no model elsewhere"):
        sglc.load(program, cache_answers=True)


def test_an_answer_of_a_fallback_is_not_kept_as_that_of_the_first(
    cli: Cli, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sglc.runtime.backends import http_transport

    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    stub = StubVllm()

    def app(path: str, body: Any, request: Any) -> StubReply:
        return as_json({"error": "no"}, 403) if "first" in request.url else stub._app(path, body, request)

    sent = InProcess(app)
    monkeypatch.setattr(http_transport, "HttpTransport", lambda: sent)
    (tmp_path / "sgl.toml").write_text(
        '[models.m]\nuse = "vllm:http://first:1"\nfallback = ["vllm:http://second:1"]\n'
    )
    call = ("run", program, "f", "--arg", "text=a", "--model", "vllm:http://first:1", "--cache-answers")
    for _ in range(2):
        code, out, err = cli(*call, "--json")
        assert code == 0, err
        assert "kept" not in json.loads(out)["statistics"]


TESTS = (
    PROGRAM
    + """
test "a mock comes first":
    mock f.person = Person("Ada", 36)
    mock f.place = "here"
    expect f("x").name == "Ada"

test "the rest is the model's":
    mock f.place = "there"
    expect len(f("who").name) > 0

test "what is random stays random":
    fuzz f("y") times 3:
        expect it.age <= 150
"""
)


@pytest.mark.parametrize("model", ["openai:gpt-5.2", "vllm:http://localhost:8000"])
@pytest.mark.usefixtures("keys")
def test_tests_are_recorded_and_replayed(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    program, traffic = tmp_path / "p.sgl", tmp_path / "t.traffic"
    program.write_text(TESTS)
    sent = served(monkeypatch, SERVERS[model]()._app)
    code, recorded, err = cli("test", program, "--model", model, "--record", traffic, "--json")
    assert code == 0, recorded + err
    assert len(read_traffic(traffic)) == len(sent.requests) >= 1 and sent.closed
    no_keys(monkeypatch)
    for _ in range(2):
        code, replayed, _ = cli("test", program, "--model", model, "--replay", traffic, "--json")
        assert code == 0 and without_times(replayed) == without_times(recorded)
    program.write_text(TESTS.replace('"who"', '"whom"'))
    code, out, _ = cli("test", program, "--model", model, "--replay", traffic)
    assert code == 1 and "FAILED the rest is the model's" in out and "2 passed, 1 failed" in out


def test_tests_ask_no_model_by_themselves(cli: Cli, tmp_path: Path) -> None:
    program = tmp_path / "p.sgl"
    program.write_text(TESTS)
    other = tmp_path / "q.sgl"
    other.write_text(TESTS)
    code, _, err = cli("test", program, "--model", "openai:gpt-5.2")
    assert code == 2 and "tests ask no model but with --record" in err
    (tmp_path / "sgl.toml").write_text('[models]\nmain = "openai:gpt-5.2"\n')
    code, out, err = cli("test", program)
    assert code == 1 and "2 passed, 1 failed" in out and "there is no model to ask" in err
    code, _, err = cli("test", program, other, "--replay", tmp_path / "x")
    assert code == 2 and "of one program" in err
    code, _, err = cli("test", program, "--replay", tmp_path / "none")
    assert code == 1 and "E0736" in err
    code, _, err = cli("test", program, "--model", "smollm2", "--replay", tmp_path / "none")
    assert code == 1 and "E0737" in err
