"""Calls from real brokers: results once, replies, dead letters, attempts, the end of the server."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from serving.brokers import BrokerClient, TestBroker
from serving.server import serving
from sglc.runtime.serve.faces import MakeFace
from sglc.runtime.serve.functions import ServedFunction
from sglc.runtime.serve.options import ServeLimits
from sglc.runtime.serve.problems import Problem, Refusal
from sglc.runtime.serve.queue.address import read_address
from sglc.runtime.serve.queue.messages import read_call
from sglc.runtime.serve.queue.worker import QueueFace

PROGRAM = """
error Unclear(why: str)

pub fn double(x: int) -> int:
    return x * 2

pub fn exact(x: decimal) -> decimal:
    return x

pub fn fails(why: str) -> int raises Unclear:
    raise Unclear(why)

pub fn long(theme: str) -> str:
    assistant: | ?{text: str max 4000 chars}
    return text
"""
ANSWERS = {"long.text": "a" * 3000}
Json = dict[str, Any]


@pytest.fixture(autouse=True)
def short_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers end sooner."""
    monkeypatch.setattr("sglc.runtime.serve.queue.worker.TAKE_SECONDS", 0.1)


@pytest.fixture(params=["redis", "nats"])
def broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TestBroker]:
    made = TestBroker(request.param, tmp_path / "broker")
    made.process.start()
    try:
        yield made
    finally:
        made.process.kill()


def face(broker: TestBroker, **options: object) -> MakeFace:
    """What serves the queue of a broker."""
    address = read_address(broker.url(**options))
    if address.redis:
        from sglc.runtime.serve.queue.redis_streams import RedisQueue

        return lambda served: QueueFace(served, address, RedisQueue(address))
    from sglc.runtime.serve.queue.jetstream import JetStreamQueue

    return lambda served: QueueFace(served, address, JetStreamQueue(address))


def digest_of(message: Json) -> str:
    """The digest of a message, by Python's own JSON."""
    if "id" in message:
        return hashlib.sha256(message["id"].encode()).hexdigest()
    content = {"function": message["function"], "arguments": message.get("arguments", {})}
    content["options"] = message.get("options", {})
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def results(broker: TestBroker, *messages: Json) -> list[Json | None]:
    """What is stored of messages."""

    async def read(client: BrokerClient) -> list[Json | None]:
        return [await client.result(digest_of(each)) for each in messages]

    return broker.ask(read)


def letters(broker: TestBroker) -> list[Json]:
    """The dead letters."""
    return broker.ask(lambda client: client.letters())


def call(function: str, **more: Any) -> Json:
    """A message: `id`, `reply` and `options` are its own members, the others arguments."""
    own = {name: more.pop(name) for name in ("id", "reply", "options") if name in more}
    return {"function": function, "arguments": more, **own}


def test_calls_have_results_and_replies(broker: TestBroker) -> None:
    value = call("double", x=21, id="order 1")
    declared = call("fails", why="no paper", id="a")
    wrong = call("double", x="two", id="b", reply="mine")
    none = call("doubel", x=2, id="ü")
    nameless = call("exact", x=0.1, options={"seed": 7}, reply="mine")
    with serving(PROGRAM, faces=[face(broker)]):
        broker.send(value, declared, wrong, none, nameless)
        broker.until_settled()
    found = results(broker, value, declared, wrong, none, nameless)
    assert all(each is not None for each in found)
    first, second, third, fourth, fifth = [each or {} for each in found]
    assert (first["value"], first["id"], first["function"]) == (42, "order 1", "double")
    assert first["digest"] == digest_of(value) and first["checks"] == []
    assert second["problem"]["name"] == "Unclear" and second["problem"]["fields"] == {"why": "no paper"}
    assert third["problem"]["status"] == 400 and "`x`" in third["problem"]["detail"]
    assert fourth["problem"]["status"] == 404 and "`double`" in fourth["problem"]["hint"]
    assert fifth["value"] == 0.1 and "id" not in fifth
    told = broker.ask(lambda client: client.replies("mine"))
    assert sorted(each["digest"] for each in told) == sorted([third["digest"], fifth["digest"]])
    assert letters(broker) == []


def test_a_message_that_comes_again_is_not_run_again(broker: TestBroker) -> None:
    message = call("long", theme="x", id="one", reply="r")
    with serving(PROGRAM, {"long.text": "a" * 100}, pace=0.001, faces=[face(broker)]) as server:
        broker.send(*[message] * 5)
        broker.until_settled()
        passes = server.model.passes
        broker.send(message)
        broker.until_settled()
        assert server.model.passes == passes <= 150
    told = broker.ask(lambda client: client.replies("r"))
    assert len(told) == 6 and len({json.dumps(each) for each in told}) == 1
    assert told[0] == (results(broker, message)[0])


def test_one_id_for_two_calls_is_a_dead_letter(broker: TestBroker) -> None:
    with serving(PROGRAM, faces=[face(broker)]):
        broker.send(call("double", x=1, id="one"))
        broker.until_settled()
        broker.send(call("double", x=2, id="one"))
        broker.until_settled()
    (letter,) = letters(broker)
    assert "another call" in letter["reason"] and json.loads(letter["message"])["arguments"] == {"x": 2}
    stored = results(broker, call("double", x=1, id="one"))[0]
    assert stored is not None and stored["value"] == 2


POISON = [
    (b"no json", "no JSON"),
    (b"[1]", "object"),
    (b'{"function": "double", "function": "double"}', "twice"),
    (b'{"function": 3}', "`function`"),
    (b'{"function": "double", "arguments": [1]}', "`arguments`"),
    (b'{"function": "double", "id": 1}', "`id`"),
    (b'{"function": "double", "reply": "a:b"}', "`reply`"),
    (b'{"function": "double", "argument": {}}', "no member `argument`"),
    (b"\xff", "UTF-8"),
    (b'"' + b"x" * 4000 + b'"', "larger than 3000 bytes"),
]


def test_what_is_no_call_is_a_dead_letter(broker: TestBroker) -> None:
    limits = ServeLimits(body=3000, grace=0)
    good = call("double", x=4)
    with serving(PROGRAM, faces=[face(broker)], limits=limits):
        broker.send(*(data for data, _ in POISON), good)
        broker.until_settled()
    assert (results(broker, good)[0] or {})["value"] == 8
    reasons = sorted(each["reason"] for each in letters(broker))
    assert len(reasons) == len(POISON)
    assert all(any(words in reason for reason in reasons) for _, words in POISON)


def test_no_more_messages_are_taken_than_there_are_places(broker: TestBroker) -> None:
    """Ten long calls and two places: the broker keeps the other eight for other workers."""
    messages = [call("long", theme=str(n)) for n in range(10)]
    with serving(PROGRAM, ANSWERS, pace=0.01, faces=[face(broker)], running=2) as server:
        broker.send(*messages)
        server.until(lambda: server.runs.admission.running == 2, 60)
        most = 0
        passes = server.model.passes
        while server.model.passes < passes + 30:
            most = max(most, len(server.runs.going))
        assert most == 2 and server.runs.admission.waiting == 0
    assert results(broker, *messages) == [None] * 10


@pytest.mark.slow
def test_the_end_gives_back_what_has_not_ended(broker: TestBroker) -> None:
    messages = [call("long", theme=str(n)) for n in range(3)]
    with serving(PROGRAM, ANSWERS, pace=0.01, faces=[face(broker)]) as server:
        broker.send(*messages)
        server.until(lambda: len(server.runs.going) == 3, 60)
    assert results(broker, *messages) == [None] * 3
    with serving(PROGRAM, {"long.text": "b"}, faces=[face(broker)]):
        broker.until_settled()
    assert [each and each["value"] for each in results(broker, *messages)] == ["b"] * 3


@pytest.mark.slow
def test_what_a_retry_can_mend_is_made_again(broker: TestBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the model elsewhere is away; a third call is given up after three attempts."""
    tries: dict[int, int] = {}
    whole = ServedFunction.answer

    async def answer(self: ServedFunction, arguments: Any, options: Any, hear: Any) -> Any:
        x = int(arguments["x"])
        tries[x] = tries.get(x, 0) + 1
        if x == 2 or tries[x] < 3:
            cause = "access" if x == 3 else "connection"
            raise Refusal(Problem(502, "Backend", "it is away", fields={"cause": cause}))
        return await whole(self, arguments, options, hear)

    monkeypatch.setattr(ServedFunction, "answer", answer)
    messages = [call("double", x=x) for x in (1, 2, 3)]
    with serving(PROGRAM, faces=[face(broker, attempts=3, idle=1)]):
        broker.send(*messages)
        broker.until_settled()
    assert tries == {1: 3, 2: 3, 3: 1}
    one, two, three = (each or {} for each in results(broker, *messages))
    assert one["value"] == 2
    assert two["problem"]["name"] == three["problem"]["name"] == "Backend"
    (letter,) = letters(broker)
    assert letter["attempts"] == 3 and letter["problem"]["detail"] == "it is away"
    assert json.loads(letter["message"]) == messages[1]


@pytest.mark.slow
def test_a_broker_that_dies_is_waited_for(broker: TestBroker) -> None:
    before, after = call("long", theme="x"), call("double", x=1)
    with serving(PROGRAM, {"long.text": "a" * 50}, pace=0.01, faces=[face(broker)]) as server:
        broker.send(before)
        server.until(lambda: len(server.runs.going) == 1, 60)
        broker.process.kill()
        server.until(lambda: not server.runs.going, 60)
        broker.process.start()
        broker.send(after)
        broker.until_settled()
        assert server.ask("GET", "/healthz").status == 200
    first, second = (each or {} for each in results(broker, before, after))
    assert (first["value"], second["value"]) == ("a" * 50, 2)


def test_the_digest_has_canonical_content() -> None:
    plain = {"function": "f", "arguments": {"b": [1, {"z": "ü", "a": None}], "a": 'x\n"\u2028'}}
    other = b'{"arguments": {"a": "x\\n\\"\\u2028", "b": [1, {"a": null, "z": "\\u00fc"}]}, "function": "f"}'
    assert read_call(other, 1000).digest == digest_of(plain)
    assert read_call(b'{"function": "f", "options": null}', 100).digest == digest_of({"function": "f"})
