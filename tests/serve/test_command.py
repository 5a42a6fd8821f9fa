"""`sglc serve` as a process, and what it refuses before it serves."""

from __future__ import annotations

import json
import logging
import re
import signal
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from command_line import GOOD, Cli, cli  # noqa: F401
from sglc.types.model_use import MAIN

PUBLIC = GOOD.replace("\nfn feel", "\npub fn feel")


@pytest.fixture
def public(tmp_path: Path) -> Path:
    path = tmp_path / "public.sgl"
    path.write_text(PUBLIC, encoding="utf-8")
    return path


def test_a_server_serves_and_ends(public: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"feel.mood": "furious"}')
    command = [sys.executable, "-m", "sglc", "serve", public, "--model", f"scripted:{script}", "--port", "0"]
    process = subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        first = process.stderr.readline()
        found = re.search(r"serving 1 function on scripted:\S+ at (http://127\.0\.0\.1:\d+)", first)
        assert found is not None, first
        assert "/v1/chat/completions" in process.stderr.readline()
        assert "/v1/functions/feel" in process.stderr.readline()
        body = json.dumps({"arguments": {"text": "a private text"}}).encode()
        asked = Request(f"{found[1]}/v1/functions/feel", body, {"content-type": "application/json"})
        with urlopen(asked, timeout=30) as reply:
            assert json.load(reply)["value"] == "furious"
        with urlopen(f"{found[1]}/metrics", timeout=30) as reply:
            assert b'sglc_runs_total{function="feel"' in reply.read()
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait(20) == 0
        assert "POST /v1/functions/feel 200" in rest and "private" not in rest
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_spans_of_a_call_are_below_the_span_of_its_client(public: Path, tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.sdk")
    script, spans = tmp_path / "script.json", tmp_path / "spans.jsonl"
    script.write_text('{"feel.mood": "furious"}')
    command = [sys.executable, "-m", "sglc", "serve", public, "--model", f"scripted:{script}", "--port", "0"]
    process = subprocess.Popen([*map(str, command), "--spans", str(spans)], stderr=subprocess.PIPE, text=True)
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    try:
        assert process.stderr is not None
        found = re.search(r" at (http://127\.0\.0\.1:\d+)", process.stderr.readline())
        assert found is not None
        for head in ({"traceparent": parent}, {"traceparent": "00-nonsense"}, {}):
            body = json.dumps({"arguments": {"text": "a private text"}}).encode()
            asked = Request(
                f"{found[1]}/v1/functions/feel", body, {"content-type": "application/json", **head}
            )
            with urlopen(asked, timeout=30) as reply:
                assert json.load(reply)["value"] == "furious"
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()
    lines = [json.loads(line) for line in spans.read_text().splitlines()]
    runs = [line for line in lines if line["name"] == "run feel"]
    traces = [run["context"]["trace_id"] for run in runs]
    assert len(runs) == 3 and len(set(traces)) == 3
    assert [run["parent_id"] for run in runs] == ["0xb7ad6b7169203331", None, None]
    assert traces[0] == "0x0af7651916cd43dd8448eb211c80319c"
    assert "private" not in spans.read_text()


def test_programs_that_cannot_be_served(cli: Cli, tmp_path: Path, public: Path) -> None:  # noqa: F811
    hidden = tmp_path / "hidden.sgl"
    hidden.write_text("fn one() -> int:\n    return 1\n")
    code, _, told = cli("serve", hidden, "--port", "0")
    assert code == 1 and "E0828" in told and "`pub fn`" in told
    assert not logging.getLogger("sglc.serve").handlers, "logs are those of the tests again"
    twin = tmp_path / "twin.sgl"
    twin.write_text(PUBLIC)
    script = tmp_path / "script.json"
    script.write_text("{}")
    code, _, told = cli("serve", public, twin, "--port", "0", "--model", f"scripted:{script}")
    assert code == 1 and "E0828" in told and "`feel`" in told


def test_places_that_cannot_be_had(cli: Cli, tmp_path: Path, public: Path) -> None:  # noqa: F811
    code, _, told = cli("serve", public, "--host", "0.0.0.0", "--port", "0")
    assert code == 1 and "E0829" in told and "needs keys" in told
    code, _, told = cli("serve", public, "--keys", tmp_path / "none.toml")
    assert code == 1 and "E0829" in told
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, told = cli("serve", public, "--port", taken.getsockname()[1])
        assert code == 1 and "E0811" in told
    code, _, told = cli("serve", public, "--tls", f"{tmp_path}/a.pem,{tmp_path}/b.pem")
    assert code == 1 and "E0811" in told and "a.pem" in told
    assert cli("serve", public, "--tls", "a.pem")[0] == 2


def test_a_new_key_has_a_table_that_is_read(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    from sglc.runtime.serve.access import digest_of, read_keys

    code, key, table = cli("serve", "--new-key", "bill")
    assert code == 0
    path = tmp_path / "keys.toml"
    path.write_text(table)
    assert tomllib.loads(table)["keys"]["bill"]["digest"] == digest_of(key.strip())
    assert key.strip() not in table and [each.name for each in read_keys(path)] == ["bill"]
    assert cli("serve", "--new-key", "a b")[0] == 2


TWO_MODELS = """
pub fn pick(text: str) -> "a" | "b" using big:
    assistant: | ?{answer: "a" | "b"}
    return answer
"""


def test_a_model_by_name_is_for_the_programs_that_name_it(cli: Cli, tmp_path: Path, public: Path) -> None:  # noqa: F811
    """Others are served beside them; a name that no program has is an error, and so is one that lacks."""
    two, script = tmp_path / "two.sgl", tmp_path / "script.json"
    two.write_text(TWO_MODELS)
    script.write_text("{}")
    model = f"scripted:{script}"
    for named, words in (([f"--model=bog={model}"], "bog"), ([], "big")):
        code, _, told = cli("serve", public, two, "--model", model, *named, "--port", 0)
        assert code == 1 and "E0721" in told and words in told
    names = _names([public, two], {"big": model, MAIN: model})
    assert names == [(), ("big",)]


def _names(files: list[Path], models: dict[str, str]) -> list[tuple[str, ...]]:
    """The models by name that the calls of each program have."""
    from sglc.commands.running.run_options import Models
    from sglc.commands.serving.programs import calls_of
    from sglc.commands.shared.invocation import Invocation
    from sglc.commands.shared.programs import load_program
    from sglc.project.file import Project
    from sglc.runtime.engine.core.options import EngineOptions

    invocation, given = Invocation(), Models(models[MAIN], {k: v for k, v in models.items() if k != MAIN})
    found = []
    for file in files:
        program = load_program(invocation, file)
        calls = calls_of(invocation, program, Project(), given, EngineOptions(), file, None)
        found.append(tuple(calls[0].models))
    return found
