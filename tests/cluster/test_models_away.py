"""Requests to models of workers in this process: workers that die, known forms, messages, what is loaded."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.fake_workers import FakeLink, Fleet
from sglc.commands.clustering.served import PoolModels
from sglc.runtime.cluster import beginnings
from sglc.runtime.cluster import pool as pools
from sglc.runtime.cluster.beginnings import RequestBeginnings
from sglc.runtime.cluster.messages import (
    Garbled,
    ModelRequest,
    Reply,
    asked_of,
    call_line,
    event_line,
    failure_line,
    read,
    reply_line,
    reply_of,
    request_of,
    written,
)
from sglc.runtime.cluster.pool import TRIES, Pool
from sglc.runtime.cluster.router import Beginning
from sglc.runtime.cluster.scaling import Sizes
from sglc.runtime.errors import SglError
from sglc.runtime.model.load import load_tokenizer
from sglc.runtime.serve.openai.asked import read_chat
from sglc.runtime.serve.openai.away import CompletionAway, KnownForms
from sglc.runtime.serve.openai.errors import wrong
from sglc.runtime.serve.openai.forms import MOST_FORMS, TEXT, Form
from sglc.runtime.serve.options import CallOptions
from sglc.runtime.serve.problems import TITLES, Problem, Refusal
from sglc.runtime.vm.state.trace import Event


@pytest.fixture(autouse=True)
def no_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "BACK_OFF", 0.0)


class Heard:
    """What a run hears."""

    def __init__(self) -> None:
        self.tokens = 0

    def __call__(self, event: Event) -> None:
        self.tokens += int(event.data["tokens"])


def go(work: Callable[[Pool, Fleet], Awaitable[None]]) -> None:
    """Two workers that say what the test has them say."""

    async def whole() -> None:
        fleet = Fleet(held=True)
        pool = Pool(fleet.start, written(setup={}), Sizes(2, 2))
        await pool.open()
        pool.models = {"m": "m"}
        try:
            await asyncio.wait_for(work(pool, fleet), 20)
        finally:
            await pool.close()

    asyncio.run(whole())


async def settled() -> None:
    for _ in range(30):
        await asyncio.sleep(0)


def completion(pool: Pool, forms: KnownForms | None = None, **body: Any) -> CompletionAway:
    data: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Go"}], **body}
    made = CompletionAway(
        PoolModels(pool, {}), "chat", json.dumps(data), read_chat(data), forms or KnownForms(), lambda: None
    )
    made.id = "run"
    return made


def busy(fleet: Fleet) -> tuple[FakeLink, int]:
    """The worker that has the only request, and its number."""
    [found] = [(link, number) for link in fleet.alive for number in link.calls]
    return found


def tell(fleet: Fleet, text: str) -> None:
    link, number = busy(fleet)
    link.told.put_nowait(event_line(number, Event("chunk", {"text": text})))


def end(fleet: Fleet, tokens: int) -> None:
    link, number = busy(fleet)
    link.told.put_nowait(event_line(number, Event("hole_end", {"hole": "answer 0", "tokens": tokens})))


def answer(fleet: Fleet, found: Reply | Exception) -> None:
    link, number = busy(fleet)
    link.answer = lambda _: found
    link.release(number)


def begin(work: CompletionAway, heard: Heard) -> asyncio.Task[Any]:
    return asyncio.ensure_future(work.answer({}, CallOptions(), heard))


def test_a_stream_that_nobody_was_sent_begins_anew_elsewhere() -> None:
    async def work(pool: Pool, fleet: Fleet) -> None:
        made, heard = completion(pool, stream=True), Heard()
        going = begin(made, heard)
        await settled()
        tell(fleet, "lost")
        await settled()
        busy(fleet)[0].die()
        await settled()
        assert made.chunks(ended=False, problem=None) == ""  # what the dead one told is void
        tell(fleet, "one ")
        tell(fleet, "two")
        end(fleet, 2)
        answer(fleet, Reply("", {"output_tokens": 2}))
        await going
        assert made.chunks(ended=True, problem=None) == "one two" and heard.tokens == 2

    go(work)


def test_a_stream_that_was_sent_ends_with_an_error_and_has_no_text_twice() -> None:
    async def work(pool: Pool, fleet: Fleet) -> None:
        made, heard = completion(pool, stream=True), Heard()
        going = begin(made, heard)
        await settled()
        tell(fleet, "one ")
        await settled()
        assert made.chunks(ended=False, problem=None) == "one "
        busy(fleet)[0].die()
        await settled()
        tell(fleet, "one ")
        await settled()
        assert not any(link.calls for link in fleet.alive)  # the second worker is told to stop
        with pytest.raises(SglError) as raised:
            await going
        problem = made.problem(raised.value)
        assert (problem.name, problem.status) == ("Backend", 502)
        last = made.chunks(ended=True, problem=problem)
        assert last.startswith('data: {"error"') and '"code": "E0707"' in last

    go(work)


def test_what_fails_behind_the_last_chunk_is_not_told() -> None:
    async def work(pool: Pool, fleet: Fleet) -> None:
        made = completion(pool, stream=True)
        going = begin(made, Heard())
        await settled()
        tell(fleet, "data: [DONE]\n\n")
        await settled()
        assert made.chunks(ended=False, problem=None) == "data: [DONE]\n\n"
        answer(fleet, SglError("Failure", "late"))
        with pytest.raises(SglError) as raised:
            await going
        assert made.chunks(ended=True, problem=made.problem(raised.value)) == ""

    go(work)


def test_a_whole_answer_is_repeated() -> None:
    async def work(pool: Pool, fleet: Fleet) -> None:
        made, heard = completion(pool), Heard()
        going = begin(made, heard)
        await settled()
        busy(fleet)[0].die()
        await settled()
        end(fleet, 5)
        answer(fleet, Reply('{"a": 1}', {"output_tokens": 5}))
        await going
        assert made.whole() == '{"a": 1}' and heard.tokens == 5

    go(work)


def test_a_request_that_kills_its_workers_ends() -> None:
    async def work(pool: Pool, fleet: Fleet) -> None:
        made = completion(pool, stream=True)
        going = begin(made, Heard())
        for _ in range(TRIES):
            await settled()
            busy(fleet)[0].die()
        with pytest.raises(SglError) as raised:
            await going
        assert made.problem(raised.value).status in (500, 502)

    go(work)


def test_a_client_that_leaves_ends_the_work() -> None:
    async def work(pool: Pool, fleet: Fleet) -> None:
        going = begin(completion(pool, stream=True), Heard())
        await settled()
        link, number = busy(fleet)
        going.cancel()
        await settled()
        assert link.cancelled == [number] and pool.calls == 0

    go(work)


def test_a_refusal_of_a_worker_is_that_of_the_request() -> None:
    async def work(pool: Pool, fleet: Fleet) -> None:
        going = begin(completion(pool), Heard())
        await settled()
        answer(fleet, wrong("messages", "too long", "context_length_exceeded"))
        with pytest.raises(Refusal) as raised:
            await going
        problem = raised.value.problem
        assert (problem.status, problem.code, problem.fields) == (
            400,
            "context_length_exceeded",
            {"param": "messages"},
        )

    go(work)


def test_a_new_form_counts_once_and_one_that_fails_each_time() -> None:
    forms, asked = KnownForms(), []
    form = Form("regex", "a")

    def ask(form: Form, fault: BaseException | None = None) -> None:
        try:
            with forms.noted(form, lambda: asked.append(form)):
                if fault is not None:
                    raise fault
        except (Refusal, asyncio.CancelledError):
            pass

    ask(TEXT)
    assert asked == []
    for fault in (wrong("structured_outputs.regex", "no"), asyncio.CancelledError()):
        ask(form, fault)
    ask(form)
    assert asked == [form] * 3
    ask(form)
    ask(form, wrong("messages", "too long"))  # it was known before
    ask(form)
    assert asked == [form] * 3
    for number in range(MOST_FORMS):
        ask(Form("regex", str(number)))
    ask(form)
    assert asked[-1] == form  # others have taken its place


def test_a_form_that_is_refused_is_not_known() -> None:
    forms = KnownForms()

    def refuse() -> None:
        raise Refusal(Problem(429, "Schemas", "too many"))

    for _ in range(2):
        with pytest.raises(Refusal), forms.noted(Form("regex", "a"), refuse):
            pytest.fail("it was not admitted")


# -- messages ----------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=[]), max_size=30)
SECONDS = st.none() | st.floats(allow_nan=False, allow_infinity=False)
REQUESTS = st.builds(
    ModelRequest, st.sampled_from(["chat", "text"]), TEXTS, TEXTS, SECONDS, st.integers(-100, 100), TEXTS
)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
KEPT_TEXTS = st.text(max_size=30)  # what a client is told has no half characters
PROBLEMS = st.builds(
    Problem,
    st.sampled_from(sorted(TITLES)),
    KEPT_TEXTS,
    KEPT_TEXTS,
    KEPT_TEXTS,
    KEPT_TEXTS,
    st.dictionaries(KEPT_TEXTS, st.none() | st.integers() | KEPT_TEXTS, max_size=3),
    retry_after=SECONDS,
)


@given(st.integers(0), REQUESTS)
def test_requests_travel_unchanged(number: int, request: ModelRequest) -> None:
    line = call_line(number, request)
    assert "\n" not in line and line.isascii()
    assert request_of(read(line)) == request and read(line)["call"] == number


@given(PROBLEMS)
def test_refusals_travel_unchanged(problem: Problem) -> None:
    with pytest.raises(Refusal) as raised:
        reply_of(read(failure_line(3, Refusal(problem))))
    assert raised.value.problem == problem


@given(
    REQUESTS,
    st.sampled_from(["kind", "body", "id", "timeout", "priority", "tenant"]),
    PLAIN | st.just(10**400),
)
def test_damaged_requests_are_garbled(request: ModelRequest, name: str, value: object) -> None:
    data = {**read(call_line(1, request)), name: value}
    try:
        found = request_of(data)
    except Garbled:
        return
    assert isinstance(found, ModelRequest) and isinstance(found.body, str)


@given(
    PROBLEMS,
    st.sampled_from(["kind", "status", "name", "detail", "code", "hint", "fields", "retry_after"]),
    PLAIN | st.just(10**400),
)
def test_damaged_refusals_are_garbled(problem: Problem, name: str, value: object) -> None:
    data = read(failure_line(3, Refusal(problem)))
    failure = data["failure"]
    assert isinstance(failure, dict)
    with pytest.raises(Exception) as raised:
        reply_of({**data, "failure": {**failure, name: value}})
    assert isinstance(raised.value, Garbled | Refusal | SglError) or name == "kind"


@given(st.binary(max_size=60), st.integers(0, 200), REQUESTS)
def test_damaged_lines_are_garbled(noise: bytes, at: int, request: ModelRequest) -> None:
    line = call_line(1, request).encode()
    damaged = line[:at] + noise + line[at + len(noise) :]
    try:
        data = read(damaged)
        if request_of(data) is None:
            asked_of(data)
    except Garbled:
        pass


@given(TEXTS, st.integers(0))
def test_replies_travel_unchanged(text: str, tokens: int) -> None:
    reply = Reply(text, {"output_tokens": tokens})
    found = reply_of(read(reply_line(1, reply)))
    assert found == reply and found.written == tokens


def test_a_worker_needs_no_package_of_servers() -> None:
    code = (
        "import sys; import sglc.runtime.serve.openai.chat_models, sglc.runtime.cluster.worker_programs; "
        "print(*{name.split('.')[0] for name in sys.modules} & {'starlette', 'uvicorn', 'anyio'})"
    )
    found = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


@pytest.mark.model
def test_a_long_conversation_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    known = RequestBeginnings(load_tokenizer("smollm2"))
    texts = ["A word or two. " * 20, "and more " * 40, "at last"]

    def of(*roles: str) -> Beginning:
        messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
        return asyncio.run(known.of(read_chat({"model": "m", "messages": messages})))

    whole = of("system", "user", "assistant")
    monkeypatch.setattr(beginnings, "LONGEST_READ", 450)
    cut = of("system", "user", "assistant")
    assert 5 < len(cut.names) < len(whole.names) and cut.names[:-1] == whole.names[: len(cut.names) - 1]
