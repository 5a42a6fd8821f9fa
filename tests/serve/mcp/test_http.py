"""Tools over streamable HTTP, judged by the official client: both ages of the protocol, keys, limits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from late import Late
from serving.server import Server, serving
from sglc.runtime.errors import ArgumentError
from sglc.runtime.serve.access import Access, Key, new_key
from sglc.runtime.serve.app import AppOptions
from sglc.runtime.serve.options import ServeLimits

if TYPE_CHECKING:
    from mcp.client import Client
    from mcp.types import CallToolResult

httpx2, clients, connections = Late("httpx2"), Late("mcp.client"), Late("mcp.client.streamable_http")
faults, types, face = Late("mcp.shared.exceptions"), Late("mcp.types"), Late("sglc.runtime.serve.mcp.face")
PROGRAM = """
record Ticket:
    ## What it is about.
    title: str
    urgency: int in 1..5

error Unclear(why: str)

## Doubles a number.
## It is exact.
pub fn double(x: int, times: int = 1) -> int:
    return x * 2 * times

pub fn quote(amount: decimal) -> decimal:
    return amount * 3

pub fn greet(name: str) -> str:
    return "hello " + name

pub fn file(text: str) -> Ticket raises Unclear:
    if text == "":
        raise Unclear("it is empty")
    return Ticket(title=text, urgency=3)

pub fn long(theme: str) -> str:
    assistant: | ?{text: str max 4000 chars}
    return text
"""
MODES = ["legacy", "2026-07-28"]


def talk(server: Server, speak: Callable[[Client], Awaitable[None]], mode: str, key: str = "") -> None:
    """Speak with a server as a client of the protocol in one of its two ages."""

    async def whole() -> None:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            url = f"http://127.0.0.1:{server.port}/mcp"
            transport = connections.streamable_http_client(url, http_client=http)
            async with clients.Client(transport, mode=mode) as client:
                await speak(client)

    asyncio.run(asyncio.wait_for(whole(), 60))


def text_of(result: CallToolResult) -> str:
    """The text of a result."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.parametrize("mode", MODES)
def test_functions_are_tools(mode: str) -> None:
    async def speak(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["double", "quote", "greet", "file", "long"]
        double = tools["double"]
        assert (double.title, double.description) == ("Doubles a number.", "Doubles a number.\nIt is exact.")
        assert double.input_schema["required"] == ["x"]
        assert double.input_schema["properties"]["times"]["default"] == 1
        assert tools["greet"].description == "greet(name: str) -> str"
        file = tools["file"].output_schema
        assert file is not None and file["properties"]["result"] == {"$ref": "#/$defs/Ticket"}
        for tool in tools.values():
            Draft202012Validator.check_schema(tool.input_schema)
            assert tool.annotations is not None and tool.annotations.read_only_hint

        result = await client.call_tool("double", {"x": 21})
        assert result.structured_content == {"result": 42} and text_of(result) == "42"
        assert result.meta is not None and result.meta["sglc/checks"] == []
        result = await client.call_tool("file", {"text": "No paper"})
        assert result.structured_content == {"result": {"title": "No paper", "urgency": 3}}
        assert text_of(await client.call_tool("greet", {"name": "Ada"})) == "hello Ada"

    with serving(PROGRAM, faces=[face.McpFace]) as server:
        talk(server, speak, mode)


@pytest.mark.parametrize("mode", MODES)
def test_what_has_no_value_is_an_error_that_the_model_sees(mode: str) -> None:
    async def speak(client: Client) -> None:
        result = await client.call_tool("file", {"text": ""})
        told = json.loads(text_of(result))
        assert result.is_error and told["name"] == "Unclear" and told["fields"] == {"why": "it is empty"}
        result = await client.call_tool("double", {"x": "two"})
        told = json.loads(text_of(result))
        assert result.is_error and told["status"] == 400 and "`x`" in told["detail"]
        result = await client.call_tool("double", {"x": 1}, meta={"sglc/options": {"sed": 1}})
        assert result.is_error and "`seed`" in json.loads(text_of(result))["hint"]
        result = await client.call_tool("double", {"x": 1}, meta={"sglc/options": {"keep": 1}})
        assert result.is_error and "`keep`" in json.loads(text_of(result))["detail"]
        with pytest.raises(faults.MCPError, match="did you mean `double`"):
            await client.session.call_tool("doubel", {"x": 1})

    with serving(PROGRAM, faces=[face.McpFace]) as server:
        talk(server, speak, mode)


@pytest.mark.parametrize("mode", MODES)
def test_progress_tells_of_values_as_they_grow(mode: str) -> None:
    news: list[tuple[float, str]] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        assert message is not None and total is None
        news.append((progress, message))

    async def speak(client: Client) -> None:
        result = await client.call_tool("long", {"theme": "x"}, progress_callback=heard)
        assert text_of(result) == "a" * 300

    with serving(PROGRAM, {"long.text": "a" * 300}, pace=0.001, faces=[face.McpFace]) as server:
        talk(server, speak, mode)
    assert len(news) > 1 and news == sorted(news)
    assert all(message.startswith("long.text: ") and len(message) < 220 for _, message in news)


@pytest.mark.parametrize("mode", MODES)
def test_a_call_that_is_cancelled_frees_its_run(mode: str) -> None:
    """In the older protocol by `notifications/cancelled`, in the newer one by closing the answer."""

    async def speak(client: Client) -> None:
        await client.list_tools()
        call = asyncio.ensure_future(client.call_tool("long", {"theme": "x"}))
        while running.model.passes < 5:
            await asyncio.sleep(0.005)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        while running.runs.going:
            await asyncio.sleep(0.005)
        assert running.model.passes < 3000
        assert text_of(await client.call_tool("double", {"x": 2})) == "4"

    with serving(PROGRAM, {"long.text": "a" * 3900}, pace=0.003, faces=[face.McpFace]) as server:
        running = server
        talk(server, speak, mode)


def test_calls_at_the_same_time_and_options() -> None:
    async def speak(client: Client) -> None:
        found = await asyncio.gather(*(client.call_tool("double", {"x": n}) for n in range(30)))
        assert [each.structured_content["result"] for each in found] == [2 * n for n in range(30)]
        result = await client.call_tool("long", {"theme": "x"}, meta={"sglc/options": {"timeout": 0.05}})
        assert result.is_error and json.loads(text_of(result))["name"] == "Timeout"

    with serving(PROGRAM, {"long.text": "a" * 3900}, pace=0.003, faces=[face.McpFace]) as server:
        for mode in MODES:
            talk(server, speak, mode)


def initialize() -> dict[str, Any]:
    """The first request of a handshake."""
    info = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


ACCEPT = {"accept": "application/json, text/event-stream"}


def test_keys_and_their_sessions() -> None:
    keys = {name: new_key() for name in ("a", "b")}
    access = Access(tuple(Key(name, digest, name) for name, (_, digest) in keys.items()))
    bearer = {name: {"authorization": f"Bearer {key}", **ACCEPT} for name, (key, _) in keys.items()}

    async def speak(client: Client) -> None:
        assert text_of(await client.call_tool("double", {"x": 2})) == "4"

    with serving(PROGRAM, access=access, faces=[face.McpFace]) as server:
        for mode in MODES:
            talk(server, speak, mode, keys["a"][0])
        assert server.ask("POST", "/mcp", initialize(), ACCEPT).status == 401
        begun = server.ask("POST", "/mcp", initialize(), bearer["a"])
        assert begun.status == 200
        session = {"mcp-session-id": begun.headers["mcp-session-id"]}
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        assert server.ask("POST", "/mcp", listing, {**bearer["b"], **session}).status == 404
        assert server.ask("POST", "/mcp", listing, {**bearer["a"], **session}).status == 200
        assert server.ask("DELETE", "/mcp", None, {**bearer["a"], **session}).status == 200
        assert server.ask("POST", "/mcp", listing, {**bearer["a"], **session}).status == 404


def test_requests_that_are_refused() -> None:
    with serving(PROGRAM, faces=[face.McpFace], limits=ServeLimits(body=1000, grace=0)) as server:
        own = {**ACCEPT, "origin": f"http://127.0.0.1:{server.port}"}
        assert server.ask("POST", "/mcp", initialize(), own).status == 200
        evil = server.ask("POST", "/mcp", initialize(), {**ACCEPT, "origin": "http://evil.example"})
        assert evil.status == 403
        assert server.ask("POST", "/mcp", initialize(), {**ACCEPT, "host": "evil.example"}).status == 421
        assert server.ask("GET", "/mcp", None, ACCEPT).status == 405
        large = {**initialize(), "padding": "x" * 2000}
        assert server.ask("POST", "/mcp", large, ACCEPT).status == 413
        for body in (b"{", b"[]", b"[" * 900, b'"x"', b"\xff"):
            reply = server.ask("POST", "/mcp", body, {**ACCEPT, "content-type": "application/json"})
            assert reply.status == 400 and "error" in reply.data
        assert server.ask("GET", "/healthz").status == 200


def test_headers_with_space_around_their_values() -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "double", "arguments": {"x": 4}, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": " double \t"}
    with serving(PROGRAM, faces=[face.McpFace]) as server:
        reply = server.ask("POST", "/mcp", body, {**ACCEPT, **headers})
    assert reply.status == 200 and reply.data["result"]["structuredContent"] == {"result": 8}


def test_pages_that_may_call_speak_the_protocol() -> None:
    page = {"origin": "https://app.example"}
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "mcp-session-id"}
    options = AppOptions(origins=("https://app.example",))
    with serving(PROGRAM, faces=[face.McpFace], options=options) as server:
        assert server.ask("OPTIONS", "/mcp", None, {**page, **asked}).status == 200
        begun = server.ask("POST", "/mcp", initialize(), {**ACCEPT, **page})
        assert begun.status == 200
        assert "mcp-session-id" in begun.headers["access-control-expose-headers"]


def test_a_server_without_functions_has_no_tools() -> None:
    with serving(PROGRAM) as server:
        from sglc.runtime.serve.faces import Served
        from sglc.runtime.serve.functions import FunctionTable

        with pytest.raises(ArgumentError) as found:
            face.McpFace(Served(FunctionTable([]), server.runs, Access()))
    assert found.value.code == "E0828"
