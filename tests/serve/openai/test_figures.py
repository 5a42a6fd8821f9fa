"""What a server counts and limits of OpenAI's protocol: figures, schemas, prefixes, predictions, biases."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from serving.server import Reply, Server, serving
from sglc.runtime.serve.access import Access, Key, digest_of
from sglc.runtime.serve.options import ServeLimits
from sglc.runtime.serve.problems import Refusal

PROGRAM = """
pub fn greet(name: str) -> str:
    user: | Greet ${name}
    assistant: | ?{text: str max 20 chars}
    return text
"""
ASK = [{"role": "user", "content": "go"}]


def chat(server: Server, headers: dict[str, str] | None = None, **body: Any) -> Reply:
    asked = {"model": "scripted", "messages": ASK} | body
    return server.ask("POST", "/v1/chat/completions", asked, headers)


def form(words: list[str]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "f", "schema": {"enum": words}}}


def test_answers_of_models_are_counted_as_those_of_functions() -> None:
    with serving(PROGRAM, {"answer": "abc", "text": "abc"}) as server:
        assert chat(server, n=2).status == 200
        assert chat(server, model="sgl/greet").status == 200
        assert server.ask("POST", "/v1/completions", {"model": "scripted", "prompt": "a"}).status == 200
        assert chat(server, response_format=form([])).status == 400
        figures = server.collector
        assert figures.functions["openai.chat"].outcomes == {"ok": 1, "Arguments": 1}
        assert figures.holes["openai.chat.answer"].fillings == 2
        assert figures.holes["openai.chat.answer"].tokens == 6
        assert figures.functions["openai.text"].outcomes == {"ok": 1}
        assert figures.functions["greet"].outcomes == {"ok": 1}
        assert figures.running == 0


def test_new_schemas_are_limited_and_known_ones_are_not() -> None:
    keys = tuple(Key(name, digest_of(name), name) for name in ("a", "b"))
    with serving(PROGRAM, limits=ServeLimits(grace=0.0, schemas=2), access=Access(keys)) as server:
        a, b = ({"authorization": f"Bearer {name}"} for name in "ab")
        for words in (["x"], ["y"], ["x"], ["y"]):
            assert chat(server, a, response_format=form(words)).status == 200
        for stream in (False, True):
            refused = chat(server, a, response_format=form(["z"]), stream=stream)
            assert refused.status == 429 and 1 <= int(refused.headers["retry-after"]) <= 30
            assert refused.data["error"]["code"] == "schema_limit_exceeded"
        assert chat(server, a).status == 200
        assert chat(server, b, response_format=form(["z"])).status == 200
        assert chat(server, a, response_format=form(["z"])).status == 200  # it is known now


def test_schemas_come_back_with_time() -> None:
    now = [100.0]
    access, key = Access(clock=lambda: now[0]), Key("k", tenant="t")
    for _ in range(3):
        access.admit_schema(key, 3)
    with pytest.raises(Refusal) as refused:
        access.admit_schema(Key("other", tenant="t"), 3)
    assert refused.value.problem.retry_after == pytest.approx(20)
    now[0] += 20
    access.admit_schema(key, 3)


def test_penalties_and_biases_change_what_is_likely() -> None:
    with serving(PROGRAM) as server:  # the model ends at once where it may
        asked: dict[str, Any] = {"temperature": 0, "max_tokens": 12}
        alike = chat(server, logit_bias={"257": -100}, **asked).data["choices"][0]
        assert alike["message"]["content"] == "\n" * 12
        varied = chat(server, logit_bias={"257": -100}, frequency_penalty=2, **asked).data["choices"][0]
        assert len(set(varied["message"]["content"])) > 4
        wished = chat(server, logit_bias={"122": 50.0}, **asked).data["choices"][0]
        assert wished["message"]["content"] == "z" * 12 and wished["finish_reason"] == "length"
        held = chat(server, logit_bias={"122": 100}, response_format=form(["ab"]), **asked).data["choices"][0]
        assert held["message"]["content"] == '"ab"'


def served(tmp_path: Path, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "sglc", "serve", *arguments, "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stderr is not None
    line = process.stderr.readline()
    while " at http://" not in line:
        assert line, "the server has ended"
        line = process.stderr.readline()
    return process, re.findall(r"http://\S+", line)[0]


def asked(address: str, path: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urlopen(
        Request(f"{address}{path}", data, {"content-type": "application/json"}), timeout=60
    ) as reply:
        text = reply.read().decode()
    return json.loads(text) if text[:1] == "{" else text


def ended(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 0


@pytest.mark.slow
def test_models_that_a_program_names_are_served(tmp_path: Path) -> None:
    (tmp_path / "p.sgl").write_text(
        "pub fn f(x: str) -> str:\n    user: | ${x}\n    assistant: | ?{a: str max 9 chars}\n"
        "    assistant: | ?{b: str max 9 chars using judge}\n    return b\n"
    )
    (tmp_path / "one.json").write_text('{"answer": "one"}')
    (tmp_path / "two.json").write_text('{"answer": "two"}')
    process, address = served(
        tmp_path, "p.sgl", "--model", "scripted:one.json", "--model", "judge=scripted:two.json"
    )
    try:
        names = [each["id"] for each in asked(address, "/v1/models")["data"]]
        assert names == ["scripted:one.json", "scripted:two.json", "sgl/f"]
        for name, said in zip(names, ["one", "two"], strict=False):
            found = asked(address, "/v1/chat/completions", {"model": name, "messages": ASK})
            assert found["choices"][0]["message"]["content"] == said
        assert 'sglc_runs_total{function="openai.chat"' in asked(address, "/metrics")
    finally:
        ended(process)


@pytest.mark.slow
@pytest.mark.model
def test_prefixes_are_found_and_predictions_change_nothing(tmp_path: Path) -> None:
    process, address = served(tmp_path, "--model", "smollm2")
    try:
        messages = [
            {"role": "system", "content": "You are brief. " * 20},
            {"role": "user", "content": "The sea?"},
        ]
        body = {"model": "smollm2", "messages": messages, "temperature": 0, "max_tokens": 60}
        first = asked(address, "/v1/chat/completions", body)
        again = asked(address, "/v1/chat/completions", body)
        size = first["usage"]["prompt_tokens"]
        assert again["usage"]["prompt_tokens_details"]["cached_tokens"] >= size - 16
        text = first["choices"][0]["message"]["content"]
        for prediction in (text, "Something else entirely, as it happens."):
            given = {"prediction": {"type": "content", "content": prediction}}
            found = asked(address, "/v1/chat/completions", body | given)
            assert found["choices"][0]["message"]["content"] == text
            told = found["usage"]["completion_tokens_details"]
            assert told["accepted_prediction_tokens"] >= 0 <= told["rejected_prediction_tokens"]
        called = body | {
            "tools": [{"type": "function", "function": {"name": "f"}}],
            "tool_choice": "required",
        }
        call = asked(address, "/v1/chat/completions", called)["choices"][0]["message"]["tool_calls"][0]
        assert call["function"] == {"name": "f", "arguments": "{}"}
    finally:
        ended(process)
