"""Several holes of one message in one request, with the values that requests of their own would give."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import pytest

from backends.fake_backend import Answer, FakeBackend
from sglc.bytecode.code import Program
from sglc.driver import compile_source
from sglc.runtime.backends.exchange import BackendFault, Ending, Query
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.errors import SglError
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.runtime.vm.holes.following import MOST_TOGETHER, known_text
from sglc.runtime.vm.state.frame import KnownText
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source
from sglc.targets.projection.core.capabilities import Capabilities

FIVE = """record Pet:
    kind: "cat" | "dog"

pub fn f(town: str) -> [str]:
    user: | Invent someone.
    assistant:
        | Name: ?{name: line max 9 chars until "."}. I am ?{age: int in 1..99},
        | from ${town} and ?{mood: choose ["glad", "sad"]} today
        | ?{pet: Pet}
        | ?{last: line max 20 chars}
    return [name, "${age}", mood, "${pet}", last]
"""
VALUES: Mapping[str, object] = {
    "name": "Ada",
    "age": 36,
    "mood": "glad",
    "pet": {"kind": "cat"},
    "last": "Bye.",
}
NOTHING = "Name: "
"""Where nothing of a hole came, `partial` is the message so far."""
TEXT = 'Name: Ada. I am 36,\nfrom Rome and glad today\n{"kind": "cat"}\nBye.'


def answering(values: Mapping[str, object]) -> Any:
    """Answers a request for gaps with an object, and one for a single hole with its text."""

    def answer(query: Query) -> Answer:
        if "names in braces" in query.messages[-1].text:
            return json.dumps(values)
        value = VALUES[query.purpose.rpartition(".")[2]]
        return value if isinstance(value, str) else json.dumps(value)

    return answer


@lru_cache
def program_of(text: str) -> Program:
    program = compile_source(Source("p.sgl", text)).program
    assert program is not None
    return program


def run(text: str, backend: FakeBackend, **options: Any) -> tuple[RunResult, list[Event]]:
    program = program_of(text)
    events: list[Event] = []
    arguments = {"town": "Rome"} if "town: str" in text else {}
    session = Session(program, RemoteModel(backend))
    return asyncio.run(session.run("f", arguments, on_event=events.append, **options)), events


def test_five_holes_of_a_message_are_one_request() -> None:
    backend = FakeBackend(answering(VALUES))
    result, events = run(FIVE, backend)
    assert len(backend.asked) == 1 and result.statistics.remote.requests == 1
    assert result.value == ["Ada", "36", "glad", '{"kind": "cat"}', "Bye."]
    assert TEXT in result.text and result.statistics.holes == 5
    shown = backend.asked[0].messages[-1].text
    assert "Name: {name}. I am {age},\nfrom Rome and {mood} today\n{pet}\n{last}" in shown
    told = [(event.data["hole"], event.text) for event in events if event.kind == "generated"]
    assert told == [(f"f.{name}", text) for name, text in zip(VALUES, result.value, strict=True)]
    assert [event.data["requests"] for event in events if event.kind == "hole_end"] == [1, 0, 0, 0, 0]


def test_the_values_are_those_of_requests_of_their_own() -> None:
    together, _ = run(FIVE, FakeBackend(answering(VALUES)))
    backend = FakeBackend(answering({}))
    alone, _ = run(FIVE, backend)
    assert (alone.value, alone.text) == (together.value, together.text)
    # each but the last is asked for together with the rest, in vain, and then by itself
    assert [query.purpose for query in backend.asked[-2:]] == ["f.pet", "f.last"]


@pytest.mark.parametrize(
    ("field", "value", "requests"),
    [("age", 200, 2), ("mood", "so-so", 2), ("last", "far too long for this hole", 2), ("name", 7, 3)],
)
def test_what_is_not_legal_is_asked_again(field: str, value: object, requests: int) -> None:
    """A field that is no value ends what is taken of the answer."""
    first = [True]

    def answer(query: Query) -> Answer:
        wrong, first[0] = first[0], False
        return answering({**VALUES, field: value} if wrong else VALUES)(query)

    backend = FakeBackend(answer)
    assert run(FIVE, backend)[0].text == run(FIVE, FakeBackend(answering(VALUES)))[0].text
    assert len(backend.asked) == requests


GROUPS = {
    "a value of a hole is inserted": ("${name} ?{age: int in 1..99}", 2),
    "another temperature": ("and ?{age: int in 1..99 temp 0.5}", 2),
    "a bound of its own": ("and ?{age: int in 1..99 max 9 tok}", 2),
    "a condition on what came before": ("and ?{age: int in 1..99 where age > len(name)}", 2),
    "the same": ("and ?{age: int in 1..99}", 1),
}


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_ends_where_a_request_cannot_keep_it(name: str) -> None:
    rest, requests = GROUPS[name]
    text = FIVE[FIVE.index("pub") :]
    head = text[: text.index(" I am")].replace("(town: str)", "()").replace("[str]", "str")
    backend = FakeBackend(answering(VALUES))
    result, _ = run(f'{head} {rest}\n    return "${{age}}"\n', backend)
    assert result.value == "36" and len(backend.asked) == requests


RETRIED = """pub fn f() -> str:
    user: | q
    assistant:
        | ?{name: line max 9 chars until "."}. ?{age: int in 1..99}
    ensure name != "Ada" else "not Ada"
        retry 2 WAY
    return "${name} ${age}"
"""


@pytest.mark.parametrize("way", ["resample", "repair"])
def test_a_retry_of_a_hole_asks_anew_for_what_follows(way: str) -> None:
    backend = FakeBackend([json.dumps({"name": "Ada", "age": 1}), json.dumps({"name": "Bea", "age": 2})])
    result, _ = run(RETRIED.replace("WAY", way), backend)
    assert (result.value, len(backend.asked)) == ("Bea 2", 2) and "Ada" not in result.text


def test_a_text_is_taken_only_where_it_was_foreseen() -> None:
    def frame(index: int, begun: str) -> Any:
        known = (KnownText(3, (("assistant", "a "),), "x"), KnownText(4, (("assistant", "a x "),), "y"))
        talk = SimpleNamespace(messages=lambda: (("assistant", begun),))
        return SimpleNamespace(ahead=deque(known), conversation=talk)

    right, other, elsewhere = frame(3, "a "), frame(4, "a "), frame(3, "b ")
    assert known_text(right, 3) == "x" and len(right.ahead) == 1
    assert known_text(other, 4) is None and not other.ahead
    assert known_text(elsewhere, 3) is None and not elsewhere.ahead


@pytest.mark.parametrize(
    ("came", "partial"),
    [
        ('{"name": "Ad', "Ad"),
        ('Here it is:\n{\n  "name" : "Ada", "age": 3', "Ada"),
        ('{"name": "A\\u00e9\\u00', "Aé"),
        ('{"name": "A\\', "A"),
        ('{"name": "far too long for this hole', "far too l"),
        ('{"na', NOTHING),
        ('{"age": 36, "name": "Ada"', NOTHING),
        ("I would say", NOTHING),
        ("", NOTHING),
    ],
)
def test_an_answer_that_breaks_off_leaves_what_came_of_its_first_hole(came: str, partial: str) -> None:
    fault = BackendFault("connection", "it broke off", partial=came)
    with pytest.raises(SglError) as caught:
        run(FIVE, FakeBackend([fault]))
    assert (caught.value.name, caught.value.partial) == ("Backend", partial)


@pytest.mark.parametrize(
    ("came", "partial"), [('{"pet": {"kind":"ca', '{"kind": "ca'), ('{"pet": {"kind": 7', '{"kind": ')]
)
def test_of_a_record_that_breaks_off_its_legal_beginning_is_left(came: str, partial: str) -> None:
    text = FIVE.replace(
        '| Name: ?{name: line max 9 chars until "."}. I am ?{age: int in 1..99},',
        "| ?{pet: Pet}, ?{age: int in 1..99}",
    )
    text = text.replace(
        '        | from ${town} and ?{mood: choose ["glad", "sad"]} today\n        | ?{pet: Pet}\n', ""
    )
    text = text.replace('[name, "${age}", mood, "${pet}", last]', '["${age}", "${pet}", last]')
    with pytest.raises(SglError) as caught:
        run(text, FakeBackend([BackendFault("connection", "it broke off", partial=came)]))
    assert caught.value.partial == partial


def test_a_refusal_in_its_middle_leaves_what_came() -> None:
    backend = FakeBackend([['{"name": "Ad']], ending=lambda text: Ending("filtered"))
    with pytest.raises(SglError) as caught:
        run(FIVE, backend)
    assert (caught.value.name, caught.value.partial) == ("Refused", "Ad")


def test_a_weaker_guarantee_is_not_taken() -> None:
    choice = Capabilities(notations=frozenset({"choice"}))
    text = """pub fn f() -> str:
    user: | q
    assistant: | ?{mood: choose ["glad", "sad"]} ?{other: line max 9 chars}
    return "${mood} ${other}"
"""
    backend = FakeBackend(["glad", "up"], choice)
    assert run(text, backend)[0].value == "glad up" and len(backend.asked) == 2
    shown = FakeBackend([json.dumps({"mood": "sad", "other": "down"})])
    assert run(text, shown)[0].value == "sad down" and len(shown.asked) == 1


@pytest.mark.parametrize("more", [0, 1])
def test_a_request_fills_no_more_than_so_many_holes(more: int) -> None:
    count = MOST_TOGETHER + more
    holes = " ".join(f"?{{a{number}: int in 1..9}}" for number in range(count))
    text = f"pub fn f() -> int:\n    user: | q\n    assistant: | {holes}\n    return a0\n"
    backend = FakeBackend(
        lambda query: (
            json.dumps({f"a{number}": 3 for number in range(count)})
            if "braces" in query.messages[-1].text
            else "3"
        )
    )
    run(text, backend)
    assert len(backend.asked) == 1 + more


def test_the_reader_of_a_stream_gets_each_hole_by_itself() -> None:
    text = """record Both:
    one: int in 1..9

fn g() -> Both:
    user: | q
    assistant:
        | ?{both: Both} ?{more: int in 1..9}
    return both

pub fn f() -> int:
    var found = 0
    for each in stream g():
        found = found + 1
    return found
"""
    backend = FakeBackend([['{"one"', ": 3", "}"], "4"])
    result, _ = run(text, backend)
    assert result.value >= 1 and len(backend.asked) == 2
