"""`sglc serve FILE --mcp stdio` as a process: the official client, nothing else on stdout, its end."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from command_line import Cli, cli  # noqa: F401
from command_line_files import hear_interrupts
from late import Late

if TYPE_CHECKING:
    from mcp.client import Client

mcp, clients, types = Late("mcp"), Late("mcp.client"), Late("mcp.types")
PROGRAM = """
## Doubles a number.
pub fn double(x: int) -> int:
    return x * 2

pub fn mood(text: str) -> "good" | "bad":
    user: | ${text}
    assistant: | ?{mood: "good" | "bad"}
    return mood

pub fn long(theme: str) -> str:
    assistant: | ?{text: str max 4000 chars}
    return text
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """The command of a server with a scripted model."""
    program, script = tmp_path / "program.sgl", tmp_path / "script.json"
    program.write_text(PROGRAM)
    script.write_text(json.dumps({"mood.mood": "good", "long.text": "a" * 1000}))
    model = f"scripted:{script}"
    return [sys.executable, "-m", "sglc", "serve", str(program), "--model", model, "--mcp", "stdio"]


def talk(command: list[str], speak: Callable[[Client], Awaitable[None]], mode: str) -> None:
    async def whole() -> None:
        server = mcp.StdioServerParameters(command=command[0], args=command[1:])
        async with clients.Client(server, mode=mode) as client:
            await speak(client)

    asyncio.run(asyncio.wait_for(whole(), 60))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_client_at_stdin(command: list[str], mode: str) -> None:
    news: list[str] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        news.append(message or "")

    async def speak(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["double", "mood", "long"]
        result = await client.call_tool("mood", {"text": "a fine day"})
        assert result.structured_content == {"result": "good"}
        result = await client.call_tool("long", {"theme": "x"}, progress_callback=heard)
        assert isinstance(result.content[0], types.TextContent) and result.content[0].text == "a" * 1000
        assert news and news[0].startswith("long.text")
        result = await client.call_tool("double", {"x": "two"})
        assert result.is_error

    talk(command, speak, mode)


@pytest.mark.slow
def test_stdout_has_messages_alone_and_the_end_of_stdin_ends_it(command: list[str]) -> None:
    info = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
    sent = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    lines = "".join(json.dumps(each) + "\n" for each in sent)
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    try:
        process.stdin.write(lines + "no message\n")
        process.stdin.flush()
        found = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert [each["id"] for each in found] == [1, 2] and all("result" in each for each in found)
        process.stdin.close()
        assert process.wait(30) == 0
        rest, told = process.stdout.read(), process.stderr.read()
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
        assert "serving 3 tools on scripted:" in told
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_ctrl_c_ends_it_while_stdin_is_open(command: list[str]) -> None:
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    try:
        assert "serving 3 tools" in process.stderr.readline()
        process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.wait()


def test_what_does_not_go_together(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    program = tmp_path / "program.sgl"
    program.write_text(PROGRAM)
    code, _, told = cli("serve", program, "--mcp", "stdio", "--port", "9000")
    assert code == 2 and "--port is of HTTP" in told
    code, _, told = cli("serve", "--mcp", program)
    assert code == 2 and "give files before it" in told


def test_a_missing_package_is_named(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = tmp_path / "program.sgl"
    program.write_text(PROGRAM)
    monkeypatch.setitem(sys.modules, "sglc.runtime.serve.mcp.face", None)
    for given in (["--port", "0", "--mcp"], ["--mcp", "stdio"]):
        code, _, told = cli("serve", program, *given)
        assert code == 1 and "E0812" in told and "pip install 'sglc[mcp]'" in told
