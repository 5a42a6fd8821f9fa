"""Holes that a model elsewhere fills: what it is sent, what is taken of its answers, and what never is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest

from backends.fake_backend import FakeBackend
from sglc.driver import compile_source
from sglc.runtime.backends.exchange import BackendFault, Cause, Ending, Message, Piece, Query, Usage
from sglc.runtime.backends.exchange import Event as BackendEvent
from sglc.runtime.backends.filling import metered
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.backends.repairing.result import BOUNDS
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source
from sglc.targets.projection.core.capabilities import Capabilities

CREW = """record Crew:
    name: str max 20 chars
    age: int in 18..70

pub fn f(theme: str) -> Crew:
    system: | You invent people.
    user: | Theme: ${theme}
    assistant: | ?{member: Crew}
    return member
"""
CAUGHT = """    try:
        assistant: | ?{member: Crew}
        return member
    except Rejected:
        return Crew("Bea", 20)"""
ADA = '{"name": "Ada", "age": 36}'


def program_of(text: str) -> Any:
    program = compile_source(Source("p.sgl", text)).program
    assert program is not None
    return program


def run(
    text: str,
    backend: FakeBackend,
    arguments: Mapping[str, object] | None = None,
    models: Mapping[str, Any] | None = None,
    **options: Any,
) -> tuple[RunResult, list[Event]]:
    events: list[Event] = []
    session = Session(program_of(text), RemoteModel(backend), models=models)
    result = asyncio.run(session.run("f", arguments or {}, on_event=events.append, **options))
    return result, events


def failing(text: str, backend: FakeBackend, **options: Any) -> SglError:
    with pytest.raises(SglError) as caught:
        run(text, backend, **options)
    return caught.value


def test_messages_go_as_they_are_and_the_schema_is_shown() -> None:
    backend = FakeBackend([ADA])
    result, _ = run(CREW, backend, {"theme": "salvage"})
    assert result.value.fields == {"name": "Ada", "age": 36}
    (query,) = backend.asked
    assert query.messages[0] == Message("system", "You invent people.")
    role, text = query.messages[1].role, query.messages[1].text
    assert role == "user" and text.startswith("Theme: salvage\n\nWrite nothing but JSON")
    assert '"maximum": 70' in text and (query.begun, query.seed, query.max_tokens) == ("", None, None)
    assert "Write nothing" not in result.text and result.text.count("Ada") == 1


@pytest.mark.parametrize(
    "answer",
    [
        '{"age":36,"name":"Ada"}',
        f"Here it is:\n```json\n{ADA}\n```\n",
        '\n{ "name": "\\u0041da", "age": 36 }\n',
    ],
)
def test_an_answer_enters_in_the_one_spelling(answer: str) -> None:
    result, _ = run(CREW, FakeBackend([answer]), {"theme": "x"})
    assert result.holes[0].text == ADA and ADA in result.text


def test_a_wrong_answer_is_told_its_fault_and_asked_again() -> None:
    backend = FakeBackend(['{"name": "Ada", "age": 7}', ADA])
    result, events = run(CREW, backend, {"theme": "x"})
    assert result.value.fields["age"] == 36 and result.text.count("Ada") == 1
    *_, wrong, told = backend.asked[1].messages
    assert (wrong.role, wrong.text) == ("assistant", '{"name": "Ada", "age": 7}')
    assert told.role == "user" and 'after `{"name": "Ada", "age": 7` only `0` may follow' in told.text
    assert [event.kind for event in events if event.kind == "again"] == ["again"]
    assert result.statistics.remote.requests == 2


def test_answers_that_stay_wrong_are_an_error_and_no_value() -> None:
    backend = FakeBackend(lambda query: '{"name": "Ada", "age": 7}')
    error = failing(CREW, backend, arguments={"theme": "x"})
    assert (error.name, error.partial) == ("Rejected", '{"name": "Ada", "age": 7')
    assert len(backend.asked) == BOUNDS.corrections


@pytest.mark.parametrize(
    ("said", "value"),
    [('{"name": "Ada", "age": 7}', ("Ada", 70)), ("no", ("", 18)), ('{"name": "Bo', ("Bo", 18))],
)
def test_a_value_that_no_answer_made_whole_is_ended_where_that_is_allowed(said: str, value: object) -> None:
    backend = FakeBackend(lambda query: said)
    events: list[Event] = []
    session = Session(program_of(CREW), RemoteModel(backend, complete=True))
    result = asyncio.run(session.run("f", {"theme": "x"}, on_event=events.append))
    assert tuple(result.value.fields.values()) == value
    assert len(backend.asked) <= BOUNDS.corrections
    assert [event.data["ended"] for event in events if event.kind == "hole_end"] == ["budget"]


def test_requests_that_came_to_nothing_count_too() -> None:
    text = CREW.replace("    assistant: | ?{member: Crew}\n    return member", CAUGHT)
    backend = FakeBackend(lambda query: "no")
    result, _ = run(text, backend, {"theme": "x"})
    assert result.statistics.remote.requests == BOUNDS.corrections
    assert result.statistics.holes == 0


LINE = """pub fn f() -> str:
    user: | q
    assistant: | The name is ?{name: line max 9 chars until "."}.
    return name
"""


def test_begun_text_is_continued_where_the_backend_can() -> None:
    backend = FakeBackend(["Ada. And"], Capabilities(continues=True, seed=True))
    result, _ = run(LINE, backend)
    assert result.value == "Ada"
    (query,) = backend.asked
    assert (query.begun, query.stops) == ("The name is ", (".",))
    assert query.seed is not None and 0 <= query.seed < 1 << 31
    shown = FakeBackend(["Ada"])
    assert run(LINE, shown)[0].value == "Ada"
    assert shown.asked[0].begun == "" and "The name is " in shown.asked[0].messages[-1].text


BUDGET = LINE.replace("-> str:", "-> str within 6 tok:").replace("max 9 chars", "max 99 chars")


def test_budgets_are_the_servers_bound_and_checked_by_usage() -> None:
    backend = FakeBackend(["Ada"])
    run(BUDGET, backend)
    assert backend.asked[0].max_tokens == 6
    assert run(LINE, FakeBackend(["Ada"]), max_tokens=3)[0].statistics.output_tokens == 1
    more = FakeBackend(["Ada"], ending=lambda text: Ending("stop", Usage(output=7)))
    assert failing(BUDGET, more).name == "Truncated"
    just = FakeBackend(["Ada"], ending=lambda text: Ending("stop", Usage(output=6)))
    assert run(BUDGET, just)[0].value == "Ada"


def test_where_usage_is_unknown_bytes_are_counted() -> None:
    result, events = run(BUDGET, FakeBackend(["Adalie"], ending=lambda text: Ending("stop")))
    assert result.statistics.output_tokens == 6 and not result.statistics.remote.counted
    end = next(event.data for event in events if event.kind == "hole_end")
    assert end["counted"] is False and end["reproducible"] is False
    seven = FakeBackend(["Adalie7"], ending=lambda text: Ending("stop"))
    assert failing(BUDGET, seven).name == "Truncated"


def test_an_answer_that_was_cut_off_is_truncated_unless_it_is_whole() -> None:
    cut = FakeBackend([ADA[:-3]], ending=lambda text: Ending("length", Usage(output=5)))
    error = failing(CREW, cut, arguments={"theme": "x"})
    assert (error.name, error.partial) == ("Truncated", ADA[:-3])
    whole = FakeBackend([ADA], ending=lambda text: Ending("length", Usage(output=9)))
    assert run(CREW, whole, {"theme": "x"})[0].value.fields["age"] == 36
    line = FakeBackend(["Ada"], ending=lambda text: Ending("length", Usage(output=1)))
    assert failing(LINE, line).name == "Truncated"


@pytest.mark.parametrize("reason", ["refused", "filtered"])
def test_refusals_and_filters_are_refused(reason: Any) -> None:
    error = failing(LINE, FakeBackend([Ending(reason, message="I will not")]))
    assert error.name == "Refused" and "I will not" in error.message


def test_faults_have_their_fields() -> None:
    fault = BackendFault("rate", "too many", endpoint="http://x", again=True, retry_after=2.5, attempts=3)
    error = failing(LINE, FakeBackend([fault]))
    assert error.name == "Backend" and "too many" in error.message
    expected = {
        "cause": "rate",
        "endpoint": "http://x",
        "attempts": 3,
        "retry_after": 2.5,
    }
    assert error.fields == expected and error.message.startswith("hole `f.name` was asked of fake:model: ")


def test_an_answer_without_an_end_is_a_fault() -> None:
    error = failing(LINE, FakeBackend(["Ada"], ending=lambda text: None))
    assert (error.name, error.fields["cause"], error.partial) == ("Backend", "protocol", "Ada")


@pytest.mark.parametrize("more", [0, 1])
def test_an_answer_is_bounded(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metered, "MOST_CHARS", 5)
    backend = FakeBackend([["Ada", ".." + "." * more]], Capabilities(continues=True))
    if more:
        error = failing(LINE, backend)
        assert (error.name, error.fields["cause"], backend.open) == ("Backend", "protocol", 0)
    else:
        assert run(LINE, backend)[0].value == "Ada"


CHAIN = LINE.replace("-> str:", "-> str using big or main:")


def test_a_chain_goes_on_where_a_backend_fails() -> None:
    big = FakeBackend([BackendFault("overloaded", "busy")], name="fake:big")
    main = FakeBackend(["Ada"])
    result, events = run(CHAIN, main, models={"big": RemoteModel(big)})
    assert result.value == "Ada"
    (failed,) = [event.data for event in events if event.kind == "fallback"]
    assert (failed["model"], failed["name"]) == ("big", "Backend")
    scripted = ReferenceEngine(ScriptedModel(["Bea"]))
    big = FakeBackend([BackendFault("overloaded", "busy")])
    session = Session(program_of(CHAIN), scripted, models={"big": RemoteModel(big)})
    assert asyncio.run(session.run("f", {})).value == "Bea"


RETRY = """pub fn f() -> str:
    user: | q
    assistant: | ?{name: line max 9 chars}
    ensure name != "Ada" else "not Ada"
        retry 2 STRATEGY
    return name
"""


def test_retries_exclude_and_repairs_show_turns() -> None:
    backend = FakeBackend(["Ada", "Ada", "Bea"])
    result, events = run(RETRY.replace("STRATEGY", "resample"), backend)
    assert (result.value, len(backend.asked)) == ("Bea", 3)
    assert [event.kind for event in events if event.kind in ("retry", "again")] == ["retry", "again"]
    backend = FakeBackend(["Ada", "Bea"])
    result, _ = run(RETRY.replace("STRATEGY", "repair"), backend)
    assert result.value == "Bea" and result.text.count("Bea") == 1 and "not Ada" not in result.text
    said = [(each.role, each.text) for each in backend.asked[1].messages]
    assert said[1] == ("assistant", "Ada") and "not Ada" in said[2][1]


MANY = """fn one(x: int) -> str:
    user: | number ${x}
    assistant: | ?{name: line max 9 chars}
    return name

pub fn f() -> [str]:
    user: | q
    let names = fork x in ["a", "b", "c"]:
        user: | letter ${x}
        assistant: | ?{name: line max 9 chars}
        yield name
    return [one(x) for x in 0..<9] + [n.value for n in names]
"""


def test_forks_and_calls_run_side_by_side() -> None:
    backend = FakeBackend(lambda query: query.messages[-1].text.split()[1])
    result, _ = run(MANY, backend)
    assert result.value == [*map(str, range(9)), "a", "b", "c"]
    assert backend.most == 12
    backend = FakeBackend(lambda query: query.messages[-1].text.split()[1])
    assert run(MANY, backend, concurrency=0)[0].value == result.value and backend.most == 3


def test_two_hundred_calls_are_in_flight_on_one_loop() -> None:
    backend = FakeBackend(lambda query: f"n{query.messages[0].text.split()[1]}")
    session = Session(program_of(LINE), RemoteModel(backend))
    backend.answers = lambda query: "Ada"

    async def all_of_them() -> Sequence[RunResult]:
        return await asyncio.gather(*(session.run("f", {}) for _ in range(200)))

    results = asyncio.run(all_of_them())
    assert [result.value for result in results] == ["Ada"] * 200 and backend.most == 200


def test_a_cancelled_run_closes_its_stream() -> None:
    async def cancelled() -> FakeBackend:
        backend = FakeBackend(lambda query: ["A"] * 1000)
        work = asyncio.create_task(Session(program_of(BUDGET), RemoteModel(backend)).run("f", {}))
        while not backend.open:
            await asyncio.sleep(0)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        return backend

    assert asyncio.run(cancelled()).open == 0


def test_pieces_are_told_as_they_are_certain() -> None:
    pieces = ['{"na', 'me":"A', 'da","age"', ":3", "6}"]
    _, events = run(CREW, FakeBackend([pieces]), {"theme": "x"})
    told = [event.text for event in events if event.kind == "generated"]
    assert "".join(told) == ADA and len(told) > 3
    assert not [event for event in events if event.kind == "again"]


def test_what_a_stream_told_in_vain_is_taken_back() -> None:
    _, events = run(CREW, FakeBackend([['{"name":"\\u0041', 'da","age":36}']]), {"theme": "x"})
    kinds = [event.kind for event in events if event.kind in ("generated", "again")]
    assert kinds[-2:] == ["again", "generated"] and events[-1].kind == "finish"
    after = [event.kind for event in events].index("again")
    assert "".join(event.text for event in events[after:] if event.kind == "generated") == ADA


def test_two_models_in_one_hole_are_refused_before_the_run() -> None:
    text = LINE.replace("-> str:", "-> str using blend(main, big):")
    with pytest.raises(ArgumentError) as caught:
        Session(program_of(text), RemoteModel(FakeBackend([])), models={"big": RemoteModel(FakeBackend([]))})
    assert caught.value.code == "E0722"


@pytest.mark.parametrize(
    ("option", "name"), [("temp 1 decode exact", "Unsupported"), ("temp 1 top_k 4", "Unsupported")]
)
def test_what_a_backend_cannot_do_is_refused(option: str, name: str) -> None:
    text = LINE.replace("chars until", f"chars {option} until")
    error = failing(text, FakeBackend(["Ada"]))
    assert error.name == name and error.hint


def test_a_value_that_can_be_no_other_is_not_asked_for() -> None:
    backend = FakeBackend([])
    text = LINE.replace('line max 9 chars until "."', 'choose ["Ada"]')
    result, _ = run(text, backend)
    assert result.value == "Ada" and not backend.asked


JUDGED = """pure fn short_words(text: str) -> alive | dead | final:
    for word in text.words():
        if len(word) > 4: return dead
    return final

pub fn f() -> str:
    user: | q
    assistant: | ?{name: line max 20 chars where short_words(name)}
    return name
"""


def test_validators_judge_whole_answers() -> None:
    backend = FakeBackend(["Ada Lovelace", "Ada Byro"])
    assert run(JUDGED, backend)[0].value == "Ada Byro"
    assert "a validator of the program refuses it" in backend.asked[1].messages[-1].text


def test_what_validators_refuse_is_within_the_same_bounds() -> None:
    backend = FakeBackend(lambda query: "Ada Lovelace")
    error = failing(JUDGED, backend)
    assert error.name == "Rejected" and "a validator" in error.message
    assert len(backend.asked) == BOUNDS.corrections


def test_a_budget_ends_a_value_along_a_shortest_ending() -> None:
    text = CREW.replace("Crew}", "Crew max 5 tok}")
    cut = FakeBackend([ADA[:12]], ending=lambda text: Ending("length", Usage(output=5)))
    result, events = run(text, cut, {"theme": "x"})
    assert result.value.fields == {"name": "Ad", "age": 18} and len(cut.asked) == 1
    assert next(event.data["ended"] for event in events if event.kind == "hole_end") == "budget"


def test_a_stream_of_tokens_is_counted_where_it_reaches_its_bound() -> None:
    """Servers send a piece for each token, and behind the last what the answer took. Without that its bytes
    would be held against the budget."""
    words = ["Twelve", " brave", " sailors", " left", " the", " harbour"]
    whole = FakeBackend([words], ending=lambda text: Ending("length", Usage(output=6)))
    result, _ = run(BUDGET, whole)
    assert result.value == "Twelve brave sailors left the harbour" and len(whole.asked) == 1
    assert result.statistics.output_tokens == 6 and result.statistics.remote.counted
    talker = FakeBackend([[*words, *[" and"] * 100]], ending=lambda text: Ending("length", Usage(output=106)))
    assert failing(BUDGET, talker).name == "Truncated" and talker.open == 0


def test_a_deadline_is_no_error_that_a_program_handles() -> None:
    text = CREW.replace("    assistant: | ?{member: Crew}\n    return member", CAUGHT)
    text = text.replace("except Rejected", "except Timeout")
    error = failing(text, FakeBackend([BackendFault("deadline", "late")]), arguments={"theme": "x"})
    assert (error.name, error.fatal) == ("Timeout", True)


def test_a_server_that_breaks_its_promise_is_asked_again() -> None:
    backend = FakeBackend(["ADA", "Bea"], Capabilities(notations=frozenset({"regex"}), continues=True))
    result, _ = run(LINE.replace("line max 9 chars", "str matching /[A-Z][a-z]+/"), backend)
    assert result.value == "Bea" and result.holes[0].answered_by == "fake:model"
    first, second = backend.asked
    assert first.enforced == second.enforced is not None
    assert (first.begun, second.begun) == ("The name is ", "The name is ")
    assert second.messages[-2] == Message("assistant", "The name is ADA")


TOOLS = """## The price of an item, in cents.
pure fn price(item: str max 9 chars) -> int:
    return 100 * len(item)

pub fn f() -> int:
    user: | How much is jam?
    assistant with tools [price] limit 2 calls: | ?{total: int in 0..999} cents.
    return total
"""


def test_tools_are_told_and_called_as_text() -> None:
    calls = {"f.tool": ["price", "answer"], "f.price": ['{"item": "jam"}'], "f.total": ["300"]}
    backend = FakeBackend(lambda query: calls[query.purpose].pop(0))
    assert run(TOOLS, backend)[0].value == 300
    (first, *_, last) = backend.asked
    assert first.messages[0].role == "system" and "You can call these functions" in first.messages[0].text
    assert ("assistant", '{"name": "price", "arguments": {"item": "jam"}}') in [
        (each.role, each.text) for each in last.messages
    ]
    assert last.messages[-1].role == "user" and last.messages[-1].text.startswith("300")


PARTIAL = """pub fn f() -> str:
    try:
        user: | q
        assistant: | Well: ?{a: line max 20 chars}
        return a
    except NAME as e:
        return "${e.name} [${e.partial}]MORE"
"""
FIELDS = " ${e.cause} ${e.endpoint} ${e.attempts} ${after}"


class Breaking(FakeBackend):
    """Begins an answer and fails, or hangs where it has no fault."""

    fault: BackendFault | None = None

    async def stream(self, query: Query) -> AsyncIterator[BackendEvent]:
        yield Piece("Ada")
        if self.fault is not None:
            raise self.fault
        await asyncio.sleep(60)


def breaking(cause: Cause) -> Breaking:
    backend = Breaking([])
    backend.fault = BackendFault(
        cause, "it broke off", endpoint="http://x", attempts=3, retry_after=2.5, partial="Ada"
    )
    return backend


@pytest.mark.parametrize(
    ("name", "backend", "more", "said"),
    [
        ("Backend", breaking("connection"), FIELDS, "Backend [Ada] connection http://x 3 2.5"),
        ("Budget", breaking("budget"), "", "Budget [Ada]"),
        ("Refused", FakeBackend(["Ada"], ending=lambda text: Ending("filtered")), "", "Refused [Ada]"),
        ("Truncated", FakeBackend(["Ada"], ending=lambda text: Ending("length")), "", "Truncated [Ada]"),
    ],
)
def test_a_program_reads_what_there_was(name: str, backend: FakeBackend, more: str, said: str) -> None:
    text = PARTIAL.replace("NAME", name).replace("MORE", more)
    if more:
        text = text.replace(" as e:\n", " as e:\n        let after = e.retry_after\n")
    assert run(text, backend)[0].value == said


def test_the_end_of_a_run_s_time_has_what_there_was() -> None:
    """Whether the policies see the deadline or the run's own clock does; no handler catches it."""
    text = PARTIAL.replace("NAME", "Timeout").replace("MORE", "")
    for backend, options in ((breaking("deadline"), {}), (Breaking([]), {"timeout": 0.2})):
        error = failing(text, backend, **options)
        assert (error.name, error.partial, error.fatal) == ("Timeout", "Ada", True)


def test_an_answer_for_several_holes_that_breaks_off_is_no_beginning_of_one() -> None:
    text = PARTIAL.replace("?{a: line max 20 chars}", "?{a: int in 0..9} of ?{b: int in 0..9}")
    text = text.replace("return a\n", 'return "${a}"\n').replace("NAME", "Backend").replace("MORE", "")
    backend = breaking("connection")
    backend.capabilities = Capabilities(notations=frozenset({"json_schema"}), dialect="openai")
    assert run(text, backend)[0].value == "Backend []"
