"""Clients that send anything: each request has one response, and the adapter neither fails nor hangs.

`SGLC_TEST_EXAMPLES=500 pytest tests/debugging/test_hostile_clients.py` is the long run.
"""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from debugging.client import Client
from debugging.scripts import PROGRAMS, settings_of
from example_budget import examples

COMMANDS = (
    *("initialize", "launch", "attach", "configurationDone", "setBreakpoints", "setFunctionBreakpoints"),
    *("setExceptionBreakpoints", "breakpointLocations", "continue", "next", "stepIn", "stepOut", "stepBack"),
    *("reverseContinue", "restartFrame", "pause", "threads", "stackTrace", "scopes", "variables"),
    *("setVariable", "evaluate", "completions", "exceptionInfo", "source", "loadedSources", "cancel"),
    *("sgl/step", "sgl/mask", "sgl/holes", "sgl/conversation", "sgl/alternatives", "sgl/force", "sgl/back"),
    *("sgl/search",),
    *("terminate", "nonsense", ""),
)
NAMES = (
    *("threadId", "frameId", "variablesReference", "expression", "source", "breakpoints", "filters", "line"),
    *("filterOptions", "name", "value", "hole", "seed", "kind", "text", "column", "granularity", "requestId"),
    *("startFrame", "levels", "start", "count", "program", "args", "sourceReference", "stopOnEntry", "lines"),
    *("test", "key", "noDebug", "hitCondition", "logMessage", "condition"),
)


def anything(random: Random, depth: int = 2) -> object:
    """Something that JSON can say."""
    plain: list[object] = [
        None,
        True,
        -1,
        0,
        1,
        2,
        3,
        17,
        1 << 60,
        0.5,
        "",
        "note",
        "sum",
        "total + 1",
        "hole",
    ]
    plain += ["over", "ensure", "improbable", str(PROGRAMS / "notes.sgl"), "x" * 5000, "\u0000", "1e999"]
    if depth and random.random() < 0.3:
        if random.random() < 0.5:
            return [anything(random, depth - 1) for _ in range(random.randrange(3))]
        return {random.choice(NAMES): anything(random, depth - 1) for _ in range(random.randrange(3))}
    return random.choice(plain)


async def session(seed: int) -> None:
    random, client = Random(seed), Client()
    if random.random() < 0.8:  # most get as far as to a stop
        await client.ask("initialize")
        program = str(PROGRAMS / "notes.sgl")
        await client.ask("launch", program=program, stopOnEntry=True, **settings_of("notes", "topic"))
        await client.ask("configurationDone")
        await client.event("stopped")
    for _ in range(40):
        command = random.choice(COMMANDS)
        if command == "launch" and random.random() < 0.9:
            continue
        arguments = {random.choice(NAMES): anything(random) for _ in range(random.randrange(4))}
        response = await client.ask(command, **arguments)
        assert response["command"] == command
        assert response["success"] or response["message"]
    await client.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    told = [*client.output, *(str(each.get("message", "")) for each in client.messages)]
    assert not any("internal error" in text for text in told)


@pytest.mark.slow
@given(seed=st.integers(0, 1 << 30))
@settings(max_examples=examples(20))
def test_every_request_is_answered(seed: int) -> None:
    asyncio.run(session(seed))


async def bytes_session(data: bytes) -> None:
    client = Client()
    client.send_bytes(data)
    await client.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}


FRAGMENTS = st.one_of(
    st.binary(max_size=30),
    st.just(b"\r\n\r\n"),
    st.just(b"Content-Length: 5\r\n\r\n"),
    st.sampled_from(["{}", "[]", "null", '{"seq":1,"type":"request","command":"threads"}', "[" * 2000]).map(
        lambda text: b"Content-Length: %d\r\n\r\n%b" % (len(text), text.encode())
    ),
)


@given(data=st.lists(FRAGMENTS, max_size=8).map(b"".join))
def test_any_bytes_are_answered_or_end_the_session(data: bytes) -> None:
    asyncio.run(bytes_session(data))
