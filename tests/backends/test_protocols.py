"""Every protocol against a server that speaks it: answers, endings, scores, cuts, faults."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from backends.in_process import InProcess, StubReply, as_events, as_json
from backends.strict_validator import strict_faults
from backends.stub_model import StubModel
from backends.stub_servers import StubAnthropic, StubLlama, StubOpenAI, StubSGLang, StubVllm
from sglc.runtime.backends.backend_settings import BackendSettings
from sglc.runtime.backends.exchange import (
    Backend,
    BackendFault,
    Ending,
    Message,
    Piece,
    Query,
    TextScore,
    TokenChance,
    Usage,
)
from sglc.runtime.backends.registry import open_backend
from sglc.runtime.engine.sampling.options import Sampling
from sglc.targets.projection.core.enforcement import Enforcement

KEY = "sk-canary-0123456789abcdefXYZ"
ENVIRONMENT = {f"{name}_API_KEY": KEY for name in "OPENAI ANTHROPIC VLLM SGLANG LLAMA CHAT".split()}
STUBS: dict[str, tuple[str, Any]] = {
    "openai": ("openai:gpt-5-chat", StubOpenAI),
    "chat": ("chat:http://localhost:1#served", StubOpenAI),
    "anthropic": ("anthropic:some-model", StubAnthropic),
    "vllm": ("vllm:http://localhost:1", StubVllm),
    "sglang": ("sglang:http://localhost:1", StubSGLang),
    "llama": ("llama:http://localhost:1", StubLlama),
}
ASK = Query((Message("system", "Be brief."), Message("user", "Greet Zoë.")))
PLAIN = Query((Message("", "Once upon "),), "a time")
SCHEMA = {
    "type": "object",
    "properties": {"age": {"type": "integer", "minimum": 18, "maximum": 70}, "post": {"enum": ["a", "b"]}},
    "required": ["age", "post"],
    "additionalProperties": False,
}
NO_BOUNDS = {**SCHEMA, "properties": {"age": {"type": "integer"}, "post": {"enum": ["a", "b"]}}}
ENFORCED = {
    "json_schema": Enforcement("json_schema", schema=SCHEMA, reading="json"),
    "regex": Enforcement("regex", "[a-c]{2,5}!"),
    "choice": Enforcement("choice", options=("red", "green", "blaugrün")),
    "gbnf": Enforcement("gbnf", 'root ::= "(" root ")" | "x"'),
    "lark": Enforcement("lark", 'start: "(" start ")" | "x"'),
}


def opened(kind: str, stub: Any, **settings: Any) -> Backend:
    return open_backend(STUBS[kind][0], BackendSettings(**settings), ENVIRONMENT, stub.transport)


def answered(backend: Backend, query: Query) -> tuple[str, Ending, list[Piece]]:
    """Text and end of an answer, and its pieces."""

    async def job() -> list[Any]:
        return [event async for event in backend.stream(query)]

    *pieces, end = asyncio.run(job())
    return "".join(piece.text for piece in pieces), end, pieces


def fault_of(backend: Backend, query: Query = ASK) -> BackendFault:
    with pytest.raises(BackendFault) as caught:
        answered(backend, query)
    fault = caught.value
    shown = f"{fault} {fault!r} {fault.args} {vars(fault)} {fault.__context__!r} {fault.__cause__!r}"
    assert KEY not in shown
    assert fault.endpoint
    return fault


@pytest.mark.parametrize("kind", STUBS)
def test_an_answer_with_its_usage(kind: str) -> None:
    stub = STUBS[kind][1](StubModel(["Hello, Zoë! 👋"]))
    backend = opened(kind, stub)
    text, end, pieces = answered(backend, ASK)
    assert text == "Hello, Zoë! 👋"
    assert len(pieces) > 1
    assert end.reason == "stop"
    assert end.usage is not None and end.usage.cached == 3 and end.usage.output == 6
    assert end.usage.prompt > 3
    request = stub.transport.requests[-1]
    assert request.secrets == {"authorization": f"Bearer {KEY}"}
    assert KEY not in f"{request!r}"
    assert stub.transport.open == 0


@pytest.mark.parametrize("kind", STUBS)
def test_a_stream_cut_at_every_byte(kind: str) -> None:
    for size in (1, 2, 3, 7):
        stub = STUBS[kind][1](StubModel(["Zoë 👋\n„x“"]))
        stub.size = size
        assert answered(opened(kind, stub), ASK)[0] == "Zoë 👋\n„x“"


@pytest.mark.parametrize("kind", STUBS)
def test_what_is_enforced_comes(kind: str) -> None:
    backend = opened(kind, STUBS[kind][1]())
    for notation in sorted(backend.capabilities.notations):
        enforced = ENFORCED[notation]
        if kind == "anthropic":
            enforced = replace(enforced, schema=NO_BOUNDS)
        stub = STUBS[kind][1](StubModel(seed=5))
        for _ in range(3):
            text, end, _ = answered(opened(kind, stub), replace(ASK, enforced=enforced))
            assert end.reason == "stop"
            _check(notation, text, bounded=kind != "anthropic")


@pytest.mark.parametrize("kind", ["openai", "chat", "vllm", "sglang"])
def test_bounds_of_decimals_go_as_they_are(kind: str) -> None:
    most = "999999999999999999.9999999999"
    stub = STUBS[kind][1](StubModel(seed=5))
    price = {"type": "number", "maximum": Decimal(most)}
    schema = {**SCHEMA, "properties": {"price": price}, "required": ["price"]}
    answered(opened(kind, stub), replace(ASK, enforced=Enforcement("json_schema", schema=schema)))
    assert f'"maximum": {most}' in stub.transport.requests[-1].body.decode().replace("\\", "")


def _check(notation: str, text: str, *, bounded: bool = True) -> None:
    """By other means than our engine."""
    if notation == "json_schema":
        value = json.loads(text)
        assert set(value) == {"age", "post"} and value["post"] in ("a", "b")
        assert isinstance(value["age"], int) and (18 <= value["age"] <= 70 or not bounded)
    elif notation == "regex":
        assert re.fullmatch("[a-c]{2,5}!", text)
    elif notation == "choice":
        assert text in ("red", "green", "blaugrün")
    else:
        depth = len(text) // 2
        assert text == "(" * depth + "x" + ")" * depth


@pytest.mark.parametrize("kind", STUBS)
def test_what_cannot_be_enforced_is_refused_before_it_is_sent(kind: str) -> None:
    stub = STUBS[kind][1]()
    backend = opened(kind, stub)
    for notation in set(ENFORCED) - backend.capabilities.notations:
        fault = fault_of(backend, replace(ASK, enforced=ENFORCED[notation]))
        assert (fault.cause, fault.again) == ("request", False)
        assert f"cannot enforce {notation}" in fault.message
    assert not stub.transport.requests


@pytest.mark.parametrize("kind", STUBS)
def test_begun_answers(kind: str) -> None:
    stub = STUBS[kind][1](StubModel([" world"]))
    backend = opened(kind, stub)
    begun = replace(ASK, begun="Hello")
    if not backend.capabilities.continues:
        assert "cannot go on behind a begun answer" in fault_of(backend, begun).message
        return
    assert answered(backend, begun)[0] == " world"
    body = stub.transport.bodies[-1]
    if kind == "llama":
        assert body["prompt"].endswith("<assistant>Hello")
    else:
        assert body["messages"][-1] == {"role": "assistant", "content": "Hello"}
        assert body["continue_final_message"] is True


@pytest.mark.parametrize("kind", ["vllm", "sglang", "llama"])
def test_text_without_messages_is_continued_as_it_is(kind: str) -> None:
    stub = STUBS[kind][1](StubModel([" in a wood"]))
    backend = opened(kind, stub)
    text, end, pieces = answered(backend, replace(PLAIN, top_logprobs=2))
    assert (text, end.reason) == (" in a wood", "stop")
    body = stub.transport.bodies[-1]
    assert body["text" if kind == "sglang" else "prompt"] == "Once upon a time"
    assert [piece.top[0][0].text for piece in pieces] == [" in", " a", " wood"]
    if kind == "vllm":
        assert body["max_tokens"] > 4_000, "completions write 16 tokens where nothing is said"


@pytest.mark.parametrize("kind", ["openai", "vllm", "sglang", "llama"])
def test_chances_of_tokens(kind: str) -> None:
    stub = STUBS[kind][1](StubModel(["red car"]))
    _, _, pieces = answered(opened(kind, stub), replace(ASK, top_logprobs=2))
    first = pieces[0]
    assert first.top == ((TokenChance("red", -0.75), TokenChance("x0", -9.0)),)
    assert first.logprob == -0.75


@pytest.mark.parametrize("kind", STUBS)
def test_bounds_on_tokens(kind: str) -> None:
    stub = STUBS[kind][1](StubModel(["one two three four"]))
    text, end, _ = answered(opened(kind, stub), replace(ASK, max_tokens=2))
    assert (text, end.reason) == ("one two", "length")


@pytest.mark.parametrize("kind", STUBS)
@pytest.mark.parametrize("stops", [("\n",), ("1", "2", "3", "4", " th")])
def test_stops_whether_a_service_takes_them_or_not(kind: str, stops: tuple[str, ...]) -> None:
    stub = STUBS[kind][1](StubModel(["one two\nthree" if stops == ("\n",) else "one two three"]))
    text, end, _ = answered(opened(kind, stub), replace(ASK, stops=stops))
    assert (text, end.reason) == ("one two", "stop")
    assert stub.transport.open == 0


@pytest.mark.parametrize("kind", STUBS)
def test_sampling_as_far_as_a_service_takes_it(kind: str) -> None:
    stub = STUBS[kind][1]()
    backend = opened(kind, stub)
    sampling = Sampling(0.7, top_k=5, top_p=0.9, min_p=0.05)
    answered(backend, replace(ASK, sampling=sampling, seed=11))
    body = stub.transport.bodies[-1]
    given = {"temperature": 0.7, "top_p": 0.9, "top_k": 5, "min_p": 0.05, "seed": 11}
    taken = {*backend.capabilities.samplers}
    taken |= {"temperature"} if backend.capabilities.temperature else set()
    taken |= {"seed"} if backend.capabilities.seed else set()
    assert {name: body[name] for name in given if name in body} == {name: given[name] for name in taken}
    answered(backend, ASK)
    greedy = stub.transport.bodies[-1]
    assert greedy.get("temperature", 0.0) == 0.0 and "seed" not in greedy


def test_models_that_reason_take_no_sampling() -> None:
    for name, plain in (("gpt-5.2", False), ("o3-mini", False), ("gpt-4.1", True), ("gpt-5-chat", True)):
        stub = StubOpenAI()
        backend = open_backend(f"openai:{name}", BackendSettings(), ENVIRONMENT, stub.transport)
        answered(backend, replace(ASK, stops=("x",), sampling=Sampling(0.5, top_p=0.5)))
        assert backend.capabilities.temperature == plain
        assert ({"temperature", "top_p", "stop"} <= set(stub.transport.bodies[0])) == plain
        assert ("lark" in backend.capabilities.notations) == (name.startswith("gpt-5"))


@pytest.mark.parametrize("kind", ["vllm", "sglang", "llama"])
@pytest.mark.parametrize(
    "query", [ASK, replace(ASK, begun="My choice: "), PLAIN], ids=["open", "begun", "plain"]
)
def test_scores_are_those_of_the_text_alone(kind: str, query: Query) -> None:
    stub = STUBS[kind][1]()
    backend = opened(kind, stub)

    async def job(texts: Sequence[str]) -> list[TextScore]:
        return await backend.score(query, texts)

    scores = asyncio.run(job([" red wine", "blue"]))
    assert scores[0].tokens[-2:] == (" red", " wine") and scores[0].logprobs[-2:] == (-1.0, -1.25)
    # A tokenizer joins what it can: then the whole token is scored.
    joined = {"": "blue", "My choice: ": " blue", "a time": " timeblue"}[query.begun]
    assert scores[1] == TextScore((joined,), (-len(joined) / 4,))


def test_scores_where_there_are_none() -> None:
    for kind in ("openai", "chat", "anthropic"):
        backend = opened(kind, STUBS[kind][1]())
        with pytest.raises(BackendFault, match="cannot score texts"):
            asyncio.run(backend.score(ASK, ["x"]))


def test_a_score_that_fails_is_the_fault_itself() -> None:
    stub = StubVllm()
    stub.instead = as_json({"error": {"message": "no", "type": "x", "code": 500}}, 500)
    backend = open_backend("vllm:http://localhost:1#served", BackendSettings(), {}, stub.transport)
    with pytest.raises(BackendFault, match="status 500: no"):
        asyncio.run(backend.score(ASK, ["a", "b"]))


@pytest.mark.parametrize("kind", STUBS)
def test_the_context_that_a_service_tells(kind: str) -> None:
    backend = opened(kind, STUBS[kind][1]())
    asyncio.run(backend.prepare())  # type: ignore[attr-defined]
    told = {"openai": None, "anthropic": 200_000}.get(kind, 4_096)
    assert backend.capabilities.context_length == told
    set_by_user = opened(kind, STUBS[kind][1](), context_length=77)
    asyncio.run(set_by_user.prepare())  # type: ignore[attr-defined]
    assert set_by_user.capabilities.context_length == 77


def test_a_server_without_the_model() -> None:
    stub = StubVllm()
    stub.instead = as_json({"object": "list", "data": []})
    assert "does not have any model" in fault_of(opened("vllm", stub)).message


@pytest.mark.parametrize("kind", ["openai", "vllm", "sglang", "anthropic"])
def test_refusals_and_filters(kind: str) -> None:
    stub = STUBS[kind][1](StubModel(["some text"]))
    if kind == "anthropic":
        stub.finish = "refusal"
        assert answered(opened(kind, stub), ASK)[1].reason == "refused"
        return
    stub.finish = "content_filter"
    assert answered(opened(kind, stub), ASK)[1].reason == "filtered"
    if kind == "openai":
        stub.refusal = "I cannot help."
        end = answered(opened(kind, stub), ASK)[1]
        assert (end.reason, end.message) == ("refused", "I cannot help.")


STATUSES = [
    (400, "request", False), (401, "access", False), (402, "access", False), (403, "access", False),
    (404, "request", False), (408, "overloaded", True), (409, "overloaded", True), (413, "request", False),
    (422, "request", False), (429, "rate", True), (500, "overloaded", True), (501, "overloaded", False),
    (502, "overloaded", True), (503, "overloaded", True), (504, "overloaded", True),
    (529, "overloaded", True),
]  # fmt: skip


@pytest.mark.parametrize(("status", "cause", "again"), STATUSES)
def test_statuses(status: int, cause: str, again: bool) -> None:
    stub = StubOpenAI()
    error = {"message": f"bad key {KEY} or so\n\x00twice", "type": "x", "param": "model", "code": None}
    stub.instead = as_json({"error": error}, status)
    fault = fault_of(opened("openai", stub))
    assert (fault.cause, fault.again, fault.status) == (cause, again, status)
    assert fault.message == f"status {status}: bad key … or so twice (model)"
    assert fault.endpoint == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "status 500"),
        (b"<html>busy</html>", "status 500"),
        (b"upstream\nfell over", "status 500: upstream fell over"),
        (b'{"detail": [{"loc": ["body"], "msg": "field required"}]}', "status 500: field required"),
        (b'{"object": "error", "message": "too long", "code": 400}', "status 500: too long"),
        (b'{"error": "model is loading"}', "status 500: model is loading"),
        (b"[" * 50_000, "status 500: " + "[" * 287 + "…"),
        (b"\xff\xfe", "status 500: ��"),
    ],
)
def test_bodies_of_errors(body: bytes, message: str) -> None:
    stub = StubOpenAI()
    stub.instead = StubReply(body, 500)
    assert fault_of(opened("openai", stub)).message == message


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "1e99"}, 86_400.0),
        ({"retry-after": "86400"}, 86_400.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_times_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    stub = StubOpenAI()
    stub.instead = StubReply(b"{}", 429, headers)
    assert fault_of(opened("openai", stub)).retry_after == seconds


def test_a_spent_quota_is_not_waited_for() -> None:
    stub = StubOpenAI()
    error = {"message": "You exceeded your quota", "type": "insufficient_quota", "code": "insufficient_quota"}
    stub.instead = as_json({"error": error}, 429)
    fault = fault_of(opened("openai", stub))
    assert (fault.cause, fault.again, fault.retry_after) == ("rate", False, None)


@pytest.mark.parametrize(("said", "again"), [("true", True), ("false", False)])
def test_services_may_say_whether_to_try_again(said: str, again: bool) -> None:
    stub = StubAnthropic()
    for status in (400, 500):
        stub.instead = StubReply(b"{}", status, {"x-should-retry": said})
        assert fault_of(opened("anthropic", stub)).again == again


GARBLED = [
    b"data: {\n\n", b"data: []\n\n", b"data: NaN\n\n", b'data: {"a": NaN}\n\n', b"data: \xff\n\n",
    b'data: {"choices": 3, "type": 3, "meta_info": 3, "content": 3}\n\n',
    b'data: {"choices": [3], "type": ["a"], "text": 3, "content": []}\n\n',
    b"data: " + b"[" * 50_000 + b"\n\n",
]  # fmt: skip


@pytest.mark.parametrize("kind", STUBS)
def test_garbled_answers(kind: str) -> None:
    name = STUBS[kind][0] + ("#served" if kind in ("vllm", "sglang") else "")
    for body in GARBLED:
        stub = STUBS[kind][1]()
        stub.instead = StubReply(body, headers={"content-type": "text/event-stream"})
        backend = open_backend(name, BackendSettings(), ENVIRONMENT, stub.transport)
        query = PLAIN if kind == "llama" else ASK
        fault = fault_of(backend, query)
        assert (fault.cause, fault.again) == ("protocol", True), body[:60]


@pytest.mark.parametrize("top", [["a"], "a", 3])
def test_chances_of_plain_text_that_are_no_object(top: object) -> None:
    stub = StubVllm()
    told = {"tokens": ["a"], "token_logprobs": [-1.0], "top_logprobs": [top]}
    stub.instead = as_events([{"choices": [{"text": "a", "logprobs": told}]}])
    backend = open_backend(f"{STUBS['vllm'][0]}#served", BackendSettings(), ENVIRONMENT, stub.transport)
    fault = fault_of(backend, replace(PLAIN, top_logprobs=1, max_tokens=3))
    assert (fault.cause, fault.again) == ("protocol", True)


@pytest.mark.parametrize("kind", STUBS)
def test_streams_that_end_early_or_break(kind: str) -> None:
    name = STUBS[kind][0] + ("#served" if kind in ("vllm", "sglang") else "")
    query = PLAIN if kind == "llama" else ASK
    stub = STUBS[kind][1](StubModel(["one two three"]))
    backend = open_backend(name, BackendSettings(), ENVIRONMENT, stub.transport)
    answered(backend, query)
    path = re.sub(r"^https?://[^/]+", "", stub.transport.requests[-1].url)
    whole = STUBS[kind][1](StubModel(["one two three"])).answer(path, stub.transport.bodies[-1])
    at = whole.body.index(b" three") - 1
    for breaks in (False, True):
        stub.instead = StubReply(whole.body[:at], headers=whole.headers, breaks=breaks)
        fault = fault_of(backend, query)
        assert (fault.cause, fault.again, fault.partial) == ("connection", True, "one two")
    assert stub.transport.open == 0


def test_errors_in_the_middle_of_a_stream() -> None:
    def anthropic(kind: str) -> BackendFault:
        stub = StubAnthropic()
        stub.instead = as_events([{"type": "error", "error": {"type": kind, "message": "m"}}], names=True)
        return fault_of(opened("anthropic", stub))

    assert (anthropic("overloaded_error").cause, anthropic("overloaded_error").again) == ("overloaded", True)
    assert (anthropic("rate_limit_error").cause, anthropic("rate_limit_error").again) == ("rate", True)
    assert (anthropic("authentication_error").cause, anthropic("invalid_request_error").cause) == (
        "access",
        "request",
    )
    stub = StubVllm()
    stub.instead = as_events(
        [{"error": {"message": f"{KEY} broke", "type": "InternalServerError", "code": 500}}]
    )
    backend = open_backend("vllm:http://localhost:1#served", BackendSettings(), ENVIRONMENT, stub.transport)
    fault = fault_of(backend)
    assert (fault.cause, fault.again, fault.message) == (
        "overloaded", True, "the stream ends with an error: … broke")  # fmt: skip


def test_half_characters() -> None:
    def streamed(*texts: str) -> StubReply:
        chunks = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts]
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        lines = [f"data: {json.dumps(each)}\n\n" for each in [*chunks, end]]
        return StubReply("".join(lines).encode(), headers={"content-type": "text/event-stream"})

    stub = StubOpenAI()
    stub.instead = streamed("a\ud83d", "\udc4bb")
    _, _, pieces = answered(opened("openai", stub), ASK)
    assert [piece.text for piece in pieces] == ["a", "👋b"]
    for texts in (("a\ud83d", "b"), ("a\udc4b",), ("a", "\ud83d")):
        stub.instead = streamed(*texts)
        assert "half a character" in fault_of(opened("openai", stub)).message


def test_leaving_a_stream_ends_the_request() -> None:
    async def job(kind: str) -> None:
        stub = STUBS[kind][1](StubModel(["one two three"]))
        stream = opened(kind, stub).stream(ASK)
        await anext(stream)
        assert stub.transport.open == 1
        await stream.aclose()  # type: ignore[attr-defined]
        assert stub.transport.open == 0

    for kind in STUBS:
        asyncio.run(job(kind))


def test_a_deadline_bounds_the_request() -> None:
    class Still:
        def now(self) -> float:
            return 100.0

        async def sleep(self, seconds: float) -> None:
            raise AssertionError

    stub = StubOpenAI()
    backend = open_backend("openai:gpt-4.1", BackendSettings(), ENVIRONMENT, stub.transport, Still())
    answered(backend, replace(ASK, deadline=107.5))
    assert stub.transport.requests[0].timeouts.whole == 7.5
    late = fault_of(backend, replace(ASK, deadline=100.0))
    assert (late.cause, late.message) == ("deadline", "the deadline has passed")


def test_fields_are_left_out_where_the_settings_say_so() -> None:
    stub = StubOpenAI()
    answered(opened("chat", stub, leave_out=frozenset(("seed", "stream_options"))), replace(ASK, seed=3))
    assert not {"seed", "stream_options"} & set(stub.transport.bodies[0])


def test_half_a_character_in_a_prompt_is_not_sent() -> None:
    stub = StubOpenAI()
    fault = fault_of(opened("openai", stub), Query((Message("user", "x\ud83d"),)))
    assert (fault.cause, stub.transport.requests) == ("request", [])


def test_sglang_with_new_text_only() -> None:
    stub = StubSGLang(StubModel(["a a a b"]))
    stub.incremental = True
    assert answered(opened("sglang", stub), PLAIN)[0] == "a a a b"


def test_turns_of_anthropic() -> None:
    stub = StubAnthropic()
    messages = [
        ("system", "S."),
        ("user", "a"),
        ("tool", "b"),
        ("assistant", "c"),
        ("system", "d"),
        ("user", " "),
    ]
    answered(opened("anthropic", stub), Query(tuple(Message(*each) for each in messages)))
    body = stub.transport.bodies[0]
    assert body["system"] == "S."
    assert body["messages"] == [
        {"role": "user", "content": "a\n\nb"},
        {"role": "assistant", "content": "c"},
        {"role": "system", "content": "d"},
    ]
    assert body["max_tokens"] == 4_096
    assert stub.transport.requests[0].headers["anthropic-version"] == "2026-10-21"


@pytest.mark.parametrize("kind", ["anthropic", "chat", "llama"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_whole_message_of_the_assistant_is_not_gone_on_with(kind: str, count: int) -> None:
    """These services take a last message of the assistant for the beginning of the answer, or refuse it."""
    stub = STUBS[kind][1](StubModel(["Hello."]))
    said = (Message("assistant", "Hi."),) * count
    assert answered(opened(kind, stub), replace(ASK, messages=(*ASK.messages, *said)))[0] == "Hello."
    body = stub.transport.bodies[-1]
    if kind == "llama":
        assert body["prompt"].endswith("<assistant>Hi.</><user>Go on.</><assistant>")
    else:
        assert body["messages"][-1] == {"role": "user", "content": "Go on."}


def test_the_stub_refuses_schemas_that_are_not_strict() -> None:
    loose = {**SCHEMA, "required": ["age"]}
    fault = fault_of(
        opened("openai", StubOpenAI()), replace(ASK, enforced=Enforcement("json_schema", schema=loose))
    )
    assert "not all fields are required" in fault.message
    assert not strict_faults(SCHEMA)
    for wrong in (
        {"type": "array", "items": {"type": "string"}},
        {**SCHEMA, "additionalProperties": True},
        {**SCHEMA, "properties": {"age": {"type": "string", "minLength": 2}, "post": {"type": "null"}}},
        {**SCHEMA, "properties": {"age": {"allOf": []}, "post": {"type": "null"}}},
        {"anyOf": [SCHEMA]},
    ):
        assert strict_faults(wrong), wrong


def test_a_grammar_that_llama_cannot_read() -> None:
    fault = fault_of(
        opened("llama", StubLlama()), replace(ASK, enforced=Enforcement("gbnf", 'root ::= "a" nowhere ('))
    )
    assert (fault.cause, fault.again, fault.status) == ("request", False, 400)
    assert fault.message == "status 400: Failed to initialize samplers: failed to parse grammar"


def test_usages_add_up() -> None:
    assert Usage(1, 2, 3) + Usage(4, 5, 6) == Usage(5, 7, 9)


def test_closing_gives_connections_back() -> None:
    transport = InProcess(lambda path, body, request: as_json({}))
    backend = open_backend("openai:x", BackendSettings(), ENVIRONMENT, transport)
    asyncio.run(backend.close())
    assert transport.closed
