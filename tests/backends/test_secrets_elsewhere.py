"""Keys are in nothing that litellm's exceptions bring along, and on no page of a run."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backends.canary import KEY, LINE, everything, says
from backends.in_process import InProcess, StubReply
from backends.stub_servers import StubAnthropic, StubOpenAI, StubVllm
from command_line import Cli
from command_line import cli as cli
from sglc.driver import compile_source
from sglc.runtime.backends.backend_settings import BackendSettings
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.backends.policy.accounts import Accounts
from sglc.runtime.backends.policy.clock import LoopClock
from sglc.runtime.backends.policy.guarded import guarded
from sglc.runtime.backends.policy.settings import Policy
from sglc.runtime.backends.protocols.core.faults import LONGEST_MESSAGE
from sglc.runtime.backends.recording import wiring
from sglc.runtime.backends.registry import open_backend
from sglc.runtime.errors import SglError
from sglc.runtime.session import Session
from sglc.source import Source

# -- litellm ----------------------------------------------------------------------------------------------


class APIError(Exception):
    """What exceptions of litellm have: a status, the reply with its headers and its request, arguments."""

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.message, self.llm_provider, self.model = message, "groq", "x"
        self.status_code = status
        headers = {"authorization": f"Bearer {KEY}", "x-request-id": KEY, "retry-after": KEY}
        request = SimpleNamespace(url=f"https://h.test/v1?key={KEY}", headers=headers)
        self.response = SimpleNamespace(headers=headers, request=request, text=KEY)
        self.litellm_debug_info = f"api_key={KEY}"
        self.add_note(f"called with {KEY}")


class Timeout(APIError):
    """Known by its name where it has no status."""


MESSAGES = {
    "the key": f"bad key {KEY}",
    "headers": f"{{'authorization': 'Bearer {KEY}'}}",
    "an address": f"cannot reach https://u:{KEY}@h.test/v1?key={KEY}",
    "at the cut of a message": "x" * (LONGEST_MESSAGE - 21) + KEY,
    "at the cut behind a status": "x" * (LONGEST_MESSAGE - 21 - len("status 429: ")) + KEY,
}


def a_package(problem: Exception, *, late: bool) -> Any:
    """The package with a function that fails, at once or in the middle of an answer."""

    async def acompletion(**arguments: Any) -> AsyncIterator[Any]:
        async def chunks() -> AsyncIterator[Any]:
            yield SimpleNamespace(model_dump=lambda: {"choices": [{"index": 0, "delta": {"content": "Hi"}}]})
            raise problem

        if late:
            return chunks()
        try:
            raise KeyError(f"authorization: {arguments.get('api_key', KEY)}")
        except KeyError as cause:
            raise problem from cause

    return SimpleNamespace(acompletion=acompletion, get_model_info=dict)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("given", [True, False], ids=["given", "found by the package"])
@pytest.mark.parametrize("status", [None, 401, 429, 500])
def test_exceptions_of_litellm(
    status: int | None, given: bool, late: bool, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """The key is that of `sgl.toml`'s variable, or one that the package finds in the environment itself."""
    program = compile_source(Source("p.sgl", LINE)).program
    assert program is not None
    kind = APIError if status else Timeout
    settings = BackendSettings(key_variable="GROQ_API_KEY") if given else BackendSettings()

    async def main(message: str) -> str:
        package = a_package(kind(message, status), late=late)
        monkeypatch.setitem(sys.modules, "litellm", package)
        backend = open_backend("litellm:groq/x", settings, {"GROQ_API_KEY": KEY})
        accounts, events = Accounts(), list[object]()
        chain = guarded([backend], Policy(retries=0), LoopClock(), accounts)
        with pytest.raises(SglError) as caught:
            await Session(program, RemoteModel(chain, accounts)).run("f", {}, trace=events.append)
        assert caught.value.name == "Backend"
        shown = [everything(caught.value), str(caught.value.fields)]
        return "\n".join([*shown, repr(events), repr(backend), repr(accounts.plain())])

    with caplog.at_level(logging.DEBUG):
        shown = {name: asyncio.run(main(message)) for name, message in MESSAGES.items()}
    assert [name for name, text in shown.items() if says(text)] == []
    assert not says("\n".join(each.getMessage() for each in caplog.records if each.name.startswith("sglc")))


# -- pages of runs ----------------------------------------------------------------------------------------

MODELS = {
    "openai:gpt-x": StubOpenAI,
    "anthropic:claude-x": StubAnthropic,
    "vllm:http://localhost:8000": StubVllm,
}
CAUGHT = """pub fn f() -> str:
    user: | q
    try:
        assistant: | ?{x: line max 20 chars}
        return x
    except Backend as error:
        return error.message
"""


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("status", [401, 503])
def test_a_page_of_a_run_shows_no_key(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, status: int
) -> None:
    """A server that says the key back in a fault, which the program returns: trace, output, recording, and
    the run as `sglc show` draws it, on the terminal with every token and as a page."""
    for name in ("OPENAI", "ANTHROPIC", "VLLM"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
    body = f'{{"error": {{"message": "no: {KEY}", "type": "{KEY}"}}}}'.encode()
    headers = {"content-type": "application/json", "x-request-id": KEY, "retry-after": "0"}
    stub = MODELS[model]()
    asked: list[int] = []

    def app(*call: Any) -> StubReply:
        asked.append(1)
        return StubReply(body, status, headers) if call[1] is not None else stub._app(*call)

    transport = InProcess(app)
    monkeypatch.setattr(wiring, "network", lambda: transport)
    (tmp_path / "p.sgl").write_text(CAUGHT)
    (tmp_path / "sgl.toml").write_text(f'[models.main]\nuse = "{model}"\nretries = 1\n')
    trace, page = tmp_path / "run.jsonl", tmp_path / "run.html"
    run = ("run", tmp_path / "p.sgl", "f", "--trace", trace, "--trace-top", "3", "--verbose", "--json")
    outputs = [cli(*run, "--record", tmp_path / "run.traffic")]
    outputs += [cli("show", trace, "-v"), cli("show", trace, "--html", page)]
    assert [code for code, _, _ in outputs] == [0, 0, 0], outputs
    assert asked and "[secret]" in outputs[0][1] + (tmp_path / "run.traffic").read_text()
    assert page.stat().st_size > 1000
    for _, out, err in outputs:
        assert not says(out + err)
    assert [file for file in tmp_path.rglob("*") if file.is_file() and says(file.read_text())] == []
