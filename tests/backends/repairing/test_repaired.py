"""Repair of remote answers: what is kept, what is asked for again, what is refused, and when it gives up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from backends.answering import Answering
from backends.virtual_time import run as run_virtual
from sglc.runtime.backends.exchange import (
    BackendFault,
    Ending,
    Event,
    Message,
    Piece,
    Query,
    TokenChance,
    Usage,
)
from sglc.runtime.backends.repairing.asking import READ_ON
from sglc.runtime.backends.repairing.repair import repaired
from sglc.runtime.backends.repairing.result import BOUNDS, Observer, Repaired
from sglc.runtime.backends.repairing.values import json_values
from sglc.runtime.errors import SglError
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.explanation import byte_vocabulary
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.repair.result import Bounds, Correction
from sglc.targets.projection.canonical import AnswerError
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.core.enforcement import Enforcement
from sglc.types.type import FieldType, Int, ListOf, Named, Optional, RecordType, Str, Type, matching

CREW = {"Crew": RecordType("Crew", (FieldType("name", Str(max_chars=12)), FieldType("age", Int(1, 99))))}
GOES_ON = Capabilities(continues=True)
TELLS = Capabilities(continues=True, top_logprobs=5)
QUESTION = Query((Message("user", "Who?"),))


def matcher(**given: Any) -> Matcher:
    return compile_constraint(**given).matcher(byte_vocabulary())


def crew(backend: Answering, query: Query = QUESTION, **options: Any) -> Repaired:
    """A repaired record, read as values."""
    legal = matcher(type=Named("Crew"), table=CREW)
    values = json_values(Named("Crew"), CREW)
    assert values is not None
    return asyncio.run(repaired(backend, query, legal, values=values, **options))


async def repaired_crew(backend: Answering) -> Repaired:
    """The same within a loop."""
    values = json_values(Named("Crew"), CREW)
    return await repaired(backend, QUESTION, matcher(type=Named("Crew"), table=CREW), values=values)


def text(backend: Answering, query: Query = QUESTION, bounds: Bounds = BOUNDS, **given: Any) -> Repaired:
    options = {key: given.pop(key) for key in ("observer", "complete", "clock") if key in given}
    return asyncio.run(repaired(backend, query, matcher(**given), bounds, **options))


# -- values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        '{"name": "Ann", "age": 12}',
        '{"age":12,"name":"Ann"}',
        '\n{\n  "name" : "\\u0041nn",\n  "age" : 12.0\n}\n',
        '```json\n{"name": "Ann", "age": 12}\n```',
        '```\n{"name": "Ann",\n "age": 12}\n```\nI hope that helps.',
        'Sure! Here is the {record} that you want:\n\n{"name": "Ann", "age": 12}\n\nAnything else?',
        'An entry of [1] as JSON: ```json\n{"age": 12, "name": "Ann"}```',
    ],
)
@pytest.mark.parametrize("goes_on", [False, True])
def test_values_in_other_spellings_are_read_and_written_in_the_one_of_the_language(
    answer: str, goes_on: bool
) -> None:
    backend = Answering([answer], GOES_ON if goes_on else None)
    found = crew(backend)
    assert found.text == '{"name": "Ann", "age": 12}'
    assert found.requests == 1
    assert {each.by for each in found.corrections} <= {"end"}


def test_an_answer_is_read_as_a_value_once() -> None:
    values, read = json_values(Named("Crew"), CREW), []
    assert values is not None

    def canonical(text: str) -> str:
        read.append(text)
        return values.canonical(text)

    backend, legal = Answering(['{"age":12,"name":"Ann"}']), matcher(type=Named("Crew"), table=CREW)
    asyncio.run(repaired(backend, QUESTION, legal, values=replace(values, canonical=canonical)))
    assert read == ['{"age":12,"name":"Ann"}']


def test_a_stream_of_prose_alone_is_left_at_its_bound() -> None:
    backend = Answering(["x" * 10_000, '{"name": "Ann", "age": 12}'])
    assert crew(backend).requests == 2
    assert len(backend.read[0]) == 4_096


def test_a_value_at_the_beginning_is_left_at_its_first_illegal_byte() -> None:
    backend = Answering(['{"name": 7, "age": 12}' + "x" * 100, '{"name": "Ann", "age": 12}'])
    found = crew(backend)
    assert backend.read[0] == '{"name": 7'
    assert (found.requests, found.uncounted, found.usage) == (2, 1, Usage(10, 26))
    assert backend.closed == 1  # the second one is read to its end
    assert found.ended == "complete"


@pytest.mark.parametrize("more", [READ_ON, READ_ON + 1])
def test_behind_a_value_a_stream_is_read_to_its_end_if_that_comes_soon(more: int) -> None:
    backend = Answering(['{"name": "Ann", "age": 12}' + "." * more])
    found = crew(backend)
    assert (found.uncounted, backend.closed) == ((0, 0) if more == READ_ON else (1, 1))
    assert (found.usage.prompt > 0) == (more == READ_ON) and found.requests == 1


def test_an_end_that_does_not_come_is_not_waited_for() -> None:
    class Silent(Answering):
        async def stream(self, query: Query) -> AsyncIterator[Event]:
            yield Piece('{"name": "Ann", "age": 12}')
            await asyncio.Event().wait()

    found = run_virtual(repaired_crew(Silent([])))
    assert found.text == '{"name": "Ann", "age": 12}' and found.uncounted == 1


@pytest.mark.parametrize("most", [None, 3])
def test_a_backend_that_cuts_answers_at_its_own_bound_is_not_asked_again(most: int | None) -> None:
    cut = [Piece('{"name": "An'), Ending("length", Usage(1, 3))]
    backend = Answering([cut, '{"name": "Ann", "age": 12}'])
    query = replace(QUESTION, max_tokens=most)
    if most is None:
        with pytest.raises(SglError) as caught:
            crew(backend, query)
        assert (caught.value.name, caught.value.partial) == ("Truncated", '{"name": "An')
    else:
        assert crew(backend, query).text == '{"name": "An", "age": 1}'
    assert len(backend.queries) == 1


ENFORCED = Enforcement(
    "json_schema",
    schema={
        "type": "object",
        "properties": {"value": {"type": "array", "items": {"type": "integer"}}},
        "required": ["value"],
    },
    reading="wrapped",
)


def test_what_is_enforced_is_asked_for_whole_and_read_as_it_was_enforced() -> None:
    backend = Answering(['{"value": [1, 2, 300]}', '{"value":[1,2]}'], GOES_ON)
    type, query = ListOf(Int(1, 99)), Query(QUESTION.messages, begun="Here: ", enforced=ENFORCED)
    values = json_values(type, {}, ENFORCED)
    found = asyncio.run(repaired(backend, query, matcher(type=type), values=values))
    assert (found.text, found.requests) == ("[1, 2]", 2)
    assert [each.begun for each in backend.queries] == ["Here: ", "Here: "]
    assert backend.queries[1].messages[1] == Message("assistant", 'Here: {"value": [1, 2, 300]}')


@pytest.mark.parametrize(
    ("type", "enforced", "reads"),
    [
        (Str(), None, False),
        (Named("Crew"), None, True),
        (Optional(Named("Crew")), None, True),
        (Named("Crew"), Enforcement("gbnf", "root ::= [a]"), False),
        (Str(), Enforcement("json_schema", schema={"type": "string"}, reading="json"), True),
        (None, None, False),
    ],
)
def test_answers_are_json_where_a_schema_says_so_or_the_type_does(
    type: Type | None, enforced: Enforcement | None, reads: bool
) -> None:
    assert (json_values(type, CREW, enforced) is not None) == reads


def test_a_schema_beyond_the_limits_is_read_as_any_json() -> None:
    unknown = Enforcement("json_schema", schema={"$ref": "#/$defs/None"}, reading="json")
    values = json_values(Named("Crew"), CREW, unknown)
    assert values is not None
    assert values.canonical('{"age": 3, "name": "Bo"}') == '{"name": "Bo", "age": 3}'
    with pytest.raises(AnswerError):
        values.canonical('{"age": 3}')


# -- all is asked for again ------------------------------------------------------------------------------


def test_the_fault_is_named_in_turns_that_are_in_one_request_alone() -> None:
    backend = Answering(['{"name": "Ann", "age": 1x', '{"name": "Bo"; ', '{"name": "Cy", "age": 3}'])
    found = crew(backend)
    assert found.text == '{"name": "Cy", "age": 3}'
    first, second, third = (query.messages for query in backend.queries)
    assert first == QUESTION.messages
    assert second[:2] == (*QUESTION.messages, Message("assistant", '{"name": "Ann", "age": 1x'))
    assert 'after `{"name": "Ann", "age": 1` only a digit, ' in second[2].text
    assert "`}` may follow, but it went on with `x`" in second[2].text
    assert third[1] == Message("assistant", '{"name": "Bo";') and len(third) == 3
    assert all(query.begun == "" for query in backend.queries)
    assert found.corrections == (
        Correction(0, '{"name": "Ann", "age": 1x', "", "again"),
        Correction(0, '{"name": "Bo";', "", "again"),
    )


def test_a_number_that_goes_on_is_not_cut() -> None:
    backend = Answering(["4200", "42 apples"])
    found = text(backend, regex="[1-9][0-9]?")
    assert (found.text, found.ended, found.requests) == ("42", "cut", 2)


def test_a_text_that_ends_too_soon_is_asked_for_again() -> None:
    backend = Answering(["gr", "green"])
    assert text(backend, choices=["grey", "green"]).text == "green"
    assert "it ended there" in backend.queries[1].messages[-1].text


def test_what_can_be_no_other_is_put_behind_a_whole_answer() -> None:
    assert text(Answering(["green"]), regex="green!|blue!").text == "green!"
    assert text(Answering(["never"]), regex="sure").requests == 0


def test_excluded_values_are_asked_for_again() -> None:
    backend = Answering(['{"name": "Ann", "age": 12}', '{"age": 13, "name": "Ann"}'])
    values = json_values(Named("Crew"), CREW)
    legal = matcher(regex=r'\{"name": "[A-Z][a-z]*", "age": 1[3-9]\}')
    found = asyncio.run(repaired(backend, QUESTION, legal, values=values))
    assert found.text == '{"name": "Ann", "age": 13}'
    assert "not one of the values that may stand here" in backend.queries[1].messages[-1].text


def test_pieces_are_taken_back_where_all_is_asked_for_again() -> None:
    told: list[str] = []
    observer = Observer(told.append, lambda: told.append("<again>"))
    text(Answering(["abc1", "abcd!"]), regex="[a-z]{4}!", observer=observer)
    joined = "".join(told)
    assert joined == "abc<again>abcd!"


# -- going on --------------------------------------------------------------------------------------------


def test_a_backend_that_goes_on_is_given_the_text_so_far() -> None:
    backend = Answering(['{"name": "Ann", "age": "12"}', '12, "x"'], GOES_ON)
    query = Query((Message("user", "Who?"),), begun="Here: ")
    found = crew(backend, query)
    assert found.text == '{"name": "Ann", "age": 12}'
    assert [each.begun for each in backend.queries] == ["Here: ", 'Here: {"name": "Ann", "age": ']
    told, forced = found.corrections
    assert (told.wrong, told.put, told.by) == ('"', "", "told")
    assert (forced.wrong, forced.put, forced.by) == (",", "}", "forced")
    answer, fault = backend.queries[1].messages[1:]
    assert answer == Message("assistant", 'Here: {"name": "Ann", "age": "')
    assert "a digit from 1 to 9 or blanks may follow" in fault.text and "Go on behind" in fault.text


def test_what_the_language_forces_is_filled_in_its_own_spelling() -> None:
    """The key and the rest of a code can be no other, whatever other order and spelling JSON would allow."""
    table = {
        "Part": RecordType("Part", (FieldType("code", matching("[A-Z]{2}-[0-9]")), FieldType("n", Int(1, 9))))
    }
    values = json_values(Named("Part"), table)
    backend = Answering(['{"code": "ABC', '7", "size"', "5}"], GOES_ON)
    legal = matcher(type=Named("Part"), table=table)
    found = asyncio.run(repaired(backend, QUESTION, legal, values=values))
    assert found.text == '{"code": "AB-7", "n": 5}' and found.requests == 3
    assert [(each.put, each.by) for each in found.corrections] == [("-", "forced"), ('n":', "forced")]
    assert backend.queries[1].begun == '{"code": "AB-' and len(backend.queries[1].messages) == 1


def test_what_is_forced_is_found_in_the_language_s_own_order_alone() -> None:
    backend = Answering(['{"age": 12, "nick', 'name": "Ann"}'], GOES_ON)
    found = crew(backend)
    assert found.text == '{"name": "Ann", "age": 12}'
    assert [each.by for each in found.corrections] == ["told"]


@pytest.mark.parametrize("complete", [False, True])
def test_no_word_is_put_that_nobody_chose(complete: bool) -> None:
    """The third answer is the last. Then what is forced is filled in, and anything else is missing."""
    backend = Answering(["red or blue?"], GOES_ON)
    if complete:
        found = text(backend, choices=["green", "grey"], complete=True)
        assert (found.text, found.ended) == ("grey", "completed")
    else:
        with pytest.raises(SglError, match=r"Rejected: .* it took 3 corrections") as caught:
            text(backend, choices=["green", "grey"])
        assert caught.value.partial == "gre"
    assert len(backend.queries) == 3
    backend = Answering(["", "", "gx"], GOES_ON)
    assert text(backend, choices=["g1", "h2"]).text == "g1"  # the last answer leaves one


def test_a_number_that_goes_on_is_told_and_not_cut() -> None:
    backend = Answering(['{"name": "Ann", "age": 4200}', "}"], GOES_ON)
    assert crew(backend).corrections == (Correction(25, "0", "", "told"),)


@pytest.mark.parametrize("capabilities", [Capabilities(), GOES_ON])
@pytest.mark.parametrize(
    ("answer", "kept"),
    [("12.5", None), ("12. No more.", "12"), ("12ab", None), ("12, I think", "12"), ("12.", "12")],
)
def test_a_whole_text_is_not_cut_out_of_a_number_or_word(
    answer: str, kept: str | None, capabilities: Capabilities
) -> None:
    backend = Answering([answer], capabilities)
    if kept is None:
        with pytest.raises(SglError, match="Rejected"):
            text(backend, regex="[1-9][0-9]")
        assert (
            len(backend.queries) == 3
            and backend.queries[2].messages[-2].text == answer[: 3 + (answer[2] == ".")]
        )
    else:
        assert text(backend, regex="[1-9][0-9]").text == kept


def test_text_outside_of_messages_has_no_place_for_faults() -> None:
    backend = Answering(["x", "b"], GOES_ON)
    assert text(backend, Query((Message("", "Once "),)), regex="a[bc]").text == "ab"
    assert [query.messages for query in backend.queries] == [(Message("", "Once "),)] * 2


def test_a_word_is_the_most_probable_legal_token_that_the_backend_told_of() -> None:
    chances = (
        TokenChance('"', -0.1),
        TokenChance("7", -2.0),
        TokenChance("41", -1.5),
        TokenChance("x", -1.0),
    )
    wrong = Piece('"', top=(chances,))
    backend = Answering([[*map(Piece, '{"name": "Ann", "age": '), wrong], "}"], TELLS)
    found = crew(backend)
    assert found.text == '{"name": "Ann", "age": 41}'
    assert [(each.put, each.by) for each in found.corrections] == [("41", "chance")]
    assert backend.queries[0].top_logprobs == 5


def test_a_begun_message_is_refused_where_the_backend_does_not_continue() -> None:
    with pytest.raises(ValueError, match="does not go on behind a begun message"):
        text(Answering(["a"]), Query(QUESTION.messages, begun="x"), regex="a")


# -- bounds ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("capabilities", [Capabilities(), GOES_ON])
def test_three_faulty_answers_are_the_end_and_the_legal_text_is_kept(capabilities: Capabilities) -> None:
    for corrections, requests in ((BOUNDS.corrections, 3), (5, 5)):
        backend = Answering(["ab1"], capabilities)
        with pytest.raises(SglError) as caught:
            text(backend, regex="([a-z]{2} ){40}", bounds=Bounds(calls=50, corrections=corrections))
        assert caught.value.name == "Rejected"
        assert (caught.value.partial or "").startswith("ab")
        assert len(backend.queries) == requests


def test_a_bound_on_requests_and_on_tokens() -> None:
    backend = Answering(["ab1"])
    with pytest.raises(SglError, match="Rejected: the text is not complete: the model was called 2 times"):
        text(backend, regex="[a-z]{9}", bounds=Bounds(calls=2))
    with pytest.raises(SglError, match=r"Rejected: .* 5 tokens were written"):
        text(Answering(["x" * 100], GOES_ON), regex="x*y", bounds=Bounds(tokens=5))


def test_a_budget_of_tokens_ends_the_text() -> None:
    for capabilities in (Capabilities(), GOES_ON):
        backend = Answering(["x" * 100], capabilities)
        found = text(backend, Query(QUESTION.messages, max_tokens=5), regex="x*y")
        assert (found.text, found.ended) == ("xxxxxy", "completed")
        assert backend.queries[0].max_tokens == 5


def test_a_bound_with_complete_ends_the_text_behind_the_longest_legal_beginning() -> None:
    backend = Answering(["abcd1", "ab1"])
    found = text(backend, regex="[a-z]{5}", bounds=Bounds(calls=2), complete=True)
    assert found.text == "abcda" and found.ended == "completed"


def test_the_deadline() -> None:
    class Frozen:
        def __init__(self, *times: float) -> None:
            self.times = list(times)

        def now(self) -> float:
            return self.times.pop(0) if len(self.times) > 1 else self.times[0]

        async def sleep(self, seconds: float) -> None:
            raise AssertionError

    query = Query(QUESTION.messages, deadline=10.0)
    with pytest.raises(SglError, match="Timeout: the deadline has passed"):
        text(Answering(["ab"]), query, regex="ab", clock=Frozen(11.0))
    with pytest.raises(SglError) as caught:
        text(Answering(["ab1"]), query, regex="[a-z]{9}", clock=Frozen(1.0, 1.0, 1.0, 1.0, 20.0))
    assert caught.value.name == "Timeout"


# -- faults ----------------------------------------------------------------------------------------------


def test_refusals_and_filters_are_errors_with_what_was_legal() -> None:
    said = [*map(Piece, "ab"), Ending("refused", message="I cannot do that.")]
    with pytest.raises(SglError, match="Refused: I cannot do that") as caught:
        text(Answering([said]), regex="[a-z]{9}")
    assert caught.value.partial == "ab"
    with pytest.raises(SglError, match="Refused: a filter of contents"):
        text(Answering([[Ending("filtered")]]), regex="[a-z]{9}")


def test_a_fault_of_the_backend_keeps_what_was_legal() -> None:
    fault = BackendFault("connection", "broken", endpoint="https://model.test/v1", again=True)
    with pytest.raises(BackendFault) as caught:
        text(Answering([[*map(Piece, "ab"), fault]]), regex="[a-z]{9}")
    assert caught.value is fault and fault.partial == "ab"


def test_usage_and_who_answered_are_summed() -> None:
    backend = Answering(
        [
            [Piece("ab1"), Ending("stop")],
            [Piece("abc"), Ending("stop", Usage(5, 3), answered_by="test:second", attempts=2)],
        ]
    )
    found = text(backend, regex="[a-z]{3}[.]?")
    assert (found.usage, found.answered_by, found.requests) == (Usage(5, 3), "test:second", 3)
    assert found.uncounted == 1


def test_a_repair_that_is_cancelled_closes_its_stream() -> None:
    closed = []

    class Hanging(Answering):
        async def stream(self, query: Query):  # type: ignore[no-untyped-def]
            try:
                yield Piece("a")
                await asyncio.sleep(3600)
            finally:
                closed.append(True)

    async def run() -> None:
        task = asyncio.create_task(repaired(Hanging([]), QUESTION, matcher(regex="[a-z]{9}")))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert closed == [True]
