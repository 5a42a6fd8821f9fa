"""Answers that break off when a part was told: what nobody hears is kept back, what was told is void."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

import pytest

from backends.acted import END, ActedBackend, Step
from backends.virtual_time import run
from sglc.driver import compile_source
from sglc.runtime.backends.exchange import BackendFault, Ending, Event, Message, Piece, Query
from sglc.runtime.backends.filling import filler
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.backends.policy.accounts import Accounts
from sglc.runtime.backends.policy.answer import MOST_KEPT
from sglc.runtime.backends.policy.clock import LoopClock
from sglc.runtime.backends.policy.guarded import guarded
from sglc.runtime.backends.policy.settings import Policy
from sglc.runtime.errors import SglError
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event as Told
from sglc.source import Source
from sglc.targets.projection.core.capabilities import Capabilities

PROGRAM = """pub fn f() -> int in 1000..9999:
    user: | A number.
    assistant: | ?{n: int in 1000..9999}
    return n
"""
BROKEN = BackendFault("protocol", "no event", again=True)
ENFORCES = Capabilities(frozenset({"gbnf"}))
NOTHING = Capabilities()


def answered(
    capabilities: Capabilities, *scripts: Sequence[Step], heard: bool
) -> tuple[object, list[Told], ActedBackend]:
    """The value of a run at a backend that takes the steps of the scripts, the last one from then on."""
    backend = ActedBackend(
        lambda number, _: scripts[min(number, len(scripts) - 1)], capabilities=capabilities
    )
    program = compile_source(Source("p.sgl", PROGRAM)).program
    assert program is not None
    accounts = Accounts()
    events: list[Told] = []
    model = RemoteModel(guarded([backend], Policy(), LoopClock(), accounts), accounts)
    session = Session(program, model)
    options = {"on_event": events.append} if heard else {}

    async def main() -> object:
        return (await session.run("f", {}, **options)).value  # type: ignore[arg-type]

    return run(main()), events, backend


@pytest.mark.parametrize(
    ("capabilities", "heard", "live"),
    [(ENFORCES, False, False), (ENFORCES, True, True), (NOTHING, False, True), (NOTHING, True, True)],
)
def test_an_answer_is_live_where_it_is_heard_or_may_be_closed(
    capabilities: Capabilities, heard: bool, live: bool
) -> None:
    value, _, backend = answered(capabilities, ["1234", END], heard=heard)
    assert value == 1234 and [query.live for query in backend.queries] == [live]


def test_what_nobody_heard_is_retried_by_the_policy() -> None:
    """Other digits come the second time; the query is one, with two requests."""
    value, _, backend = answered(ENFORCES, ["12", BROKEN], ["4321", END], heard=False)
    assert value == 4321 and len(backend.queries) == 2


@pytest.mark.parametrize("capabilities", [ENFORCES, NOTHING])
def test_what_was_heard_is_told_to_be_void(capabilities: Capabilities) -> None:
    """The policy cannot take text back, but a hole can: it is asked again, and the listener hears of it."""
    value, events, backend = answered(capabilities, ["12", BROKEN], ["4321", END], ["4321", END], heard=True)
    assert value == 4321 and len(backend.queries) == 3
    told = [
        (event.kind, event.data.get("reason", event.text))
        for event in events
        if event.kind in ("generated", "again")
    ]
    assert told == [
        ("generated", "12"),
        ("again", "the answer broke off, and was another one when it was begun anew"),
        ("generated", "4321"),
    ]


@pytest.mark.parametrize("more", [0, 1])
def test_answers_that_are_always_others_are_an_error(more: int) -> None:
    times = filler.MOST_ANEW + more
    lost = [step for _ in range(times) for step in (["12", BROKEN], ["4321", END])]
    scripts = [*lost, ["5678", END]]
    if not more:
        assert answered(NOTHING, *scripts, heard=True)[0] == 5678
        return
    with pytest.raises(SglError, match="was another one") as caught:
        answered(NOTHING, *scripts, heard=True)
    assert (caught.value.name, caught.value.partial) == ("Backend", "12")


def pieces(count: int, length: int) -> tuple[list[Event], ActedBackend]:
    """What is told of an answer that is not live before it ends."""
    backend = ActedBackend(lambda number, _: [*["x" * length] * count, 5.0, END])
    chain = guarded([backend], Policy(), LoopClock(), Accounts())
    query = Query((Message("user", "Write."),), live=False)
    found: list[Event] = []

    async def main() -> list[Event]:
        start = asyncio.get_running_loop().time()
        async for event in chain.stream(query):
            if asyncio.get_running_loop().time() - start < 5.0:
                found.append(event)
        return found

    return run(main()), backend


def test_an_answer_is_kept_up_to_a_length() -> None:
    assert pieces(MOST_KEPT // 1024, 1024)[0] == []
    told = pieces(MOST_KEPT // 1024 + 2, 1024)[0]
    assert len(told) == MOST_KEPT // 1024 + 2 and all(isinstance(event, Piece) for event in told)


def test_of_a_hedged_answer_as_much_is_kept() -> None:
    """Two that do not end: the one that is as long counts, and the other is closed."""
    backend = ActedBackend(lambda number, _: [1.0, *["x" * 1024] * (MOST_KEPT // 1024 + 1), 60.0, END])
    chain = guarded([backend], Policy(hedge=0.5), LoopClock(), Accounts())

    async def main() -> int:
        stream = chain.stream(Query((Message("user", "Write."),), live=False))
        async with aclosing(stream) as events:  # type: ignore[type-var]
            async for event in events:
                if not isinstance(event, Ending):
                    await asyncio.sleep(2.0)
                    return backend.open
        raise AssertionError

    assert run(main()) == 1
