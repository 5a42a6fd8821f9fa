"""Chat completions and completions over HTTP: answers, streams, errors, functions as models."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from serving.server import Reply, Server, serving
from sglc.runtime.serve.access import Access, Key, digest_of
from sglc.runtime.serve.options import ServeLimits

PROGRAM = """
pub fn greet(name: str) -> str:
    user: | Greet ${name}
    assistant: | ?{text: str max 20 chars}
    return text

pub fn count(words: str) -> int:
    user: | Count ${words}
    assistant: | ?{size: int in 0..99}
    return size

pub fn add(a: int, b: int) -> int:
    return a + b
"""
ASK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Greet Zoë."}]
ANSWERS = {"answer": "Hello, Zoë! 👋\n\tBye.", "text": "Hi Zoë", "size": 3}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(PROGRAM, ANSWERS) as made:
        yield made


def chat(server: Server, **body: Any) -> Reply:
    return server.ask("POST", "/v1/chat/completions", {"model": "scripted", "messages": ASK} | body)


def chunks(reply: Reply) -> list[Any]:
    """The data of a stream, whose last event says that it is done."""
    rows = [line.removeprefix("data: ") for line in reply.body.decode().split("\n\n") if line[:1] == "d"]
    assert rows[-1] == "[DONE]"
    return [json.loads(row) for row in rows[:-1]]


def error(reply: Reply) -> tuple[int, str | None, str]:
    """Status, parameter and code of an error."""
    found = reply.data["error"]
    assert set(found) == {"message", "type", "param", "code"} and found["message"]
    return reply.status, found["param"], found["code"]


def test_models_are_the_engine_s_and_functions_of_one_text(server: Server) -> None:
    listed = server.ask("GET", "/v1/models").data
    assert [each["id"] for each in listed["data"]] == ["scripted", "sgl/greet", "sgl/count"]
    assert server.ask("GET", "/v1/models/sgl/greet").data == listed["data"][1]
    assert error(server.ask("GET", "/v1/models/sgl/add")) == (404, "model", "model_not_found")
    assert error(chat(server, model="gpt-5")) == (404, "model", "model_not_found")


def test_an_answer_with_what_it_took(server: Server) -> None:
    reply = chat(server, user="u", store=False, metadata={"a": "b"}, temperature=0)
    data = reply.data
    [choice] = data["choices"]
    text = ANSWERS["answer"]
    assert reply.status == 200 and data["object"] == "chat.completion" and data["model"] == "scripted"
    assert choice["message"] == {"role": "assistant", "content": text, "refusal": None}
    assert choice["finish_reason"] == "stop" and choice["sglc"] == {"ended": "end"}
    prompt = "system\nBe brief.\nuser\nGreet Zoë.\nassistant\n".encode()  # a token a byte, 5 special ones
    written = len(str(text).encode())
    assert data["usage"] == {
        "prompt_tokens": len(prompt) + 5,
        "completion_tokens": written,
        "total_tokens": len(prompt) + 5 + written,
    }


def test_a_stream_has_the_same_text_and_its_usage_last(server: Server) -> None:
    reply = chat(server, stream=True, stream_options={"include_usage": True})
    rows = chunks(reply)
    assert reply.headers["content-type"].startswith("text/event-stream")
    deltas = [row["choices"][0]["delta"] for row in rows[:-1]]
    assert deltas[0]["role"] == "assistant" and not any("role" in each for each in deltas[1:])
    assert "".join(each.get("content", "") for each in deltas) == ANSWERS["answer"]
    assert rows[-2]["choices"][0]["finish_reason"] == "stop"
    assert rows[-1]["choices"] == [] and rows[-1]["usage"]["completion_tokens"] > 0
    assert len({row["id"] for row in rows}) == 1
    plain = chunks(chat(server, stream=True))
    assert all(row["choices"] for row in plain)


def test_a_limit_cuts_a_text_at_a_whole_character(server: Server) -> None:
    whole = chat(server, max_completion_tokens=11).data["choices"][0]
    assert (whole["message"]["content"], whole["finish_reason"]) == ("Hello, Zoë", "length")
    for most in (14, 15, 16):  # within the four bytes of the hand, and behind the space before it
        cut = chat(server, max_tokens=most).data
        assert cut["choices"][0]["message"]["content"] == "Hello, Zoë! "
        assert cut["choices"][0]["finish_reason"] == "length"


def test_stops_end_an_answer_and_are_no_part_of_it(server: Server) -> None:
    for stop in ("Zoë", ["nowhere", "Zoë"]):
        choice = chat(server, stop=stop).data["choices"][0]
        assert (choice["message"]["content"], choice["finish_reason"]) == ("Hello, ", "stop")
    streamed = chunks(chat(server, stop="Zoë", stream=True))
    assert "".join(row["choices"][0]["delta"].get("content", "") for row in streamed) == "Hello, "


def test_several_answers_of_one_request() -> None:
    with serving(PROGRAM, {"answer": ["one", "two", "three"]}) as server:
        choices = chat(server, n=3).data["choices"]
        assert [each["index"] for each in choices] == [0, 1, 2]
        assert sorted(each["message"]["content"] for each in choices) == ["one", "three", "two"]
        texts = ["", "", ""]
        for row in chunks(chat(server, n=3, stream=True)):
            texts[row["choices"][0]["index"]] += row["choices"][0]["delta"].get("content", "")
        assert sorted(texts) == ["one", "three", "two"]


def test_a_seed_draws_the_same_again() -> None:
    with serving(PROGRAM) as server:  # the model writes what it likes
        texts = [
            [
                each["message"]["content"]
                for each in chat(server, n=4, seed=seed, max_tokens=40).data["choices"]
            ]
            for seed in (7, 7, -8)
        ]
        assert texts[0] == texts[1] != texts[2]
        assert len(set(texts[0])) > 1  # the answers of one request differ
        greedy = chat(server, n=2, temperature=0, max_tokens=5).data["choices"]
        assert greedy[0]["message"] == greedy[1]["message"]


def test_the_last_message_goes_on(server: Server) -> None:
    begun = [*ASK, {"role": "assistant", "content": "Well. "}]
    reply = chat(server, messages=begun, continue_final_message=True, add_generation_prompt=False)
    assert reply.data["choices"][0]["message"]["content"] == ANSWERS["answer"]
    asked = chat(server, messages=begun)
    assert asked.data["usage"]["prompt_tokens"] == reply.data["usage"]["prompt_tokens"] + 2 + len(
        "\nassistant\n"
    )
    assert error(chat(server, continue_final_message=True)) == (
        400,
        "continue_final_message",
        "invalid_value",
    )


def test_content_in_parts_and_every_role(server: Server) -> None:
    parts = [{"type": "text", "text": "Greet"}, {"type": "text", "text": "Zoë."}]
    messages = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": parts},
        {"role": "assistant", "content": None, "refusal": None},
        {"role": "tool", "content": "x", "tool_call_id": "1"},
        {"role": "user", "content": "go"},
    ]
    assert chat(server, messages=messages).status == 200


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"logit_bias": {"258": 1}}, "logit_bias", "invalid_value"),
        ({"logit_bias": {"x": 1}}, "logit_bias", "invalid_value"),
        ({"logit_bias": {"5": 101}}, "logit_bias", "invalid_value"),
        ({"frequency_penalty": 2.5}, "frequency_penalty", "invalid_value"),
        ({"repetition_penalty": 1.5}, "repetition_penalty", "unsupported_parameter"),
        ({"functions": [{"name": "f"}]}, "functions", "unsupported_parameter"),
        ({"prediction": {"type": "other", "content": "x"}}, "prediction.type", "invalid_value"),
        ({"best": 1}, "best", "unsupported_parameter"),
        ({"reasoning_effort": "low"}, "reasoning_effort", "unsupported_parameter"),
        ({"stream_options": {"odd": 1}}, "stream_options.odd", "unsupported_parameter"),
        ({"top_logprobs": 3}, "top_logprobs", "unsupported_parameter"),
        ({"n": 9}, "n", "invalid_value"),
        ({"n": True}, "n", "invalid_value"),
        ({"temperature": 2.5}, "temperature", "invalid_value"),
        ({"temperature": "hot"}, "temperature", "invalid_value"),
        ({"top_p": 0}, "top_p", "invalid_value"),
        ({"max_tokens": 0}, "max_tokens", "invalid_value"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "stop", "invalid_value"),
        ({"stop": ""}, "stop", "invalid_value"),
        ({"stop": "x", "response_format": {"type": "json_object"}}, "stop", "invalid_value"),
        ({"messages": []}, "messages", "invalid_value"),
        ({"messages": [5]}, "messages[0]", "invalid_value"),
        ({"messages": [{"role": "user"}]}, "messages[0].content", "invalid_value"),
        ({"messages": [{"role": "robot", "content": ""}]}, "messages[0].role", "invalid_value"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            "messages[0].content[0].type",
            "unsupported_parameter",
        ),
        ({"messages": [{"role": "user", "content": "\ud800"}]}, "messages[0].content", "invalid_value"),
        ({"model": None}, "model", "invalid_value"),
    ],
)
def test_what_is_wrong_or_unsupported_is_named(server: Server, body: Any, param: str, code: str) -> None:
    assert error(chat(server, **body)) == (400, param, code)


def test_values_that_change_nothing_are_taken(server: Server) -> None:
    same = {
        "frequency_penalty": 0,
        "logit_bias": {},
        "tools": [],
        "tool_choice": "none",
        "modalities": ["text"],
        "n": 1,
        "stop": None,
        "top_k": -1,
    }
    assert chat(server, **same).data["choices"][0]["message"]["content"] == ANSWERS["answer"]


def test_a_function_answers_the_last_message_of_the_user(server: Server) -> None:
    reply = chat(server, model="sgl/greet", seed=5)
    assert reply.data["choices"][0]["message"]["content"] == "Hi Zoë"
    assert reply.data["usage"]["completion_tokens"] == len("Hi Zoë".encode())
    assert chat(server, model="sgl/count").data["choices"][0]["message"]["content"] == "3"
    rows = chunks(chat(server, model="sgl/greet", stream=True))
    assert "".join(row["choices"][0]["delta"].get("content", "") for row in rows) == "Hi Zoë"
    for body, param in (({"temperature": 0.5}, "temperature"), ({"n": 2}, "n")):
        assert error(chat(server, model="sgl/greet", **body)) == (400, param, "unsupported_parameter")
    none = [{"role": "system", "content": "x"}]
    assert error(chat(server, model="sgl/greet", messages=none)) == (400, "messages", "invalid_value")


def test_plain_completions(server: Server) -> None:
    def complete(**body: Any) -> Reply:
        return server.ask("POST", "/v1/completions", {"model": "scripted", "prompt": "Say:"} | body)

    data = complete(max_tokens=50).data
    assert data["object"] == "text_completion" and data["usage"]["prompt_tokens"] == 4
    assert (data["choices"][0]["text"], data["choices"][0]["finish_reason"]) == (ANSWERS["answer"], "stop")
    assert complete().data["choices"][0]["finish_reason"] == "length"  # 16 tokens, as OpenAI's
    several = complete(prompt=["Say:", ""], n=2, echo=True, max_tokens=5).data["choices"]
    assert [each["text"] for each in several] == ["Say:Hello", "Say:Hello", "Hello", "Hello"]
    rows = chunks(complete(stream=True, echo=True, max_tokens=50))
    assert "".join(row["choices"][0]["text"] for row in rows) == f"Say:{ANSWERS['answer']}"
    assert error(complete(prompt=[258, 2])) == (400, "prompt", "invalid_value")
    assert error(complete(prompt=[195])) == (400, "prompt", "invalid_value")
    tokens = complete(prompt=[list(b"Say:"), [256, *b"x"]], echo=True, max_tokens=5).data["choices"]
    assert [each["text"] for each in tokens] == ["Say:Hello", "xHello"]
    assert error(complete(prompt=["a"] * 5, n=2)) == (400, "n", "invalid_value")
    assert error(complete(logprobs=1, echo=True)) == (400, "echo", "unsupported_parameter")
    assert error(complete(logprobs=6)) == (400, "logprobs", "invalid_value")
    assert error(complete(model="sgl/greet"))[:2] == (400, "model")


def test_log_probabilities_of_a_text(server: Server) -> None:
    choice = chat(server, logprobs=True, top_logprobs=2, stop="!").data["choices"][0]
    tokens = choice["logprobs"]["content"]
    assert bytes(byte for token in tokens for byte in token["bytes"]).decode() == "Hello, Zoë"
    for token in tokens:
        assert token["logprob"] <= 0 and len(token["top_logprobs"]) == 2
        assert token["top_logprobs"][0]["logprob"] >= token["top_logprobs"][1]["logprob"]
    rows = chunks(chat(server, logprobs=True, stop="!", stream=True))
    told = [token for row in rows for token in (row["choices"][0]["logprobs"] or {"content": []})["content"]]
    assert [token["bytes"] for token in told] == [token["bytes"] for token in tokens]
    assert not told[0]["top_logprobs"]


def test_log_probabilities_of_a_completion(server: Server) -> None:
    def complete(**body: Any) -> Reply:
        body = {"model": "scripted", "prompt": "Say:", "logprobs": 2, "stop": "!"} | body
        return server.ask("POST", "/v1/completions", body)

    told = complete(max_tokens=50).data["choices"][0]["logprobs"]
    assert "".join(told["tokens"][:7]) == "Hello, " and told["text_offset"][:7] == list(range(7))
    assert all(len(each) == 2 for each in told["top_logprobs"]) and max(told["token_logprobs"]) <= 0
    parts = [row["choices"][0]["logprobs"] for row in chunks(complete(max_tokens=50, stream=True))]
    for name in told:
        assert [each for part in parts if part for each in part[name]] == told[name]


def test_a_context_without_room() -> None:
    with serving(PROGRAM, ANSWERS) as server:
        server.model.context_length = 60
        long = [{"role": "user", "content": "x" * 60}]
        for stream in (False, True):
            reply = chat(server, messages=long, stream=stream)
            assert error(reply) == (400, "messages", "context_length_exceeded")
        cut = chat(server, messages=[{"role": "user", "content": "x" * 30}]).data["choices"][0]
        assert cut["finish_reason"] == "length"


def test_places_are_shared_with_functions_and_a_full_queue_is_429() -> None:
    limits = ServeLimits(waiting=0, grace=0.0)
    with serving(PROGRAM, ANSWERS, limits=limits, running=1, pace=0.05) as server:
        calls = threading.Thread(target=server.call, args=("greet",), kwargs={"name": "Zoë"})
        calls.start()
        server.until(lambda: server.runs.admission.running == 1)
        for stream in (False, True):
            reply = chat(server, stream=stream)
            assert error(reply) == (429, None, "queue_full") and int(reply.headers["retry-after"]) >= 1
        calls.join()


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_frees_the_engine(stream: bool) -> None:
    with serving(PROGRAM, {"answer": "x" * 4000}, pace=0.01) as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
        body = json.dumps({"model": "scripted", "messages": ASK, "stream": stream, "n": 2})
        connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
        server.until(lambda: server.model.passes > 3)
        if stream:
            connection.getresponse().read1(10)
        connection.close()
        server.until(lambda: not server.runs.by_id and server.runs.admission.running == 0, 2.0)
        seen = server.model.passes
        threading.Event().wait(0.1)
        assert server.model.passes <= seen + 1


def test_tokens_count_for_the_key_and_its_priority_holds() -> None:
    key = Key("k", digest_of("sgl-1"), tenant="t", tokens_a_day=1000)
    access = Access((key,))
    with serving(PROGRAM, {"answer": "twelve bytes"}, access=access) as server:
        body = {"model": "scripted", "messages": ASK, "n": 2}
        assert server.ask("POST", "/v1/chat/completions", body).status == 401
        found = server.ask("POST", "/v1/chat/completions", body, {"authorization": "Bearer sgl-1"})
        assert found.status == 200 and access.spent_today(key) == 24


def test_a_server_that_ends_says_so_in_a_stream() -> None:
    with serving(PROGRAM, {"answer": "x" * 4000}, pace=0.01) as server:
        replies: list[Reply] = []
        reading = threading.Thread(target=lambda: replies.append(chat(server, stream=True)))
        reading.start()
        server.until(lambda: server.model.passes > 5)
        server.stop()
        reading.join(10)
        rows = replies[0].body.decode().strip().split("\n\n")
        assert json.loads(rows[-1].removeprefix("data: "))["error"]["code"] == "cancelled"
