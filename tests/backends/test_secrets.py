"""Keys are in nothing that is shown, written or raised."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sglc.runtime.backends
from backends.traffic_server import GivenTransport, PlainBackend, Reply
from sglc.runtime.backends.exchange import BackendFault, Message, Query
from sglc.runtime.backends.recording.kept_answers import AnswerStore, KeepingAnswers, question_of
from sglc.runtime.backends.recording.secrets import Redactor
from sglc.runtime.backends.recording.traffic import TrafficFile, read_traffic
from sglc.runtime.backends.recording.transports import RecordingTransport, ReplayingTransport
from sglc.runtime.backends.repairing.repair import repaired
from sglc.runtime.backends.repairing.result import Observer
from sglc.runtime.backends.transport import HttpRequest
from sglc.runtime.errors import SglError
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.explanation import byte_vocabulary

KEY = "sk-canary-5d41402abc4b"
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
    legal = compile_constraint(regex="1[2-9]").matcher(byte_vocabulary())
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
