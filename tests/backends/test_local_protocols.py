"""Protocols without a service of ours: commands, and the package litellm."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from sglc.runtime.backends.backend_settings import BackendSettings
from sglc.runtime.backends.exchange import Backend, BackendFault, Ending, Message, Query
from sglc.runtime.backends.registry import open_backend
from sglc.runtime.errors import ArgumentError

ASK = Query((Message("system", "Be brief."), Message("user", "Greet Zoë.")))


def answered(backend: Backend, query: Query) -> tuple[str, Ending]:
    async def job() -> list[Any]:
        return [event async for event in backend.stream(query)]

    *pieces, end = asyncio.run(job())
    return "".join(piece.text for piece in pieces), end


# -- commands ---------------------------------------------------------------------------------------------


def test_a_command_gets_the_conversation_and_writes_text() -> None:
    backend = open_backend("repair:cat")
    assert answered(backend, replace(ASK, begun="Hel")) == ("Be brief.\n\nGreet Zoë.\n\nHel", Ending("stop"))
    more = replace(ASK, messages=(*ASK.messages, Message("assistant", "Hi."), Message("user", "Again.")))
    told = "System: Be brief.\n\nUser: Greet Zoë.\n\nAssistant: Hi.\n\nUser: Again.\n\nAssistant: "
    assert answered(backend, more)[0] == told
    assert answered(backend, Query((Message("", "Once "),), "upon"))[0] == "Once upon"
    assert answered(backend, replace(ASK, stops=("Greet",)))[0] == "Be brief.\n\n"


def test_commands_that_fail() -> None:
    with pytest.raises(BackendFault, match="ended with exit code") as caught:
        answered(open_backend("repair:false"), ASK)
    assert (caught.value.cause, caught.value.again) == ("overloaded", True)
    with pytest.raises(BackendFault, match="cannot be run: No such file") as caught:
        answered(open_backend("repair:no-such-command-anywhere"), ASK)
    assert (caught.value.cause, caught.value.again) == ("connection", False)


def test_bytes_of_a_command_that_are_no_text() -> None:
    assert answered(open_backend("repair:printf 'a\\377b'"), ASK)[0] == "a�b"


# -- litellm ----------------------------------------------------------------------------------------------


class _Chunk:
    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self._fields


def a_package(seen: list[dict[str, Any]], problem: Exception | None = None) -> Any:
    """What is used of the package litellm, by its documentation."""

    async def acompletion(**arguments: Any) -> AsyncIterator[_Chunk]:
        seen.append(arguments)
        if problem is not None:
            raise problem

        async def chunks() -> AsyncIterator[_Chunk]:
            for text in ("Hi", "!"):
                yield _Chunk(choices=[{"index": 0, "delta": {"content": text}, "finish_reason": None}])
            yield _Chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])

        return chunks()

    def get_model_info(model: str) -> dict[str, Any]:
        return {"max_input_tokens": 1_000}

    return SimpleNamespace(acompletion=acompletion, get_model_info=get_model_info)


def test_litellm_is_asked_by_its_own_function(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []
    monkeypatch.setitem(sys.modules, "litellm", a_package(seen))
    settings = BackendSettings(key_variable="K")
    backend = open_backend("litellm:groq/x", settings, {"K": "sk-secret-word"})
    text, end = answered(backend, replace(ASK, max_tokens=9, seed=1))
    assert (text, end.reason) == ("Hi!", "stop")
    assert seen[0]["model"] == "groq/x" and seen[0]["api_key"] == "sk-secret-word"
    assert seen[0]["num_retries"] == seen[0]["max_retries"] == 0
    asyncio.run(backend.prepare())  # type: ignore[attr-defined]
    assert backend.capabilities.context_length == 1_000


def test_faults_of_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    class RateLimitError(Exception):
        status_code = 429
        response = SimpleNamespace(headers={"Retry-After": "3"})

    monkeypatch.setitem(sys.modules, "litellm", a_package([], RateLimitError("slow down, sk-secret-word")))
    backend = open_backend("litellm:groq/x", BackendSettings(key_variable="K"), {"K": "sk-secret-word"})
    with pytest.raises(BackendFault, match=r"status 429: slow down, \[secret\]") as caught:
        answered(backend, ASK)
    assert (caught.value.cause, caught.value.again, caught.value.retry_after) == ("rate", True, 3.0)


def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(ArgumentError, match="litellm is not installed") as caught:
        open_backend("litellm:groq/x")
    assert (caught.value.code, caught.value.hint) == ("E0734", "pip install 'sglc[litellm]'")
