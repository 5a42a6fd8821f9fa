"""Backends that answer as badly as they can: what comes is legal, or an error that keeps what was legal."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.answering import Answer, Answering
from example_budget import examples
from oracles.term_oracle import accepts
from sglc.runtime.backends.exchange import Ending, Event, Message, Piece, Query, TokenChance, Usage
from sglc.runtime.backends.repairing.repair import repaired
from sglc.runtime.backends.repairing.values import json_values
from sglc.runtime.errors import SglError
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.explanation import byte_vocabulary
from sglc.runtime.repair.result import Bounds
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.types.language.language import language
from sglc.types.type import FieldType, Int, ListOf, Named, RecordType, Str, Type, matching

TABLE = {
    "Crew": RecordType("Crew", (FieldType("name", Str(max_chars=9)), FieldType("age", Int(1, 99)))),
    "Ship": RecordType("Ship", (FieldType("crew", ListOf(Named("Crew"), 0, 2)),)),
}
TYPES: tuple[Type, ...] = (Named("Crew"), Named("Ship"), Int(3, 250), matching("[a-c]{2}-[0-9]{1,3}!?"))
QUESTION = Query((Message("user", "Who?"),))
BOUNDS = Bounds(calls=5, corrections=4, tokens=400)
CAPABILITIES = (
    Capabilities(),
    Capabilities(continues=True),
    Capabilities(continues=True, top_logprobs=3),
)
GOOD = '{"name": "Ann", "age": 12}'
GARBAGE = st.text(st.characters(exclude_categories=()), max_size=30)  # surrogates and controls too
PROSE = st.sampled_from(
    ("Sure! Here it is:\n", "The answer is [1]: ", "```json\n", "I cannot {do} that. ", "\ufeff")
)
JSON = st.sampled_from(
    (
        *(GOOD, '{"age": 12, "name": "Ann"}', '{"crew": [' + GOOD + "]}", '{"Name": "Ann"}'),
        *('{"name": "Ann", ', '{"name": null, "age": "12"}', '{"age": 1e999999', "[]", '"', "\\u00"),
        *("12", "251", "ab-12", "ab-1234"),
    )
)
TEXTS = st.lists(st.one_of(GARBAGE, PROSE, JSON), max_size=4).map("".join)
ENDLESS = st.sampled_from((" ", "\n", "x", "", '{"name": "', "1", "é", "\ud800", "[[", "```"))


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    """One answer: pieces of any size, that end in any way or never."""
    text = draw(TEXTS)
    size = draw(st.sampled_from((1, 3, 1000)))
    told = ((TokenChance(draw(GARBAGE), -1.0), TokenChance("1", -2.0)),)
    pieces: list[Event] = [
        Piece(text[at : at + size], top=told if draw(st.booleans()) else ())
        for at in range(0, len(text), size)
    ]
    if draw(st.integers(0, 3)) == 0:
        endless = Piece(draw(ENDLESS))
        return Forever(pieces, endless)
    reason = draw(st.sampled_from(("stop", "stop", "stop", "length", "refused", "filtered")))
    return [*pieces, Ending(reason, draw(st.sampled_from((None, Usage(3, 2), Usage(0, 10**9)))))]


class Forever:
    """Some events, and then one again and again."""

    def __init__(self, events: list[Event], last: Event) -> None:
        self._events, self._last = events, last

    def __iter__(self) -> Iterable[Event]:  # type: ignore[override]
        return itertools.chain(self._events, itertools.repeat(self._last))

    def __repr__(self) -> str:
        return f"{self._events} and then {self._last} for ever"


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(
    st.sampled_from(TYPES),
    st.lists(answers(), min_size=1, max_size=4),
    st.sampled_from(
        (Capabilities(), Capabilities(continues=True), Capabilities(continues=True, top_logprobs=3))
    ),
    st.sampled_from((None, 1, 20)),
    st.booleans(),
)
def test_what_comes_is_legal_or_an_error_within_bounds(
    type: Type, said: list[Answer], capabilities: Capabilities, most: int | None, complete: bool
) -> None:
    backend = Answering(said, capabilities)
    query = Query(QUESTION.messages, max_tokens=most)
    legal = compile_constraint(type=type, table=TABLE).matcher(byte_vocabulary())
    values = json_values(type, TABLE)
    try:
        work = repaired(backend, query, legal, BOUNDS, values=values, complete=complete)
        found = asyncio.run(work)
    except SglError as error:
        assert error.name in ("Rejected", "Refused", "Truncated"), error
        assert error.partial is not None
        beginning = (legal if values is None else values.matcher).clone()
        assert beginning.accept_prefix(error.partial.encode()) == len(error.partial.encode())
        assert len(error.fields["corrections"]) <= BOUNDS.corrections  # type: ignore[arg-type]
    else:
        assert accepts(language(type, TABLE), found.text.encode())
        assert found.requests == len(backend.queries)
    assert len(backend.queries) <= BOUNDS.calls
    assert all(len(read) <= 128 * 1_100 for read in backend.read)
