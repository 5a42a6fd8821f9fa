"""Keys are in nothing that is shown, written or raised."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import importlib
import inspect
import json
import logging
import pkgutil
import re
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

import sglc.runtime.backends
from backends.canary import KEY, LINE, everything, says
from backends.servers.raw_server import Seen, raw_server
from backends.servers.raw_server import reply as raw_reply
from backends.servers.traffic_server import GivenTransport, PlainBackend, Reply
from sglc.driver import compile_source
from sglc.runtime.backends.backend_settings import BackendSettings
from sglc.runtime.backends.exchange import Backend, BackendFault, Message, Query
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.backends.http_transport import HttpTransport
from sglc.runtime.backends.names import parse_name
from sglc.runtime.backends.policy import backoff
from sglc.runtime.backends.policy.accounts import Accounts
from sglc.runtime.backends.policy.clock import LoopClock
from sglc.runtime.backends.policy.guarded import guarded
from sglc.runtime.backends.policy.settings import Policy
from sglc.runtime.backends.recording.kept_answers import AnswerStore, KeepingAnswers, question_of
from sglc.runtime.backends.recording.traffic import TrafficFile, read_traffic
from sglc.runtime.backends.recording.transports import RecordingTransport, ReplayingTransport
from sglc.runtime.backends.registry import open_backend
from sglc.runtime.backends.repairing.repair import repaired
from sglc.runtime.backends.repairing.result import Observer
from sglc.runtime.backends.secrets import Environment, Redactor
from sglc.runtime.backends.transport import HttpRequest
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.explanation import byte_vocabulary
from sglc.runtime.session import Session
from sglc.source import Source

SECRET_NAMES = re.compile(r"^(keys?|api_key|secrets?|tokens?_secret|password|environment|authorization)$")


def dataclasses_of_backends() -> Iterator[type]:
    """Every dataclass of the room. Modules whose package is not installed are left out."""
    for found in pkgutil.walk_packages(sglc.runtime.backends.__path__, "sglc.runtime.backends."):
        try:
            module = importlib.import_module(found.name)
        except ModuleNotFoundError:
            continue
        for each in vars(module).values():
            if inspect.isclass(each) and dataclasses.is_dataclass(each) and each.__module__ == found.name:
                yield each


def test_fields_that_hold_secrets_are_not_shown() -> None:
    found = [
        (each, field)
        for each in dataclasses_of_backends()
        for field in dataclasses.fields(each)
        if SECRET_NAMES.match(field.name)
    ]
    assert (HttpRequest, "secrets") in [(each, field.name) for each, field in found]
    assert [f"{each.__name__}.{field.name}" for each, field in found if field.repr] == []


def test_a_run_with_everything_shows_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that repeats the key in an answer, in a header and in a fault: recorded, repaired, kept,
    replayed. Files, errors, observers and what objects show of themselves are looked through."""
    legal = compile_constraint(regex="1[2-9]").matcher(byte_vocabulary())
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "run.traffic"
    replies = iter(
        [
            Reply([f"1 {KEY}".encode()], headers={"x-request-id": KEY}),
            Reply([b"12"]),
            Reply(status=0, fault=BackendFault("access", "refused", endpoint="https://model.test")),
        ]
    )
    heard: list[object] = []
    observer = Observer(heard.append, on_correction=heard.append)
    query = Query((Message("user", "How many?"),))

    async def run() -> list[object]:
        transport = RecordingTransport(GivenTransport(lambda request: next(replies)), TrafficFile(path))
        backend = KeepingAnswers(PlainBackend(transport, KEY), AnswerStore())
        shown: list[object] = [transport, backend, question_of(backend, query), Redactor([KEY])]
        shown.append((await repaired(backend, query, legal, observer=Observer())).text)
        with pytest.raises(BackendFault) as caught:
            await repaired(backend, dataclasses.replace(query, seed=1), legal, observer=observer)
        shown += [caught.value, str(caught.value), caught.value.endpoint]
        await backend.close()
        return shown

    shown = asyncio.run(run())
    shown += [HttpRequest("https://model.test", secrets={"authorization": KEY}), *read_traffic(path)]
    with pytest.raises(SglError) as caught:
        asyncio.run(_other(ReplayingTransport(read_traffic(path))))
    shown += [caught.value, heard]
    assert KEY not in "\n".join(map(repr, shown)) + str(caught.value)
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file
    assert "[secret]" in path.read_text()


async def _other(transport: ReplayingTransport) -> None:
    """A request that was not recorded, with the key in all its parts."""
    secrets = {"authorization": f"Bearer {KEY}"}
    async with transport.send(HttpRequest(f"https://a.test/?x={KEY}", KEY.encode(), secrets=secrets)):
        pass


# -- real connections, and everything that may be shown of what goes wrong ---------------------------------

STREAM = "content-type: text/event-stream\r\n"


def echoes(key: str) -> dict[str, bytes]:
    """Replies of servers that say the key back, in every place that is read."""
    coded, words = base64.b64encode(key.encode()).decode(), json.dumps({"error": {"message": f"no: {key}"}})
    chunk = {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": key}]}
    other = {"type": "message_delta", "delta": {"stop_reason": key}}
    return {
        "no JSON": raw_reply(f"data: {key}\n\n".encode(), headers=STREAM),
        "no stream": raw_reply(b"x", headers=f"content-type: {key}\r\n"),
        "a reason": raw_reply(
            f"data: {json.dumps(chunk)}\n\ndata: {json.dumps(other)}\n\ndata: [DONE]\n\n".encode(),
            headers=STREAM,
        ),
        "a refusal": raw_reply(words.encode(), status="401 No"),
        "base64": raw_reply(f"Basic {coded}".encode(), status="403 No"),
        "a header": raw_reply(b"{}", status=f"500 {key}", headers=f"x-id: {key}\r\nretry-after: 0\r\n"),
        "a redirect": raw_reply(
            b"", status="307 No", headers=f"location: https://u:{key}@h.test/?k={key}\r\n"
        ),
        "an event": raw_reply(f"event: error\ndata: {words}\n\n".encode(), headers=STREAM),
        "half a reply": raw_reply(key.encode(), headers=STREAM)[:-5],
        "no HTTP": f"{key} {key}\r\n\r\n".encode(),
        "nothing": b"",
    }


@pytest.mark.parametrize("kind", ["openai", "anthropic", "vllm"])
def test_servers_that_say_the_key_back(
    kind: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backoff, "FIRST", 0.01)
    program = compile_source(Source("p.sgl", LINE)).program
    assert program is not None
    replies = echoes(KEY)

    async def main() -> list[str]:
        found = []
        for name, data in replies.items():

            async def answer(seen: Seen, writer: asyncio.StreamWriter, data: bytes = data) -> None:
                assert any(KEY in value for value in seen.headers.values())
                writer.write(data)
                await writer.drain()
                writer.close()

            async with raw_server(answer) as server:
                backend = opened(kind, server.url)
                accounts = Accounts()
                chain = guarded([backend], Policy(retries=1), LoopClock(), accounts)
                events: list[object] = []
                session = Session(program, RemoteModel(chain, accounts))
                try:
                    await session.run("f", {}, trace=events.append)
                    raise AssertionError(name)
                except SglError as error:
                    shown = everything(error)
                found.append("\n".join([name, shown, repr(events), repr(backend), repr(accounts.plain())]))
                await chain.close()
        return found

    with caplog.at_level(logging.DEBUG):
        shown = asyncio.run(main())
    kept = [each.splitlines()[0] for each in shown if says(each)]
    assert not kept
    assert not says("\n".join(each.getMessage() for each in caplog.records if each.name.startswith("sglc")))


def opened(kind: str, url: str) -> Backend:
    names = {
        "openai": "openai:gpt-5",
        "anthropic": "anthropic:claude-4",
        "vllm": f"vllm:{url}#served",
    }
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "VLLM_API_KEY"), KEY)
    bases = {"OPENAI_BASE_URL": f"{url}/v1", "ANTHROPIC_BASE_URL": url}
    transport = HttpTransport(verify=False)  # nothing is encrypted here: no certificates are read
    return open_backend(names[kind], BackendSettings(), {**keys, **bases}, transport)


@pytest.mark.parametrize(
    ("name", "environment"),
    [
        ("openai:gpt-5", {"OPENAI_API_KEY": f"{KEY} {KEY}"}),
        ("openai:gpt-5", {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": KEY}),
        ("openai:gpt-5", {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"https://u:{KEY}@h.test/v1"}),
        ("openai:gpt-5", {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"https://h.test/v1?key={KEY}"}),
        ("openai:gpt-5", {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"https://h.test/{KEY}"}),
        ("openai:gpt-5", {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://h.example.com/v1"}),
        ("openai:gpt-5", {"OTHER_KEY": KEY}),
        ("vllm:localhost", {"VLLM_API_KEY": KEY}),
    ],
)
def test_what_is_wrong_with_a_key_does_not_show_it(name: str, environment: dict[str, str]) -> None:
    with pytest.raises(ArgumentError) as caught:
        open_backend(name, BackendSettings(), environment)
    error = caught.value
    ours = traceback.walk_tb(error.__traceback__)
    shown = [repr(frame.f_locals) for frame, _ in ours if "/runtime/" in frame.f_code.co_filename]
    assert shown and not says("\n".join([*shown, str(error), repr(vars(error))]))


@pytest.mark.parametrize(
    "name",
    [
        f"openai:{KEY}",
        f"litellm:groq/{KEY}",
        f"vllm:http://h.test/{KEY}",
        f"vllm:http://h.test#{KEY}",
        f"chat:http://h.test/v1;{KEY}#m",
        f"vllm:http://u:{KEY}@h.test",
        f"vllm:http://h.test/?key={KEY}",
        f"repair:llm --key {KEY}",
        f"repair:curl -H 'authorization: Bearer {KEY}'",
        f"repair:llm --key={KEY}",
    ],
)
def test_a_key_in_a_name_is_refused_and_not_shown(name: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        parse_name(name)
    assert caught.value.code == "E0733" and not says(str(caught.value) + repr(vars(caught.value)))


def test_names_that_are_no_keys() -> None:
    for name in (
        "openai:gpt-5",
        "vllm:http://h.test/sk-1/v1",
        "repair:llm --keys",
        "litellm:hf/risk-manager",
    ):
        parse_name(name)


def test_an_environment_shows_no_values() -> None:
    environment = Environment({"A_KEY": KEY})
    assert environment["A_KEY"] == KEY and list(environment) == ["A_KEY"] and KEY not in repr(environment)
