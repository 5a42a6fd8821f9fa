"""OpenAI's and Anthropic's own clients judge what we send, and what our stubs answer.

`pip install openai anthropic`; without them these tests are skipped.
"""

from __future__ import annotations

import asyncio
import functools
from dataclasses import replace
from typing import Any

import pytest

from backends.in_process import as_json
from backends.official_clients import AtStub, Read, anthropic, check_type, openai, pydantic
from backends.stub_model import StubModel
from backends.stub_servers import StubAnthropic, StubOpenAI, StubSGLang, StubVllm
from sglc.runtime.backends.backend_settings import BackendSettings
from sglc.runtime.backends.exchange import BackendFault, Ending, Message, Piece, Query
from sglc.runtime.backends.registry import open_backend
from sglc.runtime.engine.sampling.options import Sampling
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.core.enforcement import Enforcement

KINDS: dict[str, tuple[str, Any]] = {
    "openai": ("openai:gpt-5-chat", StubOpenAI),
    "openai that reasons": ("openai:gpt-5", StubOpenAI),
    "chat": ("chat:http://stub#served", StubOpenAI),
    "vllm": ("vllm:http://stub#served", StubVllm),
    "sglang": ("sglang:http://stub#served", StubSGLang),
    "anthropic": ("anthropic:claude-opus-4-7", StubAnthropic),
}
OTHER_FIELDS = {
    "vllm": {
        "top_k",
        "min_p",
        "repetition_penalty",
        "structured_outputs",
        "add_generation_prompt",
        "continue_final_message",
    },
    "sglang": {"top_k", "min_p", "repetition_penalty", "regex", "ebnf", "continue_final_message"},
}
"""Fields of requests that a server has beside those of OpenAI's type."""
ASK = Query((Message("system", "Be brief."), Message("user", "Greet Zoë.")))
TURNS = tuple(
    Message(role, f"say {role}") for role in ("system", "user", "assistant", "tool", "assistant", "")
)
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "post": {"enum": ["a", "b"]}},
    "required": ["name", "post"],
    "additionalProperties": False,
}
OBJECT = '{"name": "Zoë 👋", "post": "b"}'
QUERIES: dict[str, tuple[Query, str]] = {
    "as it is": (ASK, "Hello, Zoë! 👋"),
    "turns": (Query(TURNS), "one two"),
    "begun": (replace(ASK, begun="Hello"), ", Zoë"),
    "sampling": (replace(ASK, sampling=Sampling(0.7, top_k=5, top_p=0.9, min_p=0.05), seed=7), "one"),
    "greedy": (replace(ASK, sampling=Sampling(), seed=2**40), "one"),
    "bounds": (replace(ASK, max_tokens=2), "one two three"),
    "stops": (replace(ASK, stops=("\n", "1", "2", "3", "4")), "one\ntwo"),
    "chances": (replace(ASK, top_logprobs=3), "one two"),
    "schema": (replace(ASK, enforced=Enforcement("json_schema", schema=SCHEMA, reading="json")), OBJECT),
    "regex": (replace(ASK, enforced=Enforcement("regex", "[a-c]{2,5}!")), "abc!"),
    "choice": (replace(ASK, enforced=Enforcement("choice", options=("red", "green"))), "green"),
    "gbnf": (replace(ASK, enforced=Enforcement("gbnf", 'root ::= "(" root ")" | "x"')), "((x))"),
    "lark": (replace(ASK, enforced=Enforcement("lark", 'start: "(" start ")" | "x"')), "((x))"),
}
"""What is asked, and what the stub answers."""


def asked(kind: str, query: Query, stub: Any) -> tuple[str, Ending, list[Piece]]:
    name = KINDS[kind][0]
    backend = open_backend(
        name, BackendSettings(), {"OPENAI_API_KEY": "sk-test", "ANTHROPIC_API_KEY": "sk-test"}, stub.transport
    )

    async def job() -> list[Any]:
        return [event async for event in backend.stream(query)]

    *pieces, end = asyncio.run(job())
    return "".join(piece.text for piece in pieces), end, pieces


def read_by_client(kind: str, body: dict[str, Any], stub: Any) -> tuple[Read, AtStub]:
    at_stub = AtStub(kind, stub)
    if kind == "anthropic":
        return at_stub.messages(body), at_stub
    others = {name: value for name, value in body.items() if name in OTHER_FIELDS.get(kind, ())}
    return at_stub.chat({name: body[name] for name in body if name not in others}, others), at_stub


@functools.cache
def capabilities(kind: str) -> Capabilities:
    environment = {"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x"}
    return open_backend(KINDS[kind][0], BackendSettings(), environment, StubOpenAI().transport).capabilities


def cannot(kind: str, query: Query) -> bool:
    can = capabilities(kind)
    notation = query.enforced and query.enforced.notation
    return bool(query.begun and not can.continues) or bool(notation and notation not in can.notations)


PAIRS = [(kind, name) for kind in KINDS for name, (query, _) in QUERIES.items() if not cannot(kind, query)]


@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_what_is_sent_is_of_the_published_type(kind: str, name: str) -> None:
    query, answer = QUERIES[name]
    stub = KINDS[kind][1](StubModel([answer]))
    asked(kind, query, stub)
    body = stub.transport.bodies[-1]
    check_type(kind, {each: body[each] for each in body if each not in OTHER_FIELDS.get(kind, ())})


@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_the_official_client_sends_and_reads_the_same(kind: str, name: str) -> None:
    query, answer = QUERIES[name]
    stub = KINDS[kind][1](StubModel([answer]))
    text, end, pieces = asked(kind, query, stub)
    request, body = stub.transport.requests[-1], stub.transport.bodies[-1]
    read, at_stub = read_by_client(kind, body, KINDS[kind][1](StubModel([answer])))
    (sent,) = at_stub.sent
    assert sent.body == body
    assert (sent.method, sent.path) == (request.method, "/" + request.url.split("/", 3)[3])
    for header, value in {**request.headers, **request.secrets}.items():
        assert header == "user-agent" or kind in OTHER_FIELDS or sent.headers[header] == value
    if query.stops and end.usage is None:
        return  # the stop was found here: the service does not take it, and the stream was closed
    reasons = {"end_turn": "stop", "tool_calls": "stop", "max_tokens": "length"}
    assert (read.text, reasons.get(read.reason or "", read.reason)) == (text, end.reason)
    assert end.usage is not None
    assert read.usage == (end.usage.prompt, end.usage.output, end.usage.cached)
    told = [[(top.text, top.logprob) for top in place] for piece in pieces for place in piece.top]
    assert read.chances == told


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_the_official_client_reads_the_same_refusal(kind: str) -> None:
    stubs = [KINDS[kind][1](), KINDS[kind][1]()]
    for stub in stubs:
        stub.refusal, stub.finish = "I will not.", "refusal" if kind == "anthropic" else "stop"
    _, end, _ = asked(kind, ASK, stubs[0])
    read, _ = read_by_client(kind, stubs[0].transport.bodies[-1], stubs[1])
    assert (end.reason, end.message) == ("refused", read.refusal) == ("refused", "I will not.")


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 529])
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_the_official_client_reads_the_same_error(kind: str, status: int) -> None:
    error = {"type": "some_error", "message": "not today"}
    whole = {"type": "error", "error": error} if kind == "anthropic" else {"error": error}
    stub = KINDS[kind][1]()
    stub.instead = as_json(whole, status)
    with pytest.raises(BackendFault) as ours:
        asked(kind, ASK, stub)
    module: Any = anthropic if kind == "anthropic" else openai
    with pytest.raises(module.APIStatusError) as theirs:
        read_by_client(kind, stub.transport.bodies[-1], stub)
    assert theirs.value.status_code == ours.value.status == status
    assert ours.value.message == f"status {status}: not today" and "not today" in theirs.value.message


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_types_refuse_what_they_do_not_have(kind: str) -> None:
    """The judge judges: also fields inside of others."""
    body: dict[str, Any] = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "a"}]}
    check_type(kind, body)
    worse: list[dict[str, Any]] = [
        {"more": 1},
        {"max_tokens": "5"},
        {"messages": [{"role": "user", "text": "a"}]},
    ]
    for wrong in worse:
        with pytest.raises(pydantic.ValidationError):
            check_type(kind, {**body, **wrong})
