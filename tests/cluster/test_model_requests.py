"""OpenAI's protocol on a server with workers: for a client it is the same as on one without."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from clustering.served_workers import Served, serving, until
from command_line_files import write
from sglc.runtime.serve.access import digest_of

pytest.importorskip("starlette")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks into /proc"),
]
COUNTED = ("prompt_tokens", "completion_tokens", "total_tokens")
Pair = tuple[Served, Served]
CHAT, TEXT = "/v1/chat/completions", "/v1/completions"
GO = [{"role": "user", "content": "Go, Zoë."}]
SCHEMA = {"type": "object", "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "boolean"}}}
FORM = {"type": "json_schema", "json_schema": {"name": "s", "schema": SCHEMA}}
TOOL = {"type": "function", "function": {"name": "add", "parameters": SCHEMA}}
SAY = {
    "type": "custom",
    "custom": {
        "name": "day",
        "format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": r"\d\d/\d\d"}},
    },
}
BEGUN = [*GO, {"role": "assistant", "content": "Well. "}]
ANSWERED: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": (CHAT, {}),
    "several": (CHAT, {"n": 3}),
    "greedy": (CHAT, {"temperature": 0}),
    "schema": (CHAT, {"response_format": FORM, "max_tokens": 60}),
    "object": (CHAT, {"response_format": {"type": "json_object"}, "max_tokens": 60}),
    "regex": (CHAT, {"structured_outputs": {"regex": r"[a-c]{2,4}-\d"}, "n": 2}),
    "choice": (CHAT, {"structured_outputs": {"choice": ["red", "light blue"]}}),
    "grammar": (CHAT, {"structured_outputs": {"grammar": 'root ::= "x" | "(" root ")"'}, "max_tokens": 60}),
    "stop": (CHAT, {"stop": ["a", "b", "c", "d"]}),
    "logprobs": (CHAT, {"logprobs": True, "top_logprobs": 2}),
    "auto": (CHAT, {"tools": [TOOL]}),
    "required": (CHAT, {"tools": [TOOL], "tool_choice": "required", "max_tokens": 400}),
    "custom": (CHAT, {"tools": [SAY], "tool_choice": "required", "max_tokens": 200}),
    "prediction": (CHAT, {"prediction": {"type": "content", "content": "Hello"}}),
    "bias": (CHAT, {"logit_bias": {"65": 100}}),
    "continued": (
        CHAT,
        {"messages": BEGUN, "continue_final_message": True, "add_generation_prompt": False},
    ),
    "text": (TEXT, {"prompt": "Go"}),
    "prompts": (TEXT, {"prompt": ["Go", "Zoë"], "n": 2}),
    "echo": (TEXT, {"prompt": "Go", "echo": True}),
    "text logprobs": (TEXT, {"prompt": "Go", "logprobs": 2}),
}
REFUSED: dict[str, tuple[str, dict[str, Any], int]] = {
    "model": (CHAT, {"model": "gpt-5"}, 404),
    "schema": (CHAT, {"response_format": {**FORM, "json_schema": {"schema": {"type": "robot"}}}}, 400),
    "regex": (CHAT, {"structured_outputs": {"regex": "("}}, 400),
    "empty": (CHAT, {"structured_outputs": {"json": {"type": "integer", "minimum": 2, "maximum": 1}}}, 400),
    "context": (CHAT, {"messages": [{"role": "user", "content": "x" * 1_200_000}]}, 400),
    "parameter": (CHAT, {"reasoning_effort": "low"}, 400),
    "limit": (CHAT, {"response_format": FORM, "max_tokens": 1}, 400),
    "bias": (CHAT, {"logit_bias": {"99999": 1}}, 400),
    "tokens": (TEXT, {"prompt": [99999]}, 400),
    "size": (CHAT, {"messages": [{"role": "user", "content": "x" * (4 << 20)}]}, 413),
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The same model with workers and without; it writes what a seed says."""
    script = write(tmp_path_factory.mktemp("models") / "s.json", "{}")
    model = ("--model", f"scripted:{script}")
    with serving(None, *model) as divided, serving(None, *model, workers=0) as whole:
        yield divided, whole


def asked(server: Served, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
    first = {"messages": GO} if path == CHAT else {}
    return server.ask("POST", path, {"model": "scripted:s.json", "seed": 7, "max_tokens": 40} | first | body)


def plain(data: Any) -> Any:
    """An answer without what differs from request to request."""
    assert data.pop("id") and data.pop("created")
    for choice in data["choices"]:
        for call in choice.get("message", {}).get("tool_calls", []):
            assert call.pop("id").startswith("call_")
    return data


def told(found: bytes, model: str = "scripted:s.json") -> tuple[list[Any], Any]:
    """What a stream tells: for each choice its first chunk without text, all text and calls, and its end, and
    then the usage."""
    rows = [row.removeprefix("data: ") for row in found.decode().split("\n\n") if row.startswith("data: ")]
    assert rows[-1] == "[DONE]"
    chunks = [plain(json.loads(row)) for row in rows[:-1]]
    choices: dict[int, dict[str, Any]] = {}
    for chunk in chunks[:-1]:
        assert chunk["model"] == model
        for each in chunk["choices"]:
            joined = choices.setdefault(each["index"], {"text": "", "calls": {}, "logprobs": [], "kinds": []})
            assert "end" not in joined
            delta = each.get("delta", {"content": each.get("text")})
            joined["text"] += delta.get("content") or ""
            kind = sorted(name for name in delta if name != "tool_calls" or delta[name])
            if not joined["kinds"] or joined["kinds"][-1] != kind:
                joined["kinds"].append(kind)
            for call in delta.get("tool_calls", []):
                inner = call.get("function") or call.get("custom")
                known = joined["calls"].setdefault(call["index"], ["", ""])
                known[0] += call.get("type", "") + inner.get("name", "")
                known[1] += inner.get("arguments", "") + inner.get("input", "")
            if each.get("logprobs"):
                joined["logprobs"].append(each["logprobs"])
            if each["finish_reason"]:
                joined["end"] = (each["finish_reason"], each.get("sglc"))
    for each in choices.values():
        each["logprobs"] = _joined(each["logprobs"])
    return [choices[at] for at in sorted(choices)], chunks[-1]


def _joined(found: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The lists of log-probabilities of several chunks as those of one."""
    names = sorted({name for each in found for name in each if each[name] is not None})
    return {name: [one for each in found for one in each[name] or []] for name in names}


@pytest.mark.parametrize("name", ANSWERED)
def test_answers_are_the_same(pair: Pair, name: str) -> None:
    path, body = ANSWERED[name]
    divided, whole = (asked(each, path, body) for each in pair)
    assert divided[0] == whole[0] == 200, divided[1]
    assert plain(json.loads(divided[1])) == plain(json.loads(whole[1]))


@pytest.mark.parametrize("name", ANSWERED)
def test_streams_are_the_same(pair: Pair, name: str) -> None:
    path, body = ANSWERED[name]
    body = {**body, "stream": True, "stream_options": {"include_usage": True}}
    divided, whole = (asked(each, path, body) for each in pair)
    assert divided[0] == whole[0] == 200, divided[1]
    assert told(divided[1]) == told(whole[1])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_failures_are_the_same(pair: Pair, name: str, stream: bool) -> None:
    path, body, status = REFUSED[name]
    divided, whole = (asked(each, path, {**body, "stream": stream}) for each in pair)
    assert divided == whole
    assert divided[0] == status


def test_the_same_models_are_listed(pair: Pair) -> None:
    names = [[each["id"] for each in json.loads(one.ask("GET", "/v1/models")[1])["data"]] for one in pair]
    assert names == [["scripted:s.json"], ["scripted:s.json"]]


def limited(tmp_path: Path, workers: int, *options: str) -> Any:
    script = write(tmp_path / "s.json", "{}")
    return serving(None, "--model", f"scripted:{script}", *options, workers=workers)


@contextmanager
def streaming(server: Served, letters: int = 9000) -> Iterator[HTTPResponse]:
    """A stream of some letters, which is left when the block ends."""
    form = {"structured_outputs": {"regex": f"[a-z]{{{letters}}}"}, "max_tokens": 10_000}
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    body = {"model": "scripted:s.json", "messages": GO, "stream": True, "seed": 7, **form}
    connection.request("POST", CHAT, json.dumps(body), {"content-type": "application/json"})
    with closing(connection), connection.getresponse() as reply:
        yield reply


def code_of(found: tuple[int, bytes]) -> tuple[int, str]:
    return found[0], json.loads(found[1])["error"]["code"] if found[0] != 200 else ""


@pytest.mark.parametrize("workers", [0, 2])
def test_new_schemas_and_time_and_tokens_are_limited(tmp_path: Path, workers: int) -> None:
    with limited(tmp_path, workers, "--schemas", "3", "--timeout", "0.5") as server:
        found = [
            code_of(asked(server, CHAT, {"structured_outputs": {"regex": regex}}))
            for regex in ("a", "a", "(", "(", "b")
        ]
        wrong, late = (400, "invalid_value"), (429, "schema_limit_exceeded")
        assert found == [(200, ""), (200, ""), wrong, wrong, late]
        slow = {"n": 8, "max_tokens": 20_000, "logit_bias": {"256": -100, "257": -100}}
        assert code_of(asked(server, CHAT, slow))[0] == 504


@pytest.mark.parametrize("workers", [0, 2])
def test_tokens_of_a_key_are_counted(tmp_path: Path, workers: int) -> None:
    keys = write(
        tmp_path / "keys.toml", f'[keys.a]\ndigest = "{digest_of("sgl-secret")}"\ntokens_a_day = 3\n'
    )
    with limited(tmp_path, workers, "--keys", str(keys)) as server:
        own = {"authorization": "Bearer sgl-secret"}
        body = {"model": "scripted:s.json", "messages": GO, "structured_outputs": {"choice": ["abcd"]}}
        for stream in (False, True):
            assert server.ask("POST", CHAT, body, **own)[0] == (429 if stream else 200)


def test_a_stream_whose_worker_is_killed_ends_with_an_error(pair: Pair) -> None:
    server = pair[0]
    before = server.workers
    with streaming(server) as reply:
        first = reply.read(300)
        for each in before:
            os.kill(each, signal.SIGKILL)
        rest = (first + reply.read()).decode()
    assert rest.count('"role"') == 1 and '"code": "E0707"' in rest and "[DONE]" not in rest
    until(lambda: len(server.workers) == 2 and not set(before) & set(server.workers))
    assert asked(server, CHAT, {})[0] == 200


@pytest.mark.parametrize("workers", [0, 2])
def test_a_full_queue_refuses_and_a_client_that_leaves_makes_room(tmp_path: Path, workers: int) -> None:
    with limited(tmp_path, workers, "--running", "1", "--waiting", "0") as server:
        with streaming(server) as reply:
            assert reply.status == 200 and reply.read(100)
            assert code_of(asked(server, CHAT, {})) == (429, "queue_full")
        until(lambda: asked(server, CHAT, {})[0] == 200)


def test_a_stream_ends_whole_where_all_processes_are_told_to_end(tmp_path: Path) -> None:
    with limited(tmp_path, 2) as server, streaming(server, 1500) as reply:
        first = reply.read(300)
        for each in (server.process.pid, *server.workers):
            os.kill(each, signal.SIGTERM)
        choices, _ = told(first + reply.read())
        assert re.fullmatch("[a-z]{1500}", choices[0]["text"])


@pytest.mark.model
def test_a_real_model_answers_the_same() -> None:
    card = {"type": "object", "properties": {"colour": {"type": "string", "maxLength": 12}}}
    form = {"type": "json_schema", "json_schema": {"name": "c", "schema": {**card, "required": ["colour"]}}}
    body = {"model": "smollm2", "messages": GO, "temperature": 0, "response_format": form, "max_tokens": 30}
    found = []
    for workers in (2, 0):
        with serving(None, "--model", "smollm2", workers=workers) as server:
            whole = plain(json.loads(server.ask("POST", CHAT, body)[1]))
            streamed = {**body, "stream": True, "stream_options": {"include_usage": True}}
            choices, last = told(server.ask("POST", CHAT, streamed)[1], "smollm2")
            text = whole["choices"][0]["message"]["content"]
            assert choices[0]["text"] == text and isinstance(json.loads(text), dict)
            counts = [{name: each["usage"][name] for name in COUNTED} for each in (whole, last)]
            assert counts[0] == counts[1]
            found.append((text, counts[0]))
    assert found[0] == found[1]
